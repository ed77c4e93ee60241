"""What is kept of the frozen GNN is what it would say again; noisy copies come from a pool."""

from types import SimpleNamespace

import pytest
import torch

import rcexplainer as rc
from rcexplainer.fit import readings
from rcexplainer.fit.readings import CleanReadings, NoisyReadings, Rows
from rcexplainer.gnn import gnn_config, split_model
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.models import GNN
from rcexplainer.gnn.node_inputs import node_inputs
from rcexplainer.gnn.noise import noisy
from rcexplainer.gnn.seed import seeded


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    graphs = rc.datasets.load("nitro", num_graphs=24).graphs
    with seeded(0):
        model = GNN(gnn_config("paper", graphs[0].num_features, 2))
    split = split_model(model, graphs)
    instances = Instances(split, graphs)
    batch, _ = instances[instances.everything]
    return SimpleNamespace(split=split, instances=instances, noise=noisy(0.3, batch.x.unique(dim=0)))


def pooled(case, copies: int, seed: int = 0, **limits: int) -> NoisyReadings:
    generator = torch.Generator().manual_seed(seed)
    return NoisyReadings(case.instances, "all", case.noise, copies, generator, **limits)


def test_rows_of_ragged_items_by_hand() -> None:
    rows = Rows(torch.tensor([0, 2, 2, 5]), (torch.tensor([10, 11, 20, 21, 22]), torch.arange(5.0)))
    (first, second), owner = rows(torch.tensor([2, 1, 0]))
    assert first.tolist() == [20, 21, 22, 10, 11]
    assert second.tolist() == [2.0, 3.0, 4.0, 0.0, 1.0]
    assert owner.tolist() == [0, 0, 0, 2, 2]


@pytest.mark.parametrize("limit", [0, 1 << 29])
def test_what_is_kept_is_what_the_model_says(case, limit: int, monkeypatch) -> None:
    kept = CleanReadings(case.instances, "all", limit)
    ids = torch.tensor([7, 3, 20])
    batch, _ = case.instances[ids]
    done = case.split.run(batch)
    found = kept(ids, batch)
    torch.testing.assert_close(found.nodes, node_inputs(done, batch, "all"))
    torch.testing.assert_close(found.embedding, done.embedding)
    monkeypatch.setattr(type(case.split), "run", lambda *_: pytest.fail("the model was run"))
    if limit:
        kept(ids, batch)


def test_the_pool_holds_what_the_model_says_of_noisy_copies(case) -> None:
    """One copy of every graph, beside the same copies drawn by hand."""
    pool = pooled(case, 1)
    everything = case.instances.everything
    batch, units = case.instances[everything]
    live = pooled(case, 1, limit=0)
    assert (pool.copies, live.copies) == (1, 0)
    found = pool(everything, batch, units, torch.Generator())
    drawn = live(everything, batch, units, torch.Generator().manual_seed(0))
    for name in ("pair", "owner", "unit"):
        assert torch.equal(getattr(found, name), getattr(drawn, name)), name
    torch.testing.assert_close(found.nodes, drawn.nodes)
    torch.testing.assert_close(found.embedding, drawn.embedding)
    known = found.unit >= 0
    assert torch.equal(units.pair[:, found.unit[known]], found.pair[:, known])
    assert known.any()
    assert not known.all()


def test_a_step_reads_one_copy_of_each_of_its_instances(case) -> None:
    pool, single = pooled(case, 5), [pooled(case, 5)]
    ids = torch.tensor([4, 4, 9])
    batch, units = case.instances[ids]
    found = pool(ids, batch, units, torch.Generator().manual_seed(1))
    again = single[0](ids, batch, units, torch.Generator().manual_seed(1))
    assert torch.equal(found.nodes, again.nodes)  # the same seed, the same copies
    assert found.nodes.shape[0] == batch.num_nodes
    assert torch.equal(batch.batch[found.pair[0]], found.owner)
    assert torch.equal(batch.batch[found.pair[1]], found.owner)
    several = [pool(ids, batch, units, torch.Generator().manual_seed(seed)).embedding for seed in range(9)]
    assert 2 < len({tuple(one[2].tolist()) for one in several}) <= 5


def test_a_pool_that_does_not_fit_is_smaller_or_none(case) -> None:
    one = sum(part.nbytes for part in [pooled(case, 1)._copy(case.instances.everything, torch.Generator())])
    assert pooled(case, 8, limit=20 * one).copies == 8
    assert readings.SMALLEST_POOL <= pooled(case, 8, limit=6 * one).copies < 8
    assert pooled(case, 8, limit=2 * one).copies == 0
