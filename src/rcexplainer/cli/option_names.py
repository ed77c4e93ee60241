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
    # Of the columns of a dataset, csv:PATH, no command takes a name.
    (re.compile(r", or choose one with \w+_column of rcexplainer\.datasets\.load"), ""),
    (
        re.compile(r"\b(choose (?:one|a column of SMILES) with|which) (smiles|id)_column(?: \(--\w+-column\))?"),
        r"\1 --\2-column",
    ),
    (re.compile(r"^confidence must be (.+), or None, got (.+)$"), r"--confidence must be \1, got \2; or leave it out"),
    (
        re.compile(r'^target_class must be a class number, "each" or None,'),
        "--set target_class must be a class number such as 1, each or none,",
    ),
    (
        re.compile(r"(?<=fitted for )target_class (.+), not (\d+): fit one for it"),
        r"class \1, not \2: leave --target-class out, or fit one with --set target_class=\2",
    ),
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
