"""Batches of instances and their units equal those of PyG and `find_units`; deleted means deleted."""

import pytest
import torch
from torch_geometric.data import Batch, Data

from rcexplainer.core.units import find_units
from rcexplainer.gnn.effects import single_effects
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.instances import MAX_EDGES, Instances
from rcexplainer.gnn.node_inputs import node_inputs
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.gnn.splits import split_of


def odd_graphs() -> list[Data]:
    """Directed and self-looped graphs, duplicates, isolated nodes, no edges, only self-loops, a single node."""
    random = torch.Generator().manual_seed(4)
    directed, looped = make_graphs(1, directed=True)[0], make_graphs(1, self_loops=True, seed=1)[0]
    double = make_graphs(1, num_nodes=5, seed=2)[0]
    double.edge_index, double.edge_attr = double.edge_index.repeat(1, 2), double.edge_attr.repeat(2, 1)
    isolated = make_graphs(1, num_nodes=4, seed=3)[0]
    isolated.x = torch.cat([isolated.x, torch.ones(3, zoo.FEATURES)])

    def bare(num_nodes: int, edges: list[list[int]]) -> Data:
        edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
        features = torch.ones(edge_index.size(1), zoo.EDGE_FEATURES)
        x = torch.rand(num_nodes, zoo.FEATURES, generator=random)
        return Data(x=x, edge_index=edge_index, edge_attr=features, y=directed.y)

    return [directed, bare(3, []), looped, double, bare(2, [[0, 0], [1, 1]]), isolated, bare(1, []), bare(2, [[1, 0]])]


def instances_of(graphs: list[Data], max_edges: int = MAX_EDGES, model_class: type = zoo.GATEdgeAttr) -> Instances:
    return Instances(split_of(model_class), graphs, max_edges)


@pytest.mark.parametrize("ids", [[0], [1], [4, 1, 1, 3], [7, 6, 5, 4, 3, 2, 1, 0], [2, 2]])
def test_a_batch_is_pygs_and_its_units_are_those_found_in_it(ids: list[int]) -> None:
    graphs = odd_graphs()
    batch, units = instances_of(graphs)[torch.tensor(ids)]
    expected = Batch.from_data_list([graphs[place] for place in ids])
    for key in ("x", "edge_index", "edge_attr", "y", "batch", "ptr"):
        torch.testing.assert_close(batch[key], expected[key])
    found = find_units(expected.edge_index, expected.num_nodes, expected.batch, len(ids))
    for name in ("of_edge", "pair", "owner", "ptr"):
        assert torch.equal(getattr(units, name), getattr(found, name)), name


def test_all_instances_and_some() -> None:
    graphs = odd_graphs()
    instances = instances_of(graphs)
    assert len(instances) == len(graphs)
    whole = Batch.from_data_list(graphs)
    found = find_units(whole.edge_index, whole.num_nodes, whole.batch, len(graphs))
    assert torch.equal(instances.units.of_edge, found.of_edge)
    some = instances.some(torch.tensor([5, 2]))
    assert len(some) == 2
    batch, _ = some[torch.tensor([1])]
    torch.testing.assert_close(batch.x, graphs[2].x)


@pytest.mark.parametrize("model_class", [zoo.GATEdgeAttr, zoo.GCNLinear, zoo.SAGE, zoo.GINDeepHead])
def test_without_is_the_model_on_each_graph_with_its_edges_deleted(model_class: type) -> None:
    graphs = [*odd_graphs(), *make_graphs(3, seed=9)]
    instances = instances_of(graphs, model_class=model_class)
    ids = torch.tensor([9, 0, 3, 0, 2, 5, 1, 4, 8, 6, 7, 3])
    sizes = instances.units.counts[ids].tolist()
    removed = torch.rand(sum(sizes), generator=torch.Generator().manual_seed(0)) < 0.4
    found = instances.without(ids, removed, lambda done: done.output)
    log_probs = instances.log_probs(ids, removed)
    model = instances.split.model.eval()
    for row, (place, gone) in enumerate(zip(ids.tolist(), removed.split(sizes), strict=True)):
        graph = graphs[place]
        nodes = graph.num_nodes
        units = find_units(graph.edge_index, nodes, torch.zeros(nodes, dtype=torch.long), 1)
        edges = torch.tensor([unit >= 0 and bool(gone[unit]) for unit in units.of_edge.tolist()], dtype=torch.bool)
        left = delete_edges(graph, edges)
        assert left.num_edges == graph.num_edges - int(edges.sum())
        with torch.no_grad():
            output = instances.split.forward(model, Batch.from_data_list([left]), None)
        torch.testing.assert_close(found[row : row + 1], output, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(log_probs[row : row + 1], output.log_softmax(1), atol=1e-5, rtol=1e-4)


def test_nothing_removed_is_the_model_itself_and_no_copies_are_no_rows() -> None:
    instances = instances_of(odd_graphs())
    everything = torch.arange(len(instances))
    clean = instances.passes(lambda done: done.output)
    nothing = torch.zeros(len(instances.units), dtype=torch.bool)
    torch.testing.assert_close(instances.without(everything, nothing, lambda done: done.output), clean)
    assert instances.without(everything[:0], nothing[:0], lambda done: done.output).shape == (0, zoo.CLASSES)
    assert not clean.requires_grad


@pytest.mark.parametrize("max_edges", [1, 7, 40, 10**6])
def test_chunks_cover_everything_in_order(max_edges: int) -> None:
    instances = instances_of([*odd_graphs(), *make_graphs(5)], max_edges)
    ids = torch.tensor([0, 1, 2, 3, 12, 11, 10, 9, 8, 7, 6, 5, 4, 0, 0])
    chunks = instances.chunks(ids)
    assert torch.equal(torch.cat(chunks), ids)
    assert all(len(chunk) for chunk in chunks)
    if max_edges == 10**6:
        assert len(chunks) == 1
    assert instances.chunks(ids[:0]) == []


def test_chunks_hold_about_as_many_edges_as_asked() -> None:
    graphs = make_graphs(6)
    sizes = [graph.num_edges for graph in graphs]
    for max_edges in (10, max(sizes), sum(sizes[:2]) + 1, 3 * max(sizes)):
        for chunk in instances_of(graphs, max_edges).chunks(torch.arange(6)):
            assert sum(sizes[place] for place in chunk.tolist()[:-1]) < max_edges


def test_small_pieces_give_the_same_answer() -> None:
    instances = instances_of(odd_graphs())
    ids = torch.tensor([0, 3, 2, 2, 7, 1])
    removed = torch.rand(int(instances.units.counts[ids].sum()), generator=torch.Generator().manual_seed(3)) < 0.5
    whole = instances.log_probs(ids, removed)
    for pieces in (instances_of(odd_graphs(), 5), instances.alone()):
        torch.testing.assert_close(pieces.log_probs(ids, removed), whole)
    assert [len(piece) for piece in instances.alone().chunks(ids)] == [1] * len(ids)
    assert len(instances.chunks(ids)) == 1


def test_what_the_mask_network_reads() -> None:
    graphs = make_graphs(3)
    split = instances_of(graphs, model_class=zoo.GCNLinear).split
    batch = Batch.from_data_list(graphs)
    done = split.run(batch)
    assert torch.equal(node_inputs(done, batch, "last"), done.layers[-1])
    assert torch.equal(node_inputs(done, batch, "layers"), torch.cat(done.layers, 1))
    everything = node_inputs(done, batch, "all")
    assert everything.shape == (batch.num_nodes, 2 * sum(layer.size(1) for layer in done.layers) + zoo.FEATURES)
    assert torch.equal(everything[:, -zoo.FEATURES :], batch.x)
    batch.x = batch.x.long()
    assert node_inputs(done, batch, "all").size(1) == everything.size(1) - zoo.FEATURES


def test_one_by_one_is_the_same_and_no_run_has_two_graphs(monkeypatch) -> None:
    instances = instances_of(odd_graphs())
    ids = torch.cat([instances.everything, instances.everything.flip(0)])
    sizes = instances.units.counts[ids]
    removed = torch.rand(int(sizes.sum()), generator=torch.Generator().manual_seed(1)) < 0.4
    together = instances.log_probs(ids, removed)
    seen: list[int] = []
    plain = type(instances.split).run

    def run(self, batch, mask=None):
        seen.append(batch.num_graphs)
        return plain(self, batch, mask)

    monkeypatch.setattr(type(instances.split), "run", run)
    torch.testing.assert_close(instances.one_by_one(ids, removed), together, atol=1e-5, rtol=1e-5)
    assert seen == [1] * len(ids)
    instances.observed()
    seen.clear()
    instances.alone().outputs()  # not what was observed in batches
    assert seen == [1] * len(instances)


def test_towards_a_class_a_unit_does_what_it_gains_for_it() -> None:
    """Probability lost to a third class counts only if no class (or the predicted one itself) is the target."""
    graphs = make_graphs(3, seed=4)
    instances = instances_of(graphs, model_class=zoo.GCNLinear)
    nothing = torch.zeros(len(instances.units), dtype=torch.bool)
    before = instances.log_probs(instances.everything, nothing).exp()
    label = before.argmax(1)
    other = before.argmin(1)
    lost, same = single_effects(instances, label), single_effects(instances, label, label)
    gained = single_effects(instances, label, other)
    assert torch.equal(lost, same)
    unit = int(instances.units.ptr[1])  # the first of the second graph
    removed = torch.zeros(int(instances.units.counts[1]), dtype=torch.bool)
    removed[0] = True
    change = instances.log_probs(torch.tensor([1]), removed).exp()[0] - before[1]
    torch.testing.assert_close(lost[unit], -change[label[1]])
    torch.testing.assert_close(gained[unit], change[other[1]])
