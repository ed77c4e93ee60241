"""Calls of `rc.viz` beside those that draw one explanation: graphs on axes, grids, layouts and files."""

import math
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

import rcexplainer as rc
from tests.hostile import graphs as hostile
from tests.hostile.actions import (
    ODD_VALUES,
    SCRATCH,
    SMALL_VALUES,
    Case,
    mostly,
    seldom,
    some_explanations,
    some_pooled,
)
from tests.zoo.parts import FEATURES

ROOTS = seldom(
    st.just(()), st.sampled_from([(0,), [0, 0], (99,), (-1,), (-99,), ("a",), 3, "a", (0.5,), torch.arange(2)])
)
LABELS = seldom(st.just(None), st.sampled_from([(), ["C"], "CNO", ["<b>"] * 4, [1, 2, 3], 3, ["$x$", "$", "\\"]]))
SUFFIXES = st.sampled_from([".svg", ".svg", ".png", ".pdf", ".txt", ""])


@st.composite
def edge_values(draw: st.DrawFn, size: int) -> Any:
    """One value for each edge mostly, or something else."""
    made = torch.rand(size, generator=torch.Generator().manual_seed(draw(st.integers(0, 9))))
    odd = [
        made[:1], made[None], made.tolist(), made.numpy(), made * math.nan, made * 1e30, -made, made + math.inf, "x", 3,
        made.to(torch.complex64), made.double(), made.requires_grad_(), made.detach().half(), made.detach().to("meta"),
    ]  # fmt: skip
    good = [None, made.detach(), made.detach() > 0.5, (made.detach() * 9).long() - 1]
    return draw(seldom(st.sampled_from(good), st.sampled_from(odd)))


def _rendered(figure: Any, suffix: str) -> Any:
    SCRATCH.mkdir(exist_ok=True)
    return rc.viz.save_figure(figure, SCRATCH / f"figure{suffix}")


@st.composite
def graph_drawings(draw: st.DrawFn) -> Case:
    """`viz.draw_graph` and `viz.stress_layout`."""
    what = draw(st.sampled_from(["draw_graph", "draw_graph", "draw_graph", "stress_layout"]))
    graph = draw(hostile.graphs(FEATURES, 0, faults=1))
    foreign = draw(st.integers(0, 14)) == 14
    value = hostile.FOREIGN[draw(st.sampled_from(sorted(hostile.FOREIGN)))]() if foreign else graph
    edges = graph.edge_index
    size = edges.size(-1) if isinstance(edges, Tensor) and edges.dim() else 3
    scores, removed, motif = (draw(edge_values(size)) for _ in range(3))
    nodes = len(graph.x) if isinstance(graph.x, Tensor) and graph.x.dim() else 3
    places = np.random.default_rng(0).random((nodes, 2))
    layout = draw(
        mostly(
            st.sampled_from([None, places, torch.tensor(places), places.tolist()]),
            st.sampled_from([places[:1], places * math.nan, places * 1e300, places[:, :1], "x", [], 3, [[1], [2, 3]]]),
        )
    )
    roots, labels, suffix = draw(ROOTS), draw(LABELS), draw(SUFFIXES)
    count = draw(mostly(st.just(nodes), SMALL_VALUES))
    odd_axes = draw(st.sampled_from([None, "axes", 3])) if draw(st.integers(0, 24)) == 24 else False

    def call() -> Any:
        if what == "stress_layout":
            found = rc.viz.stress_layout(value if foreign else edges, count)
            assert found.shape == (count, 2), found.shape
            assert np.isfinite(found).all(), found
            return None
        figure, axes = rc.viz.subplots(1, 1)
        where = axes[0][0] if odd_axes is False else odd_axes
        found = rc.viz.draw_graph(where, value, scores, removed, motif, layout, roots, labels)
        assert found.shape == (value.num_nodes, 2), found.shape
        return _rendered(figure, suffix)

    text = f"viz.{what} {hostile.Given(value, [value])} scores={scores!r} removed={removed!r} motif={motif!r} "
    text += f"layout={layout!r} roots={roots!r} labels={labels!r} {suffix} {count!r} axes={odd_axes}"
    return Case(text, call, None, () if foreign else (graph,))


@st.composite
def cells(draw: st.DrawFn) -> Any:
    """One cell of `explanation_grid`: a path, or something that cannot be drawn."""
    size = draw(st.integers(0, 5))
    edges = tuple((node, node + 1) for node in range(size - 1))
    odd_edges = [((0, 99),), ((0, 0),), (("a", "b"),), ((0,),), ((0, 1, 2),), 3, None, ((1, 0), (0, 1)), ((-1, 0),)]
    some = seldom(st.just(edges), st.sampled_from(odd_edges))
    parts: dict[str, Any] = {
        "nodes": draw(seldom(st.just(tuple(range(size))), st.sampled_from([(), (0, 0), ("a",), 3, None, (0.5, 1)]))),
        "edges": draw(some), "motif": draw(some.map(_frozen)), "chosen": draw(some.map(_frozen)),
        "roots": draw(ROOTS),
        "labels": draw(seldom(st.just({}), st.sampled_from([{0: "C"}, {0: 3}, None, "C", {9: ""}]))),
        "flips": draw(seldom(st.booleans())), "motif_flips": draw(st.booleans()),
        "whole": draw(seldom(st.just(size), SMALL_VALUES)),
    }  # fmt: skip
    return draw(seldom(st.just(rc.viz.Shown(**parts)), st.just(rc.viz.Shown(**parts)) | ODD_VALUES))


def _frozen(edges: Any) -> Any:
    return frozenset(edges) if isinstance(edges, tuple) else edges


@st.composite
def grids(draw: st.DrawFn) -> Case:
    """`viz.explanation_grid`."""
    names = st.tuples(st.sampled_from(["a", "<b>", "$"]), st.sampled_from(["one", "two"]))
    good = st.dictionaries(names, cells(), min_size=1, max_size=3)
    odd = [{}, [], None, 3, "grid", {"a": 1}, {("a",): 1}, {3: 4}, {("a", "b", "c"): 1}]
    given = draw(mostly(good, st.sampled_from(odd)))
    suffix = draw(SUFFIXES)
    return Case(f"viz.explanation_grid {given} {suffix}", lambda: _rendered(rc.viz.explanation_grid(given), suffix))


@st.composite
def figure_parts(draw: st.DrawFn) -> Case:
    """`viz.draw_explanation` and `viz.save_figure`."""
    what = draw(st.sampled_from(["draw_explanation", "draw_explanation", "save_figure"]))
    one = some_pooled(draw, ("zoo", "own", "node", "link"))
    motif = draw(st.sampled_from([None, "right", "short"]))
    labels, odd = draw(LABELS), draw(ODD_VALUES)
    path = draw(mostly(SUFFIXES.map(lambda suffix: SCRATCH / f"figure{suffix}"), ODD_VALUES))
    is_odd = draw(st.integers(0, 4)) == 4

    def call() -> Any:
        figure, axes = rc.viz.subplots(1, 1)
        if what == "save_figure":
            SCRATCH.mkdir(exist_ok=True)
            return rc.viz.save_figure(odd if is_odd else figure, path)
        own = some_explanations(one, "prefix")
        found = odd if is_odd or not own else own[0]
        edges = found.graph.num_edges if own and not is_odd else 3
        known = {None: None, "right": torch.ones(edges, dtype=torch.bool), "short": torch.ones(1)}[motif]
        rc.viz.draw_explanation(axes[0][0], found, known, labels=labels)
        return _rendered(figure, ".svg")

    text = f"viz.{what} {one.task} {one.name} motif={motif} labels={labels!r} odd={odd!r} {is_odd} {path!r}"
    return Case(text, call, one.model)
