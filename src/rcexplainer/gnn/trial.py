"""A trial run of a model on a few real graphs, before it is explained: can it be called, and is its output usable?

Three measurements start from it: where the head begins (`heads`), whether a graph alone gets the same answer as in a
batch (`batch_independence`), and how well soft masks stand for deletion (`mask_error`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.errors import GraphError, SplitError
from rcexplainer.gnn.forward import Forward, changes_input, on_copies
from rcexplainer.gnn.model_checks import error_advice, row_advice
from rcexplainer.gnn.module_calls import Call, recorded_calls
from rcexplainer.gnn.precision import precision_of
from rcexplainer.gnn.prediction import first_fitting, named_prediction, picking

SAME = 1e-4  # outputs that differ by less, relative to their size, count as equal: the same sums in another order
SUSPECTS = "look for NaN in its weights, or features that are not scaled as in its training"
PROBE_LIMIT = 16  # graphs in a trial


def probe_sample(graphs: Sequence[Data], limit: int = PROBE_LIMIT) -> list[Data]:
    """At most `limit` graphs, evenly spaced in the list.

    Raises:
        GraphError: The list is empty.
    """
    if not graphs:
        raise GraphError("none of the graphs has an edge: there is nothing to explain")
    places = torch.linspace(0, len(graphs) - 1, min(limit, len(graphs))).round().long()
    return [graphs[place] for place in places.tolist()]


@dataclass(frozen=True)
class Trial:
    """A model that ran on the probe graphs, and what it did."""

    model: nn.Module
    forward: Forward  # the call that worked
    probe: Data  # the probe graphs as one batch
    reference: Tensor  # the model's output for them, [instances, C], in the precision of all that follows
    calls: list[Call]

    @property
    def name(self) -> str:
        """The model's class, for messages."""
        return type(self.model).__name__

    def output(self, batch: Data, rows: int, when: str) -> Tensor:
        """The model's output for a batch, [rows, C].

        Args:
            batch: The graphs.
            rows: Instances in the batch.
            when: For messages, such as "on graphs with fewer edges".

        Raises:
            SplitError: The model raised an error, or its output has no row per instance.
        """
        return self.read(lambda: self.forward(self.model, batch, None), rows, when)

    def read(self, run: Callable[[], Any], rows: int, when: str) -> Tensor:
        """The same for any way of running the model."""
        # A copy: what a model returns may be memory that its next call writes to.
        found = first_fitting(_attempt(self.model, run, when), rows, self.name).to(self.reference.dtype).clone()
        if not found.numel():
            raise SplitError(f"{self.name} returns nothing, shape {tuple(found.shape)}: a column per class is needed")
        return found


def _attempt(model: nn.Module, run: Callable[[], Any], when: str) -> Any:
    """What `run` returns; whatever it raises becomes a `SplitError`."""
    try:
        return run()
    except SplitError:
        raise
    except Exception as error:
        raise SplitError(
            f"{type(model).__name__} raised {when}: {type(error).__name__}: {error}; {error_advice(model, error)}"
        ) from error


def first_trial(model: nn.Module, forwards: Sequence[Forward], probe: Data, rows: int) -> Trial:
    """Run the model by the first call that works.

    Args:
        model: The model, in evaluation mode.
        forwards: The calls to try, in order.
        probe: The probe graphs as one batch.
        rows: Instances in the batch.

    Returns:
        The trial.

    Raises:
        SplitError: No call works, or the output is not finite or differs between two runs.
    """
    problems: list[SplitError] = []
    for forward in forwards:
        try:
            trial = _trial(model, forward, probe, rows)
        except SplitError as error:
            problems.append(error)
            continue
        _check_output(trial)
        return trial
    raise problems[0]


def _trial(model: nn.Module, forward: Forward, probe: Data, rows: int) -> Trial:
    name, outputs, calls = type(model).__name__, list[Any](), list[Call]()
    given = probe.clone()  # the model may write to it

    def run() -> None:
        calls.extend(recorded_calls(model, lambda: outputs.append(forward(model, given, None))))

    writes = changes_input(given, lambda: _attempt(model, run, "on these graphs"))

    @torch.enable_grad()
    def again() -> Any:
        traced = probe.clone()
        if isinstance(traced.x, Tensor) and traced.x.is_floating_point():
            traced.x = traced.x.requires_grad_() * 1  # the weights may be frozen; no leaf: it may be written to
        return forward(model, traced, None)

    place, reference = named_prediction(outputs[0], rows, name, row_advice(model, probe, rows), again)
    taken = forward if isinstance(outputs[0], Tensor) else picking(forward, place)
    return Trial(
        model, on_copies(taken) if writes else taken, probe, reference.to(precision_of(model, reference)).clone(), calls
    )


def _check_output(trial: Trial) -> None:
    if not bool(trial.reference.isfinite().all()):
        raise SplitError(f"{trial.name} returns NaN or infinite values on these graphs: {SUSPECTS}")
    before = random_state(trial.reference.device)
    again = trial.output(trial.probe, len(trial.reference), "on these graphs")
    off = output_difference(again, trial.reference)
    drawn = not torch.equal(before, random_state(trial.reference.device))
    if off > SAME or drawn:
        found = f"two runs differ by {off:.3g}" if off > SAME else "it draws random numbers"
        raise SplitError(
            f"{trial.name} is random in evaluation mode, or remembers earlier calls: {found}; "
            "F.dropout, for one, needs training=self.training"
        )


def random_state(device: torch.device) -> Tensor:
    """The state of torch's global random numbers on a device."""
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def output_difference(one: Tensor, other: Tensor) -> float:
    """The gap between two outputs a and b [n, C]: max |a − b| / max(1, max |b|).

    The maxima are over finite values; equal infinities and two NaN are no gap, any other pair of them is ∞, and so are
    different shapes.
    """
    if one.shape != other.shape:
        return float("inf")
    same = (one == other) | (one.isnan() & other.isnan())
    gap = (one - other).abs().masked_fill(same, 0.0).nan_to_num(nan=torch.inf)
    return float(gap.max() / other.abs().nan_to_num(nan=0.0, posinf=0.0).max().clamp_min(1.0))


def half_of_pairs(edge_index: Tensor, num_nodes: int, seed: int) -> Tensor:
    """A boolean mask [E] of the edges between a random half of the connected node pairs.

    Always the same number of pairs, so that two seeds give different graphs of one shape.

    Args:
        edge_index: [2, E]; self-loops are never chosen.
        num_nodes: Nodes of the graph.
        seed: Random seed.
    """
    low, high = torch.minimum(*edge_index), torch.maximum(*edge_index)
    pairs, pair = (low * num_nodes + high).unique(return_inverse=True)
    proper = (pairs // num_nodes != pairs % num_nodes).nonzero().flatten()
    order = torch.randperm(len(proper), generator=torch.Generator().manual_seed(seed)).to(proper.device)
    chosen = torch.zeros(len(pairs), dtype=torch.bool, device=edge_index.device)
    chosen[proper[order[: (len(proper) + 1) // 2]]] = True
    return chosen[pair]


def random_pairs(edge_index: Tensor, num_nodes: int, share: float, seed: int) -> Tensor:
    """A boolean mask [E] of the edges between a random share of the connected node pairs, in both directions.

    Args:
        edge_index: [2, E]; self-loops are never chosen.
        num_nodes: Nodes of the graph.
        share: The probability of a pair to be chosen.
        seed: Random seed.
    """
    low, high = torch.minimum(*edge_index), torch.maximum(*edge_index)
    _, pair = (low * num_nodes + high).unique(return_inverse=True)
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.rand(int(pair.max()) + 1, generator=generator).to(edge_index.device) < share
    return chosen[pair] & (low != high)
