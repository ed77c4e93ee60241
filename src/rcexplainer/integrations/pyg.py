"""A fitted explainer as an algorithm of PyG's own `Explainer`:

explainer = Explainer(model, RCExplainerAlgorithm(fitted), explanation_type="model", edge_mask_type="object",
                      model_config=dict(mode="multiclass_classification", task_level="graph", return_type="raw"))
explanation = explainer(x, edge_index, batch=batch)
"""

import logging
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import Explanation as PyGExplanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import MaskType, ModelMode

from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.forward import SPELLINGS
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.saving.fingerprint import fingerprint

log = logging.getLogger(__name__)


class RCExplainerAlgorithm(ExplainerAlgorithm):
    """Edge scores of a fitted explainer as PyG's `edge_mask`.

    Args:
        fitted: What `fit` of RCExplainer or of any baseline returns.

    Raises:
        RCExplainerError: It is something else.
    """

    def __init__(self, fitted: FittedExplainer) -> None:
        super().__init__()
        if not isinstance(fitted, FittedExplainer):
            raise RCExplainerError(
                f"RCExplainerAlgorithm needs what fit returns, got {type(fitted).__name__}: give it "
                "RCExplainer(…).fit(model, graphs)"
            )
        self.fitted = fitted

    def forward(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> PyGExplanation:
        """Explain one graph, node or link; called by PyG's `Explainer`.

        Args:
            model: The GNN that was given to `fit`.
            x: Node features.
            edge_index: The edges.
            target: PyG's target; the class that is explained is the one the model predicts.
            index: The node, or the position of the link in `edge_label_index`; None for a graph or a single link.
            **kwargs: Other arguments of the model.

        Returns:
            PyG's explanation, with scores in [0, 1] as `edge_mask`, and `edge_relevance` if the method has it.

        Raises:
            RCExplainerError: Another model, several instances at once, or an index that does not fit the task.
        """
        self._check_model(model)
        pairs = self._pairs(kwargs)
        if pairs is not None and index is None and pairs.size(1) == 1:
            index = 0
        self._check_index(index, pairs)
        batch = _numbers("batch", kwargs.pop("batch", None))
        wanted = _numbers("target", target, whole=False)
        if batch is not None and batch.numel() and int(batch.max()) > 0:
            graphs = int(batch.max()) + 1
            raise RCExplainerError(
                f"PyG explains one graph at a time, got a batch of {graphs}; fitted.explain takes lists"
            )
        values = {name: value for name, value in kwargs.items() if isinstance(value, Tensor)}
        asked = None if index is None else int(index) if pairs is None else tuple(pairs[:, int(index)].tolist())
        found = self.fitted.explain(Data(x=x, edge_index=edge_index, **values), index=asked, search="none")
        if wanted is not None and index is not None and wanted.dim():
            wanted = wanted[int(index) : int(index) + 1]
        if wanted is not None and wanted.numel() == 1 and float(wanted) != found.prediction:
            log.warning("class %d is predicted and explained, not the target %g", found.prediction, float(wanted))
        second = {} if found.relevance is None else {"edge_relevance": found.edge_relevance.to(edge_index.device)}
        return PyGExplanation(edge_mask=found.edge_scores.to(edge_index.device), **second)

    def supports(self) -> bool:
        """Whether PyG's settings ask for edge masks of a classifier; reasons against are logged, as PyG gives none."""
        task = {"link": "edge"}.get(self.fitted.split.task, self.fitted.split.task)  # PyG's word for it
        level = self.model_config.task_level.value
        refusals = {
            "edge_mask_type must be 'object'": self.explainer_config.edge_mask_type != MaskType.object,
            "node_mask_type must be None: edges are explained": self.explainer_config.node_mask_type is not None,
            "mode must be a classification": self.model_config.mode == ModelMode.regression,
            f"task_level must be {task!r}": level != task,
        }
        for reason in (reason for reason, refused in refusals.items() if refused):
            log.error("RCExplainerAlgorithm: %s", reason)
        return not any(refusals.values())

    def __repr__(self) -> str:
        return f"RCExplainerAlgorithm({type(self.fitted).__name__})"

    def _check_model(self, model: nn.Module) -> None:
        """Refuse a model other than the one that was given to `fit`."""
        own = getattr(model, "_orig_mod", model)  # what torch.compile wraps
        if not isinstance(own, nn.Module):
            raise RCExplainerError(f"model must be the torch.nn.Module that was given to fit, got {type(own).__name__}")
        if own is not self.fitted.split.model and fingerprint(own) != fingerprint(self.fitted.split.model):
            raise RCExplainerError(
                f"the explainer was fitted for another {type(self.fitted.split.model).__name__}: "
                "give PyG's Explainer the very model that was given to fit"
            )

    def _pairs(self, options: dict[str, Any]) -> Tensor | None:
        """The links among the model's arguments, taken out of them; None for other tasks."""
        if self.fitted.split.task != "link":
            return None
        named = [name for name in options if SPELLINGS.get(name, name) == "edge_label_index"]
        pairs = _numbers("edge_label_index", options.pop(named[0])) if named else None
        if pairs is None or pairs.dim() != 2 or pairs.size(0) != 2:
            found = "none" if pairs is None else tuple(pairs.shape)
            raise RCExplainerError(f"a link is explained by edge_label_index [2, n], its pairs of nodes; got {found}")
        return pairs

    def _check_index(self, index: int | Tensor | None, pairs: Tensor | None) -> None:
        """Refuse an index for a graph, none or several for nodes and links, and one that is out of range."""
        task = self.fitted.split.task
        if index is not None and not isinstance(index, int):
            _numbers("index", index)
        if task == "graph" and index is not None:
            found = torch.as_tensor(index).tolist()
            raise RCExplainerError(f"the explainer was fitted for graphs, which need no index; got {found}")
        if task != "graph" and (index is None or torch.as_tensor(index).numel() != 1):
            given = "no index" if index is None else f"an index of {torch.as_tensor(index).numel()}"
            raise RCExplainerError(f"one {task} is explained at a time here, got {given}; fitted.explain takes many")
        if pairs is not None and not 0 <= (place := int(torch.as_tensor(index))) < pairs.size(1):
            raise RCExplainerError(f"there is no pair {place}: the pairs are 0 to {pairs.size(1) - 1}")


def _numbers(name: str, value: Any, whole: bool = True) -> Tensor | None:
    """A tensor of numbers that the caller gave, if any."""
    if value is None:
        return None
    if not isinstance(value, Tensor) or value.is_complex() or value.is_meta or (whole and value.is_floating_point()):
        found = value.dtype if isinstance(value, Tensor) else type(value).__name__
        raise RCExplainerError(f"{name} must be a tensor of {'whole numbers' if whole else 'numbers'}, got {found}")
    return value


__all__ = ["RCExplainerAlgorithm"]
