"""Where φ_fc begins: the module whose input is the embedding, one row per instance.

Candidates are the modules with a weight matrix (a norm alone still belongs to the layer before it) that are called
once, after the last message passing, on one row per instance. The first one for which head(embed(G)) = φ(G) is the
head.
"""

import logging
from collections.abc import Callable, Sequence
from copy import copy

from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.errors import SplitError
from rcexplainer.gnn.module_calls import Call, is_inside, message_passing
from rcexplainer.gnn.prediction import first_fitting
from rcexplainer.gnn.scope import capture_input, replace_input
from rcexplainer.gnn.trial import SAME, Trial, output_difference

log = logging.getLogger(__name__)

OUTPUT = "output"  # stands for the head of a model that has no module after its last message passing


def head_candidates(calls: list[Call], rows: int) -> list[str]:
    """Names of the modules where φ_fc can begin, in the order of their calls.

    Args:
        calls: The calls of one run.
        rows: Instances in that run.
    """
    passing, names = message_passing(calls), [call.name for call in calls]
    last = max((place for place, name in enumerate(names) if name in passing), default=-1)
    return [
        call.name
        for call in calls[last + 1 :]
        if call.shape is not None
        and len(call.shape) == 2
        and call.shape[0] == rows
        and names.count(call.name) == 1
        and any(parameter.dim() > 1 for parameter in call.module.parameters())
        and not is_inside(call.name, passing)
    ]


def find_head(
    trial: Trial, candidates: list[str], head: str | nn.Module | None
) -> tuple[str, Callable[[Tensor], Tensor], Tensor]:
    """The first candidate for which head(embed(G)) = φ(G) on the probe graphs.

    Args:
        trial: The trial run of the model.
        candidates: Names of modules.
        head: The module to use instead (dotted name or module); None for the candidates.

    Returns:
        The name of the head, φ_fc, and the embeddings of the probe graphs. Without any candidate the model's own
        output is the embedding.

    Raises:
        SplitError: There is no such module, or the model cannot be split at it.
    """
    wanted = candidates if head is None else [_name_of(trial, head, candidates)]
    failures: list[str] = []
    for name in [name for name in wanted if name != OUTPUT]:
        module = trial.model.get_submodule(name)
        with capture_input(module) as seen:
            trial.forward(trial.model, trial.probe, None)
        if len(seen) != 1 or seen[0].dim() != 2 or seen[0].size(0) != len(trial.reference):
            failures.append(f"{name} {_unfit(seen, len(trial.reference))}")
            continue
        phi_fc, off = _phi_fc(trial, module, seen[0])
        if off < SAME:
            return name, phi_fc, seen[0]
        shapes = f"outputs of shape {tuple(trial.reference.shape)}, embeddings {tuple(seen[0].shape)}"
        failures.append(f"with {name}, head(embed(g)) is off by {off:.3g} ({shapes})")
    if failures:
        raise SplitError(
            f"cannot split {trial.name}: {'; '.join(failures)}. The head must be called once, on one row per instance, "
            f"and what follows must depend on nothing else. Candidates: {', '.join(candidates) or 'none'}; "
            f'choose one with head="NAME", or head="{OUTPUT}" for the model\'s own output'
        )
    log.info("no module follows the last message passing: the model's own output serves as embedding")
    return OUTPUT, lambda embedding: embedding, trial.reference


def _unfit(seen: Sequence[Tensor], instances: int) -> str:
    """What is the matter with the inputs of a module that cannot be the head."""
    shapes = " and ".join(str(tuple(value.shape)) for value in seen)
    if not seen:
        return "is not called at all"
    if len(seen) > 1:
        return f"is called {len(seen)} times, with {shapes}"
    return f"is called with {shapes}, which is not one row for each of the {instances} instances"


def _name_of(trial: Trial, head: str | nn.Module, candidates: list[str]) -> str:
    modules = dict(trial.model.named_modules())
    names = [name for name, module in modules.items() if name and (name == head or module is head)]
    if names or head == OUTPUT:
        return names[0] if names else OUTPUT
    said = repr(head) if isinstance(head, str) else f"like the given {type(head).__name__}"
    raise SplitError(
        f"{trial.name} has no module {said}; candidates for the head: "
        f"{', '.join(candidates) or 'none found'} (or {OUTPUT!r}: the model's own output)"
    )


def _phi_fc(trial: Trial, module: nn.Module, embedding: Tensor) -> tuple[Callable[[Tensor], Tensor], float]:
    """φ_fc in the cheapest way that works, and how far its output is from the model's."""
    # In reverse order, so that a head that still reads the graphs cannot pass by having the same ones at hand.
    shuffled, expected = embedding.flip(0), trial.reference.flip(0)
    inside, outside = embedding.dtype, expected.dtype  # the precisions of the head itself, and of what is told of it

    def alone(embedding: Tensor) -> Tensor:
        return first_fitting(module(embedding.to(inside)), len(embedding), "the head").to(outside)

    def rest_of_model(carrier: Data) -> Callable[[Tensor], Tensor]:
        def run(embedding: Tensor) -> Tensor:
            with replace_input(module, embedding.to(inside)):
                found = first_fitting(trial.forward(trial.model, carrier, None), len(embedding), trial.name)
            return found.to(outside)

        return run

    off = float("inf")
    smallest = min(trial.probe.to_data_list(), key=lambda graph: graph.num_nodes)
    carriers = [Batch.from_data_list([graph]) for graph in (_tiny(smallest), smallest)]
    for phi_fc in (alone, *(rest_of_model(carrier) for carrier in carriers)):
        try:
            found = phi_fc(shuffled.clone())
        except Exception:  # noqa: BLE001  the head cannot be run in this way; perhaps in the next one
            continue
        off = output_difference(found, expected)
        # Another output on a tiny graph shows that the head reads its graph: then no graph would do.
        if off < SAME or phi_fc is not alone:
            return phi_fc, off
    return alone, off


def _tiny(graph: Data) -> Data:
    """One edge of the graph with its two nodes, which are also the pair to predict if the graph has pairs."""
    plain = copy(graph)
    for key in (key for key in ("edge_label_index", "edge_label") if key in graph):
        del plain[key]
    tiny = plain.subgraph(plain.edge_index[:, 0].unique())
    if "edge_label_index" in graph:
        tiny.edge_label_index = tiny.edge_index.new_tensor([[0], [tiny.num_nodes - 1]])
    return tiny
