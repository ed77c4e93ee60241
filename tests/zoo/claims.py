"""Claims re-run one by one: the model itself on the graph whose edges are gone, with no help from the library."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.explanation import Explanation

Ask = Callable[[Data, Tensor, int | None], int]  # (graph, columns that stay, node) → predicted class


@dataclass(frozen=True)
class Tally:
    """Claimed flips, claimed minimal ones, and those that the model does not confirm."""

    flips: int = 0
    minimal: int = 0
    wrong: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.flips + other.flips, self.minimal + other.minimal, self.wrong + other.wrong)


def check_total(tallies: dict[str, Tally], models: int, wanted: int) -> None:
    """All claims of a run together: as many as wanted, none of them wrong."""
    if len(tallies) < models:
        pytest.skip("the models were run in other processes: use --dist loadfile")
    total = sum(tallies.values(), Tally())
    print(total)  # noqa: T201  shown by -rP
    assert total.wrong == 0
    assert min(total.flips, total.minimal) >= wanted


@torch.no_grad()
def ask(model: nn.Module, graph: Data, stays: Tensor, node: int | None) -> int:
    """The class that the model predicts for the graph with these columns of `edge_index` alone."""
    left = Data(x=graph.x.clone(), edge_index=graph.edge_index[:, stays])
    batch = torch.zeros(len(left.x), dtype=torch.long)
    if getattr(model, "takes_data", False):
        out = model(Batch.from_data_list([left]))
    elif node is None:
        out = model(left.x, left.edge_index, batch)
    else:
        out = model(left.x, left.edge_index)
    return int(out[node or 0].argmax())


def check(model: nn.Module, found: Sequence[Explanation]) -> Tally:
    """Re-run every claim of these explanations.

    A flip: the class is another one without the edges. Minimal: with any single pair of nodes connected again, the
    class is the old one.
    """
    total = Tally()
    for one in found:
        case, everything = one.counterfactual, torch.ones(one.graph.num_edges, dtype=torch.bool)
        right = ask(model, one.graph, everything, one.index) == one.prediction
        after = ask(model, one.graph, ~case.removed, one.index)
        right &= (after == case.prediction or case.disputed) and case.flipped <= (after != one.prediction)
        if case.minimal:
            right &= all(
                ask(model, one.graph, ~(case.removed & ~pair), one.index) == one.prediction
                for pair in _pairs(one.graph.edge_index, case.removed)
            )
        total += Tally(int(case.flipped), int(case.minimal), int(not right))
    return total


def _pairs(edge_index: Tensor, removed: Tensor) -> list[Tensor]:
    """Masks of the columns between two nodes, for all pairs of nodes with a removed edge."""
    low, high = edge_index.amin(0), edge_index.amax(0)
    wanted = {(int(low[column]), int(high[column])) for column in removed.nonzero().flatten()}
    return [(low == first) & (high == second) for first, second in sorted(wanted)]
