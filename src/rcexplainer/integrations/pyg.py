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
    """Edge scores of `fitted` as PyG's `edge_mask`. Takes any fitted method of ours."""

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
        """Scores in [0, 1] for the edges of a graph, asked about it, about its node `index`, or about the pair `index`
        of its `edge_label_index`. The class explained is the one the model predicts.
        """
        own = getattr(model, "_orig_mod", model)  # what torch.compile wraps
        if own is not self.fitted.split.model and fingerprint(own) != fingerprint(self.fitted.split.model):
            raise RCExplainerError(
                f"the explainer was fitted for another {type(self.fitted.split.model).__name__}: "
                "give PyG's Explainer the very model that was given to fit"
            )
        task = self.fitted.split.task
        named = [name for name in kwargs if SPELLINGS.get(name, name) == "edge_label_index"] if task == "link" else []
        pairs = kwargs.pop(named[0]) if named else None
        if pairs is not None and index is None and pairs.size(1) == 1:
            index = 0
        if task == "graph" and index is not None:
            raise RCExplainerError(f"the explainer was fitted for graphs, got index {index!r}")
        if task != "graph" and (index is None or torch.as_tensor(index).numel() != 1):
            raise RCExplainerError(
                f"one {task} is explained at a time here, got {_number(index)}; fitted.explain takes many"
            )
        if pairs is not None and not 0 <= (place := int(torch.as_tensor(index))) < pairs.size(1):
            raise RCExplainerError(f"there is no pair {place}: the pairs are 0 to {pairs.size(1) - 1}")
        batch = kwargs.pop("batch", None)
        if batch is not None and batch.numel() and int(batch.max()) > 0:
            graphs = int(batch.max()) + 1
            raise RCExplainerError(
                f"PyG explains one graph at a time, got a batch of {graphs}; fitted.explain takes lists"
            )
        values = {name: value for name, value in kwargs.items() if isinstance(value, Tensor)}
        asked = None if index is None else int(index) if pairs is None else tuple(pairs[:, int(index)].tolist())
        found = self.fitted.explain(Data(x=x, edge_index=edge_index, **values), index=asked, search="none")
        wanted = target if index is None else target[index]
        if wanted.numel() == 1 and int(wanted) != found.prediction:
            log.warning("class %d is predicted and explained, not the target %d", found.prediction, int(wanted))
        return PyGExplanation(edge_mask=found.edge_scores.to(edge_index.device))

    def supports(self) -> bool:
        """Edge masks of classifiers; each refusal is said, as PyG itself only says that there is one."""
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


def _number(index: int | Tensor | None) -> str:
    return "no index" if index is None else f"an index of {torch.as_tensor(index).numel()}"


__all__ = ["RCExplainerAlgorithm"]
