"""How an explainer's file recognises the GNN it was fitted for; the GNN itself is not saved.

    fingerprint   shape and hash of every parameter, buffer and extra state
    probes        a few small graphs, on which the model is split again
    answers       the model's output for them: the same weights in another architecture are another GNN

`describe` gives these as tensors and JSON; `recognise` compares them with a model and splits it.
"""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer import __version__
from rcexplainer.core.namespace import named, part
from rcexplainer.errors import CheckpointError, SplitError
from rcexplainer.gnn.device import device_of
from rcexplainer.gnn.forward import Forward
from rcexplainer.gnn.graph_checks import COMPUTATION_NAMES
from rcexplainer.gnn.mask_error import half_deleted
from rcexplainer.gnn.model_checks import original_of
from rcexplainer.gnn.split import SplitModel, as_batch, split_model
from rcexplainer.gnn.trial import SAME
from rcexplainer.saving.header_claims import check_probes

SAVED_PROBES = 4


@torch.no_grad()
def probe_graphs(split: SplitModel, instances: Sequence[Data]) -> tuple[Data, ...]:
    """Choose a few small instances to be saved as probes; the model is split again on these, so edges must matter.

    Args:
        split: The GNN.
        instances: The training instances.

    Returns:
        The smallest ones with edges, or larger ones where the model gives the smallest the same answer without edges.
    """
    ordered = sorted(instances, key=lambda graph: (not graph.num_edges, graph.num_nodes))
    start = 0

    def answer(batch: Data) -> Tensor:
        return split.run(batch).output

    while start < len(ordered):
        probes = tuple(probe_graph(graph) for graph in ordered[start : start + SAVED_PROBES])
        batch = as_batch(probes)
        if batch.num_edges and half_deleted(batch, answer(batch), answer).matters:
            return probes
        start = 2 * start + SAVED_PROBES  # in larger and larger steps: there may be millions
    return tuple(probe_graph(graph) for graph in ordered[:SAVED_PROBES])


def probe_graph(graph: Data) -> Data:
    """An instance without the attributes that mark it as a computation graph."""
    return Data.from_dict({key: value for key, value in graph.to_dict().items() if key not in COMPUTATION_NAMES})


def describe(split: SplitModel, probes: Sequence[Data]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Describe a GNN so that it can be recognised.

    Args:
        split: The GNN.
        probes: The probe graphs.

    Returns:
        Tensors, and values for the JSON header.
    """
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
        "forward": split.forward_name,  # its name alone: functions are not saved
        "probes": [graph.num_nodes for graph in probes],  # without features, edges do not show isolated nodes
        "model": type(split.model).__name__,
        "fingerprint": fingerprint(split.model),
    }
    return tensors, about


def recognise(
    path: Path, model: nn.Module, forward: Forward | None, tensors: dict[str, Tensor], about: dict[str, Any]
) -> tuple[SplitModel, tuple[Data, ...]]:
    """Check that a model is the one that was described, and split it.

    Args:
        path: The file, for messages.
        model: The model.
        forward: As it was given to `fit`: functions are not saved.
        tensors: The tensors of the file.
        about: The values of its JSON header.

    Returns:
        The split model and the probe graphs.

    Raises:
        CheckpointError: It is another model.
        SplitError: The model cannot be split; where it was fitted with `forward`, the message says to pass it again.
    """
    if not isinstance(model, nn.Module):
        raise CheckpointError(f"{path} needs the GNN it was fitted for, a torch.nn.Module, got {type(model).__name__}")
    model = original_of(model)
    _check_fingerprint(path, about["fingerprint"], fingerprint(model))
    check_probes(path, about["probes"], tensors)
    device = device_of(model)
    there = {name: tensor.to(device) for name, tensor in tensors.items()}
    probes = tuple(
        Data(**part(f"probe.{number}", there), num_nodes=num_nodes) for number, num_nodes in enumerate(about["probes"])
    )
    try:
        split = split_model(model, list(probes), about["head"], forward, about["task"], about["output"])
        _check_answers(path, about["model"], there["answers"], split.run(list(probes)).output, type(model).__name__)
    except (SplitError, CheckpointError) as error:
        if forward is not None or about.get("forward") is None:
            raise
        raise type(error)(
            f"{path} was fitted with forward={about['forward']}, and functions are not saved: pass forward= again "
            f"(without it: {error})"
        ) from error
    return split, probes


def fingerprint(model: nn.Module) -> dict[str, Any]:
    """Shape and hash of every entry of the `state_dict`, by name; extra state that is no tensor has shape []."""
    return {
        name: [list(value.shape) if isinstance(value, Tensor) else [], hashlib.sha256(_content(value)).hexdigest()[:16]]
        for name, value in model.state_dict().items()
    }


def weights_digest(model: nn.Module) -> str:
    """One hash of all that a model has learnt: equal digests, equal weights.

    Args:
        model: The model, on any device.

    Returns:
        SHA-256 over name, shape, type and bytes of every entry of the `state_dict`, in hexadecimal digits.
    """
    found = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        shape, kind = (tuple(value.shape), value.dtype) if isinstance(value, Tensor) else ((), type(value).__name__)
        content = _content(value)
        found.update(f"{name} {shape} {kind} {len(content)}\n".encode() + content)
    return found.hexdigest()


def _content(value: Any) -> bytes:
    """The same bytes for the same value; objects that are not made of tensors and plain values count by their type."""
    if isinstance(value, Tensor):
        if value.layout != torch.strided:
            value = value.to_sparse_coo().coalesce()
            return _content(value.indices()) + _content(value.values())
        return value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    if isinstance(value, dict):
        return b"".join(repr(key).encode() + b":" + _content(value[key]) + b"," for key in sorted(value, key=repr))
    if isinstance(value, list | tuple):
        return b"".join(_content(entry) + b"," for entry in value)
    if isinstance(value, io.BytesIO):
        return value.getvalue()
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value).encode()
    return type(value).__qualname__.encode()


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
            f"{path} was fitted for another GNN ({name}): this {own} has the same weights but gives other outputs for "
            f"the graphs saved in the file (off by {worst:.2g} of the largest)"
        )
