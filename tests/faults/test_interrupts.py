"""Ctrl-C and SIGTERM write what there is, and what goes on from it ends as if nothing had been."""

import json
import logging
import os
import signal
import sys
from contextlib import contextmanager

import pytest
import torch

import rcexplainer as rc
from rcexplainer.benchmark.own_dataset import own_dataset
from rcexplainer.benchmark.own_evaluation import evaluate_own
from rcexplainer.cli import main
from rcexplainer.cli.explain_settings import ExplainSettings
from rcexplainer.cli.explanation_report import ExplanationReport, Remainder
from rcexplainer.cli.explanations import explained_instances
from rcexplainer.cli.instance_index import in_whole
from rcexplainer.cli.interrupted_explanations import show_interrupted
from rcexplainer.cli.interruption import terminations
from rcexplainer.core.training import Training
from rcexplainer.errors import ExplainInterrupt
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn
from rcexplainer.gnn.labelled_instances import LabelledInstances
from rcexplainer.saving.checkpoint import FitFile


def interrupting(monkeypatch, owner, name, after):
    """Raise a KeyboardInterrupt in the midst of a call of a method, once it was called `after` times."""
    original, calls = getattr(owner, name), []

    def counted(*args, **kwargs):
        calls.append(None)
        found = original(*args, **kwargs)
        if len(calls) > after:
            monkeypatch.setattr(owner, name, original)
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(owner, name, counted)


def test_an_interrupted_fit_goes_on_from_its_last_epoch(case, tmp_path, monkeypatch, caplog):
    data, model, _ = case
    explainer = rc.RCExplainer(epochs=6)
    whole = explainer.fit(model, data.subset("train"), progress=False)
    path = tmp_path / "fit.safetensors"
    interrupting(monkeypatch, Training, "_keep", 3)  # after the weights of the fourth epoch were changed
    with pytest.raises(KeyboardInterrupt):
        explainer.fit(model, data.subset("train"), progress=False, checkpoint=path)
    assert f"what was done is in {path}: the same command, or call, goes on from there" in caplog.text
    with caplog.at_level(logging.INFO):
        again = explainer.fit(model, data.subset("train"), progress=False, checkpoint=path)
    assert "continues after epoch 3" in caplog.text
    assert again.history == whole.history
    for one, two in zip(whole.scores.net.parameters(), again.scores.net.parameters(), strict=True):
        assert torch.equal(one, two)


def test_an_interrupted_training_of_a_network_comes_out_the_same(case, tmp_path, monkeypatch):
    data = case[0]
    config, settings = gnn_config("paper", 10, 2, dropout=0.2), TrainConfig(epochs=7, batch_size=16, lr=0.01)
    whole = train_gnn(config, data.graphs, data.split, settings=settings, progress=False)
    path = tmp_path / "network.unfinished"
    interrupting(monkeypatch, LabelledInstances, "score", 3)
    with pytest.raises(KeyboardInterrupt), FitFile(path, {}) as file:
        train_gnn(config, data.graphs, data.split, settings=settings, progress=False, file=file)
    with FitFile(path, {}) as file:
        assert json.loads(file.get("training 0")[1])["epoch"] == 2
        again = train_gnn(config, data.graphs, data.split, settings=settings, progress=False, file=file)
    assert again.accuracy == whole.accuracy
    assert again.best_epoch == whole.best_epoch
    for one, two in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, two)


def test_an_interrupted_evaluation_keeps_what_it_measured(case, tmp_path, monkeypatch, caplog):
    data, model, _ = case
    own, out = own_dataset("mine", data.graphs, "graph", 0), tmp_path / "out"
    arguments = {"methods": ["gradient"], "progress": False}
    whole = evaluate_own(model, own, **arguments)
    measured, limit = [], [2]
    original = rc.benchmark.own_evaluation._measured

    def stopped(case, name, fit):
        if len(measured) == limit[0]:
            raise KeyboardInterrupt
        measured.append(name)
        return original(case, name, fit)

    monkeypatch.setattr(rc.benchmark.own_evaluation, "_measured", stopped)
    with pytest.raises(KeyboardInterrupt):
        evaluate_own(model, own, out=out, **arguments)
    assert f"2 results are in {out}: the same command, or call, goes on from there" in caplog.text
    stopped_at, limit[0] = list(measured), 10
    measured.clear()
    again = evaluate_own(model, own, out=out, **arguments)
    assert [one.method for one in again.results] == stopped_at + measured
    for one, two in zip(whole.results, again.results, strict=True):
        assert repr((one.method, one.fidelity, one.counterfactuals)) == repr(
            (two.method, two.fidelity, two.counterfactuals)
        )
    assert not (out / "unfinished").exists()


def test_an_evaluation_interrupted_in_its_network_says_once_how_to_go_on(tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    interrupting(monkeypatch, LabelledInstances, "score", 3)
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "--dataset", "tree-cycles", "--quiet"])
    assert end.value.code == 130
    told = [record.getMessage() for record in caplog.records if "goes on from there" in record.getMessage()]
    assert len(told) == 1
    assert "what was done is in" in told[0]
    assert capsys.readouterr().err.endswith("rcexplainer: interrupted\n")


def test_what_was_explained_before_an_interrupt_is_not_lost(case, monkeypatch):
    data, _, fitted = case
    monkeypatch.setattr("rcexplainer.method.inputs.most_edges", lambda *_: 200)
    original, calls = rc.method.inputs.isolated, []

    def stopped(*args):
        calls.append(None)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr("rcexplainer.method.inputs.isolated", stopped)
    with pytest.raises(ExplainInterrupt, match=r"are in \.results") as stop:
        fitted.explain(data.graphs)
    found = stop.value.results
    assert 0 < len(found) < len(data.graphs)
    assert found[0].graph.num_edges == data.graphs[0].num_edges


def test_an_interrupted_command_keeps_the_turns_before(case, monkeypatch, tmp_path, caplog):
    data, _, fitted = case
    original, sizes = type(fitted).explain, []

    def stopped(self, graphs, **settings):
        sizes.append(len(graphs))
        if len(sizes) == 3:
            raise KeyboardInterrupt
        return original(self, graphs, **settings)

    chosen = in_whole(data, None, None)
    assert len(chosen) > 48
    monkeypatch.setattr(type(fitted), "explain", stopped)
    for settings, done in ((ExplainSettings(), 48), (ExplainSettings(search="none"), len(chosen))):
        sizes.clear()
        try:
            found = explained_instances(fitted, data, chosen, settings)
        except ExplainInterrupt as stop:
            found = stop.results
        assert len(found) == done
    sizes[:] = [0, 0]
    with pytest.raises(ExplainInterrupt) as stop:
        explained_instances(fitted, data, chosen, ExplainSettings())
    left = Remainder(len(chosen), stop.value)
    report = ExplanationReport(data, "gnn", "explainer", 0, None, "prefix", *[None] * 4, (), fitted, "scores", left)
    show_interrupted(report, tmp_path / "out.json", as_json=False)
    assert f"0 of {len(chosen)} graphs were explained; " in caplog.text
    assert not list(tmp_path.iterdir())  # there is nothing to write


@contextmanager
def heard_interrupts():
    """SIGINT as in a terminal: a shell has processes in the background ignore it, and these tests may be one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to catch")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_command_with_their_code(tmp_path, monkeypatch, capsys, caplog, number, code):
    def interrupted(*args, **kwargs):
        os.kill(os.getpid(), number)

    monkeypatch.setattr("rcexplainer.benchmark.accuracy.train_gnn", interrupted)
    before = signal.getsignal(signal.SIGTERM)
    with heard_interrupts(), pytest.raises(SystemExit) as end:
        main(["train", "--dataset", "tree-cycles", "--quiet"])
    assert end.value.code == code
    assert capsys.readouterr().err.endswith("rcexplainer: interrupted\n")
    assert "nothing was kept: with --out DIR the same command goes on where it was" in caplog.text
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to catch")
def test_sigterm_is_an_interrupt_inside_a_command_alone():
    before = signal.getsignal(signal.SIGTERM)
    with terminations() as seen, pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
    assert seen == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) == before
