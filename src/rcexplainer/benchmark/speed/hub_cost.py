"""Searches in the computation graphs of hubs whose smallest counterfactual is known.

The ranking is a seeded random one, which does not depend on the features of nodes; the marked neighbours are placed
by it. So every version of the package searches with the same ranking.
"""

import inspect
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

from rcexplainer import baselines
from rcexplainer.benchmark.speed.clock import seconds
from rcexplainer.benchmark.speed.hub_graph import HUB, HUBS, Hub, MarkCounter
from rcexplainer.benchmark.speed.options import BenchOptions

TIME = 10.0  # seconds that a search with a bound on its time gets


def hub_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """Seconds, edges deleted and runs of the model, with each bound that the version of the package has."""
    for hub in HUBS:
        if options.wanted(hub.name):
            yield from _hub_cost(hub, options)


def _hub_cost(hub: Hub, options: BenchOptions) -> Iterator[dict[str, Any]]:
    runs = {"calls": 0, "edges": 0}
    graph = hub.graph(options.where)
    model = MarkCounter(hub.threshold, runs).eval().to(options.where)
    fitted = baselines.Random(task="node", hops=2).fit(model, graph)
    hub.mark(graph, fitted.explain(graph, index=HUB, search="none").edge_scores)
    bounds: dict[str, dict[str, Any]] = {"default": {}}
    if "budget" in inspect.signature(fitted.explain).parameters:
        bounds["500 runs"] = {"budget": 500}
        bounds[f"{TIME:.0f} s"] = {"budget": import_module("rcexplainer").Seconds(TIME)}  # older versions have none
    forward = min(seconds(lambda: model(graph.x, graph.edge_index), options.where) for _ in range(10))
    for name, bound in bounds.items():
        for search in ("prefix", "greedy"):
            runs.update(calls=0, edges=0)
            found: list[Any] = []
            took = seconds(
                partial(_explain, found, fitted, graph, search, bound),
                options.where,
            )
            counterfactual = found[0].counterfactual
            yield {
                "row": hub.name,
                "search": search,
                "budget": name,
                "edges": hub.edges,
                "smallest answer": hub.answer,
                "seconds": took,
                "÷ forward": took / forward,
                "flipped": counterfactual.flipped,
                "minimal": counterfactual.minimal,
                "deleted": int(counterfactual.removed.sum()),
                "exhausted": getattr(counterfactual, "exhausted", None),
                "calls": runs["calls"],
                "runs": round(runs["edges"] / hub.edges, 1),  # edges of all calls ÷ edges of the computation graph
            }


def _explain(found: list[Any], fitted: Any, graph: Any, search: str, bound: dict[str, Any]) -> None:
    found.append(fitted.explain(graph, index=HUB, search=search, **bound))
