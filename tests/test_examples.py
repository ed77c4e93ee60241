"""Every example runs, at a small size, and prints explanations."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = {
    "explain_graph": {"graphs": 60, "epochs": 1},
    "explain_node": {"train_epochs": 60, "epochs": 1},
    "explain_link": {"pairs": 60, "train_epochs": 40, "epochs": 1},
    "chosen_class": {"graphs": 45, "train_epochs": 40, "epochs": 1},
}


@pytest.mark.parametrize("name", [path.stem for path in sorted(EXAMPLES.glob("*.py"))])
def test_an_example_runs(name: str, capsys) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](**SMALL[name])
    assert "Explanation(" in capsys.readouterr().out
