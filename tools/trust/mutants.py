"""Mutation testing: how many small changes of the method's own code does the suite notice?

    python tools/trust/mutants.py --out build/trust              # all of core/, 400 seeded ones of method/
    python tools/trust/mutants.py --out build/trust --list-only  # list them and find their tests, run none

Three steps, each kept in the folder and not done twice: list the mutants (cosmic-ray's operators, `mutation_sites.py`);
run the tests once under coverage to learn which of them execute which line; run, for each mutant, the tests that
execute its line, fastest first, until one fails. The third step needs pytest alone, so that it can run on a machine
where cosmic-ray and coverage are absent. Each mutant lives in a forked process of its own, in which the import system
gives the changed source: no file is ever written. Survivors stand in `survivors.toml` beside this file, each with the
reason why no test should notice it; one that is not there counts against us.
"""

import argparse
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import math
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
CORE, METHOD = "src/rcexplainer/core", "src/rcexplainer/method"
TESTS = (
    "tests/core",
    "tests/method",
    "tests/fit",
    "tests/tasks",
    "tests/metrics",
    "tests/saving",
    "tests/hostile",
    "tests/faults",
    "tests/baselines",
    "tests/test_misuse.py",
    "tests/test_explainer.py",
    "tests/test_explanation.py",
    "tests/test_region_summary.py",
)
PYTEST = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow")
EARLY = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # hypothesis is imported before pytest can rewrite it
# A mutant may compute for PATIENCE times its tests' usual time, and SLACK seconds: CPU time, as a busy machine must not
# look like an endless loop. One that only waits is stopped when WAIT times as much has passed on the clock.
PATIENCE, SLACK, WAIT = 5.0, 40.0, 10.0
ENOUGH = 20.0  # seconds of tests for one mutant; survivors are tried with all of them by --again
AIM = 0.9
ALIVE = ("survived", "not executed", "no test")
SHARE = "killed of those that change behaviour"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--method", type=int, default=400, help="seeded mutants of method/")
    parser.add_argument("--core", type=int, help="seeded mutants of core/ (default: all)")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this long; start again to go on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list-only", action="store_true")
    parser.add_argument("--again", action="store_true", help="try the survivors of an earlier run once more")
    args = parser.parse_args()
    os.chdir(ROOT)
    folder = args.out / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    listed = _kept(folder / "listed.json", lambda: listed_mutants(args.core, args.method, args.seed))
    tests = _kept(folder / "tests.json", covering_tests)
    if args.list_only:
        print(
            len(listed), "mutants;", sum(not its_tests(mutant, tests) for mutant in listed), "of lines no test executes"
        )
        return 0
    outcomes = Outcomes(folder / "outcomes.jsonl")
    outcomes.run(listed, tests, args.workers, args.seconds, args.again)
    return _report(args, listed, outcomes.known)


def listed_mutants(core: int | None, method: int, seed: int) -> list[dict[str, Any]]:
    """All mutants of core/ (or a sample) and a seeded sample of method/'s, each with its changed source.

    Args:
        core: Number of mutants of core/; None takes all.
        method: Number of mutants of method/.
        seed: Random seed of the samples.

    Returns:
        One document per mutant.
    """
    from mutation_sites import mutants, source

    found = []
    for package, number in ((CORE, core), (METHOD, method)):
        of_package = [mutant for file in sorted((ROOT / package).rglob("*.py")) for mutant in mutants(file, ROOT)]
        print(package, len(of_package), "mutants")
        if number is not None and number < len(of_package):
            of_package = random.Random(seed).sample(of_package, number)
        found += of_package
    code = {file: (ROOT / file).read_text(encoding="utf-8") for file in {mutant.file for mutant in found}}
    return [
        {**vars(m), "name": m.name, "source": source(code[m.file], m.operator, m.occurrence)}
        for m in sorted(found, key=lambda m: (m.file, m.line))
    ]


def covering_tests() -> dict[str, Any]:
    """Seconds of each test, and per file and line the tests that execute it.

    Returns:
        `{"seconds": {test: s}, "lines": {file: {line: [test number]}}, "names": [test]}`.
    """
    import coverage
    import pytest

    cover = coverage.Coverage(source=[str(ROOT / CORE), str(ROOT / METHOD)], data_file=None)
    watch = _Contexts(cover)
    cover.start()
    status = pytest.main([*(test for test in TESTS if Path(test).exists()), *PYTEST], plugins=[watch])
    cover.stop()
    if status != 0:
        raise SystemExit("the suite fails without any mutant: mend it first")
    names = sorted(watch.seconds)
    number = {name: i for i, name in enumerate(names)}
    data = cover.get_data()
    lines = {}
    for file in data.measured_files():
        contexts = data.contexts_by_lineno(file)
        lines[str(Path(file).relative_to(ROOT))] = {
            str(line): sorted(number[test] for test in seen if test in number) for line, seen in contexts.items()
        }
    return {"names": names, "seconds": watch.seconds, "lines": lines}


class _Contexts:
    """A pytest plugin that tells coverage which test is running, and keeps how long each took."""

    def __init__(self, cover: Any) -> None:
        self.cover = cover
        self.seconds: dict[str, float] = {}

    def pytest_runtest_setup(self, item: Any) -> None:
        self.cover.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration


def its_tests(mutant: dict[str, Any], tests: dict[str, Any], seconds: float = ENOUGH) -> list[str]:
    """The tests that execute a mutant's line: those named after its module first, then the fastest.

    A line that runs only when its module is imported belongs to every test that enters the module.

    Args:
        mutant: From `listed_mutants`.
        tests: From `covering_tests`.
        seconds: Tests are taken until they add up to this much; at least one is.

    Returns:
        Names of tests.
    """
    lines = tests["lines"].get(mutant["file"], {})
    seen = lines.get(str(mutant["line"]), [])
    if not seen and str(mutant["line"]) in lines:
        seen = {test for numbers in lines.values() for test in numbers}
    own, took = f"/test_{Path(mutant['file']).stem}", tests["seconds"]
    names = sorted((tests["names"][number] for number in seen), key=lambda name: (own not in name, took[name]))
    first = {file: place for place, file in reversed(list(enumerate(name.partition("::")[0] for name in names)))}
    names.sort(key=lambda name: first[name.partition("::")[0]])  # stable: fastest first within a file
    sums = itertools.accumulate((took[name] for name in names), initial=0.0)
    return [name for name, before in zip(names, sums, strict=False) if before < seconds]


@dataclass(frozen=True)
class Child:
    """A process in which one mutant is tried."""

    mutant: dict[str, Any]
    process: int
    started: float
    limit: float


class Outcomes:
    """What became of each mutant, a line each in a file that only grows."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self.known: dict[str, str] = {row["name"]: row["outcome"] for row in map(json.loads, lines)}

    def run(
        self, listed: Sequence[dict[str, Any]], tests: dict[str, Any], workers: int, seconds: float, again: bool
    ) -> None:
        """Try the mutants whose outcome is not known.

        Args:
            listed: All mutants.
            tests: From `covering_tests`.
            workers: Processes at a time.
            seconds: No new mutant is begun after this long.
            again: Also those that survived before.
        """
        _warm()
        _must_survive(listed, tests)
        left = [m for m in listed if self.known.get(m["name"]) in ((None, "survived") if again else (None,))]
        random.Random(0).shuffle(left)  # what is known after any time is a fair sample
        todo = iter(left)
        end, running = time.monotonic() + seconds, dict[int, Child]()
        while True:
            while len(running) < workers and time.monotonic() < end and (mutant := next(todo, None)) is not None:
                if names := its_tests(mutant, tests, math.inf if again else ENOUGH):
                    child = _started(mutant, names, sum(tests["seconds"][name] for name in names))
                    running[child.process] = child
                else:
                    self._keep(mutant, "not executed")
            if not running:
                return
            time.sleep(0.01)
            for child, outcome in _ended(running.values()):
                del running[child.process]
                self._keep(child.mutant, outcome)

    def _keep(self, mutant: dict[str, Any], outcome: str) -> None:
        self.known[mutant["name"]] = outcome
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"name": mutant["name"], "outcome": outcome}) + "\n")
        print(f"{len(self.known)} {outcome}: {mutant['name']}", flush=True)


def _warm() -> None:
    """Do once what is slow, so that forked processes need not: import everything but rcexplainer, start pytest."""
    import hypothesis  # noqa: F401
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import pytest
    import torch
    import torch_geometric.nn  # noqa: F401

    torch.set_num_threads(1)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the tests need none, and to look for them takes long
    pytest.main(["--collect-only", "tests/conftest.py", *PYTEST, *EARLY])
    assert not any(name.partition(".")[0] == "rcexplainer" for name in sys.modules)
    gc.freeze()  # pytest collects garbage at its end, which would go through all that was imported here


def _must_survive(listed: Sequence[dict[str, Any]], tests: dict[str, Any]) -> None:
    """Try files that are not changed: where they are "killed", so is everything, and nothing is learnt."""
    for package in (CORE, METHOD):
        some = (m for m in listed if m["file"].startswith(package) and its_tests(m, tests))
        mutant = min(some, key=lambda m: len(its_tests(m, tests)))
        alike = {**mutant, "source": (ROOT / mutant["file"]).read_text(encoding="utf-8")}
        names = its_tests(mutant, tests)
        child = _started(alike, names, sum(tests["seconds"][name] for name in names))
        while not (ended := list(_ended([child]))):
            time.sleep(0.05)
        if ended[0][1] != "survived":
            raise SystemExit(f"{mutant['file']} without any change is {ended[0][1]}: the tests do not run here")


def _started(mutant: dict[str, Any], names: Sequence[str], usual: float) -> Child:
    """Fork a process that tries one mutant."""
    process = os.fork()
    if process:
        return Child(mutant, process, time.monotonic(), WAIT * (SLACK + PATIENCE * usual))
    try:
        os.setsid()
        seconds = int(SLACK + PATIENCE * usual)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        import pytest

        sys.meta_path.insert(0, MutatedModule(mutant["file"], mutant["source"]))
        # File by file: to collect a file is to import it, and most mutants are killed in the first.
        for _, tests in itertools.groupby(names, lambda name: name.partition("::")[0]):
            if status := int(pytest.main([*tests, *PYTEST, *EARLY])):
                os._exit(status)
        os._exit(0)
    except BaseException:  # noqa: BLE001  a mutant that breaks pytest itself was noticed
        os._exit(1)


def _ended(children: Sequence[Child]) -> Iterator[tuple[Child, str]]:
    """The processes that are over, with their outcomes."""
    for child in list(children):
        done, status = os.waitpid(child.process, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            # 0: all tests passed; 5: none was found, which must not look like a killed mutant
            yield child, {0: "survived", 5: "no test", -signal.SIGXCPU: "timed out"}.get(code, "killed")
        elif time.monotonic() - child.started > child.limit:
            os.killpg(child.process, signal.SIGKILL)
            os.waitpid(child.process, 0)
            yield child, "timed out"


class MutatedModule(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Gives one module from changed source; all others are found as ever."""

    def __init__(self, file: str, code: str) -> None:
        self.path = str(ROOT / file)
        self.code = code.encode()
        parts = Path(file).relative_to("src").with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str) -> bytes:
        return self.code

    def path_stats(self, path: str) -> dict[str, Any]:
        raise OSError("changed source has no file whose bytecode could be kept")


def _report(args: argparse.Namespace, listed: Sequence[dict[str, Any]], known: dict[str, str]) -> int:
    """Write `mutants.json`; status 1 when too many survive or a survivor has no reason."""
    from part_record import finish

    reasons = {row["mutant"]: row for row in _reasons()}
    rows = []
    for package in (CORE, METHOD):
        names = [m["name"] for m in listed if m["file"].startswith(package)]
        outcomes = Counter(known.get(name, "not tried") for name in names)
        killed = outcomes["killed"] + outcomes["timed out"]
        alike = sum(known.get(name) in ALIVE and reasons.get(name, {}).get("alike", False) for name in names)
        changed = len(names) - outcomes["not tried"] - alike
        rows.append(
            {
                "package": package,
                "mutants": len(names),
                **outcomes,
                "change nothing": alike,
                SHARE: round(killed / changed, 4) if changed else None,
            }
        )
    alive = [m for m in listed if known.get(m["name"]) in ALIVE]
    silent = [m["name"] for m in alive if m["name"] not in reasons]
    for mutant in alive:
        mark = "" if mutant["name"] in reasons else "  NO REASON"
        print(f"{known[mutant['name']]}: {mutant['name']}{mark}\n    - {mutant['before']}\n    + {mutant['after']}")
    shares = {row["package"]: row[SHARE] for row in rows}
    few = [
        f"{name}: {share} of the mutants are killed, less than {AIM}"
        for name, share in shares.items()
        if (share or 0) < AIM
    ]
    return finish(
        args.out,
        "mutants",
        seed=args.seed,
        sizes={"core": args.core or "all", "method": args.method},
        figures={f"{name}, killed": share for name, share in shares.items()}
        | {"survivors without a reason": len(silent)},
        rows=rows,
        failures=[*few, *(f"{name} survives, and survivors.toml has no reason" for name in silent)],
    )


def _reasons() -> list[dict[str, Any]]:
    """Survivors and why no test should notice them (`alike`: the change has no effect that a user could see)."""
    file = Path(__file__).with_name("survivors.toml")
    return tomllib.loads(file.read_text(encoding="utf-8")).get("survivor", []) if file.exists() else []


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
