"""Trying a model out on real graphs before it is used: does it run, do edges matter, where does its head begin,
how do soft masks reach it. Every failure says what differed and by how much.
"""

import logging
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.errors import GraphError, SplitError
from rcexplainer.gnn.forward import Forward, first_fitting
from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.heads import OUTPUT, Call, listen
from rcexplainer.gnn.masking import MASKS
from rcexplainer.gnn.scope import capture_input, replace_input

log = logging.getLogger(__name__)

SAME = 1e-4  # how far apart two outputs may be, relative to their size, and still be the same sums in another order
EXACT = 1e-3  # the same for masks, relative to what deleting the edges does
NOISE = 2e-6  # of float32, relative to the outputs' size


def spread(graphs: Sequence[Data], count: int = 16) -> list[Data]:
    """A few graphs from everywhere in the list: on these a model is tried out."""
    if not graphs:
        raise GraphError("none of the graphs has an edge: there is nothing to explain")
    places = torch.linspace(0, len(graphs) - 1, min(count, len(graphs))).round().long()
    return [graphs[place] for place in places.tolist()]


@dataclass(frozen=True)
class Trial:
    """A model that ran on the probe graphs, and what happened."""

    model: nn.Module
    forward: Forward
    probe: Data
    reference: Tensor  # its output
    calls: list[Call]  # of its modules

    @property
    def name(self) -> str:
        return type(self.model).__name__

    def output(self, run: Callable[[], Any], when: str) -> Tensor:
        """What `run` returns for the probe graphs; whatever it raises becomes a sentence."""
        return first_fitting(_attempt(self.name, run, when), len(self.reference), self.name)


def _attempt(name: str, run: Callable[[], Any], when: str) -> Any:
    try:
        return run()
    except SplitError:
        raise
    except Exception as error:
        raise SplitError(
            f"{name} raised {when}: {type(error).__name__}: {error}; "
            "if it needs other arguments, pass forward=lambda model, batch, edge_weight: …"
        ) from error


def first_trial(model: nn.Module, ways: Sequence[Forward], probe: Data, rows: int) -> Trial:
    """Run the model in the first of the `ways` it can be called."""
    problems: list[SplitError] = []
    for forward in ways:
        try:
            trial = _trial(model, forward, probe, rows)
        except SplitError as error:
            problems.append(error)
            continue
        _check_output(trial)
        return trial
    raise problems[0]


def _trial(model: nn.Module, forward: Forward, probe: Data, rows: int) -> Trial:
    name, outputs = type(model).__name__, list[Any]()

    def run() -> list[Call]:
        return listen(model, lambda: outputs.append(forward(model, probe, None)))

    calls = _attempt(name, run, "on these graphs")
    return Trial(model, forward, probe, first_fitting(outputs[0], rows, name), calls)


def _check_output(trial: Trial) -> None:
    if not bool(trial.reference.isfinite().all()):
        raise SplitError(f"{trial.name} returns NaN or infinite values on these graphs")
    again = trial.output(lambda: trial.forward(trial.model, trial.probe, None), "on these graphs")
    if (difference := _difference(again, trial.reference)) > SAME:
        raise SplitError(
            f"{trial.name} is random in evaluation mode: two runs differ by {difference:.3g}; "
            "F.dropout, for one, needs training=self.training"
        )


def check_alone(trial: Trial, count: int = 16) -> None:
    """Refuse a model whose answer about a graph depends on the rest of its batch, or on what it was asked before.

    Every graph is tried as it is and without a random half of its edges, together in one batch, then alone twice: in
    this order and in the reverse one. Copies of one graph with other edges gone are what a search runs side by side.
    """
    graphs = trial.probe.to_data_list()
    graphs = [graphs[place % len(graphs)] for place in range(max(count, len(graphs)))]
    both = [*graphs, *(_fewer_edges(graph, seed) for seed, graph in enumerate(graphs))]
    batch = Batch.from_data_list(both)
    together = first_fitting(
        _attempt(trial.name, lambda: trial.forward(trial.model, batch, None), "on graphs with fewer edges"),
        len(both),
        trial.name,
    )
    alone = torch.cat([_alone(trial, graph) for graph in both])
    again = torch.cat([_alone(trial, graph) for graph in reversed(both)]).flip(0)
    if (difference := _difference(again, alone)) > SAME:
        raise SplitError(
            f"{trial.name} answers differently when it is asked twice about the same graph (off by {difference:.3g}): "
            "it is random in evaluation mode, or keeps something from one call to the next"
        )
    if (difference := _difference(together, alone)) > SAME:
        raise SplitError(
            f"{trial.name} mixes the graphs of a batch: of a graph alone it says something else than of the same "
            f"graph in a batch (off by {difference:.3g}); normalisation over a graph (GraphNorm, LayerNorm, "
            "PairNorm) needs to be told which node is whose: pass it `batch`"
        )


def _fewer_edges(graph: Data, seed: int) -> Data:
    return delete_edges(graph, random_pairs(graph.edge_index, int(graph.num_nodes or 0), 0.5, seed))


def _alone(trial: Trial, graph: Data) -> Tensor:
    batch = Batch.from_data_list([graph])
    run = _attempt(trial.name, lambda: trial.forward(trial.model, batch, None), "on a graph alone")
    return first_fitting(run, 1, trial.name)


def _difference(one: Tensor, other: Tensor) -> float:
    """max |a − b|, relative to the size of the outputs where these are larger than 1."""
    if one.shape != other.shape:
        return float("inf")
    return float((one - other).abs().max() / other.abs().max().clamp_min(1.0))


def split_at(
    trial: Trial, candidates: list[str], head: str | nn.Module | None
) -> tuple[str, Callable[[Tensor], Tensor], Tensor]:
    """(name of the head, φ_fc, embeddings of the probe) for the first candidate that passes the check."""
    wanted = candidates if head is None else [_name_of(trial, head, candidates)]
    failures: list[str] = []
    for name in [name for name in wanted if name != OUTPUT]:
        module = trial.model.get_submodule(name)
        with capture_input(module) as seen:
            trial.forward(trial.model, trial.probe, None)
        if len(seen) != 1 or seen[0].dim() != 2 or seen[0].size(0) != len(trial.reference):
            shapes = ", ".join(str(tuple(value.shape)) for value in seen) or "nothing"
            failures.append(f"{name} is called {len(seen)} times, with {shapes}")
            continue
        phi_fc, difference = _head(trial, module, seen[0])
        if difference < SAME:
            return name, phi_fc, seen[0]
        shapes = f"outputs of shape {tuple(trial.reference.shape)}, embeddings {tuple(seen[0].shape)}"
        failures.append(f"with {name}, head(embed(g)) is off by {difference:.3g} ({shapes})")
    if failures:
        raise SplitError(
            f"cannot split {trial.name}: {'; '.join(failures)}. The head must be called once, on one row per instance, "
            f"and what follows must depend on nothing else. Candidates: {', '.join(candidates) or 'none'}"
        )
    log.info("no module follows the last message passing: the model's own output serves as embedding")
    return OUTPUT, lambda embedding: embedding, trial.reference


def _name_of(trial: Trial, head: str | nn.Module, candidates: list[str]) -> str:
    modules = dict(trial.model.named_modules())
    names = [name for name, module in modules.items() if name and (name == head or module is head)]
    if names or head == OUTPUT:
        return names[0] if names else OUTPUT
    said = repr(head) if isinstance(head, str) else f"the given {type(head).__name__}"
    raise SplitError(
        f"{trial.name} has no module {said}; candidates for the head: "
        f"{', '.join(candidates) or 'none found'} (or {OUTPUT!r}: the model's own output)"
    )


def _head(trial: Trial, module: nn.Module, embedding: Tensor) -> tuple[Callable[[Tensor], Tensor], float]:
    """φ_fc in the cheapest way that works, and how far it is from the model."""
    # In another order, so that a head that still looks at the graphs cannot pass by having the same ones at hand.
    shuffled, expected = embedding.flip(0), trial.reference.flip(0)

    def alone(embedding: Tensor) -> Tensor:
        return first_fitting(module(embedding), len(embedding), "the head")

    def rest_of_model(carrier: Data) -> Callable[[Tensor], Tensor]:
        def run(embedding: Tensor) -> Tensor:
            with replace_input(module, embedding):
                return first_fitting(trial.forward(trial.model, carrier, None), len(embedding), trial.name)

        return run

    difference = float("inf")
    smallest = min(trial.probe.to_data_list(), key=lambda graph: graph.num_nodes)
    carriers = [Batch.from_data_list([graph]) for graph in (_tiny(smallest), smallest)]
    for phi_fc in (alone, *(rest_of_model(carrier) for carrier in carriers)):
        try:
            found = phi_fc(shuffled.clone())
        except Exception:  # noqa: BLE001  this way of running the head is closed; the next one may not be
            continue
        difference = _difference(found, expected)
        # A run on a tiny graph that ends elsewhere shows that the head looks at its graph: no other graph would do.
        if difference < SAME or phi_fc is not alone:
            return phi_fc, difference
    return alone, difference


def _tiny(graph: Data) -> Data:
    """One edge of the graph, with its ends; the pair that is asked about, if one is, are these."""
    plain = copy(graph)
    for key in (key for key in ("edge_label_index", "edge_label") if key in graph):
        del plain[key]
    tiny = plain.subgraph(plain.edge_index[:, 0].unique())
    if "edge_label_index" in graph:
        tiny.edge_label_index = tiny.edge_index.new_tensor([[0], [tiny.num_nodes - 1]])
    return tiny


def measure_masks(trial: Trial) -> tuple[str, float]:
    """The way of masking that is closest to deletion, and how far from it it is, as a share of what deletion does."""
    probe, reference = trial.probe, trial.reference
    removed = random_pairs(probe.edge_index, int(probe.num_nodes or 0), share=0.5, seed=0)
    some = delete_edges(probe, removed)
    deleted = trial.output(lambda: trial.forward(trial.model, some, None), "on graphs with fewer edges")
    effect, noise = _gap(deleted, reference), NOISE * float(reference.abs().max())
    if effect <= noise:
        raise SplitError(
            f"{trial.name} does no message passing, or hardly any: deleting half of all edges changes its output by "
            f"{effect:.2g}, so there is nothing about edges to explain"
        )
    ones = torch.ones(probe.num_edges, dtype=reference.dtype, device=reference.device)
    generator = torch.Generator().manual_seed(0)
    # Not the same weight everywhere: symmetric normalisation would cancel it.
    weights = (0.2 + 0.8 * torch.rand(probe.num_edges, generator=generator)).to(ones)
    found: dict[str, float] = {}
    for name in MASKS:
        try:
            same, zeros, soft = (_masked(trial, name, mask) for mask in (ones, (~removed).to(ones.dtype), weights))
        except SplitError:
            continue  # this way is closed to the model
        if _gap(same, reference) <= EXACT * effect + noise and _gap(soft, reference) > EXACT * effect + noise:
            found[name] = max(0.0, _gap(zeros, deleted) - noise) / effect
    if not found:
        raise SplitError(
            f"soft edge masks do not reach {trial.name}: neither an `edge_weight` it takes nor its message-passing "
            "layers change its output; pass forward=lambda model, batch, edge_weight: … that uses edge_weight"
        )
    exact = [name for name, error in found.items() if error < EXACT]
    best = exact[0] if exact else min(found, key=lambda name: found[name])
    return best, found[best]


def _masked(trial: Trial, way: str, mask: Tensor) -> Tensor:
    return trial.output(lambda: MASKS[way](trial.model, trial.forward, trial.probe, mask), "with a soft mask")


def _gap(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


def random_pairs(edge_index: Tensor, num_nodes: int, share: float, seed: int) -> Tensor:
    """A boolean mask of the edges between a random share of the connected node pairs; both directions go together."""
    low, high = edge_index.amin(0), edge_index.amax(0)
    _, pair = (low * num_nodes + high).unique(return_inverse=True)
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.rand(int(pair.max()) + 1, generator=generator).to(edge_index.device) < share
    return chosen[pair] & (low != high)
