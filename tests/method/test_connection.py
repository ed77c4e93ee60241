"""`connected`: one option of every method, by which an edge ranks below the best path to the explained node."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.baselines import GreedyDeletion, Occlusion, PGExplainer, Random
from rcexplainer.core.connectivity import FOLLOW
from rcexplainer.errors import RCExplainerError
from rcexplainer.method.unit_readings import UnitReadings
from rcexplainer.testing.sample_graphs import whole_graph
from rcexplainer.testing.sample_networks import LinkNetwork, random_network


class Far(Random):
    """The farther from node 0 the higher; both readings alike."""

    def scores(self, instances, labels):
        found = instances.units.pair.amax(0).float() / 10
        return UnitReadings(found, found)


def path_graph() -> Data:
    ends = torch.tensor([[0, 1], [1, 2], [2, 3]]).T
    return Data(x=whole_graph().x[:4], edge_index=torch.cat([ends, ends.flip(0)], 1))


def test_an_edge_ranks_below_the_path_to_the_node() -> None:
    graph, model = path_graph(), random_network("graphconv", "node")
    plain, connected = (
        Far(task="node", connected=on).fit(model, graph).explain(graph, index=0) for on in (False, True)
    )
    torch.testing.assert_close(plain.unit_scores, torch.tensor([0.1, 0.2]))
    torch.testing.assert_close(connected.unit_scores, torch.tensor([0.1, 0.102]))  # 2 % of its own above the path
    assert torch.equal(connected.unit_relevance, connected.unit_scores)


@pytest.mark.parametrize(
    ("detour", "connected"),
    [([(0, 2), (1, 2)], 0.8), ([(0, 2), (2, 4), (1, 4)], 0.1 + FOLLOW * (0.8 - 0.1))],
    ids=["two edges", "three edges"],
)
def test_a_detour_connects_if_it_is_no_longer_than_messages_go(detour, connected: float) -> None:
    """A network with two layers is asked about node 0; 1–3 is at the end of 0–1, which is weak, and of the detour."""

    class Given(Random):
        def scores(self, instances, labels):
            pairs = instances.units.pair.T.tolist()  # all nodes are within two hops, and keep their numbers
            return torch.tensor([{(0, 1): 0.1, (1, 3): 0.8}.get((one, other), 0.9) for one, other in pairs])

    ends = torch.tensor([(0, 1), (1, 3), *detour]).T
    graph = Data(x=whole_graph().x[:5], edge_index=torch.cat([ends, ends.flip(0)], 1))
    fitted = Given(task="node", connected=True).fit(random_network("graphconv", "node"), graph)
    assert fitted.hops == 2
    one = fitted.explain(graph, index=0, search="none")
    (unit,) = (one.units.pair == torch.tensor([[1], [3]])).all(0).nonzero().flatten().tolist()
    torch.testing.assert_close(float(one.unit_scores[unit]), connected)


@pytest.mark.parametrize("method", [Random, Occlusion, GreedyDeletion])
def test_an_edge_is_worth_its_best_path(method) -> None:
    graph, model = whole_graph(), random_network("graphconv", "node")
    plain, connected = (
        method(task="node", connected=on).fit(model, graph).explain(graph, index=[0, 3, 5], search="none")
        for on in (False, True)
    )
    for own, one in zip(plain, connected, strict=True):
        assert ((one.scores >= 0) & (one.scores <= 1)).all()
        width = (one.unit_scores - FOLLOW * own.unit_scores) / (1 - FOLLOW)  # of the path, the edge itself included
        assert (width <= own.unit_scores + 1e-5).all()
        for pair, least in zip(one.units.pair.T.tolist(), width.tolist(), strict=True):
            kept = one.units.pair[:, own.unit_scores >= least - 1e-5].T.tolist()
            reached = {one.index}
            for _ in kept:
                reached |= {node for some in kept if reached & set(some) for node in some}
            assert set(pair) <= reached


def test_both_ends_of_a_link_are_roots() -> None:
    graph, pairs = whole_graph(), [(0, 3)]
    fitted = Random(task="link", connected=True).fit(LinkNetwork("graphconv", pairs), graph, index=pairs)
    one = fitted.explain(graph, index=(0, 3), search="none")
    assert one.unit_scores.isfinite().all()
    best = set(one.units.pair[:, one.unit_scores.argmax()].tolist())
    assert best & {0, 3}


def test_pgexplainer_saves_it_and_its_ensemble(tmp_path) -> None:
    graph, model = whole_graph(), random_network("graphconv", "node")
    settings = {"task": "node", "epochs": 2, "restarts": 3, "connected": True}
    fitted = PGExplainer(**settings).fit(model, graph, index=[0, 1, 2, 3], progress=False)
    again = rc.load(fitted.save(tmp_path / "pg.safetensors"), model)
    assert len(again.scores.nets) == 3
    assert again.scores.connected
    assert torch.equal(*(one.explain(graph, index=5, search="none").edge_scores for one in (fitted, again)))


def test_an_ensemble_averages_masks_and_begins_with_the_single_network() -> None:
    graph, model = whole_graph(), random_network("graphconv", "node")
    one, several = (
        PGExplainer(task="node", epochs=2, restarts=count).fit(model, graph, index=[0, 1, 2, 3], progress=False)
        for count in (1, 2)
    )
    assert torch.equal(one.scores.nets[0][0].weight, several.scores.nets[0][0].weight)
    assert not torch.equal(several.scores.nets[0][0].weight, several.scores.nets[1][0].weight)

    def masks(fitted) -> torch.Tensor:
        signed = 2 * fitted.explain(graph, index=5, search="none").unit_scores - 1
        return (signed / (1 - signed.abs())).sigmoid()

    alone = [masks(fitted) for fitted in (one, _only(several, 1))]
    torch.testing.assert_close(masks(several), torch.stack(alone).mean(0), atol=1e-5, rtol=0)


def _only(fitted, place: int):
    return replace(fitted, scores=replace(fitted.scores, nets=fitted.scores.nets[place : place + 1]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"connected": True}, "connected is for nodes and links: a graph has no node to be connected to"),
        ({"connected": 1, "task": "node"}, "connected must be True or False, got 1"),
    ],
)
def test_impossible_values(wrong, message: str) -> None:
    for method in (Random, PGExplainer, rc.RCExplainer):
        with pytest.raises(RCExplainerError, match=message):
            method(**wrong)


def test_a_method_says_whether_it_connects() -> None:
    assert rc.RCExplainer(task="node").connected
    assert not rc.RCExplainer(task="node", connected=False).connected
    assert not rc.RCExplainer().connected
