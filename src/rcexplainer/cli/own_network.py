"""The network and the graphs that a command line names: files and datasets of ours, or a user's own functions."""

from pathlib import Path
from typing import Any, get_args

from torch import nn

from rcexplainer.benchmark.own_dataset import own_dataset
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.option_conflicts import one_of
from rcexplainer.cli.own_functions import names_function, own_forward, own_graphs, own_model
from rcexplainer.cli.saved_network import ExplainedNetwork, open_network
from rcexplainer.datasets import GraphDataset, load
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN, load_gnn
from rcexplainer.gnn.device import usable_device
from rcexplainer.gnn.forward import Forward, TaskName
from rcexplainer.gnn.outputs import OUTPUT_KINDS
from rcexplainer.saving.documents import readable_file


def find_network(inputs: NamedInputs) -> ExplainedNetwork:
    """Open the model and the graphs that a command line names.

    Args:
        inputs: Their names.

    Raises:
        RCExplainerError: One of them is missing, does not exist, or does not fit the other.
    """
    one_of(inputs.dataset, inputs.graphs)
    if is_ours(inputs):
        return saved_with_dataset(inputs)
    model = find_model(inputs)
    trained = model.config.task if isinstance(model, GNN) else None  # a network of ours, on the user's graphs
    return with_graphs(inputs, model, inputs.task or trained)


def is_ours(inputs: NamedInputs) -> bool:
    """Whether both are ours: a dataset, and the file of a network that has its seed.

    Args:
        inputs: Their names.
    """
    return inputs.dataset is not None and not names_function(inputs.model)


def saved_with_dataset(inputs: NamedInputs) -> ExplainedNetwork:
    """Open a network of ours on its dataset, split as it was trained.

    Args:
        inputs: Their names.

    Raises:
        RCExplainerError: One of them does not exist, or does not fit the other, or the task.
    """
    path = Path(inputs.model)
    network = open_network(inputs.dataset or "", path, inputs.seed, root=inputs.root, device=inputs.device)
    _check_task(network.data, inputs.task)
    return network


def with_graphs(inputs: NamedInputs, model: nn.Module, task: str | None) -> ExplainedNetwork:
    """A model with the dataset, or the user's graphs, that a command line names.

    Args:
        inputs: The names.
        model: The model.
        task: graph, node or link; None: as the dataset is, else graph.

    Raises:
        RCExplainerError: There is no such task, dataset or function, or the graphs are not for the task.
    """
    seed = inputs.seed or 0
    return ExplainedNetwork(
        find_data(inputs.dataset, inputs.graphs, task, seed, inputs.root), model, seed, inputs.model
    )


def find_model(inputs: NamedInputs) -> nn.Module:
    """Call a user's function, or load a file of ours.

    Args:
        inputs: The names; the model is moved to their device.

    Raises:
        RCExplainerError: There is no such function or file, it is of no use, or the device cannot be used.
    """
    where = usable_device(inputs.device)
    if names_function(inputs.model):
        return own_model(inputs.model).to(where)
    path = readable_file(Path(inputs.model), "--model", "rcexplainer train --out DIR")
    return load_gnn(path, where).model


def find_forward(inputs: NamedInputs) -> Forward | None:
    """The user's function that calls the model; None: it is called by common conventions.

    Args:
        inputs: The names.

    Raises:
        RCExplainerError: There is no such function, or it takes other arguments.
    """
    return None if inputs.forward is None else own_forward(inputs.forward)


def call_arguments(inputs: NamedInputs) -> dict[str, Any]:
    """Arguments of `Method.fit` and `split_model` that say how the model is called and taken apart.

    Args:
        inputs: The names.

    Returns:
        `head`, `output` and `forward`, each where it is named.

    Raises:
        RCExplainerError: There is no such kind of output or function.
    """
    if inputs.output is not None and inputs.output not in OUTPUT_KINDS:
        raise RCExplainerError(f"--output must be one of {', '.join(OUTPUT_KINDS)}, got {inputs.output!r}")
    found = {"head": inputs.head, "output": inputs.output, "forward": find_forward(inputs)}
    return {name: value for name, value in found.items() if value is not None}


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
