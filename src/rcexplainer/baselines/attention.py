"""Attention: the coefficients with which the model itself weighs its messages.

    α_u = mean of the attention coefficients of u's edges, over layers, heads and both directions

They are read from the messages of GATConv, GATv2Conv, TransformerConv and similar layers, as PyG's AttentionExplainer
does. PyG assigns the first |E| coefficients of a layer to the graph's |E| edges, which is wrong where the layer has
removed self-loops among them (GATConv always does). Here coefficients are matched by the two nodes they lie between.
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
    """Mean attention coefficients, for models with attention layers; `fit` refuses any other model.

    Its settings are those of every method: `task`, `target_class`, `hops` and `connected`.
    """

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        return in_batches(instances, labels, mean_attention)

    def learn(self, training: Callable[[], Instances], seed: int, progress: bool) -> UnitScores:
        instances = training()
        attention(instances.split, instances[instances.everything[:1]][0])  # refused now, not at the first explanation
        return self.scores


def mean_attention(soft: SoftBatch) -> Tensor:
    """α [units]; 0 for a unit that no layer attends along."""
    total, count = soft.per_unit(0.0), soft.per_unit(0.0)
    for edge_index, coefficients in attention(soft.split, soft.batch):
        place, found = unit_between(edge_index, soft.units, int(soft.batch.num_nodes or 0))
        total.index_add_(0, place[found], coefficients[found].to(total.dtype))
        count.index_add_(0, place[found], torch.ones_like(total[place[found]]))
    return (total / count.clamp_min(1)).clamp(0, 1)


def unit_between(edge_index: Tensor, units: Units, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Look up units by their nodes; layers add self-loops of their own, which are none.

    Args:
        edge_index: Node pairs, [2, E].
        units: The units of the batch.
        num_nodes: How many nodes the batch has.

    Returns:
        The unit between the two nodes of each column, [E], and whether there is one, [E].
    """
    known = units.pair[0] * num_nodes + units.pair[1]  # sorted
    wanted = edge_index.amin(0) * num_nodes + edge_index.amax(0)
    place = torch.searchsorted(known, wanted).clamp_max(len(known) - 1)
    return place, known[place] == wanted


@torch.no_grad()
def attention(split: SplitModel, batch: Any) -> list[tuple[Tensor, Tensor]]:
    """Attention coefficients of one forward pass.

    Args:
        split: The model.
        batch: A PyG `Batch`.

    Returns:
        (edge_index [2, E'], coefficients averaged over heads [E']) of every layer that attends.

    Raises:
        RCExplainerError: No layer has attention coefficients.
    """
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
            f"{type(split.model).__name__} has no attention to read: its layers are {kinds}. Attention needs GATConv, "
            "GATv2Conv, TransformerConv or similar layers; use another method for this model"
        )
    return seen
