"""`disclose`: what is withheld is in no attribute, copy, table, page, answer of the server or log."""

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.cli.explanation_record import disclosed_label
from rcexplainer.disclosure import WITHHELD, Disclosure, checked_disclosure
from rcexplainer.engine.explained_rows import Stamp, explained_rows
from rcexplainer.engine.row_options import RowOptions
from rcexplainer.errors import RCExplainerError, WithheldError
from rcexplainer.explanation import Explanation
from rcexplainer.server.application import make_app
from tests.server.served_case import graph_case, link_case, node_case

testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed: the server is not tested")

SCORES: tuple[Callable[[Explanation], Any], ...] = (
    lambda one: one.scores,
    lambda one: one.relevance,
    lambda one: one.edge_scores,
    lambda one: one.edge_relevance,
    lambda one: one.reading("scores"),
    lambda one: one.unit_scores,
    lambda one: one.unit_relevance,
    lambda one: one.node_scores,
    lambda one: one.edges,
    lambda one: one.top(2),
    lambda one: one.at_sparsity(0.5),
    lambda one: one.draw(),
)
COUNTERFACTUAL: tuple[Callable[[Explanation], Any], ...] = (
    lambda one: one.counterfactual,
    lambda one: one.counterfactual_instance,
    lambda one: one.removed_units,
)


def everything(value: Any, seen: set[int] | None = None) -> list[Any]:
    """Every object that can be reached from a result, without running its code; the caller's own graph is left out."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, Data):
        return []
    seen.add(id(value))
    inner = list(vars(value).values()) if hasattr(value, "__dict__") else []
    inner += list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list | tuple) else []
    return [value, *(found for one in inner for found in everything(one, seen))]


def numbers(results: Any) -> set[float]:
    """All real numbers in the tensors of results."""
    tensors = [one for one in everything(results) if isinstance(one, Tensor) and one.is_floating_point()]
    return {float(value) for one in tensors for value in one.flatten()}


@pytest.mark.parametrize("case", [graph_case, node_case, link_case])
@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_what_is_withheld_is_not_there(case: Callable[[], Any], disclose: Disclosure) -> None:
    fitted, graphs = case()
    index = None if isinstance(graphs, list) else ([3, 5] if case is node_case else [(0, 1), (3, 9)])
    some = graphs[:4] if isinstance(graphs, list) else graphs
    wanted = fitted.explain(some, index=index)
    found = fitted.explain(some, index=index, disclose=disclose)
    streamed = list(fitted.explain_iter(some, index=index, disclose=disclose))
    for one, other, same in zip(found, streamed, wanted, strict=True):
        assert one.prediction == other.prediction == same.prediction
        torch.testing.assert_close(one.probabilities, same.probabilities)
        for ask in (*SCORES, *(COUNTERFACTUAL if disclose == "prediction" else ())):
            for own in (one, other, copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
                with pytest.raises(WithheldError, match=rf"withh.*disclose='{disclose}'|disclose='{disclose}' withh"):
                    ask(own)
        assert set(WITHHELD[disclose]).isdisjoint(vars(one))
        assert "withheld" in repr(one)
        assert f"{len(same.units)} edge" in repr(same)
        assert f"{len(same.units)} edge" not in repr(one).replace(f"without {len(same.units)} edge", "")
        assert one._repr_svg_() is None
    if disclose == "counterfactual":
        for one, same in zip(found, wanted, strict=True):
            assert torch.equal(one.counterfactual.columns, same.counterfactual.columns)
            assert one.counterfactual.flipped == same.counterfactual.flipped


@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_no_score_is_reachable_from_the_sequence_of_results(disclose: Disclosure) -> None:
    """The tensors of a batch, from which explanations are made, hold no scores either."""
    fitted, graphs = graph_case()
    wanted = {float(value) for one in fitted.explain(graphs[:6]) for value in one.unit_scores} - {0.0, 1.0}
    assert len(wanted) > 20
    for asked in (graphs[:6], Batch.from_data_list(graphs[:6])):
        assert wanted <= numbers(fitted.explain(asked))
        values = numbers(fitted.explain(asked, disclose=disclose))
        assert values
        assert not wanted & values


def test_scores_are_told_by_default() -> None:
    fitted, graphs = graph_case()
    one, same = fitted.explain(graphs[0]), fitted.explain(graphs[0], disclose="scores")
    assert one.disclosed == "scores"
    assert torch.equal(one.edge_scores, same.edge_scores)
    assert "withheld" not in repr(one)
    assert {field.name for field in fields(Explanation)} > {name for own in WITHHELD.values() for name in own}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = one.nothing  # type: ignore[attr-defined]


def test_an_unknown_disclosure_is_refused_and_so_is_what_predictions_do_not_use() -> None:
    fitted, graphs = graph_case()
    with pytest.raises(RCExplainerError, match="disclose must be one of scores, counterfactual, prediction, got 'all'"):
        fitted.explain(graphs[0], disclose="all")  # type: ignore[call-overload]
    for name, value in (("budget", 5), ("confidence", 0.9), ("refine", 3)):
        with pytest.raises(RCExplainerError, match=f"{name}={value} is for edge scores and counterfactuals"):
            fitted.explain(graphs[0], disclose="prediction", **{name: value})
    assert [checked_disclosure(one) for one in get_args(Disclosure)] == list(WITHHELD)


def test_the_advice_asks_for_no_more_to_be_told_than_is_needed() -> None:
    fitted, graphs = graph_case()
    one = fitted.explain(graphs[0], disclose="prediction")
    with pytest.raises(WithheldError, match=r'can make another one with disclose="counterfactual"$'):
        _ = one.counterfactual
    with pytest.raises(WithheldError, match=r'can make another one with disclose="scores"$'):
        _ = one.edge_scores
    with pytest.raises(WithheldError, match=r'make the explanations with disclose="scores"$'):
        one.draw()


def test_a_page_of_what_is_withheld_is_refused(tmp_path: Path) -> None:
    fitted, graphs = graph_case()
    found = fitted.explain(graphs[:2], disclose="counterfactual")
    with pytest.raises(WithheldError, match="a page shows scores, and disclose='counterfactual' withholds this"):
        rc.viz.page(found, tmp_path / "page.html", fitted)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_tables_have_no_columns_of_what_is_withheld(disclose: Disclosure) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra tables)")
    from rcexplainer.datasets.row_graphs import graphs_of_rows, rows_of_graphs

    fitted, graphs = graph_case()
    named = [
        graph.clone().update({"smiles": f"{'C' * place}O", "id": str(place)}) for place, graph in enumerate(graphs)
    ]
    rows = graphs_of_rows(rows_of_graphs(named[:6]))
    table = explained_rows(fitted, rows, RowOptions(disclose=disclose), Stamp("m", "e", ("a", "b", "c")))
    assert not {"edges", "scores"} & set(table.column_names)
    assert table.column("error").null_count == table.num_rows == 6
    assert table.column("prediction").null_count == 0
    assert table.column("smiles").null_count == 6  # a SMILES has every edge of its graph in it
    assert table.column("id").to_pylist() == [str(place) for place in range(6)]
    for name in ("removed", "new_prediction", "new_class", "new_probabilities", "flipped", "minimal", "exhausted"):
        assert table.column(name).null_count == (6 if disclose == "prediction" else 0), name
    with pytest.raises(WithheldError, match=f"scores='all' shows scores, and disclose='{disclose}'"):
        RowOptions(disclose=disclose, scores="all")
    assert RowOptions(disclose=disclose).values()["disclose"] == disclose  # another job, with its own folder


def test_nodes_are_called_by_their_numbers_where_scores_are_withheld() -> None:
    graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, node_names=["Ann", "Bob"])
    assert [disclosed_label(graph, (), one)(1) for one in get_args(Disclosure)] == ["Bob", "1", "1"]


# The server


def served(disclose: Disclosure) -> Any:
    fitted, graphs = graph_case()
    return testclient.TestClient(make_app(fitted, graphs, disclose=disclose), base_url="http://127.0.0.1:8000")


def told(value: Any) -> set[str]:
    """All keys of nested JSON values."""
    if isinstance(value, dict):
        return {*value, *(key for own in value.values() for key in told(own))}
    return {key for own in value for key in told(own)} if isinstance(value, list) else set()


@pytest.mark.parametrize("disclose", ["counterfactual", "prediction"])
def test_no_route_tells_what_is_withheld(disclose: Disclosure, caplog: pytest.LogCaptureFixture) -> None:
    fitted, graphs = graph_case()
    upload = {"edge_index": graphs[0].edge_index.tolist(), "x": graphs[0].x.tolist()}
    with served(disclose) as client, caplog.at_level(0):
        assert client.get("/health").json()["disclose"] == disclose
        paths = client.get("/openapi.json").json()["paths"]
        assert paths.keys() == {"/health", "/predict", "/explain"}
        for body in ({"instance": 0}, {"graph": upload}):
            answer = client.post("/explain", json=body).json()
            assert answer["prediction"] == fitted.explain(graphs[0]).prediction
            assert not told(answer) & {"scores", "edges", "relevance"}
            assert ("counterfactual" in answer) == (disclose == "counterfactual")
        for path, field in (("/predict", "deleted"), ("/explain", "candidates")):
            refused = client.post(path, json={"instance": 0, field: [[0, 1]]})
            assert refused.status_code == 403
            assert refused.json() == {"error": f"this server discloses the {disclose} alone: leave {field} out"}
            assert field not in json.dumps(paths[path])
        assert client.post("/instances", json={"graph": upload}).status_code == 404
        page = client.get("/")
        assert page.headers["content-type"].startswith("text/plain")
        assert f"discloses the {disclose} alone" in page.text
    scores = [f"{value:.4f}" for value in fitted.explain(graphs[0]).unit_scores.tolist() if 0 < value < 1]
    assert scores
    assert not [one for one in scores if one in caplog.text]


def test_the_counterfactual_of_the_server_is_that_of_explain() -> None:
    fitted, graphs = graph_case()
    wanted = fitted.explain(graphs[0], disclose="counterfactual")
    with served("counterfactual") as client:
        found = client.post("/explain", json={"instance": 0}).json()["counterfactual"]
    assert found["removed"] == wanted.units.pair[:, wanted.removed_units].T.tolist()
    assert found["flipped"] == wanted.counterfactual.flipped
