"""Explanations of molecules beside forward passes of their network, in the same run.

    list     scores, `prefix` and `greedy` for a list of 1,000 graphs ÷ PyG's DataLoader + forward ÷ the bare forward
             pass of a ready batch
    alone    the same for one graph ÷ its forward pass
    all      scores of all graphs of the set, from a `Batch` on the device and from a list of `Data`
    others   other explainers on the same graphs and network (`other_explainers`)

The loader's batch size is the fastest of LOADER_SIZES. "read" are the times until the scores and counterfactuals of
all explanations were read one by one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from rcexplainer.benchmark.speed.clock import in_turns
from rcexplainer.benchmark.speed.molecules import Molecules, forward, one_batch
from rcexplainer.benchmark.speed.options import BenchOptions, Rows
from rcexplainer.benchmark.speed.other_explainers import other_explainers
from rcexplainer.explanation import Explanation

LISTED, ALONE = 1000, 20  # graphs
LOADER_SIZES = (128, 512, 1000)
SEARCHES = {"scores": "none", "prefix": "prefix", "greedy": "greedy"}


def explain_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """Milliseconds a graph, and ratios to forward passes."""
    subject = Molecules.of(options)
    parts: dict[str, Callable[[Molecules], Iterable[dict[str, Any]]]] = {
        "list": _listed,
        "alone": _alone,
        "all": _all,
        "others": other_explainers,
    }
    for name, part in parts.items():
        for row in part(subject) if options.wanted(name) else ():
            yield {"row": name, "set": subject.name, **row}


def read(found: Iterable[Any]) -> None:
    """Look at every explanation as a user does: scores, and what is removed."""
    for one in found:
        if isinstance(one, Explanation):
            _ = one.edge_scores, None if one.counterfactual is None else one.counterfactual.removed


def _loaded(subject: Molecules, graphs: list[Data], size: int) -> None:
    for batch in DataLoader(graphs, batch_size=size):
        forward(subject.model, batch)


def _listed(subject: Molecules) -> Rows:
    options, explain = subject.options, partial(subject.fitted.explain, on_error="keep")
    graphs = subject.some(options.graphs or LISTED)
    batch = one_batch(graphs)
    runs: dict[str, Callable[[], Any]] = {
        "forward": partial(forward, subject.model, batch),
        **{f"loader {size}": partial(_loaded, subject, graphs, size) for size in LOADER_SIZES},
        **{name: partial(explain, graphs, search=search) for name, search in SEARCHES.items()},
        "scores, read": lambda: read(explain(graphs, search="none")),
        "prefix, read": lambda: read(explain(graphs, search="prefix")),
    }
    took = in_turns(runs, options.where, options.repeats)
    loader = min(took[f"loader {size}"] for size in LOADER_SIZES)
    return [
        {
            "what": name,
            "graphs": len(graphs),
            "edges": batch.num_edges,
            "ms a graph": 1000 * value / len(graphs),
            "÷ loader + forward": value / loader,
            "÷ forward": value / took["forward"],
        }
        for name, value in took.items()
    ]


def _alone(subject: Molecules) -> Rows:
    """Medians over several graphs, each explained by itself."""
    options, fitted = subject.options, subject.fitted
    graphs = subject.some(ALONE)
    batches = [one_batch([graph]) for graph in graphs]
    places = {name: cycle(range(len(graphs))) for name in ("forward", *SEARCHES)}
    runs: dict[str, Callable[[], Any]] = {"forward": lambda: forward(subject.model, batches[next(places["forward"])])}
    for name, search in SEARCHES.items():
        runs[name] = partial(_explain_next, fitted, graphs, places[name], search)
    took = in_turns(runs, options.where, max(options.repeats, ALONE))
    return [
        {"what": name, "graphs": 1, "ms a graph": 1000 * value, "÷ forward": value / took["forward"]}
        for name, value in took.items()
    ]


def _explain_next(fitted: Any, graphs: list[Data], places: Any, search: str) -> None:
    fitted.explain(graphs[next(places)], search=search)


def _all(subject: Molecules) -> Rows:
    options, explain = subject.options, partial(subject.fitted.explain, on_error="keep")
    graphs = subject.some(len(subject.data))
    batch = one_batch(graphs)
    runs: dict[str, Callable[[], Any]] = {
        "forward of a Batch": partial(forward, subject.model, batch),
        "scores of a Batch": partial(explain, batch, search="none"),
        "scores of a list": partial(explain, graphs, search="none"),
        "prefix of a Batch": partial(explain, batch, search="prefix"),
        "scores of a list, read": lambda: read(explain(graphs, search="none")),
    }
    if options.where.type != "cpu":
        moving, away = replace(subject.fitted, device=options.where), [graph.clone().cpu() for graph in graphs]
        runs["scores of a list on the CPU"] = partial(moving.explain, away, search="none", on_error="keep")
    took = in_turns(runs, options.where, options.repeats)
    return [
        {
            "what": name,
            "graphs": len(graphs),
            "edges": batch.num_edges,
            "seconds": value,
            "ms a graph": 1000 * value / len(graphs),
            "÷ forward": value / took["forward of a Batch"],
        }
        for name, value in took.items()
    ]
