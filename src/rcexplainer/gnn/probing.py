"""Trying a model out on real graphs before it is used: does it run, do edges matter, where does its head begin,
how do soft masks reach it. Every failure says what differed and by how much.
"""

import logging
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.errors import GraphError, SplitError
from rcexplainer.gnn.calling import Forward, first_fitting
from rcexplainer.gnn.heads import OUTPUT, Call, capture_input, listen, replace_input
from rcexplainer.gnn.masking import MASKS, delete_edges, random_pairs

log = logging.getLogger(__name__)

TOLERANCE = 1e-4  # of float32 sums taken in another order


def spread(graphs: Sequence[Data], count: int = 16) -> list[Data]:
    """A few graphs from everywhere in the list: on these a model is tried out."""
    if not graphs:
        raise GraphError("none of the graphs has an edge: there is nothing to explain")
    step = max(1, len(graphs) // count)
    return list(graphs[::step][:count])


def first_run(model: nn.Module, forward: Forward, probe: Data, rows: int) -> tuple[Tensor, list[Call]]:
    """The model's own output on the probe graphs, and the calls of its modules."""
    outputs: list[object] = []
    try:
        calls = listen(model, lambda: outputs.append(forward(model, probe, None)))
    except SplitError:
        raise
    except Exception as error:
        raise SplitError(
            f"{type(model).__name__} raised on these graphs: {type(error).__name__}: {error}; "
            "if it needs other arguments, pass forward=lambda model, batch, edge_weight: …"
        ) from error
    output = first_fitting(outputs[0], rows, type(model).__name__)
    if not bool(output.isfinite().all()):
        raise SplitError(f"{type(model).__name__} returns NaN or infinite values on these graphs")
    return output, calls


def check_edges_matter(model: nn.Module, forward: Forward, probe: Data, reference: Tensor) -> None:
    bare = delete_edges(probe, torch.ones(probe.num_edges, dtype=torch.bool, device=reference.device))
    output = first_fitting(forward(model, bare, None), len(reference), type(model).__name__)
    if _difference(output, reference) < TOLERANCE:
        raise SplitError(
            f"{type(model).__name__} does no message passing: its output stays the same when all edges are deleted, "
            "so there is nothing about edges to explain"
        )


def _difference(one: Tensor, other: Tensor) -> float:
    """max |a − b|, relative to the size of the outputs where these are larger than 1."""
    return float((one - other).abs().max() / other.abs().max().clamp_min(1.0))


def split_at(
    model: nn.Module,
    forward: Forward,
    probe: Data,
    reference: Tensor,
    candidates: list[str],
    head: str | nn.Module | None,
) -> tuple[str, Callable[[Tensor], Tensor], Tensor]:
    """(name of the head, φ_fc, embeddings of the probe) for the first candidate that passes the check."""
    wanted = candidates if head is None else [_name_of(model, head, candidates)]
    failures: list[str] = []
    for name in [name for name in wanted if name != OUTPUT]:
        module = model.get_submodule(name)
        with capture_input(module) as seen:
            forward(model, probe, None)
        if len(seen) != 1 or seen[0].dim() != 2 or seen[0].size(0) != len(reference):
            shapes = ", ".join(str(tuple(value.shape)) for value in seen) or "nothing"
            failures.append(f"{name} is called {len(seen)} times, with {shapes}")
            continue
        for phi_fc in _heads(model, forward, module, probe):
            difference = _head_difference(phi_fc, seen[0], reference)
            if difference < TOLERANCE:
                return name, phi_fc, seen[0]
        failures.append(
            f"with {name}, head(embed(g)) is off by {difference:.3g} (outputs of shape "
            f"{tuple(reference.shape)}, embeddings {tuple(seen[0].shape)})"
        )
    if failures:
        raise SplitError(
            f"cannot split {type(model).__name__}: {'; '.join(failures)}. The head must be called once, on one row per "
            f"instance, and what follows must depend on nothing else. Candidates: {', '.join(candidates) or 'none'}"
        )
    log.info("no module follows the last message passing: the model's own output serves as embedding")
    return OUTPUT, lambda embedding: embedding, reference


def _name_of(model: nn.Module, head: str | nn.Module, candidates: list[str]) -> str:
    modules = dict(model.named_modules())
    names = [name for name, module in modules.items() if name and (name == head or module is head)]
    if names or head == OUTPUT:
        return names[0] if names else OUTPUT
    said = repr(head) if isinstance(head, str) else f"the given {type(head).__name__}"
    raise SplitError(
        f"{type(model).__name__} has no module {said}; candidates for the head: "
        f"{', '.join(candidates) or 'none found'} (or {OUTPUT!r}: the model's own output)"
    )


def _heads(model: nn.Module, forward: Forward, module: nn.Module, probe: Data) -> list[Callable[[Tensor], Tensor]]:
    """Ways to compute φ_fc, the cheapest first."""

    def rest_of_model(carrier: Data) -> Callable[[Tensor], Tensor]:
        def run(embedding: Tensor) -> Tensor:
            with replace_input(module, embedding):
                return first_fitting(forward(model, carrier, None), len(embedding), type(model).__name__)

        return run

    smallest = min(probe.to_data_list(), key=lambda graph: graph.num_nodes)
    tiny = smallest.subgraph(smallest.edge_index[:, 0].unique())
    carriers = [Batch.from_data_list([graph]) for graph in (tiny, smallest)]
    return [module.__call__, *(rest_of_model(carrier) for carrier in carriers)]


def _head_difference(phi_fc: Callable[[Tensor], Tensor], embedding: Tensor, reference: Tensor) -> float:
    # In another order, so that a head that still looks at the graphs cannot pass by having the same ones at hand.
    embedding, reference = embedding.flip(0), reference.flip(0)
    try:
        output = first_fitting(phi_fc(embedding), len(reference), "head")
    except (SplitError, RuntimeError, TypeError, IndexError):
        return float("inf")  # this way of running the head does not work; the next one may
    return _difference(output, reference) if output.shape == reference.shape else float("inf")


def measure_masks(model: nn.Module, forward: Forward, probe: Data, reference: Tensor) -> tuple[str, float]:
    """The way of masking that is closest to deletion, and how far from it it is."""
    removed = random_pairs(probe.edge_index, int(probe.num_nodes or 0), share=0.5, seed=0)
    deleted = first_fitting(forward(model, delete_edges(probe, removed), None), len(reference), "the model")
    ones = torch.ones(probe.num_edges, dtype=reference.dtype, device=reference.device)
    found: dict[str, float] = {}
    for name, masking in MASKS.items():
        try:
            same, zeros, half = (
                first_fitting(masking(model, forward, probe, mask), len(reference), "the model")
                for mask in (ones, (~removed).to(ones.dtype), ones / 2)
            )
        except (RuntimeError, TypeError, ValueError):
            continue  # this way is closed to the model
        if _difference(same, reference) < TOLERANCE and _difference(half, reference) > TOLERANCE:
            found[name] = _difference(zeros, deleted)
    if not found:
        raise SplitError(
            f"soft edge masks do not reach {type(model).__name__}: it takes no `edge_weight` that changes its output "
            "and has no MessagePassing layer; pass forward=lambda model, batch, edge_weight: … that uses edge_weight"
        )
    exact = [name for name, error in found.items() if error < TOLERANCE]
    best = exact[0] if exact else min(found, key=lambda name: found[name])
    return best, found[best]
