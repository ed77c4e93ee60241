"""Where cosmic-ray's operators change a file, one mutant per operator and place.

Cosmic-ray offers up to eleven replacements of one operator: `a * b` becomes `a + b`, `a - b`, `a / b` and so on, all of
them killed by the same test. One of them is kept, the one nearest to the original (`<` becomes `<=`). Left out is what
no test should pin: annotations, docstrings, the text of errors, warnings and log lines, and imports for type checkers.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

_BINARY = {
    "Add": "Sub",
    "Sub": "Add",
    "Mul": "Div",
    "Div": "Mul",
    "FloorDiv": "Mul",
    "Mod": "FloorDiv",
    "Pow": "Mul",
    "BitOr": "BitAnd",
    "BitAnd": "BitOr",
    "BitXor": "BitOr",
    "LShift": "RShift",
    "RShift": "LShift",
}
_COMPARISON = {
    "Eq": "NotEq",
    "NotEq": "Eq",
    "Lt": "LtE",
    "LtE": "Lt",
    "Gt": "GtE",
    "GtE": "Gt",
    "Is": "IsNot",
    "IsNot": "Is",
}
OPERATORS = (
    *(f"core/ReplaceBinaryOperator_{old}_{new}" for old, new in _BINARY.items()),
    *(f"core/ReplaceComparisonOperator_{old}_{new}" for old, new in _COMPARISON.items()),
    "core/ReplaceUnaryOperator_Delete_USub",
    "core/ReplaceUnaryOperator_Delete_Invert",
    "core/ReplaceUnaryOperator_Delete_Not",
    "core/AddNot",
    "core/ReplaceTrueWithFalse",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceAndWithOr",
    "core/ReplaceOrWithAnd",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/ExceptionReplacer",
    "core/NumberReplacer",
    "core/RemoveDecorator",
    "core/ZeroIterationForLoop",
)
_TOLD = {"debug", "info", "warning", "error", "exception", "warn"}  # calls whose arguments are words for people


@dataclass(frozen=True)
class Mutant:
    """One change of one file: which, where, and the two lines to read."""

    file: str
    operator: str
    occurrence: int
    line: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """A name that stays the same as long as the file does."""
        return f"{self.file}:{self.line}:{self.operator.removeprefix('core/')}:{self.occurrence}"


def mutants(file: Path, root: Path) -> Iterator[Mutant]:
    """The mutants of one file.

    Args:
        file: A Python file below `root`.
        root: Folder that names are relative to.

    Yields:
        One mutant per operator and place, in the order of the operators.
    """
    code = file.read_text(encoding="utf-8")
    tree, ignored, lines = get_ast(code), _ignored(ast.parse(code)), code.splitlines()
    for name in OPERATORS:
        operator = get_operator(name)()
        places = [place for node in ast_nodes(tree) for place in operator.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(places):
            if name == "core/NumberReplacer" and occurrence % 2:
                continue  # n + 1 is kept, n - 1 is not
            if any(first <= start <= last for first, last in ignored):
                continue
            after = _changed_line(lines, source(code, name, occurrence).splitlines(), start[0])
            yield Mutant(str(file.relative_to(root)), name, occurrence, start[0], lines[start[0] - 1].strip(), after)


def source(code: str, operator: str, occurrence: int) -> str:
    """The mutated code.

    Args:
        code: The original.
        operator: Name of cosmic-ray's operator.
        occurrence: The how-manieth place of that operator.

    Returns:
        The code with that one change.

    Raises:
        ValueError: The operator has no such place.
    """
    changed = mutate_code(code, get_operator(operator)(), occurrence)
    if changed is None:
        raise ValueError(f"{operator} has no place {occurrence} here")
    return changed


def _changed_line(before: list[str], after: list[str], line: int) -> str:
    """The first line that differs, to be read by people."""
    return next((new.strip() for old, new in zip(before, after, strict=False) if old != new), after[line - 1].strip())


def _ignored(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """(first, last) positions of the parts that are not mutated."""
    nodes = [node for parent in ast.walk(tree) for node in _words_and_types(parent)]
    return [((n.lineno, n.col_offset), (n.end_lineno or n.lineno, (n.end_col_offset or 0) - 1)) for n in nodes]


def _words_and_types(node: ast.AST) -> list[ast.expr | ast.stmt]:
    """Children of a node that are annotations or messages."""
    match node:
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            return [annotation]
        case ast.FunctionDef(returns=ast.expr() as returns):
            return [returns]
        case ast.Raise(exc=ast.Call(args=args)):
            return list(args)
        case ast.Call(func=ast.Attribute(attr=attr), args=args) if attr in _TOLD:
            return list(args)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return [node]
        case ast.JoinedStr():
            return [node]
        case _:
            return []
