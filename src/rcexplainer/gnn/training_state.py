"""The state of a GNN's training after an epoch, as a checkpoint keeps it: a run that goes on from it ends the same."""

import json
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from rcexplainer.core.namespace import named, part

Saved = tuple[dict[str, Tensor], str]  # the tensors and the text of a part of a checkpoint


@dataclass(frozen=True, eq=False)
class BestEpoch:
    """The epoch whose weights are kept.

    Attributes:
        weights: The `state_dict` of the network.
        score: Accuracy and minus the loss on validation instances.
        epoch: Its number; -1 before the first.
    """

    weights: dict[str, Tensor]
    score: tuple[float, float] = (-1.0, 0.0)
    epoch: int = -1


def training_state(
    epoch: int, model: nn.Module, optimizer: Optimizer, schedule: LRScheduler, best: BestEpoch, device: torch.device
) -> Saved:
    """All that the epochs after this one depend on.

    Args:
        epoch: The number of the epoch that is done.
        model: The network.
        optimizer: Its optimizer.
        schedule: Of the learning rate.
        best: The best epoch so far.
        device: Where it is trained: its random numbers are kept, too.
    """
    state = optimizer.state_dict()
    tensors = named("net", model.state_dict()) | named("best", best.weights)
    for number, moments in state["state"].items():
        tensors |= named(f"adam.{number}", moments)
    tensors["random"] = torch.get_rng_state()
    if device.type == "cuda":
        tensors["random_cuda"] = torch.cuda.get_rng_state(device)
    rates = [group["lr"] for group in state["param_groups"]]
    about = {"epoch": epoch, "best": [*best.score, best.epoch], "rates": rates, "schedule": schedule.state_dict()}
    return tensors, json.dumps(about)


def restore_training(
    saved: Saved, model: nn.Module, optimizer: Optimizer, schedule: LRScheduler, device: torch.device
) -> tuple[int, BestEpoch]:
    """Continue from what `training_state` returned.

    Args:
        saved: The tensors and the text.
        model: The network, which gets its weights.
        optimizer: Gets its moments and learning rates.
        schedule: Gets its place.
        device: Where it is trained.

    Returns:
        The number of the next epoch, and the best one so far.
    """
    tensors, text = saved
    about = json.loads(text)
    model.load_state_dict(part("net", tensors))
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in part("adam", tensors).items():
        number, key = name.split(".")
        moments.setdefault(int(number), {})[key] = value
    groups = [
        {**group, "lr": rate}
        for group, rate in zip(optimizer.state_dict()["param_groups"], about["rates"], strict=True)
    ]
    optimizer.load_state_dict({"state": moments, "param_groups": groups})
    schedule.load_state_dict(about["schedule"])
    torch.set_rng_state(tensors["random"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random_cuda"], device)
    right, loss, epoch = about["best"]
    weights = {name: value.to(device) for name, value in part("best", tensors).items()}
    return about["epoch"] + 1, BestEpoch(weights, (right, loss), int(epoch))
