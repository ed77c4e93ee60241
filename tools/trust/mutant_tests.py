"""Which tests execute which line of the code that is mutated."""

import itertools
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
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
    "tests/test_reprs.py",
    "tests/test_values.py",
)
IMPORTED = ("/test_values", "/test_reprs", "/test_misuse")  # look at what an import makes
PYTEST = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow")
ENOUGH = 5.0  # seconds of tests for one mutant; --again tries survivors with more


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

    A line that runs only when its module is imported belongs to every test that enters the module, and to those that
    look at what an import makes.

    Args:
        mutant: From `listed_mutants`.
        tests: From `covering_tests`.
        seconds: Tests are taken until they add up to this much; at least one is.

    Returns:
        Names of tests.
    """
    lines = tests["lines"].get(mutant["file"], {})
    seen = {tests["names"][number] for number in lines.get(str(mutant["line"]), [])}
    own, took = [f"/test_{Path(mutant['file']).stem}"], tests["seconds"]
    if not seen:
        own += IMPORTED
        seen = {tests["names"][number] for numbers in lines.values() for number in numbers}
        seen |= {name for name in tests["names"] if any(one in name for one in own)}
    names = sorted(seen, key=lambda name: (not any(one in name for one in own), took[name]))
    first = {file: place for place, file in reversed(list(enumerate(name.partition("::")[0] for name in names)))}
    names.sort(key=lambda name: first[name.partition("::")[0]])  # stable: fastest first within a file
    sums = itertools.accumulate((took[name] for name in names), initial=0.0)
    return [name for name, before in zip(names, sums, strict=False) if before < seconds]
