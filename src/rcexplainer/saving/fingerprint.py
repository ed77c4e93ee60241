"""Explainers are saved without their GNN, with what tells it from another.

    fingerprint   shape and content of every parameter and buffer
    probes        a few small graphs: on these the model is taken apart again
    answers       what the model says of them: the same weights in another architecture are another GNN

`describe` gives this as tensors and JSON, `recognise` compares it with a model and takes that apart.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer import __version__
from rcexplainer.core.namespace import named, part
from rcexplainer.errors import CheckpointError
from rcexplainer.gnn.forward import Forward
from rcexplainer.gnn.split import SplitModel, split_model
from rcexplainer.gnn.trial import SAME

PROBES = 4


def probe_graphs(instances: Sequence[Data]) -> tuple[Data, ...]:
    """The smallest instances, those with edges first."""
    small = sorted(instances, key=lambda graph: (not graph.num_edges, graph.num_nodes))[:PROBES]
    return tuple(probe_graph(graph) for graph in small)


def probe_graph(graph: Data) -> Data:
    """An instance as a graph like any other: without what makes it a computation graph of nodes."""
    return Data.from_dict(
        {key: value for key, value in graph.to_dict().items() if key not in ("root_index", "hop_code", "edge_fixed")}
    )


def describe(split: SplitModel, probes: Sequence[Data]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What there is to know of a GNN: tensors, and what goes into the JSON beside them."""
    tensors = {"answers": split.run(list(probes)).output}
    for number, graph in enumerate(probes):
        values = {key: value for key, value in graph.to_dict().items() if isinstance(value, Tensor)}
        tensors |= named(f"probe.{number}", values)
    about = {
        "version": __version__,
        "torch": torch.__version__,
        "task": split.task,
        "head": split.head_name,
        "output": split.output,
        "probes": [graph.num_nodes for graph in probes],  # which features alone may not tell
        "model": type(split.model).__name__,
        "fingerprint": fingerprint(split.model),
    }
    return tensors, about


def recognise(
    path: Path, model: nn.Module, forward: Forward | None, tensors: dict[str, Tensor], about: dict[str, Any]
) -> tuple[SplitModel, tuple[Data, ...]]:
    """The model taken apart, and the probes, if it is the one that was described; else an error naming the file."""
    if not isinstance(model, nn.Module):
        raise CheckpointError(f"{path} needs the GNN it was fitted for, a torch.nn.Module, got {type(model).__name__}")
    _check_fingerprint(path, about["fingerprint"], fingerprint(model))
    device = device_of(model)
    there = {name: tensor.to(device) for name, tensor in tensors.items()}
    probes = tuple(
        Data(**part(f"probe.{number}", there), num_nodes=num_nodes) for number, num_nodes in enumerate(about["probes"])
    )
    split = split_model(model, list(probes), about["head"], forward, about["task"], about["output"])
    _check_answers(path, about["model"], there["answers"], split.run(list(probes)).output, type(model).__name__)
    return split, probes


def device_of(model: nn.Module) -> torch.device:
    """Where the model is; the CPU for one without parameters."""
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))


def fingerprint(model: nn.Module) -> dict[str, Any]:
    """What tells one GNN from another: shape and content of every parameter and buffer."""

    def digest(tensor: Tensor) -> str:
        return hashlib.sha256(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()[:16]

    return {name: [list(tensor.shape), digest(tensor.reshape(-1))] for name, tensor in model.state_dict().items()}


def _check_fingerprint(path: Path, saved: dict[str, Any], given: dict[str, Any]) -> None:
    for name in sorted(saved.keys() | given.keys()):
        if name not in given or name not in saved:
            has, lacks = ("the saved one", "this one") if name in saved else ("this one", "the saved one")
            raise CheckpointError(f"{path} was fitted for another GNN: {has} has {name}, {lacks} does not")
        if saved[name] != given[name]:
            shapes = tuple(saved[name][0]), tuple(given[name][0])
            what = "its values differ" if shapes[0] == shapes[1] else f"its shape was {shapes[0]}, now {shapes[1]}"
            raise CheckpointError(f"{path} was fitted for another GNN, or this one was trained since: {name}, {what}")


def _check_answers(path: Path, name: str, saved: Tensor, given: Tensor, own: str) -> None:
    """The same weights in another architecture are another GNN."""
    size = saved.abs().max().clamp_min(1e-6)
    worst = float((saved - given).abs().max() / size) if saved.shape == given.shape else float("inf")
    if not worst <= SAME:
        raise CheckpointError(
            f"{path} was fitted for another GNN ({name}): this {own} has the same weights and answers differently on "
            f"the graphs saved with it, by {worst:.2g} of what it says"
        )
