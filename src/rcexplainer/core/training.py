"""One plain training loop for the mask network: Adam, a learning rate that decays, early stopping on validation.

What is minimised is a function passed in: `loss(instances [b], progress) → named terms`, progress ∈ [0, 1]. All that a
training remembers can be taken out as tensors and put back, so that a killed one goes on as if nothing had happened.
"""

import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from rcexplainer.core.namespace import named, part
from rcexplainer.core.objectives import Terms

Loss = Callable[[Tensor, float], Terms]
Net = TypeVar("Net", bound=nn.Module)


@dataclass(frozen=True)
class Epoch:
    """What happened in one epoch: the mean of every term, and the loss on the validation instances."""

    number: int
    terms: dict[str, float]
    val: float
    best: bool


def cosine(progress: float) -> float:
    """From 1 to 0 along half a cosine."""
    return 0.5 * (1 + math.cos(math.pi * progress))


def constant(progress: float) -> float:
    """1 throughout."""
    return 1.0


DECAYS: dict[str, Callable[[float], float]] = {"cosine": cosine, "none": constant}


@dataclass(frozen=True)
class Schedule:
    """How long and how fast."""

    epochs: int
    lr: float
    batch_size: int
    patience: int
    decay: Callable[[float], float] = cosine
    keep_last: bool = False  # the weights of the last epoch, whichever was the best


class Training(Generic[Net]):
    """Trains `net` in place; iterated over, it tells of every epoch and ends with the weights of the best one."""

    def __init__(
        self,
        net: Net,
        loss: Loss,
        validate: Callable[[], float],
        train_ids: Tensor,
        generator: torch.Generator,
        schedule: Schedule,
    ) -> None:
        self.net, self.loss, self.validate = net, loss, validate
        self.train_ids, self.generator, self.schedule = train_ids, generator, schedule
        self.optimizer = torch.optim.Adam(net.parameters(), lr=schedule.lr)
        self.best = copy.deepcopy(net.state_dict())
        self.best_val, self.best_epoch = math.inf, 0
        self.history: list[Epoch] = []

    def __iter__(self) -> Iterator[Epoch]:
        while not self.finished:
            yield self._epoch()
        if not self.schedule.keep_last:
            self.net.load_state_dict(self.best)
        self.net.eval()

    @property
    def finished(self) -> bool:
        done = len(self.history)
        return done >= self.schedule.epochs or (done > 0 and done - 1 - self.best_epoch >= self.schedule.patience)

    def _epoch(self) -> Epoch:
        self.net.train()
        sums: dict[str, float] = {}
        number, ids = len(self.history), self.train_ids
        shuffled = ids[torch.randperm(len(ids), generator=self.generator).to(ids.device)]
        batches = torch.split(shuffled, self.schedule.batch_size)
        for place, some in enumerate(batches):
            progress = (number + place / len(batches)) / self.schedule.epochs
            for name, value in self._step(some, progress).items():
                sums[name] = sums.get(name, 0.0) + value * len(some) / len(ids)
        self.net.eval()
        val = self.validate()
        improved = val < self.best_val
        if improved:
            self.best, self.best_val, self.best_epoch = copy.deepcopy(self.net.state_dict()), val, number
        self.history.append(Epoch(number, sums, val, improved))
        return self.history[-1]

    def _step(self, ids: Tensor, progress: float) -> dict[str, float]:
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.lr * self.schedule.decay(progress)
        with torch.enable_grad():  # a caller may have switched it off
            terms = self.loss(ids, progress)
            total = torch.stack(list(terms.values()))
            self.optimizer.zero_grad()
            total.sum().backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return dict(zip(terms, total.tolist(), strict=True))  # one copy from the device for all terms

    def state(self) -> tuple[dict[str, Tensor], str]:
        """Everything needed to go on, as plain tensors and a line of JSON."""
        tensors = named("net", self.net.state_dict()) | named("best", self.best)
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= named(f"adam.{number}", moments)
        tensors["generator"] = self.generator.get_state()
        return tensors, json.dumps([asdict(epoch) for epoch in self.history])

    def restore(self, tensors: dict[str, Tensor], history: str) -> None:
        """Go on from what `state` gave."""
        self.net.load_state_dict(part("net", tensors))
        self.best = {name: value.to(self.train_ids.device) for name, value in part("best", tensors).items()}
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in part("adam", tensors).items():
            number, key = name.split(".")
            moments.setdefault(int(number), {})[key] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.generator.set_state(tensors["generator"].cpu())
        self.history = [Epoch(**epoch) for epoch in json.loads(history)]
        best = [epoch for epoch in self.history if epoch.best]
        if best:
            self.best_val, self.best_epoch = best[-1].val, best[-1].number
