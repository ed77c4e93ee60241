"""Soft edge masks: each message over edge (i, j) counts M_ij times.

The weight enters as `edge_weight` where a layer has that argument, else it scales the message itself. For training
only: layers that average or attend still count an edge of weight 0, so nothing is ever claimed from a soft mask. How
far a mask of 0 is from deletion is measured when a model is split.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing

from rcexplainer.gnn.forward import Forward


@contextmanager
def layer_masks(model: nn.Module, edge_index: Tensor, num_nodes: int, mask: Tensor) -> Iterator[None]:
    """Inside: every message-passing layer of the model weighs its messages by `mask`."""
    lookup = _EdgeLookup(edge_index, num_nodes, mask)
    with ExitStack() as handles:
        for module in _outermost_layers(model):
            for handle in _mask_layer(module, lookup):
                handles.callback(handle.remove)
        yield


def _outermost_layers(module: nn.Module) -> Iterator[MessagePassing]:
    """Layers built of other layers hand the weight down themselves; masking both would apply it twice."""
    if isinstance(module, MessagePassing):
        yield module
        return
    for child in module.children():
        yield from _outermost_layers(child)


def _mask_layer(layer: MessagePassing, lookup: "_EdgeLookup") -> list[Any]:
    signature = inspect.signature(layer.forward)
    if {"edge_index", "edge_weight"} <= signature.parameters.keys():

        def weigh(
            _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> tuple[tuple[Any, ...], dict[str, Any]]:
            bound = signature.bind(*args, **kwargs)
            given = bound.arguments
            values = lookup(given["edge_index"], _num_rows(given, layer.node_dim))
            own = given.get("edge_weight")
            given["edge_weight"] = values if own is None else own * values.to(own.dtype)
            return bound.args, bound.kwargs

        return [layer.register_forward_pre_hook(weigh, with_kwargs=True)]

    current: list[Tensor] = []

    def align(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        edge_index, size, kwargs = inputs
        current[:] = [lookup(edge_index, size[0] if size is not None else _num_rows(kwargs, layer.node_dim))]

    def scale(_: nn.Module, __: object, messages: Tensor) -> Tensor:
        shape = [1] * messages.dim()
        shape[layer.node_dim % messages.dim()] = -1
        return messages * current[0].to(messages.dtype).view(shape)

    return [layer.register_propagate_forward_pre_hook(align), layer.register_message_forward_hook(scale)]


def _num_rows(arguments: Mapping[str, Any], node_dim: int) -> int | None:
    """How many nodes the layer is looking at: from its first floating argument."""
    for value in arguments.values():
        first = value[0] if isinstance(value, tuple) else value
        if isinstance(first, Tensor) and first.is_floating_point() and first.dim() >= 2:
            return int(first.size(node_dim))
    return None


class _EdgeLookup:
    """Mask values for the edges a layer really uses: self-loops added, edges sorted or merged, graph coarsened.

    Matched by node pair, the k-th edge between two nodes with the k-th. What is not an edge of the graph, and every
    self-loop, has the value 1.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int, mask: Tensor) -> None:
        self.edge_index, self.num_nodes = edge_index, num_nodes
        self.mask = torch.where(edge_index[0] == edge_index[1], torch.ones_like(mask), mask)
        self.keys, self.order = (edge_index[0] * num_nodes + edge_index[1]).sort(stable=True)
        self.parallel = bool((self.keys.diff() == 0).any())

    def __call__(self, edge_index: Tensor, num_nodes: int | None) -> Tensor:
        if edge_index is self.edge_index:
            return self.mask
        ones = self.mask.new_ones(edge_index.size(1))
        if (num_nodes is not None and num_nodes != self.num_nodes) or not len(self.keys):
            return ones  # a coarsened graph: its edges are no longer ours
        keys = edge_index[0] * self.num_nodes + edge_index[1]
        place = torch.searchsorted(self.keys, keys)
        if self.parallel:
            place = place + _occurrence(keys)
        place = place.clamp(max=len(self.keys) - 1)
        known = (self.keys[place] == keys) & (edge_index[0] != edge_index[1])
        return torch.where(known, self.mask[self.order[place]], ones)


def _occurrence(keys: Tensor) -> Tensor:
    """How many equal keys stand before each."""
    ordered, order = keys.sort(stable=True)
    first = torch.searchsorted(ordered, ordered)
    count = torch.empty_like(order)
    count[order] = torch.arange(len(keys), device=keys.device) - first
    return count


def through_edge_weight(model: nn.Module, forward: Forward, batch: Data, mask: Tensor) -> Any:
    """The model takes `edge_weight` itself; a graph's own weights are multiplied by the mask."""
    loops = batch.edge_index[0] == batch.edge_index[1]
    weight = torch.where(loops, torch.ones_like(mask), mask)
    own = batch.get("edge_weight")
    if own is not None:
        weight = own * weight.to(own.dtype).view(-1, *[1] * (own.dim() - 1))
    return forward(model, batch, weight)


def through_layers(model: nn.Module, forward: Forward, batch: Data, mask: Tensor) -> Any:
    """The mask is handed to every message-passing layer by a hook."""
    with layer_masks(model, batch.edge_index, int(batch.num_nodes or 0), mask):
        return forward(model, batch, None)


# The ways a soft mask can reach a model; which one serves it best is measured when it is split.
MASKS: dict[str, Callable[[nn.Module, Forward, Data, Tensor], Any]] = {
    "edge_weight": through_edge_weight,
    "layers": through_layers,
}
