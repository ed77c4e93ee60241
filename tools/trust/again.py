"""Does this source still give the stored results? Some of them, drawn at random, run again and compared.

    python tools/trust/again.py --out build/trust [--results results] [--share 0.05] [--longest 120] [--jobs 2]

From every entry a share of the jobs is drawn, RCExplainer's and the other methods' apart and at least one of each, with
the networks that they are about. They run anew in OUT/again, a folder of results of its own, in which a second start
continues. Weights of networks and every value of a result must come out the same to the last bit; jobs that measure
time are left out, and those that took longer than `--longest` seconds, or whose networks did. On another machine or
version of torch, where sums are taken in another order, results differ in their last digits, and what is learnt from
them in more.
"""

import argparse
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from part_record import finish
from source_digest import source_digest

from rcexplainer.benchmark.results import OURS
from rcexplainer.paper.entries import PAPER_ENTRIES, plan
from rcexplainer.paper.job import Job
from rcexplainer.paper.job_work import work
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.record import Record
from rcexplainer.paper.runner import run_jobs
from rcexplainer.paper.store import Store


def main() -> int:
    """Draw, run, compare.

    Returns:
        The exit status: 1 if any result is another one now.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/trust"))
    parser.add_argument("--results", type=Path, default=Path("results"), help="the folder of stored results")
    parser.add_argument("--share", type=float, default=0.05, help="of each entry's jobs")
    parser.add_argument("--longest", type=float, default=120.0, help="seconds that a job may have taken")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    given = parser.parse_args()
    torch.set_num_threads(1)  # as the stored results have it: with more, sums are taken in another order
    stored, again = Store(given.results), Store(given.out / "again" / source_digest())
    profile = stored.profile or "standard"
    again.claim(profile)
    plans = [plan(name, profile) for name in PAPER_ENTRIES]
    networks = {job.digest: job for planned in plans for job in planned.jobs if job.kind == "network"}
    drawn = {
        planned.name: with_networks(
            drawn_jobs(planned, stored, given.share, given.longest, f"{given.seed} {planned.name}"), networks
        )
        for planned in plans
    }
    jobs = list(dict.fromkeys(job for ones in drawn.values() for job in ones))
    failed, skipped = run_jobs(jobs, again, work, workers=given.jobs)
    before, after = stored.records(jobs), again.records(jobs)
    rows = [row_of(entry, ones, before, after) for entry, ones in drawn.items() if ones]
    compared = [job for job in jobs if job in before and job in after]
    return finish(
        given.out,
        "again",
        seed=given.seed,
        sizes={"share": given.share, "longest": given.longest},
        figures={
            "results compared": len(compared),
            "the same": sum(not list(unlike(before[job].result, after[job].result)) for job in compared),
            "could not be run": len(failed) + len(skipped),
        },
        rows=rows,
        failures=[f"{row['entry']}: {line}" for row in rows for line in row["another result"]]
        + [f"{one.job.label}: {one.error}" for one in (*failed, *skipped)],
    )


def drawn_jobs(planned: EntryPlan, stored: Store, share: float, longest: float, seed: str) -> list[Job]:
    """Some of an entry's jobs that have a result, RCExplainer's and the others' apart.

    Args:
        planned: The entry.
        stored: The stored results.
        share: The share to draw; at least one of each group.
        longest: Seconds that a job may have taken.
        seed: What the draw depends on.
    """
    known = stored.records(planned.jobs)
    slow = {job.digest for job, one in known.items() if one.seconds > longest}
    able = [job for job in known if job.kind not in ("network", "time") and slow.isdisjoint(_needed(job))]
    numbers = random.Random(seed)
    groups = [[job for job in able if (job.inputs.get("method", OURS) == OURS) == ours] for ours in (True, False)]
    return [job for group in groups for job in numbers.sample(group, min(len(group), math.ceil(share * len(group))))]


def _needed(job: Job) -> set[str]:
    """The digests of a job and of the network that it is about."""
    return {job.digest, str(job.inputs.get("network"))}


def with_networks(jobs: list[Job], networks: dict[str, Job]) -> list[Job]:
    """Jobs, and before them the networks that they are about."""
    return [*(networks[job.inputs["network"]] for job in jobs if job.inputs.get("network") in networks), *jobs]


def row_of(entry: str, jobs: list[Job], before: dict[Job, Record], after: dict[Job, Record]) -> dict[str, Any]:
    """What came of an entry's jobs: how many were run again, and where a result is another one."""
    other = [
        f"{job.label} ({before[job].about['commit']}): {found[0]}" + (f", {len(found) - 1} more" if found[1:] else "")
        for job in dict.fromkeys(jobs)
        if job in before and job in after and (found := list(unlike(before[job].result, after[job].result)))
    ]
    commits = sorted({str(before[job].about["commit"]) for job in jobs if job in before})
    return {"entry": entry, "run again": len(set(jobs)), "made at": commits, "another result": other}


def unlike(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Every value that is not the same, with its place."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for key, value in before.items():
            yield from unlike(value, after[key], f"{place}.{key}" if place else str(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from unlike(*pair, f"{place}[{index}]")
    elif before != after:
        yield f"{place} {_short(before)} → {_short(after)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}…"


if __name__ == "__main__":
    sys.exit(main())
