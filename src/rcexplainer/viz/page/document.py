"""What a page holds, as frozen values; `plain` makes JSON values of them.

Probabilities keep seven digits, so that the page agrees with the Python API to 1e-6; scores and places, which are only
drawn, keep fewer.
"""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

PROBABILITY_DIGITS, SCORE_DIGITS, PLACE_DIGITS = 7, 4, 2

Names = tuple[str, ...]
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class ShownCounterfactual:
    """A counterfactual on the page; `removed` are positions among the drawn edges, `count` all deleted edges."""

    removed: tuple[int, ...]
    count: int
    prediction: int
    probabilities: Numbers
    flipped: bool
    minimal: bool
    disputed: bool
    exhausted: bool
    target: int | None
    confidence: float | None
    distance: float | None


@dataclass(frozen=True)
class ShownCurve:
    """The real predictions after deletions: as `DeletionCurve`; `singles` by the rank of the edge."""

    lengths: tuple[int, ...]
    probabilities: tuple[Numbers, ...]
    singles: tuple[Numbers, ...]


@dataclass(frozen=True)
class ShownResult:
    """One method's answer for an instance; values of edges are those of the drawn ones."""

    prediction: int
    probabilities: Numbers
    scores: Numbers
    ranks: tuple[int, ...]
    relevance: Numbers | None
    refined: int
    counterfactual: ShownCounterfactual | None
    curve: ShownCurve | None


@dataclass(frozen=True)
class ShownFailure:
    """Why a method has no answer for an instance."""

    error: str


@dataclass(frozen=True)
class ShownInstance:
    """An instance on the page: what it is called, where it is drawn, and what each method answers.

    Attributes:
        name: What it is called.
        row: Line of the file it comes from.
        smiles: Its SMILES.
        label: Name of its true class, where that is known.
        size: Number of edges that can be deleted.
        nodes: Number of nodes.
        x: Places of the drawn nodes.
        y: The same, downwards.
        names: Names of the drawn nodes.
        texts: What is written at them.
        roots: The explained nodes, as positions among the drawn ones.
        edges: First node, second node and bond order of each drawn edge.
        one_way: The drawn edges that only go from their first node to their second.
        motif: The drawn edges of the motif, where it is known.
        molecule: Whether it is drawn like a molecule.
        left_out: What is not drawn, in words.
        results: One for each method.
        numbers: Numbers of the drawn nodes in their graph.
        beside: Long names: the position of the drawn node, its name, and the place of the name's middle.
        beside_size: Their font size.
    """

    name: str
    row: int | None
    smiles: str | None
    label: str | None
    size: int
    nodes: int
    x: Numbers
    y: Numbers
    names: Names
    texts: Names
    roots: tuple[int, ...]
    edges: tuple[tuple[int, int, int], ...]
    one_way: tuple[int, ...]
    motif: tuple[int, ...]
    molecule: bool
    left_out: str
    results: tuple[ShownResult | ShownFailure, ...]
    numbers: tuple[int, ...] = ()
    beside: tuple[tuple[int, str, float, float], ...] = ()
    beside_size: float = 0.0


@dataclass(frozen=True)
class ShownReason:
    """A reason on the page; an example is an instance and the deleted edges among its drawn ones."""

    text: str
    smiles: bool
    prediction: int
    count: int
    flipped: int
    examples: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class PageDocument:
    """Everything on a page.

    Attributes:
        title: Its heading.
        noun: What an edge is called: "bond" if everything is a molecule, else "edge".
        methods: Names of the methods; one empty name if there is one without a name.
        classes: Names of the classes.
        curves: Whether there are deletion curves.
        instances: The instances.
        reasons: The reasons of each method.
        reasons_left_out: Number of rarer reasons of each method that the page does not have.
    """

    title: str
    noun: str
    methods: Names
    classes: Names
    curves: bool
    instances: tuple[ShownInstance, ...]
    reasons: tuple[tuple[ShownReason, ...], ...]
    reasons_left_out: tuple[int, ...]


def plain(value: Any) -> Any:
    """Convert frozen values to JSON values; fields that are None are left out.

    Args:
        value: Nested dataclasses, tuples and scalars.

    Returns:
        Nested dicts, lists and scalars.
    """
    if is_dataclass(value) and not isinstance(value, type):
        named = ((one.name, getattr(value, one.name)) for one in fields(value))
        return {name: plain(own) for name, own in named if own is not None}
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return value
