"""Nested dictionaries of tensors as flat, dotted names, as in a file: `net.weight`, `probe.0.x`."""

from torch import Tensor


def named(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Put `prefix.` before every name.

    Args:
        prefix: The name of the dictionary.
        tensors: Its content.

    Returns:
        The same tensors under their dotted names.
    """
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def part(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Undo `named`: take the tensors under `prefix.`.

    Args:
        prefix: The name of the dictionary.
        tensors: Tensors by dotted names.

    Returns:
        The content of that dictionary.
    """
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
