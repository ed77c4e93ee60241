"""Using a model without leaving a trace on it: a scope that restores everything, and hooks that are removed again.

Untouched         inside, the model is in evaluation mode; afterwards it is as before, also after an error
keeps_state       whether a call changes something in the model that the next call could read
rewound           a call after which the model is as before
capture_outputs   records what some modules return
capture_input     records the input of one module
replace_input     replaces the input of one module
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from rcexplainer.errors import SplitError
from rcexplainer.gnn.turns import TURNS, Part, parts_of


class Untouched:
    """A context in which a model may be used, and after which it is as it was before.

    Inside: evaluation mode, parameters without gradients, no cached adjacency, and no `torch.inference_mode()`, in
    which nothing can be differentiated. Afterwards attributes, hooks, buffers, flags and caches of every submodule are
    restored, also after an error. Contexts may be nested; the outermost one does the work. Another
    thread that enters waits until the outermost one is left (`turns`); so no context may stay open across a `yield` to
    the user.

    Args:
        model: The model.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._before: list[_Snapshot] = []
        self._parts: list[Part] = [model]  # as they were found last
        self._taken: list[int] = []
        self._modes = ExitStack()
        self._depth = 0
        self._thread: int | None = None  # the one inside; only that thread itself ever finds its own number here

    def __enter__(self) -> None:
        if self._thread == get_ident():
            self._depth += 1
            return
        modules, self._taken = self._turn()
        self._thread, self._depth = get_ident(), 1
        try:
            if torch.is_inference_mode_enabled():
                self._modes.enter_context(torch.inference_mode(False))
            self._before = [_Snapshot(module) for module in modules]
            if any(module.training for module in modules):
                self.model.eval()
            for module in modules:
                _forget_cache(module)
                for parameter in module._parameters.values():
                    if parameter is not None and parameter.requires_grad:
                        parameter.requires_grad_(False)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth:
            return
        try:
            for snapshot in self._before:
                snapshot.restore()
        finally:
            taken, self._before, self._taken, self._thread = self._taken, [], [], None
            self._modes.close()
            TURNS.give(taken)

    def _turn(self) -> tuple[list[nn.Module], list[int]]:
        """Take all parts of the model; which ones it has is known only to the thread whose turn it is."""
        while True:
            expected = [*map(id, self._parts)]
            taken = TURNS.take(expected)
            try:
                modules = list(self.model.modules())
                self._parts = parts_of(modules)
                if [*map(id, self._parts)] == expected:
                    return modules, taken
            except BaseException:
                TURNS.give(taken)
                raise
            TURNS.give(taken)


CONTAINERS = (dict, list, set)
PLAIN = frozenset({bool, int, float, str, type(None)})  # values that cannot change


class _Snapshot:
    """A module's `__dict__`, copies of the containers in it (hooks, parameters, …) one level deep, and its tensors."""

    def __init__(self, module: nn.Module) -> None:
        parameters = [parameter for parameter in module._parameters.values() if parameter is not None]
        if any(isinstance(parameter, UninitializedParameter) for parameter in parameters):
            raise SplitError(f"{type(module).__name__} is lazy and has no weights yet: run the model once on a batch")
        self.module = module
        self.attributes = dict(module.__dict__)
        # Most containers are empty (hooks): of those it is enough to know that they were.
        self.containers: list[tuple[Any, Any]] = []
        tensors = [buffer for buffer in module._buffers.values() if buffer is not None]
        for value in self.attributes.values():
            if type(value) in PLAIN:
                continue
            if isinstance(value, CONTAINERS):
                self.containers.append((value, copy(value) if value else None))
            elif isinstance(value, Tensor):
                tensors.append(value)
        # What an earlier run under inference mode has left behind can be written to in that mode alone: not by us.
        usual = [tensor for tensor in tensors if not tensor.is_inference()]
        self.tensors = [(tensor, tensor._version, tensor.detach().clone()) for tensor in usual]
        self.gradients = [(parameter, parameter.requires_grad) for parameter in parameters]

    def changed(self) -> bool:
        """Whether the module differs from the snapshot."""
        now = self.module.__dict__
        if now.keys() != self.attributes.keys() or any(now[key] is not self.attributes[key] for key in now):
            return True
        if any(self._written(tensor, version) for tensor, version, _ in self.tensors):
            return True
        return any(not _same_content(container, content) for container, content in self.containers)

    def _written(self, tensor: Tensor, version: int) -> bool:
        """Whether a tensor may have other values: a norm in training mode writes to its buffers unnoticed."""
        return tensor._version != version or self.module.training

    def restore(self) -> None:
        written = [(tensor, values) for tensor, version, values in self.tensors if self._written(tensor, version)]
        now = self.module.__dict__
        now.update(self.attributes)  # never empty: a thread whose model shares the module may be looking at it
        for name in now.keys() - self.attributes.keys():
            del now[name]
        for container, content in self.containers:
            if content is None and not container:
                continue
            container.clear()
            if isinstance(container, list):
                container.extend(content or ())
            else:
                container.update(content or ())
        for tensor, values in written:
            with torch.no_grad():
                tensor.copy_(values)
        for parameter, flag in self.gradients:
            if parameter.requires_grad != flag:
                parameter.requires_grad_(flag)


def _same_content(one: Any, other: Any) -> bool:
    """Whether two containers hold the very same objects; None stands for an empty one."""
    if other is None:
        return not one
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(one[key] is other[key] for key in one)
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def keeps_state(model: nn.Module, run: Callable[[], object]) -> bool:
    """Whether `run()` leaves traces in the model: attributes, buffers, or entries of containers, one level deep."""
    before = [_Snapshot(module) for module in model.modules()]
    run()
    return any(snapshot.changed() for snapshot in before)


def rewound(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A call `forward(model, …)` after which the model is as before, so that no call can see an earlier one."""

    def call(model: nn.Module, *arguments: Any) -> Any:
        before = [_Snapshot(module) for module in model.modules()]
        try:
            return _cloned(forward(model, *arguments))  # what is returned may be memory that is restored
        finally:
            for snapshot in before:
                snapshot.restore()

    return call


def _cloned(value: Any) -> Any:
    """The value with copies of its tensors."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: _cloned(entry) for key, entry in value.items()}
    if hasattr(value, "_asdict"):  # a named tuple
        return {key: _cloned(entry) for key, entry in value._asdict().items()}
    return [_cloned(entry) for entry in value] if isinstance(value, tuple | list) else value


def _forget_cache(module: nn.Module) -> None:
    """`GCNConv(cached=True)` and the like would keep using the edges of the first graph they saw."""
    if getattr(module, "cached", False) is not True:
        return
    module.__dict__["cached"] = False
    for name in [name for name in module.__dict__ if name.startswith("_cached_")]:
        module.__dict__[name] = None


@contextmanager
def capture_outputs(modules: list[nn.Module]) -> Iterator[list[Tensor]]:
    """Inside this context the outputs of the modules are appended to the list, in the order of their calls.

    Args:
        modules: The modules; of a tuple they return, the first entry counts.

    Yields:
        The list.
    """
    seen: list[Tensor] = []

    def hook(_: nn.Module, __: object, output: Any) -> None:
        seen.append(output[0] if isinstance(output, tuple) else output)

    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def capture_input(module: nn.Module) -> Iterator[list[Tensor]]:
    """Inside this context the first argument of every call of `module` is appended to the list.

    Args:
        module: The module.

    Yields:
        The list.
    """
    seen: list[Tensor] = []

    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.append(next(iter([*args, *kwargs.values()])).clone())  # the module may work in place

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield seen
    finally:
        handle.remove()


@contextmanager
def replace_input(module: nn.Module, value: Tensor) -> Iterator[None]:
    """Inside this context the first argument of `module` is always `value`, whatever it is called with.

    Args:
        module: The module.
        value: Its input.
    """

    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if args:
            return (value, *args[1:]), kwargs
        return args, {**kwargs, next(iter(kwargs)): value}

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
