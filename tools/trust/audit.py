"""Two audits: bandit reads the sources, pip-audit asks for known vulnerabilities of the pinned packages.

    python tools/trust/audit.py --out build/trust                      writes build/trust/audit.json
    python tools/trust/audit.py --out build/trust --require-advisories      fails where nobody could be asked

Every finding must be explained in `explained.toml` beside this file, line by line; an explanation whose line is no
longer found fails, too. Services of advisories may not be reachable: then the notes say which packages nobody was asked
about. It takes seconds and always runs anew: what an earlier run found says nothing about today's sources.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rcexplainer.saving.documents import write_document

ROOT = Path(__file__).parents[2]
EXPLAINED = Path(__file__).with_name("explained.toml")
SERVICES = ("pypi", "osv")
INSTALL = 'python -m pip install -c constraints.txt -e ".[trust]"'
PATIENCE = 15  # seconds for an answer of a service
Finding = tuple[str, str, str]  # bandit: test, file, line of source; pip-audit: advisory, package, version


@dataclass(frozen=True)
class Audit:
    """What one of the two tools found.

    Attributes:
        tool: bandit or advisories: the table of `explained.toml`.
        findings: What it found.
        asked: What it looked at: files or packages.
        notes: What it could not look at, and why.
    """

    tool: str
    findings: tuple[Finding, ...]
    asked: int
    notes: tuple[str, ...] = field(default=())


def bandit(folder: str = "src") -> Audit:
    """Let bandit read the sources."""
    done = _run("-m", "bandit", "--recursive", "--quiet", "--format", "json", folder)
    if missing := not_installed(done.stderr):
        raise SystemExit(f"the sources could not be read: {missing}")
    report = json.loads(done.stdout)
    notes = [f"bandit could not read {one['filename']}: {one['reason']}" for one in report["errors"]]
    found = [
        (one["test_id"], Path(one["filename"]).as_posix(), _line(ROOT / one["filename"], one["line_number"]))
        for one in report["results"]
    ]
    return Audit("bandit", tuple(sorted(found)), len(report["metrics"]) - 1, tuple(notes))


def advisories(service: str) -> Audit:
    """Ask a service about every package of `constraints.txt`."""
    words = ("--requirement", "constraints.txt", "--no-deps", "--disable-pip", "--format", "json")
    done = _run("-m", "pip_audit", *words, "--vulnerability-service", service, "--timeout", str(PATIENCE))
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        why = not_installed(last) or last.partition(":")[0]
        return Audit("advisories", (), 0, (f"{service} could not be asked: {why}",))
    known = [one for one in packages if "skip_reason" not in one]
    found = [(bug["id"], one["name"], one["version"]) for one in known for bug in one["vulns"]]
    unknown = len(packages) - len(known)
    notes = (f"{service} had no answer about {unknown} of {len(packages)} packages",) if unknown else ()
    return Audit("advisories", tuple(sorted(found)), len(known), notes)


def not_installed(said: str) -> str:
    """Which module the interpreter did not find, and how to install it; "" if it missed none.

    Args:
        said: What it wrote to standard error.
    """
    found = re.search(r"No module named '?(\w+)", said)
    return "" if found is None else f"the module {found[1]} is not installed: {INSTALL}"


def together(answers: Sequence[Audit]) -> Audit:
    """What any of the services found: one of them may know of a vulnerability that another does not."""
    found = sorted({one for answer in answers for one in answer.findings})
    return Audit("advisories", tuple(found), max(answer.asked for answer in answers))


def problems(audit: Audit, explained: Sequence[dict[str, Any]]) -> list[str]:
    """Findings that nobody has explained, and explanations of what is not found.

    Args:
        audit: What a tool found.
        explained: The entries of its table.

    Returns:
        A line for each.
    """
    found, known = Counter(audit.findings), Counter(one for entry in explained for one in explanations(entry))
    told = [f"{audit.tool}: not explained: {', '.join(one)}" for one in (found - known).elements()]
    if audit.tool == "bandit" or audit.asked:  # of a service that was not asked nothing is known
        told += [f"{audit.tool}: explained, but not found: {', '.join(one)}" for one in (known - found).elements()]
    told += [f"{audit.tool}: an explanation gives no reason: {entry}" for entry in explained if not entry.get("reason")]
    return told


def explanations(entry: dict[str, Any]) -> list[Finding]:
    """The findings that an entry of `explained.toml` is about."""
    if "test" in entry:
        return [(entry["test"], entry["file"], line) for line in entry["lines"]]
    return [(entry["id"], entry["package"], entry["version"])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both and write what they found.

    Returns:
        1 if a finding is not explained or an explanation is not found.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("build/trust"), help="folder of the results")
    parser.add_argument("--seed", type=int, default=0, help="not used: nothing is drawn")
    parser.add_argument("--require-advisories", action="store_true", help="fail if a package was not asked about")
    given = parser.parse_args(arguments)
    from part_record import made_from  # beside this script

    explained = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))
    read, answers = bandit(), [advisories(service) for service in SERVICES]
    asked = together(answers)
    packages = sum(bool(line.strip()) and not line.startswith("#") for line in _constraints())
    wrong = [*problems(read, explained.get("bandit", [])), *problems(asked, explained.get("advisories", []))]
    if given.require_advisories and asked.asked < packages:
        wrong.append(f"advisories: only {asked.asked} of {packages} packages were asked about")
    wrong += [f"bandit: {note}" for note in read.notes]  # what it could not read, nobody has looked at
    notes = [*read.notes, *(note for one in answers for note in one.notes)]
    if not asked.asked:
        notes.append("no service of advisories could be asked in this run: --require-advisories fails where that is so")
    figures = {
        "files": read.asked,
        "findings": len(read.findings),
        "explained": len(read.findings) - sum("not explained" in one for one in wrong if one.startswith("bandit")),
        "packages": packages,
        "packages_asked": asked.asked,
        "advisories": len(asked.findings) if asked.asked else "not asked",
        "unexplained": len(wrong),
    }
    document = {
        "part": "audit",
        "command": "python tools/trust/audit.py --out build/trust",
        "seed": given.seed,
        **made_from(),
        "sizes": {},
        "figures": figures,
        "rows": [
            {
                "tool": audit.tool,
                "finding": kind,
                "place": place,
                "text": text,
                "reason": _reason(audit, one, explained),
            }
            for audit in (read, asked)
            for one in audit.findings
            for kind, place, text in (one,)
        ],
        "notes": notes,
    }
    path = write_document(given.out / "audit.json", document)
    for line in (*(f"{name}: {value}" for name, value in figures.items()), *notes, *wrong, f"written to {path}"):
        print(line)
    return int(bool(wrong))


def _reason(audit: Audit, one: Finding, explained: dict[str, Any]) -> str:
    """Why a finding is no fault; "" if nobody has said so."""
    entries = explained.get(audit.tool, [])
    return next((str(entry.get("reason", "")) for entry in entries if one in explanations(entry)), "")


def _constraints() -> list[str]:
    return (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def _run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)


def _line(path: Path, number: int) -> str:
    return path.read_text(encoding="utf-8").splitlines()[number - 1].strip()


if __name__ == "__main__":
    sys.exit(main())
