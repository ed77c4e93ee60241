"""The number of threads: the option, then the environment variable, then what suits the work."""

import os

import pytest
import torch

from rcexplainer.cli.threads import use_threads


@pytest.fixture
def start(monkeypatch):
    """Two threads, and the variable set or not; afterwards everything as before."""
    before = torch.get_num_threads()

    def begin(variable: str | None) -> None:
        torch.set_num_threads(2)
        monkeypatch.delenv("OMP_NUM_THREADS")
        if variable is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", variable)

    yield begin
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("variable", "threads", "default", "expected"),
    [
        (None, None, 1, (1, "1")),  # small work
        (None, None, None, (2, None)),  # large work: torch's own choice
        (None, 3, 1, (3, "3")),  # the user's choice
        (None, 3, None, (3, "3")),
        ("2", None, 1, (2, "2")),  # the variable is respected
        ("", None, 1, (1, "1")),
        ("2", 1, 1, (1, "1")),  # the option wins
    ],
)
def test_which_number(start, variable, threads, default, expected):
    start(variable)
    use_threads(threads, default)
    assert (torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")) == expected


def test_a_command_uses_one_thread_unless_told_otherwise(start, run, monkeypatch):
    seen = []
    monkeypatch.setattr("rcexplainer.cli.molecule_demo.run_demo", lambda **how: seen.append(torch.get_num_threads()))
    start(None)
    for option in ([], ["--threads", "2"]):
        with pytest.raises(AttributeError):  # there is no result to show
            run("demo", *option)
    assert seen == [1, 2]
