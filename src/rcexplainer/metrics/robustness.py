"""Robustness: does the explanation of a graph survive noise that does not change its prediction? Higher is better.

    AUC            P(score on G' of a pair in T_k(G) > score on G' of another pair of G'), ties count ½
    node accuracy  |V_k(G) ∩ V_k(G')| / min(k, nodes)
    Jaccard        |S(G) ∩ S(G')| / |S(G) ∪ S(G')|

G' is a noisy copy of G (see `noise`) with the same predicted class. T_k are the k node pairs with the highest scores,
V_k the k nodes with the highest a_i = max_j M_ij, S the pairs that a flipping counterfactual deletes. Every value is a
mean over copies; a copy without one (none of T_k is left, or nothing else; no flip) is left out and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from tqdm.auto import tqdm

from rcexplainer.core.segments import ranks
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.graph_checks import Graphs, attributes, list_graphs
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.metrics.direction import BETTER, Better
from rcexplainer.metrics.motif import auc
from rcexplainer.metrics.perturbation import Protocol, check_noise, feature_rows, perturb

NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
NODE_K = (2, 4, 8)
REDRAWS = 20  # how often a copy that is predicted otherwise is drawn again before its graph is left out


@dataclass(frozen=True)
class Robustness:
    """Means over the noisy copies at each noise level; nan where no copy is left to take one of."""

    better: ClassVar[Better] = BETTER["node_accuracy"]  # for each of auc, node_accuracy, jaccard, kept and stayed

    protocol: Protocol
    noise: tuple[float, ...]
    k: tuple[int, ...]
    auc: tuple[tuple[float, ...], ...]  # [level][k], ↑
    defined: tuple[tuple[int, ...], ...]  # [level][k]: the copies with an AUC
    node_k: tuple[int, ...]
    node_accuracy: tuple[tuple[float, ...], ...]  # [level][node_k], ↑
    jaccard: tuple[float, ...] | None  # [level], ↑; None without a search
    flipped: tuple[int, ...] | None  # [level]: the copies that have a counterfactual, as their graph has
    kept: tuple[float, ...]  # [level]: share of the copies with the graph's prediction, after all redraws, ↑
    stayed: tuple[float, ...]  # [level]: the same of the first draws: how often noise leaves the prediction alone, ↑
    failed: tuple[int, ...]  # [level]: kept copies that could not be explained
    graphs: int  # explained without noise
    unexplained: int  # given, but not explained without noise, and left out
    copies: int  # of each graph at each level
    # [level][graph, as given][k]: its own AUC, a mean over its copies; None where it has none
    each: tuple[tuple[tuple[float | None, ...], ...], ...] = field(default=(), repr=False)


def robustness(
    fitted: FittedExplainer,
    graphs: Graphs,
    noise: Sequence[float] = NOISE,
    k: int | Sequence[int] = 8,
    *,
    protocol: Protocol = "paper",
    seed: int = 0,
    copies: int = 1,
    search: Search = "none",
    progress: bool = False,
    explanations: Sequence[Explanation | Failure] | None = None,
) -> Robustness:
    """Explain noisy copies of the graphs, and compare with the explanations of the graphs as they are.

    `explanations`: those of the graphs, if they are there already. With `search` "prefix" or "greedy" counterfactuals
    are compared too. A copy depends on the seed, the noise, and the graph and its position, on no other draw;
    features that are not one-hot are drawn from all graphs (`perturb`).
    """
    if fitted.split.task != "graph":
        raise RCExplainerError(f"robustness is of graphs, the explainer was fitted for {fitted.split.task}s")
    sizes = (k,) if isinstance(k, int) else tuple(k)
    _check(noise, sizes, protocol, seed, copies)
    given = list_graphs(graphs)
    clean = list(fitted.explain_iter(given, search=search)) if explanations is None else list(explanations)
    if len(clean) != len(given):
        raise RCExplainerError(f"explanations must hold one for each of {len(given)} graphs, got {len(clean)}")
    sound = {place: one for place, one in enumerate(clean) if isinstance(one, Explanation)}
    if not sound:
        reason = next(one.error for one in clean if isinstance(one, Failure))
        raise RCExplainerError(f"none of the {len(given)} graphs could be explained; the first: {reason}")
    if search != "none" and any(one.counterfactual is None for one in sound.values()):
        raise RCExplainerError(f'search="{search}" needs explanations with counterfactuals: explain with a search')
    whole = {place: given[place] for place in sound}
    rows = feature_rows(list(whole.values()))
    aucs, nodes, overlaps, kept, stayed, failed, each = [], [], [], [], [], [], []
    for share in tqdm(noise, desc="robustness", unit="level", disable=not progress):
        drawn, at_once = _draw(fitted.split, whole, sound, share, protocol, rows, seed, copies)
        noisy = list(fitted.explain_iter([graph for _, graph in drawn], search=search)) if drawn else []
        pairs = [(sound[drawn[i][0]], one) for i, one in enumerate(noisy) if isinstance(one, Explanation)]
        owners = [drawn[i][0] for i, one in enumerate(noisy) if isinstance(one, Explanation)]
        aucs.append(_table([[edge_auc(*pair, size) for size in sizes] for pair in pairs], len(sizes)))
        each.append(_by_graph(aucs[-1], owners, len(given)))
        nodes.append(_table([[node_accuracy(*pair, size) for size in NODE_K] for pair in pairs], len(NODE_K)))
        overlaps.append(_table([[jaccard(*pair)] for pair in pairs], 1))
        kept.append(len(drawn) / (len(sound) * copies))
        stayed.append(at_once / (len(sound) * copies))
        failed.append(len(noisy) - len(pairs))
    return Robustness(
        protocol=protocol,
        noise=tuple(noise),
        k=sizes,
        auc=tuple(_means(table) for table in aucs),
        defined=tuple(_counts(table) for table in aucs),
        node_k=NODE_K,
        node_accuracy=tuple(_means(table) for table in nodes),
        jaccard=None if search == "none" else tuple(_means(table)[0] for table in overlaps),
        flipped=None if search == "none" else tuple(_counts(table)[0] for table in overlaps),
        kept=tuple(kept),
        stayed=tuple(stayed),
        failed=tuple(failed),
        graphs=len(sound),
        unexplained=len(given) - len(sound),
        copies=copies,
        each=tuple(each),
    )


def edge_auc(clean: Explanation, noisy: Explanation, k: int) -> float:
    """AUC of the noisy graph's scores against the clean graph's top k pairs; nan where there is only one kind."""
    top = ranks(clean.unit_scores, clean.units.owner, clean.units.ptr) < k
    return auc(noisy.unit_scores, torch.isin(_codes(noisy), _codes(clean)[top]))


def node_accuracy(clean: Explanation, noisy: Explanation, k: int) -> float:
    """Share of the clean graph's top k nodes (all, if there are fewer) that are the noisy graph's too."""
    first, second = (one.node_scores.argsort(descending=True, stable=True)[:k] for one in (clean, noisy))
    return float(torch.isin(first, second).double().mean())


def jaccard(clean: Explanation, noisy: Explanation) -> float:
    """Overlap of what the two counterfactuals delete, as node pairs; nan where one of them does not flip."""
    removed = []
    for one in (clean, noisy):
        if one.counterfactual is None or not one.counterfactual.flipped:
            return float("nan")
        removed.append(set(_codes(one)[one.removed_units].tolist()))
    return len(removed[0] & removed[1]) / len(removed[0] | removed[1])


def _codes(one: Explanation) -> Tensor:
    """A number for the node pair of each unit, the same in a noisy copy, which has the same nodes."""
    return one.units.pair[0] * int(one.graph.num_nodes or 0) + one.units.pair[1]


def _draw(
    split: SplitModel,
    graphs: dict[int, Data],
    clean: dict[int, Explanation],
    noise: float,
    protocol: Protocol,
    rows: Tensor,
    seed: int,
    copies: int,
) -> tuple[list[tuple[int, Data]], int]:
    """(position of its graph, noisy copy) for every copy that is predicted as its graph is, in order.

    Beside them, how many of the copies were so at the first draw.
    """
    level = round(noise * 1e9)  # the noise itself, not its place in the list, so that a level is the same in any list
    waiting = [(place, number) for place in graphs for number in range(copies)]
    found: dict[tuple[int, int], Data] = {}
    at_once = 0
    for attempt in range(1 + REDRAWS):
        if not waiting:
            break
        # A generator for each draw: a copy is the same whichever other graphs had to be drawn again.
        drawn = [
            perturb(
                graphs[place],
                noise,
                np.random.default_rng([seed, level, place, number, attempt]),
                protocol=protocol,
                rows=rows,
            )
            for place, number in waiting
        ]
        labels = _predictions(split, drawn)
        stays = [label == clean[place].prediction for label, (place, _) in zip(labels, waiting, strict=True)]
        found |= {key: graph for key, graph, same in zip(waiting, drawn, stays, strict=True) if same}
        at_once = at_once if attempt else len(found)
        waiting = [key for key, same in zip(waiting, stays, strict=True) if not same]
    return [(key[0], found[key]) for key in sorted(found)], at_once


def _predictions(split: SplitModel, graphs: list[Data]) -> list[int]:
    """The predicted classes, all graphs at once; −1 for a graph on which the model raises."""
    labels: list[int] = []
    for _, group in groupby(graphs, attributes):  # only graphs with the same attributes can be batched
        labels += _predict(split, list(group))
    return labels


def _predict(split: SplitModel, graphs: list[Data]) -> list[int]:
    try:
        return Instances(split, graphs).passes(lambda done: split.log_probs(done.output)).argmax(1).tolist()
    except Exception:  # noqa: BLE001  a model may raise anything; one graph it cannot take must not lose the others
        return [-1] if len(graphs) == 1 else [_predict(split, [graph])[0] for graph in graphs]


def _table(rows: list[list[float]], width: int) -> Tensor:
    return torch.tensor(rows, dtype=torch.double).reshape(-1, width)


def _by_graph(table: Tensor, owners: list[int], graphs: int) -> tuple[tuple[float | None, ...], ...]:
    """The means of each graph's rows."""
    owner = torch.tensor(owners, dtype=torch.long)
    means = (_means(table[owner == place]) for place in range(graphs))
    return tuple(tuple(None if value != value else value for value in row) for row in means)


def _means(table: Tensor) -> tuple[float, ...]:
    return tuple(table.nanmean(0).tolist())


def _counts(table: Tensor) -> tuple[int, ...]:
    return tuple((~table.isnan()).sum(0).tolist())


def _check(noise: Sequence[float], sizes: tuple[int, ...], protocol: str, seed: int, copies: int) -> None:
    if not noise or not sizes:
        raise RCExplainerError("robustness needs at least one noise level and at least one k")
    for share in noise:
        check_noise(share, protocol)
    if min(sizes) < 1:
        raise RCExplainerError(f"k is a number of edges from 1, got {min(sizes)}")
    if copies < 1:
        raise RCExplainerError(f"copies is the number of noisy copies of each graph from 1, got {copies}")
    if seed < 0:
        raise RCExplainerError(f"the seed is a number from 0, got {seed}")
