"""The model that explanations are of, in any of the forms in which it is at hand."""

from collections.abc import Sequence
from functools import partial
from typing import cast

import torch
from torch import nn

from rcexplainer.errors import RCExplainerError, SplitError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.model_checks import check_model
from rcexplainer.gnn.split import SplitModel, split_model
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.tasks import TASKS

ExplainedModel = nn.Module | SplitModel | FittedExplainer


def check_explanations(explanations: object) -> None:
    """Refuse anything but a sequence of explanations.

    Raises:
        RCExplainerError: It is one explanation, or something else is among them.
    """
    if isinstance(explanations, Explanation) or not isinstance(explanations, Sequence):
        found = type(explanations).__name__
        raise RCExplainerError(f"expected the explanations of fitted.explain(graphs), a list, got {found}")
    for place, one in enumerate(explanations):
        if isinstance(one, Failure):
            raise RCExplainerError(f"explanation {place} is a Failure: {one.error}; leave failures out")
        if not isinstance(one, Explanation):
            raise RCExplainerError(f"expected explanations, got {type(one).__name__} in place {place}")


def without_failures(explanations: object) -> list[Explanation]:
    """Leave failures out of a sequence of results.

    Raises:
        RCExplainerError: It is one explanation, or something else is among them.
    """
    if isinstance(explanations, Sequence):
        explanations = [one for one in explanations if not isinstance(one, Failure)]
    check_explanations(explanations)
    return cast(list[Explanation], explanations)


def split_of(model: ExplainedModel, explanations: Sequence[Explanation]) -> SplitModel:
    """The model, split for the task of these explanations.

    Args:
        model: The GNN itself, the same already split, or an explainer that was fitted for it.
        explanations: On their graphs a GNN is split.

    Raises:
        RCExplainerError: There are no explanations to split a GNN on.
        SplitError: The GNN cannot be split.
    """
    if isinstance(model, SplitModel):
        return model
    if isinstance(model, FittedExplainer):
        return model.split
    check_model(model)
    if not explanations:
        raise RCExplainerError("a model is split on the graphs that were explained: at least one explanation is needed")
    check_explanations(explanations)
    first = explanations[0]
    if first.index is None:
        run = partial(split_model, model, [one.graph for one in explanations])
    elif isinstance(first.index, int):
        run = partial(split_model, model, first.graph, task="node")
    else:
        pairs = torch.tensor([one.index for one in explanations])
        run = partial(split_model, model, TASKS["link"].trial_graphs([first.graph], pairs), task="link")
    try:
        return run()
    except SplitError as error:
        try:  # a model that was explained is a classifier: its one number needs no labels to be a logit
            return run(output="binary_logit")
        except SplitError:
            raise error from None
