"""Counterfactuals by hand: what is counted of those that were found."""

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.metrics import Counterfactuals, counterfactuals

PATH = torch.stack([torch.arange(10), torch.arange(1, 11)])


def path(removed: int | None, flipped: bool = True, minimal: bool = False) -> Explanation:
    """A path of ten edges, both ways; the counterfactual deletes the first `removed` of them, None: no search."""
    graph = Data(x=torch.ones(11, 1), edge_index=torch.cat([PATH, PATH.flip(0)], 1))
    found = None
    if removed is not None:
        columns = torch.cat([torch.arange(removed), 10 + torch.arange(removed)])
        after = torch.tensor([0.6, 0.4] if flipped else [0.4, 0.6])
        found = Counterfactual(graph, columns, 1, after, minimal)
    return Explanation(graph, torch.zeros(20), 1, torch.tensor([0.1, 0.9]), (), found)


def test_what_flips_how_large_it_is_and_whether_it_is_minimal() -> None:
    ones = [path(1, minimal=True), path(3), path(4, minimal=True), path(10, flipped=False)]
    assert counterfactuals(ones) == Counterfactuals(flipped=3 / 4, size=3.0, minimal=2 / 3)


def test_only_those_within_a_share_of_the_edges_count_as_flipped() -> None:
    ones = [path(1, minimal=True), path(2), path(4, minimal=True)]
    assert counterfactuals(ones, within=0.3) == Counterfactuals(flipped=2 / 3, size=1.5, minimal=2 / 3)


def test_nothing_flips() -> None:
    found = counterfactuals([path(2, flipped=False)])
    assert found.flipped == 0
    assert found.size != found.size
    assert found.minimal != found.minimal


def test_what_cannot_be_counted() -> None:
    with pytest.raises(RCExplainerError, match="counterfactuals needs at least one explanation"):
        counterfactuals([])
    with pytest.raises(RCExplainerError, match='1 of 2 explanations have no counterfactual: explain with search="pre'):
        counterfactuals([path(1), path(None)])
    with pytest.raises(RCExplainerError, match="within is a share of the units from 0 to 1, got 3"):
        counterfactuals([path(1)], within=3)
