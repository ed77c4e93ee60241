"""What the figures of an entry show, read back from matplotlib's own objects."""

import logging
import sys
from dataclasses import replace

import pytest

from rcexplainer.paper.curve_figures import fidelity_figure, robustness_figures, varied_figure
from rcexplainer.paper.dot_figures import ablation_figure, case_square, node_figure, time_figure
from rcexplainer.paper.entries import PAPER_ENTRIES, figures, plan
from rcexplainer.paper.figure_files import read_captions, write_figures
from rcexplainer.paper.figure_style import FURTHER_METHODS, METHOD_PENS, PAPER_METHODS
from tests.paper.fakes import FAKE_NOISE, case, measured, results_of, skipped

pytest.importorskip("matplotlib")

SHARES = (0.95, 0.90, 0.85, 0.80, 0.75, 0.70)
SETTINGS = {"title": "A title", "reference": {"toys": {"rcexplainer": {".90": 0.7}}}}


def found(methods, seeds=(0, 1), dataset="toys", **how):
    """Two seeds of every method."""
    return [
        ({"dataset": dataset, "model": "paper", "variant": method}, measured(method, seed, **how))
        for method in methods
        for seed in seeds
    ]


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_fidelity_draws_means_bands_the_reference_and_the_papers_points() -> None:
    (drawn,) = fidelity_figure(SETTINGS, found(["rcexplainer", "gnnexplainer", "occlusion", "greedy"]))
    paper, further = drawn.figure.axes
    assert set(lines(paper)) == {"RCExplainer", "GNNExplainer", "greedy deletion", "RCExplainer, the paper's"}
    assert set(lines(further)) == {"RCExplainer", "occlusion", "greedy deletion", "RCExplainer, the paper's"}
    ours = lines(paper)["RCExplainer"]
    assert tuple(ours.get_xdata()) == SHARES
    assert ours.get_ydata() == pytest.approx([0.505 + 0.02 * step for step in range(6)])
    assert ours.get_linewidth() == max(line.get_linewidth() for line in paper.lines)
    assert lines(paper)["greedy deletion"].is_dashed()
    assert lines(paper)["RCExplainer, the paper's"].get_xydata().tolist() == [[0.9, 0.7]]
    # Two seeds .01 apart: s = .01/√2, half = 12.7062 · s / √2.
    half = 12.7062 * 0.01 / 2
    heights = paper.collections[-1].get_paths()[0].vertices[:, 1]
    assert max(heights) == pytest.approx(0.605 + half, abs=1e-5)


def test_methods_differ_without_colour() -> None:
    for listed in (PAPER_METHODS, FURTHER_METHODS):
        looks = [METHOD_PENS[name] for name in ("rcexplainer", *listed, "greedy")]
        assert len({(look.marker, str(look.dashes), look.hollow) for look in looks}) == len(looks)
        assert len({look.marker for look in looks}) == len(looks)


def test_a_skipped_method_is_not_drawn_and_a_missing_number_leaves_a_gap() -> None:
    gap = measured("rcexplainer", 0)
    gap["fidelity"][2] = None
    tags = {"dataset": "toys", "model": "paper"}
    (drawn,) = fidelity_figure(
        {},
        [
            ({**tags, "variant": "rcexplainer"}, gap),
            ({**tags, "variant": "subgraphx"}, skipped("subgraphx", 0)),
            ({**tags, "network": True}, {"accuracy": 0.9}),
        ],
    )
    (axes,) = drawn.figure.axes
    (ours,) = axes.lines
    assert [value != value for value in ours.get_ydata()] == [False, False, True, False, False, False]
    assert fidelity_figure({}, [({**tags, "variant": "subgraphx"}, skipped("subgraphx", 0))]) == []


def test_robustness_has_a_figure_for_every_k_of_edges_and_nodes() -> None:
    drawn = robustness_figures({}, found(["rcexplainer", "pgexplainer"]))
    assert [one.name for one in drawn] == [
        "robustness",
        "robustness-k4",
        "robustness-k12",
        "robustness-nodes-k2",
        "robustness-nodes-k4",
        "robustness-nodes-k8",
        "robustness-strict",
        "robustness-strict-k4",
        "robustness-strict-k12",
        "robustness-strict-nodes-k2",
        "robustness-strict-nodes-k4",
        "robustness-strict-nodes-k8",
    ]
    assert "the paper's noise: about half of the nominal share" in drawn[0].caption
    assert "strict noise: the nominal share of edges is really changed" in drawn[6].caption
    (axes,) = drawn[0].figure.axes
    ours = lines(axes)["RCExplainer"]
    assert list(ours.get_xdata()) == pytest.approx([100 * level for level in FAKE_NOISE])
    assert ours.get_ydata() == pytest.approx([0.98 - 0.3 * level for level in FAKE_NOISE])
    (strict,) = drawn[6].figure.axes
    assert lines(strict)["RCExplainer"].get_ydata() == pytest.approx([0.97 - 0.3 * level for level in FAKE_NOISE])
    assert robustness_figures({}, found(["rcexplainer"], noise=())) == []


def test_reference_points_of_fidelity_stand_where_they_were_measured() -> None:
    one = {"value": 0.553, "sparsity": 0.935, "source": "authors"}
    settings = {"reference": {"toys": {"rcexplainer": {".95": one}}}}
    (drawn,) = fidelity_figure(settings, found(["rcexplainer"]))
    (axes,) = drawn.figure.axes
    marks = lines(axes)["RCExplainer, authors"]
    assert (list(marks.get_xdata()), list(marks.get_ydata())) == ([0.935], [0.553])
    assert "Hollow marks: authors: the authors' own trained model, fitted and evaluated on the same" in drawn.caption


def test_reference_points_of_robustness_are_named_by_their_source() -> None:
    settings = {"source": "replication", "reference": {"toys": {"rcexplainer": {"10": 0.89}}}}
    first, *others = robustness_figures(settings, found(["rcexplainer", "pgexplainer, with stability"]))
    (axes,) = first.figure.axes
    assert list(lines(axes)["RCExplainer, replication"].get_ydata()) == [0.89]
    assert "PGExplainer, with stability" in lines(axes)
    assert first.caption.endswith("Hollow marks: replication.")
    assert all("replication" not in one.caption for one in others)  # of this k and noise alone


def test_times_are_sorted_and_written() -> None:
    (drawn,) = time_figure({}, found(["subgraphx", "rcexplainer", "gradient"]))
    (axes,) = drawn.figure.axes
    assert axes.get_xscale() == "log"
    named = [text.get_text() for text in axes.get_yticklabels()]
    assert named == ["RCExplainer, 2 ms", "gradient, 50 ms", "SubgraphX, 8 s"]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.002, 0.05, 8.0])


def test_nodes_lie_beside_the_papers() -> None:
    settings = {"reference": {"toys": {"rcexplainer": [0.998, 0.973], "random": ["–", 0.5]}}}
    (drawn,) = node_figure(settings, found(["rcexplainer", "random"]))
    auc, accuracy = drawn.figure.axes
    ours, paper = (container.lines[0].get_xdata() for container in auc.containers)
    assert list(ours) == pytest.approx([0.999, 0.9])
    assert paper[0] == 0.998
    assert paper[1] != paper[1]
    assert list(accuracy.containers[1].lines[0].get_xdata()) == [0.973, 0.5]


def test_nodes_are_drawn_of_networks_that_use_the_motif() -> None:
    networks = [
        ({"dataset": "toys", "model": "paper", "network": True, "seed": seed}, {"motif_flips": share})
        for seed, share in enumerate((0.5, 0.95))
    ]
    results = found(["rcexplainer"])
    results[0][1]["auc"] = 0.1
    (drawn,) = node_figure({"aims": {"motif_flips": 0.9}}, [*networks, *results])
    assert list(drawn.figure.axes[0].containers[0].lines[0].get_xdata()) == pytest.approx([0.999])
    assert drawn.caption.endswith("toys: 1 of 2 networks use the motif, only these count.")


def test_a_varied_setting_has_a_line_for_each_sparsity() -> None:
    several = [
        ({"dataset": "toys", "model": "paper", "variant": f"size = {value}", "value": value}, measured("x", 0))
        for value in (1, 50)
    ]
    (drawn,) = varied_figure("boundaries")({"title": "T", "vary": "size", "axis": "how many"}, several)
    (axes,) = drawn.figure.axes
    assert [line.get_label() for line in axes.lines] == [f"sparsity .{share}" for share in (95, 90, 85, 80, 75, 70)]
    assert all(list(line.get_xdata()) == [1, 50] for line in axes.lines)
    assert axes.get_xlabel() == "how many"


def test_ablation_sums_fidelity_from_95_to_75() -> None:
    (drawn,) = ablation_figure({"noise": [0.1]}, found(["rcexplainer"], seeds=(0,), noise=(0.1,)))
    total, robust = (axes.containers[0].lines[0].get_xdata()[0] for axes in drawn.figure.axes)
    assert total == pytest.approx(5 * 0.5 + 0.02 * (0 + 1 + 2 + 3 + 4))
    assert robust == pytest.approx(0.95)


def test_the_case_study_is_a_square() -> None:
    (drawn,) = case_square({}, [({}, case(0, 0.96)), ({}, case(1, 0.98))])
    (axes,) = drawn.figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert texts[0] == "—"
    assert texts[1] == "house 0.97\n(shared cycle 0.30)"
    assert len(texts) == 9


def test_an_entry_without_results_draws_nothing() -> None:
    assert [name for name in PAPER_ENTRIES if figures(plan(name, "standard"), {})] == []


def test_files_are_written_and_stay_the_same(tmp_path) -> None:
    planned = plan("lambda", "standard")
    paths = write_figures(tmp_path, [planned], results_of(planned))
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == ["figures/lambda.svg", "figures/lambda.png"]
    before = [path.read_bytes() for path in paths]
    write_figures(tmp_path, [planned], results_of(planned))
    assert [path.read_bytes() for path in paths] == before


def test_an_entry_that_cannot_be_drawn_costs_no_other(tmp_path, monkeypatch, caplog) -> None:
    def broken(settings, found):
        raise ZeroDivisionError("by zero")

    monkeypatch.setitem(PAPER_ENTRIES, "case-study", replace(PAPER_ENTRIES["case-study"], figures=broken))
    plans = [plan(name, "standard") for name in ("case-study", "lambda")]
    known = {job: result for one in plans for job, result in results_of(one).items()}
    with caplog.at_level(logging.WARNING):
        paths = write_figures(tmp_path, plans, known)
    assert [path.name for path in paths] == ["lambda.svg", "lambda.png"]
    assert "the figures of case-study are not drawn: ZeroDivisionError: by zero" in caplog.text
    assert list(read_captions(tmp_path)) == ["lambda"]


def test_without_matplotlib_nothing_is_drawn_and_it_is_said(tmp_path, monkeypatch, caplog) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    planned = plan("lambda", "standard")
    with caplog.at_level(logging.WARNING):
        assert write_figures(tmp_path, [planned], results_of(planned)) == []
    assert 'no figures are drawn: matplotlib is not installed; run: pip install "rcexplainer[figures]"' in caplog.text
