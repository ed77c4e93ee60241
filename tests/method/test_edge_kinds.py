"""Kinds of edges by the features, or the degrees, of their ends."""

import torch
from torch import tensor
from torch_geometric.data import Data

from rcexplainer.explanation import Explanation
from rcexplainer.method import edge_kinds
from rcexplainer.method.edge_kinds import EdgeKinds


def path(x: torch.Tensor | None) -> Explanation:
    """0–1–2–3, both directions."""
    index = tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    return Explanation(Data(x=x, edge_index=index, num_nodes=4), torch.zeros(6), 0, tensor([1.0, 0.0]))


ONE_HOT = torch.eye(3)[[0, 2, 0, 1]]
ALL = tensor([0, 1, 2])


def texts(kinds: EdgeKinds, one: Explanation, place: int = 0) -> dict[str, int]:
    return {kinds.text(kind): count for kind, count in kinds.counts(place, one, ALL).items()}


def test_one_hot_features_are_kinds() -> None:
    one = path(ONE_HOT)
    assert texts(EdgeKinds.of([one]), one) == {"0–2": 2, "0–1": 1}
    assert texts(EdgeKinds.of([one], ("N", "C", "O")), one) == {"N–O": 2, "C–N": 1}


def test_kinds_are_the_same_in_all_graphs() -> None:
    """The second graph has other features of the same set."""
    first, second = path(ONE_HOT), path(torch.eye(3)[[2, 2, 2, 1]])
    kinds = EdgeKinds.of([first, second])
    assert texts(kinds, second, 1) == {"2–2": 2, "1–2": 1}


def test_other_rows_have_numbers() -> None:
    one = path(tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]]))
    assert texts(EdgeKinds.of([one]), one) == {"#0–#1": 3}


def test_without_telling_features_degrees_are_kinds() -> None:
    for x in (None, torch.full((4, 2), 0.1)):
        one = path(x)
        assert texts(EdgeKinds.of([one]), one) == {"degrees 1–2": 2, "degrees 2–2": 1}
    one = Explanation(
        Data(x=torch.randn(100, 2), edge_index=tensor([[0, 1], [1, 0]])), torch.zeros(2), 0, tensor([1.0, 0.0])
    )
    kinds = EdgeKinds.of([one])  # more rows than there may be kinds
    assert kinds.text((1, 1)) == "degrees 1–1"
    assert kinds.counts(0, one, tensor([0])) == {(1, 1): 1}


def test_a_feature_for_each_node_is_a_row_of_one() -> None:
    one = path(tensor([3.0, 0.0, 3.0, 3.0]))
    assert texts(EdgeKinds.of([one]), one) == {"#0–#1": 2, "#1–#1": 1}


def test_as_many_rows_as_there_may_be_kinds_are_kinds(monkeypatch) -> None:
    one = path(ONE_HOT)
    monkeypatch.setattr(edge_kinds, "MOST_KINDS", 3)
    assert EdgeKinds.of([one]).names == ("2", "1", "0")
    monkeypatch.setattr(edge_kinds, "MOST_KINDS", 2)
    assert EdgeKinds.of([one]).names == ()


def test_every_node_has_a_kind_also_without_edges() -> None:
    one = path(None)
    one.graph.num_nodes = 6
    assert EdgeKinds.of([one]).of_node[0].tolist() == [1, 2, 2, 1, 0, 0]
