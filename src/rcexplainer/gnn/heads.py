"""Where φ_fc begins: the module whose input is the embedding, one row per instance.

A run of the model with listening hooks tells the order in which modules are called and the shape each one is
given. Candidates for the head are the modules with a weight matrix (a norm alone still belongs to the layer before
it) that are called once, after the last message passing, on one row per instance. The first is where φ_fc begins.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

OUTPUT = "output"  # the name of the head of a model that has no module after its last message passing


@dataclass(frozen=True)
class Call:
    """One call of a module while the model ran."""

    name: str
    module: nn.Module
    shape: tuple[int, ...] | None  # of its first argument, if that is a floating tensor


def listen(model: nn.Module, run: Callable[[], Any]) -> list[Call]:
    """All calls of submodules during `run()`, in order; a module stands before the ones inside it."""
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


def head_candidates(calls: list[Call], rows: int) -> list[str]:
    """Names of the modules where φ_fc can begin, the first called first."""
    passing = [call.name for call in calls if isinstance(call.module, MessagePassing)]
    names = [call.name for call in calls]
    last = max((place for place, name in enumerate(names) if name in passing), default=-1)
    return [
        call.name
        for call in calls[last + 1 :]
        if call.shape is not None
        and len(call.shape) == 2
        and call.shape[0] == rows
        and names.count(call.name) == 1
        and any(parameter.dim() > 1 for parameter in call.module.parameters())
        and not _inside(call.name, passing)
    ]


def _inside(name: str, outer: list[str]) -> bool:
    return name.startswith(tuple(f"{other}." for other in outer))


def node_layers(calls: list[Call], num_nodes: int) -> list[str]:
    """Names of the modules whose outputs are the nodes' embeddings, layer by layer.

    These are the message-passing layers; in a model that does its message passing by hand, every module with
    parameters that is given one row per node.
    """
    fitting = [call for call in calls if call.shape is not None and call.shape[0] == num_nodes]
    passing = [call.name for call in fitting if isinstance(call.module, MessagePassing)]
    by_hand = [call.name for call in fitting if any(True for _ in call.module.parameters(recurse=False))]
    return list(dict.fromkeys(name for name in passing or by_hand if not _inside(name, passing)))
