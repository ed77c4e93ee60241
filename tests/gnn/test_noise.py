"""Noisy copies of a batch: how much changes, and what must not."""

import torch
from torch_geometric.data import Data

from rcexplainer.core.units import Units
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.noise import noisy
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.gnn.splits import split_of


def batch_of(count: int = 30, **kinds: bool) -> tuple[Data, Units, torch.Tensor]:
    graphs = make_graphs(count, **kinds)
    instances = Instances(split_of(zoo.GCNLinear), graphs)
    batch, units = instances[instances.everything]
    return batch, units, batch.x.unique(dim=0)


def pairs(graph: Data) -> set[tuple[int, int]]:
    return set(map(tuple, graph.edge_index.T.tolist()))


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_the_batch_itself_is_left_alone_and_one_seed_gives_one_copy() -> None:
    batch, units, rows = batch_of()
    before = {key: value.clone() for key, value in batch.to_dict().items() if isinstance(value, torch.Tensor)}
    first, second = (noisy(0.5, rows)(batch, units, seeded()) for _ in range(2))
    assert all(torch.equal(batch[key], value) for key, value in before.items())
    assert torch.equal(first.edge_index, second.edge_index)
    assert torch.equal(first.x, second.x)


def test_without_noise_nothing_changes() -> None:
    batch, units, rows = batch_of(5)
    same = noisy(0.0, rows)(batch, units, seeded())
    assert torch.equal(same.edge_index, batch.edge_index)
    assert torch.equal(same.x, batch.x)
    assert torch.equal(same.edge_attr, batch.edge_attr)


def test_about_half_the_noise_is_met_on_average() -> None:
    batch, units, rows = batch_of(200)
    copy = noisy(0.4, rows)(batch, units, seeded())
    dropped = 1 - len(pairs(copy) & pairs(batch)) / len(pairs(batch))
    size = batch.ptr.diff()
    density = float((units.counts**2 / (size * (size - 1))).sum() / units.counts.sum())
    added = len(pairs(copy) - pairs(batch)) / len(pairs(batch))
    swapped = float((copy.x != batch.x).any(1).float().mean())
    assert abs(dropped - 0.2 * density) < 0.02  # half of the pairs that are hit are set to non-edge
    assert 0.03 < added < 0.11  # a tenth, less those that were edges already
    assert abs(swapped - 0.2) < 0.03


def test_both_directions_go_and_come_together_and_stay_in_their_graph() -> None:
    batch, units, rows = batch_of()
    copy = noisy(0.6, rows)(batch, units, seeded())
    assert pairs(copy) == {(j, i) for i, j in pairs(copy)}
    assert torch.equal(batch.batch[copy.edge_index[0]], batch.batch[copy.edge_index[1]])
    assert not (copy.edge_index[0] == copy.edge_index[1]).any()
    assert len(copy.edge_attr) == copy.edge_index.size(1)


def test_weights_and_self_loops_travel_along() -> None:
    batch, units, rows = batch_of(edge_weight=True, self_loops=True)
    copy = noisy(1.0, rows)(batch, units, seeded())
    assert len(copy.edge_weight) == copy.num_edges
    loops = batch.edge_index[0] == batch.edge_index[1]
    assert int((copy.edge_index[0] == copy.edge_index[1]).sum()) == int(loops.sum())


def test_new_features_are_rows_of_the_data() -> None:
    batch, units, rows = batch_of(5)
    copy = noisy(1.0, rows)(batch, units, seeded())
    assert all(bool((rows == row).all(1).any()) for row in copy.x)
