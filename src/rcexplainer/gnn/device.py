"""The device that tensors live on: whether this machine has the one asked for, and where a model is."""

import torch
from torch import nn

from rcexplainer.errors import RCExplainerError


def usable_device(name: torch.device | str | None) -> torch.device:
    """A device by its name, checked by putting a number on it.

    Args:
        name: Such as "cuda:0"; None for the CPU.

    Returns:
        The device.

    Raises:
        RCExplainerError: This machine has no such device.
    """
    try:
        device = torch.device(name or "cpu")
        torch.zeros(1, device=device).item()  # the device `meta` exists, but holds no numbers
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        if "device type at start of device string" in reason:
            reason = "a device is named cpu, cuda, cuda:1, mps or the like"
        raise RCExplainerError(f"device {str(name)!r} cannot be used here: {reason}") from error
    return device


def device_of(model: nn.Module) -> torch.device:
    """The device of the model's parameters; the CPU for a model without parameters."""
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
