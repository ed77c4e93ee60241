"""What the header of a file claims, checked against what the file holds before memory is taken for it.

A header of a few bytes can name a network of any size. Everything that such a number stands for has tensors in the
file, so the number of tensors, and their sizes, bound it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from rcexplainer.errors import CheckpointError

STRINGS, BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"'), re.compile(r"[\[\]{}]")
DEEPEST_JSON = 64  # arrays and objects inside each other; Python's own reader gives up later, with an error of its own
MOST_PROBE_NODES = 1 << 20  # of a probe graph beyond the entries of its tensors: nodes without edges and features
MOST_HOPS = 1000


def check_nesting(path: Path, header: Mapping[str, str]) -> None:
    """Refuse texts whose JSON is nested too deep to be read.

    Args:
        path: The file, for the error message.
        header: The texts of its header by name.

    Raises:
        CheckpointError: One is.
    """
    for name, text in header.items():
        depth = 0
        for letter in BRACKETS.findall(STRINGS.sub("", text)):
            depth += 1 if letter in "[{" else -1
            if depth > DEEPEST_JSON:
                raise CheckpointError(
                    f"{path} is damaged: {name} in its header is nested more than {DEEPEST_JSON} deep"
                )


def check_count(path: Path, what: str, claimed: object, most: int, least: int = 0) -> None:
    """Refuse a number that the file cannot mean.

    Args:
        path: The file, for the error message.
        what: What is counted.
        claimed: The number in the header.
        most: The largest one that the file can mean.
        least: The smallest one.

    Raises:
        CheckpointError: It is no whole number, or out of this range.
    """
    if isinstance(claimed, bool) or not isinstance(claimed, int) or not least <= claimed <= most:
        shown = str(claimed) if isinstance(claimed, int) else type(claimed).__name__
        raise CheckpointError(
            f"{path} is damaged: its header claims {shown[:20]} {what}, and the file has room for {least} to {most}"
        )


def check_probes(path: Path, claimed: object, tensors: Mapping[str, Tensor]) -> None:
    """Refuse probe graphs with more nodes than their tensors can belong to.

    Args:
        path: The file, for the error message.
        claimed: The numbers of nodes in the header.
        tensors: The tensors of the file; those of the first probe are named `probe.0.NAME`.

    Raises:
        CheckpointError: A number is too large, or there are more probes than tensors.
    """
    if not isinstance(claimed, list) or len(claimed) > len(tensors):
        raise CheckpointError(f"{path} is damaged: its header lists no probe graphs, or more than there are tensors")
    for number, nodes in enumerate(claimed):
        held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith(f"probe.{number}."))
        check_count(path, f"nodes of probe {number}", nodes, held + MOST_PROBE_NODES)


def check_shapes(path: Path, network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Refuse weights that are not those of a network.

    Args:
        path: The file, for the error message.
        network: A network on the `meta` device, which takes no memory.
        tensors: Weights by name.

    Raises:
        CheckpointError: A tensor is missing, not known, or of another shape.
    """
    wanted = {name: tuple(value.shape) for name, value in network.state_dict().items() if torch.is_tensor(value)}
    for name in sorted(wanted.keys() | tensors.keys()):
        if name not in tensors or name not in wanted:
            what = "is missing" if name in wanted else "belongs to no layer of the network in its header"
            raise CheckpointError(f"{path} is damaged or was written by another version: {name} {what}")
        if wanted[name] != tuple(tensors[name].shape):
            raise CheckpointError(
                f"{path} is damaged or was written by another version: {name} has the shape "
                f"{tuple(tensors[name].shape)}, its header claims {wanted[name]}"
            )
