"""The calls of a model's modules during one run: in which order, and with inputs of which shape.

They show where the head may begin (`heads`) and which modules are the layers that pass messages between nodes.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import MessagePassing


@dataclass(frozen=True)
class Call:
    """One call of a module."""

    name: str
    module: nn.Module
    shape: tuple[int, ...] | None  # of its first argument, if that is a floating-point tensor


def recorded_calls(model: nn.Module, run: Callable[[], Any]) -> list[Call]:
    """All calls of submodules of `model` during `run()`, in order; a module comes before the modules inside it."""
    calls: list[Call] = []

    def note(name: str, module: nn.Module) -> Callable[..., None]:
        def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            first = next(iter([*args, *kwargs.values()]), None)
            floating = isinstance(first, Tensor) and first.is_floating_point()
            calls.append(Call(name, module, tuple(first.shape) if isinstance(first, Tensor) and floating else None))

        return hook

    with ExitStack() as handles:
        for name, module in model.named_modules():
            if name:
                handle = module.register_forward_pre_hook(note(name, module), with_kwargs=True)
                handles.callback(handle.remove)
        run()
    return calls


def message_passing(calls: list[Call]) -> list[str]:
    """Names of the PyG layers among the calls."""
    return [call.name for call in calls if isinstance(call.module, MessagePassing)]


def is_inside(name: str, outer: list[str]) -> bool:
    """Whether the module `name` is a part of one of the modules `outer`."""
    return name.startswith(tuple(f"{other}." for other in outer))


def node_layers(calls: list[Call], num_nodes: int) -> list[str]:
    """Names of the modules whose outputs are the node embeddings, layer by layer.

    These are the message-passing layers. In a model that passes messages without PyG's layers, they are all modules
    with parameters whose input has one row per node.

    Args:
        calls: The calls of one run.
        num_nodes: Nodes in that run.
    """
    fitting = [call for call in calls if call.shape is not None and call.shape[0] == num_nodes]
    passing = message_passing(fitting)
    by_hand = [call.name for call in fitting if any(True for _ in call.module.parameters(recurse=False))]
    return list(dict.fromkeys(name for name in passing or by_hand if not is_inside(name, passing)))
