"""Attention: what a model with attention says itself that it looks at.

    α_u = mean of the attention coefficients of u's edges, over layers, heads and both directions

They are read as by PyG's AttentionExplainer, from the messages of GATConv, GATv2Conv, TransformerConv and the like. It
takes the first |E| of a layer's coefficients for those of the graph's |E| edges, while a layer may have dropped
self-loops among them (GATConv always does). Here every coefficient is matched by the two nodes it is between.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from rcexplainer.baselines.soft_masks import SoftBatch, in_batches
from rcexplainer.core.units import Units
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method.base import Method, UnitScores


class Attention(Method):
    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return in_batches(instances, labels, mean_attention)

    def learn(self, training: Callable[[], Instances], seed: int, progress: bool) -> UnitScores:
        instances = training()
        attention(instances.split, instances[instances.everything[:1]][0])  # refused now, not at the first explanation
        return self.scores


def mean_attention(soft: SoftBatch) -> Tensor:
    """α [units], 0 for a unit that no layer attends along."""
    total, count = soft.per_unit(0.0), soft.per_unit(0.0)
    for edge_index, coefficients in attention(soft.split, soft.batch):
        place, found = unit_between(edge_index, soft.units, int(soft.batch.num_nodes or 0))
        total.index_add_(0, place[found], coefficients[found].to(total.dtype))
        count.index_add_(0, place[found], torch.ones_like(total[place[found]]))
    return (total / count.clamp_min(1)).clamp(0, 1)


def unit_between(edge_index: Tensor, units: Units, num_nodes: int) -> tuple[Tensor, Tensor]:
    """The unit between the two nodes of every column, and whether there is one: a layer has self-loops of its own."""
    known = units.pair[0] * num_nodes + units.pair[1]  # in order
    wanted = edge_index.amin(0) * num_nodes + edge_index.amax(0)
    place = torch.searchsorted(known, wanted).clamp_max(len(known) - 1)
    return place, known[place] == wanted


@torch.no_grad()
def attention(split: SplitModel, batch: Any) -> list[tuple[Tensor, Tensor]]:
    """(edge_index, mean coefficient over heads) of every layer that attends; an error where none does."""
    seen: list[tuple[Tensor, Tensor]] = []
    edges: list[Tensor] = []

    def remember(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        edges[:] = [inputs[0]]

    def read(layer: nn.Module, inputs: tuple[Any, ...], __: Tensor) -> None:
        coefficients = inputs[0].get("alpha")
        if coefficients is None:
            coefficients = getattr(layer, "_alpha", None)
        if coefficients is not None:
            seen.append((edges[0], coefficients.reshape(len(coefficients), -1).mean(1)))

    layers = [split.model.get_submodule(name) for name in split.layer_names]
    with split.scope, ExitStack() as handles:
        for layer in (part for whole in layers for part in whole.modules() if isinstance(part, MessagePassing)):
            handles.callback(layer.register_propagate_forward_pre_hook(remember).remove)
            handles.callback(layer.register_message_forward_hook(read).remove)
        split.run(batch)
    if not seen:
        kinds = ", ".join(dict.fromkeys(type(layer).__name__ for layer in layers))
        raise RCExplainerError(
            f"{type(split.model).__name__} has no attention to read: its layers are {kinds}; this method is for models "
            "with GATConv, GATv2Conv, TransformerConv or the like, any other method is for this one too"
        )
    return seen
