"""The training loop of the mask network: Adam, a decaying learning rate, early stopping on validation.

The loss is a function passed in: `loss(instances [b], progress) → named terms`, progress ∈ [0, 1]. Several networks may
be trained side by side as one module whose parameters have a leading dimension R: terms and validation losses are then
[R], and best weights and patience are kept for each member. Numbers are read from the device once an epoch. The whole
state of a training can be saved as tensors and restored, so that a killed run continues exactly where it was.
"""

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
        averaging: Decay of the running mean of the weights that is validated and kept; 0: the weights themselves.
        steps: Steps of an epoch, each on other instances until all have had their turn; None: one pass over all.
    """

    epochs: int
    lr: float
    batch_size: int
    patience: int
    decay: Callable[[float], float] = cosine
    keep_last: bool = False
    steps: int | None = None
    averaging: float = 0.0


class Training(Generic[Net]):
    """A training that runs while it is iterated over: it yields every epoch's record and trains `net` in place.

    At the end `net` has the weights of the best epoch (or of the last, see `Schedule.keep_last`) and is in eval mode.

    Args:
        net: The network to train, or R of them: then all its parameters have a leading dimension R.
        loss: (instances [b], progress) → named terms, each a scalar or [R], whose sum is minimised.
        validate: Gives the loss on the validation instances, a number or [R].
        train_ids: [n] the training instances.
        generator: Source of the shuffling.
        schedule: How long and how fast.
        members: R.

    Attributes:
        histories: The records of each member, up to where its patience ran out.
    """

    def __init__(
        self,
        net: Net,
        loss: Loss,
        validate: Callable[[], float | Tensor],
        train_ids: Tensor,
        generator: torch.Generator,
        schedule: Schedule,
        members: int = 1,
    ) -> None:
        self.net, self.loss, self.validate = net, loss, validate
        self.train_ids, self.generator, self.schedule = train_ids, generator, schedule
        self.optimizer = torch.optim.Adam(net.parameters(), lr=schedule.lr, fused=True)
        self.best = {name: value.detach().clone() for name, value in net.named_parameters()}
        self.average = {name: value.clone() for name, value in self.best.items()}
        self.histories: list[list[Epoch]] = [[] for _ in range(members)]

    def __iter__(self) -> Iterator[Epoch]:
        """Yield the record of the first member that is still trained."""
        while not self.finished:
            first = next(place for place, own in enumerate(self.histories) if not self._stopped(own))
            self._epoch()
            yield self.histories[first][-1]
        self.net.load_state_dict(self.best, strict=False)
        self.net.eval()

    @property
    def history(self) -> list[Epoch]:
        """The records of the first member."""
        return self.histories[0]

    @property
    def finished(self) -> bool:
        """Whether for every member all epochs are done or patience has run out."""
        return all(self._stopped(own) for own in self.histories)

    def _stopped(self, history: list[Epoch]) -> bool:
        best = _best(history)
        idle = len(history) - 1 - (best.number if best else 0)
        return len(history) >= self.schedule.epochs or (len(history) > 0 and idle >= self.schedule.patience)

    def _epoch(self) -> None:
        """Train on all instances, in random order, validate, and read all numbers at once."""
        self.net.train()
        number, sums = max(len(own) for own in self.histories), dict[str, Tensor]()
        batches = self._batches()
        visits = sum(len(some) for some in batches)
        for place, some in enumerate(batches):
            progress = (number + place / len(batches)) / self.schedule.epochs
            terms = self._step(some, progress)
            self._follow(number * len(batches) + place)
            for name, value in terms.items():
                part = value * (len(some) / visits)
                sums[name] = sums[name] + part if name in sums else part
        self.net.eval()
        self._exchange()
        numbers = [*sums.values(), torch.as_tensor(self.validate(), device=self.train_ids.device)]
        size = len(self.histories)
        table = torch.stack([value.detach().double().reshape(-1).expand(size) for value in numbers]).tolist()
        kept = [False] * size
        for member, (own, *means, val) in enumerate(zip(self.histories, *table, strict=True)):
            if not self._stopped(own):
                best = _best(own)
                improved = val < (best.val if best else math.inf)
                kept[member] = improved or self.schedule.keep_last  # a member that has stopped keeps what it had then
                own.append(Epoch(number, dict(zip(sums, means, strict=True)), val, improved))
        if any(kept):
            self._keep(kept)
        self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        """Swap the weights and their running mean, if there is one."""
        if not self.schedule.averaging:
            return
        for name, value in self.net.named_parameters():
            now = value.detach().clone()
            value.copy_(self.average[name])
            self.average[name].copy_(now)

    @torch.no_grad()
    def _follow(self, done: int) -> None:
        """Move the running mean towards the weights; faster at first, or it would remember where they began."""
        if self.schedule.averaging:
            decay = min(self.schedule.averaging, (1 + done) / (10 + done))
            torch._foreach_lerp_(list(self.average.values()), list(self.net.parameters()), 1 - decay)

    def _batches(self) -> list[Tensor]:
        """The mini-batches of an epoch, in random order; in a single batch the order has no meaning, and stays."""
        ids, size, steps = self.train_ids, self.schedule.batch_size, self.schedule.steps
        if len(ids) <= size:
            return [ids] * (steps or 1)
        batches: list[Tensor] = []
        while not batches or len(batches) < (steps or 0):
            order = torch.randperm(len(ids), generator=self.generator, device=self.generator.device)
            batches += torch.split(ids[order.to(ids.device)], size)
        return batches[:steps]

    def _keep(self, improved: list[bool]) -> None:
        """Keep the present weights of these members as their best."""
        for name, value in self.net.named_parameters():
            if all(improved):
                self.best[name].copy_(value.detach())
            else:
                chosen = torch.tensor(improved, device=value.device).view(-1, *[1] * (value.dim() - 1))
                self.best[name] = torch.where(chosen, value.detach(), self.best[name])

    def _step(self, ids: Tensor, progress: float) -> Terms:
        """One step of Adam on a mini-batch; the values of the terms."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.lr * self.schedule.decay(progress)
        with torch.enable_grad():  # a caller may have switched it off
            terms = self.loss(ids, progress)
            self.optimizer.zero_grad()
            torch.stack([term.sum() for term in terms.values()]).sum().backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return {name: term.detach() for name, term in terms.items()}

    def state(self) -> tuple[dict[str, Tensor], str]:
        """Return everything needed to continue: tensors by name, and the histories as JSON."""
        tensors = named("net", self.net.state_dict()) | named("best", self.best) | named("average", self.average)
        for number, moments in self.optimizer.state_dict()["state"].items():
            tensors |= named(f"adam.{number}", moments)
        tensors["generator"] = self.generator.get_state()
        return tensors, json.dumps([[asdict(epoch) for epoch in own] for own in self.histories])

    def restore(self, tensors: dict[str, Tensor], histories: str) -> None:
        """Continue from what `state` returned.

        Args:
            tensors: Its tensors.
            histories: Its JSON.
        """
        self.net.load_state_dict(part("net", tensors))
        names = [name for name, _ in self.net.named_parameters()]  # a file may have them in another order
        best, average = part("best", tensors), part("average", tensors)
        self.best = {name: best[name].to(self.train_ids.device) for name in names}
        self.average = {name: average[name].to(self.train_ids.device) for name in names}
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in part("adam", tensors).items():
            number, key = name.split(".")
            moments.setdefault(int(number), {})[key] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.generator.set_state(tensors["generator"].cpu())
        self.histories = [[Epoch(**epoch) for epoch in own] for own in json.loads(histories)]


def _best(history: list[Epoch]) -> Epoch | None:
    """The epoch with the lowest validation loss."""
    return next((epoch for epoch in reversed(history) if epoch.best), None)
