"""Networks of the zoo with fixed weights, and split: shared by the tests that only read them."""

from functools import cache

import torch
from torch import nn
from torch_geometric.data import Data

from rcexplainer.gnn import SplitModel, split_model
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs


def build(model_class: type[nn.Module]) -> nn.Module:
    torch.manual_seed(1)
    return model_class()


@cache
def split_of(model_class: type[nn.Module]) -> SplitModel:
    """The model split on `make_graphs(12)`; it must not be changed."""
    binary = model_class in (zoo.OneLogit, zoo.OneProbability)
    return split_model(build(model_class), make_graphs(12, num_classes=2 if binary else zoo.CLASSES))


def model_output(split: SplitModel, batch: Data) -> torch.Tensor:
    """What the user gets, by the user's own call: only the shape is made uniform."""
    model = split.model
    model.eval()
    with torch.no_grad():
        out = split.forward(model, batch, None)
    out = next(iter(out.values())) if isinstance(out, dict) else out
    out = out[1] if isinstance(out, tuple) else out
    return out.reshape(len(out), -1)
