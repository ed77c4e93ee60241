"""Results of an earlier version: found by their request, shown as what they are, and never taken for done."""

import re
from dataclasses import replace

import pytest

from rcexplainer.paper import job_inputs, record, store
from rcexplainer.paper.entries import PAPER_ENTRIES, plan, tables
from rcexplainer.paper.job import Job
from rcexplainer.paper.markdown_pages import write_pages
from rcexplainer.paper.record import Record, as_of, newest
from rcexplainer.paper.report import write_report
from rcexplainer.paper.results_folder import open_folder, read_folder
from rcexplainer.paper.runner import run_jobs
from rcexplainer.paper.store import Store
from rcexplainer.paper.table import Column, Table, TableCell, dated
from rcexplainer.paper.variants import variants
from tests.paper.fakes import result_of, results_of
from tests.paper.test_packs import RESULTS

OLD = {"versions": {"rcexplainer": "0.1.0"}, "machine": "a machine", "commit": "abc1234"}


def kept(version: str, number: int = 0, **inputs) -> Record:
    about = {"versions": {"rcexplainer": version}}
    return Record("toy", "toy", {"number": number, **inputs}, f"{number}{version}", 1.0, {"twice": 2 * number}, about)


def test_a_request_is_all_but_how_it_is_carried_out() -> None:
    one = Job("toy", {"number": 1, "settings": {"a": 1}, "fields": {"x": 1}, "network": "n", "version": 1}, "toy")
    two = replace(one, inputs=one.inputs | {"fields": {}, "network": "m", "version": 2})
    assert one.digest != two.digest
    assert one.request == two.request
    assert replace(one, inputs=one.inputs | {"number": 2}).request != one.request
    assert replace(one, inputs=one.inputs | {"settings": {"b": 1}}).request != one.request


def test_the_newest_of_several() -> None:
    ones = [kept("0.2.0"), kept("0.10.1"), kept("0.9.3")]
    assert newest(ones).version == "0.10"
    assert newest([kept("0.1.0", 1), kept("0.1.0", 2)]).result == {"twice": 4}
    assert newest([]) is None
    assert Record("toy", "toy", {}, "d", 1.0, {}, {}).version == "?"


def test_as_of_in_words_and_in_tables() -> None:
    assert as_of([{}, {}]) == ""
    assert as_of([{"as_of": "0.1"}, {"as_of": "0.1"}]) == "0.1"
    assert as_of([{"as_of": "0.1"}, {}]) == "0.1 in part"
    assert as_of([{"as_of": "0.2"}, {"as_of": "0.1"}]) == "0.1, 0.2"
    assert as_of([{"as_of": "0.1, relabelled"}, {"as_of": "0.1"}]) == "0.1, relabelled in part"
    assert as_of([{"as_of": "0.1, relabelled"}, {}]) == "0.1 in part, relabelled in part"
    assert as_of([{"as_of": "0.1, relabelled"}]) == "0.1, relabelled"
    table = Table("t", (Column("method"),), ((TableCell("a"),), (TableCell("b"),)))
    assert dated(table, ["", ""]) == table
    assert dated(table, ["0.1", "0.1"]).caption == "t (as of version 0.1)"
    mixed = dated(table, ["0.1", ""])
    assert mixed.caption == "t"
    assert mixed.to_rows() == [{"method": "a", "as of version": "0.1"}, {"method": "b", "as of version": ""}]


def put(folder: Store, name: str, about: dict) -> None:
    """Results of an entry as if they had been made elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "origin", lambda: about)
        for job, result in results_of(plan(name, "standard")).items():
            folder.put(job, result, 1.0)


@pytest.fixture
def folder(tmp_path) -> Store:
    made = Store(tmp_path)
    made.claim("standard")
    put(made, "case-study", OLD)
    return made


@pytest.mark.parametrize("packed", [False, True])
def test_a_result_of_the_same_request_is_shown_but_not_done(packed: bool, folder: Store, monkeypatch) -> None:
    before = folder.records(plan("case-study", "standard").jobs)
    if packed:
        folder.pack({"case-study": before})
    monkeypatch.setattr(job_inputs, "KIND_VERSIONS", job_inputs.KIND_VERSIONS | {"case": 99, "network": 99})
    planned = plan("case-study", "standard")
    found = open_folder(folder.folder)
    assert folder.records(planned.jobs) == {}
    assert found.done(planned) == []
    assert found.progress(planned) == "0 of 6 jobs are done; 6 results are shown as of version 0.1."
    (table,) = tables(planned, found.results)
    assert table.caption.endswith("(as of version 0.1)")
    assert {one.as_of for one in found.verdicts if one.reached} == {"0.1"}
    # What is kept is as it was: inputs, digests and versions of then.
    assert [one.digest for one in found.records.values()] == [job.digest for job in before]
    assert all(one.about == OLD for one in found.records.values())
    page = write_report(folder.folder).page.read_text("utf-8")
    assert "6 results are shown as of version 0.1." in page
    assert re.search(r"lowest \.970 \([^)]*\) \(as of version 0\.1\)", page)
    front = (folder.folder / "README.md").read_text("utf-8")
    assert "6 results are shown as of version 0.1." in front
    assert "(as of version 0.1)**" in (folder.folder / "headlines.md").read_text("utf-8")


def test_run_again_it_replaces_what_was_there(folder: Store, monkeypatch) -> None:
    old = plan("case-study", "standard").jobs
    folder.pack({"case-study": old})
    monkeypatch.setitem(job_inputs.KIND_VERSIONS, "case", 99)
    planned = plan("case-study", "standard")
    cases = [job for job in planned.jobs if job.kind == "case"]
    run_jobs(cases[:2], folder, lambda job, networks: result_of(job), progress=False)
    folder.pack({"case-study": planned.jobs})
    found = read_folder(folder, "standard")
    assert found.progress(planned) == "5 of 6 jobs are done; 1 result is shown as of version 0.1."
    assert len(folder.records(old)) == 6
    run_jobs(planned.jobs, folder, lambda job, networks: result_of(job), progress=False)
    folder.pack({"case-study": planned.jobs})
    assert read_folder(folder, "standard").progress(planned) == "6 of 6 jobs are done."
    assert [job.kind for job in folder.records(old)] == ["network"] * 3
    assert len(folder.archive.by_digest) == 6


def test_results_of_another_version_say_so_even_if_nothing_has_changed(folder: Store, monkeypatch) -> None:
    monkeypatch.setattr(record, "__version__", "0.2.0")
    planned = plan("case-study", "standard")
    found = read_folder(folder, "standard")
    assert found.progress(planned) == "6 of 6 jobs are done."
    assert tables(planned, found.results)[0].caption.endswith("(as of version 0.1)")


def test_a_variant_has_the_settings_of_the_one_it_is_like() -> None:
    known = {"base": {"settings": {"noise": 0.0}}, "further": {"like": "base", "settings": {"scaled": False}}}
    base, further = variants({"settings": {"epochs": 3}, "variants": known})
    assert base.settings == {"epochs": 3, "noise": 0.0}
    assert further.settings == {"epochs": 3, "noise": 0.0, "scaled": False}


def test_every_stored_result_of_this_repository_is_shown(tmp_path, monkeypatch) -> None:
    """Also if every setting is carried out otherwise: nothing that was measured gets lost from the pages."""
    (tmp_path / "runs").symlink_to(RESULTS / "runs")
    (tmp_path / "profile.json").write_bytes((RESULTS / "profile.json").read_bytes())
    monkeypatch.setattr(job_inputs, "KIND_VERSIONS", dict.fromkeys(job_inputs.KIND_VERSIONS, 99))
    monkeypatch.setattr(record, "__version__", "9.9.9")
    found = open_folder(tmp_path)
    stored = {one.request for one in Store(tmp_path).archive.by_digest.values()}
    assert {job.request for job in found.records} >= stored
    assert not any(found.done(planned) for planned in found.plans)
    front = write_pages(found)
    assert front.stat().st_size < 25_000
    text = front.read_text("utf-8")
    for planned in found.plans:
        if tables(planned, found.results):
            assert f"]({planned.name}.md)" in text
            page = (tmp_path / f"{planned.name}.md").read_text("utf-8")
            assert "as of version 0." in page
    assert {planned.name for planned in found.plans} == set(PAPER_ENTRIES)
