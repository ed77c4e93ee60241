"""Noisy copies of graphs that keep the prediction: a copy whose prediction changes is drawn again.

The noise is that of a protocol (`perturbation`): "paper" or "strict".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.gnn.graph_checks import attributes
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.metrics.perturbation import NoiseProtocol, feature_rows, perturb

CopyKey = tuple[int, int]  # (position of the graph, number of the copy)


@dataclass(frozen=True, eq=False)
class KeptCopies:
    """The copies at one noise level that keep the prediction of their graph."""

    owners: list[int]  # position of the graph of each copy
    graphs: list[Data]
    at_once: int  # how many kept it at the first draw


@dataclass(frozen=True, eq=False)
class NoisyCopies:
    """Noisy copies of some graphs. A copy depends on the seed, the noise level, and its graph and position alone."""

    split: SplitModel
    graphs: Mapping[int, Data]  # by position
    predictions: Mapping[int, int]  # of these graphs
    protocol: NoiseProtocol
    seed: int
    count: int  # copies of each graph
    redraws: int  # how often a copy is drawn again before it is left out

    def at(self, noise: float) -> KeptCopies:
        """The copies at a noise level, in the order of the graphs."""
        waiting: list[CopyKey] = [(place, number) for place in self.graphs for number in range(self.count)]
        kept: dict[CopyKey, Data] = {}
        at_once = 0
        for attempt in range(1 + self.redraws):
            if not waiting:
                break
            drawn = {key: self._draw(key, noise, attempt) for key in waiting}
            labels = predicted_classes(self.split, list(drawn.values()))
            same = {key for key, label in zip(drawn, labels, strict=True) if label == self.predictions[key[0]]}
            kept |= {key: graph for key, graph in drawn.items() if key in same}
            at_once = at_once if attempt else len(kept)
            waiting = [key for key in waiting if key not in same]
        keys = sorted(kept)
        return KeptCopies([place for place, _ in keys], [kept[key] for key in keys], at_once)

    @cached_property
    def _rows(self) -> Tensor:
        return feature_rows(list(self.graphs.values()))

    def _draw(self, key: CopyKey, noise: float, attempt: int) -> Data:
        """One draw of a copy, with a generator of its own: it is the same whichever other copies are drawn again."""
        level = round(noise * 1e9)  # the noise itself, not its position, so that a level is the same in any list
        random = np.random.default_rng([self.seed, level, *key, attempt])
        return perturb(self.graphs[key[0]], noise, random, protocol=self.protocol, rows=self._rows)


def predicted_classes(split: SplitModel, graphs: list[Data]) -> list[int]:
    """The predicted classes, all graphs in one run; −1 for a graph on which the model raises."""
    labels: list[int] = []
    for _, group in groupby(graphs, attributes):  # only graphs with the same attributes can be batched
        labels += _predict(split, list(group))
    return labels


def _predict(split: SplitModel, graphs: list[Data]) -> list[int]:
    try:
        return Instances(split, graphs).passes(lambda done: split.log_probs(done.output)).argmax(1).tolist()
    except Exception:  # noqa: BLE001  a model may raise anything; one graph it cannot take must not lose the others
        return [-1] if len(graphs) == 1 else [_predict(split, [graph])[0] for graph in graphs]
