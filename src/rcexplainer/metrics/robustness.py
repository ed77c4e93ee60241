"""Robustness: does the explanation of a graph survive noise that does not change its prediction? Higher is better.

Explanations of noisy copies (`noisy_copies`) are compared with those of their graphs (`agreement`): the AUC of the
scores against the clean top k pairs, the accuracy of the top k nodes, the Jaccard index of the deleted pairs. Every
value is a mean over copies; a copy without one (none of the top k pairs is left, or nothing else; no flip) is left out
and counted.

Two protocols (`perturbation`), at a noise level p:

    paper   p·|E| random node pairs are set to edge or non-edge by a coin: about half as many really change, and nearly
            all changes are additions. The measure of the paper, for comparison with its figures
    strict  p·|E| node pairs really change, half of them deleted edges and half new ones

A copy that changes the prediction is drawn again, up to REDRAWS times, and then left out: what is measured is stability
under noise that the prediction survives. Methods that draw random numbers do so from their own seed and the graph
alone, so at p = 0 every method repeats itself and has an AUC of 1 (less where scores tie at the k-th place); how much a
method differs from seed to seed is not measured here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data
from tqdm.auto import tqdm

from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.graph_checks import Graphs, list_graphs
from rcexplainer.method.fitted_check import check_fitted
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.method.settings import whole
from rcexplainer.metrics.agreement import edge_auc, jaccard, node_accuracy
from rcexplainer.metrics.direction import BETTER, Direction
from rcexplainer.metrics.noisy_copies import KeptCopies, NoisyCopies
from rcexplainer.metrics.perturbation import NoiseProtocol, check_noise
from rcexplainer.metrics.shares import checked_shares
from rcexplainer.short_repr import ShortRepr

NOISE_LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
NODE_K = (2, 4, 8)
REDRAWS = 20  # how often a copy with another prediction is drawn again before it is left out


@dataclass(frozen=True, repr=False)
class Robustness(ShortRepr):
    """Means over the noisy copies at each noise level; nan where no copy has a value."""

    better: ClassVar[Direction] = BETTER["node_accuracy"]  # of auc, node_accuracy, jaccard, kept and stayed alike

    protocol: NoiseProtocol
    noise: tuple[float, ...]
    k: tuple[int, ...]
    auc: tuple[tuple[float, ...], ...]  # [level][k], ↑
    defined: tuple[tuple[int, ...], ...]  # [level][k]: copies with an AUC
    node_k: tuple[int, ...]
    node_accuracy: tuple[tuple[float, ...], ...]  # [level][node_k], ↑
    jaccard: tuple[float, ...] | None  # [level], ↑; None without a search
    flipped: tuple[int, ...] | None  # [level]: copies that have a counterfactual, as their graph has
    kept: tuple[float, ...]  # [level]: share of the copies with the graph's prediction, after all redraws, ↑
    stayed: tuple[float, ...]  # [level]: the same at the first draw: how often noise keeps the prediction, ↑
    failed: tuple[int, ...]  # [level]: kept copies that could not be explained
    graphs: int  # explained without noise
    unexplained: int  # given, but not explained without noise, and left out
    copies: int  # of each graph at each level
    # [level][graph, as given][k]: its own AUC, a mean over its copies; None if it has none
    each: tuple[tuple[tuple[float | None, ...], ...], ...] = field(default=(), repr=False)


@clear_arguments()
def robustness(
    fitted: FittedExplainer,
    graphs: Graphs,
    noise: Sequence[float] = NOISE_LEVELS,
    k: int | Sequence[int] = 8,
    *,
    protocol: NoiseProtocol = "paper",
    seed: int = 0,
    copies: int = 1,
    search: Search = "none",
    progress: bool = False,
    explanations: Sequence[Explanation | Failure] | None = None,
) -> Robustness:
    """Explain noisy copies of graphs and compare with the explanations of the graphs themselves.

    Args:
        fitted: An explainer fitted for graphs.
        graphs: The graphs.
        noise: Noise levels, from 0 to 1.
        k: Top edges that must survive noise; several values give several AUCs.
        protocol: "paper" (about half of the nominal noise, mostly additions) or "strict" (all of it, half deletions).
        seed: Random seed of the noise; a copy depends on it, the level, and the graph and its position alone.
        copies: Noisy copies of each graph at each level.
        search: "prefix" or "greedy" compares counterfactuals too; "none" compares scores alone.
        progress: Whether to show a progress bar.
        explanations: Explanations of the graphs, if they exist already; a `Failure` for a graph that has none.

    Returns:
        Means over the copies, and how many copies they are over.

    Raises:
        RCExplainerError: An argument is not valid, or no graph can be explained.
    """
    check_fitted("robustness(fitted, graphs)", fitted, "split", "explain_iter")
    if fitted.split.task != "graph":
        raise RCExplainerError(f"robustness is defined for graphs, the explainer was fitted for {fitted.split.task}s")
    sizes = tuple(k) if isinstance(k, Sequence) else (k,)
    noise = checked_shares("noise", noise, 0.1)
    _check(noise, sizes, protocol, seed, copies)
    given = list_graphs(graphs)
    clean = list(fitted.explain_iter(given, search=search)) if explanations is None else list(explanations)
    sound = _explained(given, clean, search)
    noisy = NoisyCopies(
        fitted.split,
        {place: given[place] for place in sound},
        {place: one.prediction for place, one in sound.items()},
        protocol,
        seed,
        copies,
        REDRAWS,
    )
    shown = tqdm(noise, desc="robustness", unit="level", disable=not progress)
    levels = [_NoiseLevel.of(fitted, sound, noisy.at(share), sizes, search) for share in shown]
    drawn = len(sound) * copies
    return Robustness(
        protocol=protocol,
        noise=tuple(noise),
        k=sizes,
        auc=tuple(_means(level.aucs) for level in levels),
        defined=tuple(_counts(level.aucs) for level in levels),
        node_k=NODE_K,
        node_accuracy=tuple(_means(level.nodes) for level in levels),
        jaccard=None if search == "none" else tuple(_means(level.overlaps)[0] for level in levels),
        flipped=None if search == "none" else tuple(_counts(level.overlaps)[0] for level in levels),
        kept=tuple(len(level.copies.graphs) / drawn for level in levels),
        stayed=tuple(level.copies.at_once / drawn for level in levels),
        failed=tuple(len(level.copies.graphs) - len(level.owners) for level in levels),
        graphs=len(sound),
        unexplained=len(given) - len(sound),
        copies=copies,
        each=tuple(level.by_graph(len(given)) for level in levels),
    )


@dataclass(frozen=True, eq=False)
class _NoiseLevel:
    """Agreement at one noise level, a row for each copy that could be explained."""

    copies: KeptCopies
    owners: list[int]  # position of the graph of each row
    aucs: Tensor  # [rows, k]
    nodes: Tensor  # [rows, node_k]
    overlaps: Tensor  # [rows, 1]

    @classmethod
    def of(
        cls,
        fitted: FittedExplainer,
        clean: dict[int, Explanation],
        copies: KeptCopies,
        sizes: tuple[int, ...],
        search: Search,
    ) -> "_NoiseLevel":
        """Explain the copies and compare."""
        found = list(fitted.explain_iter(copies.graphs, search=search)) if copies.graphs else []
        both = zip(copies.owners, found, strict=True)
        explained = [(owner, one) for owner, one in both if isinstance(one, Explanation)]
        pairs = [(clean[owner], one) for owner, one in explained]
        return cls(
            copies,
            [owner for owner, _ in explained],
            _table(([edge_auc(*pair, size) for size in sizes] for pair in pairs), len(sizes)),
            _table(([node_accuracy(*pair, size) for size in NODE_K] for pair in pairs), len(NODE_K)),
            _table(([jaccard(*pair)] for pair in pairs), 1),
        )

    def by_graph(self, graphs: int) -> tuple[tuple[float | None, ...], ...]:
        """The mean AUCs of each graph's copies."""
        owner = torch.tensor(self.owners, dtype=torch.long)
        means = (_means(self.aucs[owner == place]) for place in range(graphs))
        return tuple(tuple(None if value != value else value for value in row) for row in means)


def _explained(given: list[Data], clean: list[Explanation | Failure], search: Search) -> dict[int, Explanation]:
    """The graphs that have an explanation, by position."""
    if len(clean) != len(given):
        raise RCExplainerError(f"explanations must hold one for each of {len(given)} graphs, got {len(clean)}")
    sound = {place: one for place, one in enumerate(clean) if isinstance(one, Explanation)}
    if not sound:
        reason = next(one.error for one in clean if isinstance(one, Failure))
        raise RCExplainerError(f"none of the {len(given)} graphs could be explained; the first: {reason}")
    if search != "none" and any(one.counterfactual is None for one in sound.values()):
        raise RCExplainerError(f'search="{search}" needs explanations with counterfactuals: explain with a search')
    return sound


def _table(rows: Iterable[list[float]], width: int) -> Tensor:
    return torch.tensor(list(rows), dtype=torch.double).reshape(-1, width)


def _means(table: Tensor) -> tuple[float, ...]:
    return tuple(table.nanmean(0).tolist())


def _counts(table: Tensor) -> tuple[int, ...]:
    return tuple((~table.isnan()).sum(0).tolist())


def _check(noise: Sequence[float], sizes: tuple[int, ...], protocol: str, seed: int, copies: int) -> None:
    """Refuse arguments that are not valid."""
    if isinstance(noise, str) or not isinstance(noise, Iterable):
        raise RCExplainerError(f"noise takes a list of shares from 0 to 1, such as [0.1, 0.2], got {noise!r}")
    if not noise or not sizes:
        raise RCExplainerError("robustness needs at least one noise level and at least one k")
    for share in noise:
        check_noise(share, protocol)
    for size in sizes:
        whole("k", size)
    whole("copies", copies)
    whole("seed", seed, least=0)
