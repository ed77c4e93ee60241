"""Soft edge weights and hard deletion that leave no trace on the model.

deletion   G ↦ G with the edges gone: a new graph; every edge-level attribute is cut with them
soft mask  each message over edge (i, j) counts M_ij times: `edge_weight` where a layer has it,
           the message itself where it has not. For training only: layers that average or attend
           still count an edge of weight 0 (findings are measured when a model is split).
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter
from torch_geometric.data import Batch, Data
from torch_geometric.nn import MessagePassing

from rcexplainer.errors import SplitError
from rcexplainer.gnn.forward import Forward
from rcexplainer.gnn.graph_checks import EDGE_LEVEL


def delete_edges(graph: Data, removed: Tensor) -> Data:
    """The graph without the edges where `removed` (boolean, one per column of `edge_index`) is true."""
    num_edges = graph.num_edges
    if removed.dtype != torch.bool or removed.shape != (num_edges,):
        raise SplitError(
            f"`removed` must be a boolean mask of {num_edges} edges, got {removed.dtype} {tuple(removed.shape)}"
        )
    kept = copy(graph)
    for key in edge_level_keys(graph):
        value = graph[key]
        kept[key] = value[..., ~removed] if key == "edge_index" else value[~removed]
        if hasattr(kept, "_slice_dict") and key in kept._slice_dict:  # so that a batch can still be taken apart
            position = torch.cat([removed.new_zeros(1).long(), (~removed).cumsum(0)]).cpu()
            kept._slice_dict = {**kept._slice_dict, key: position[kept._slice_dict[key]]}
    return kept


def edge_level_keys(graph: Data) -> list[str]:
    """Attributes with one entry per edge: by their name, else by their length.

    Where a graph has as many edges as something else, lengths say nothing. So what was cut out of a larger graph, or
    put together from many, is told (`EDGE_LEVEL`, their names). PyG's own test (`is_edge_attr`) takes the label of a
    graph with a single edge for an edge attribute, hence ours.
    """
    told = graph.get(EDGE_LEVEL)
    known = None if told is None else (told if isinstance(told, str) else told[0]).split(",")
    num_edges = graph.num_edges
    ambiguous = num_edges in (1, graph.num_nodes, graph.num_graphs if isinstance(graph, Batch) else 1)
    keys = ["edge_index"]
    for key, value in graph.to_dict().items():
        if "index" in key or key == "edge_label" or not isinstance(value, Tensor) or value.dim() == 0:
            continue  # what is labelled are pairs to predict, not the edges that are there
        plain = key in known if known is not None else not ambiguous and key not in ("y", "batch", "ptr")
        if value.size(0) == num_edges and ("edge" in key or plain):
            keys.append(key)
    return keys


def random_pairs(edge_index: Tensor, num_nodes: int, share: float, seed: int) -> Tensor:
    """A boolean mask of the edges between a random share of the connected node pairs; both directions go together."""
    low, high = edge_index.amin(0), edge_index.amax(0)
    _, pair = (low * num_nodes + high).unique(return_inverse=True)
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.rand(int(pair.max()) + 1, generator=generator).to(edge_index.device) < share
    return chosen[pair] & (low != high)


class Untouched:
    """A scope in which a model may be used and after which it is as it was found.

    Inside: evaluation mode, parameters without gradients, no cached adjacency. Afterwards attributes, hooks,
    buffers, flags and caches of every submodule are put back, also when something raises. Scopes may be nested;
    the outermost one does the work.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._before: list[_Snapshot] = []
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth > 1:
            return
        try:
            self._before = [_Snapshot(module) for module in self.model.modules()]
            self.model.eval()
            for module in self.model.modules():
                _forget_cache(module)
            for parameter in self.model.parameters():
                parameter.requires_grad_(False)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth:
            return
        for snapshot in self._before:
            snapshot.restore()
        self._before = []


class _Snapshot:
    """A module's `__dict__`, with the containers in it (hooks, parameters, …) one level deep, and its tensors."""

    def __init__(self, module: nn.Module) -> None:
        if any(isinstance(parameter, UninitializedParameter) for parameter in module.parameters(recurse=False)):
            raise SplitError(f"{type(module).__name__} is lazy and has no weights yet: run the model on a batch first")
        self.module = module
        self.attributes = dict(module.__dict__)
        values = list(self.attributes.values())
        self.containers = [(value, copy(value)) for value in values if isinstance(value, dict | list | set)]
        tensors = [*module.buffers(recurse=False), *(value for value in values if isinstance(value, Tensor))]
        self.tensors = [(tensor, tensor._version, tensor.detach().clone()) for tensor in tensors]
        self.gradients = [(parameter, parameter.requires_grad) for parameter in module.parameters(recurse=False)]

    def restore(self) -> None:
        self.module.__dict__.clear()
        self.module.__dict__.update(self.attributes)
        for container, content in self.containers:
            container.clear()
            if isinstance(container, list):
                container.extend(content)
            else:
                container.update(content)
        for tensor, version, values in self.tensors:
            if tensor._version != version:
                with torch.no_grad():
                    tensor.copy_(values)
        for parameter, flag in self.gradients:
            parameter.requires_grad_(flag)


def _forget_cache(module: nn.Module) -> None:
    """`GCNConv(cached=True)` and its like would go on using the edges of the first graph they saw."""
    if getattr(module, "cached", False) is not True:
        return
    module.__dict__["cached"] = False
    for name in [name for name in module.__dict__ if name.startswith("_cached_")]:
        module.__dict__[name] = None


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
