"""Names of version 0.1: old options still work and say so, removed commands name what to run instead."""

import pytest

from rcexplainer.cli.old_names import with_new_names
from rcexplainer.errors import RCExplainerError


@pytest.mark.parametrize(
    ("words", "expected", "old", "new"),
    [
        (["train", "--model", "gin"], ["train", "--arch", "gin"], "train --model", "--arch"),
        (["evaluate", "--model=gin", "-q"], ["evaluate", "--arch=gin", "-q"], "evaluate --model", "--arch"),
        (["fit", "--gnn", "a"], ["fit", "--model", "a"], "fit --gnn", "--model"),
        (["explain", "--gnn=a=b"], ["explain", "--model=a=b"], "explain --gnn", "--model"),
    ],
)
def test_old_options_are_translated_with_one_warning(capsys, words, expected, old, new):
    assert with_new_names(words) == expected
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"rcexplainer: {old} is now {new}; the old name works until the next version\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["fit", "--model", "a"],
        ["train", "--arch", "gin"],
        ["report", "--gnn"],
        ["--gnn"],
        ["evaluate", "--model", "nets.gnn:load_model"],
        ["evaluate", "--model=gnn.safetensors", "-q"],
        ["evaluate", "--model", "."],
    ],
)
def test_new_names_are_left_alone(capsys, words):
    assert with_new_names(words) == words
    assert capsys.readouterr().err == ""


def test_a_command_runs_under_its_old_option(run, named):
    files = named(["--gnn", "GNN", "--explainer", "EXPLAINER"])
    ended = run("explain", "--dataset", "ba-2motifs", *files, "--limit", "1", "--search", "none", "-q")
    assert ended.code == 0
    assert ended.err == "rcexplainer: explain --gnn is now --model; the old name works until the next version\n"


@pytest.mark.parametrize("command", ["tradeoff", "case-study"])
def test_removed_commands_name_what_to_run_instead(refused, command):
    refused([command, "--dataset", "nitro"], f"run `rcexplainer reproduce {command} --profile standard --out DIR`")
    with pytest.raises(RCExplainerError, match=f"the command {command} was removed"):
        with_new_names([command])
