"""`tools/parity.py`: the verdict on two versions' results."""

import json
import runpy
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "parity.py"


def write(folder: Path, **jobs: dict[str, object]) -> Path:
    """A folder of results, one file for each job."""
    folder.mkdir()
    for number, one in jobs.items():
        (folder / f"{one['set']}-{number}.json").write_text(json.dumps(one), encoding="utf-8")
    return folder


def graphs(seed: str, drop: float, robustness: float) -> dict[str, object]:
    return {"set": "nitro", "seed": seed, "drop": [drop] * 5, "robustness": robustness, "fit": 1.0}


@pytest.fixture
def verdicts(monkeypatch, tmp_path):
    """Compare two folders: (measure → row) of the set nitro."""

    def compared(old: Path, new: Path) -> dict[str, dict[str, float]]:
        monkeypatch.setattr(sys, "argv", ["parity", "compare", str(old), str(new), "--out", str(tmp_path / "found")])
        runpy.run_path(str(TOOL), run_name="__main__")
        return {row["measure"]: row for row in json.loads((tmp_path / "found").read_text(encoding="utf-8"))}

    return compared


def test_a_mean_difference_within_the_bound_holds(tmp_path, verdicts):
    greedy = {"set": "nitro", "seed": "greedy", "drop": [0.8] * 5}
    old = write(tmp_path / "old", a=graphs("0", 0.6, 0.9), b=graphs("1", 0.6, 0.9), greedy=greedy)
    new = write(tmp_path / "new", a=graphs("0", 0.64, 0.896), b=graphs("1", 0.56, 0.892))
    found = verdicts(old, new)
    assert found["ratio to greedy"]["difference"] == pytest.approx(0)
    assert found["ratio to greedy"]["old"] == pytest.approx(0.75)
    assert found["ratio to greedy"]["holds"]
    # −.004 and −.008: a mean of −.006, a standard error of .002, a bound of −.005
    assert found["robustness"]["standard error"] == pytest.approx(0.002)
    assert found["robustness"]["bound"] == pytest.approx(-0.005)
    assert not found["robustness"]["holds"]


def test_only_seeds_that_both_have_are_compared(tmp_path, verdicts):
    greedy = {"set": "nitro", "seed": "greedy", "drop": [1.0] * 5}
    old = write(tmp_path / "old", a=graphs("0", 0.5, 0.9), b=graphs("1", 0.1, 0.1))
    found = verdicts(old, write(tmp_path / "new", a=graphs("0", 0.5, 0.9), greedy=greedy))
    assert {row["seeds"] for row in found.values()} == {1}
    assert all(row["holds"] for row in found.values())
