"""Tables by hand: winners, what the paper reports, who is left out, what stands on the front page."""

from typing import Any

import pytest

from rcexplainer.metrics import BETTER
from rcexplainer.paper.fidelity_tables import ablation_tables, fidelity_tables
from rcexplainer.paper.headlines import (
    ablation_headline,
    fidelity_headline,
    node_headline,
    robustness_headline,
    time_headline,
    varied_headline,
)
from rcexplainer.paper.motif_tables import case_tables, dataset_tables, node_tables, pair_means
from rcexplainer.paper.plan import settings_file
from rcexplainer.paper.reference import published
from rcexplainer.paper.result_groups import number, spread
from rcexplainer.paper.robustness_tables import AT_ZERO, robustness_tables
from rcexplainer.paper.table import Column, Table, TableCell, marked
from rcexplainer.paper.time_tables import time_tables

LEVELS = 6  # sparsities


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
        "fidelity": [level] * LEVELS,
        "flips": [level] * LEVELS,
        "kept": [1 - level] * LEVELS,
        "kept_drop": [level] * LEVELS,
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


def column(table: Table, heading: str) -> list[TableCell]:
    place = [one.heading for one in table.columns].index(heading)
    return [row[place] for row in table.rows]


def texts(table: Table, heading: str) -> list[str]:
    return [cell.text for cell in column(table, heading)]


def table_of(*values: float | None, better: Any = "higher", names: str = "abcd") -> Table:
    rows = tuple((TableCell(name), TableCell(str(value), value)) for name, value in zip(names, values, strict=False))
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
        (TableCell(name), TableCell(str(value), value))
        for name, value in (("greedy", 9.0), ("a", 1.0), ("b", 2.0), ("random", 5.0))
    )
    table = Table("t", (Column("method"), Column("m", "higher")), rows)
    assert [row[1].best for row in marked(table).rows] == [False, False, True, False]
    assert [row[1].best for row in marked(table, references=()).rows] == [True, False, False, False]


def test_what_reads_the_same_is_a_tie() -> None:
    cells = (
        TableCell("0.99 ± 0.01", 0.9921),
        TableCell("0.99 ± 0.00", 0.9879),
        TableCell("0.98", 0.98),
        TableCell("–"),
    )
    rows = tuple((TableCell(name), cell) for name, cell in zip("abcd", cells, strict=True))
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
    main, flips, kept, kept_drop, searched = fidelity_tables({}, given)
    assert texts(main, ".95 ↑") == ["0.50 ± 0.14", "0.10 ± 0.00", "0.90"]
    assert [cell.best for cell in column(main, ".95 ↑")] == [True, False, False]
    assert texts(main, "instances") == ["80", "80", "40"]
    assert "change without the explanation" in flips.caption
    assert [cell.best for cell in column(kept, ".90 ↑")] == [False, True, False]
    assert [cell.best for cell in column(kept_drop, ".90 ↓")] == [False, True, False]
    assert texts(searched, "flipped ↑") == ["0.50 ± 0.14", "0.10 ± 0.00", "0.90"]
    assert [one.title for one in fidelity_tables({"vary": "x"}, given)[0].columns][:3] == ["method", "instances", ".95"]
    assert len(fidelity_tables({"vary": "x"}, given)) == 1


def test_what_the_paper_reports_is_beside_ours() -> None:
    settings = {"reference": {"toy": {"rcexplainer": {".95": 0.553, ".90": 0.4, ".42": 1.0}}}}
    _, beside, *_ = fidelity_tables(settings, found(rcexplainer=[result(0.5)], random=[result(0.1)]))
    assert beside.to_rows() == [
        {"method": "rcexplainer", "sparsity": ".95", "ours": "0.50", "paper": "0.553", "difference": "−0.05"},
        {"method": "rcexplainer", "sparsity": ".90", "ours": "0.50", "paper": "0.4", "difference": "+0.10"},
    ]
    assert beside.rows[0][4].value == pytest.approx(-0.053)


def test_a_reference_says_whose_it_is_and_at_which_sparsity_it_was_measured() -> None:
    listed = {
        "rcexplainer": {".95": {"value": 0.553, "sparsity": 0.935, "source": "authors"}},
        "random": {
            ".95": {"value": 0.07, "sparsity": 0.95, "source": "replication"},
            ".90": {"value": 0.12, "sparsity": 0.91, "source": "replication"},
        },
    }
    given = found(rcexplainer=[result(0.5)], random=[result(0.1)])
    beside = fidelity_tables({"reference": {"toy": listed}}, given)[1]
    assert beside.caption.endswith("beside what others report")
    assert [row["by"] for row in beside.to_rows()] == ["authors, at .935", "replication, at .95", "replication, at .91"]
    assert texts(beside, "reported") == ["0.553", "0.07", "0.12"]
    # .935 is not .95: the difference would be of the sparsities too.
    assert texts(beside, "difference") == ["", "+0.03", "−0.02"]
    authors, replication, apart = beside.notes
    assert "fitted and evaluated on the same graphs" in authors
    assert "not the paper's own numbers" in replication
    assert apart.startswith("no difference is shown where the sparsities are more than .01 apart")
    alone = fidelity_tables({"reference": {"toy": {"random": {".95": listed["random"][".95"]}}}}, given)[1]
    assert alone.to_rows() == [
        {"method": "random", "sparsity": ".95", "ours": "0.10", "replication, at .95": "0.07", "difference": "+0.03"}
    ]


def test_every_reference_of_fidelity_says_where_it_is_from() -> None:
    """None of them is the paper's own: its figure has no numbers."""
    settings = settings_file("fidelity")
    known = [one for own in published(settings, "mutagenicity").values() for one in own.values()]
    assert len(known) == 11
    assert {one.source for one in known} == {"authors", "replication"}
    assert all(one.sparsity is not None for one in known)
    ours = published(settings, "mutagenicity")["rcexplainer"]
    assert [one.origin for one in ours.values()] == [f"authors, at {at}" for at in (".935", ".883", ".837", ".777")]
    assert not any(one.comparable(at) for at, one in ours.items())


def test_who_is_left_out_has_a_note_and_no_row() -> None:
    gone = {"method": "x", "skipped": "it has no attention layer", "instances": 0, "held_out": 0, "fidelity": []}
    half = found(rcexplainer=[result()], attention=[gone], cf2=[gone, result(instances=10)])
    main = fidelity_tables({}, half)[0]
    assert [row[0].text for row in main.rows] == ["rcexplainer", "cf2"]
    assert main.notes == (
        "attention is left out: it has no attention layer",
        "cf2 is left out for 1 of 2 seeds: it has no attention layer",
        "cf2: 10 instances a seed of 40",
    )
    (none,) = fidelity_tables({}, found(attention=[gone]))
    assert none.to_rows() == [{"method": "attention", "left out": "it has no attention layer"}]


def test_samples_of_one_size_share_a_note() -> None:
    few = [result(instances=9, failed=1, held_out=50), result(instances=10, held_out=60)]
    main = fidelity_tables({}, found(a=few, b=few, whole=[result(instances=39, failed=1)]))[0]
    assert main.notes == ("a, b: 9–10 instances a seed of 50–60",)


def test_a_dead_run_has_a_note_with_the_reason() -> None:
    """Results of earlier versions do not say; they are taken to be alive."""
    dead = result(0.1, dead="dead: all edges of an instance get the same score")
    table, *_ = fidelity_tables({}, found(a=[result(), dead], b=[result(dead=""), result()]))
    assert table.notes == ("a, 1 of 2 seeds: dead: all edges of an instance get the same score",)


def test_robustness_has_a_table_for_each_k_and_noise_and_says_what_stands_on_fewer_graphs() -> None:
    slow, ours = result(0.3), result(0.5)
    slow["robust"] = slow["robust"] | {"graphs": 10}
    ours["strict"] = ours["robust"] | {"auc": [[0.5, 0.4], [0.3, None]]}
    settings = {
        "noise": [0.0, 0.1],
        "k": [8, 12],
        "source": "replication",
        "source_text": "not the paper's",
        "reference": {"toy": {"cf2": {"10": 0.25, "20": 0.2}}},
    }
    made = robustness_tables(settings, found(rcexplainer=[ours], cf2=[slow]))
    eight, strict, beside, twelve, strict_twelve, two, four, *nodes = made
    assert texts(eight, "10 % ↑") == ["0.40", "0.20"]
    assert texts(eight, "graphs") == ["100", "10"]
    assert eight.notes == ("cf2: noise on 10 graphs a seed", AT_ZERO)
    assert "1.00 by construction" in AT_ZERO
    assert not any(cell.best for cell in column(eight, "0 %"))
    assert "the paper's noise: about half of the nominal share" in eight.caption
    # Version 0.1 measured no strict noise: its results have no row there.
    assert [row["method"] for row in strict.to_rows()] == ["rcexplainer"]
    assert texts(strict, "10 % ↑") == ["0.30"]
    assert "strict noise: the nominal share of edges is really changed" in strict.caption
    assert beside.to_rows() == [
        {"method": "cf2", "noise, %": "10", "ours": "0.20", "replication": "0.25", "difference": "−0.05"}
    ]
    assert beside.caption.endswith("under the paper's noise, k = 8, beside the replication's")
    assert beside.notes == ("not the paper's",)
    assert texts(twelve, "0 %") == ["0.60", "0.40"]
    assert texts(twelve, "10 % ↑") == ["–", "–"]
    assert texts(strict_twelve, "0 %") == ["0.40"]
    assert ("top 2 nodes" in two.caption, "top 4 nodes" in four.caption) == (True, True)
    assert [("strict noise" in one.caption, "top 2 nodes" in one.caption) for one in nodes] == [
        (True, True),
        (True, False),
    ]
    without = robustness_tables(settings | {"noise": [0.05, 0.1]}, found(rcexplainer=[ours]))
    assert AT_ZERO not in without[0].notes


def test_the_own_search_stands_beside_the_prefixes_and_competes_with_nobody() -> None:
    ours = result(0.4, search_flipped=1.0, search_minimal=0.9, search_size=3.0)
    searched = fidelity_tables({}, found(rcexplainer=[ours, ours], gradient=[result(0.5, search_flipped=None)]))[-1]
    assert texts(searched, "flipped, own search") == ["1.00 ± 0.00", ""]
    assert texts(searched, "edges, own search") == ["3.00 ± 0.00", ""]
    assert [cell.best for cell in column(searched, "flipped ↑")] == [False, True]
    assert not any(cell.best for cell in column(searched, "flipped, own search"))


def test_the_share_of_graphs_whose_prediction_stays_is_of_the_graphs_not_of_the_method() -> None:
    def noised(graphs: int, stayed: float) -> dict[str, Any]:
        one = result()
        return one | {"robust": one["robust"] | {"graphs": graphs, "stayed": [1.0, stayed], "kept": [1.0, 0.98]}}

    given = found(a=[noised(100, 0.5), noised(100, 0.7)], b=[noised(100, 0.5), noised(100, 0.7)], slow=[noised(9, 0.8)])
    (table,) = [
        one for one in robustness_tables({"noise": [0.0, 0.1]}, given) if "has the same prediction" in one.caption
    ]
    assert table.to_rows() == [
        {"methods": "a, b", "graphs": "200", "0 %": "1.00 (1.00)", "10 %": "0.60 (0.98)"},
        {"methods": "slow", "graphs": "9", "0 %": "1.00 (1.00)", "10 %": "0.80 (0.98)"},
    ]


def test_the_overlap_of_counterfactuals_says_how_many_there_are() -> None:
    both = {"jaccard": 0.5, "jaccard_copies": 20, "strict_jaccard": 0.3, "strict_jaccard_copies": 10}
    given = found(a=[result(**both)], b=[result()])
    *_, last, strict = robustness_tables({"noise": [0.0, 0.1]}, given)
    assert last.to_rows() == [{"method": "a", "copies": "20", "overlap ↑": "0.50"}]
    assert strict.to_rows() == [{"method": "a", "copies": "10", "overlap ↑": "0.30"}]


def test_times_are_in_milliseconds_and_compared_with_ours() -> None:
    slow = result(seconds=2.5, seconds_mean=3.0, seconds_std=0.5, seconds_p95=4.0, cold=5.0, batched=2.0)
    (table,) = time_tables({"reference": {"toy": {"cf2": 4.6}}}, found(rcexplainer=[result()], cf2=[slow]))
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
    (table,) = node_tables(settings, found(rcexplainer=[result(0.9)], cf2=[result(0.5)]))
    assert texts(table, "AUC ↑") == ["0.900", "0.500"]
    assert texts(table, "AUC, paper") == ["0.998", ""]
    assert texts(table, "AUC, difference") == ["−0.098", ""]
    assert texts(table, "accuracy, difference") == ["−0.073", "+0.100"]
    (alone,) = node_tables({}, found(rcexplainer=[result(0.9)]))
    assert "AUC, paper" not in [one.title for one in alone.columns]


def trained(flips: list[float | None], aucs: list[float]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A network for each seed, and what a method finds in it."""
    tags = {"dataset": "toy", "model": "paper"}
    networks = [({**tags, "network": True, "seed": seed}, {"motif_flips": share}) for seed, share in enumerate(flips)]
    ones = [({**tags, "variant": "rcexplainer"}, result(auc, seed=seed)) for seed, auc in enumerate(aucs)]
    return networks + ones


def test_networks_that_do_not_use_the_motif_are_not_in_the_headline_but_beside_it() -> None:
    settings = {"aims": {"motif_flips": 0.9}}
    headline, every = node_tables(settings, trained([0.95, 0.5, 0.9], [0.9, 0.1, 0.7]))
    assert headline.caption.endswith("fitted on; 2 of 3 networks use the motif, only these count")
    assert texts(headline, "AUC ↑") == ["0.800 ± 0.141"]
    assert texts(headline, "instances") == ["80"]
    assert every.caption.endswith("fitted on; all networks, 2 of 3 networks use the motif")
    assert texts(every, "AUC ↑") == ["0.567 ± 0.416"]
    (none,) = node_tables(settings, trained([0.1, None], [0.9, 0.1]))
    assert none.caption.endswith("all networks, 0 of 2 networks use the motif")
    (whole,) = node_tables(settings, trained([1.0, 1.0], [0.9, 0.1]))
    assert whole.caption.endswith("fitted on")
    (unasked,) = node_tables({"aims": {}}, trained([0.1, 0.1], [0.9, 0.1]))
    assert texts(unasked, "AUC ↑") == ["0.500 ± 0.566"]


def test_datasets_do_not_compete() -> None:
    shape = {"nodes": 25.0, "edges": 25.478, "graphs": 700, "classes": {"a": 1, "b": 2}}
    given = [({"dataset": name}, {"dataset": shape, "accuracy": 0.9, "motif_flips": None}) for name in ("x", "y")]
    (table,) = dataset_tables({"datasets": ["x", "y"], "reference": {"x": [25, 25.48, 700, 2, 0.91]}}, given)
    assert texts(table, "edges") == ["25.48 (25.48)", "25.48"]
    assert texts(table, "nodes") == ["25 (25)", "25"]
    assert texts(table, "test accuracy, difference") == ["−0.01", ""]
    assert texts(table, "classes") == ["2 (2)", "2"]
    assert not any(cell.best for row in table.rows for cell in row)


def test_a_difference_that_reads_as_nothing_has_no_sign() -> None:
    settings = {"reference": {"toy": {"rcexplainer": [0.9004, 0.9]}}}
    (table,) = node_tables(settings, found(rcexplainer=[result(0.9)]))
    assert texts(table, "AUC, difference") == ["0.000"]


def test_the_labelled_group_says_how_many_graphs_it_has() -> None:
    given = found(a=[result(labelled=[0.5] * LEVELS, labelled_graphs=30)], b=[result()])
    labelled = next(one for one in fidelity_tables({}, given) if "labelled" in one.caption)
    assert labelled.to_rows()[0] | {"method": "a", "graphs": "30", ".70 ↑": "0.50"} == labelled.to_rows()[0]
    assert len(labelled.rows) == 1


def test_the_sum_of_an_ablation() -> None:
    both = result(0.5, strict={"auc": [[0.4]]})
    (table,) = ablation_tables({}, found(default=[both], greedy=[result(0.9)]))
    assert texts(table, "sum ↑") == ["2.50", "4.50"]
    assert texts(table, "robust ↑") == ["0.50", "0.90"]
    assert texts(table, "robust, strict ↑") == ["0.40", "–"]  # version 0.1 did not measure it


def test_a_case_study_has_a_row_for_each_pair() -> None:
    pair = {"own": "a", "other": "b", "seed": 0, "auc": 0.9, "auc_shared": 0.2, "lost": None, "gained": 0.1}
    pair["auc_occlusion"] = 0.8
    (table,) = case_tables({}, [({}, {"pairs": [pair | {"flipped": 1.0}]})])
    assert table.to_rows()[0] == {
        "class": "a",
        "and not": "b",
        "seed": "0",
        "AUC telling ↑": "0.90",
        "AUC shared ↓": "0.20",
        "AUC telling, occlusion": "0.80",
        "p(class) lost": "–",
        "p(other) gained": "0.10",
        "flipped ↑": "1.00",
    }


def test_directions_are_known() -> None:
    assert {BETTER[name] for name in ("fidelity", "flips", "kept", "flipped", "minimal", "auc", "jaccard")} == {
        "higher"
    }
    assert {BETTER[name] for name in ("kept_drop", "size", "seconds", "batched", "cold")} == {"lower"}


def test_a_case_study_on_the_front_page_has_means_over_the_seeds() -> None:
    pair = {"own": "a", "other": "b", "telling": "house", "graphs": 50, "auc": 0.9, "auc_shared": 0.2, "lost": 0.4}
    pair |= {"gained": 0.3, "auc_occlusion": 0.8, "flipped": 1.0}
    found = [({}, {"pairs": [pair]}), ({}, {"pairs": [pair | {"auc": 1.0, "graphs": 48}]})]
    (row,) = pair_means({}, found).to_rows()
    assert (row["class"], row["telling motif"], row["graphs"]) == ("a, not b", "house", "49")
    assert (row["AUC telling ↑"], row["AUC shared ↓"]) == ("0.95 ± 0.07", "0.20 ± 0.00")
    assert pair_means({}, []) is None


GONE = {"skipped": "it has no attention layer", "fidelity": []}


def test_headlines_have_methods_as_rows_and_datasets_or_networks_as_columns() -> None:
    def on(dataset: str, model: str, level: float) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        tags = {"dataset": dataset, "model": model, "variant": "rcexplainer"}
        return [(tags, result(level)), ({**tags, "variant": "gradient"}, result(0.1)), ({**tags, "variant": "x"}, GONE)]

    sets = on("one", "paper", 0.5) + on("two", "paper", 0.7)[:1]
    table = fidelity_headline({}, sets)
    assert table.to_rows() == [
        {"method": "rcexplainer", "one ↑": "0.50", "two ↑": "0.70"},
        {"method": "gradient", "one ↑": "0.10", "two ↑": ""},
    ]
    assert [cell.best for cell in column(table, "one ↑")] == [True, False]
    networks = on("one", "paper", 0.5) + on("one", "deep", 0.7)
    assert ablation_headline({}, networks).to_rows()[0] == {
        "method": "rcexplainer",
        "paper, Σ fidelity ↑": "2.50",
        "paper, robust ↑": "0.50",
        "deep, Σ fidelity ↑": "3.50",
        "deep, robust ↑": "0.70",
    }
    assert ablation_headline({}, networks).caption.startswith("one: sum of fidelities")
    varied = varied_headline({"vary": "x"}, networks)
    assert [one.title for one in varied.columns] == ["method", "paper, .95", "paper, .90", "deep, .95", "deep, .90"]
    assert robustness_headline({"noise": [0.0, 0.1], "k": [4, 8]}, sets) is None  # 8: not measured at 10 %
    assert texts(robustness_headline({"noise": [0.0, 0.1]}, sets), "one, 10 % ↑") == ["0.40", "0.00"]
    assert robustness_headline({"noise": [0.0, 0.1], "k": [4]}, sets) is None
    sets[0][1]["strict"] = {"auc": [[0.3], [0.2]]}
    strict = robustness_headline({"noise": [0.0, 0.1]}, sets)
    assert [one.title for one in strict.columns] == ["method", "one, 10 %", "one, 10 %, strict", "two, 10 %"]
    assert texts(strict, "one, 10 %, strict ↑") == ["0.20", "–"]
    assert "strict noise: the nominal share" in strict.caption
    assert texts(node_headline({}, sets), "two, accuracy ↑") == ["0.700", ""]
    assert texts(time_headline({}, sets), "one, alone ↓") == ["10", "10"]
    assert fidelity_headline({}, []) is None


def test_a_spread_is_a_mean_and_a_standard_deviation() -> None:
    assert spread([0.5]) == "0.50"
    assert spread([0.4, 0.6], 3) == "0.500 ± 0.141"
    assert spread([float("nan")]) == "–"
    assert (spread([-0.16]), spread([-0.001])) == ("−0.16", "0.00")
