"""What a plan of deletions costs: the same explainer with and without it, on the paper's network for Mutagenicity.

python tools/plan_cost.py --networks DIR      # kept by `rcexplainer bench` or `reproduce`; missing ones are trained

Times are the lowest of several runs on one thread, in the same process; the fit is timed once.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch

from rcexplainer import RCExplainer
from rcexplainer.benchmark.networks import trained_gnn
from rcexplainer.gnn.instances import Instances


def milliseconds(call: Callable[[], object], times: int) -> float:
    """The lowest of several runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return 1000 * min(found)


def main() -> None:
    """Fit once, and print a row for each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, help="folder of trained networks")
    parser.add_argument("--dataset", default="mutagenicity")
    parser.add_argument("--graphs", type=int, default=1000)
    given = parser.parse_args()
    torch.set_num_threads(1)
    data, trained = trained_gnn(given.dataset, "paper", 0, keep=given.networks, progress=False)
    train, graphs = data.subset("train"), data.graphs[: given.graphs]
    for network in ("neighbours", "planned"):
        start = time.perf_counter()
        planned = RCExplainer(network=network).fit(trained.model, train, progress=False)  # type: ignore[arg-type]
        print(f"fit on {len(train)} graphs, network={network!r}: {time.perf_counter() - start:.1f} s")
    if planned.scores.plan is None:
        raise SystemExit("no plan was kept: there is nothing to compare")
    forward = milliseconds(lambda: Instances(planned.split, graphs).outputs(), 5)
    print(f"{len(graphs)} graphs, joined and run once: {forward:.1f} ms")
    for name, few, many in (("scores", graphs, 5), ("one graph alone, scores", graphs[:1], 50)):
        with_it, without = (
            milliseconds(lambda one=one, few=few: one.explain(few, search="none"), many)  # type: ignore[misc]
            for one in (planned, planned.by_scores)
        )
        print(f"{name}: {with_it:.2f} ms with the plan, {without:.2f} ms without")
    with_it, without = (milliseconds(lambda one=one: one.explain(graphs), 3) for one in (planned, planned.by_scores))  # type: ignore[misc]
    print(f"prefix search: {with_it:.1f} ms with the plan, {without:.1f} ms without")


if __name__ == "__main__":
    main()
