"""Dictionaries of tensors inside one another, as the flat names of a file: `net.weight`, `probe.0.x`."""

from torch import Tensor


def named(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors under `prefix.`."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def part(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """What stands under `prefix.`, by the names it had before."""
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
