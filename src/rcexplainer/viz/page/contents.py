"""The document of a page, made of explanations, deletion curves and reasons."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.viz.instance_name import instance_name
from rcexplainer.viz.page.curves import DeletionCurve
from rcexplainer.viz.page.depiction import Depiction, depict
from rcexplainer.viz.page.document import (
    PLACE_DIGITS,
    PROBABILITY_DIGITS,
    SCORE_DIGITS,
    Names,
    Numbers,
    PageDocument,
    ShownCounterfactual,
    ShownCurve,
    ShownFailure,
    ShownInstance,
    ShownReason,
    ShownResult,
)
from rcexplainer.viz.page.reasons import Reason, common_reasons

MOST_REASONS = 60  # of one method
MOST_EXAMPLES = 24  # of one reason

Results = Sequence[Explanation | Failure]


def make_document(
    results: Mapping[str, Results],
    curves: Mapping[str, Sequence[DeletionCurve | None]] | None = None,
    title: str = "Explanations",
    names: Sequence[str] | None = None,
    node_names: Sequence[str] = (),
    edge_names: Sequence[str] = (),
) -> PageDocument:
    """Collect what a page shows.

    Args:
        results: The results of each method, in the same order of instances.
        curves: The deletion curves of the same results, None for failures.
        title: The heading.
        names: What instances are called whose graph has no `id`; their numbers by default.
        node_names: What each one-hot node feature stands for, if the caller knows it.
        edge_names: What each one-hot entry of `edge_attr` stands for, if the caller knows it.

    Returns:
        The document.

    Raises:
        RCExplainerError: There is nothing to show, or the methods do not explain the same instances.
    """
    methods = tuple(results)
    number = _common_length(results)
    classes = _class_names([one for own in results.values() for one in own])
    instances, drawn = [], []
    for place in range(number):
        across = [results[method][place] for method in methods]
        depiction = _depiction(place, across, node_names, edge_names)
        drawn.append(depiction)
        own_curves = [None if curves is None else curves[method][place] for method in methods]
        name = str(place) if names is None else str(names[place])
        instances.append(_instance(name, across, own_curves, depiction, classes))
    reasons, left_out = [], []
    for method in methods:
        good = [(place, one) for place, one in enumerate(results[method]) if isinstance(one, Explanation)]
        found = common_reasons(good, node_names, edge_names)
        reasons.append(tuple(_reason(one, drawn) for one in found[:MOST_REASONS]))
        left_out.append(max(0, len(found) - MOST_REASONS))
    molecules = [one.molecule for one in instances if one.size]
    return PageDocument(
        title=title,
        noun="bond" if molecules and all(molecules) else "edge",
        methods=methods,
        classes=classes,
        curves=curves is not None,
        instances=tuple(instances),
        reasons=tuple(reasons),
        reasons_left_out=tuple(left_out),
    )


def _common_length(results: Mapping[str, Results]) -> int:
    """The number of instances, if it is the same for all methods."""
    counts = {method: len(own) for method, own in results.items()}
    if not counts or not max(counts.values()):
        raise RCExplainerError("a page needs at least one explanation")
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{method!r}: {count}" for method, count in counts.items())
        raise RCExplainerError(f"all methods must explain the same instances, got different numbers: {said}")
    return next(iter(counts.values()))


def _class_names(results: Results) -> Names:
    """The names of the classes, or their numbers."""
    good = [one for one in results if isinstance(one, Explanation)]
    widths = {len(one.probabilities) for one in good}
    if len(widths) > 1:
        raise RCExplainerError(f"all explanations must have the same classes, got {sorted(widths)} of them")
    named = next((one.class_names for one in good if one.class_names), ())
    return tuple(named) or tuple(f"class {number}" for number in range(max(widths, default=0)))


def _depiction(place: int, across: Results, node_names: Sequence[str], edge_names: Sequence[str]) -> Depiction | None:
    """The drawing of an instance, the same for all methods; None if no method explains it."""
    good = [one for one in across if isinstance(one, Explanation)]
    if not good:
        return None
    first = good[0]
    for one in good[1:]:
        if one.index != first.index or not torch.equal(one.units.pair, first.units.pair):
            raise RCExplainerError(
                f"the methods explain different graphs in place {place}: give them in the same order"
            )
    # The highest rank of any method counts.
    importance, deleted = torch.zeros(len(first.units)), torch.zeros(len(first.units), dtype=torch.bool)
    for one in good:
        importance = torch.maximum(importance, 1 / (1 + one.unit_order))
        deleted[one.removed_units] = True
    return depict(first, importance, deleted, node_names, edge_names)


def _instance(
    name: str,
    across: Results,
    curves: Sequence[DeletionCurve | None],
    depiction: Depiction | None,
    classes: Names,
) -> ShownInstance:
    """One instance with the answers of all methods."""
    failures = tuple(ShownFailure(" ".join(str(one.error).split())) for one in across if isinstance(one, Failure))
    if depiction is None:
        return ShownInstance(name, None, None, None, 0, 0, (), (), (), (), (), (), (), (), False, "", failures)
    first = next(one for one in across if isinstance(one, Explanation))
    units = torch.tensor(depiction.units, dtype=torch.long)
    shown = [
        ShownFailure(" ".join(str(one.error).split())) if isinstance(one, Failure) else _result(one, curve, units)
        for one, curve in zip(across, curves, strict=True)
    ]
    roots = () if first.index is None else (first.index,) if isinstance(first.index, int) else first.index
    places = {node: place for place, node in enumerate(depiction.nodes)}
    x, y = depiction.places.round(PLACE_DIGITS).T.tolist() if len(depiction.nodes) else ((), ())
    row, smiles = _scalar(first, "row"), _scalar(first, "smiles")
    return ShownInstance(
        name=_name(first, name),
        row=row if isinstance(row, int) else None,
        smiles=smiles if isinstance(smiles, str) else None,
        label=_label(first, classes),
        size=len(first.units),
        nodes=int(first.instance.num_nodes or 0),
        x=tuple(x),
        y=tuple(y),
        names=depiction.names,
        texts=depiction.texts,
        roots=tuple(places[root] for root in roots),
        edges=tuple((u, v, order) for (u, v), order in zip(depiction.ends, depiction.orders, strict=True)),
        one_way=depiction.one_way,
        motif=depiction.motif,
        molecule=depiction.molecule,
        left_out=depiction.left_out,
        results=tuple(shown),
        numbers=depiction.nodes,
        beside=depiction.beside,
        beside_size=depiction.beside_size,
    )


def _result(one: Explanation, curve: DeletionCurve | None, units: Tensor) -> ShownResult:
    """One method's answer, for these drawn units."""
    relevance = None if one.relevance is None else _rounded(one.unit_relevance[units], SCORE_DIGITS)
    return ShownResult(
        prediction=one.prediction,
        probabilities=_rounded(one.probabilities, PROBABILITY_DIGITS),
        scores=_rounded(one.unit_scores[units], SCORE_DIGITS),
        ranks=tuple(one.unit_order[units].tolist()),
        relevance=relevance,
        refined=one.refined,
        counterfactual=None if one.counterfactual is None else _counterfactual(one, one.counterfactual, units),
        curve=None if curve is None else _curve(curve),
    )


def _counterfactual(one: Explanation, found: Counterfactual, units: Tensor) -> ShownCounterfactual:
    """What a search found, for these drawn units."""
    removed = torch.isin(units, one.removed_units).nonzero().flatten()
    return ShownCounterfactual(
        removed=tuple(removed.tolist()),
        count=len(one.removed_units),
        prediction=found.prediction,
        probabilities=_rounded(found.probabilities, PROBABILITY_DIGITS),
        flipped=found.flipped,
        minimal=found.minimal,
        disputed=found.disputed,
        exhausted=found.exhausted,
        target=found.target,
        confidence=found.confidence,
        distance=None if found.distance is None else round(found.distance, SCORE_DIGITS),
    )


def _curve(curve: DeletionCurve) -> ShownCurve:
    """A curve with as many digits as the page keeps."""
    rows = [tuple(_rounded(row, PROBABILITY_DIGITS) for row in own) for own in (curve.probabilities, curve.singles)]
    return ShownCurve(curve.lengths, rows[0], rows[1])


def _reason(one: Reason, drawn: Sequence[Depiction | None]) -> ShownReason:
    """A reason, with the positions of its edges among the drawn ones."""
    examples = []
    for instance, units in one.examples[:MOST_EXAMPLES]:
        depiction = drawn[instance]
        places = {} if depiction is None else {unit: place for place, unit in enumerate(depiction.units)}
        examples.append((instance, tuple(places[unit] for unit in units if unit in places)))
    return ShownReason(one.text, one.smiles, one.prediction, one.count, one.flipped, tuple(examples))


def _rounded(values: Tensor, digits: int) -> Numbers:
    """Numbers with this many digits; NaN, which JSON cannot hold, becomes −1, no probability and no score."""
    return tuple(round(value, digits) if value == value else -1.0 for value in values.double().tolist())


def _name(one: Explanation, otherwise: str) -> str:
    """What an instance is called: its node or pair, its graph's id, or else the given name."""
    if (node_or_link := instance_name(one)) is not None:
        return node_or_link
    own = _scalar(one, "id")
    return otherwise if own is None or own == "" else str(own)


def _scalar(one: Explanation, key: str) -> str | int | None:
    """A text or whole number that the graph carries."""
    value = one.graph.get(key)
    if isinstance(value, Tensor):
        value = value.item() if value.numel() == 1 else None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _label(one: Explanation, classes: Names) -> str | None:
    """The true class of a graph or node by its name, where it is known."""
    value = one.graph.get("y")
    if not isinstance(value, Tensor) or value.is_floating_point() or isinstance(one.index, tuple):
        return None
    flat = value.flatten()
    if isinstance(one.index, int):
        flat = flat[one.index : one.index + 1] if len(flat) == one.graph.num_nodes else flat[:0]
    if len(flat) != 1 or not 0 <= int(flat[0]) < len(classes):
        return None
    return classes[int(flat[0])]
