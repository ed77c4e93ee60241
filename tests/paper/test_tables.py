"""Tables by hand: winners, what the paper reports, who is left out, and the page they are printed on."""

import json
from pathlib import Path
from typing import Any

import pytest

from rcexplainer.metrics import BETTER
from rcexplainer.paper.entries import ENTRIES, Plan
from rcexplainer.paper.page import table_text, write_page
from rcexplainer.paper.runner import Failed
from rcexplainer.paper.store import Job
from rcexplainer.paper.table import Cell, Column, Table, marked
from rcexplainer.paper.tables import (
    ablation,
    case_study,
    datasets,
    fidelity,
    nodes,
    number,
    robustness,
    times,
)

SPARSITIES = 6


def result(level: float = 0.5, **other: Any) -> dict[str, Any]:
    """As it is read from a file: what could not be measured is None."""
    robust = {
        "auc": [[level, level + 0.1], [level - 0.1, None]],
        "node_k": [2, 4],
        "node_accuracy": [[level, level], [level, level]],
        "graphs": 100,
    }
    return {
        "held_out": 40,
        "instances": 40,
        "failed": 0,
        "fidelity": [level] * SPARSITIES,
        "flips": [level] * SPARSITIES,
        "kept": [1 - level] * SPARSITIES,
        "kept_drop": [level] * SPARSITIES,
        "labelled": [],
        "auc": level,
        "accuracy": level,
        "flipped": level,
        "minimal": 1.0,
        "size": 2.0,
        "robust": robust,
        "jaccard": None,
        "jaccard_copies": 0,
        "timed": 11,
        "cold": 0.02,
        "seconds": 0.01,
        "seconds_mean": 0.012,
        "seconds_std": 0.003,
        "seconds_p95": 0.015,
        "batched": 0.001,
        "batch": 40,
        "fit": 3.0,
        "skipped": "",
        **other,
    }


def found(**methods: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    network = ({"dataset": "toy", "model": "paper", "seed": 0, "network": True}, {"accuracy": 0.9})
    tags = {"dataset": "toy", "model": "paper"}
    return [network, *(({**tags, "variant": name}, one) for name, results in methods.items() for one in results)]


def column(table: Table, heading: str) -> list[Cell]:
    place = [one.heading for one in table.columns].index(heading)
    return [row[place] for row in table.rows]


def texts(table: Table, heading: str) -> list[str]:
    return [cell.text for cell in column(table, heading)]


def table_of(*values: float | None, better: Any = "higher", names: str = "abcd") -> Table:
    rows = tuple((Cell(name), Cell(str(value), value)) for name, value in zip(names, values, strict=False))
    return Table("t", (Column("method"), Column("m", better)), rows)


@pytest.mark.parametrize(
    ("table", "best"),
    [
        (table_of(1.0, 3.0, 2.0), [False, True, False]),
        (table_of(1.0, 3.0, 2.0, better="lower"), [True, False, False]),
        (table_of(3.0, 3.0, 2.0), [True, True, False]),
        (table_of(None, 1.0, 2.0), [False, False, True]),
        (table_of(None, 1.0), [False, False]),
        (table_of(1.0, 1.0), [False, False]),
        (table_of(1.0, 2.0, better=None), [False, False]),
    ],
)
def test_the_best_of_a_directed_column_is_marked(table: Table, best: list[bool]) -> None:
    assert [row[1].best for row in marked(table).rows] == best
    assert not any(row[0].best for row in marked(table).rows)


def test_references_take_no_part() -> None:
    rows = tuple(
        (Cell(name), Cell(str(value), value))
        for name, value in (("greedy", 9.0), ("a", 1.0), ("b", 2.0), ("random", 5.0))
    )
    table = Table("t", (Column("method"), Column("m", "higher")), rows)
    assert [row[1].best for row in marked(table).rows] == [False, False, True, False]
    assert [row[1].best for row in marked(table, references=()).rows] == [True, False, False, False]


def test_what_reads_the_same_is_a_tie() -> None:
    cells = (Cell("0.99 ± 0.01", 0.9921), Cell("0.99 ± 0.00", 0.9879), Cell("0.98", 0.98), Cell("–"))
    rows = tuple((Cell(name), cell) for name, cell in zip("abcd", cells, strict=True))
    table = marked(Table("t", (Column("method"), Column("m", "higher")), rows))
    assert [row[1].best for row in table.rows] == [True, True, False, False]


def test_a_table_as_texts_and_as_numbers() -> None:
    table = table_of(1.0, None)
    assert table.to_rows() == [{"method": "a", "m ↑": "1.0"}, {"method": "b", "m ↑": "None"}]
    assert table.numbers("m") == {"a": 1.0}
    assert Column("time", "lower").heading == "time ↓"


def test_a_number_may_be_missing_anywhere() -> None:
    assert number({"a": [1, [2]]}, "a", 1, 0) == 2.0
    for missing in (number({}, "a"), number({"a": []}, "a", 0), number({"a": None}, "a", 0), number({"a": None}, "a")):
        assert missing != missing


def test_fidelity_is_a_mean_over_seeds_and_its_winner_is_marked() -> None:
    given = found(rcexplainer=[result(0.4), result(0.6)], gradient=[result(0.1), result(0.1)], greedy=[result(0.9)])
    main, flips, kept, kept_drop, searched = fidelity({}, given)
    assert texts(main, ".95 ↑") == ["0.50 ± 0.14", "0.10 ± 0.00", "0.90"]
    assert [cell.best for cell in column(main, ".95 ↑")] == [True, False, False]
    assert texts(main, "instances") == ["80", "80", "40"]
    assert "change without the explanation" in flips.caption
    assert [cell.best for cell in column(kept, ".90 ↑")] == [False, True, False]
    assert [cell.best for cell in column(kept_drop, ".90 ↓")] == [False, True, False]
    assert texts(searched, "flipped ↑") == ["0.50 ± 0.14", "0.10 ± 0.00", "0.90"]
    assert [one.title for one in fidelity({"vary": "x"}, given)[0].columns][:3] == ["method", "instances", ".95"]
    assert len(fidelity({"vary": "x"}, given)) == 1


def test_what_the_paper_reports_is_beside_ours() -> None:
    settings = {"reference": {"toy": {"rcexplainer": {".95": 0.553, ".90": 0.4, ".42": 1.0}}}}
    _, beside, *_ = fidelity(settings, found(rcexplainer=[result(0.5)], random=[result(0.1)]))
    assert beside.to_rows() == [
        {"method": "rcexplainer", "sparsity": ".95", "ours": "0.50", "paper": "0.553", "difference": "−0.05"},
        {"method": "rcexplainer", "sparsity": ".90", "ours": "0.50", "paper": "0.4", "difference": "+0.10"},
    ]
    assert beside.rows[0][4].value == pytest.approx(-0.053)


def test_who_is_left_out_has_a_note_and_no_row() -> None:
    gone = {"method": "x", "skipped": "it has no attention layer", "instances": 0, "held_out": 0, "fidelity": []}
    half = found(rcexplainer=[result()], attention=[gone], cf2=[gone, result(instances=10)])
    main = fidelity({}, half)[0]
    assert [row[0].text for row in main.rows] == ["rcexplainer", "cf2"]
    assert main.notes == (
        "attention is left out: it has no attention layer",
        "cf2 is left out for 1 of 2 seeds: it has no attention layer",
        "cf2: 10 instances a seed of 40",
    )
    (none,) = fidelity({}, found(attention=[gone]))
    assert none.to_rows() == [{"method": "attention", "left out": "it has no attention layer"}]


def test_samples_of_one_size_share_a_note() -> None:
    few = [result(instances=9, failed=1, held_out=50), result(instances=10, held_out=60)]
    main = fidelity({}, found(a=few, b=few, whole=[result(instances=39, failed=1)]))[0]
    assert main.notes == ("a, b: 9–10 instances a seed of 50–60",)


def test_robustness_has_a_table_for_each_k_and_says_what_stands_on_fewer_graphs() -> None:
    slow = result(0.3)
    slow["robust"] = slow["robust"] | {"graphs": 10}
    settings = {"noise": [0.0, 0.1], "k": [8, 12], "reference": {"toy": {"cf2": {"10": 0.25, "20": 0.2}}}}
    eight, beside, twelve, two, four = robustness(settings, found(rcexplainer=[result(0.5)], cf2=[slow]))
    assert texts(eight, "10 % ↑") == ["0.40", "0.20"]
    assert texts(eight, "graphs") == ["100", "10"]
    assert eight.notes == ("cf2: noise on 10 graphs a seed",)
    assert beside.to_rows() == [
        {"method": "cf2", "noise, %": "10", "ours": "0.20", "paper": "0.25", "difference": "−0.05"}
    ]
    assert texts(twelve, "0 % ↑") == ["0.60", "0.40"]
    assert texts(twelve, "10 % ↑") == ["–", "–"]
    assert ("top 2 nodes" in two.caption, "top 4 nodes" in four.caption) == (True, True)


def test_the_own_search_stands_beside_the_prefixes_and_competes_with_nobody() -> None:
    ours = result(0.4, search_flipped=1.0, search_minimal=0.9, search_size=3.0)
    searched = fidelity({}, found(rcexplainer=[ours, ours], gradient=[result(0.5, search_flipped=None)]))[-1]
    assert texts(searched, "flipped, searched on") == ["1.00 ± 0.00", ""]
    assert texts(searched, "edges, searched on") == ["3.00 ± 0.00", ""]
    assert [cell.best for cell in column(searched, "flipped ↑")] == [False, True]
    assert not any(cell.best for cell in column(searched, "flipped, searched on"))


def test_the_share_of_graphs_whose_prediction_stays_is_of_the_graphs_not_of_the_method() -> None:
    def noised(graphs: int, stayed: float) -> dict[str, Any]:
        one = result()
        return one | {"robust": one["robust"] | {"graphs": graphs, "stayed": [1.0, stayed], "kept": [1.0, 0.98]}}

    given = found(a=[noised(100, 0.5), noised(100, 0.7)], b=[noised(100, 0.5), noised(100, 0.7)], slow=[noised(9, 0.8)])
    (table,) = [one for one in robustness({"noise": [0.0, 0.1]}, given) if "predicted as the graph is" in one.caption]
    assert table.to_rows() == [
        {"methods": "a, b", "graphs": "200", "0 %": "1.00 (1.00)", "10 %": "0.60 (0.98)"},
        {"methods": "slow", "graphs": "9", "0 %": "1.00 (1.00)", "10 %": "0.80 (0.98)"},
    ]


def test_the_overlap_of_counterfactuals_says_how_many_there_are() -> None:
    given = found(a=[result(jaccard=0.5, jaccard_copies=20)], b=[result()])
    last = robustness({"noise": [0.0, 0.1]}, given)[-1]
    assert last.to_rows() == [{"method": "a", "copies": "20", "overlap ↑": "0.50"}]


def test_times_are_in_milliseconds_and_compared_with_ours() -> None:
    slow = result(seconds=2.5, seconds_mean=3.0, seconds_std=0.5, seconds_p95=4.0, cold=5.0, batched=2.0)
    (table,) = times({"reference": {"toy": {"cf2": 4.6}}}, found(rcexplainer=[result()], cf2=[slow]))
    assert texts(table, "mean ± std, ms ↓") == ["12 ± 3", "3,000 ± 500"]
    assert texts(table, "median, ms ↓") == ["10", "2,500"]
    assert texts(table, "× ours") == ["1", "250"]
    assert texts(table, "first, ms ↓") == ["20", "5,000"]
    assert (texts(table, "timed alone"), texts(table, "in a batch")) == (["11", "11"], ["40", "40"])
    assert texts(table, "paper, ms") == ["", "4,600"]
    assert texts(table, "difference, ms") == ["", "−1,600"]
    assert [cell.best for cell in column(table, "in a batch, ms ↓")] == [True, False]


def test_nodes_stand_beside_the_paper() -> None:
    settings = {"reference": {"toy": {"rcexplainer": [0.998, 0.973], "cf2": ["–", 0.4]}}}
    (table,) = nodes(settings, found(rcexplainer=[result(0.9)], cf2=[result(0.5)]))
    assert texts(table, "AUC ↑") == ["0.900", "0.500"]
    assert texts(table, "AUC, paper") == ["0.998", ""]
    assert texts(table, "AUC, difference") == ["−0.098", ""]
    assert texts(table, "accuracy, difference") == ["−0.073", "+0.100"]
    (alone,) = nodes({}, found(rcexplainer=[result(0.9)]))
    assert "AUC, paper" not in [one.title for one in alone.columns]


def trained(flips: list[float | None], aucs: list[float]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A network for each seed, and what a method finds in it."""
    tags = {"dataset": "toy", "model": "paper"}
    networks = [({**tags, "network": True, "seed": seed}, {"motif_flips": share}) for seed, share in enumerate(flips)]
    ones = [({**tags, "variant": "rcexplainer"}, result(auc, seed=seed)) for seed, auc in enumerate(aucs)]
    return networks + ones


def test_networks_that_do_not_use_the_motif_are_not_in_the_headline_but_beside_it() -> None:
    settings = {"aims": {"motif_flips": 0.9}}
    headline, every = nodes(settings, trained([0.95, 0.5, 0.9], [0.9, 0.1, 0.7]))
    assert headline.caption.endswith("fitted on; 2 of 3 networks use the motif, only these count")
    assert texts(headline, "AUC ↑") == ["0.800 ± 0.141"]
    assert texts(headline, "instances") == ["80"]
    assert every.caption.endswith("fitted on; all networks, 2 of 3 networks use the motif")
    assert texts(every, "AUC ↑") == ["0.567 ± 0.416"]
    (none,) = nodes(settings, trained([0.1, None], [0.9, 0.1]))
    assert none.caption.endswith("all networks, 0 of 2 networks use the motif")
    (whole,) = nodes(settings, trained([1.0, 1.0], [0.9, 0.1]))
    assert whole.caption.endswith("fitted on")
    (unasked,) = nodes({"aims": {}}, trained([0.1, 0.1], [0.9, 0.1]))
    assert texts(unasked, "AUC ↑") == ["0.500 ± 0.566"]


def test_datasets_do_not_compete() -> None:
    shape = {"nodes": 25.0, "edges": 25.478, "graphs": 700, "classes": {"a": 1, "b": 2}}
    given = [({"dataset": name}, {"dataset": shape, "accuracy": 0.9, "motif_flips": None}) for name in ("x", "y")]
    (table,) = datasets({"datasets": ["x", "y"], "reference": {"x": [25, 25.48, 700, 2, 0.91]}}, given)
    assert texts(table, "edges") == ["25.48 (25.48)", "25.48"]
    assert texts(table, "nodes") == ["25 (25)", "25"]
    assert texts(table, "test accuracy, difference") == ["−0.01", ""]
    assert texts(table, "classes") == ["2 (2)", "2"]
    assert not any(cell.best for row in table.rows for cell in row)


def test_a_difference_that_reads_as_nothing_has_no_sign() -> None:
    settings = {"reference": {"toy": {"rcexplainer": [0.9004, 0.9]}}}
    (table,) = nodes(settings, found(rcexplainer=[result(0.9)]))
    assert texts(table, "AUC, difference") == ["0.000"]


def test_the_labelled_group_says_how_many_graphs_it_has() -> None:
    given = found(a=[result(labelled=[0.5] * SPARSITIES, labelled_graphs=30)], b=[result()])
    labelled = next(one for one in fidelity({}, given) if "labelled" in one.caption)
    assert labelled.to_rows()[0] | {"method": "a", "graphs": "30", ".70 ↑": "0.50"} == labelled.to_rows()[0]
    assert len(labelled.rows) == 1


def test_the_sum_of_an_ablation() -> None:
    (table,) = ablation({}, found(default=[result(0.5)], greedy=[result(0.9)]))
    assert texts(table, "sum ↑") == ["2.50", "4.50"]
    assert texts(table, "robust ↑") == ["0.50", "0.90"]


def test_a_case_study_has_a_row_for_each_pair() -> None:
    pair = {"own": "a", "other": "b", "seed": 0, "auc": 0.9, "auc_shared": 0.2, "lost": None, "gained": 0.1}
    pair["auc_occlusion"] = 0.8
    (table,) = case_study({}, [({}, {"pairs": [pair | {"flipped": 1.0}]})])
    assert table.to_rows()[0] == {
        "class": "a",
        "and not": "b",
        "seed": "0",
        "AUC telling ↑": "0.90",
        "AUC shared ↓": "0.20",
        "AUC telling, edges deleted alone": "0.80",
        "p(class) lost": "–",
        "p(other) gained": "0.10",
        "flipped ↑": "1.00",
    }


def test_directions_are_known() -> None:
    assert {BETTER[name] for name in ("fidelity", "flips", "kept", "flipped", "minimal", "auc", "jaccard")} == {
        "higher"
    }
    assert {BETTER[name] for name in ("kept_drop", "size", "seconds", "batched", "cold")} == {"lower"}


def test_a_table_in_markdown() -> None:
    rows = ((Cell("a"), Cell("1|2", 1.0, best=True)), (Cell("b"), Cell("–")))
    caption, lines, notes = table_text(Table("shown", (Column("method"), Column("m", "lower")), rows, ("why\nnot",)))
    assert caption == "**shown**"
    assert lines.splitlines() == ["| method | m ↓ |", "| --- | --- |", "| a | **1\\|2** |", "| b | – |"]
    assert notes == "- why not"


def test_the_page_has_commands_tables_sentences_and_figures(tmp_path: Path) -> None:
    drawn = {"ablation": {"ablation": "All.", "ablation-deep": "Deep."}, "fidelity": {"fidelity": "Of others."}}
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "figures.json").write_text(json.dumps(drawn))
    one, two = Job("measure", {"number": 1}, "one"), Job("measure", {"number": 2}, "two")
    tags = {"dataset": "toy", "model": "paper", "variant": "default"}
    (tmp_path / "notes.toml").write_text('ablation = ["First.", "Second."]', encoding="utf-8")
    settings = {"title": "Parts", "where": "ours"}
    planned = Plan("ablation", settings, {one: tags, two: tags})
    assert "ablation" in ENTRIES
    page = write_page(
        tmp_path, [planned], "quick", {one: result()}, [Failed(two, "it broke\n  in two")], [Failed(one, "no data")]
    ).read_text("utf-8")
    assert "`rcexplainer reproduce ablation --profile quick --out DIR` (ours); 1 of 2 jobs are done." in page
    assert "| default |" in page
    assert page.index("| default |") < page.index("First.\n\nSecond.") < page.index("![ablation](figures/ablation.svg)")
    assert "![ablation-deep](figures/ablation-deep.svg)" in page
    assert "fidelity.svg" not in page
    assert page.endswith("## Skipped\n\n- one: no data\n\n## Not done\n\n- two: it broke in two\n")
