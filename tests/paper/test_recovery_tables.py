"""The motif by both readings: a row for each, differences to ours, seeds that nothing was chosen on."""

from rcexplainer.paper.entries import figures, headline, plan, tables
from rcexplainer.paper.recovery_tables import by_reading, recovery_tables
from tests.paper.fakes import recovered, results_of
from tests.paper.test_tables import column, texts

TAGS = {"dataset": "toy", "model": "paper"}


def found(*methods: str, seeds: int = 2):
    return [
        (TAGS | {"variant": method, "seed": seed}, recovered(method, seed))
        for method in methods
        for seed in range(seeds)
    ]


def test_a_row_for_each_reading_on_two_groups_of_nodes() -> None:
    flipping, _, everyone, scores = recovery_tables({}, found("rcexplainer", "occlusion", "random"))
    assert "whose prediction changes without their motif" in flipping.caption
    names = ["rcexplainer", "rcexplainer, relevance", "occlusion", "occlusion, relevance", "random"]
    assert [row[0].text for row in everyone.rows] == names
    assert texts(flipping, "instances") == ["80"] * 5
    assert texts(everyone, "instances") == ["160"] * 5
    assert texts(everyone, "live AUC ↑")[:2] == ["0.901 ± 0.001", "0.991 ± 0.000"]
    assert [cell.best for cell in column(everyone, "live AUC ↑")] == [False, True, False, False, False]
    assert [row[0].text for row in scores.rows] == ["rcexplainer", "occlusion", "random"]  # of the scores alone
    assert texts(scores, "flipped ↑") == ["0.98 ± 0.00"] * 3
    assert texts(scores, "flipped, own search") == ["0.99 ± 0.00", "", ""]
    assert "deleted alone, 0.50 of the motif's edges support the prediction, 0.40 oppose it" in everyone.notes[-1]


def test_differences_are_to_our_relevance_paired_by_seed() -> None:
    *_, everyone, _ = recovery_tables({}, found("rcexplainer", "occlusion"))
    ours, own, occluded, relevance = texts(everyone, "Δ accuracy")
    assert own == ""
    assert relevance == "−0.041 ± 0.000*"
    assert ours.startswith("−0.090 ± ")
    assert ours == occluded


def test_a_method_without_relevance_is_compared_with_our_scores_until_there_is_one() -> None:
    bare = [
        (tags, {**one, "everyone": one["everyone"] | {"relevance": None}}) for tags, one in found("rcexplainer", "cf2")
    ]
    rows = by_reading(bare, "everyone")
    assert [tags["variant"] for tags, _ in rows] == ["rcexplainer"] * 2 + ["cf2"] * 2
    assert rows[-1][1]["less"] == {"live_auc": 0.0, "accuracy": 0.0}


def test_left_out_methods_and_empty_groups() -> None:
    gone = (TAGS | {"variant": "cf2", "seed": 0}, {"seed": 0, "skipped": "it does not fit"})
    empty = [(tags, one | {"flipping": None}) for tags, one in found("random")]
    nothing, table, _ = recovery_tables({}, [gone, *empty])
    assert [one.title for one in nothing.columns] == ["method", "left out"]  # no node flips without its motif
    assert "cf2 is left out: it does not fit" in table.notes
    assert [row[0].text for row in table.rows] == ["random"]


def test_seeds_are_those_that_nothing_was_chosen_on() -> None:
    planned = plan("nodes", "standard")
    assert {job.inputs["seed"] for job in planned.jobs} == {10, 11, 12, 13, 14}
    assert {job.inputs["recipe"] for job in planned.jobs} == {"plain"}
    measured = [job for job in planned.jobs if job.kind == "recovery"]
    assert {job.inputs["most"] for job in measured} == {None}  # every method explains every node
    assert len(measured) == 5 * 5 * 15
    owns = [job.inputs["own"] for job in measured if "own" in job.inputs]
    assert {"connected": True, "restarts": 6} in owns
    assert len({job.digest for job in measured}) == len(measured)


def test_front_page_and_figure() -> None:
    planned = plan("nodes", "standard")
    results = results_of(planned)
    shown = headline(planned, results)
    assert shown is not None
    assert "tree-grid, live AUC ↑" in [f"{one.title} ↑" for one in shown.columns]
    assert len(tables(planned, results)) == 20
    (drawn,) = figures(planned, results)
    assert drawn.name == "nodes"
    assert "rcexplainer, relevance" in [label.get_text() for label in drawn.figure.axes[0].get_yticklabels()]
