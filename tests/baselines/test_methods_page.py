"""docs/methods.md: its code runs, and its table has every method."""

import re
from pathlib import Path

import rcexplainer as rc
from rcexplainer.testing.sample_graphs import sample_graphs
from rcexplainer.testing.sample_networks import random_network

PAGE = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")


def test_its_code_runs() -> None:
    names = {"model": random_network("graphconv"), "graphs": sample_graphs()}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, names)
    assert len(names["explanations"]) == len(sample_graphs())


def test_its_table_has_every_method() -> None:
    classes = re.findall(r"^\| `[a-z0-9-]+` \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(classes) == sorted(set(rc.baselines.__all__) - {"Method"})
