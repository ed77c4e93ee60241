"""The audit fails on what nobody has explained, and on explanations of what is no longer there."""

import importlib.util
import json
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ENTRY = {"test": "B101", "file": "src/a.py", "lines": ["assert x", "assert x"], "reason": "tells the type"}
FOUND = (("B101", "src/a.py", "assert x"), ("B101", "src/a.py", "assert x"))


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("trust_audit", ROOT / "tools" / "trust" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["trust_audit"] = module
    spec.loader.exec_module(module)
    return module


def test_what_is_explained_line_by_line_passes(audit: Any) -> None:
    assert audit.problems(audit.Audit("bandit", FOUND, 1), [ENTRY]) == []


@pytest.mark.parametrize(
    ("found", "entries", "said"),
    [
        (FOUND, [], "not explained: B101, src/a.py, assert x"),
        ((*FOUND, FOUND[0]), [ENTRY], "not explained: B101, src/a.py, assert x"),
        ((*FOUND, ("B307", "src/a.py", "eval(x)")), [ENTRY], "not explained: B307, src/a.py, eval(x)"),
        (FOUND[:1], [ENTRY], "explained, but not found: B101, src/a.py, assert x"),
        ((), [ENTRY], "explained, but not found"),
        (FOUND, [{**ENTRY, "reason": ""}], "an explanation gives no reason"),
    ],
)
def test_what_does_not_match_fails(audit: Any, found: Any, entries: Any, said: str) -> None:
    wrong = audit.problems(audit.Audit("bandit", found, 1), entries)
    assert wrong
    assert all(said in one for one in wrong)


def test_a_service_that_was_not_asked_is_no_answer(audit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Done:
        stdout, stderr = "", "Traceback\nrequests.exceptions.ConnectionError: no route"

    monkeypatch.setattr(audit, "_run", lambda *words: Done)
    found = audit.advisories("osv")
    assert (found.asked, found.findings) == (0, ())
    assert found.notes == ("osv could not be asked: requests.exceptions.ConnectionError",)
    known = {"id": "GHSA-1", "package": "a", "version": "1", "reason": "not used"}
    assert audit.problems(found, [known]) == []  # nobody knows whether it still holds
    Done.stdout = json.dumps(
        {
            "dependencies": [
                {"name": "a", "version": "1", "vulns": [{"id": "GHSA-1"}]},
                {"name": "b", "skip_reason": "not found"},
            ]
        }
    )
    found = audit.advisories("pypi")
    assert (found.asked, found.findings) == (1, (("GHSA-1", "a", "1"),))
    assert found.notes == ("pypi had no answer about 1 of 2 packages",)
    assert audit.problems(found, [known]) == []
    assert audit.problems(found, []) == ["advisories: not explained: GHSA-1, a, 1"]


def test_a_tool_that_is_not_installed_is_named_with_the_way_to_install_it(audit: Any, monkeypatch: Any) -> None:
    class Done:
        stdout, stderr = "", "/home/me/venv/bin/python: No module named pip_audit\n"

    monkeypatch.setattr(audit, "_run", lambda *words: Done)
    (note,) = audit.advisories("osv").notes
    install = 'is not installed: python -m pip install -c constraints.txt -e ".[trust]"'
    assert note == f"osv could not be asked: the module pip_audit {install}"
    Done.stderr = "/home/me/venv/bin/python: No module named bandit\n"
    with pytest.raises(SystemExit, match="the sources could not be read: the module bandit is not installed: python"):
        audit.bandit()


def test_what_one_service_knows_is_found_also_where_another_answers(audit: Any) -> None:
    silent, knows = audit.Audit("advisories", (), 2), audit.Audit("advisories", (("GHSA-1", "a", "1"),), 2)
    for answers in ([silent, knows], [knows, silent], [knows, knows]):
        found = audit.together(answers)
        assert (found.findings, found.asked) == ((("GHSA-1", "a", "1"),), 2)
        assert audit.problems(found, []) == ["advisories: not explained: GHSA-1, a, 1"]


def test_every_explanation_names_a_line_of_the_sources(audit: Any) -> None:
    explained = tomllib.loads(audit.EXPLAINED.read_text(encoding="utf-8"))
    assert len(explained["bandit"]) > 20
    for entry in explained["bandit"]:
        assert len(entry["reason"]) > 20
        lines = [line.strip() for line in (ROOT / entry["file"]).read_text(encoding="utf-8").splitlines()]
        for line in entry["lines"]:
            assert lines.count(line) >= entry["lines"].count(line), f"{entry['file']}: {line}"


def test_the_kept_audit_has_nothing_unexplained() -> None:
    kept = json.loads((ROOT / "docs" / "trust" / "audit.json").read_text(encoding="utf-8"))
    assert kept["figures"]["unexplained"] == 0
    assert kept["figures"]["findings"] == kept["figures"]["explained"] == len(kept["rows"]) > 0
    assert all(row["reason"] for row in kept["rows"])


@pytest.mark.slow
def test_bandit_finds_nothing_unexplained(audit: Any) -> None:
    pytest.importorskip("bandit", reason="bandit is not installed (extra trust)")
    explained = tomllib.loads(audit.EXPLAINED.read_text(encoding="utf-8"))
    found = audit.bandit()
    assert found.asked > 300
    assert audit.problems(found, explained["bandit"]) == []
