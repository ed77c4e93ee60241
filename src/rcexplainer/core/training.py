"""The training loop of the mask network: Adam, a decaying learning rate, early stopping on validation.

The loss is a function passed in: `loss(instances [b], progress) → named terms`, progress ∈ [0, 1]. The whole state of a
training can be saved as tensors and restored, so that a killed run continues exactly where it was.
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
    """The record of one epoch.

    Attributes:
        number: 0 for the first.
        terms: Mean of every term of the training loss.
        val: Loss on the validation instances.
        best: Whether `val` was lower than in all epochs before.
    """

    number: int
    terms: dict[str, float]
    val: float
    best: bool


def cosine(progress: float) -> float:
    """Factor of the learning rate that falls from 1 to 0 along half a cosine, for progress in [0, 1]."""
    return 0.5 * (1 + math.cos(math.pi * progress))


def constant(progress: float) -> float:
    """Factor of the learning rate that is always 1."""
    return 1.0


DECAYS: dict[str, Callable[[float], float]] = {"cosine": cosine, "none": constant}


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train.

    Attributes:
        epochs: Largest number of epochs.
        lr: Learning rate of Adam.
        batch_size: Instances per step.
        patience: Epochs without a better validation loss after which training stops.
        decay: progress → factor of the learning rate.
        keep_last: Whether to keep the weights of the last epoch instead of the best one.
    """

    epochs: int
    lr: float
    batch_size: int
    patience: int
    decay: Callable[[float], float] = cosine
    keep_last: bool = False


class Training(Generic[Net]):
    """A training that runs while it is iterated over: it yields every epoch's record and trains `net` in place.

    At the end `net` has the weights of the best epoch (or of the last, see `Schedule.keep_last`) and is in eval mode.

    Args:
        net: The network to train.
        loss: (instances [b], progress) → named terms, whose sum is minimised.
        validate: Gives the loss on the validation instances.
        train_ids: [n] the training instances.
        generator: Source of the shuffling.
        schedule: How long and how fast.
    """

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
        """Whether all epochs are done or patience has run out."""
        done = len(self.history)
        return done >= self.schedule.epochs or (done > 0 and done - 1 - self.best_epoch >= self.schedule.patience)

    def _epoch(self) -> Epoch:
        """Train on all instances once, in random order, and validate."""
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
        """One step of Adam on a mini-batch; the values of the terms."""
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
        """Return everything needed to continue: tensors by name, and the history as JSON."""
        tensors = named("net", self.net.state_dict()) | named("best", self.best)
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= named(f"adam.{number}", moments)
        tensors["generator"] = self.generator.get_state()
        return tensors, json.dumps([asdict(epoch) for epoch in self.history])

    def restore(self, tensors: dict[str, Tensor], history: str) -> None:
        """Continue from what `state` returned.

        Args:
            tensors: Its tensors.
            history: Its JSON.
        """
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
