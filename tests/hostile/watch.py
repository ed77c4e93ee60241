"""What must hold after every call: no foreign error, nothing changed, every claim true when the model is asked."""

import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.disclosure import WITHHELD
from rcexplainer.errors import ModelError, RCExplainerError, WithheldError
from rcexplainer.explanation import Explanation, Failure
from tests.zoo.claims import Tally

Ask = Callable[[Explanation, Tensor], Tensor]  # (explanation, columns that stay) → [C] what the model alone says


class Hang(BaseException):
    """A call took longer than its budget."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `Hang` after so many seconds."""

    def stop(number: int, frame: object) -> None:
        raise Hang(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def model_print(model: object) -> str:
    """Everything about a model that must stay; as text, in which NaN equals NaN."""
    if not isinstance(model, nn.Module) or any(value.is_meta for value in model.parameters()):
        return ""
    return repr([_module_print(module) for module in model.modules()])


def _module_print(module: nn.Module) -> list[object]:
    """As `Untouched` promises it: containers one level deep, and all that is in tensors."""
    found: list[object] = []
    for key, value in module.__dict__.items():
        if key in ("_parameters", "_buffers"):
            found += [(name, id(one), _value_print(one)) for name, one in value.items()]
        elif isinstance(value, dict):
            found.append((key, [(name, id(one)) for name, one in value.items()]))
        elif isinstance(value, list | set):
            found.append((key, [id(one) for one in value]))
        else:
            found.append((key, id(value), _value_print(value) if isinstance(value, Tensor) else ""))
    return found


def graph_print(graphs: Iterable[Any]) -> list[object]:
    """Everything about graphs that must stay."""
    return [
        {key: _value_print(value) for key, value in graph.to_dict().items()} if isinstance(graph, Data) else repr(graph)
        for graph in graphs
    ]


def _value_print(value: object) -> object:
    if not isinstance(value, Tensor) or value.is_meta:
        return repr(value)
    plain = value.detach().to_dense() if value.is_sparse else value.detach()
    return (
        str(value.dtype),
        tuple(value.shape),
        value.requires_grad,
        not value.is_leaf or value.grad is None,
        repr(plain.tolist()),
    )


def foreign(error: BaseException) -> str | None:
    """What is wrong with an error that reached the caller; None: it is one of ours, and so is what it holds."""
    if isinstance(error, ModelError):
        frames = traceback.extract_tb(error.__cause__.__traceback__) if error.__cause__ is not None else []
        if any("/tests/" in frame.filename and frame.name in ("forward", "out") for frame in frames):
            return None  # it was the model indeed
        last = next((frame for frame in reversed(frames) if "/rcexplainer/" in frame.filename), None)
        return f"ModelError, but not of the model: {error} (at {last.filename}:{last.lineno})" if last else str(error)
    if not isinstance(error, RCExplainerError):
        last = traceback.extract_tb(error.__traceback__)[-1:]
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if "/rcexplainer/" in frame.filename][-1:]
        where = ", ".join(f"{frame.filename.split('/')[-1]}:{frame.lineno}" for frame in (*own, *last))
        return f"{type(error).__name__}: {str(error)[:300]} (at {where})"
    found = [foreign(one.error) for one in getattr(error, "results", []) if isinstance(one, Failure)]
    return next((one for one in found if one), None)


def wrong_results(found: object, ask: Ask | None) -> tuple[Tally, list[str]]:
    """Go through results: foreign errors in them, scores that are none, and claims that the model does not confirm."""
    results = [found] if isinstance(found, Explanation) else found if isinstance(found, Iterable) else []
    total, wrong = Tally(), []
    for one in results:
        if isinstance(one, Failure):
            wrong += [text] if (text := foreign(one.error)) else []
        elif isinstance(one, Explanation):
            tally, texts = _claims(one, ask)
            total, wrong = total + tally, wrong + texts
    return total, wrong


def _claims(one: Explanation, ask: Ask | None) -> tuple[Tally, list[str]]:
    wrong = [f"{name} is told, {one.disclosed} was asked for" for name in WITHHELD[one.disclosed] if _told(one, name)]
    if one.disclosed == "scores":
        scores = one.edge_scores
        if len(scores) != one.graph.num_edges or not bool(((scores >= 0) & (scores <= 1)).all()):
            wrong.append(f"scores are not in [0, 1]: {scores}")
    case = None if one.disclosed == "prediction" else one.counterfactual
    if ask is None:
        return Tally(), wrong
    everything = torch.ones(one.graph.num_edges, dtype=torch.bool)
    if int(ask(one, everything).argmax()) != one.prediction:
        wrong.append(f"class {one.prediction} is claimed, alone the model says {ask(one, everything).tolist()}")
    if case is None:
        return Tally(), wrong
    if case.flipped:
        after = ask(one, ~case.removed)
        if int(after.argmax()) == one.prediction or int(after.argmax()) != case.prediction:
            wrong.append(f"a flip to {case.prediction} is claimed, alone the model says {after.tolist()}")
        if case.target not in (None, case.prediction):
            wrong.append(f"a flip to {case.prediction} is claimed, class {case.target} was asked for")
    if case.minimal:
        units = one.units
        for unit in one.removed_units.tolist():
            back = units.to_edges(torch.arange(len(units)) == unit, False)
            after = ask(one, ~(case.removed & ~back))
            label = int(after.argmax())
            flips = label != one.prediction if case.target is None else label == case.target
            if case.confidence is None and flips:
                wrong.append(f"minimal is claimed, but without unit {unit} the model says {after.tolist()}")
    return Tally(int(case.flipped), int(case.minimal), len(wrong)), wrong


def _told(one: Explanation, name: str) -> bool:
    """Whether an explanation answers to a name it was asked to withhold."""
    try:
        getattr(one, name)
    except WithheldError:
        return False
    return True


def parted(graph: Data, stays: Tensor) -> Data:
    """The graph with these edges alone, made by hand."""
    values = graph.to_dict()
    for key in ("edge_index", "edge_attr", "edge_weight"):
        if isinstance(values.get(key), Tensor):
            values[key] = (values[key][:, stays] if key == "edge_index" else values[key][stays]).detach().clone()
    return Data.from_dict({**values, "x": graph.x.detach().clone()})
