"""How a model is called: `forward(model, batch, edge_weight)`, derived from the names of its parameters.

model(x, edge_index, batch, …)   every parameter is the attribute of the batch with its name
model(data)                      the batch itself, carrying `edge_weight`
decode(encode(x, edge_index), edge_label_index)   link tasks, if the model has these two methods
"""

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Literal

from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.errors import SplitError
from rcexplainer.sources.attribute_levels import EDGE_LEVEL

TaskName = Literal["graph", "node", "link"]
Forward = Callable[[nn.Module, Data, Tensor | None], Any]

# Parameter names that models in the wild use for PyG's attributes.
SPELLINGS = {
    "features": "x",
    "node_features": "x",
    "feat": "x",
    "edges": "edge_index",
    "edge_weights": "edge_weight",
    "edge_attrs": "edge_attr",
    "edge_features": "edge_attr",
    "batch_index": "batch",
    "batch_idx": "batch",
    "batch_size": "num_graphs",
    "pairs": "edge_label_index",
    "edge_pairs": "edge_label_index",
    "edge_label_indices": "edge_label_index",
}
# Attributes that this package adds to batches; messages do not list them as the user's.
ADDED_ATTRIBUTES = {"_num_nodes", "num_graphs", "ptr", "edge_fixed", "hop_code", "root_index", EDGE_LEVEL}
WHOLE_GRAPH = {"data", "batch", "graph", "g", "batch_data", "batched_data", "inputs", "input"}


def conventional_forwards(model: nn.Module, task: TaskName) -> list[Forward]:
    """The calls that fit the signature of `model.forward`.

    Args:
        model: The model; nothing is run.
        task: "graph", "node" or "link".

    Returns:
        Functions `forward(model, batch, edge_weight)`, the one with the most arguments first.
    """
    if task == "link" and callable(getattr(model, "encode", None)) and callable(getattr(model, "decode", None)):
        return [_decoding(encoding) for encoding in _calls(model, "encode", "node")]
    return _calls(model, "forward", task)


def function_name(function: Callable[..., Any]) -> str:
    """Name a function, to tell a user which one to pass again.

    Args:
        function: Any callable.

    Returns:
        `module:function`; for a callable object its class.
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def _decoding(encoding: Forward) -> Forward:
    def forward(model: nn.Module, batch: Data, edge_weight: Tensor | None) -> Any:
        return model.decode(encoding(model, batch, edge_weight), batch.edge_label_index)  # type: ignore[operator]

    return forward


def _calls(model: nn.Module, method: str, task: TaskName) -> list[Forward]:
    parameters = inspect.signature(getattr(model, method)).parameters
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [p for p in parameters.values() if p.kind in kinds]
    required = [p for p in named if p.default is p.empty]

    def called(model: nn.Module) -> Callable[..., Any]:
        return model if method == "forward" else getattr(model, method)  # the model itself, so that its hooks run

    if len(required) == 1 and _takes_whole_graph(required[0]):
        return [lambda model, batch, edge_weight: called(model)(with_edge_weight(batch, edge_weight))]
    if not parameters:
        raise SplitError(
            f"{type(model).__name__}.{method} takes no arguments, so its answer cannot depend on a graph: there is "
            "nothing about edges to explain"
        )
    if not named:  # *args: the order that PyG's models have
        last = {"graph": ["batch"], "node": [], "link": ["edge_label_index"]}[task]
        return [lambda model, batch, _: called(model)(batch.x, batch.edge_index, *(batch[name] for name in last))]
    # A model may accept arguments it was not built for: PyG's own take `edge_attr` and fail without an `edge_dim`.
    plain = ("batch", "edge_weight", "edge_label_index")
    fewer = [p for p in named if p in required or SPELLINGS.get(p.name, p.name) in plain]

    def calling(parameters: list[inspect.Parameter]) -> Forward:
        return lambda model, batch, edge_weight: _call_by_name(
            called(model), type(model).__name__, required, parameters, batch, edge_weight, task
        )

    return [calling(named), calling(fewer)]


def _takes_whole_graph(parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    whole = isinstance(annotation, type) and issubclass(annotation, Data)
    return whole or parameter.name in WHOLE_GRAPH or str(annotation).rsplit(".", 1)[-1] in ("Data", "Batch")


def _call_by_name(
    function: Callable[..., Any],
    name_of_model: str,
    required: list[inspect.Parameter],
    named: list[inspect.Parameter],
    batch: Data,
    edge_weight: Tensor | None,
    task: TaskName,
) -> Any:
    known = _values(batch, edge_weight)
    arguments: dict[str, Any] = {}
    for parameter in named:
        name = SPELLINGS.get(parameter.name, parameter.name)
        if task != "graph" and name in ("batch", "num_graphs") and parameter not in required:
            continue  # a model that pools if it gets `batch` must not do so in a node task
        if known.get(name) is not None:
            arguments[parameter.name] = known[name]
        elif parameter in required:
            raise SplitError(
                f"{name_of_model}.forward needs {parameter.name!r}, which the graphs do not have (they have "
                f"{', '.join(sorted(known.keys() - ADDED_ATTRIBUTES))}); "
                "pass forward=lambda model, batch, edge_weight: …"
            )
    positional = [p.name for p in named if p.kind is p.POSITIONAL_ONLY]
    return function(*(arguments.pop(name) for name in positional if name in arguments), **arguments)


def _values(batch: Data, edge_weight: Tensor | None) -> Mapping[str, Any]:
    known = dict(batch.to_dict())
    known["num_graphs"] = batch.num_graphs if isinstance(batch, Batch) else 1
    if edge_weight is not None:
        known["edge_weight"] = edge_weight
    return known


def with_edge_weight(batch: Data, edge_weight: Tensor | None) -> Data:
    """A shallow copy of the batch with these weights; the batch itself if they are None."""
    if edge_weight is None:
        return batch
    weighted = copy(batch)
    weighted.edge_weight = edge_weight
    return weighted


def on_copies(forward: Forward) -> Forward:
    """The same call for a model that changes what it is given: it gets copies of the batch and the weights."""

    def call(model: nn.Module, batch: Data, edge_weight: Tensor | None) -> Any:
        return forward(model, batch.clone(), None if edge_weight is None else edge_weight.clone())

    return call


def changes_input(batch: Data, run: Callable[[], object]) -> bool:
    """Whether `run()` writes to the tensors of the batch, replaces them, or adds others."""

    def marks() -> dict[str, tuple[Tensor, int]]:
        return {key: (value, value._version) for key, value in batch.to_dict().items() if isinstance(value, Tensor)}

    before = marks()
    run()
    after = marks()
    return before.keys() != after.keys() or any(
        after[key][0] is not tensor or after[key][1] != version for key, (tensor, version) in before.items()
    )
