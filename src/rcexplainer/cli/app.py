"""The application: its commands in the order of its help, and its entry point, which turns errors into one line."""

import logging
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from itertools import pairwise
from typing import Annotated, Any, NoReturn

import typer

from rcexplainer import __version__
from rcexplainer.cli import bench, datasets, demo, evaluate, explain, fit, report, reproduce, serve, train
from rcexplainer.cli.interruption import INTERRUPTED, TERMINATED, terminations
from rcexplainer.cli.old_names import with_new_names
from rcexplainer.cli.option_names import as_options
from rcexplainer.errors import RCExplainerError

QUESTION = "What would have had to be missing for this prediction of a graph neural network to be different?"
START, EXPLAIN, MEASURE = "Start here", "Explain a network", "Measure and compare"  # groups of commands in the help

app = typer.Typer(
    name="rcexplainer",
    epilog="Start with: rcexplainer demo",
    add_completion=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: list[str] | None = None) -> None:
    """Run `rcexplainer`; this is also `python -m rcexplainer`.

    Args:
        arguments: The words after the program's name; by default those of this process.

    Raises:
        SystemExit: Always. Code 0: done; 1: `reproduce` had failing jobs; 2: a mistake, printed as one line on standard
            error; 130: interrupted by Ctrl-C; 143: by SIGTERM.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a "→" must not end a command whose output is not UTF-8
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    words = sys.argv[1:] if arguments is None else arguments
    with terminations() as terminated:
        try:
            words = with_new_names(words)
            code = app(args=words, prog_name="rcexplainer", standalone_mode=False)
        except typer.TyperException as error:
            _fail(_usage(error, words))
        except RCExplainerError as error:
            _fail(as_options(str(error)))
        except OSError as error:
            _fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        if code == INTERRUPTED:  # what typer makes of an interrupt
            print("rcexplainer: interrupted", file=sys.stderr)
            code = TERMINATED if terminated else code
        raise SystemExit(code or 0)


def _usage(error: typer.TyperException, words: Sequence[str]) -> str:
    """What is wrong with the words of a command line, with the value that was found and the help to read."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    names = getattr(getattr(error, "param", None), "opts", ())
    given = [value for name, value in pairwise(words) if name in names]
    given += [word.partition("=")[2] for word in words if word.partition("=")[0] in names and "=" in word]
    found = f", got {given[-1]!r}" if given else ""
    context = getattr(error, "ctx", None)
    return f"{message.rstrip('.')}{found}; see `{context.command_path if context else 'rcexplainer'} --help`"


def _fail(message: str) -> NoReturn:
    """Print one line and exit with 2."""
    print(f"rcexplainer: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(2)


def _version(wanted: bool) -> None:
    """`--version`."""
    if wanted:
        print(__version__)
        raise typer.Exit()


@app.callback(help=QUESTION)
def _no_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Without a command, print the help."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def _add(command: Callable[..., Any], group: str, examples: Sequence[str]) -> None:
    """Add a command; its docstring is its help."""
    epilog = "\n".join(["Examples:", *(f"  {example}" for example in examples)])
    app.command(rich_help_panel=group, epilog=epilog)(command)


_add(demo.demo, START, demo.EXAMPLES)
_add(datasets.datasets, START, datasets.EXAMPLES)
_add(train.train, EXPLAIN, train.EXAMPLES)
_add(fit.fit, EXPLAIN, fit.EXAMPLES)
_add(explain.explain, EXPLAIN, explain.EXAMPLES)
_add(serve.serve, EXPLAIN, serve.EXAMPLES)
_add(evaluate.evaluate, MEASURE, evaluate.EXAMPLES)
_add(bench.bench, MEASURE, bench.EXAMPLES)
_add(reproduce.reproduce, MEASURE, reproduce.EXAMPLES)
_add(report.report, MEASURE, report.EXAMPLES)
