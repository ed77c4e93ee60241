"""Train the model once: `python -m my_package.train`."""

import torch
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy
from torch_geometric.loader import DataLoader

from my_package.data import load_graphs
from my_package.gnn import WEIGHTS, PaymentNet


def main(epochs: int = 40) -> None:
    """Train on all but the last 60 graphs, print the accuracy on those, and write the weights.

    Args:
        epochs: Number of epochs.
    """
    torch.manual_seed(0)
    graphs = load_graphs()
    model = PaymentNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for batch in DataLoader(graphs[:-60], batch_size=40, shuffle=True):
            optimizer.zero_grad()
            cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y).backward()
            optimizer.step()
    batch = next(iter(DataLoader(graphs[-60:], batch_size=60)))
    right = model.eval()(batch.x, batch.edge_index, batch.batch).argmax(1) == batch.y
    print(f"accuracy on held-out graphs: {float(right.float().mean()):.2f}")
    save_file(model.state_dict(), WEIGHTS)


if __name__ == "__main__":
    main()
