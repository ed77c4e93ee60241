"""Which of the values that a model returned is its prediction: one row of class scores for each instance.

It is found in the first run. Later runs take the same one: on other graphs another value may have as many rows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.forward import Forward

Shape = tuple[int, ...]

# Names under which models return their prediction, the most usual first.
PREDICTION_NAMES = ("logits", "out", "output", "pred", "prediction", "y_hat", "log_probs", "probs")


def first_fitting(output: Any, rows: int, who: str) -> Tensor:
    """The prediction among the values a model returned, [rows, C]; arguments as of `named_prediction`."""
    return named_prediction(output, rows, who)[1]


def named_prediction(
    output: Any,
    rows: int,
    who: str,
    advice: Callable[[list[Shape]], str] | None = None,
    again: Callable[[], Any] | None = None,
) -> tuple[str, Tensor]:
    """The prediction among the values a model returned, and the index that picks it.

    Args:
        output: A tensor, or a tuple, list, dict or named tuple with tensors.
        rows: Instances; the prediction has one row for each.
        who: Who returned it, for messages.
        advice: What to do if no tensor fits, from the shapes of all.
        again: Runs the model again with gradients, to find out which tensor is computed from the others.

    Returns:
        The index, such as `[1]`, and the prediction [rows, C].

    Raises:
        SplitError: No tensor fits, or several do that are not one prediction in other units.
    """
    named = named_tensors(output)
    fitting = [(name, shaped) for name, value in named if (shaped := _one_row_each(value, rows)) is not None]
    if not fitting:
        shapes = [tuple(value.shape) for _, value in named]
        found, way_out = (", ".join(map(str, shapes)), None) if named else _no_scores(output)
        way_out = way_out or (advice and advice(shapes))
        hint = way_out or "pass forward=lambda model, batch, edge_weight: … that returns them"
        raise SplitError(
            f"{who} should return one row of class scores for each of {rows} instances, but returned {found}; {hint}"
        )
    if not all(_same_prediction(fitting[0][1], value) for _, value in fitting[1:]):
        shown = ", ".join(f"{name} of shape {tuple(value.shape)}" for name, value in fitting)
        last = None if again is None else computed_last(again, [name for name, _ in fitting])
        which = "take the prediction" if last is None else f"{last} is computed from the others: take it"
        raise SplitError(
            f"{who} returns several tensors that could be its prediction ({shown}); {which} with "
            f"forward=lambda model, batch, edge_weight: model(…){last or '[…]'}"
        )
    return fitting[0]


def picking(forward: Forward, name: str) -> Forward:
    """A call of the model that returns one of its values alone.

    Args:
        forward: A call that returns several.
        name: The index of the one, as `named_prediction` gives it.
    """

    def run(model: nn.Module, batch: Data, edge_weight: Tensor | None) -> Tensor:
        found = dict(named_tensors(forward(model, batch, edge_weight)))
        if name not in found:
            raise SplitError(f"{type(model).__name__} returned its prediction as {name} before, and nothing there now")
        return found[name]

    return run


def _same_prediction(first: Tensor, other: Tensor) -> bool:
    """Whether a tensor says what the first one says: the same numbers, or the probabilities of these logits.

    Two tensors of one width may also be an embedding and the logits computed from it, or the outputs of two heads.
    """
    if first.shape != other.shape or first.device != other.device:
        return False
    wide = torch.promote_types(first.dtype, other.dtype)
    coarse = max(torch.finfo(first.dtype).eps, torch.finfo(other.dtype).eps)
    first, other = first.to(wide), other.to(wide)

    def read(one: Tensor) -> tuple[Tensor, ...]:
        return one, one.softmax(1), one.log_softmax(1), one.sigmoid(), one.exp()

    pairs = [(unit, other) for unit in read(first)] + [(unit, first) for unit in read(other)]
    near = {"rtol": max(1e-4, 2 * coarse), "atol": max(1e-5, coarse)}
    return any(torch.allclose(unit, found, equal_nan=True, **near) for unit, found in pairs)


def named_tensors(output: Any) -> list[tuple[str, Tensor]]:
    """The tensors of numbers among the values a model returned, each with the index that picks it, such as `[1]`.

    Where some have the name of a prediction, these alone.
    """
    if isinstance(output, Mapping):
        options = {f"[{name!r}]": value for name, value in output.items()}
        predictions = [f"[{name!r}]" for name in PREDICTION_NAMES if name in output]
    elif hasattr(output, "_asdict"):
        options = {f".{name}": value for name, value in output._asdict().items()}
        predictions = [f".{name}" for name in PREDICTION_NAMES if f".{name}" in options]
    else:
        values = list(output) if isinstance(output, tuple | list) else [output]
        options, predictions = {f"[{place}]": value for place, value in enumerate(values)}, []
    wanted = predictions or list(options)
    return [(name, options[name]) for name in wanted if _numbers(options[name])]


def _numbers(value: object) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() and value.layout == torch.strided


def _no_scores(output: object) -> tuple[str, str | None]:
    """What a model returned in place of tensors of real numbers, and the way out where there is one."""
    if isinstance(output, Tensor):
        return _no_real_numbers(output)
    if isinstance(output, np.ndarray):
        return f"a numpy array of shape {output.shape}", "return a torch tensor: gradients do not pass through numpy"
    if output is None:
        return "None", "its forward must return them"
    for name in PREDICTION_NAMES:
        if isinstance(getattr(output, name, None), Tensor):
            way_out = f"pass forward=lambda model, batch, edge_weight: model(…).{name}"
            return f"{type(output).__name__}, which has .{name}", way_out
    return type(output).__name__, None


def _no_real_numbers(output: Tensor) -> tuple[str, str | None]:
    """The same of a tensor."""
    if output.layout != torch.strided:
        return "a sparse tensor (return output.to_dense())", None
    shape = tuple(output.shape)
    if output.is_complex():
        return f"complex numbers of shape {shape}", "return real ones, such as output.real or output.abs()"
    numbers = "booleans" if output.dtype == torch.bool else "integers"
    if output.dim() > 1:
        return f"{numbers} of shape {shape}", "return scores, as real numbers"
    return f"{numbers} of shape {shape}, which look like class numbers", "return the scores before argmax"


def computed_last(run: Callable[[], Any], names: Sequence[str]) -> str | None:
    """The tensor that is computed from all the others; None where none is, or gradients do not tell.

    Args:
        run: Runs a model with gradients.
        names: The tensors to compare, as `named_tensors` names them.
    """
    try:
        output = run()
    except Exception:  # noqa: BLE001  it only makes a message better
        return None
    functions = {name: value.grad_fn for name, value in named_tensors(output) if name in names}
    for name, function in functions.items():
        others = {other for key, other in functions.items() if key != name}
        if None not in others and function is not None and others <= _ancestors(function):
            return name
    return None


def _ancestors(function: Any) -> set[Any]:
    """The steps of a computation that come before this one."""
    found: set[Any] = set()
    pending = [function]
    while pending:
        before = {step for step, _ in pending.pop().next_functions if step is not None} - found
        found |= before
        pending += before
    return found


def _one_row_each(value: Tensor, rows: int) -> Tensor | None:
    if value.dim() == 2 and value.size(0) == rows:
        return value
    if value.dim() == 1 and value.size(0) == rows:
        return value.unsqueeze(-1)
    return value.reshape(1, 1) if value.dim() == 0 and rows == 1 else None
