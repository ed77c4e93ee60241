"""Names of version 0.1 that have changed: old options still work, with a warning, until the next version."""

import sys
from collections.abc import Sequence
from pathlib import Path

from rcexplainer.errors import RCExplainerError

# One word for one thing: --arch names an architecture of ours, --model a file with a trained network.
RENAMED = {
    "train": {"--model": "--arch"},
    "evaluate": {"--model": "--arch"},
    "fit": {"--gnn": "--model"},
    "explain": {"--gnn": "--model"},
}
REMOVED = {
    "tradeoff": "rcexplainer reproduce tradeoff --profile standard --out DIR",
    "case-study": "rcexplainer reproduce case-study --profile standard --out DIR",
}


def with_new_names(words: Sequence[str]) -> list[str]:
    """Replace the old names of options, with one line on standard error for each.

    Args:
        words: The command line without the program's name.

    Returns:
        The command line as this version understands it.

    Raises:
        RCExplainerError: The command was removed; the message names the one to run instead.
    """
    command = next((word for word in words if not word.startswith("-")), "")
    if command in REMOVED:
        raise RCExplainerError(f"the command {command} was removed: run `{REMOVED[command]}` instead")
    renamed = RENAMED.get(command, {})
    return [_renewed(word, words[place + 1 : place + 2], command, renamed) for place, word in enumerate(words)]


def _renewed(word: str, following: Sequence[str], command: str, renamed: dict[str, str]) -> str:
    """`--old` or `--old=value` under its new name; any other word as it is."""
    name, equals, value = word.partition("=")
    if name not in renamed or (command == "evaluate" and _is_network(value if equals else "".join(following))):
        return word
    new = renamed[name]
    print(f"rcexplainer: {command} {name} is now {new}; the old name works until the next version", file=sys.stderr)
    return f"{new}{equals}{value}"


def _is_network(value: str) -> bool:
    """Whether the value of `--model` is a trained network, by now its only meaning: no architecture is spelt so."""
    return ":" in value or Path(value).suffix != "" or Path(value).exists()
