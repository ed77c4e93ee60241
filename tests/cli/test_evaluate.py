"""`rcexplainer evaluate`: its options and what it prints; the measures themselves are tested in tests/benchmark."""

import json
from types import SimpleNamespace

import pytest

from rcexplainer.benchmark import networks, recipes
from rcexplainer.datasets import load
from rcexplainer.gnn import TrainConfig

EVALUATE = ["evaluate", "--dataset", "ba-2motifs"]


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory):
    """Where results are kept without --out until the command is done."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def toys(monkeypatch):
    """Forty graphs and short training."""
    monkeypatch.setattr(networks, "load", lambda name, root=None, seed=0: load(name, root, seed, num_graphs=40))
    monkeypatch.setattr(recipes, "training_settings", lambda name: TrainConfig(epochs=40, lr=0.01))


@pytest.fixture
def asked(monkeypatch):
    """An evaluation that does nothing but keep its arguments."""
    given = []

    def run(dataset, arch, seeds, **how):
        given.append({"dataset": dataset, "arch": arch, "seeds": tuple(seeds), **how})
        tables = [([{"method": "greedy", "ratio": 1.0}], "a caption"), ([{"cost": 2}], "another")]
        return SimpleNamespace(tables=lambda: tables, to_json=lambda: {"arch": arch})

    monkeypatch.setattr("rcexplainer.benchmark.harness.evaluate", run)
    return given


def test_defaults_reach_the_harness_and_tables_are_shown(run, asked, cache):
    ended = run(*EVALUATE)
    assert (ended.code, ended.err) == (0, "")
    assert all(text in ended.out for text in ("greedy", "a caption", "another"))
    kept = asked[0].pop("out")
    assert kept.parent == cache / "rcexplainer" / "unfinished"
    assert not kept.exists()
    assert asked == [
        {
            "dataset": "ba-2motifs",
            "arch": None,
            "seeds": (0,),
            "methods": None,
            "protocol": "held-out",
            "recipe": None,
            "preset": "default",
            "settings": {},
            "robustness": True,
            "device": None,
            "root": None,
            "progress": True,
        }
    ]


def test_options_reach_the_harness(run, asked, tmp_path):
    options = ["--arch", "gin", "--seeds", "2", "--methods", "cf2,rcexplainer", "--protocol", "paper"]
    options += ["--preset", "paper", "--set", "epochs=3", "--no-robustness", "--device", "cpu", "--recipe", "plain"]
    folders = ["--root", str(tmp_path), "--out", str(tmp_path / "new")]
    ended = run(*EVALUATE, *options, *folders, "--quiet", "--json")
    assert (ended.code, json.loads(ended.out)) == (0, {"arch": "gin"})
    assert (tmp_path / "new").is_dir()
    assert asked == [
        {
            "dataset": "ba-2motifs",
            "arch": "gin",
            "seeds": (0, 1),
            "methods": "cf2,rcexplainer",
            "protocol": "paper",
            "recipe": "plain",
            "preset": "paper",
            "settings": {"epochs": 3},
            "robustness": False,
            "device": "cpu",
            "root": tmp_path,
            "out": tmp_path / "new",
            "progress": False,
        }
    ]


def test_a_table_that_fits_a_pipe(run, toys):
    ended = run(*EVALUATE, "--set", "epochs=1", "--device", "cpu", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    words = ("greedy flips", "motif flips", "ratio", "above", "robust", "one graph ms")
    assert all(word in ended.out for word in words)
    assert max(len(line) for line in ended.out.splitlines()) <= 110


def test_one_json_document(run, toys):
    ended = run(*EVALUATE, "--set", "epochs=1", "--no-robustness", "--json")
    document = json.loads(ended.out)
    assert (document["protocol"], document["arch"]) == ("held-out", "paper")
    assert "model" not in document
    assert {row["robustness"] for row in document["means"]} == {None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*EVALUATE, "--protocol", "mine"], "protocol must be one of held-out, paper, got 'mine'"),
        ([*EVALUATE, "--set", "preset=paper"], "preset is an option of its own: --preset paper"),
        ([*EVALUATE, "--set", "target_class=house"], "--set target_class must be a class number such as 1,"),
        ([*EVALUATE, "--preset", "best"], "unknown preset 'best'; known: default, paper, released"),
        ([*EVALUATE, "--set", "lr=fast"], "lr must be a number, got 'fast'"),
        ([*EVALUATE, "--arch", "resnet"], "unknown architecture 'resnet'; known: paper"),
        ([*EVALUATE, "--methods", "gnnexplaner"], "unknown method 'gnnexplaner'; did you mean gnnexplainer?"),
        ([*EVALUATE, "--device", "gpu"], "device 'gpu'"),
        ([*EVALUATE, "--out", __file__], "is a file, not a folder"),
        (["evaluate", "--dataset", "nitro", "--protocol", "paper"], "is for mutagenicity, nci1, ba-2motifs, got"),
    ],
)
def test_mistakes(toys, refused, arguments, message):
    refused(arguments, message)


def test_without_out_the_same_command_goes_on_after_an_interrupt(run, toys, cache, monkeypatch, caplog):
    from rcexplainer.benchmark import harness

    measured, original = [], harness._measure

    def stopped(plan, make_case, name, progress):
        if len(measured) == 2:
            raise KeyboardInterrupt
        measured.append(name)
        return original(plan, make_case, name, progress)

    monkeypatch.setattr(harness, "_measure", stopped)
    command = [*EVALUATE, "--methods", "gradient", "--no-robustness", "--quiet"]
    assert run(*command).code == 130
    assert "2 results are in" in caplog.text
    assert len(list(cache.rglob("results/*.json"))) == 2
    first, before = list(measured), caplog.text
    monkeypatch.setattr(harness, "_measure", lambda *given: (measured.append(given[2]), original(*given))[1])
    ended = run(*command)
    assert ended.code == 0, before
    assert measured[2:]
    assert not set(first) & set(measured[2:])
    assert not list(cache.rglob("results"))


def test_a_fit_that_was_interrupted_goes_on_after_an_evaluation_of_other_methods(
    run, toys, tmp_path, monkeypatch, caplog
):
    from rcexplainer.core.training import Training

    keep, kept = Training._keep, []

    def stopped(*arguments):
        keep(*arguments)
        kept.append(None)
        if len(kept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Training, "_keep", stopped)
    command = [*EVALUATE, "--no-robustness", "--quiet", "--out", str(tmp_path), "--set", "epochs=4", "--methods"]
    assert run(*command, "rcexplainer").code == 130
    (checkpoint,) = (tmp_path / "unfinished").glob("*rcexplainer*")
    assert run(*command, "random").code == 0
    assert checkpoint.exists()
    with caplog.at_level("INFO"):
        assert run(*command, "rcexplainer").code == 0
    assert "continues after epoch 2" in caplog.text
    assert not checkpoint.exists()
