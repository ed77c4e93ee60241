"""Speed on this machine, for `rcexplainer bench`: figures to read, never a condition of a test.

    explain     explanations of molecules beside forward passes of their network, and beside other explainers
    fit         fits for graphs and nodes beside training steps of the GNN
    hub         searches in the computation graphs of hubs with a known answer
    scaling     cost against graphs, edges and classes, with log–log slopes
    memory      peak memory of fits with large graphs and many classes
    serve       requests to a server from 1, 8 and 32 clients
    stream      fits on 4,000 to 400,000 molecules, in memory and streamed: quality and peak memory
    scale       nodes of graphs on disk with up to a hundred million edges
    engine      files of molecules explained by the local engine and by Ray, beside the same work in memory
    engine-model   a cost model of the engines, fitted to small files and checked on larger ones
    import, core, regions, nodes     parts of the library

The first five use public names of the package alone, so that they measure any version of it (`tools/speed_of.py`), and
run where only torch and PyG are installed:

    python -m rcexplainer.benchmark.speed explain --device cuda --out DIR
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from rcexplainer.benchmark.speed.options import BenchOptions

# Name → where its function is: other benchmarks are not imported with it, as they may not fit the version measured.
BENCHMARKS: dict[str, str] = {
    "import": "import_cost:import_cost",
    "core": "core_cost:core_cost",
    "regions": "region_cost:region_cost",
    "nodes": "neighbourhood_cost:neighbourhood_cost",
    "explain": "explain_cost:explain_cost",
    "fit": "fit_cost:fit_cost",
    "hub": "hub_cost:hub_cost",
    "scaling": "scaling_cost:scaling_cost",
    "memory": "memory_cost:memory_cost",
    "serve": "serve_cost:serve_cost",
    "stream": "stream_cost:stream_cost",
    "scale": "scale_cost:scale_cost",
    "engine": "engine_cost:engine_cost",
    "engine-model": "engine_model:engine_model",
}


def benchmark(name: str) -> Callable[[BenchOptions], Iterable[dict[str, Any]]]:
    """The function that measures one of `BENCHMARKS`: options → rows, each given as soon as it is measured."""
    module, _, function = BENCHMARKS[name].partition(":")
    found: Callable[[BenchOptions], Iterable[dict[str, Any]]]
    found = getattr(import_module(f"rcexplainer.benchmark.speed.{module}"), function)
    return found
