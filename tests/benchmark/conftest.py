"""Evaluations at toy size, each run once in a session and kept in a folder of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rcexplainer.benchmark import networks
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.harness import evaluate
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.benchmark.plan import Evaluation
from tests.benchmark.toys import tiny, toy_networks

ARGUMENTS: dict[str, dict[str, Any]] = {
    "graphs": {"dataset": "ba-2motifs", "settings": {"epochs": 2}, "device": "cpu"},
    "nodes": {"dataset": "tree-cycles", "settings": {"epochs": 2}},
    "links": {"dataset": "shared-neighbours", "settings": {"epochs": 3}},
    "paper": {"dataset": "ba-2motifs", "preset": "released", "settings": {"epochs": 1}, "protocol": "paper"},
}


@pytest.fixture(autouse=True)
def toys():
    with toy_networks() as patch:
        yield patch


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    """Where each of the evaluations keeps its results."""
    return {name: tmp_path_factory.mktemp("evaluation") for name in ARGUMENTS}


@pytest.fixture(scope="session")
def found(folders) -> Callable[[str], Evaluation]:
    """The evaluations by name, each run when it is first needed."""
    done: dict[str, Evaluation] = {}

    def one(name: str) -> Evaluation:
        if name not in done:
            with toy_networks() as patch:
                if ARGUMENTS[name]["dataset"] == "ba-2motifs":
                    patch.setattr(networks, "load", tiny)
                done[name] = evaluate(**ARGUMENTS[name], out=folders[name], progress=False)
        return done[name]

    return one


@pytest.fixture(scope="session")
def case() -> Case:
    """A network on houses and cycles, and its test graphs predicted as houses."""
    with toy_networks():
        made = Case.of("ba-2motifs", "paper", 0, settings={"epochs": 2}, progress=False)
        assert made.count > 4
        return made


@pytest.fixture(scope="session")
def node_case() -> Case:
    """A network on cycles in a tree, and the nodes of half of them."""
    with toy_networks():
        return Case.of("tree-cycles", "paper", 0, progress=False)


@pytest.fixture(scope="session")
def at_random(case):
    """Random scores for that network."""
    return METHODS["random"].fit(case, False)
