"""Mutants tried: a forked process each, in which the import system gives the changed source."""

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutant_tests import CORE, METHOD, PYTEST, ROOT, its_tests

EARLY = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # hypothesis is imported before pytest can rewrite it
# A mutant may compute for PATIENCE times its tests' usual time, and SLACK seconds: CPU time, as a busy machine must not
# look like an endless loop. One that only waits is stopped when WAIT times as much has passed on the clock.
PATIENCE, SLACK, WAIT = 5.0, 10.0, 10.0


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
        self, mutants: Sequence[dict[str, Any]], tests: dict[str, Any], workers: int, seconds: float, enough: float
    ) -> None:
        """Try mutants.

        Args:
            mutants: Those to be tried.
            tests: From `covering_tests`.
            workers: Processes at a time.
            seconds: No new mutant is begun after this long.
            enough: Seconds of tests for each.
        """
        _warm()
        _must_survive(mutants, tests)
        left = list(mutants)
        random.Random(0).shuffle(left)  # what is known after any time is a fair sample
        todo = iter(left)
        end, running = time.monotonic() + seconds, dict[int, Child]()
        while True:
            while len(running) < workers and time.monotonic() < end and (mutant := next(todo, None)) is not None:
                if names := its_tests(mutant, tests, enough):
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
    import hypothesis
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import pytest
    import torch
    import torch_geometric.nn  # noqa: F401

    torch.set_num_threads(1)
    phases = (
        hypothesis.Phase.explicit,
        hypothesis.Phase.generate,
    )  # no one reads the smallest failure
    hypothesis.settings.register_profile("mutants", derandomize=True, phases=phases)
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the tests need none, and to look for them takes long
    pytest.main(["--collect-only", "tests/conftest.py", *PYTEST, *EARLY])
    assert not any(name.partition(".")[0] == "rcexplainer" for name in sys.modules)
    gc.freeze()  # pytest collects garbage at its end, which would go through all that was imported here


def _must_survive(mutants: Sequence[dict[str, Any]], tests: dict[str, Any]) -> None:
    """Try files that are not changed: where they are "killed", so is everything, and nothing is learnt."""
    for package in (CORE, METHOD):
        some = [m for m in mutants if m["file"].startswith(package) and its_tests(m, tests)]
        if not some:
            continue
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
