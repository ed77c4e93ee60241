"""Actors of `explain(dataset)` leave a CPU to the tasks that read its rows."""

import pytest

from rcexplainer.integrations.ray import actors_beside_tasks


@pytest.mark.parametrize(
    ("workers", "room", "gpus", "expected"),
    [
        (None, 1, 0, (1, 0)),  # the only CPU is shared: an actor that held it would wait for its input forever
        (2, 1, 0, (1, 0)),
        (None, 2, 0, (1, 1)),
        (2, 2, 0, (1, 1)),
        (None, 64, 0, (63, 1)),
        (8, 64, 0, (8, 1)),
        (None, 4, 1, (4, 0)),
        (2, 4, 1, (2, 0)),
        (None, 0, 1, (1, 0)),
    ],
)
def test_a_cpu_is_left(workers, room, gpus, expected):
    assert actors_beside_tasks(workers, room, gpus) == expected
