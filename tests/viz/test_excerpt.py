"""What is drawn of a large graph, and where."""

import numpy as np

from rcexplainer.viz.excerpt import CHOSEN_EDGES, MOST_DELETED, choose_excerpt
from rcexplainer.viz.radial_layout import radial_layout


def star(leaves: int) -> np.ndarray:
    return np.array([[0] * leaves, range(1, leaves + 1)])


def test_a_small_graph_is_drawn_whole() -> None:
    found = choose_excerpt(star(5), np.zeros(5), np.zeros(5, dtype=bool), np.arange(8), [0])
    assert found.kept.all()
    assert found.nodes.tolist() == list(range(8))
    assert found.left_out == ""


def test_many_nodes_without_edges_are_counted_instead() -> None:
    found = choose_excerpt(star(5), np.zeros(5), np.zeros(5, dtype=bool), np.arange(1006), [])
    assert found.nodes.tolist() == list(range(6))
    assert found.left_out == "Not drawn: 1,000 nodes without edges."


def test_of_a_large_one_the_highest_scores_and_the_deleted_edges() -> None:
    scores, deleted = np.linspace(0, 1, 2000), np.zeros(2000, dtype=bool)
    deleted[3] = True
    found = choose_excerpt(star(2000), scores, deleted, np.arange(2001), [0])
    assert found.kept.sum() == CHOSEN_EDGES
    assert found.kept[3]
    assert found.kept[-CHOSEN_EDGES + 1 :].all()
    deleted[:] = True
    found = choose_excerpt(star(2000), scores, deleted, np.arange(2001), [0])
    assert found.kept.sum() == MOST_DELETED
    assert found.left_out.endswith("Not drawn: 1,880 deleted edges.")


def test_the_explained_node_is_in_the_centre_and_hops_are_circles() -> None:
    places = radial_layout(np.array([[0, 0, 1, 1], [1, 2, 3, 4]]), 6, [0])
    radius = np.linalg.norm(places, axis=1)
    assert np.allclose(radius[:5], [0, 1 / 3, 1 / 3, 2 / 3, 2 / 3])
    assert np.isclose(radius[5], 1)  # no path leads there
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(6)
    assert gaps.min() > 0.2


def test_the_nodes_of_a_link_share_the_centre() -> None:
    places = radial_layout(np.array([[0, 1], [2, 3]]), 4, [0, 1])
    assert np.allclose(places[0], -places[1])
    assert np.linalg.norm(places[0]) < 0.3
