"""What is kept of graphs that go by once: a sample to train on, and predictions that boundaries and regions come from.

    graph i, key u_i ~ U[0, 1)     training   the `size` graphs with the smallest keys
                                   regions    the predictions of the REGION_SAMPLE graphs with the smallest keys
                                   both       of each predicted class at least the size / (RARE·C) smallest keys

So both samples are uniform unless a class is rare, and no class that the model ever predicts is missing. They depend on
the seed and the order of the graphs alone.
"""

import logging
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from tqdm.auto import tqdm

from rcexplainer.fit.data import Predictions
from rcexplainer.fit.reservoir import Reservoir
from rcexplainer.fit.stream import OpenedGraphs
from rcexplainer.gnn.split import SplitModel

log = logging.getLogger(__name__)

# Some 50 MB of embeddings. Shares of instances beyond a boundary are then known to ± .3 %, and `candidates_per_class`
# boundaries are sampled at far fewer of them.
REGION_SAMPLE = 100_000
RARE = 10

Row = np.ndarray[Any, np.dtype[Any]]  # embedding and log-probabilities of an instance, [d + C]


@dataclass(frozen=True, eq=False)
class StreamSample:
    """What is kept of a stream.

    Attributes:
        graphs: Graphs to train on, in the order of the stream.
        predictions: Predictions that regions come from, in that order.
        count: Number of graphs that were read.
    """

    graphs: list[Data]
    predictions: Predictions
    count: int


def sample_stream(split: SplitModel, given: OpenedGraphs, size: int, seed: int, progress: bool = False) -> StreamSample:
    """Read all graphs once, run the model on each, and keep a seeded sample.

    Args:
        split: The model.
        given: The graphs; what is not in memory is used up.
        size: Number of graphs to keep.
        seed: Random seed of the sample.
        progress: Whether to show a progress bar.

    Raises:
        GraphError: A graph is malformed or unlike the first; it is named by its position.
    """
    random, count = Random(seed), 0
    uniform, rows = Reservoir[tuple[Data, Row]](size), Reservoir[Row](REGION_SAMPLE)
    least = max(1, size // (RARE * split.num_classes))
    of_class = [Reservoir[tuple[Data, Row]](least) for _ in range(split.num_classes)]
    with tqdm(desc="graphs", unit="graph", total=given.count, disable=not progress) as bar:
        for chunk in given.chunks(split):
            seen = Predictions.of(split, chunk)
            table = torch.cat([seen.embedding, seen.log_probs], 1).cpu().numpy()
            for graph, row, label in zip(chunk, table, seen.label.tolist(), strict=True):
                key = random.random()
                if rows.wants(key):
                    rows.add(key, count, row.copy())
                takers = [one for one in (uniform, of_class[label]) if one.wants(key)]
                if takers:
                    item = graph.clone(), row.copy()  # a graph may be a view of a batch that would stay in memory
                    for one in takers:
                        one.add(key, count, item)
                count += 1
            bar.update(len(chunk))
    always = {place: item for own in of_class for place, item in own.by_key().items()}
    others = [(place, item) for place, item in uniform.by_key().items() if place not in always]
    kept = always | dict(others[: max(0, size - len(always))])
    known = rows.by_key() | {place: row for place, (_, row) in always.items()}
    return StreamSample(
        [kept[place][0] for place in sorted(kept)],
        _predictions(split, [known[place] for place in sorted(known)]),
        count,
    )


def _predictions(split: SplitModel, rows: list[Row]) -> Predictions:
    table = torch.from_numpy(np.stack(rows)).to(split.device)
    embedding, log_probs = table.split([split.embedding_dim, split.num_classes], 1)
    return Predictions(embedding.contiguous(), log_probs.contiguous())
