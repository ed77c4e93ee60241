"""What a model must be, and what to tell of one whose output or error shows that it was made for something else."""

import inspect
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch_geometric.data import Batch, Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.prediction import Shape


def check_model(model: object) -> None:
    """Refuse anything but an `nn.Module` that can be taken apart, and whose weights can be watched.

    Raises:
        SplitError: Saying what else it is, and how to make a model of it.
    """
    if isinstance(model, torch.jit.ScriptModule):
        raise SplitError("a TorchScript model cannot be split, it takes no hooks: pass the nn.Module it was made from")
    if isinstance(model, nn.Module):
        _check_weights(model)
        return
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise SplitError(f"expected a torch.nn.Module, got the class {model.__name__}: pass a trained model of it")
    if isinstance(model, Mapping):
        hint = "; weights go into a model first: model.load_state_dict(weights)"
    elif isinstance(model, str | Path):
        hint = "; a file is read into a model first: model.load_state_dict(torch.load(path, weights_only=True))"
    else:
        hint = "; the model comes first: fit(model, graphs)"
    raise SplitError(f"expected a torch.nn.Module, got {type(model).__name__}{hint}")


def _check_weights(model: nn.Module) -> None:
    """Refuse weights that neither count their changes nor let anything be differentiated."""
    for name, tensor in chain(model.named_parameters(), model.named_buffers()):
        if not is_lazy(tensor) and tensor.is_inference():
            raise SplitError(
                f"{type(model).__name__} was made inside torch.inference_mode(), such as its {name}: these weights "
                "cannot be differentiated through; make it outside, or explain a copy made outside, "
                "copy.deepcopy(model)"
            )


def original_of(model: nn.Module) -> nn.Module:
    """Of a model from `torch.compile` the one it was made from, the only one whose hooks run; any other as it is."""
    return getattr(model, "_orig_mod", model)


def check_forward(forward: Any) -> None:
    """Refuse what cannot be called as `forward(model, batch, edge_weight)`.

    Raises:
        SplitError: It is no function, or takes other arguments.
    """
    if not callable(forward):
        raise SplitError(
            f"forward must be a function of (model, batch, edge_weight), got {type(forward).__name__}; leave it out to "
            "have the model called by the names of its arguments"
        )
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):  # a function written in C does not tell
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise SplitError(
            f"forward is called with three arguments, (model, batch, edge_weight), but its own are {signature}"
        ) from None


def row_advice(model: nn.Module, batch: Data, rows: int) -> Callable[[list[Shape]], str]:
    """What to do about a model that returned no row for each instance, from the shapes of what it returned.

    Args:
        model: The model.
        batch: The graphs that it was run on.
        rows: Instances in the batch.
    """
    nodes, graphs = int(batch.num_nodes or 0), int(batch.num_graphs) if isinstance(batch, Batch) else 1

    def advice(shapes: list[Shape]) -> str:
        lengths = {shape[0] if len(shape) > 1 else 1 for shape in shapes}
        for name, size in embedding_tables(model):
            if size in lengths - {nodes, graphs}:
                return f"these are the {size} rows of its embedding table {name!r}, whatever the graph: {LOOK_UP}"
        if rows != graphs and graphs in lengths:
            return 'one row for a graph is what a graph classifier returns: for one pass task="graph" and graphs'
        if rows != nodes and nodes in lengths:
            return (
                'one row for each node is what a node classifier returns: for one pass task="node"; a graph classifier '
                "pools the nodes of each graph, as global_mean_pool(x, batch) does"
            )
        if rows == graphs and lengths == {1}:
            return "it pools the nodes of all graphs together: pool those of each graph, global_mean_pool(x, batch)"
        return "if it needs other arguments (such as `batch`), pass forward=lambda model, batch, edge_weight: …"

    return advice


LOOK_UP = (
    "let the model look up the rows of the nodes it gets, self.table(n_id), by a node attribute such as "
    "n_id=torch.arange(num_nodes)"
)


def embedding_tables(model: nn.Module) -> list[tuple[str, int]]:
    """The embedding tables of a model, each with its number of rows."""
    return [(name, module.num_embeddings) for name, module in model.named_modules() if isinstance(module, nn.Embedding)]


def error_advice(model: nn.Module, error: Exception) -> str:
    """What to do about an error that a model raised when it was first run."""
    tables = embedding_tables(model)
    if tables and (isinstance(error, IndexError) or "out of" in str(error)):
        name, size = tables[0]
        return f"its embedding table {name!r} has {size} rows, which does not fit these graphs: {LOOK_UP}"
    return "if it needs other arguments, pass forward=lambda model, batch, edge_weight: …"
