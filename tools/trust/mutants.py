"""Mutation testing: how many small changes of the method's own code does the suite notice?

    python tools/trust/mutants.py --out build/trust              # all of core/, 400 seeded ones of method/
    python tools/trust/mutants.py --out build/trust --since REV  # those of lines that have changed since a commit
    python tools/trust/mutants.py --out build/trust --list-only  # list them and find their tests, run none

Three steps, each kept in the folder and not done twice: list the mutants (cosmic-ray's operators, `mutation_sites.py`);
run the tests once under coverage to learn which of them execute which line; run, for each mutant, the tests that
execute its line, fastest first, until one fails. The third step needs pytest alone, so that it can run on a machine
where cosmic-ray and coverage are absent. Each mutant lives in a forked process of its own, in which the import system
gives the changed source: no file is ever written. Survivors stand in `survivors.toml` beside this file, each with the
reason why no test should notice it; one that is not there counts against us.
"""

import argparse
import hashlib
import json
import math
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from mutant_reasons import reason_of, reasons
from mutant_runs import Outcomes
from mutant_tests import CORE, ENOUGH, METHOD, ROOT, covering_tests, its_tests

AIM = 0.9
ALIVE = ("survived", "not executed", "no test")
SHARE = "killed of those that change behaviour"
PLAIN = "killed of all that were run"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--method", type=int, default=400, help="seeded mutants of method/")
    parser.add_argument("--core", type=int, help="seeded mutants of core/ (default: all)")
    parser.add_argument("--since", metavar="REV", help="only lines that have changed since this commit")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this long; start again to go on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list-only", action="store_true")
    parser.add_argument(
        "--again", type=float, default=0.0, help="survivors without a reason, too: seconds of tests for each"
    )
    args = parser.parse_args()
    os.chdir(ROOT)
    folder = args.out / "mutants" / digest_of(CORE, METHOD)  # of other sources nothing is known
    folder.mkdir(parents=True, exist_ok=True)
    sizes = f"{args.core or 'all'}-{args.method}-{args.seed}" + (f"-{args.since}" if args.since else "")
    listed = _kept(
        folder / f"listed-{sizes}.json", lambda: listed_mutants(args.core, args.method, args.seed, args.since)
    )
    tests = _kept(folder / f"tests-{digest_of('tests')}.json", _covering_tests)
    if args.list_only:
        print(
            len(listed), "mutants;", sum(not its_tests(mutant, tests) for mutant in listed), "of lines no test executes"
        )
        return 0
    outcomes = Outcomes(folder / "outcomes.jsonl")
    tried = [m for m in listed if m["name"] not in outcomes.known or (args.again and _unexplained(m, outcomes.known))]
    outcomes.run(tried, tests, args.workers, args.seconds, args.again or ENOUGH)
    return _report(args, listed, outcomes.known)


def _covering_tests() -> dict[str, Any]:
    """`covering_tests` in a process of its own: it imports rcexplainer, which mutants must import changed."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(covering_tests).result()


def _unexplained(mutant: dict[str, Any], known: dict[str, str]) -> bool:
    """Whether a mutant has survived, and there is no reason for it."""
    return known[mutant["name"]] in ALIVE and reason_of(mutant, reasons()) is None


def digest_of(*folders: str) -> str:
    """A digest of the Python files of folders.

    Args:
        *folders: Relative to the repository.
    """
    digest = hashlib.sha256()
    for file in sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def listed_mutants(core: int | None, method: int, seed: int, since: str | None = None) -> list[dict[str, Any]]:
    """All mutants of core/ (or a sample) and a seeded sample of method/'s, each with its changed source.

    Args:
        core: Number of mutants of core/; None takes all.
        method: Number of mutants of method/.
        seed: Random seed of the samples.
        since: Only of lines that are not as they were at this commit.

    Returns:
        One document per mutant.
    """
    from mutation_sites import mutants, source

    found = []
    for package, number in ((CORE, core), (METHOD, method)):
        of_package = [
            mutant
            for file in sorted((ROOT / package).rglob("*.py"))
            for lines in [changed_lines(file, since)]
            for mutant in mutants(file, ROOT)
            if lines is None or mutant.line in lines
        ]
        print(package, len(of_package), "mutants")
        if number is not None and number < len(of_package):
            of_package = random.Random(seed).sample(of_package, number)
        found += of_package
    code = {file: (ROOT / file).read_text(encoding="utf-8") for file in {mutant.file for mutant in found}}
    return [
        {**vars(m), "name": m.name, "source": source(code[m.file], m.operator, m.occurrence)}
        for m in sorted(found, key=lambda m: (m.file, m.line))
    ]


def changed_lines(file: Path, since: str | None) -> set[int] | None:
    """The lines of a file that are not as they were at a commit; None where there is nothing to compare with.

    Args:
        file: The file, in its repository.
        since: The commit.
    """
    if since is None:
        return None
    words = ["git", "diff", "--unified=0", "--no-color", since, "--", str(file)]
    found = subprocess.run(words, cwd=file.parent, check=True, capture_output=True, encoding="utf-8").stdout
    parts = re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", found, re.M)
    return {line for first, many in parts for line in range(int(first), int(first) + int(many or 1))}


def _report(args: argparse.Namespace, listed: Sequence[dict[str, Any]], known: dict[str, str]) -> int:
    """Write `mutants.json`; status 1 when too many survive or a survivor has no reason."""
    from part_record import finish

    all_reasons, rows = reasons(), []
    alive = [m for m in listed if known.get(m["name"]) in ALIVE]
    reason = {m["name"]: reason_of(m, all_reasons) for m in alive}
    for package in (CORE, METHOD):
        names = [m["name"] for m in listed if m["file"].startswith(package)]
        outcomes = Counter(known.get(name, "not tried") for name in names)
        killed = outcomes["killed"] + outcomes["timed out"]
        alike = sum(its.alike for name in names if (its := reason.get(name)))
        run = len(names) - outcomes["not tried"]
        changed = run - alike
        rows.append(
            {
                "package": package,
                "mutants": len(names),
                **outcomes,
                "change nothing": alike,
                SHARE: round(killed / changed, 4) if changed else None,
                PLAIN: round(killed / run, 4) if run else None,
            }
        )
    silent = [name for name, its in reason.items() if its is None]
    for mutant in alive:
        mark = "  NO REASON" if mutant["name"] in silent else ""
        print(f"{known[mutant['name']]}: {mutant['name']}{mark}\n    - {mutant['before']}\n    + {mutant['after']}")
    shares = {row["package"]: row[SHARE] for row in rows}
    few = [
        f"{name}: {share} of the mutants are killed, less than {AIM}"
        for name, share in shares.items()
        if (share or 0) < AIM
    ]
    return finish(
        args.out,
        "mutants-since" if args.since else "mutants",
        script="mutants",
        seed=args.seed,
        sizes={"core": args.core or "all", "method": args.method} | ({"since": args.since} if args.since else {}),
        figures={f"{row['package']}, {share}": row[share] for row in rows for share in (SHARE, PLAIN)}
        | {"survivors without a reason": len(silent)},
        rows=rows,
        failures=[*few, *(f"{name} survives, and survivors.toml has no reason" for name in silent)],
        sources=digest_of(CORE, METHOD),
    )


def _kept(file: Path, made: Any) -> Any:
    """The document of a file, made and written if it is not there."""
    if not file.exists():
        document = made()
        part = file.with_suffix(".part")
        part.write_text(json.dumps(document), encoding="utf-8")
        part.replace(file)
    return json.loads(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
