"""Both engines explain N generated molecules from Parquet to Parquet, are killed in the middle, and go on.

    python tools/million.py 1000000 --folder runs/million

For each engine `rcexplainer explain --search prefix` runs twice: once as it is, and once with its first process killed
(SIGKILL) when 40 % of the parts are written, and the same command again. Then all rows are read: they must be counted,
in order, unique, and equal (floats to 1e-5) to those of the uninterrupted run, and the engines' rows to each other's.
What is done is kept in the folder and not done again; `million.json` there has all figures.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from rcexplainer.benchmark.speed.machine import machine
from rcexplainer.benchmark.speed.molecules import Molecules, generated_set
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.benchmark.speed.process_tree import ProcessTree, descendants
from rcexplainer.datasets.nitro_file import write_nitro

SEED = 1
ENGINES = ("local", "ray")
TOLERANCE = 1e-5
FEWEST_PARTS = 16  # of a small job: there must be something left to do after the kill
LOOK = 0.05  # seconds between two looks at the folder
TOLD = 10.0  # seconds between two lines of progress
GRACE = 20.0  # seconds in which the processes of a killed job must end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--part-rows", type=int)
    parser.add_argument("--kill-at", type=float, default=0.4, help="share of the parts that are there when it dies")
    parser.add_argument("--keep", type=Path, help="folder of the network and its explainer (default: in --folder)")
    args = parser.parse_args()
    steps = Steps(args.folder)
    keep = args.keep or args.folder / "networks"
    steps.do("network", lambda: network(keep))
    file = args.folder / f"molecules-{args.rows}.parquet"
    steps.do("file", lambda: written(file, args.rows, args.workers))
    job = partial(Job, args.rows, file, keep, workers=args.workers, part_rows=part_rows(args.rows, args.part_rows))
    for engine in args.engines:
        whole, killed = (job(args.folder / f"{engine}-{kind}", engine) for kind in ("whole", "killed"))
        steps.do(f"{engine} whole", whole.run)
        steps.do(f"{engine} killed", partial(killed.killed, args.kill_at))
        steps.do(f"{engine} resumed", killed.run)
        steps.do(f"{engine} equal", partial(compared, whole.out, killed.out, args.rows))
    if set(args.engines) == set(ENGINES):
        ours, theirs = (args.folder / f"{engine}-whole" for engine in ENGINES)
        steps.do("engines equal", partial(compared, ours, theirs, args.rows))
    found = {"rows": args.rows, "machine": machine("cpu"), **steps.found}
    (args.folder / "million.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
    sys.exit(0 if all(one.get("equal", True) for one in steps.found.values()) else 1)


class Steps:
    """Results of steps, kept in files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.found = folder / "steps", dict[str, dict[str, Any]]()
        self.folder.mkdir(parents=True, exist_ok=True)

    def do(self, name: str, step: Callable[[], dict[str, Any]]) -> None:
        path = self.folder / f"{name.replace(' ', '-')}.json"
        if not path.exists():
            print(f"{name} …", flush=True)
            path.write_text(json.dumps(step()) + "\n", encoding="utf-8")
        self.found[name] = json.loads(path.read_text(encoding="utf-8"))
        print(f"{name}: {self.found[name]}", flush=True)


def network(keep: Path) -> dict[str, Any]:
    started = time.time()
    _ = Molecules.of(BenchOptions(keep=keep), generated_set()).fitted
    return {"seconds": time.time() - started}


def written(file: Path, rows: int, processes: int) -> dict[str, Any]:
    started = time.time()
    write_nitro(file, rows, SEED, processes=processes)
    return {"seconds": time.time() - started, "MB": file.stat().st_size / 1e6}


def part_rows(rows: int, given: int | None) -> int | None:
    """Rows in a part; None, the engine's own number, where there are enough of these parts."""
    small = 1 << max((rows // FEWEST_PARTS).bit_length() - 1, 0)
    return given if given is not None or small >= 16_384 else small


class Job:
    """An `rcexplainer explain` of the file by an engine."""

    def __init__(
        self, rows: int, file: Path, keep: Path, out: Path, engine: str, *, workers: int, part_rows: int | None
    ) -> None:
        self.rows, self.out, self.parts = rows, out, -(-rows // (part_rows or 16_384))
        small = [] if part_rows is None else ["--part-rows", str(part_rows)]
        self.words = [sys.executable, "-m", "rcexplainer", "explain", "--input", str(file), "--out", str(out)]
        self.words += ["--model", str(keep / "nitro.safetensors"), "--search", "prefix", "--json", "--quiet"]
        self.words += ["--explainer", str(keep / "nitro-explainer.safetensors"), "--engine", engine]
        self.words += ["--workers", str(workers), *small]

    def done(self) -> list[Path]:
        return sorted(self.out.glob("part-*.parquet"))

    def run(self) -> dict[str, Any]:
        """To its end; how long it took, and what it used."""
        before = {path: path.stat().st_mtime_ns for path in self.done()}
        process, started, told = self._start(), time.time(), time.time()
        with ProcessTree(process.pid) as tree:
            while process.poll() is None:
                time.sleep(LOOK)
                if time.time() - told > TOLD:
                    told = self._tell(started)
        if process.returncode or process.stdout is None:
            sys.exit(f"failed: {' '.join(self.words)}")
        return {
            **json.loads(process.stdout.read()),
            "wall_seconds": time.time() - started,
            "cpu_seconds": tree.cpu_seconds(),
            "peak_MB": tree.peak_bytes / 1e6,
            "results_MB": sum(path.stat().st_size for path in self.done()) / 1e6,
            "parts_before": len(before),
            "parts_left_as_they_were": sum(path.stat().st_mtime_ns == then for path, then in before.items()),
        }

    def killed(self, share: float) -> dict[str, Any]:
        """Killed when this share of its parts is there."""
        shutil.rmtree(self.out, ignore_errors=True)
        process, started, told = self._start(), time.time(), time.time()
        with ProcessTree(process.pid) as tree:
            while len(self.done()) < share * self.parts:
                if process.poll() is not None:
                    sys.exit(f"it ended before it could be killed: {' '.join(self.words)}")
                time.sleep(LOOK)
                if time.time() - told > TOLD:
                    told = self._tell(started)
            others = [one for one in descendants(process.pid) if one != process.pid]
            process.send_signal(signal.SIGKILL)
            process.wait()
        there, killed_at = len(self.done()), time.time()
        while any(map(alive, others)) and time.time() - killed_at < GRACE:
            time.sleep(LOOK)
        left = [one for one in others if alive(one)]
        for one in left:  # what outlives its job would take memory and cores from the next
            os.kill(one, signal.SIGKILL)
        return {
            "wall_seconds": killed_at - started,
            "peak_MB": tree.peak_bytes / 1e6,
            "parts": there,
            "of": self.parts,
            "processes": len(others),
            f"of_them_alive_after_{GRACE:.0f}_s": len(left),
        }

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(self.words, stdout=subprocess.PIPE, text=True)

    def _tell(self, started: float) -> float:
        now = time.time()
        print(f"  {self.out.name}: {len(self.done())} of {self.parts} parts, {now - started:.0f} s", flush=True)
        return now


def alive(process: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def compared(one: Path, other: Path, rows: int) -> dict[str, Any]:
    """Whether two folders hold the same results of these rows, each exactly once; a part at a time is in memory."""
    found: dict[str, Any] = {"rows": 0, "errors": 0, "flipped": 0, "largest_difference": 0.0, "different": []}
    in_order, ids = True, set[str]()
    for start, a, b in _pairs(one, other):
        in_order &= a.column("row").to_pylist() == list(range(start, start + a.num_rows))
        in_order &= a.column("id").to_pylist() == [f"nitro-{SEED}-{row}" for row in range(start, start + a.num_rows)]
        ids.update(a.column("id").to_pylist())
        found["rows"] += a.num_rows
        found["errors"] += a.num_rows - a.column("error").null_count
        found["flipped"] += a.column("flipped").to_pylist().count(True)
        for name in a.column_names:
            gap = difference(a.column(name), b.column(name))
            if not gap <= TOLERANCE:
                found["different"].append(f"{name} from row {start} on: {gap}")
            else:
                found["largest_difference"] = max(found["largest_difference"], gap)
    found |= {"unique_ids": len(ids), "in_order": in_order}
    found["equal"] = not found["different"] and in_order and len(ids) == found["rows"] == rows
    return found


def _pairs(one: Path, other: Path) -> Iterator[tuple[int, pa.Table, pa.Table]]:
    names = [sorted(path.name for path in folder.glob("part-*.parquet")) for folder in (one, other)]
    if names[0] != names[1]:
        sys.exit(f"{one} and {other} have other parts: {len(names[0])} and {len(names[1])}")
    start = 0
    for name in names[0]:
        tables = parquet.read_table(one / name), parquet.read_table(other / name)
        yield start, *tables
        start += tables[0].num_rows


def difference(one: pa.ChunkedArray, other: pa.ChunkedArray) -> float:
    """The largest difference of numbers; infinite where anything else differs, or is missing in one of them."""
    if one.type != other.type or len(one) != len(other):
        return float("inf")
    kind = one.type.value_type if pa.types.is_list(one.type) else one.type
    if not pa.types.is_floating(kind):
        return 0.0 if one.equals(other) else float("inf")
    if not one.is_null().equals(other.is_null()):
        return float("inf")
    values = [column.combine_chunks() for column in (one, other)]
    if pa.types.is_list(one.type):
        if not values[0].value_lengths().equals(values[1].value_lengths()):
            return float("inf")
        values = [column.flatten() for column in values]
    a, b = (np.asarray(column.to_numpy(zero_copy_only=False)) for column in values)
    return float(np.abs(a - b).max(initial=0.0))


if __name__ == "__main__":
    main()
