"""Datasets by name, and the split that is the same on every machine."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rcexplainer.datasets import GraphDataset, load, names, stratified_split
from rcexplainer.errors import DatasetError
from rcexplainer.gnn.graph_checks import as_graphs

BUILT_IN = [name for name in names() if name not in ("mutagenicity", "nci1")]


def test_names():
    assert names() == [
        "ba-shapes",
        "ba-community",
        "tree-cycles",
        "tree-grid",
        "ba-grid",
        "ba-2motifs",
        "three-motifs",
        "motif-unions",
        "shared-neighbours",
        "nitro",
        "mutagenicity",
        "nci1",
    ]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_set_is_well_formed(name):
    data = load(name)
    assert data.name == name
    as_graphs(data.graphs)
    assert data.has_ground_truth
    for graph in data.graphs:
        assert graph.edge_motif.shape == graph.edge_motif_id.shape == (graph.num_edges,)
        assert torch.equal(graph.edge_motif, graph.edge_motif_id >= 0)
    instances = len(data.labels)
    if data.task != "link":
        assert instances == (len(data) if data.task == "graph" else data.graph.num_nodes)
    together = torch.cat([data.split.train, data.split.val, data.split.test])
    assert together.sort().values.tolist() == list(range(instances))
    assert len(data.split.train) == pytest.approx(0.8 * instances, abs=1)
    assert int(data.labels.max()) == data.num_classes - 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ba-shape", "unknown dataset 'ba-shape'; did you mean ba-shapes"),
        ("Mutag", "did you mean mutagenicity"),
        ("zzz", "known: ba-shapes, ba-community"),
        ("tu:", "'' cannot be the name of a TU set"),
        ("xyz:thing", "Also tu:NAME and csv:PATH"),
    ],
)
def test_unknown_names(name, message):
    with pytest.raises(DatasetError, match=re.escape(message)):
        load(name)


def test_unknown_option():
    with pytest.raises(DatasetError, match=r"'ba-2motifs'.*unexpected keyword argument 'size'"):
        load("ba-2motifs", size=3)


def test_name_in_any_case():
    assert load("BA-2motifs", num_graphs=10).name == "ba-2motifs"


def test_graph_and_node_sets_have_their_own_doors():
    graphs, nodes = load("ba-2motifs", num_graphs=10), load("tree-cycles")
    assert len(graphs.subset("train")) == 8
    assert nodes.graph is nodes[0]
    with pytest.raises(DatasetError, match=r"holds 10 graphs; \.graph is for node and link sets"):
        _ = graphs.graph
    with pytest.raises(DatasetError, match=r"is one graph: its parts are positions of nodes, use \.split\.val"):
        nodes.subset("val")


def test_a_dataset_is_frozen():
    data = load("ba-2motifs", num_graphs=10)
    assert isinstance(data, GraphDataset)
    with pytest.raises(AttributeError):
        data.name = "other"


@given(labels=st.lists(st.integers(0, 4), min_size=10, max_size=200), seed=st.integers(0, 1000))
def test_split_is_a_stratified_partition(labels, seed):
    split = stratified_split(labels, seed)
    parts = [split.train, split.val, split.test]
    assert torch.cat(parts).sort().values.tolist() == list(range(len(labels)))
    assert [len(part) for part in parts[:2]] == [round(0.8 * len(labels)), round(0.1 * len(labels))]
    counts = torch.tensor(labels).bincount(minlength=5)
    for part, share in zip(parts, (0.8, 0.1, 0.1), strict=True):
        found = torch.tensor(labels)[part].bincount(minlength=5)
        assert bool(((found - share * counts).abs() <= 2).all())
    again = stratified_split(torch.tensor(labels), seed)
    assert torch.equal(again.train, split.train)


def test_split_never_changes():
    split = stratified_split([0, 1] * 10, seed=0)
    assert split.val.tolist() == [0, 3]
    assert split.test.tolist() == [12, 15]
    assert not torch.equal(stratified_split([0, 1] * 10, seed=1).train, split.train)
