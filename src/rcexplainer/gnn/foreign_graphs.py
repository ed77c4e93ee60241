"""What was given in the place of a graph, and how to make a graph of it."""

from collections.abc import Iterable, Mapping

from torch import Tensor, nn
from torch.utils.data import DataLoader, default_collate
from torch_geometric.data import Data, HeteroData, TemporalData

# Packages with graphs of their own: what PyG has to convert them. Some of these can be iterated over, by node.
CONVERTERS = {
    "networkx": "convert each graph with torch_geometric.utils.from_networkx(graph, group_node_attrs=[…])",
    "dgl": "convert each graph with torch_geometric.utils.from_dgl(graph)",
    "networkit": "convert each graph with torch_geometric.utils.from_networkit(graph)",
    "scipy": "convert a matrix with torch_geometric.utils.from_scipy_sparse_matrix(matrix)",
    "rdkit": "convert each molecule to the Data that your model was trained on, say with "
    "torch_geometric.utils.from_rdmol(molecule)",
    "igraph": "make a Data of the edge list: Data(x=x, edge_index=torch.tensor(graph.get_edgelist()).t())",
    "pandas": "make a Data of the numbers: Data(x=…, edge_index=…)",
}
FROM_TENSORS = "make one Data of them: Data(x=x, edge_index=edge_index)"


def not_graphs(given: object) -> str | None:
    """What to say of something that is neither a graph nor a collection that may hold graphs; None of all else."""
    kind = type(given)
    package, name = kind.__module__.partition(".")[0], kind.__name__
    if isinstance(given, HeteroData):
        return (
            "heterogeneous graphs are not supported: got HeteroData; pass homogeneous Data objects, such as "
            "those of .to_homogeneous(), with a model for them"
        )
    if isinstance(given, TemporalData):  # what it holds is TemporalData again, without end
        return (
            "temporal graphs are not supported: got TemporalData; make a Data of its events, such as "
            "Data(x=x, edge_index=torch.stack([events.src, events.dst]))"
        )
    if package in CONVERTERS:
        return f"expected PyG Data objects, got a {package} {name}: {CONVERTERS[package]}"
    if isinstance(given, DataLoader) and given.collate_fn is default_collate:
        return "expected PyG Data objects, got a torch DataLoader: take torch_geometric.loader.DataLoader, or a list"
    if hint := _hint(given):
        return f"expected PyG Data objects, got {name}: {hint}"
    return None


def _hint(given: object) -> str | None:
    if isinstance(given, nn.Module):
        return "fit takes the model, then the graphs: fit(model, graphs); explain takes the graphs alone"
    if isinstance(given, int):
        return "nodes and links are named by index, in their graph: explain(graph, index=…)"
    if isinstance(given, str):
        return f"graphs of a file are read by rc.datasets.GraphTable(path), a text such as {given[:40]!r} is no graph"
    if isinstance(given, Tensor):
        return FROM_TENSORS
    if isinstance(given, Mapping) and any(isinstance(value, Data) for value in given.values()):
        return "pass the graphs alone, without their names: list(graphs.values())"
    if isinstance(given, Mapping):
        return "Data(**graph) makes a graph of a dict with edge_index" if "edge_index" in given else FROM_TENSORS
    if isinstance(given, tuple) and any(isinstance(part, Tensor) for part in given):
        if any(isinstance(part, Data) for part in given):
            return "pass the graphs alone, without their labels"
        return FROM_TENSORS
    if isinstance(given, tuple) and {isinstance(part, Data) for part in given} == {True, False}:
        return "pass the graphs alone, without their labels"
    return _dataset_hint(given)


def _dataset_hint(given: object) -> str | None:
    """A `GraphDataset`: as a whole it would have its test instances learnt. (It stands on the same floor.)"""
    if isinstance(given, Iterable) or not hasattr(given, "subset") or not hasattr(given, "split"):
        return None
    if getattr(given, "task", "graph") == "graph":
        return 'its test graphs are among them: fit on data.subset("train"), explain data.subset("test")'
    return "pass its graph, and which part: fit(model, data.graph, index=data.split.train)"
