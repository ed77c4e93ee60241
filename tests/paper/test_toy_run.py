"""Every entry really run, once, at toy size: its jobs, tables, pages, figures and compact files."""

import pytest

from rcexplainer.paper.case_examples import example_figure, examples_from
from rcexplainer.paper.case_study import CLASS_MOTIFS, MOTIF_NAMES
from rcexplainer.paper.entries import PAPER_ENTRIES, figures, headline, tables
from rcexplainer.paper.plan import settings_file
from rcexplainer.paper.report import write_report
from rcexplainer.paper.reproduce import Reproduction
from rcexplainer.paper.result_groups import without_networks
from rcexplainer.paper.store import Store
from rcexplainer.paper.tradeoff import tradeoff_points
from tests.paper.fakes import case
from tests.paper.toys import run_all, toy_data

pytestmark = pytest.mark.slow  # `make test` runs the quick profile of all entries instead


@pytest.fixture(scope="module")
def toy_run(tmp_path_factory) -> Reproduction:
    return run_all(tmp_path_factory.mktemp("toy-results"))


def test_every_entry_runs_at_toy_size(toy_run: Reproduction) -> None:
    assert toy_run.failed == ()
    front = toy_run.page.read_text(encoding="utf-8")
    document = toy_run.to_json()
    for planned in toy_run.plans:
        made = tables(planned, toy_run.found.results)
        assert made, planned.name
        assert all(table.rows for table in made), planned.name
        assert headline(planned, toy_run.found.results).rows, planned.name
        assert document["entries"][planned.name]["done"] == len(planned.jobs) > 0, planned.name
        assert settings_file(planned.name)["title"] in front
        page = (toy_run.page.parent / f"{planned.name}.md").read_text(encoding="utf-8")
        assert settings_file(planned.name)["title"] in page
    assert len(toy_run.tables()) > len(PAPER_ENTRIES)


def test_finished_entries_are_packed_and_read_again(toy_run: Reproduction) -> None:
    folder = toy_run.page.parent
    assert list((folder / "runs").rglob("*.json")) == []
    kept = Store(folder).records(job for planned in toy_run.plans for job in planned.jobs)
    assert {job.digest for planned in toy_run.plans for job in planned.jobs} == {job.digest for job in kept}


def test_a_report_of_the_run(toy_run: Reproduction) -> None:
    before = toy_run.page.read_text(encoding="utf-8")
    with toy_data():
        found = write_report(toy_run.page.parent)
    assert found.broken == ()
    page = found.page.read_text(encoding="utf-8")
    assert "The profile quick shows that everything runs" in page
    drawn = [figure for planned in toy_run.plans for figure in figures(planned, toy_run.found.results)]
    assert page.count("<img") == len(list((toy_run.page.parent / "figures").glob("*.svg"))) == len(drawn) > 10
    assert toy_run.page.read_text(encoding="utf-8") == before


def test_the_tradeoff_measures_every_setting_on_validation_graphs(toy_run: Reproduction) -> None:
    (planned,) = (one for one in toy_run.plans if one.name == "tradeoff")
    points = tradeoff_points(planned.tagged(toy_run.found.results))
    assert [one.name for one in points] == ["default", "no noise"]
    for one in points:
        assert set(one.ratio) == set(one.robustness) == set(one.strict) == {"cycle", "house"}
        assert all(0 <= value <= 1 for value in (*one.robustness.values(), *one.strict.values()))
        assert one.epochs == 2
    (table,) = tables(planned, toy_run.found.results)
    assert sum(row["rule"] != "" for row in table.to_rows()) == 1


@pytest.fixture
def study(toy_run: Reproduction) -> dict:
    (planned,) = (one for one in toy_run.plans if one.name == "case-study")
    ((_, result),) = without_networks(planned.tagged(toy_run.found.results))
    return result


def test_every_pair_of_classes_is_measured(study: dict) -> None:
    pairs = study["pairs"]
    assert all(pair["own"] != pair["other"] for pair in pairs)
    assert len(pairs) in (2, 4, 6)  # two for every class that is predicted at all
    for pair in pairs:
        for name in ("auc", "auc_shared", "auc_occlusion", "flipped"):
            assert 0 <= pair[name] <= 1
        # The telling motif is the class's own and not the other's.
        own, other = pair["own"].split("+"), pair["other"].split("+")
        assert pair["telling"] in own
        assert pair["telling"] not in other
        assert pair["shared"] in set(own) & set(other)


def test_examples_are_graphs_of_their_class_explained_towards_every_other(study: dict) -> None:
    examples = examples_from(study["examples"], study["classes"])
    names = study["classes"]
    assert {(names[own], names[other]) for own, other in examples} == {
        (pair["own"], pair["other"]) for pair in study["pairs"]
    }
    for (own, other), one in examples.items():
        assert one.prediction == int(one.probabilities.argmax()) == own
        assert set(one.graph.edge_motif_id.tolist()) == {-1, *CLASS_MOTIFS[own]}
        assert one.counterfactual.flipped == (one.counterfactual.prediction == other)


def test_the_entry_draws_the_examples(study: dict, toy_run: Reproduction) -> None:
    pytest.importorskip("matplotlib")
    settings = {"motifs": MOTIF_NAMES}
    (drawn,) = example_figure(settings, [({}, case(0)), ({}, study)])
    assert drawn.name == "case-study-examples"
    assert "seed 0" in drawn.caption
    assert len(drawn.figure.axes) == 9
    assert example_figure(settings, [({}, case(0))]) == []  # version 0.1 kept no examples
    path = toy_run.page.parent / "figures" / "case-study-examples.svg"
    assert path.read_text(encoding="utf-8").rstrip().endswith("</svg>")
