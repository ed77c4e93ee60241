"""The one loop: what it refuses, what it keeps, and that an evaluation that was stopped goes on where it was."""

import json
from dataclasses import replace
from typing import Any

import pytest

from rcexplainer import benchmark
from rcexplainer.benchmark import networks
from rcexplainer.benchmark.harness import evaluate
from rcexplainer.benchmark.methods import METHODS, MethodEntry
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import to_text
from tests.benchmark.conftest import ARGUMENTS
from tests.benchmark.toys import tiny, trained_once

TIMES = {"cold", "seconds", "seconds_mean", "seconds_std", "seconds_p95", "batched", "fit", "timed"}
COMPARED: dict[str, Any] = {"methods": "random", "robustness": False, "progress": False}


def untimed(value: Any) -> Any:
    """A document without its times."""
    if isinstance(value, dict):
        return {name: untimed(item) for name, item in value.items() if name not in TIMES}
    return [untimed(item) for item in value] if isinstance(value, list) else value


def document(evaluation) -> Any:
    return json.loads(to_text(evaluation.to_json()))


def refused(*_: object, **__: object) -> None:
    raise AssertionError("this was done before")


def test_it_is_public() -> None:
    assert benchmark.evaluate is evaluate
    assert benchmark.Evaluation.__name__ == "Evaluation"
    with pytest.raises(AttributeError, match="no attribute 'evaluation'"):
        _ = benchmark.evaluation


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_evaluation_can_be_read_back(name, found, folders, monkeypatch) -> None:
    """All that is measured comes back from its folder as it was, and nothing is loaded, trained or fitted again."""
    first = found(name)
    monkeypatch.setattr(networks, "load", refused)
    again = evaluate(**ARGUMENTS[name], out=folders[name], progress=False)
    assert document(again) == document(first)
    assert again.tables() == first.tables()
    assert json.loads((folders[name] / "evaluation.json").read_text(encoding="utf-8")) == document(first)


def stopping(monkeypatch, name: str, times: int) -> dict[str, int]:
    """How often each method is fitted; that one stops the first times, as ctrl-C does."""
    fits: dict[str, int] = {}

    def counting(method: str, entry: MethodEntry):
        def fit(case, progress):
            fits[method] = fits.get(method, 0) + 1
            if method == name and fits[method] <= times:
                raise KeyboardInterrupt
            return entry.fit(case, progress)

        return replace(entry, fit=fit)

    for method, entry in list(METHODS.items()):
        monkeypatch.setitem(METHODS, method, counting(method, entry))
    return fits


def test_an_evaluation_that_was_stopped_goes_on(monkeypatch, tmp_path) -> None:
    """Stopped twice, with a broken file, then with another seed: the numbers of one that ran through."""
    monkeypatch.setattr(networks, "load", tiny)
    for name in ("occlusion", "greedy"):
        monkeypatch.setitem(METHODS, name, METHODS["random"])  # it takes no time
    whole = untimed(document(evaluate("ba-2motifs", **COMPARED)))
    fits = stopping(monkeypatch, "greedy", 2)
    results = tmp_path / "results"
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            evaluate("ba-2motifs", out=tmp_path, **COMPARED)
        monkeypatch.setattr(networks, "train_gnn", refused)  # the network was kept, too
    assert [path.name for path in results.iterdir()] == ["0-occlusion.json"]
    assert not (tmp_path / "evaluation.json").exists()
    assert untimed(document(evaluate("ba-2motifs", out=tmp_path, **COMPARED))) == whole
    assert fits == {"occlusion": 1, "greedy": 3, "random": 2}  # random twice: it also shows whether motifs are used
    names = [f"0-{name}.json" for name in ("greedy", "network", "occlusion", "random")]
    assert sorted(path.name for path in results.iterdir()) == names

    broken = results / "0-occlusion.json"
    broken.write_text(broken.read_text(encoding="utf-8")[:40], encoding="utf-8")
    monkeypatch.setattr(networks, "train_gnn", trained_once)
    both = untimed(document(evaluate("ba-2motifs", seeds=(0, 1), out=tmp_path, **COMPARED)))
    assert both["results"][:3] == whole["results"]
    assert [one["seed"] for one in both["results"]] == [0, 0, 0, 1, 1, 1]
    assert fits == {"occlusion": 3, "greedy": 4, "random": 4}


def test_a_folder_of_another_evaluation_is_refused_by_what_differs(found, folders) -> None:
    found("nodes")
    how = ARGUMENTS["nodes"] | {"out": folders["nodes"], "progress": False}
    with pytest.raises(
        RCExplainerError,
        match=r"holds another evaluation: dataset is tree-cycles there, tree-grid here. Name another folder",
    ):
        evaluate(**how | {"dataset": "tree-grid"})
    with pytest.raises(RCExplainerError, match=r'settings is {"epochs": 2} there, {"epochs": 3} here'):
        evaluate(**how | {"settings": {"epochs": 3}})
    with pytest.raises(RCExplainerError, match=r"methods is default there, compared here"):
        evaluate(**how | {"methods": "all"})
    with pytest.raises(RCExplainerError, match=r"recipe is plain there, null here"):
        evaluate(**how | {"recipe": "ours"})


def test_wrong_arguments_cost_no_time(monkeypatch) -> None:
    monkeypatch.setattr(networks, "load", refused)
    for arguments, message in (
        ({"settings": {"epoch": 3}}, r"unknown setting 'epoch'; did you mean epochs\?"),
        ({"preset": "best"}, "unknown preset 'best'"),
        ({"protocol": "mine"}, "protocol must be one of held-out, paper, got 'mine'"),
        ({"methods": "gnnexplaner"}, "unknown method 'gnnexplaner'; did you mean gnnexplainer"),
        ({"methods": "all", "protocol": "paper"}, "compared on held-out instances and on the CPU: leave out protocol"),
        ({"methods": "all", "device": "cpu"}, "leave out protocol and device"),
        ({"seeds": ()}, "at least one seed is needed"),
        ({"recipe": "theirs"}, "unknown recipe 'theirs'; known: ours, plain, authors"),
    ):
        with pytest.raises(RCExplainerError, match=message):
            evaluate("ba-2motifs", **arguments)


def test_json_says_what_was_evaluated(found) -> None:
    kept = document(found("graphs"))
    assert list(kept)[:3] == ["protocol", "first", "means"]  # what can be flipped at all comes first
    assert (kept["protocol"], kept["dataset"], kept["arch"]) == ("held-out", "ba-2motifs", "paper")
    assert (kept["preset"], kept["settings"], kept["seeds"]) == ("default", {"epochs": 2}, [0])
    assert len(kept["accuracy"]) == 1
    assert kept["versions"]["rcexplainer"]
    assert document(found("links"))["arch"] == "shallow"  # the usual one for links


def test_costs(found) -> None:
    rows = {row["method"]: row for row in document(found("graphs"))["mean_costs"]}
    assert set(rows) == {"rcexplainer", "greedy", "occlusion", "random"}
    assert rows["rcexplainer"]["fit_seconds"] > rows["greedy"]["fit_seconds"]
    assert all(row["seconds_each"] > 0 and row["seconds_batched"] > 0 and row["failed"] == 0 for row in rows.values())
