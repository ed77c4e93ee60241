"""Calls of public functions with hostile arguments: each drawn before it is made."""

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.config import RCConfig
from rcexplainer.explanation import Explanation
from tests.hostile import graphs as hostile
from tests.hostile import models
from tests.hostile.pool import METHODS, SPECS, Pooled, pooled
from tests.hostile.watch import Ask
from tests.zoo import graph_models, node_models
from tests.zoo.parts import FEATURES

FIT_SECONDS, CALL_SECONDS = 120.0, 30.0
SCRATCH = Path(tempfile.gettempdir()) / "rcexplainer-hostile"


@dataclass(frozen=True, eq=False)
class Case:
    """One call.

    Attributes:
        text: What is called, to be read by a person.
        call: Makes the call.
        model: A model that has to stay as it is.
        members: Graphs that have to stay as they are.
        ask: Asks the model alone, where the call gives explanations.
        seconds: What it may take.
    """

    text: str
    call: Callable[[], Any]
    model: Any = None
    members: tuple[Any, ...] = ()
    ask: Ask | None = None
    seconds: float = CALL_SECONDS


ODD_VALUES = st.sampled_from(
    [None, 0, -1, 1, 3, 10**12, 0.5, math.nan, math.inf, -0.1, 1.5, True, "x", "", (), [], {}, b"", object]
)


SMALL_VALUES = ODD_VALUES.filter(lambda value: value != 10**12)  # whoever asks for 10¹² graphs waits for them


def mostly(good: Any, odd: Any = ODD_VALUES) -> Any:
    """Usually a value that makes sense."""
    return st.integers(0, 5).flatmap(lambda number: odd if number == 5 else good)


def seldom(good: Any, odd: Any = ODD_VALUES) -> Any:
    """Nearly always a value that makes sense: for calls with many arguments."""
    return st.integers(0, 19).flatmap(lambda number: odd if number == 19 else good)


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    """Options of `explain`."""
    found: dict[str, Any] = {}
    known = {
        "search": mostly(st.sampled_from(["prefix", "greedy", "none"])),
        "target_class": mostly(st.integers(0, 2)),
        "on_error": mostly(st.sampled_from(["raise", "keep"])),
        "budget": mostly(
            st.sampled_from([None, 1, 10, 200, math.inf]) | st.sampled_from([0.001, 0.05]).map(rc.Seconds)
        ),
        "refine": mostly(st.integers(1, 40)),
        "confidence": mostly(st.sampled_from([0.55, 0.8, 0.99])),
        "disclose": mostly(st.sampled_from(["scores", "counterfactual", "prediction"])),
        "progress": st.just(False),
    }
    for name, values in known.items():
        if draw(st.integers(0, 2)) == 2:
            found[name] = draw(values)
    return found


@st.composite
def masks(draw: st.DrawFn, given: Any) -> Any:
    """Candidate masks: of a graph's edges, of several, or none that fits."""
    kind = draw(st.sampled_from(["own", "own", "short", "whole", "text", "list", "empty"]))
    sizes = [graph.edge_index.size(-1) if _has_edges(graph) else 3 for graph in given]
    made = [torch.rand(size, generator=torch.Generator().manual_seed(size)) > 0.4 for size in sizes] or [
        torch.ones(2) > 0
    ]
    return {
        "own": made[0] if len(made) == 1 else made, "short": made[0][:1], "whole": made[0].long(), "text": "all",
        "list": [[True]], "empty": [],
    }[kind]  # fmt: skip


def _has_edges(graph: Any) -> bool:
    return isinstance(graph, Data) and isinstance(graph.edge_index, torch.Tensor) and graph.edge_index.dim() > 0


def some_pooled(draw: st.DrawFn, tasks: tuple[str, ...]) -> Pooled:
    """One of the shared explainers."""
    numbers = [number for number, spec in enumerate(SPECS) if spec[0] in tasks]
    return pooled(draw(st.sampled_from(numbers))) or pooled(numbers[0])  # type: ignore[return-value]


@st.composite
def explain_graphs(draw: st.DrawFn) -> Case:
    one = some_pooled(draw, ("zoo", "own"))
    given = draw(hostile.calls(one.features, one.edge_features))
    if one.name == "weighted" and draw(st.booleans()):
        for graph in given.members:
            if _has_edges(graph):
                graph.edge_weight = torch.rand(graph.edge_index.size(-1), generator=torch.Generator().manual_seed(0))
    how = draw(options())
    if draw(st.integers(0, 6)) == 6:
        how["candidates"] = draw(masks(given.members))
    if draw(st.integers(0, 15)) == 15:
        how["index"] = draw(ODD_VALUES)
    if draw(st.integers(0, 5)) < 5:
        text, call = "explain", lambda: one.fitted.explain(given.value, **how)
    else:
        how.pop("on_error", None)
        text, call = "explain_iter", lambda: list(one.fitted.explain_iter(given.value, **how))
    return Case(f"{text} {one.name} {given} {how}", call, one.model, tuple(given.members), one.ask)


INDICES = mostly(
    st.integers(0, 39)
    | st.lists(st.integers(-2, 45), max_size=4)
    | st.lists(st.integers(0, 39), min_size=1, max_size=4)
    | st.lists(st.integers(0, 39), min_size=1, max_size=4).map(torch.tensor)
    | st.sampled_from([torch.ones(40, dtype=torch.bool), torch.zeros(40, dtype=torch.bool), torch.tensor([0.5])])
    | st.sampled_from([np.int64(3), torch.tensor(4)])
)
LINKS = mostly(
    st.tuples(st.integers(-1, 15), st.integers(-1, 15))
    | st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=3)
    | st.sampled_from([torch.tensor([[0, 5], [1, 7]]), torch.tensor([[0], [5]]), torch.tensor([0.5, 1.0]), None])
)


@st.composite
def explain_parts(draw: st.DrawFn) -> Case:
    """Nodes and links: of their own graph mostly, or of a hostile one."""
    link = draw(st.integers(0, 4)) == 4
    one = some_pooled(draw, ("link",) if link else ("node",))
    if draw(st.booleans()):
        given = hostile.Given(one.graphs[0], one.graphs)
    else:
        given = draw(hostile.calls(one.features, one.edge_features, most=2))
    how = draw(options())
    index = draw(LINKS if link else INDICES)
    if draw(st.integers(0, 6)) == 6:
        how["candidates"] = draw(masks(given.members))
    call = lambda: one.fitted.explain(given.value, index=index, **how)  # noqa: E731
    return Case(
        f"explain {one.task} {one.name} {given} index={index} {how}", call, one.model, tuple(given.members), one.ask
    )


def some_explanations(one: Pooled, search: str) -> list[Explanation]:
    """Of a few instances of an explainer's own graphs."""
    index = None if one.task == "graph" else [0, 3, 5] if one.task == "node" else [(0, 5), (1, 7)]
    given = one.graphs[:4] if one.task == "graph" else one.graphs[0]
    return [
        found
        for found in one.fitted.explain(given, index=index, search=search, on_error="keep")
        if isinstance(found, Explanation)
    ]


KS = mostly(st.integers(0, 9), ODD_VALUES | st.just(2**80))
ODD_PATHS = st.sampled_from([3, b"x", [], object, "", ".", "/", "a\0b", "a\ud800", "a" * 300, Path("a\0b")])
SHARES = mostly(st.floats(0, 1))


@st.composite
def explanation_methods(draw: st.DrawFn) -> Case:
    one = some_pooled(draw, ("zoo", "own", "node", "link"))
    search = draw(st.sampled_from(["prefix", "none"]))
    name = draw(st.sampled_from(["top", "at_sparsity", "reading", "rest", "rest"]))
    value = draw({"top": KS, "at_sparsity": SHARES}.get(name, mostly(st.sampled_from(["scores", "relevance"]))))

    def call() -> None:
        for found in some_explanations(one, search):
            if name == "rest":
                repr(found), found.edges, found.node_scores, found.units, found.removed_units, found.local
                if found.counterfactual is not None:
                    repr(found.counterfactual), found.counterfactual.graph, found.counterfactual.reached
                    found.counterfactual_instance.validate()
            else:
                getattr(found, name)(value)

    return Case(f"Explanation.{name}({value!r}) of {one.task} {one.name}, search={search}", call, one.model)


@st.composite
def metrics(draw: st.DrawFn) -> Case:
    one = some_pooled(draw, ("zoo", "own", "node"))
    search, m = draw(st.sampled_from(["prefix", "none"])), rc.metrics
    empty, levels = draw(st.integers(0, 9)) == 9, draw(mostly(st.lists(st.floats(-0.2, 1.2), max_size=2)))
    k, number = draw(KS), draw(SHARES)
    fitted = draw(seldom(st.just(one.fitted), st.just(one.model) | ODD_VALUES))
    graph = draw(hostile.graphs(one.features, one.edge_features, faults=1))
    calls: dict[str, Callable[[list[Explanation]], Any]] = {
        "fidelity": lambda found: m.fidelity(one.model, found, levels),
        "sufficiency": lambda found: m.sufficiency(one.fitted, found, levels),
        "counterfactuals": lambda found: m.counterfactuals(found, number),
        "motif_auc": lambda found: m.motif_auc(found),
        "motif_accuracy": lambda found: m.motif_accuracy(found),
        "motif_recovery": lambda found: m.motif_recovery(found),
        "motif_direction": lambda found: m.motif_direction(one.model, found),
        "flip_stability": lambda found: m.flip_stability(one.model, found, levels, copies=2),
        "robustness": lambda found: m.robustness(fitted, [graph, *one.graphs[:1]], levels, k=k),
        "explain_time": lambda found: m.explain_time(fitted, [graph] if empty else [graph, graph]),
        "region_agreement": lambda found: m.region_agreement(fitted, found, k=k, permutations=3),
        "perturb": lambda found: m.perturb(graph, number, np.random.default_rng(0)),
        "region_summary": lambda found: str(one.fitted.region_summary(found)),
    }
    name = draw(st.sampled_from(sorted(calls)))
    if name == "region_summary" and not isinstance(one.fitted, rc.FittedRCExplainer):
        name = "fidelity"
    members = (graph,) if name in ("robustness", "explain_time", "perturb") else ()
    call = lambda: calls[name]([] if empty else some_explanations(one, search))  # noqa: E731
    with_values = f"search={search}, levels={levels!r}, k={k!r}, number={number!r}, fitted={type(fitted)}"
    text = f"metrics.{name} of {one.task} {one.name}, {with_values}, {hostile.Given(graph, [graph])}"
    return Case(text, call, one.model, members)


@st.composite
def drawings(draw: st.DrawFn) -> Case:
    one = some_pooled(draw, ("zoo", "own", "node", "link"))
    graph = draw(hostile.graphs(one.features, one.edge_features, faults=0)) if one.task == "graph" else None
    suffix = draw(st.sampled_from([".svg", ".png", ".html", ".txt", ""]))
    style = draw(mostly(st.sampled_from(["auto", "graph", "molecule"])))
    names = draw(mostly(st.sampled_from([(), ("C",), ("C", "N", "O", "H")]), st.sampled_from(["x", ("", "<b>")])))
    what = draw(st.sampled_from(["draw", "page", "compare", "notebook"]))
    path = draw(mostly(st.just(SCRATCH / f"drawing{suffix}"), ODD_PATHS))
    fitted = draw(seldom(st.just(None), st.just(one.model) | ODD_VALUES))

    def call() -> None:
        import matplotlib.pyplot as plt

        SCRATCH.mkdir(exist_ok=True)
        found = some_explanations(one, "prefix")[:1] if graph is None else [one.fitted.explain(graph)]
        try:
            if what == "draw":
                found[0].draw(path, style=style, node_names=names)
            elif what == "page":
                rc.viz.page(found, path, fitted, node_names=names)
            elif what == "compare":
                rc.viz.compare({"one": found[0], "<other>": found[0]}, path, style=style, node_names=names)
            else:
                found[0]._repr_svg_()
        finally:
            plt.close("all")

    members = () if graph is None else (graph,)
    text = f"{what} {one.task} {one.name} {path!r} {style!r} {names!r} fitted={type(fitted)}"
    return Case(text, call, one.model, members)


@st.composite
def constructors(draw: st.DrawFn) -> Case:
    """Methods and settings with odd values."""
    names = [field.name for field in fields(RCConfig)]
    others = ["seed", "steps", "depth", "task", "hops", "target_class", "connected", "preset", "size", "samples"]
    which = draw(st.sampled_from(["RCExplainer", "RCConfig", "Seconds", *rc.baselines.__all__]))
    settings = draw(st.dictionaries(st.sampled_from([*names, *others]), ODD_VALUES, max_size=3))

    def call() -> Any:
        if which == "Seconds":
            return rc.Seconds(next(iter(settings.values()), None))
        if which in ("RCExplainer", "RCConfig"):
            known = {name: value for name, value in settings.items() if which == "RCExplainer" or name in names}
            return repr(getattr(rc, which)(**known))
        return repr(getattr(rc.baselines, which)(**settings))

    return Case(f"{which}({settings})", call)


@st.composite
def data(draw: st.DrawFn) -> Case:
    """Datasets, tables and files."""
    what = draw(st.sampled_from(["load", "load", "to_parquet", "table", "split", "map_graph", "task_of"]))
    name = draw(
        mostly(st.sampled_from([*rc.datasets.names(), "csv:/nowhere.csv", "tu:../x", "tu:", "csv:", "nitro:x"]))
    )
    option = draw(st.dictionaries(st.sampled_from(["num_graphs", "seed", "root", "colour"]), SMALL_VALUES, max_size=1))
    given = draw(hostile.calls(FEATURES, 0, most=3))
    labels = draw(mostly(st.lists(st.integers(0, 3), max_size=9)))
    odd_path = draw(seldom(st.none(), ODD_PATHS))

    def call() -> Any:
        SCRATCH.mkdir(exist_ok=True)
        path = SCRATCH / "table.parquet" if odd_path is None else odd_path
        if what == "load":
            small = {"num_graphs": 6} if name in ("ba-2motifs", "nitro", "three-motifs") else {}
            return len(rc.datasets.load(name, **{"root": SCRATCH, **small, **option}))
        if what == "to_parquet":
            return list(rc.datasets.GraphTable(rc.datasets.to_parquet(given.value, path)))
        if what == "table":
            return rc.datasets.GraphTable(name if odd_path is None else odd_path)
        if what == "map_graph":
            place = SCRATCH / f"mapped-{id(given)}" if odd_path is None else odd_path
            return rc.datasets.map_graph(given.value, place)
        return rc.datasets.task_of(name) if what == "task_of" else rc.datasets.stratified_split(labels, 0)

    return Case(
        f"datasets.{what} {name!r} {option} {given} {labels!r} path={odd_path!r}", call, None, tuple(given.members)
    )


@st.composite
def files(draw: st.DrawFn) -> Case:
    """Explainers saved to and read from odd places, for the right model and for others."""
    one = some_pooled(draw, ("own", "zoo"))
    trained = pooled(len(SPECS) - 3)
    assert trained is not None
    other = draw(st.sampled_from(sorted(models.MODELS)))
    right, place = draw(st.booleans()), draw(st.sampled_from(["file", "folder", "missing", "text", "cut", "odd"]))
    odd_path = draw(ODD_PATHS)

    def call() -> Any:
        SCRATCH.mkdir(exist_ok=True)
        path = SCRATCH / "explainer.safetensors"
        trained.fitted.save(path)
        if place == "folder":
            trained.fitted.save(SCRATCH)
        if place == "odd":
            return rc.load(odd_path, trained.model) if right else trained.fitted.save(odd_path)
        if place == "cut":
            path.write_bytes(path.read_bytes()[:-9])
        if place == "text":
            path.write_text("{}")
        if place == "missing":
            path.unlink()
        found = rc.load(path, trained.model if right else models.MODELS[other]())
        return found.explain(trained.graphs[:2])

    return Case(
        f"save and load, {place} {odd_path!r}, {'its model' if right else other} {one.name}",
        call,
        trained.model,
        (),
        trained.ask,
    )


@st.composite
def fits(draw: st.DrawFn) -> Case:
    """A fit of its own: hostile models, hostile graphs, or both."""
    kind = draw(st.sampled_from(["own", "own", "own", "zoo", "refused", "node", "own node", "node refused"]))
    table: dict[str, dict[str, Any]] = {
        "own": models.MODELS, "zoo": graph_models.EXPLAINED, "refused": graph_models.REFUSED,
        "node": node_models.EXPLAINED, "own node": models.NODE_MODELS, "node refused": node_models.REFUSED,
    }  # fmt: skip
    name, model = models.drawn(draw, table[kind])
    node = "node" in kind
    if draw(st.integers(0, 3)) == 3:
        given = draw(hostile.calls(FEATURES, 0))
    else:
        base = [node_models.graph(models.WHOLE)] if node else [graph.clone() for graph in graph_models.graphs(10)]
        extra = [draw(hostile.graphs(FEATURES, 0, faults=1))] if draw(st.booleans()) and not node else []
        given = hostile.Given(base[0] if node else [*base, *extra], [*base, *extra])
    if name == "attributed":
        for graph in given.members:
            if _has_edges(graph):
                graph.edge_attr = torch.ones(graph.edge_index.size(-1), models.EDGE_FEATURES)
    method = draw(st.integers(0, len(METHODS) - 1))
    how: dict[str, Any] = {}
    for key, values in {
        "head": mostly(st.just("head")),
        "output": mostly(st.sampled_from(["logits", "probs", "log_probs", "binary_logit"])),
        "class_names": mostly(st.just(["no", "yes"])), "seed": mostly(st.integers(0, 9), st.sampled_from([-1, 2**40])),
        "device": mostly(st.just("cpu"), st.sampled_from(["cuda:7", "meta", "x"])),
        "index": mostly(st.just([0, 1, 2])) if node else ODD_VALUES,
    }.items():  # fmt: skip
        if draw(st.integers(0, 4)) == 4:
            how[key] = draw(values)

    def call() -> Any:
        fitted = METHODS[method](task="node" if node else "graph").fit(model, given.value, progress=False, **how)
        return fitted.explain(given.members[:2] if not node else given.members[0], index=[0, 1] if node else None)

    return Case(
        f"fit {kind} {name} method {method} {given} {how}", call, model, tuple(given.members), None, FIT_SECONDS
    )
