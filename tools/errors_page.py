"""Writes what docs/errors.md prints: the answer to each of its examples, and the list of all messages of the library.

python tools/errors_page.py            # prints the page
python tools/errors_page.py --write    # writes it

An example is a block of Python (`pycon`) or of the command line (`console`) whose last line of input is a mistake.
"""

import ast
import contextlib
import io
import logging
import os
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from error_examples import namespace

import rcexplainer
from rcexplainer import errors
from rcexplainer.cli import main
from rcexplainer.errors import RCExplainerError

ROOT = Path(__file__).parents[1]
PAGE, SOURCE = ROOT / "docs" / "errors.md", Path(rcexplainer.__file__).parent
MARK = "<!-- messages: python tools/errors_page.py --write -->"
BLOCK = re.compile(r"```(pycon|console)\n(.*?)```\n", re.DOTALL)
# Parts of the library, by the question that a reader has; the first that fits counts.
GROUPS = {
    "Graphs": ("gnn/graph_checks", "gnn/foreign_graphs", "gnn/graph_store", "gnn/store_checks", "sources", "tasks"),
    "Models": ("gnn",),
    "Fitting and settings": (
        "config", "arguments", "explainer", "fit", "baselines", "core", "method/base", "method/settings",
    ),
    "Explaining, measuring and drawing": (
        "method", "explanation", "disclosure", "counterfactual_graph", "metrics", "viz", "integrations/pyg", "errors",
        "testing",
    ),
    "Files and datasets": ("saving", "datasets", "engine", "integrations"),
    "Command line": ("cli", "benchmark", "paper"),
    "Server": ("server",),
}  # fmt: skip


# Functions that put a message together for an error that is raised elsewhere.
WRITERS = {
    "gnn/foreign_graphs": ("GraphError", ("not_graphs", "_hint", "_dataset_hint")),
    "gnn/model_checks": ("SplitError", ("advice", "error_advice")),
    "arguments": ("ArgumentError", ("misfit", "unknown_argument")),
    "datasets/tu": ("MissingDataError", ("_advice",)),
}


def error_names() -> list[str]:
    """The classes of errors that are public, and those that name a module's own."""
    public = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]
    return [*public, "RequestError", "ConformanceError"]


def pattern(node: ast.expr) -> str:
    """A message as it is written in the source, with … for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return re.sub(r"…+", "…", "".join(map(pattern, node.values)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return pattern(node.left) + pattern(node.right)
    return "…"


def written(module: str, tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """The messages that functions of a module return."""
    name, functions = WRITERS.get(module, ("", ()))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name in functions:
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant | ast.JoinedStr | ast.BinOp):
                    yield module, name, " ".join(pattern(node.value).split())


def messages() -> Iterator[tuple[str, str, str]]:
    """(module, class, message) of every error that is made in the source."""
    names = set(error_names())
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE).with_suffix("").as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from written(module, tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                yield module, node.func.id, " ".join(pattern(node.args[-1 if len(node.args) == 1 else 0]).split())


def group_of(module: str) -> str:
    """The group that a module belongs to."""
    return next(
        group
        for group, parts in GROUPS.items()
        if any(module == part or module.startswith(f"{part}/") for part in parts)
    )


def message_lists() -> str:
    """All messages, in a block for each group; those that are put together elsewhere are left to the examples."""
    found: dict[str, set[str]] = {group: set() for group in GROUPS}
    for module, name, text in messages():
        if text.strip("… ") and text != "None":
            found[group_of(module)].add(f"{name}: {text}")
    blocks = ("\n".join(sorted(lines)) for lines in found.values())
    return "\n".join(
        f"### {group}: {len(found[group])} messages\n\n```text\n{block}\n```\n"
        for group, block in zip(found, blocks, strict=True)
    )


def python_answer(lines: list[str], names: dict[str, Any]) -> str:
    """The error that the last line raises."""
    for line in lines[:-1]:
        exec(line, names)
    try:
        found = eval(lines[-1], names)
    except RCExplainerError as error:
        return f"{type(error).__name__}: {error}"
    return str(found)


def command_answer(line: str) -> str:
    """What a command prints to standard error, and that it ends with 2."""
    program, *words = shlex.split(line)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            main(words)
    except SystemExit as ended:
        if ended.code != 2 or program != "rcexplainer":
            raise RuntimeError(f"{line} ends with {ended.code}: {said.getvalue()}") from ended
    return said.getvalue().strip()


def answered(text: str) -> str:
    """The page with the answer to every example."""
    names = namespace()

    def block(found: re.Match[str]) -> str:
        kind, body = found.groups()
        mark = ">>> " if kind == "pycon" else "$ "
        asked = [line.removeprefix(mark) for line in body.splitlines() if line.startswith(mark)]
        answer = python_answer(asked, names) if kind == "pycon" else command_answer(asked[-1])
        shown = textwrap.fill(" ".join(answer.split()), 110, break_long_words=False, break_on_hyphens=False)
        return f"```{kind}\n" + "".join(f"{mark}{line}\n" for line in asked) + f"{shown}\n```\n"

    return BLOCK.sub(block, text)


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Work in an empty folder, quietly."""
    before, level = Path.cwd(), logging.root.manager.disable
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            logging.disable(level)


def page() -> str:
    """The page as it should be."""
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    with elsewhere():
        return f"{answered(head)}{MARK}\n\n{message_lists()}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page())
