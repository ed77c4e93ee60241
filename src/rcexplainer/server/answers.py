"""Runs of the model and of the explainer for several requests at once, and their results as JSON values."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rcexplainer.core.budget import Deadline
from rcexplainer.disclosure import Disclosure
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.graph_checks import stream
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.server.instances import AskedInstance
from rcexplainer.server.requests import ExplainRequest, PredictRequest, edge_columns
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.computation_graph import Instance

GROUP_EDGES = 1 << 16  # of requests that are answered together: what cannot be cut short grows with it


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """Answers requests together.

    Attributes:
        fitted: The explainer.
        seconds: What a request may take, from its arrival.
        disclose: What explanations tell.
    """

    fitted: FittedExplainer
    seconds: float
    disclose: Disclosure = "scores"

    @torch.no_grad()
    def predictions(self, requests: Sequence[PredictRequest]) -> list[Tensor | Exception]:
        """Run the model once for several requests.

        Args:
            requests: Instances, each with edges to delete.

        Returns:
            [C] the probabilities for each; an error where an instance is not valid, or the time is up.
        """
        late = max(one.arrived for one in requests) + self.seconds
        graphs: list[Any] = []
        found: list[Exception | None] = []
        for one in requests:
            try:
                graphs.append(self._without(one))
                found.append(None)
            except ValueError as error:  # the package's own errors: the graph is not one for this model
                found.append(error)
        rows = iter(self._probabilities(graphs, late)) if graphs else iter(())
        return [next(rows) if error is None else error for error in found]

    def _probabilities(self, graphs: list[Any], late: float) -> Tensor:
        split = replace(self.fitted.split, until=late)
        with split.scope:
            return Instances(split, graphs).passes(lambda done: split.log_probs(done.output)).exp().cpu()

    def _without(self, one: PredictRequest) -> Any:
        """The graph that the model is run on."""
        made = self.instance(one.asked)
        if not one.deleted:
            return made.computation
        whole = made.graph.edge_index
        columns = whole if made.edge_ids is None else whole[:, made.edge_ids]
        fixed = made.computation.get("edge_fixed")
        loose = columns[0] != columns[1]
        loose = (loose if fixed is None else loose & ~fixed).cpu()
        gone = torch.zeros_like(loose)
        gone[loose] = edge_columns(columns.cpu()[:, loose], one.deleted)
        return delete_edges(made.computation, gone.to(whole.device))

    def instance(self, asked: AskedInstance) -> Instance:
        """Make the graph that the model is run on, checked.

        Args:
            asked: What a client asks about.

        Raises:
            GraphError: It is malformed, or not like the graphs of the model.
        """
        fitted = self.fitted
        index = None if asked.index is None else torch.tensor([asked.index])
        task, check = TASKS[fitted.split.task], partial(fitted.split.check, kind=fitted.kind)
        made = next(iter(task.instances(stream(asked.graph, fitted.device), index, fitted.hops, check)))
        if isinstance(made, Exception):
            raise made
        return made

    def explanations(self, requests: Sequence[ExplainRequest]) -> list[Explanation | Exception]:
        """Explain several instances; those with the same options together.

        Requests that are answered together share the time of the first: nobody waits longer because others ask, and a
        search that is cut short says so (`exhausted`).

        Args:
            requests: What to explain.

        Returns:
            An explanation for each, or why there is none.
        """
        groups: dict[Any, list[int]] = defaultdict(list)
        edges: dict[Any, int] = defaultdict(int)
        for place, one in enumerate(requests):
            graph = None if one.asked.index is None else id(one.asked.graph)
            key = one.options, one.candidates is None, graph
            edges[key] += one.asked.graph.num_edges
            groups[key, edges[key] // GROUP_EDGES].append(place)
        found: dict[int, Explanation | Exception] = {}
        for places in groups.values():
            found |= zip(places, self._explained([requests[place] for place in places]), strict=True)
        return [found[place] for place in range(len(requests))]

    def _explained(self, group: Sequence[ExplainRequest]) -> list[Explanation | Exception]:
        options, index = group[0].options, [one.asked.index for one in group]
        masks = [one.candidates for one in group if one.candidates is not None]
        within = index[0] is not None
        first, last = min(one.arrived for one in group), max(one.arrived for one in group)
        try:
            results = self.fitted.explain(
                group[0].asked.graph if within else [one.asked.graph for one in group],
                index=torch.tensor(index) if within else None,
                search=options.search,
                candidates=masks or None,
                target_class=options.target_class,
                on_error="keep",
                budget=Deadline(first + options.seconds, last + self.seconds),
                refine=options.refine,
                confidence=options.confidence,
                disclose=self.disclose,
            )
        except ValueError as error:  # an option that this explainer does not have
            return [error] * len(group)
        return [one.error if isinstance(one, Failure) else one for one in results]


def class_labels(fitted: FittedExplainer) -> list[str]:
    """The names of the classes, or their numbers."""
    return list(fitted.class_names) or [str(number) for number in range(fitted.split.num_classes)]


def prediction_values(probabilities: Tensor, names: Sequence[str]) -> dict[str, Any]:
    """Convert a prediction to JSON values.

    Args:
        probabilities: [C].
        names: Of the classes.
    """
    prediction = int(probabilities.argmax())
    return {
        "prediction": prediction,
        "class": names[prediction],
        "probabilities": [value if value == value else None for value in probabilities.double().tolist()],
    }


def explanation_values(one: Explanation, names: Sequence[str]) -> dict[str, Any]:
    """Convert an explanation to JSON values.

    Args:
        one: The explanation.
        names: Of the classes.

    Returns:
        The prediction; `edges`, pairs of nodes, with their `scores` and their places in the `order` of deletion;
        `counterfactual` (None where none was searched for), with the deleted pairs in `removed`. `exhausted` says that
        the time was up: it is the best so far. Where scores are withheld, there are no `edges`, `scores`, `order` and
        `relevance` either: other edges are not named.
    """
    values = prediction_values(one.probabilities, names) | {"refined": one.refined}
    if one.disclosed == "scores":
        values |= {"edges": one.units.pair.T.tolist(), "scores": one.unit_scores.tolist()}
        values["order"] = one.unit_order.tolist()
        values["relevance"] = None if one.relevance is None else one.unit_relevance.tolist()
    values["counterfactual"] = None
    if (found := one.counterfactual) is not None:
        values["counterfactual"] = {
            **prediction_values(found.probabilities, names),
            "removed": one.units.pair[:, one.removed_units].T.tolist(),
            "flipped": found.flipped,
            "minimal": found.minimal,
            "exhausted": found.exhausted,
            "disputed": found.disputed,
            "target": found.target,
            "confidence": found.confidence,
            "distance": found.distance,
        }
    return values
