"""Nodes of graphs on disk with more and more edges: cost per node, and memory beside the graph itself.

    1e5, 1e6, 1e7      edges of the graphs that are measured by default; 1e8 where it is asked for (`--rows 1e8`)
    slope              of the log–log lines through all sizes: 0 if the cost does not depend on the size of the graph

Each graph is written to a folder that is removed afterwards, and handled by a process of its own: the edges are
indexed, an explainer is fitted on a few nodes, and 10,000 nodes are explained as a stream, with `prefix` searches. They
are explained by one explainer for all sizes, fitted on a small graph: another one would rank, and search, otherwise.
Edges read from the files, and edges of all runs of the model, are counted. Times per node are of the processor, with
the system's share (page faults); other work on the machine makes them longer, the counts stay.
Memory is anonymous memory, without the pages of mapped files; it includes Python, torch and the network.
"""

import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from rcexplainer.benchmark.speed.anonymous_memory import AnonymousPeak
from rcexplainer.benchmark.speed.clock import seconds
from rcexplainer.benchmark.speed.counted_edges import Counted
from rcexplainer.benchmark.speed.disk_graph import in_memory, write_disk_graph
from rcexplainer.benchmark.speed.large_graph import sage
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.benchmark.speed.scaling_cost import slope
from rcexplainer.datasets import MappedGraph
from rcexplainer.explainer import FittedRCExplainer, RCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.tasks.computation_graph import ComputationGraphs, Instance
from rcexplainer.tasks.excerpt import drawn

SIZES, LARGEST = ("1e5", "1e6", "1e7"), "1e8"
EXPLAINED, FITTED, RUN = 10_000, 150, 1000  # nodes to explain, to fit on, to run the model on alone
FORWARDS = 5  # runs of the model alone; the shortest counts
TRAINED = 200_000  # edges of the graph that the network is trained on
EPOCHS = 5  # of the explainer


def scale_cost(options: BenchOptions) -> Iterator[dict[str, Any]]:
    """One row for every size, and one with the slopes."""
    sizes = [size for size in (*SIZES, LARGEST) if (size in options.rows if options.rows else size in SIZES)]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.scratch, prefix="rcexplainer-scale-") as scratch:
        small = in_memory(write_disk_graph(Path(scratch) / "trained", TRAINED, seed=1))
        model = sage(small, options, "disk-graph").to(options.where)
        common = _fitted(model, MappedGraph(Path(scratch) / "trained"))
        for size in sizes:
            folder = Path(scratch) / size
            write_disk_graph(folder, int(float(size)))
            row = {"row": size, "edges": int(float(size)), **_apart(common, folder, options)}
            shutil.rmtree(folder)
            rows.append(row)
            yield row
    if len(rows) > 1:
        names = ("edges read per node", "edges run per node", "ms per node", "÷ forward", "cut ms per node")
        yield {"row": "slope", **{name: slope([(row["edges"], row[name]) for row in rows]) for name in names}}


def _fitted(model: Any, graph: MappedGraph) -> FittedRCExplainer:
    nodes = drawn(graph.num_nodes, FITTED, seed=3)
    return RCExplainer(task="node", epochs=EPOCHS).fit(model, graph, index=nodes, progress=False)


def _apart(common: FittedRCExplainer, folder: Path, options: BenchOptions) -> dict[str, Any]:
    """Measured in a process of its own, a copy of this one."""
    if options.where.type != "cpu":
        return _measured(common, folder, options)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(_measured(common, folder, options)))
    process.start()
    sender.close()
    try:
        found: dict[str, Any] = receiver.recv()
        return found
    finally:
        process.join()


def _measured(common: FittedRCExplainer, folder: Path, options: BenchOptions) -> dict[str, Any]:
    graph = MappedGraph(folder)
    count = min(options.graphs or EXPLAINED, graph.num_nodes)
    nodes = drawn(graph.num_nodes, count, seed=1)
    nodes = nodes[torch.randperm(count, generator=torch.Generator().manual_seed(2))]
    with AnonymousPeak() as at_index:
        indexed = seconds(lambda: graph.adjacency, options.where)
    with AnonymousPeak() as at_fit:
        fit = seconds(lambda: _fitted(common.split.model, graph), options.where)
    cut: list[Any] = []
    cutting = _processor(lambda: cut.extend(ComputationGraphs(graph, common.hops)(nodes[:RUN])))
    graphs = [one.computation for one in cut if isinstance(one, Instance)]
    forward = min(_processor(lambda: Instances(common.split, graphs).outputs()) for _ in range(FORWARDS))
    cut.clear()
    found = {"explained": 0, "flipped": 0, "failed": 0, "edges": 0}
    counted = Counted()
    with AnonymousPeak() as at_explain:
        start = time.perf_counter()
        took = _processor(lambda: _explain(counted.runs(common), counted.reads(graph), nodes, found))
        wall = time.perf_counter() - start
    each, run = 1000 * took / len(nodes), 1000 * forward / len(graphs)
    return {
        "nodes": graph.num_nodes,
        "files GB": sum(file.stat().st_size for file in folder.rglob("*.npy")) / 1e9,
        "index s": indexed,
        "fit s": fit,
        "explained": found["explained"],
        "failed": found["failed"],
        "flipped": found["flipped"],
        "edges each": found["edges"] / max(1, found["explained"]),
        "edges read per node": counted.read / len(nodes),
        "edges run per node": counted.run / len(nodes),
        "explain s": wall,
        "ms per node": each,
        "÷ forward": each / run,
        "forward ms": run,
        "cut ms per node": 1000 * cutting / len(graphs),
        "MB before": at_index.before / 1e6,
        "peak MB index": at_index.megabytes,
        "peak MB fit": at_fit.megabytes,
        "peak MB explain": at_explain.megabytes,
    }


def _processor(run: Callable[[], object]) -> float:
    """Seconds of the processor that a run takes."""
    start = time.process_time()
    run()
    return time.process_time() - start


def _explain(fitted: Any, graph: MappedGraph, nodes: torch.Tensor, found: dict[str, int]) -> None:
    """Count results as they come; none is kept."""
    for one in fitted.explain_iter(graph, index=nodes):
        done = isinstance(one, Explanation)
        found["explained" if done else "failed"] += 1
        if done:
            found["flipped"] += one.counterfactual.flipped
            found["edges"] += one.instance.num_edges
