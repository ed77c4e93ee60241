"""Examples of explanations (the paper's last table): one instance of each dataset, explained by every method.

The instance is the first held-out one that is correctly predicted and has a known motif, the same for all methods: it
is not hand-picked. A method's top k edges are judged, k being the size of the motif:

    found   how many of the motif's edges are among them
    flips   whether the prediction changes once these k edges are really deleted

Of a large computation graph only the part around the motif and the chosen edges is kept.
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.methods import METHODS
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import delete_edges
from rcexplainer.gnn.instances import Instances
from rcexplainer.metrics.motif import motif_edges
from rcexplainer.paper.job import JobResult

WHOLE = 60  # nodes of an instance that is drawn whole
PART = 24  # nodes drawn of a larger one, if the motif and the chosen edges do not need more
SCORE_DIGITS = 4


def explain_one(case: Case, method: str) -> JobResult:
    """Explain the instance by one method.

    Args:
        case: A network and its held-out instances.
        method: A key of `METHODS`.

    Returns:
        What `described` keeps; or `{"skipped": why}` where the method cannot explain it.

    Raises:
        RCExplainerError: There is no such instance.
        MissingExtraError: The method needs a package that is not installed.
    """
    place = chosen_place(case)
    try:
        fitted = METHODS[method].fit(case, False)
    except MissingExtraError:
        raise  # it may be installed the next time: nothing is kept
    except RCExplainerError as error:
        return {"skipped": str(error)}
    found = case.explain(fitted, [place], "none")
    if not found:
        return {"skipped": "it could not explain the instance"}
    return described(case, place, found[0])


def chosen_place(case: Case) -> int:
    """The first held-out instance, in the order of the dataset, that is correctly predicted and has a motif.

    Args:
        case: A network and its held-out instances.

    Returns:
        Its place among the held-out instances.

    Raises:
        RCExplainerError: There is none.
    """
    if not case.data.has_ground_truth:
        raise RCExplainerError(f"{case.data.name} has no known motifs to compare explanations with: name another set")
    fitted = METHODS["random"].fit(case, False)
    right = marked = 0
    for place in range(case.count):
        for one in case.explain(fitted, [place], "none"):
            known, said = bool(motif_edges(one).any()), one.prediction == _label(one)
            if known and said:
                return place
            right, marked = right + said, marked + known
    raise RCExplainerError(
        f"none of {case.count} held-out instances of {case.data.name} is correctly predicted ({right} are) and has "
        f"a motif ({marked} have): train the network longer, or name another set"
    )


def described(case: Case, place: int, one: Explanation) -> JobResult:
    """An explanation as JSON values, with all that is drawn.

    Args:
        case: The network.
        place: The instance's place.
        one: Its explanation.

    Returns:
        How many of the motif's edges were found, whether the prediction flips, and the part of the graph to draw.
    """
    units = one.units
    own = units_of(one, motif_edges(one))
    top = units_of(one, one.within(one.top(int(own.sum()))))
    left = [delete_edges(one.instance, one.within(units.to_edges(gone, False))) for gone in (top, own)]
    after, without_motif = _predictions(case, left)
    roots = [] if one.index is None else [one.index] if isinstance(one.index, int) else list(one.index)
    everything = len(units.pair.unique())
    most = everything if everything <= WHOLE else PART
    nodes = near(units.pair, [*roots, *units.pair[:, own | top].flatten().tolist()], most)
    inside = torch.isin(units.pair, torch.tensor(nodes)).all(0)
    return {
        "place": place,
        "class": case.data.class_names[one.prediction],
        "after": case.data.class_names[after],
        "k": int(own.sum()),
        "found": int((own & top).sum()),
        "flips": after != one.prediction,
        "motif_flips": without_motif != one.prediction,
        "roots": roots,
        "nodes": nodes,
        "labels": _names(case, one, nodes),
        "of": {"nodes": everything, "edges": len(units)},
        "edges": units.pair[:, inside].t().tolist(),
        "motif": own[inside].tolist(),
        "chosen": top[inside].tolist(),
        "scores": [round(score, SCORE_DIGITS) for score in one.unit_scores[inside].tolist()],
    }


def units_of(one: Explanation, mask: Tensor) -> Tensor:
    """Units from edges.

    Args:
        one: The explanation.
        mask: [edges of the instance] boolean.

    Returns:
        [units] boolean: whether one of a unit's edges is in the mask.
    """
    of_edge = one.units.of_edge if one.edge_ids is None else one.units.of_edge[one.edge_ids]
    inside = torch.zeros(len(one.units), dtype=torch.bool)
    inside[of_edge[mask & (of_edge >= 0)]] = True
    return inside


def near(pairs: Tensor, wanted: Sequence[int], most: int) -> list[int]:
    """The part of a graph around some nodes.

    Args:
        pairs: [2, m] the edges.
        wanted: The nodes.
        most: How many nodes are kept, if the wanted ones and the paths between them do not need more.

    Returns:
        The wanted nodes, the shortest paths from the first of them to the others, and their nearest neighbours.
    """
    neighbours: dict[int, list[int]] = {}
    for one, other in pairs.t().tolist():
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    before = _walk(neighbours, wanted[:1])
    kept: dict[int, None] = dict.fromkeys(wanted)
    for node in wanted:
        at: int | None = node
        while at is not None:
            kept[at] = None
            at = before.get(at)
    for node in _walk(neighbours, list(kept)):
        if len(kept) >= most:
            break
        kept[node] = None
    return sorted(kept)


def _walk(neighbours: dict[int, list[int]], starts: Iterable[int]) -> dict[int, int | None]:
    """Every reachable node by distance (breadth first), with the node before it."""
    before: dict[int, int | None] = dict.fromkeys(starts)
    queue = list(before)
    for node in queue:
        for other in neighbours.get(node, ()):
            if other not in before:
                before[other] = node
                queue.append(other)
    return before


def _predictions(case: Case, graphs: Sequence[Data]) -> list[int]:
    """The class predicted for each graph."""
    split = case.split
    return Instances(split, list(graphs)).passes(lambda done: split.log_probs(done.output)).argmax(1).tolist()


def _label(one: Explanation) -> int:
    """The true class; all pairs that are explained are links."""
    if one.index is None:
        return int(one.graph.y)
    return int(one.graph.y[one.index]) if isinstance(one.index, int) else 1


def _names(case: Case, one: Explanation, nodes: Sequence[int]) -> list[str] | None:
    """What the features of the nodes stand for, such as elements; None where they are no such thing."""
    if not case.data.node_names:
        return None
    return [case.data.node_names[int(one.graph.x[node].argmax())] for node in nodes]
