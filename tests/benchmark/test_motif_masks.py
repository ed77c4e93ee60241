"""`edge_motif` of a user's own graphs: which masks are used, of how many graphs, and what is said of others."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.benchmark.motif_masks import MotifMasks, with_bool_masks
from rcexplainer.benchmark.own_evaluation import OwnEvaluation, evaluate_own
from rcexplainer.datasets import GraphDataset
from rcexplainer.gnn import GNN, gnn_config

HELD_OUT = [0, 3, 5, 8]
Masks = Mapping[int, Any]


@pytest.fixture(scope="module")
def case() -> tuple[GNN, GraphDataset]:
    data = rc.datasets.load("ba-2motifs", num_graphs=20)
    torch.manual_seed(0)
    return GNN(gnn_config("paper", data.num_features, data.num_classes)).eval(), data


def with_masks(data: GraphDataset, masks: Masks) -> GraphDataset:
    """The dataset with other masks; None: without one."""
    graphs = [graph.clone() for graph in data.graphs]
    for place, mask in masks.items():
        graphs[place].edge_motif = mask
        if mask is None:
            del graphs[place].edge_motif
    return replace(data, graphs=tuple(graphs))


def evaluated(model: GNN, data: GraphDataset, index: list[int] = HELD_OUT) -> OwnEvaluation:
    return evaluate_own(model, data, index=index, methods=["random"], progress=False)


def caption(found: OwnEvaluation) -> str:
    return found.tables()[0][1]


def test_masks_of_all_graphs(case: tuple[GNN, GraphDataset]) -> None:
    found = evaluated(*case)
    assert found.masks == MotifMasks(4, 4, 0, None)
    assert caption(found).endswith(" do neither")
    assert found.to_json()["masks"]["marked"] == 4


@pytest.mark.parametrize("kind", [torch.long, torch.float, torch.uint8])
def test_zeros_and_ones_of_any_type_are_masks(case: tuple[GNN, GraphDataset], kind: torch.dtype) -> None:
    model, data = case
    numbers = with_masks(data, {place: data[place].edge_motif.to(kind) for place in range(len(data))})
    assert evaluated(model, numbers).motif == evaluated(*case).motif
    assert numbers[0].edge_motif.dtype == kind  # the user's graphs are left as they were
    assert with_bool_masks(data) is data


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (lambda graph: torch.rand(graph.num_edges), "graph 3 has float32 with other values than 0 and 1"),
        (lambda graph: graph.edge_motif.tolist(), "graph 3 has a list"),
        (lambda graph: graph.edge_motif[:7], r"graph 3 has a tensor of shape \(7,\) for \d+ edges"),
        (lambda graph: torch.zeros(graph.num_edges, dtype=torch.bool), "it is false for every edge there"),
    ],
)
def test_what_is_no_mask_is_named(case: tuple[GNN, GraphDataset], mask: Callable[[Data], Any], said: str) -> None:
    model, data = case
    others: dict[int, Any] = dict.fromkeys(HELD_OUT)
    wanted = "edge_motif is not used: it must be a bool for each edge, true for some of those held out; "
    found = caption(evaluated(model, with_masks(data, others | {3: mask(data[3])})))
    assert re.search(f"{wanted}{said}$", found)


def test_the_caption_says_of_how_many_graphs_shares_are(case: tuple[GNN, GraphDataset]) -> None:
    model, data = case
    some = evaluated(model, with_masks(data, {0: None, 3: torch.zeros(data[3].num_edges)}))
    assert caption(some).endswith(" do neither, in 2 of 4 graphs held out")
    wrong = evaluated(model, with_masks(data, {0: [True], 3: "edges"}))
    assert caption(wrong).endswith(", in 2 of 4 graphs held out (2 left out: graph 0 has a list)")


def test_nodes_need_to_know_their_own_motif() -> None:
    data = rc.datasets.load("tree-cycles")
    graph = data.graph.clone()
    del graph.node_motif_id
    bare = replace(data, graphs=(graph,))
    assert MotifMasks.of(data, [0]) == MotifMasks(1, 1, 0, None)
    assert MotifMasks.of(bare, [0]).reason() == "the graph has no node_motif_id"
