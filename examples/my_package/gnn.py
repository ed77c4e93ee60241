"""A model like any other: PyTorch Geometric layers, a pooling, a linear head."""

from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor, nn
from torch_geometric.nn import GraphConv, global_max_pool

from my_package.data import KINDS

WEIGHTS = Path(__file__).with_name("weights.safetensors")


class PaymentNet(nn.Module):
    """Does a graph of payments raise an alarm?"""

    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.first = GraphConv(len(KINDS), hidden)
        self.second = GraphConv(hidden, hidden)
        self.classes = nn.Linear(hidden, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return logits, one row per graph."""
        hidden = self.first(x, edge_index).relu()
        hidden = self.second(hidden, edge_index).relu()
        return self.classes(global_max_pool(hidden, batch))


def load_model() -> PaymentNet:
    """Return the trained model; `python -m my_package.train` writes its weights."""
    model = PaymentNet()
    model.load_state_dict(load_file(WEIGHTS))
    return model.eval()
