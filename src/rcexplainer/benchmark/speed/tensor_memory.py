"""Peak memory of the tensors of single steps, apart from everything a fit keeps.

    draws      the outcome loss of 127 molecules and one graph of 100,000 edges, forward and backward
    merging    all boundaries between the classes of a linear head, merged
    answers    the logits of 1,000 edges, with an output row for each pair of classes

Only names that earlier versions have are used, so that they can be measured too.
"""

from collections.abc import Iterator
from importlib import import_module
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from rcexplainer.benchmark.speed.peak import peak_bytes
from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.outcomes import outcome_loss
from rcexplainer.core.segments import owners
from rcexplainer.gnn.seed import seeded

MOLECULES, MOLECULE_UNITS, LARGE = 127, 31, 100_000
CLASSES = (50, 100, 150)
DRAWS, WIDTH, DIM, UNITS = 2, 60, 20, 1000


def tensor_memory() -> Iterator[dict[str, Any]]:
    """Megabytes of tensors, at most, during each step."""
    yield {"row": "draws", "size": LARGE, "peak MB": _draws() / 1e6}
    for number in CLASSES:
        yield {"row": "merging", "size": number, "peak MB": _merging(number) / 1e6}
    for number in CLASSES:
        yield {"row": "answers", "size": number, "peak MB": _answers(number) / 1e6}


def _draws() -> int:
    counts = torch.tensor([MOLECULE_UNITS] * MOLECULES + [LARGE])
    ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(int(ptr[-1]), generator=generator).requires_grad_()

    def outcome(removed: Tensor) -> Tensor:
        """A constant; earlier versions ask for one draw at a time."""
        return torch.full((len(removed), len(counts)) if removed.dim() == 2 else (len(counts),), 0.5)

    return peak_bytes(lambda: outcome_loss(logits, ptr, owners(ptr), outcome, DRAWS, generator).sum().backward())


def _merging(number: int) -> int:
    with seeded(0):
        head = nn.Linear(DIM, number).requires_grad_(False)
    one, other = torch.tensor(list(combinations(range(number), 2))).unbind(1)
    rows = LinearBoundaries(
        head.weight[one] - head.weight[other], head.bias[one] - head.bias[other], torch.stack([one, other], 1)
    )
    return peak_bytes(rows.merged)


def _answers(number: int) -> int:
    home = import_module("rcexplainer.core.mask_net")
    home = home if hasattr(home, "FactorisedGate") else import_module("rcexplainer.core.mask_gates")
    with seeded(0):
        gate = home.FactorisedGate(WIDTH, DIM, number**2).requires_grad_(False)
        z, z_g, pair = torch.randn(UNITS, WIDTH), torch.randn(1, DIM), torch.randint(UNITS, (2, UNITS))
    return peak_bytes(lambda: gate(z, z_g, torch.tensor([5]), pair, torch.zeros(UNITS, dtype=torch.long)))
