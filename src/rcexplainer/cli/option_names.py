"""Advice of the library in the words of the command line: `output="logits"` is `--output logits` there."""

import re

# The library's arguments that are options of the same name, most specific first.
OPTION_SPELLINGS = (
    (
        re.compile(r"\bforward=lambda model, batch, edge_weight: (?:model\(…\)(?:\[[^\]]*\]|\.\w+)|…)"),
        "--forward module:function, your own function (model, batch, edge_weight),",
    ),
    (re.compile(r"\bforward=(?=\S)"), "--forward "),
    (re.compile(r"\bforward="), "--forward"),
    (re.compile(r'\b(head|output|task)="(\w+)"'), r"--\1 \2"),
)


def as_options(message: str) -> str:
    """Rewrite a message of the library for someone who types options.

    Args:
        message: What an error says.

    Returns:
        The same with options in place of the arguments of `fit` and `load`.
    """
    for argument, option in OPTION_SPELLINGS:
        message = argument.sub(option, message)
    return message.removesuffix(",")
