"""`python -m rcexplainer.benchmark.speed`: the benchmarks where the packages of the command line are absent."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Measure, print the rows, write the document."""
    parser = argparse.ArgumentParser(prog="python -m rcexplainer.benchmark.speed", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", nargs="+", default=())
    parser.add_argument("--graphs", type=int)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(args.threads)  # torch reads it when it is loaded

    import torch

    from rcexplainer.benchmark.speed import BENCHMARKS, benchmark
    from rcexplainer.benchmark.speed.document import document, write
    from rcexplainer.benchmark.speed.options import BenchOptions

    if args.name not in BENCHMARKS:
        parser.error(f"unknown benchmark {args.name!r}; known: {', '.join(BENCHMARKS)}")
    torch.set_num_threads(args.threads)
    options = BenchOptions(
        args.repeats, args.device, tuple(args.rows), args.graphs, args.keep, args.root, args.limit, args.scratch
    )
    rows: list[dict[str, Any]] = []
    for row in benchmark(args.name)(options):  # a run that is stopped leaves what it has measured
        rows.append(row)
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        if args.out is not None:
            write(document(args.name, options, rows), args.out)


if __name__ == "__main__":
    main()
