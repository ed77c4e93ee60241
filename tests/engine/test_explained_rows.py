"""Rows of results say what explanations say."""

import pyarrow as pa
import pytest
import torch

from rcexplainer.datasets.graph_table import GraphTable
from rcexplainer.datasets.row_file import molecules_of_rows
from rcexplainer.datasets.row_graphs import graphs_of_rows
from rcexplainer.engine.explained_rows import Stamp, explained_rows
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.errors import RCExplainerError

STAMP = Stamp("the model", "the explainer", ("negative", "positive"))


SEARCHES = [RowOptions(), RowOptions("greedy", scores=4, confidence=0.505), RowOptions("none")]


@pytest.mark.parametrize("options", SEARCHES)
def test_a_row_is_its_explanation(case, options) -> None:
    fitted, rows = case.fitted(), GraphTable(case.molecules).read(0, 60)
    found = explained_rows(fitted, rows, options, STAMP, 100).to_pylist()
    explanations = fitted.explain(rows.graphs(), search=options.search, confidence=options.confidence)
    assert len(found) == 60
    for place, (row, one) in enumerate(zip(found, explanations, strict=True)):
        assert (row["row"], row["id"], row["error"]) == (100 + place, f"m{place}", None)
        assert (row["prediction"], row["class"]) == (one.prediction, STAMP.class_names[one.prediction])
        torch.testing.assert_close(torch.tensor(row["probabilities"]), one.probabilities)
        assert (row["model"], row["explainer"]) == ("the model", "the explainer")
        other = one.counterfactual
        if options.search == "none":
            assert row["removed"] is row["flipped"] is row["new_class"] is row["new_probabilities"] is None
            continue
        assert row["removed"] == one.units.pair[:, one.removed_units].T.tolist()
        assert (row["new_prediction"], row["flipped"], row["minimal"], row["exhausted"]) == (
            other.prediction,
            other.flipped,
            other.minimal,
            other.exhausted,
        )
        torch.testing.assert_close(torch.tensor(row["new_probabilities"]), other.probabilities)
        if options.scores == 4:
            best = one.unit_scores.argsort(descending=True, stable=True)[:4]
            assert row["edges"] == one.units.pair[:, best].T.tolist()
            torch.testing.assert_close(torch.tensor(row["scores"]), one.unit_scores[best])
    assert options.search == "none" or any(row["flipped"] for row in found)


def test_all_scores_are_in_the_order_of_the_pairs(case) -> None:
    fitted, rows = case.fitted(), GraphTable(case.molecules).read(0, 5)
    found = explained_rows(fitted, rows, RowOptions("none", scores="all"), STAMP).to_pylist()
    for row, one in zip(found, fitted.explain(rows.graphs(), search="none"), strict=True):
        assert row["edges"] == one.units.pair.T.tolist()
        torch.testing.assert_close(torch.tensor(row["scores"]), one.unit_scores)


def test_a_row_that_cannot_be_explained_is_a_row_with_its_error(case) -> None:
    width = case.fitted().kind.width
    good = {"edge_index": [[0, 1], [1, 0]], "x": [[1.0] + [0.0] * (width - 1)] * 2, "edge_attr": [[1.0, 0, 0, 0]] * 2}
    wide, nan = [[1.0, 2.0]] * 2, [[float("nan")] * width] * 2
    rows = [good, good | {"x": wide}, good | {"x": nan}, good | {"edge_index": None}, good]
    found = explained_rows(case.fitted(), graphs_of_rows(pa.Table.from_pylist(rows)), RowOptions(scores="all"), STAMP)
    errors = found.column("error").to_pylist()
    assert (errors[0], errors[4]) == (None, None)  # doubles are read as the model's own type
    assert "the graph has node features of width 2, the explainer was fitted on 14" in errors[1]
    assert "the graph has 28 NaN or infinite values in x" in errors[2]
    assert "edge_index is missing" in errors[3]
    for row in found.to_pylist()[1:4]:
        kept = ("row", "error", "model", "explainer")
        assert {key for key, value in row.items() if value is not None} == set(kept)
    assert found.column("prediction").to_pylist()[0] == found.column("prediction").to_pylist()[4]


def test_molecules_that_rdkit_refuses(case) -> None:
    found = explained_rows(case.fitted(), molecules_of_rows(["CCO", "C(C", ""]), RowOptions(), STAMP).to_pylist()
    assert [row["smiles"] for row in found] == ["CCO", "C(C", ""]
    assert [row["error"] is None for row in found] == [True, False, False]


@pytest.mark.parametrize("scores", ["some", 0, -1, True])
def test_scores_that_mean_nothing(scores) -> None:
    with pytest.raises(RCExplainerError, match="scores must be none, all or a number of edges such as 10"):
        RowOptions(scores=scores)
