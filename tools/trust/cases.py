"""Hostile graphs and models through public functions: each call an answer, or an `RCExplainerError`.

    python tools/trust/cases.py --out build/trust --cases 2000

Cases come from the hypothesis strategies of `tests/hostile`, over at most 50 fitted explainers and a few hundred fits
of their own. After every call: no foreign exception, in the results either; no hang; the model and the graphs as they
were; and every claimed flip true when the model is asked alone, with the edges really gone. Blocks of cases are kept in
OUT/cases, so that a second start continues. One case again:

    python tools/trust/cases.py --case 42
"""

import argparse
import collections
import json
import logging
import sys
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from hypothesis import HealthCheck, Phase, given, seed, settings
from part_record import finish
from source_digest import source_digest
from tests.hostile.actions import Case
from tests.hostile.every_case import cases
from tests.hostile.watch import Hang, foreign, graph_print, limited, model_print, wrong_results

from rcexplainer.errors import RCExplainerError

BLOCK = 200
FITS = 5  # of a block
CHECKS = list(HealthCheck)


@dataclass
class Counts:
    """What a block of cases came to."""

    cases: int = 0
    fits: int = 0
    answered: int = 0
    refused: int = 0
    flips: int = 0
    minimal: int = 0
    seconds: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)


def tried(case: Case, counts: Counts) -> list[str]:
    """Make the call, and say what is wrong with it."""
    before, graphs = model_print(case.model), graph_print(case.members)
    wrong: list[str] = []
    found = None
    try:
        with limited(case.seconds):
            found = case.call()
        counts.answered += 1
    except RCExplainerError as error:
        counts.refused += 1
        wrong += [text] if (text := foreign(error)) else []
        found = getattr(error, "results", None)
    except Hang as hang:
        wrong.append(f"hangs: {hang}")
    except Exception as error:  # noqa: BLE001  this is what is looked for
        wrong.append(foreign(error) or "")
    if model_print(case.model) != before:
        wrong.append("the model is changed")
    if graph_print(case.members) != graphs:
        wrong.append("a graph is changed")
    try:
        tally, texts = wrong_results(found, case.ask)
    except Exception as error:  # noqa: BLE001  results that cannot be looked at are wrong, too
        return [*wrong, f"the results cannot be checked: {foreign(error) or traceback.format_exc()}"]
    counts.flips, counts.minimal = counts.flips + tally.flips, counts.minimal + tally.minimal
    return wrong + texts


def drawn(number: int, first: int, fit: bool) -> Case:
    """The case with this number: each has a seed of its own, so that it can be run again alone."""
    found: list[Case] = []

    @seed(first * 1_000_003 + number)
    @settings(max_examples=2, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=CHECKS)
    @given(cases(fit))
    def draw(case: Case) -> None:
        found.append(case)

    draw()
    return found[-1]  # the first one is always the simplest


def numbered(number: int, first: int, counts: Counts) -> None:
    """Run one case."""
    fit = number % (BLOCK // FITS) == BLOCK // FITS - 1
    case = drawn(number, first, fit)
    counts.cases += 1
    counts.fits += fit
    with torch.random.fork_rng():
        torch.manual_seed(number)
        texts = tried(case, counts)
    kind = case.text.split()[0].split("(")[0]
    counts.kinds[kind] = counts.kinds.get(kind, 0) + 1
    for text in texts:
        counts.findings.append({"case": number, "what": text[:600], "call": case.text[:900]})
        print(f"case {number}: {text[:500]}\n    {case.text[:700]}", flush=True)


def block_of(block: int, first: int) -> Counts:
    """Run a block of cases."""
    counts, start = Counts(), time.monotonic()
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        numbered(number, first, counts)
    counts.seconds = time.monotonic() - start
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/trust"))
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="run this one alone, and keep nothing")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if asked.case is not None:
        numbered(asked.case, asked.seed, counts := Counts())
        return 1 if counts.findings else 0
    folder = asked.out / "cases" / source_digest() / f"seed-{asked.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    blocks = []
    for number in range(-(-asked.cases // BLOCK)):
        kept = folder / f"{number}.json"
        if not kept.exists():
            counts = block_of(number, asked.seed)
            unfinished = kept.with_suffix(".unfinished")
            unfinished.write_text(json.dumps(vars(counts)))
            unfinished.replace(kept)
            print(f"block {number}: {counts.cases} cases in {counts.seconds:.0f} s", flush=True)
        blocks.append(json.loads(kept.read_text()))
    names = ("cases", "fits", "answered", "refused", "flips", "minimal")
    figures: dict[str, Any] = {name: sum(block[name] for block in blocks) for name in names}
    figures["seconds"] = round(sum(block["seconds"] for block in blocks))
    findings = [one for block in blocks for one in block["findings"]]
    figures["findings"] = len(findings)
    kinds: collections.Counter[str] = collections.Counter()
    for block in blocks:
        kinds.update(block["kinds"])
    rows = [{"call": name, "cases": count} for name, count in kinds.most_common()]
    notes = [
        "flips and minimal: claims that were re-run alone, with the edges really deleted; wrong ones are findings."
    ]
    failures = [f"case {one['case']}: {one['what']}" for one in findings]
    sizes = {"cases": asked.cases, "block": BLOCK, "fits": figures["fits"]}
    return finish(
        asked.out, "cases", seed=asked.seed, sizes=sizes, figures=figures, rows=rows, notes=notes, failures=failures
    )


if __name__ == "__main__":
    sys.exit(main())
