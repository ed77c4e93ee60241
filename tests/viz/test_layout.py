"""Places of nodes: small graphs whose best drawing is known."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rcexplainer.datasets import load
from rcexplainer.viz.layout import crossings, hop_distances, stress_layout


def both(pairs: list[tuple[int, int]]) -> torch.Tensor:
    edges = torch.tensor(pairs).t().reshape(2, -1)
    return torch.cat([edges, edges.flip(0)], 1)


def test_distances_are_numbers_of_edges_and_parts_lie_apart() -> None:
    ways = hop_distances(both([(0, 1), (1, 2)]), 4)
    assert ways[:3, :3].tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert ways[3].tolist() == [4, 4, 4, 0]  # the longest way, 2, and 2 more


def test_one_direction_is_enough() -> None:
    one = hop_distances(torch.tensor([[0, 2], [1, 1]]), 3)
    assert one.tolist() == hop_distances(both([(0, 1), (1, 2)]), 3).tolist()


def test_a_path_goes_across_in_order() -> None:
    places = stress_layout(both([(0, 1), (1, 2), (2, 3)]), 4)
    assert np.isclose(np.abs(places[[0, 3], 0]), 1).all()
    steps = np.diff(places[:, 0])
    assert (steps > 0.3).all() or (steps < -0.3).all()


def test_a_cycle_is_a_regular_polygon() -> None:
    places = stress_layout(both([(i, (i + 1) % 6) for i in range(6)]), 6)
    radius = np.linalg.norm(places - places.mean(0), axis=1)
    sides = np.linalg.norm(places - np.roll(places, 1, 0), axis=1)
    assert np.allclose(radius, radius[0], rtol=0.02)
    assert np.allclose(sides, sides[0], rtol=0.02)


def test_leaves_of_a_star_do_not_cover_each_other() -> None:
    places = stress_layout(both([(0, leaf) for leaf in range(1, 8)]), 8)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(8)
    assert gaps.min() > 0.3


def test_crossings_of_a_square_and_its_diagonals() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    sides = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert crossings(square, np.array(sides).T) == 0  # they meet, but do not cross
    assert crossings(square, np.array([*sides, (0, 2), (1, 3)]).T) == 1
    assert crossings(square, np.array([*sides, (0, 2)]).T) == 0
    assert crossings(square, np.empty((2, 0), dtype=np.int64)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_trees_with_motifs_are_drawn_without_needless_crossings(seed: int) -> None:
    for graph in load("three-motifs", seed=seed, num_graphs=6).graphs:
        places = stress_layout(graph.edge_index, graph.num_nodes)
        once = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
        assert crossings(places, once.numpy()) <= 2  # all of them could do without, but stress is minimised


@given(st.integers(0, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20))
def test_any_graph_fits_the_square_the_same_way_twice(nodes: int, pairs: list[tuple[int, int]]) -> None:
    inside = [pair for pair in pairs if max(pair) < nodes]
    edges = both(inside) if inside else torch.empty(2, 0, dtype=torch.long)
    places = stress_layout(edges, nodes)
    assert places.shape == (nodes, 2)
    assert np.isfinite(places).all()
    assert np.abs(places).max(initial=0) <= 1 + 1e-9
    assert np.array_equal(places, stress_layout(edges, nodes))
