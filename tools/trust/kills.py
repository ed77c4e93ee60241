"""Commands killed at random moments and started again until they are done: is anything lost?

    python tools/trust/kills.py --out build/trust [--kills 40] [--per-run 6] [--seed 0] [--cases train,fit]

Each run of a command is killed up to `--per-run` times (SIGKILL, SIGTERM, SIGINT, of the process or of its group), at
moments drawn from the length of an uninterrupted run, and started again by the same command. In the end its folder is
compared with that of the uninterrupted run: the same files, none left over, the same content apart from times. Runs
that are finished are kept in OUT/kills; a second start continues.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from folder_comparison import differences
from kill_cases import CASES, KillCase, make_inputs
from killed_process import Moment, run
from part_record import made_from
from source_digest import source_digest

from rcexplainer.saving.documents import write_document

MOST = 600.0  # seconds after which a run counts as hanging
ROUNDS = 1000


def main() -> int:
    """Kill, compare, report.

    Returns:
        The exit code: 1 if anything was lost.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/trust"))
    parser.add_argument("--kills", type=int, default=40, help="kills in all")
    parser.add_argument("--per-run", type=int, default=6, help="kills of one run, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", default=",".join(case.name for case in CASES))
    given = parser.parse_args()
    cases = [case for case in CASES if case.name in given.cases.split(",")]
    work = (given.out / "kills" / source_digest()).resolve()
    work.mkdir(parents=True, exist_ok=True)
    _isolate(work)
    make_inputs(work)
    rows = _rows(cases, given, work)
    document = _document(given, rows)
    write_document(given.out / "kills.json", document)
    print(json.dumps(document["figures"], indent=2))
    for line in (problem for row in rows for problem in row["problems"]):
        print(f"lost: {line}", file=sys.stderr)
    return 1 if document["figures"]["lost"] else 0


def _isolate(work: Path) -> None:
    """No data of the user's, no cluster, one thread each; this source tree whatever folder commands are started in."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has background processes ignore it
    for name in ("RCEXPLAINER_DATA", "RAY_ADDRESS"):
        os.environ.pop(name, None)
    paths = [str(Path(path).resolve()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(work / "cache")}


def _rows(cases: list[KillCase], given: argparse.Namespace, work: Path) -> list[dict[str, Any]]:
    """One row for each run, case after case, until there were enough kills."""
    rows: list[dict[str, Any]] = []
    for number in range(ROUNDS):
        for case in cases:
            if sum(len(row["kills"]) for row in rows) >= given.kills:
                return rows
            name = case.name.replace(" ", "-")
            kept = work / f"{name}-{given.seed}-{number}.json"
            if kept.exists():
                rows.append(json.loads(kept.read_text()))
                continue
            rows.append(_killed_run(case, name, f"{given.seed} {name} {number}", given.per_run, work))
            write_document(kept, rows[-1])
            print(f"{sum(len(row['kills']) for row in rows)} kills; {rows[-1]}", file=sys.stderr, flush=True)
    return rows


def _killed_run(case: KillCase, name: str, seed: str, per_run: int, work: Path) -> dict[str, Any]:
    """A run that is killed and started again until it is done, and what is wrong with its results."""
    whole = _reference(case, name, work)
    numbers, out = random.Random(seed), work / "runs" / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    kills: list[dict[str, Any]] = []
    problems: list[str] = []
    began = time.monotonic()
    while True:
        drawn = Moment.drawn(numbers, whole["seconds"] - whole["startup"])
        ending = run(case.command(out), work, drawn if len(kills) < per_run else None, MOST)
        if ending.problem:
            problems.append(f"{case.name}: {ending.problem}")
        if not ending.killed:
            if not kills and not ending.problem:  # the machine is faster than it was: later moments are drawn from this
                write_document(work / f"{name}.json", ending.to_json())
            break
        kills.append({"kind": drawn.kind, "at": round(ending.seconds, 2), "code": ending.code})
    problems += [f"{case.name}: {line}" for line in differences(work / "whole" / name, out)]
    seconds = time.monotonic() - began
    return {"case": case.name, "seed": seed, "kills": kills, "problems": problems, "seconds": round(seconds, 1)}


def _reference(case: KillCase, name: str, work: Path) -> dict[str, Any]:
    """The run without interruption: its folder is kept, and how long it took."""
    about, out = work / f"{name}.json", work / "whole" / name
    if about.exists():
        found: dict[str, Any] = json.loads(about.read_text())
        return found
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    ending = run(case.command(out), work, None, MOST)
    if ending.problem:
        raise SystemExit(f"{case.name}, not interrupted: {ending.problem}")
    write_document(about, ending.to_json())
    return ending.to_json()


def _document(given: argparse.Namespace, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The report of all runs."""
    kinds = Counter(kill["kind"] for row in rows for kill in row["kills"])
    commands: dict[str, dict[str, Any]] = {}
    for row in rows:
        own = commands.setdefault(row["case"], {"command": row["case"], "runs": 0, "kills": 0, "lost": 0})
        own["runs"] += 1
        own["kills"] += len(row["kills"])
        own["lost"] += len(row["problems"])
    figures = {
        "kills": sum(kinds.values()),
        "runs": len(rows),
        "lost": sum(len(row["problems"]) for row in rows),
        **{kind: kinds[kind] for kind in sorted(kinds)},
    }
    return {
        "part": "kills",
        "command": f"python tools/trust/kills.py --kills {given.kills} --per-run {given.per_run} --seed {given.seed}",
        "seed": given.seed,
        **made_from(),
        "sizes": {"kills": given.kills, "per_run": given.per_run},
        "figures": figures,
        "rows": list(commands.values()),
        "notes": [problem for row in rows for problem in row["problems"]],
    }


if __name__ == "__main__":
    raise SystemExit(main())
