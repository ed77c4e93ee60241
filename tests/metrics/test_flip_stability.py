"""How counterfactuals survive noise, with a model whose answers can be counted: class 1 with three edges or more."""

import math

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.split import split_model
from rcexplainer.metrics import FlipStability, flip_stability, perturb
from rcexplainer.metrics.perturbation import perturb_features
from tests.metrics.paths import path, rng
from tests.metrics.test_fidelity import ByNumberOfEdges, CountEdges
from tests.metrics.test_robustness import fit

KINDS = ("paper", "strict", "features")


def explained(graph: Data, removed: int, prediction: int = 1, flipped: bool = True) -> Explanation:
    """The counterfactual deletes the first edges of a path."""
    half = graph.num_edges // 2
    columns = torch.cat([torch.arange(removed), half + torch.arange(removed)])
    after = torch.tensor([0.6, 0.4] if flipped == (prediction == 1) else [0.4, 0.6])
    found = Counterfactual(graph, columns, prediction, after)
    before = torch.tensor([0.1, 0.9] if prediction == 1 else [0.9, 0.1])
    return Explanation(graph, torch.zeros(graph.num_edges), prediction, before, (), found)


GRAPHS = [path(length) for length in (5, 10, 20)]
SPLIT = split_model(ByNumberOfEdges(), GRAPHS)
# Two, one and no edges are left: the first is undone by one new edge more than are lost, the last by three.
SHOWN = [explained(graph, graph.num_edges // 2 - left) for graph, left in zip(GRAPHS, (2, 1, 0), strict=True)]


@pytest.mark.parametrize("protocol", KINDS)
def test_without_noise_everything_stays(protocol) -> None:
    found = flip_stability(SPLIT, SHOWN, (0.0,), protocol=protocol, copies=2)
    assert (found.flipped, found.original, found.graphs, found.copies) == ((1.0,), (1.0,), 3, 2)
    assert found.protocol == protocol
    assert FlipStability.better == "higher"


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_the_shares_are_those_of_copies_made_by_hand(protocol) -> None:
    found = flip_stability(SPLIT, SHOWN, (0.1, 0.9), protocol=protocol, copies=4, seed=2)
    model = ByNumberOfEdges()
    for level, noise in enumerate((0.1, 0.9)):
        for graphs, shares, wanted in (
            ([one.counterfactual.graph for one in SHOWN], found.each_flipped[level], 0),
            ([one.graph for one in SHOWN], found.each_original[level], 1),
        ):
            for place, graph in enumerate(graphs):
                random = [rng([2, round(noise * 1e9), place, number]) for number in range(4)]
                copies = [perturb(graph, noise, one, protocol=protocol) for one in random]
                classes = [
                    int(model(one.x, one.edge_index, torch.zeros(one.num_nodes, dtype=torch.long)).argmax())
                    for one in copies
                ]
                assert shares[place] == classes.count(wanted) / 4
    assert found.flipped == pytest.approx([sum(row) / 3 for row in found.each_flipped])
    assert found.original == pytest.approx([sum(row) / 3 for row in found.each_original])


class ByFeature(nn.Module):
    """Class 1 if the first feature is there more often than the second; edges hardly matter."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.head = CountEdges(), nn.Linear(3, 2)
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
            self.head.bias.copy_(torch.tensor([0.1, 0.0]))

    def forward(self, x, edge_index, batch):
        return self.head(global_add_pool(x + 1e-3 * self.count(x, edge_index), batch))


def test_the_same_nodes_get_the_same_features_and_no_edge_changes() -> None:
    graph = path(6)
    graph.x = torch.eye(3)[torch.tensor([0, 0, 0, 0, 1, 1, 2])]
    noisy = [perturb_features(one, 0.6, rng(3)) for one in (graph, explained(graph, 3).counterfactual.graph)]
    assert torch.equal(noisy[0].x, noisy[1].x)
    assert not torch.equal(noisy[0].x, graph.x)
    assert torch.equal(noisy[0].edge_index, graph.edge_index)
    assert torch.equal(perturb(graph, 0.6, rng(3)).x, noisy[0].x)
    # A model that sees little but features: what noise does to the graph it does to its counterfactual, whose class is
    # then another one in no copy in which the graph keeps its own.
    split = split_model(ByFeature(), [graph, graph])
    found = flip_stability(split, [explained(graph, 3)], (0.6,), protocol="features", copies=20)
    assert found.flipped[0] == pytest.approx(1 - found.original[0])
    assert 0 < found.original[0] < 1


def test_with_a_target_only_that_class_counts() -> None:
    one = explained(GRAPHS[0], 4)
    towards = Counterfactual(one.graph, one.counterfactual.columns, 1, torch.tensor([0.6, 0.4]), target=0)
    assert flip_stability(
        SPLIT, [Explanation(one.graph, one.scores, 1, one.probabilities, (), towards)], (0.0,)
    ).flipped == (1.0,)


def test_what_does_not_flip_is_left_out() -> None:
    still = explained(GRAPHS[0], 1, flipped=False)
    found = flip_stability(fit(GRAPHS), [*SHOWN, still, Failure(4, ValueError("unlucky"))], (0.05,))
    assert found == flip_stability(SPLIT, SHOWN, (0.05,))
    nothing = flip_stability(SPLIT, [still])
    assert nothing.graphs == 0
    assert all(math.isnan(value) for value in (*nothing.flipped, *nothing.original))


def test_the_model_itself_its_split_or_a_fitted_explainer_of_it() -> None:
    found = flip_stability(SPLIT, SHOWN)
    assert flip_stability(ByNumberOfEdges(), SHOWN) == flip_stability(fit(GRAPHS), SHOWN) == found
    assert flip_stability(SPLIT, []).graphs == 0
    with pytest.raises(RCExplainerError, match="at least one explanation is needed"):
        flip_stability(ByNumberOfEdges(), [])


def test_what_cannot_be_measured() -> None:
    for wrong, message in (
        ({"noise": ()}, "noise takes one or more shares from 0 to 1"),
        ({"noise": (1.5,)}, "noise is a share from 0 to 1, got 1.5"),
        ({"protocol": "loud"}, "protocol must be one of paper, strict, features, got 'loud'"),
        ({"copies": 0}, "copies"),
        ({"noise": 0.1}, r"noise must be a list of shares from 0 to 1, such as \[0.1\], got 0.1"),
        ({"explanations": SHOWN[0]}, "expected the explanations of fitted.explain.graphs., a list, got Explanation"),
        ({"explanations": [SHOWN[0], 3]}, "expected explanations, got int in place 1"),
    ):
        with pytest.raises(RCExplainerError, match=message):
            flip_stability(SPLIT, **{"explanations": SHOWN} | wrong)
    bare = Explanation(GRAPHS[0], torch.zeros(10), 1, torch.tensor([0.1, 0.9]))
    with pytest.raises(RCExplainerError, match="1 of 2 explanations have no counterfactual: explain with"):
        flip_stability(SPLIT, [SHOWN[0], bare])
