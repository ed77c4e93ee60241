"""Which attributes of a graph belong to its nodes, which to its edges, and which to the whole of it."""

from dataclasses import dataclass

from torch import Tensor
from torch_geometric.data import Batch, Data

# The string attribute of a batch or computation graph that lists its edge-level attributes, separated by commas.
EDGE_LEVEL = "rcexplainer_edge_level"
# Labels, and what describes a batch: never part of a computation graph.
APART = frozenset({"edge_index", "y", "batch", "ptr", "edge_label", "edge_label_index"})


@dataclass(frozen=True)
class AttributeLevels:
    """Names of the tensors of a graph that computation graphs carry, by what they describe."""

    node: tuple[str, ...]
    edge: tuple[str, ...]
    graph: tuple[str, ...]  # one row, the same for every part of the graph


def attribute_levels(graph: Data) -> AttributeLevels:
    """Sort the tensors of a graph, except `edge_index` and labels, by what they describe.

    Args:
        graph: A graph in memory.
    """
    edge = tuple(key for key in edge_level_keys(graph) if key != "edge_index")
    rest = {
        key: value
        for key, value in graph.to_dict().items()
        if isinstance(value, Tensor) and key not in APART and key not in edge and value.dim()
    }
    node = tuple(key for key, value in rest.items() if value.size(0) == graph.num_nodes)
    return AttributeLevels(node, edge, tuple(key for key in rest if key not in node and rest[key].size(0) == 1))


def edge_level_keys(graph: Data) -> list[str]:
    """Names of the attributes with one entry per edge: those with "edge" in their name, and others by their length.

    The length proves nothing in a graph with as many edges as nodes or labels. Batches and computation graphs therefore
    list the names (`EDGE_LEVEL`). PyG's own test (`is_edge_attr`) is not used: it takes the label of a graph with a
    single edge for an edge attribute.
    """
    listed = graph.get(EDGE_LEVEL)
    known = None if listed is None else (listed if isinstance(listed, str) else listed[0]).split(",")
    num_edges = graph.num_edges
    ambiguous = num_edges in (1, graph.num_nodes, graph.num_graphs if isinstance(graph, Batch) else 1)
    keys = ["edge_index"]
    for key, value in graph.to_dict().items():
        if "index" in key or key == "edge_label" or not isinstance(value, Tensor) or value.dim() == 0:
            continue  # labels belong to pairs to predict, not to the edges of the graph
        plain = key in known if known is not None else not ambiguous and key not in ("y", "batch", "ptr")
        if value.size(0) == num_edges and ("edge" in key or plain):
            keys.append(key)
    return keys
