"""One plain training loop for the mask network: Adam with cosine decay, early stopping on the validation loss.

What is minimised is a function passed in: `loss(instances [b]) → named terms`.
"""

import copy
import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

log = logging.getLogger(__name__)

Terms = dict[str, Tensor]
Loss = Callable[[Tensor], Terms]


@dataclass(frozen=True)
class Epoch:
    """What happened in one epoch: the mean of every term, and the loss on the validation instances."""

    number: int
    terms: dict[str, float]
    val: float
    best: bool


def train(
    net: nn.Module,
    loss: Loss,
    validate: Callable[[], float],
    train_ids: Tensor,
    generator: torch.Generator,
    *,
    epochs: int,
    lr: float,
    batch_size: int,
    patience: int,
) -> Iterator[Epoch]:
    """Train `net` in place, telling of every epoch; it ends with the weights of the best one."""
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    steps = epochs * math.ceil(len(train_ids) / batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps))
    best, best_val, best_epoch = copy.deepcopy(net.state_dict()), math.inf, 0
    for number in range(epochs):
        net.train()
        sums: dict[str, float] = {}
        shuffled = train_ids[torch.randperm(len(train_ids), generator=generator).to(train_ids.device)]
        for ids in torch.split(shuffled, batch_size):
            terms = loss(ids)
            total = torch.stack(list(terms.values())).sum()
            optimizer.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            for name, value in terms.items():
                sums[name] = sums.get(name, 0.0) + float(value.detach()) * len(ids) / len(train_ids)
        net.eval()
        val = validate()
        improved = val < best_val
        if improved:
            best, best_val, best_epoch = copy.deepcopy(net.state_dict()), val, number
        yield Epoch(number, sums, val, improved)
        if number - best_epoch >= patience:
            break
    net.load_state_dict(best)
    net.eval()
