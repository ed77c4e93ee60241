"""Names beside nodes cover neither each other nor nodes, where there is room."""

import numpy as np
import pytest

from rcexplainer.viz.label_places import CHARACTER_WIDTH, LINE_HEIGHT, label_places


def boxes(middles: np.ndarray, names: list[str], size: float) -> np.ndarray:
    """[n, 2, 2] the lower and the upper corner of every name."""
    half = 0.5 * size * np.array([[CHARACTER_WIDTH * len(name), LINE_HEIGHT] for name in names])
    return np.stack([middles - half, middles + half], 1)


def star(leaves: int) -> tuple[np.ndarray, np.ndarray]:
    """A hub and leaves around it."""
    turns = np.linspace(0, 2 * np.pi, leaves + 1)[:-1]
    places = np.concatenate([[[0.0, 0.0]], np.stack([np.cos(turns), np.sin(turns)], 1)])
    return places, np.stack([np.zeros(leaves, dtype=int), np.arange(1, leaves + 1)])


@pytest.mark.parametrize("leaves", [1, 5, 14])
def test_names_cover_neither_each_other_nor_other_nodes(leaves: int) -> None:
    places, ends = star(leaves)
    names = [f"acct-{100 + node}" for node in range(leaves + 1)]
    found = boxes(label_places(places, names, ends, 0.1, [0], 0.2), names, 0.1)
    for node, (low, high) in enumerate(found):
        inside = ((places > low) & (places < high)).all(1)
        assert not inside.any()
        for other in range(node):
            apart = (found[other][1] <= low) | (found[other][0] >= high)
            assert apart.any(), (names[node], names[other])
    gap = np.maximum(np.maximum(found[0][0], -found[0][1]), 0)  # from the hub to its name
    assert np.linalg.norm(gap) >= 0.2


def test_empty_names_take_no_room_and_the_places_are_kept() -> None:
    places, ends = star(3)
    found = label_places(places, ["", "name", "", ""], ends, 0.1)
    assert found[[0, 2, 3]].tolist() == places[[0, 2, 3]].tolist()
    assert found[1].tolist() != places[1].tolist()
    assert label_places(np.zeros((1, 2)), ["alone"], np.zeros((2, 0), dtype=int), 0.1).shape == (1, 2)


def test_some_names_come_first() -> None:
    places, names = np.zeros((2, 2)), ["name"] * 2  # both want the same side
    edges = np.zeros((2, 0), dtype=int)
    taken = label_places(places, names, edges, 0.1)
    other = label_places(places, names, edges, 0.1, first=[1])
    assert taken.tolist() == other[::-1].tolist()
    assert taken[0].tolist() != taken[1].tolist()
