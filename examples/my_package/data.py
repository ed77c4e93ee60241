"""Payments between accounts: a graph raises an alarm if a new account pays a foreign one."""

import torch
from torch_geometric.data import Data

KINDS = ("known", "new", "foreign")
NEW, FOREIGN = KINDS.index("new"), KINDS.index("foreign")


def load_graphs(count: int = 300) -> list[Data]:
    """Return graphs with `x`, `edge_index` and `y`; `id` and `node_names` are shown in tables where graphs have them.

    Args:
        count: Number of graphs; half of them raise an alarm.
    """
    random = torch.Generator().manual_seed(0)
    return [_payments(number, alarm=number % 2 == 1, random=random) for number in range(count)]


def _payments(number: int, alarm: bool, random: torch.Generator) -> Data:
    """A tree of accounts; payments between new and foreign accounts are what makes an alarm."""
    nodes = int(torch.randint(8, 15, (1,), generator=random))
    kind = torch.multinomial(torch.tensor([0.6, 0.2, 0.2]), nodes, replacement=True, generator=random)
    paid = [int(torch.randint(node, (1,), generator=random)) for node in range(1, nodes)]
    for node, other in enumerate(paid, 1):
        if {int(kind[node]), int(kind[other])} == {NEW, FOREIGN}:
            kind[node] = 0
    if alarm:
        last = nodes - 1
        kind[last], kind[paid[-1]] = NEW, FOREIGN
    edges = torch.tensor([[node, other] for node, other in enumerate(paid, 1)]).t()
    return Data(
        x=torch.nn.functional.one_hot(kind, len(KINDS)).float(),
        edge_index=torch.cat([edges, edges.flip(0)], dim=1),
        y=torch.tensor([int(alarm)]),
        id=f"case-{number}",
        node_names=[f"{KINDS[int(one)]}-{node}" for node, one in enumerate(kind)],
    )
