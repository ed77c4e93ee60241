"""Sampled pairs against the padded matrix written out."""

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from rcexplainer.core.units import find_units
from rcexplainer.fit.masked_runs import MiniBatch
from rcexplainer.fit.pair_sample import other_pairs, pair_logits

SIZE = 6  # N
PAD = torch.tensor([[0.3, -0.7]])


def two_graphs() -> Batch:
    first = Data(
        x=torch.tensor([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0]]), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    )
    second = Data(
        x=torch.randn(4, 2, generator=torch.Generator().manual_seed(0)), edge_index=torch.tensor([[0, 3], [3, 0]])
    )
    return Batch.from_data_list([first, second])


def score(a: Tensor, b: Tensor) -> Tensor:
    """Some f_θ that tells the directions apart."""
    return a[..., 0] * b[..., 1] + 0.5 * a[..., 1] - b[..., 0]


def ordered(nodes: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
    return score(nodes[pair[0]], nodes[pair[1]])[None]


def mini_batch(batch: Batch) -> MiniBatch:
    units = find_units(batch.edge_index, int(batch.num_nodes), batch.batch, batch.num_graphs)
    return MiniBatch(torch.arange(2), batch, units, torch.arange(len(units)))


def matrix(batch: Batch, number: int) -> Tensor:
    """Σ f over all N² entries of one graph, one by one."""
    x = batch[number].x
    padded = torch.cat([x, PAD.expand(SIZE - len(x), -1)])
    return score(padded[:, None], padded[None]).sum()


def test_on_average_they_stand_for_every_entry_of_the_padded_matrix() -> None:
    copies = 150_000
    both = two_graphs()
    batch = Batch.from_data_list([both[0]] * copies + [both[1]] * copies)
    some = mini_batch(batch)
    found = pair_logits(some, batch.x, ordered, (PAD, SIZE), torch.Generator().manual_seed(0))
    sums = torch.zeros(2 * copies).index_add(0, some.units.owner.repeat(2), found.ways.flatten())
    sums = sums.index_add(0, found.owner, found.weight * found.others).view(2, copies)
    error = sums.std(1) / copies**0.5
    expected = torch.stack([matrix(both, 0), matrix(both, 1)])
    assert ((sums.mean(1) - expected).abs() < 3 * error).all()
    assert (error < 0.1).all()
    assert found.entries.unique().tolist() == [SIZE**2]


def test_their_weights_and_the_edges_are_all_entries() -> None:
    batch, generator = two_graphs(), torch.Generator().manual_seed(1)
    edges = torch.bincount(batch.batch[batch.edge_index[0]])
    sums = torch.stack(
        [
            torch.zeros(2).index_add(0, found.owner, found.weight) + edges
            for found in (other_pairs(batch, mini_batch(batch).units, SIZE, generator) for _ in range(2000))
        ]
    )
    torch.testing.assert_close(sums.mean(0), torch.full((2,), float(SIZE**2)), rtol=0.02, atol=0.0)


def test_no_edge_is_among_them_and_no_pair_leaves_its_graph() -> None:
    batch, generator = two_graphs(), torch.Generator().manual_seed(2)
    edges = set(map(tuple, batch.edge_index.T.tolist()))
    for _ in range(50):
        found = other_pairs(batch, mini_batch(batch).units, SIZE, generator)
        for (i, j), owner, weight in zip(
            found.pair.T.tolist(), found.owner.tolist(), found.weight.tolist(), strict=True
        ):
            assert all(end == batch.num_nodes or int(batch.batch[end]) == owner for end in (i, j))
            assert weight == 0 or (i, j) not in edges


def test_an_edge_stored_one_way_counts_in_both_directions_and_a_self_loop_as_any_other_pair() -> None:
    one_way = Batch.from_data_list([Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1, 2], [1, 2, 2]]))])
    units = mini_batch(one_way).units
    assert len(units) == 2
    generator, total = torch.Generator().manual_seed(0), 0.0
    for _ in range(4000):
        total += float(other_pairs(one_way, units, SIZE, generator).weight.sum()) + 2 * len(units)
    assert total / 4000 == pytest.approx(SIZE**2, rel=0.02)


def test_without_padding_only_the_edges_of_the_square_count() -> None:
    batch = two_graphs()
    found = pair_logits(mini_batch(batch), batch.x, ordered, None, torch.Generator())
    assert found.others.numel() == 0
    assert found.entries.tolist() == [9, 16]


@pytest.mark.parametrize("members", [1, 3])
def test_networks_side_by_side_have_their_own_logits(members: int) -> None:
    batch = two_graphs()
    some = mini_batch(batch)

    def several(nodes: Tensor, pair: Tensor, owner: Tensor) -> Tensor:
        return torch.cat([ordered(nodes, pair, owner) + 10 * number for number in range(members)])

    found = pair_logits(some, batch.x, several, (PAD, SIZE), torch.Generator().manual_seed(0))
    alone = pair_logits(some, batch.x, ordered, (PAD, SIZE), torch.Generator().manual_seed(0))
    for number in range(members):
        own = slice(number * len(some.units), (number + 1) * len(some.units))
        torch.testing.assert_close(found.ways[:, own], alone.ways + 10 * number)
    here = found.owner >= 2 * (members - 1)
    torch.testing.assert_close(found.others[here], alone.others + 10 * (members - 1))
    torch.testing.assert_close(found.weight[here], alone.weight)
