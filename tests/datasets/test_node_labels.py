"""What nodes are called: by a user's names, by kind, by element, or by number alone."""

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.datasets.node_labels import ELEMENTS, has_node_names, node_label

EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def labels(graph, kinds=()):
    return [node_label(graph, kinds)(node) for node in range(graph.num_nodes)]


def test_numbers_alone():
    graph = Data(x=torch.eye(3), edge_index=EDGES)
    assert labels(graph) == ["0", "1", "2"]
    assert not has_node_names(graph)


def test_names_of_the_user():
    assert labels(Data(edge_index=EDGES, num_nodes=3, node_names=["Ann", "Bob", "Cy"])) == ["Ann", "Bob", "Cy"]
    assert labels(Data(edge_index=EDGES, num_nodes=3, node_names=["C", "C", "N1"])) == ["C0", "C1", "N1:2"]
    assert labels(Data(edge_index=EDGES, num_nodes=3, node_names=["only one"])) == ["0", "1", "2"]


def test_kinds_of_a_dataset():
    graph = Data(x=torch.eye(3), edge_index=EDGES, atomic_number=torch.tensor([6, 7, 34]))
    assert labels(graph, ["c", "N", "other"]) == ["c0", "N1", "Se2"]
    assert labels(graph) == ["C0", "N1", "Se2"]
    assert has_node_names(graph)
    assert labels(Data(x=torch.eye(3), edge_index=EDGES), ["c", "N", "other"]) == ["c0", "N1", "other2"]


def test_atomic_numbers():
    assert (len(ELEMENTS), ELEMENTS[5], ELEMENTS[16], ELEMENTS[117]) == (118, "C", "Cl", "Og")
    assert labels(Data(edge_index=EDGES, num_nodes=3, z=torch.tensor([17, 0, 999]))) == ["Cl0", "*1", "*2"]


def test_a_smiles_names_the_atoms_if_it_is_this_graph():
    pytest.importorskip("rdkit")
    graph = Data(x=torch.eye(3), edge_index=EDGES, smiles="CCO")
    assert labels(graph) == ["C0", "C1", "O2"]
    for other in ("CC", "C1CC1", "no smiles", 7):  # other atoms, other bonds, nothing
        graph.smiles = other
        assert labels(graph) == ["0", "1", "2"]
