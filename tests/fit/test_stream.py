"""Fits on graphs that go by once: what is kept of them, in how much memory, and what is refused."""

import gc
import logging
import sys
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

import rcexplainer as rc
from rcexplainer.config import RCConfig
from rcexplainer.datasets.nitro_stream import NitroStream
from rcexplainer.errors import CheckpointError, GraphError, RCExplainerError
from rcexplainer.explainer import FittedRCExplainer, RCExplainer
from rcexplainer.fit import stream
from rcexplainer.fit.data import Predictions
from rcexplainer.fit.objective import Restarts
from rcexplainer.fit.reservoir import Reservoir
from rcexplainer.fit.stream import open_graphs
from rcexplainer.fit.stream_sample import sample_stream
from rcexplainer.gnn import TrainConfig, gnn_config, split_model, train_gnn
from rcexplainer.saving.fingerprint import weights_digest

# Of a stream 20 graphs are kept, two of them held out. The preset is the one that takes least time.
QUICK: dict[str, Any] = {"preset": "paper", "epochs": 2, "teacher_limit": 18, "batch_size": None}


class Stream:
    """Graphs that are made anew for each pass, which are counted."""

    def __init__(self, graphs: list[Any]) -> None:
        self.graphs, self.passes = graphs, 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        return (graph.clone() if isinstance(graph, Data) else graph for graph in self.graphs)


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    data = rc.datasets.load("ba-2motifs", num_graphs=64)
    config = gnn_config("paper", data.num_features, data.num_classes)
    model = train_gnn(config, data.graphs, data.split, settings=TrainConfig(epochs=40, lr=0.01), progress=False).model
    return SimpleNamespace(model=model, graphs=list(data.graphs), split=split_model(model, list(data.graphs)))


def fit(case: SimpleNamespace, graphs: Any, seed: int = 0, **arguments: Any) -> FittedRCExplainer:
    return RCExplainer(**QUICK).fit(case.model, graphs, seed=seed, progress=False, **arguments)


def broken(graph: Data) -> Data:
    graph = graph.clone()
    graph.edge_index[0, 0] = 999
    return graph


# ---- the sample


def test_every_item_is_kept_equally_often() -> None:
    generator = torch.Generator().manual_seed(0)
    times: Counter[int] = Counter()
    for _ in range(2000):
        kept = Reservoir[int](3)
        for place, key in enumerate(torch.rand(10, generator=generator).tolist()):
            if kept.wants(key):
                kept.add(key, place, place)
        assert len(kept.by_key()) == 3
        times.update(kept.by_key().values())
    assert all(abs(times[place] / 2000 - 0.3) < 0.04 for place in range(10))  # four standard deviations


def test_reservoirs_with_the_same_keys_are_nested() -> None:
    keys = torch.rand(50, generator=torch.Generator().manual_seed(1)).tolist()
    small, large = Reservoir[str](4), Reservoir[str](9)
    for place, key in enumerate(keys):
        for one in (small, large):
            if one.wants(key):
                one.add(key, place, str(place))
    lowest = sorted(range(50), key=keys.__getitem__)
    assert list(small.by_key()) == lowest[:4]
    assert list(large.by_key().values()) == [str(place) for place in lowest[:9]]
    assert not Reservoir[str](0).wants(0.0)


def test_the_sample_depends_on_the_seed_and_not_on_the_chunks(case, monkeypatch) -> None:
    def sample(seed: int) -> tuple[list[int], Predictions]:
        found = sample_stream(case.split, open_graphs(Stream(case.graphs), 5, None), 12, seed)
        assert found.count == len(case.graphs)
        places = [next(i for i, one in enumerate(case.graphs) if torch.equal(one.edge_index, graph.edge_index))
                  for graph in found.graphs]  # fmt: skip
        return places, found.predictions

    places, predictions = sample(0)
    assert len(places) == 12
    assert places == sorted(places)
    assert len(predictions) == len(case.graphs)  # fewer than REGION_SAMPLE: all of them
    monkeypatch.setattr(stream, "CHUNK_GRAPHS", 7)
    again, others = sample(0)
    assert again == places
    torch.testing.assert_close(others.embedding, predictions.embedding)
    monkeypatch.setattr(stream, "CHUNK_EDGES", 100)
    assert sample(0)[0] == places
    assert sample(1)[0] != places


def test_no_class_is_missing_however_rare(case) -> None:
    label = Predictions.of(case.split, case.graphs).label
    common, rare = ([case.graphs[i] for i in (label == one).nonzero().flatten().tolist()] for one in (0, 1))
    many = [*common * 20, rare[0], *common * 20, rare[1], *common]
    for seed in range(3):
        found = sample_stream(case.split, open_graphs(Stream(many), 10, None), 40, seed)
        kept = Predictions.of(case.split, found.graphs).label
        assert len(kept) == 40
        assert int((kept == 1).sum()) == 2  # of a class at least 40 / (10 · 2), if there are as many


def test_memory_is_that_of_the_sample_whatever_the_length(case, monkeypatch) -> None:
    """Also where graphs are views of a large batch: what is kept is a copy of its own."""
    monkeypatch.setattr(stream, "CHUNK_GRAPHS", 16)
    alive: list[weakref.ref[Tensor]] = []
    most = 0

    def long(times: int) -> Iterator[Data]:
        nonlocal most
        for _ in range(times):
            batch = torch.cat([graph.x for graph in case.graphs])  # nodes of all graphs
            start = 0
            for graph in case.graphs:
                one = graph.clone()
                one.x = batch[start : start + graph.num_nodes]
                start += graph.num_nodes
                alive.append(weakref.ref(one.x))
                yield one
            alive[:] = [ref for ref in alive if ref() is not None]
            most = max(most, len(alive))

    found = sample_stream(case.split, open_graphs(long(12), 10, None), 10, 0)
    gc.collect()
    assert found.count == 12 * len(case.graphs)
    assert len(found.graphs) == 10
    assert most <= 11 + 2 * 16  # the first ones, and the chunks that go by
    assert all(graph.x.untyped_storage().nbytes() == graph.x.nbytes for graph in found.graphs)


# ---- the fit


@pytest.mark.parametrize("kind", [Stream, iter, lambda graphs: DataLoader(graphs, batch_size=3), tuple])
def test_a_stream_that_fits_is_fitted_as_a_list(case, kind) -> None:
    few = case.graphs[:20]
    assert weights_digest(fit(case, kind(few)).scores.net) == weights_digest(fit(case, few).scores.net)


def test_so_is_the_default(case) -> None:
    few, settings = case.graphs[:20], {"epochs": 1, "teacher_limit": 18}
    streamed, listed = (
        RCExplainer(**settings).fit(case.model, kind(few), progress=False).scores for kind in (Stream, list)
    )
    assert weights_digest(streamed.net) == weights_digest(listed.net)
    assert streamed.relevance is not None
    assert weights_digest(streamed.relevance.net) == weights_digest(listed.relevance.net)


def test_a_long_stream_is_read_once_and_a_seeded_sample_is_learnt_from(case, caplog) -> None:
    given = Stream(case.graphs)
    with caplog.at_level(logging.WARNING):
        fitted = fit(case, given)
    assert given.passes == 1
    assert [one.message for one in caplog.records if "teacher_limit" in one.message] == [
        "a random 20 of 64 graphs are used for training (teacher_limit)"
    ]
    once = weights_digest(fitted.scores.net)
    assert weights_digest(fit(case, (graph for graph in case.graphs)).scores.net) == once
    assert weights_digest(fit(case, Stream(case.graphs), seed=1).scores.net) != once
    assert all(torch.isfinite(one.edge_scores).all() for one in fitted.explain(case.graphs[:5]))


def test_regions_of_a_stream_are_those_of_the_list(case) -> None:
    """They come from all graphs, of which only the embeddings are kept."""
    streamed, listed = fit(case, Stream(case.graphs)).regions, fit(case, case.graphs).regions
    assert str(streamed) == str(listed)
    torch.testing.assert_close(streamed.boundaries.weight, listed.boundaries.weight)


def test_ten_times_the_graphs_take_the_same_number_of_steps(case) -> None:
    class Counting(RCExplainer):
        def objective(self, config: RCConfig, restarts: Restarts):
            plain = super().objective(config, restarts)

            def counted(step):
                steps.append(torch.is_grad_enabled())
                return plain(step)

            return counted

    numbers = []
    for graphs in (case.graphs, case.graphs * 10):
        for settings in ({}, {"batch_size": 4}):
            steps: list[bool] = []
            Counting(**QUICK | settings).fit(case.model, Stream(graphs), progress=False)
            numbers.append(sum(steps))
    assert numbers[:2] == numbers[2:]


def test_background_and_validation_may_be_streams(case) -> None:
    some, others = case.graphs[:20], case.graphs[20:]
    streamed = fit(case, some, val=Stream(others), background=Stream(others))
    assert str(streamed.regions) == str(fit(case, some, val=others, background=others).regions)
    with pytest.raises(GraphError, match=r"^val graph 40 has an edge to node 999"):
        fit(case, some, val=Stream([*others[:40], broken(others[40])]))
    with pytest.raises(GraphError, match=r"^background graph 41 has an edge to node 999"):
        fit(case, some, background=Stream([*others[:41], broken(others[41])]))


def test_a_checkpoint_belongs_to_its_stream(case, tmp_path: Path) -> None:
    file = tmp_path / "state.safetensors"
    first = fit(case, Stream(case.graphs), checkpoint=file)
    again = fit(case, Stream(case.graphs), checkpoint=file)
    assert weights_digest(first.scores.net) == weights_digest(again.scores.net)
    with pytest.raises(CheckpointError, match=r"graphs differ"):
        fit(case, Stream(case.graphs[5:]), checkpoint=file)


def test_a_path_is_opened_as_a_table(case, monkeypatch) -> None:
    module = ModuleType("rcexplainer.datasets.graph_table")
    opened: list[Any] = []

    def table(path: Any) -> Stream:
        opened.append(path)
        return Stream(case.graphs)

    module.GraphTable = table  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    named, listed = fit(case, Path("molecules.parquet")), fit(case, Stream(case.graphs))
    assert weights_digest(named.scores.net) == weights_digest(listed.scores.net)
    fit(case, "molecules/*.parquet")
    assert opened == [Path("molecules.parquet"), "molecules/*.parquet"]


# ---- what is refused


@pytest.mark.parametrize("place", [3, 50])  # among the first, which the model is split on, and later
def test_a_bad_graph_is_named_by_its_position(case, place: int) -> None:
    def with_one(other: Any) -> Stream:
        return Stream([*case.graphs[:place], other, *case.graphs[place:]])

    graph = case.graphs[0]
    wide, labelled, weighted = graph.clone(), graph.clone(), graph.clone()
    wide.x = torch.cat([graph.x, graph.x], 1)
    labelled.y = torch.tensor([0, 1])
    weighted.edge_weight = torch.ones(graph.num_edges)
    for other, message in (
        (broken(graph), "has an edge to node 999"),
        (wide, "has node features of width 20, the first graph 10"),
        (labelled, "has 2 labels"),
        (weighted, "has edge_weight, the first graph does not"),
        ("CCO", "cannot be used: expected PyG Data objects, got str"),
    ):
        with pytest.raises(GraphError, match=rf"^graph {place} {message}"):
            fit(case, with_one(other))


def test_an_empty_stream_and_one_that_was_read_before(case) -> None:
    with pytest.raises(GraphError, match=r"^the dataset is empty: at least one graph is needed"):
        fit(case, Stream([]))
    generator = (graph for graph in case.graphs)
    fit(case, generator)
    with pytest.raises(GraphError, match=r"A generator can be read once: if this one was read before, make a new one"):
        fit(case, generator)


def test_too_few_graphs_are_refused_as_in_a_list(case) -> None:
    with pytest.raises(RCExplainerError, match=r"for the one graph given: there is no boundary to cross"):
        fit(case, Stream(case.graphs[:1]))


def test_an_error_of_the_stream_itself_is_not_hidden(case) -> None:
    def cut_short() -> Iterator[Data]:
        yield from case.graphs[:30]
        raise OSError("file cut short")

    with pytest.raises(OSError, match="file cut short"):
        fit(case, cut_short())


# ---- molecules without end


def test_generated_molecules_are_the_same_in_every_pass() -> None:
    some, more = NitroStream(7, seed=3), NitroStream(12, seed=3)
    for one, other in zip(some, more, strict=False):
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.edge_index, other.edge_index)
    assert [int(graph.y) for graph in some] == [0, 1, 0, 1, 0, 1, 0]
    assert (len(list(some)), len(some)) == (7, 7)
    assert NitroStream(6, seed=3).keys() != NitroStream(6, seed=4).keys()


def test_molecules_that_are_held_out_do_not_occur() -> None:
    held_out = NitroStream(6, seed=3).keys()
    others = NitroStream(20, seed=3, left_out=held_out)
    assert len(list(others)) == 20
    first = next(iter(others))
    assert not any(first.x.shape == graph.x.shape and torch.equal(first.x, graph.x) for graph in NitroStream(6, seed=3))
