"""From tensors over a whole batch to results: one detached `Explanation` on the CPU for every instance."""

from collections.abc import Sequence
from copy import copy

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.core.verification import Answers
from rcexplainer.explanation import Counterfactual, Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.tasks.computation_graph import Asked


def pack(
    asked: list[Asked],
    instances: Instances,
    answers: Answers,
    scores: Tensor,
    disputed: Tensor | None,
    target: int | None,
    class_names: tuple[str, ...],
) -> list[Explanation]:
    """Detached results on the CPU, one per instance."""
    units = instances.units
    sizes = [one.instance.num_edges for one in asked]
    # Copies, not views: whoever keeps one explanation shall not keep what all of them were cut from.
    scores_of = [part.clone() for part in units.to_edges(scores, 0.0).cpu().split(sizes)]
    probabilities = answers.before.exp().cpu()
    predictions = probabilities.argmax(1).tolist()
    on_cpu = _OnCpu()
    cases: Sequence[Counterfactual | None] = [None] * len(asked)
    if answers.after is not None and answers.removed is not None and disputed is not None:
        after, minimal, unclear = answers.after.log_probs.exp().cpu(), answers.after.minimal.tolist(), disputed.tolist()
        removed = [mask.nonzero().flatten() for mask in units.to_edges(answers.removed, False).cpu().split(sizes)]
        cases = [
            Counterfactual(
                on_cpu(one.graph),
                removed[i] if one.edge_ids is None else one.edge_ids[removed[i]],
                predictions[i],
                after[i],
                minimal[i],
                target,
                unclear[i],
            )
            for i, one in enumerate(asked)
        ]
    return [
        Explanation(
            on_cpu(one.graph),
            scores_of[i],
            predictions[i],
            probabilities[i],
            class_names,
            cases[i],
            one.index,
            None if one.edge_ids is None else on_cpu(one.instance).clone(),
            None if one.edge_ids is None else one.edge_ids.clone(),
        )
        for i, one in enumerate(asked)
    ]


class _OnCpu:
    """Graphs on the CPU, each moved once: many instances may share one."""

    def __init__(self) -> None:
        self.moved: dict[int, Data] = {}

    def __call__(self, graph: Data) -> Data:
        if graph.edge_index.device.type == "cpu":
            return graph
        return self.moved.setdefault(id(graph), copy(graph).cpu())
