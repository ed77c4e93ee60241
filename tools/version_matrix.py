"""The tests with the oldest supported, the pinned and the newest packages, each in an environment of its own.

    make versions
    python tools/version_matrix.py --only oldest --tests tests/core tests/method
    python tools/version_matrix.py --torch-index URL          # an index of CPU builds, where pip does not know one

oldest      every requirement of pyproject.toml at its lower bound
pinned      constraints.txt
newest      what the index offers today

Environments are made under OUT and used again; so is the result of one that was finished at the same commit. Delete
OUT to start over. What cannot be installed is said, and is no failure; a failed test is one.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from trust.source_digest import source_digest

ROOT = Path(__file__).parent.parent
NAMES = ("oldest", "pinned", "newest")
SHOWN = ("torch", "torch-geometric", "numpy", "networkx", "safetensors", "rdkit", "pyarrow", "ray", "fastapi")
COMPANIONS = ("pyparsing<3.3",)  # matplotlib 3.8 calls what later ones warn of, and a warning fails a test
NOT_NEEDED = ("ruff", "build", "twine", "zizmor")  # they look at the source, whatever is installed
HOURS = 3  # after which the tests of one environment are given up


def main() -> int:
    """Run what was asked for; 1 if a test failed."""
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = [kept_or_run(name, args) for name in args.only]
    newest = newest_of_index("torch")
    notes = [f"{row['environment']} could not be installed: {row['not installed']}" for row in rows if not_there(row)]
    installed = [
        row["versions"]["torch"].partition("+")[0]
        for row in rows
        if row["environment"] == "newest" and not not_there(row)
    ]
    if installed and newest and installed[0] != newest:
        notes.append(f"the index offers torch {newest}; the newest environment had {installed[0]}")
    document = {
        "part": "versions",
        "command": " ".join(["python", "tools/version_matrix.py", *sys.argv[1:]]),
        "seed": 0,
        "version": version(),
        "commit": commit(),
        "sources": source_digest(),
        "sizes": {"tests": args.tests or ["tests"], "marked": "not slow"},
        "figures": {row["environment"]: row.get("tests", "not installed") for row in rows},
        "rows": rows,
        "notes": notes,
    }
    (args.out / "versions.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    show(rows, notes)
    return int(any(row.get("failed") for row in rows))


def arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "versions")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="environments")
    parser.add_argument("--tests", nargs="+", default=[], help="files or folders instead of the whole suite")
    parser.add_argument("--torch-index", help="another index, which has CPU builds of torch")
    parser.add_argument("--newest-torch", help="version of torch in the newest environment, if not the index's newest")
    parser.add_argument("--jobs", type=int, default=2, help="processes of pytest")
    return parser.parse_args()


def kept_or_run(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """The row of an environment: the one that is kept if it belongs to these tests and this commit."""
    asked = {"environment": name, "commit": commit(), "asked": args.tests}
    kept = args.out / f"{name}.json"
    if kept.exists():
        row = json.loads(kept.read_text(encoding="utf-8"))
        if {key: row.get(key) for key in asked} == asked:
            return row
    python = environment(name, args.out / name, args.newest_torch)
    failure = install(python, name, args)
    row = asked | ({"not installed": failure} if failure else {"versions": versions(python), **run(python, name, args)})
    kept.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    return row


def environment(name: str, folder: Path, newest_torch: str | None) -> Path:
    """The interpreter of an environment, which is made if it is not there; its constraints are written beside it."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    pins = {
        "oldest": [*lower_bounds(), *COMPANIONS],
        "pinned": (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines(),
        "newest": [f"torch=={newest_torch}"] if newest_torch else [],
    }[name]
    constraints(folder).write_text("\n".join(pins) + "\n", encoding="utf-8")
    return python


def constraints(folder: Path) -> Path:
    """The file of constraints of an environment."""
    return folder.with_name(f"{folder.name}-constraints.txt")


def lower_bounds() -> list[str]:
    """`name==lowest` of all requirements."""
    found = {}
    for line in requirements():
        if bound := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)", line):
            found[bound[1]] = bound[2]
    return [f"{name}=={lowest}" for name, lowest in found.items() if name not in NOT_NEEDED]


def requirements() -> Iterator[str]:
    """What the library and its tests need."""
    yield from project()["dependencies"]
    extras = project()["optional-dependencies"]
    for line in (
        *extras["dev"],
        *(one for name in ("chem", "figures", "app", "tables", "ray") for one in extras[name]),
    ):
        if not line.startswith(NOT_NEEDED):
            yield line


def install(python: Path, name: str, args: argparse.Namespace) -> str:
    """Install all packages and this repository; what went wrong, or nothing. A torch that is there stays."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(constraints(args.out / name))]
    index = ["--extra-index-url", args.torch_index] if args.torch_index else []
    eager = ["--upgrade", "--upgrade-strategy", "eager"] if name == "newest" else []
    there = subprocess.run([str(python), "-c", "import torch"], capture_output=True).returncode == 0
    steps = [] if there else [[*pip, *index, "torch"]]
    steps.append([*pip, *eager, *sorted(line for line in set(requirements()) if not line.startswith("torch>"))])
    steps.append([*pip, "--no-deps", "--editable", str(ROOT)])
    print(f"{name}: install", flush=True)
    for step in steps:
        done = subprocess.run(step, cwd=args.out, capture_output=True, encoding="utf-8")
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return (lines or done.stderr.splitlines() or ["pip failed"])[0]
    return ""


def run(python: Path, name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Run the tests; how many passed, and which failed."""
    report = args.out.resolve() / f"{name}-junit.xml"
    report.unlink(missing_ok=True)
    words = [str(python), "-m", "pytest", "-q", "-m", "not slow", "-n", str(args.jobs), "--dist", "loadfile"]
    words += ["-p", "no:cacheprovider", f"--junitxml={report}", *args.tests]
    print(f"{name}: {' '.join(words[1:])}", flush=True)
    with (args.out / f"{name}.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(words, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, timeout=HOURS * 3600)
    if not report.exists():
        return {"tests": f"pytest ended with {done.returncode}, see {name}.log", "failed": ["all"]}
    suite = ElementTree.parse(report).getroot()[0]
    count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
    bad = [
        f"{case.get('classname')}::{case.get('name')}"
        for case in suite.iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]
    passed = count["tests"] - count["failures"] - count["errors"] - count["skipped"]
    said = f"{passed} passed, {len(bad)} failed, {count['skipped']} skipped"
    return {"tests": said, "seconds": round(float(suite.get("time", 0))), "failed": bad}


def versions(python: Path) -> dict[str, str]:
    """Versions of the interpreter and of the packages that matter."""
    code = (
        "import json, platform, sys; from importlib.metadata import version; "
        "print(json.dumps({'python': platform.python_version()} | {name: version(name) for name in sys.argv[1:]}))"
    )
    return json.loads(subprocess.run([str(python), "-c", code, *SHOWN], capture_output=True, check=True).stdout)


def newest_of_index(name: str) -> str:
    """The newest version that pip finds; nothing if it cannot say."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", name], capture_output=True, text=True, encoding="utf-8"
    )
    found = re.match(r"\S+ \(([^)]+)\)", done.stdout)
    return found[1] if found else ""


def commit() -> str:
    """The commit that is checked out."""
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, encoding="utf-8").stdout.strip()


def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version() -> str:
    """The version of this source."""
    text = (ROOT / "src" / "rcexplainer" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"', text, re.M)[0]


def not_there(row: dict[str, Any]) -> bool:
    """Whether the environment could not be made."""
    return "not installed" in row


def show(rows: list[dict[str, Any]], notes: list[str]) -> None:
    """Print what was found."""
    for row in rows:
        have = " ".join(f"{name} {number}" for name, number in row.get("versions", {}).items())
        print(f"{row['environment']:8} {row.get('tests', 'not installed')}   {have}")
        for test in row.get("failed", []):
            print(f"         FAILED {test}")
    for note in notes:
        print(f"note: {note}")


if __name__ == "__main__":
    sys.exit(main())
