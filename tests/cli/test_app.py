"""The application: its help, its version, and mistakes that have nothing to do with one command."""

import os
import subprocess
import sys

import pytest

from rcexplainer import __version__

COMMANDS = ("demo", "datasets", "train", "fit", "explain", "evaluate", "reproduce", "bench", "report")
COMPUTING = ("demo", "train", "fit", "explain", "evaluate", "reproduce", "bench")
WRITING = ("bench", "demo", "train", "fit", "explain", "evaluate", "reproduce", "report")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help(run, arguments):
    ended = run(*arguments)
    assert (ended.code, ended.err) == (0, "")
    assert "rcexplainer [OPTIONS] COMMAND" in ended.out
    assert all(command in ended.out for command in COMMANDS)
    assert "tradeoff" not in ended.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(run, command):
    ended = run(command, "--help")
    assert ended.code == 0
    assert "--json" in ended.out
    assert ("--threads" in ended.out) == (command in COMPUTING)
    assert ("--out" in ended.out) == (command in WRITING)
    assert f"rcexplainer {command}" in ended.out.split("Examples:")[1]
    assert "--gnn" not in ended.out


def test_help_does_not_import_torch():
    code = "import sys; from rcexplainer.cli import app; assert app.main; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_version(run):
    ended = run("--version")
    assert (ended.code, ended.out, ended.err) == (0, f"{__version__}\n", "")


def test_python_dash_m():
    out = subprocess.run(
        [sys.executable, "-m", "rcexplainer", "--version"], capture_output=True, encoding="utf-8", check=True
    )
    assert out.stdout == f"{__version__}\n"


def test_output_that_cannot_show_every_character_ends_no_command():
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-W", "ignore", "-m", "rcexplainer", "datasets"]
    out = subprocess.run(command, capture_output=True, env=environment, check=True).stdout
    assert out.isascii()
    assert b"?" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "No such command 'trian'"),
        (["train"], "Missing option '--dataset'; see `rcexplainer train --help`"),
        (["reproduce"], "Missing argument 'ENTRY'; see `rcexplainer reproduce --help`"),
        (["datasets", "--colour"], "No such option"),
        (["bench", "core", "--threads", "0"], "'--threads': Input should be greater than or equal to 1, got '0'"),
        (["demo", "--seed=x"], "got 'x'; see `rcexplainer demo --help`"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(refused, arguments, message):
    refused(arguments, message)
