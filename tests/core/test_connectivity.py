"""What is kept and cut off from the node says nothing: by hand, and against a literal search through kept edges."""

import hypothesis.strategies as st
import networkx as nx
import torch
from hypothesis import given, settings

from rcexplainer.core.connectivity import FOLLOW, connected

PATH = torch.tensor([[0, 1, 2], [1, 2, 3]])  # 0 – 1 – 2 – 3


def test_behind_a_narrow_place_nothing_is_wider() -> None:
    found = connected(torch.tensor([3.0, -2.0, 5.0]), PATH, torch.tensor([0]), 4, rounds=3)
    torch.testing.assert_close(found, torch.tensor([3.0, -2.0, -2.0 + FOLLOW * 7.0]))


def test_the_wider_of_two_ways_counts() -> None:
    pair = torch.tensor([[0, 0, 1, 2], [1, 2, 3, 3]])
    found = connected(torch.tensor([-4.0, 1.0, 6.0, 2.0]), pair, torch.tensor([0]), 4, rounds=3)
    torch.testing.assert_close(found, torch.tensor([-4.0, 1.0, 1.0 + FOLLOW * 5.0, 1.0 + FOLLOW * 1.0]))


def test_two_roots_of_a_link() -> None:
    found = connected(torch.tensor([-3.0, 4.0, 2.0]), PATH, torch.tensor([0, 3]), 4, rounds=3)
    torch.testing.assert_close(found, torch.tensor([-3.0, 2.0 + FOLLOW * 2.0, 2.0]))


def test_what_no_path_leads_to_comes_last_in_its_own_order() -> None:
    pair = torch.tensor([[0, 2, 3], [1, 3, 4]])
    found = connected(torch.tensor([-9.0, 5.0, 7.0]), pair, torch.tensor([0]), 5, rounds=3)
    assert found[0] == -9
    assert found[1] < found[2] < found[0]


def test_roots_are_of_their_own_instances() -> None:
    """Two instances in a batch: no path leads from one to the other."""
    pair = torch.cat([PATH, PATH + 4], 1)
    logits = torch.tensor([3.0, -2.0, 5.0, 1.0, 2.0, 3.0])
    together = connected(logits, pair, torch.tensor([0, 4]), 8, rounds=3)
    alone = [connected(logits[i : i + 3], PATH, torch.tensor([0]), 4, rounds=3) for i in (0, 3)]
    torch.testing.assert_close(together, torch.cat(alone))


@given(st.integers(2, 8), st.integers(1, 16), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_above_any_threshold_are_the_kept_edges_that_hang_together_with_the_root(n: int, m: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    ends = torch.randint(n, (2, m), generator=random)
    pair = ends[:, ends[0] != ends[1]].sort(0).values.unique(dim=1)
    logits = torch.randperm(pair.size(1), generator=random).float()
    found = connected(logits, pair, torch.tensor([0]), n, rounds=n)
    for threshold in logits.tolist():
        kept = nx.Graph(pair[:, logits >= threshold].t().tolist())
        kept.add_node(0)
        reached = nx.node_connected_component(kept, 0)
        wanted = torch.tensor([i in reached and j in reached for i, j in pair.t().tolist()]) & (logits >= threshold)
        others = found[~wanted]
        assert not len(others) or not wanted.any() or found[wanted].min() > others.max()
    assert len(found.unique()) == len(found)  # no ties arise


def test_a_unit_counts_from_the_nearer_of_its_nodes() -> None:
    """One round reaches node 1 of the path: the unit 1 – 2 hangs on it, 2 – 3 is out of reach."""
    found = connected(torch.tensor([3.0, 2.0, 5.0]), PATH, torch.tensor([0]), 4, rounds=1)
    torch.testing.assert_close(found[:2], torch.tensor([3.0, 2.0]))
    assert found[2] < -900
