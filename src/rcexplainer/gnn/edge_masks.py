"""Soft edge masks: the message over edge (i, j) is multiplied by M_ij.

The weight enters as `edge_weight` where a layer has that argument; otherwise it scales the message itself. Soft masks
are for training only: layers that average or attend still count an edge of weight 0, so no result rests on them. How
far a mask of 0 is from deletion is measured when a model is split (`mask_error`).
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
    """Inside this context every message-passing layer of the model multiplies its messages by `mask`.

    Args:
        model: The model; its hooks are removed at the end.
        edge_index: [2, E] of the batch it will be run on.
        num_nodes: Nodes of that batch.
        mask: [E] one weight per column; self-loops always have weight 1.
    """
    lookup = _EdgeLookup(edge_index, num_nodes, mask)
    with ExitStack() as handles:
        for module in _outermost_layers(model):
            for handle in _mask_layer(module, lookup):
                handles.callback(handle.remove)
        yield


def _outermost_layers(module: nn.Module) -> Iterator[MessagePassing]:
    """Layers made of other layers pass the weight on themselves; masking both would apply it twice."""
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
    """The number of nodes in the layer's input, taken from its first floating-point argument."""
    for value in arguments.values():
        first = value[0] if isinstance(value, tuple) else value
        if isinstance(first, Tensor) and first.is_floating_point() and first.dim() >= 2:
            return int(first.size(node_dim))
    return None


class _EdgeLookup:
    """Mask values for the edges a layer really uses, after self-loops were added, edges sorted, or the graph coarsened.

    Edges are matched by node pair; the k-th edge between two nodes is the k-th again. Self-loops, and edges that the
    graph does not have, get the value 1.
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
            return ones  # a coarsened graph has other edges
        keys = edge_index[0] * self.num_nodes + edge_index[1]
        place = torch.searchsorted(self.keys, keys)
        if self.parallel:
            place = place + _occurrence(keys)
        place = place.clamp(max=len(self.keys) - 1)
        known = (self.keys[place] == keys) & (edge_index[0] != edge_index[1])
        return torch.where(known, self.mask[self.order[place]], ones)


def _occurrence(keys: Tensor) -> Tensor:
    """For each key, the number of equal keys before it."""
    ordered, order = keys.sort(stable=True)
    first = torch.searchsorted(ordered, ordered)
    count = torch.empty_like(order)
    count[order] = torch.arange(len(keys), device=keys.device) - first
    return count


def through_edge_weight(model: nn.Module, forward: Forward, batch: Data, mask: Tensor) -> Any:
    """Run a model that takes `edge_weight` itself; the graph's own weights are multiplied by the mask.

    Args:
        model: The model.
        forward: How it is called.
        batch: The graphs.
        mask: [E] one weight per column.

    Returns:
        Whatever the model returns.
    """
    loops = batch.edge_index[0] == batch.edge_index[1]
    weight = torch.where(loops, torch.ones_like(mask), mask)
    own = batch.get("edge_weight")
    if own is not None:
        weight = own * weight.to(own.dtype).view(-1, *[1] * (own.dim() - 1))
    return forward(model, batch, weight)


def through_layers(model: nn.Module, forward: Forward, batch: Data, mask: Tensor) -> Any:
    """Run the model with hooks that pass the mask to every message-passing layer; arguments as above."""
    with layer_masks(model, batch.edge_index, int(batch.num_nodes or 0), mask):
        return forward(model, batch, None)


MaskRoute = Callable[[nn.Module, Forward, Data, Tensor], Any]
# The routes by which a soft mask can reach a model; the best one is measured when the model is split.
MASK_ROUTES: dict[str, MaskRoute] = {
    "edge_weight": through_edge_weight,
    "layers": through_layers,
}
