"""The case study: its motifs by hand, and its examples as JSON."""

import torch

from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.datasets import load
from rcexplainer.explanation import Explanation
from rcexplainer.paper.case_examples import examples_from, examples_json
from rcexplainer.paper.case_study import CLASS_MOTIFS, MOTIF_NAMES
from rcexplainer.paper.plan import settings_file


def test_the_motifs_of_each_class_are_those_of_the_dataset() -> None:
    data = load("three-motifs", num_graphs=30)
    for graph in data.graphs:
        kinds = set(graph.edge_motif_id[graph.edge_motif].tolist())
        assert kinds == set(CLASS_MOTIFS[int(graph.y)])
    assert data.class_names == tuple("+".join(MOTIF_NAMES[kind] for kind in kinds) for kinds in CLASS_MOTIFS)
    assert tuple(settings_file("case-study")["motifs"]) == MOTIF_NAMES


def test_examples_are_the_same_after_json() -> None:
    graph = load("three-motifs", num_graphs=3).graphs[0]
    columns = torch.tensor([0, 3])
    found = Counterfactual(graph, columns, 0, torch.tensor([0.2, 0.7, 0.1]), target=1)
    scores = torch.linspace(0, 1, graph.num_edges)
    first = Explanation(graph, scores, 0, torch.tensor([0.8, 0.1, 0.1]), ("a", "b", "c"), found)
    second = Explanation(graph, 1 - scores, 0, torch.tensor([0.8, 0.1, 0.1]), ("a", "b", "c"))
    again = examples_from(examples_json({(0, 1): first, (0, 2): second}), ("a", "b", "c"))
    torch.testing.assert_close(again[0, 1].edge_scores, scores)
    torch.testing.assert_close(again[0, 1].graph.edge_index, graph.edge_index)
    assert torch.equal(again[0, 1].counterfactual.removed, found.removed)
    assert torch.equal(again[0, 1].removed_units, first.removed_units)
    assert again[0, 1].counterfactual.flipped
    assert again[0, 2].counterfactual is None
