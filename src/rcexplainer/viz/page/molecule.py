"""A graph as an RDKit molecule, if RDKit is installed and it can be read as one; and the kinds of its nodes."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.fragments import ATOM_NAMES, BOND_NAMES
from rcexplainer.errors import MissingExtraError
from rcexplainer.viz.molecule_reading import read_molecule


def kind_names(graph: Data, node_names: Sequence[str] = ()) -> Sequence[str]:
    """Find what each one-hot node feature stands for.

    Args:
        graph: The graph; our own molecules are recognised by their attributes.
        node_names: The names, if the caller knows them.

    Returns:
        One name per feature; empty if they are not known or the features are not one-hot.
    """
    if not node_names and "formal_charge" in graph and "num_hydrogens" in graph:
        node_names = ATOM_NAMES
    return node_names if node_names and _one_hot(graph.get("x"), len(node_names)) else ()


def node_kinds(graph: Data, node_names: Sequence[str] = ()) -> list[str] | None:
    """Name the kind of each node, such as its element.

    Args:
        graph: The graph.
        node_names: As for `kind_names`.

    Returns:
        One name per node; None if the features are not one-hot or have no names.
    """
    names = kind_names(graph, node_names)
    return [names[kind] for kind in graph.x.argmax(1).tolist()] if names else None


def bond_kinds(graph: Data, edge_names: Sequence[str] = ()) -> list[str] | None:
    """Name the kind of each column of `edge_index`, such as "double".

    Args:
        graph: The graph.
        edge_names: What each one-hot entry of `edge_attr` stands for; by default our own bonds, if they fit.

    Returns:
        One name per column; None if they are not known.
    """
    kinds = graph.get("edge_attr")
    if not edge_names and isinstance(kinds, Tensor) and kinds.dim() == 2 and node_kinds(graph) is not None:
        edge_names = BOND_NAMES
    if not edge_names or not _one_hot(kinds, len(edge_names)):
        return None
    return [edge_names[kind] for kind in graph.edge_attr.argmax(1).tolist()]


def as_molecule(graph: Data, node_names: Sequence[str] = (), edge_names: Sequence[str] = ()) -> Any | None:
    """Read a graph as a molecule, if RDKit is installed.

    Args:
        graph: The graph.
        node_names: As for `kind_names`.
        edge_names: As for `bond_kinds`.

    Returns:
        What `read_molecule` returns; None without RDKit.
    """
    try:
        return read_molecule(graph, node_names, edge_names)
    except MissingExtraError:
        return None


def _one_hot(values: Any, width: int) -> bool:
    """Whether these are rows of this width with a single 1 each."""
    if not isinstance(values, Tensor) or values.dim() != 2 or values.size(1) != width:
        return False
    return bool(((values == 0) | (values == 1)).all()) and bool((values.sum(1) == torch.ones(1)).all())
