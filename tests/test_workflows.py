"""What a job of a workflow calls, it has installed before."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
JOB = re.compile(r"^  ([\w-]+):\n((?:    .*\n|\n)+)", re.M)
RUN = re.compile(r"^ +(?:- )?run: (?!\|)(.+)$", re.M)
ALWAYS = {"python", "pip", "venv"}
BROUGHT = {"mkdocs": "mkdocs-material"}  # commands of packages that come with a named one


def jobs() -> dict[str, str]:
    """The text of every job, by workflow and name."""
    found = {}
    for path in WORKFLOWS:
        _, _, text = path.read_text(encoding="utf-8").partition("\njobs:\n")
        found |= {f"{path.stem} {name}": body for name, body in JOB.findall(text)}
    return found


def installed(lines: list[str]) -> set[str]:
    """The packages that the lines of a job install by name, with the extras of this one."""
    found = set()
    for line in lines:
        words = line.partition("pip install ")[2].replace('"', "").split()
        words = [word for word in words if not word.startswith("-") and word != "constraints.txt"]
        for word in words:
            extras = re.fullmatch(r"\.\[(.+)\]", word)
            own = (
                [one for name in extras[1].split(",") for one in PROJECT["optional-dependencies"][name]]
                if extras
                else []
            )
            found |= {re.match(r"[\w-]+", one)[0] for one in own} if extras else {word}
            found |= {"rcexplainer"} if word.startswith(".") else set()
    return found


def called(lines: list[str]) -> set[str]:
    """The commands and modules that the lines of a job call, and those that our tools start with the same Python."""
    found = set()
    for line in lines:
        words = line.split()
        found.add(words[2] if words[:2] == ["python", "-m"] else words[0])
        if words[0] == "python" and words[1].endswith(".py"):
            source = (ROOT / words[1]).read_text(encoding="utf-8")
            found |= set(re.findall(r'(?:sys\.executable, |_run\()"-m", "(\w+)"', source))
            found |= {"rcexplainer"} if re.search(r"^from rcexplainer", source, re.M) else set()
    return {name.replace("_", "-") for name in found}


@pytest.mark.parametrize("job", jobs())
def test_a_job_installs_what_it_calls(job) -> None:
    lines = RUN.findall(jobs()[job])
    there = installed(lines) | ALWAYS
    assert {name for name in called(lines) if BROUGHT.get(name, name) not in there} == set()
    if any("-n 2" in line for line in lines):
        assert "pytest-xdist" in there


def test_the_jobs_are_found() -> None:
    assert set(jobs()) == {
        *(f"checks {name}" for name in ("lint", "test", "docs", "audit")),
        *("release check", "release publish", "versions versions"),
    }
    lines = {name: RUN.findall(text) for name, text in jobs().items()}
    assert {"ruff", "mypy", "zizmor"} <= called(lines["checks lint"])
    assert {"bandit", "pip-audit", "rcexplainer"} <= called(lines["checks audit"])
    assert {"build", "twine"} <= called(lines["release check"])
    assert "mkdocs" in called(lines["checks docs"])


def test_what_is_not_installed_is_noticed() -> None:
    lines = ['python -m pip install --constraint constraints.txt --editable ".[dev]"', "zizmor --offline .github"]
    assert "zizmor" in called(lines) - installed(lines)
    assert "ruff" in installed(lines)


def test_every_tool_of_the_extras_is_pinned() -> None:
    """A tool that is not pinned may be another one tomorrow."""
    pinned = set(re.findall(r"^([\w-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    extras = {name: lines for name, lines in PROJECT["optional-dependencies"].items() if name != "all"}
    named = {re.match(r"[\w-]+", line)[0] for lines in extras.values() for line in lines}
    assert named - pinned == set()
