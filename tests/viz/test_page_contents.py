"""What the document of a page says about explanations."""

import json
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.errors import RCExplainerError
from rcexplainer.testing.sample_graphs import whole_graph
from rcexplainer.testing.sample_networks import random_network
from rcexplainer.viz.page import depiction, molecule, reasons
from rcexplainer.viz.page.contents import make_document
from rcexplainer.viz.page.curves import deletion_curves
from rcexplainer.viz.page.document import PageDocument, ShownFailure, ShownResult, plain
from tests.viz.explained import mutagenicity_like, node_explanation
from tests.viz.page_case import CLASSES, page_case

pytest.importorskip("rdkit")


@pytest.fixture(scope="module")
def document() -> PageDocument:
    case = page_case()
    return make_document(
        {"": case.explanations}, {"": deletion_curves(case.fitted.split, case.explanations)}, "Molecules"
    )


def test_every_instance_is_what_its_explanation_says(document: PageDocument) -> None:
    assert (document.noun, document.classes, document.methods, document.curves) == ("bond", CLASSES, ("",), True)
    for place, (one, shown) in enumerate(zip(page_case().explanations, document.instances, strict=True)):
        assert (shown.name, shown.row, shown.smiles) == (f"mol-{place}", place + 2, one.graph.smiles)
        assert (shown.size, shown.nodes) == (len(one.units), one.graph.num_nodes)
        assert shown.label == CLASSES[int(one.graph.y)]
        assert [(u, v) for u, v, _ in shown.edges] == [tuple(pair) for pair in one.units.pair.T.tolist()]
        result = shown.results[0]
        assert isinstance(result, ShownResult)
        assert result.prediction == one.prediction
        assert result.probabilities == pytest.approx(one.probabilities.tolist(), abs=1e-7)
        assert result.scores == pytest.approx(one.unit_scores.tolist(), abs=1e-4)
        assert one.counterfactual is not None
        assert result.counterfactual is not None
        assert list(result.counterfactual.removed) == one.removed_units.tolist()
        assert result.counterfactual.flipped == one.counterfactual.flipped
        first = result.ranks.index(0)
        assert one.unit_scores[first] == one.unit_scores.max()


def test_it_is_plain_json_without_empty_fields(document: PageDocument) -> None:
    values = plain(document)
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert "target" not in values["instances"][0]["results"][0]["counterfactual"]


def test_molecules_have_rdkits_places_elements_and_bond_orders() -> None:
    graph = rc.datasets.fragments.to_data(rc.datasets.fragments.read_smiles("CC(=O)c1ccccc1[N+](=O)[O-]"), 0)
    one = rc.Explanation(graph, torch.zeros(graph.num_edges), 0, torch.tensor([0.5, 0.5]))
    shown = make_document({"": [one]}).instances[0]
    assert shown.molecule
    assert [text for text in shown.texts if text] == ["O", "N⁺", "O", "O⁻"]
    assert shown.names[:4] == ("C0", "C1", "O2", "c3")
    orders = {(u, v): order for u, v, order in shown.edges}
    assert orders[0, 1] == 1
    assert orders[1, 2] == 2
    assert sorted(orders[pair] for pair in orders if min(pair) >= 3 and max(pair) <= 8) == [1, 1, 1, 2, 2, 2]


def test_charges_are_restored_where_files_hold_none() -> None:
    graph = mutagenicity_like()
    one = rc.Explanation(graph, torch.zeros(graph.num_edges), 0, torch.tensor([0.5, 0.5]))
    shown = make_document({"": [one]}).instances[0]
    assert shown.molecule
    assert shown.texts == ("", "N⁺", "O", "O⁻", "H", "H", "H")


def test_without_rdkit_our_own_layout_and_the_features_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depiction, "as_molecule", lambda *_: None)
    monkeypatch.setattr(reasons, "as_molecule", lambda *_: None)
    shown = make_document({"": page_case().explanations[:5]})
    assert shown.noun == "bond"
    first, graph = shown.instances[0], page_case().graphs[0]
    kinds = molecule.node_kinds(graph) or []
    assert first.texts == tuple("" if kind in ("C", "c") else kind.capitalize() for kind in kinds)
    assert first.names == tuple(f"{kind}{node}" for node, kind in enumerate(kinds))
    assert {order for _, _, order in first.edges} <= {1, 2, 3, 4}
    assert len(set(zip(first.x, first.y, strict=True))) == graph.num_nodes
    assert not shown.reasons[0][0].smiles


def test_a_smiles_of_another_graph_is_not_believed() -> None:
    graph = page_case().graphs[0].clone()
    graph.smiles = "C1CC1"
    assert molecule.as_molecule(graph).GetNumAtoms() == graph.num_nodes
    graph.x = torch.rand(graph.num_nodes, 3)  # no element to be read from it either
    assert molecule.as_molecule(graph) is None


def test_a_node_is_drawn_in_its_computation_graph_with_a_ring() -> None:
    model, graph = random_network("graphconv", "node"), whole_graph()
    fitted = rc.baselines.Occlusion(task="node").fit(model, graph)
    explanations = list(fitted.explain(graph, index=[3, 7]))
    document = make_document({"": explanations})
    for one, shown in zip(explanations, document.instances, strict=True):
        assert isinstance(one, rc.Explanation)
        assert shown.name == f"node {one.index}"
        assert [shown.names[root] for root in shown.roots] == [str(one.index)]
        pairs = [(int(shown.names[u]), int(shown.names[v])) for u, v, _ in shown.edges]
        assert pairs == [tuple(pair) for pair in one.units.pair.T.tolist()]


def test_edges_that_go_one_way_start_at_their_first_node_and_the_motif_is_known() -> None:
    edges = torch.tensor([[1, 1, 2, 3, 3], [0, 2, 1, 2, 3]])  # one way back, both ways, one way back, a loop
    graph = Data(edge_index=edges, num_nodes=4, edge_motif=torch.tensor([True, False, False, True, False]))
    for motif in (graph.edge_motif, graph.edge_motif.long() - 1):  # kinds of motifs are −1 outside
        graph.edge_motif = motif
        shown = make_document(
            {"": [rc.Explanation(graph, torch.linspace(0, 1, 5), 0, torch.tensor([0.6, 0.4]))]}
        ).instances[0]
        assert [(u, v) for u, v, _ in shown.edges] == [(1, 0), (1, 2), (3, 2)]
        assert (shown.one_way, shown.motif) == ((0, 2), (0, 2))
    graph.edge_motif = torch.zeros(2)  # of another graph
    shown = make_document(
        {"": [rc.Explanation(graph, torch.linspace(0, 1, 5), 0, torch.tensor([0.6, 0.4]))]}
    ).instances[0]
    assert shown.motif == ()


def test_a_node_has_the_marks_of_its_own_edges() -> None:
    model, graph = random_network("graphconv", "node"), whole_graph()
    graph.edge_motif = (graph.edge_index == 3).any(0)
    one = rc.baselines.Occlusion(task="node").fit(model, graph).explain(graph, index=3)
    assert isinstance(one, rc.Explanation)
    shown = make_document({"": [one]}).instances[0]
    assert shown.motif == tuple((one.units.pair == 3).any(0).nonzero().flatten().tolist())
    found = {tuple(edge) for edge in graph.edge_index.T.tolist()}
    back = [(v, u) in found for u, v in one.units.pair.T.tolist()]
    both = [(u, v) in found for u, v in one.units.pair.T.tolist()]
    assert shown.one_way == tuple(n for n, ways in enumerate(zip(back, both, strict=True)) if not all(ways))


def test_a_large_graph_is_drawn_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depiction, "PAGE_EDGES", 30)
    monkeypatch.setattr(depiction, "EXCERPT_EDGES", 5)
    star = torch.stack([torch.zeros(40, dtype=torch.long), torch.arange(1, 41)])
    graph = Data(edge_index=torch.cat([star, star.flip(0)], 1), num_nodes=41)
    scores = torch.linspace(0, 1, 40).repeat(2)
    one = rc.Explanation(graph, scores, 0, torch.tensor([0.6, 0.4]))
    shown = make_document({"": [one]}).instances[0]
    assert shown.left_out == (
        "Drawn: 5 of 40 edges and 6 of 41 nodes: those that rank highest and others between their nodes."
    )
    assert shown.names == ("0", "36", "37", "38", "39", "40")
    result = shown.results[0]
    assert isinstance(result, ShownResult)
    assert sorted(result.ranks) == [0, 1, 2, 3, 4]


def test_the_neighbours_of_a_hub_stand_around_it_and_apart() -> None:
    one = node_explanation([(0, leaf) for leaf in range(1, 401)], 401, 0, [0, 400])
    shown = make_document({"": [one]}).instances[0]
    assert len(shown.edges) == depiction.EXCERPT_EDGES
    places = torch.tensor([shown.x, shown.y]).T
    root = shown.roots[0]
    far = torch.cdist(places[root][None], torch.cat([places[:root], places[root + 1 :]]))
    assert float(far.max() - far.min()) < 0.05
    apart = torch.cdist(places, places).fill_diagonal_(torch.inf).amin(1)
    assert float(apart.median()) == pytest.approx(depiction.NODE_GAP, abs=0.02)


def test_failures_keep_their_place() -> None:
    case = page_case()
    failed = rc.Failure(1, ValueError("a graph\nwithout sense"))
    shown = make_document({"": [case.explanations[0], failed]}, names=["a", "b"])
    assert [one.name for one in shown.instances] == ["mol-0", "b"]
    assert shown.instances[1].results == (ShownFailure("a graph without sense"),)


def test_methods_stand_side_by_side_if_they_explain_the_same() -> None:
    case = page_case()
    few = case.explanations[:3]
    other = [replace(one, scores=1 - one.scores) for one in few]
    shown = make_document({"ours": few, "theirs": other})
    assert shown.methods == ("ours", "theirs")
    assert all(len(one.results) == 2 for one in shown.instances)
    with pytest.raises(RCExplainerError, match=r"got different numbers: 'ours': 3, 'theirs': 2"):
        make_document({"ours": few, "theirs": other[:2]})
    with pytest.raises(RCExplainerError, match="different graphs in place 0: give them in the same order"):
        make_document({"ours": few, "theirs": other[::-1]})
    with pytest.raises(RCExplainerError, match="a page needs at least one explanation"):
        make_document({"ours": []})
    with pytest.raises(RCExplainerError, match=r"must have the same classes, got \[2, 3\] of them"):
        make_document({"": [few[0], replace(few[1], probabilities=torch.ones(3) / 3)]})
