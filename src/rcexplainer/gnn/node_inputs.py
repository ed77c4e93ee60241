"""What the mask network reads of every node."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.gnn.split import Pass


def node_inputs(done: Pass, batch: Data, inputs: str) -> Tensor:
    """The mask network's input for every node, [nodes, D].

    Args:
        done: A run of the model.
        batch: The graphs of that run.
        inputs: "last": the output of the last message-passing layer, as in the paper. "layers": the outputs of all
            layers. "unit": the same, each scaled to length 1, as the authors' networks do it themselves. "all": the
            outputs of all layers, the same scaled to length 1 (networks often normalise or
            saturate after a layer), the node features, and the hop distances in computation graphs.
    """
    return _columns(done, batch, inputs).to(done.embedding.dtype)


def _columns(done: Pass, batch: Data, inputs: str) -> Tensor:
    """The same in whatever precision layers and features are."""
    layers = done.layers or (plain_features(batch, done.embedding),)
    if inputs == "last":
        return layers[-1]
    if inputs == "layers":
        return torch.cat(layers, 1)
    unit = [nn.functional.normalize(layer, dim=1) for layer in layers]
    if inputs == "unit":
        return torch.cat(unit, 1)
    features = [batch.x] if isinstance(batch.x, Tensor) and batch.x.is_floating_point() and done.layers else []
    hops = [batch.hop_code] if "hop_code" in batch else []
    return torch.cat([*layers, *unit, *features, *hops], 1)


def plain_features(batch: Data, like: Tensor) -> Tensor:
    """What is known about nodes without the model, [nodes, D]: their features, or a constant if they have none.

    A model that passes messages by hand, over a dense adjacency matrix say, may have no module with a row per node.

    Args:
        batch: The graphs.
        like: A tensor of the type wanted.
    """
    if not isinstance(batch.x, Tensor):
        return like.new_ones(int(batch.num_nodes or 0), 1)
    return batch.x.to(like.dtype).reshape(len(batch.x), -1)
