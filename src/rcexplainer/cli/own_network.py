"""The network and the graphs that a command line names: files and datasets of ours, or a user's own functions."""

from pathlib import Path
from typing import get_args

from torch import nn

from rcexplainer.benchmark.own_dataset import own_dataset
from rcexplainer.cli.option_conflicts import one_of
from rcexplainer.cli.own_functions import names_function, own_graphs, own_model
from rcexplainer.cli.saved_network import ExplainedNetwork, open_network
from rcexplainer.datasets import GraphDataset, load
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, load_gnn
from rcexplainer.gnn.device import usable_device
from rcexplainer.gnn.forward import TaskName
from rcexplainer.saving.documents import readable_file


def find_network(
    model: str,
    *,
    dataset: str | None = None,
    graphs: str | None = None,
    task: str | None = None,
    seed: int | None = None,
    root: Path | None = None,
    device: str | None = None,
) -> ExplainedNetwork:
    """Open the model and the graphs that a command line names.

    Args:
        model: `module:function`, or a file that `rcexplainer train` wrote.
        dataset: Name of a dataset.
        graphs: `module:function`, in place of a dataset.
        task: graph, node or link; None: as the dataset is, or the network of ours, else graph.
        seed: Seed of the split; None: the seed a network of ours was trained with, else 0.
        root: Folder of downloaded datasets.
        device: Device of the model; the CPU by default.

    Raises:
        RCExplainerError: One of them is missing, does not exist, or does not fit the other.
    """
    one_of(dataset, graphs)
    if dataset is not None and not names_function(model):
        network = open_network(dataset, Path(model), seed, root=root, device=device)
        _check_task(network.data, task)
        return network
    own = find_model(model, device)
    trained = own.config.task if isinstance(own, GNN) else None  # a network of ours, on the user's graphs
    data = find_data(dataset, graphs, task or trained, seed or 0, root)
    return ExplainedNetwork(data, own, seed or 0, model)


def find_model(model: str, device: str | None = None) -> nn.Module:
    """Call a user's function, or load a file of ours.

    Args:
        model: `module:function`, or a file that `rcexplainer train` wrote.
        device: Device of the model; the CPU by default.

    Raises:
        RCExplainerError: There is no such function or file, it is of no use, or the device cannot be used.
    """
    where = usable_device(device)
    if names_function(model):
        return own_model(model).to(where)
    path = readable_file(Path(model), "--model", "rcexplainer train --out DIR")
    return load_gnn(path, where).model


def find_data(
    dataset: str | None, graphs: str | None, task: str | None, seed: int, root: Path | None = None
) -> GraphDataset:
    """Load a dataset, or call a user's function and split what it returns.

    Args:
        dataset: Name of a dataset.
        graphs: `module:function`, in place of a dataset.
        task: graph, node or link; None: as the dataset is, else graph.
        seed: Seed of the split.
        root: Folder of downloaded datasets.

    Raises:
        RCExplainerError: There is no such task, dataset or function, or the graphs are not for the task.
    """
    known: dict[str, TaskName] = {name: name for name in get_args(TaskName)}
    if task is not None and task not in known:
        raise RCExplainerError(f"--task must be one of {', '.join(known)}, got {task!r}")
    if graphs is not None:
        return own_dataset(graphs, own_graphs(graphs), known[task or "graph"], seed)
    data = load(dataset or "", root=root, seed=seed)
    _check_task(data, task)
    return data


def _check_task(data: GraphDataset, task: str | None) -> None:
    if task is not None and data.task != task:
        raise RCExplainerError(f"{data.name} is for {data.task} prediction, got --task {task}: leave --task out")
