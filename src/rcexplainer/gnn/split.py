"""Any GNN as φ = φ_fc ∘ φ_gc: `SplitModel.embed` (φ_gc) and `SplitModel.head` (φ_fc).

    embed  the model runs as it is; what its head module is given is the embedding, one row per instance
    head   the head module itself where its output is the model's; else the model runs on a tiny graph with
           the head module's input replaced, so that whatever stands between head and output (functional
           activations, dropout, softmax) is part of φ_fc

`split_model` checks on real graphs that head(embed(G)) = φ(G) and measures what soft masks do to the model.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import get_args

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.errors import GraphError, SplitError
from rcexplainer.gnn.forward import Forward, TaskName, conventional_forwards, first_fitting
from rcexplainer.gnn.graph_checks import GraphKind, Graphs, check_graph, check_graphs, list_graphs
from rcexplainer.gnn.heads import OUTPUT, head_candidates, node_layers
from rcexplainer.gnn.masking import MASKS
from rcexplainer.gnn.outputs import KINDS, OutputKind, check_kind, log_probs, num_classes, output_kind
from rcexplainer.gnn.scope import Untouched, capture_input, capture_outputs
from rcexplainer.gnn.trial import EXACT, check_alone, first_trial, measure_masks, split_at, spread

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pass:
    """One run of the model over a batch."""

    embedding: Tensor  # [instances, d]
    output: Tensor  # [instances, C], as the model returned it
    layers: tuple[Tensor, ...]  # node embeddings after each message-passing layer, [nodes, d_l]


@dataclass(frozen=True, eq=False, repr=False)
class SplitModel:
    """A model taken apart; it is borrowed, never changed. Made by `split_model`."""

    model: nn.Module
    task: TaskName
    forward: Forward
    head_name: str
    output: OutputKind
    num_classes: int
    embedding_dim: int
    layer_names: tuple[str, ...]
    masking: str  # how soft masks reach the model: "edge_weight" or "layers"
    mask_error: float  # |φ(mask 0) − φ(deleted)| on the probe graphs, as a share of what the deletion does
    scope: Untouched = field(repr=False)
    _head: Callable[[Tensor], Tensor] = field(repr=False)

    @property
    def exact_masking(self) -> bool:
        """Whether an edge of weight 0 is the same to this model as an edge that is gone."""
        return self.mask_error < EXACT

    @property
    def device(self) -> torch.device | None:
        """Where the model is; None for one without parameters."""
        return next((parameter.device for parameter in self.model.parameters()), None)

    def run(self, graphs: Data | Sequence[Data], mask: Tensor | None = None) -> Pass:
        """Run the model over a batch, a graph or a list of graphs.

        `mask` weighs every column of `edge_index`; self-loops always count 1. For a node task there is a row for every
        node; where the graphs carry `root_index`, they are computation graphs and only their roots are read. For a link
        task there is a row for every pair in `edge_label_index`.
        """
        batch = as_batch(graphs)
        rows = count_instances(batch, self.task)
        modules = [self.model.get_submodule(name) for name in self.layer_names]
        with self.scope, ExitStack() as stack:
            layers = stack.enter_context(capture_outputs(modules))
            at_head = None if self.head_name == OUTPUT else self.model.get_submodule(self.head_name)
            seen = stack.enter_context(capture_input(at_head)) if at_head is not None else []
            if mask is None:
                returned = self.forward(self.model, batch, None)
            elif mask.shape == (batch.num_edges,):
                returned = MASKS[self.masking](self.model, self.forward, batch, mask)
            else:
                raise SplitError(f"a mask has one value for each of {batch.num_edges} edges, got {tuple(mask.shape)}")
            output = first_fitting(returned, rows, type(self.model).__name__)
        done = Pass(seen[-1] if seen else output, output, tuple(layers))
        roots = batch.get("root_index") if self.task == "node" else None
        return done if roots is None else Pass(done.embedding[roots], done.output[roots], done.layers)

    def embed(self, graphs: Data | Sequence[Data], mask: Tensor | None = None) -> Tensor:
        """φ_gc: the embedding of every instance, [instances, d]."""
        return self.run(graphs, mask).embedding

    def head(self, embedding: Tensor) -> Tensor:
        """φ_fc: what the model returns for instances with these embeddings, [instances, C]."""
        with self.scope:
            return self._head(embedding.clone())  # some heads work in place

    def check(self, graph: Data, where: str, kind: GraphKind) -> None:
        """Refuse a graph that is malformed, on another device than the model, or of another kind than in fitting.

        Raises:
            GraphError: Naming the graph as `where`.
        """
        check_devices(self.model, [graph], where)
        check_graph(graph, where)
        kind.check(graph, where, "the explainer was fitted on")

    def log_probs(self, output: Tensor) -> Tensor:
        """log p [instances, C ≥ 2] from what the model, or `head`, returned."""
        return log_probs(output, self.output)

    def __repr__(self) -> str:
        exact = "exact" if self.exact_masking else f"inexact (off by {self.mask_error:.2g})"
        return (
            f"SplitModel({type(self.model).__name__}, task={self.task!r}, head={self.head_name!r}, "
            f"embedding={self.embedding_dim}, classes={self.num_classes}, output={self.output!r}, "
            f"masking={self.masking!r}, {exact})"
        )


def split_model(
    model: nn.Module,
    graphs: Graphs,
    head: str | nn.Module | None = None,
    forward: Forward | None = None,
    task: TaskName = "graph",
    output: OutputKind | None = None,
) -> SplitModel:
    """Take `model` apart, checking everything on a few of the given graphs.

    `head` is the module where φ_fc begins (dotted name, or the module); left out, it is found. `forward(model, batch,
    edge_weight)` adapts a model with an unusual call. `output` says what the model returns; left out, it is found.
    """
    if task not in get_args(TaskName):
        raise SplitError(f"unknown task {task!r}; it is one of {', '.join(get_args(TaskName))}")
    if output is not None and output not in KINDS:
        raise SplitError(f"unknown output {output!r}; it is one of {', '.join(KINDS)}")
    if not isinstance(model, nn.Module):
        raise SplitError(f"expected a torch.nn.Module, got {type(model).__name__}")
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps: its hooks are the ones that are called
    found = list_graphs(graphs)
    check_devices(model, found)
    check_graphs(found)
    check_single_label(found, task)
    if task == "link" and any("edge_label_index" not in graph for graph in found):
        raise GraphError("a link task needs graphs that carry edge_label_index [2, n]: the pairs of nodes asked about")
    probe = Batch.from_data_list(spread([graph for graph in found if graph.num_edges]))
    rows = count_instances(probe, task)
    scope = Untouched(model)
    with scope, torch.no_grad():
        trial = first_trial(model, [forward] if forward else conventional_forwards(model, task), probe, rows)
        if task == "graph":
            check_alone(trial)
        masking, error = measure_masks(trial)
        name, phi_fc, embedding = split_at(trial, head_candidates(trial.calls, rows), head)
        labels = None if task == "link" else _labels(probe, rows)
        kind = output or output_kind(trial.reference, labels, _extremes(name, phi_fc, embedding))
        check_kind(trial.reference, kind)
    split = SplitModel(
        model,
        task,
        trial.forward,
        name,
        kind,
        num_classes(trial.reference),
        embedding.size(1),
        tuple(node_layers(trial.calls, int(probe.num_nodes or 0))),
        masking,
        error,
        scope,
        phi_fc,
    )
    log.info("%r", split)
    return split


def as_batch(graphs: Data | Sequence[Data]) -> Data:
    """Models are always given a `Batch`, also for a single graph."""
    if isinstance(graphs, Batch):
        return graphs
    return Batch.from_data_list([graphs] if isinstance(graphs, Data) else list(graphs))


def check_single_label(graphs: Sequence[Data], task: TaskName) -> None:
    """A graph task has one label per graph, or none."""
    for position, graph in enumerate(graphs):
        if task == "graph" and isinstance(graph.y, Tensor) and graph.y.numel() > 1:
            raise GraphError(
                f"graph {position} has {graph.y.numel()} labels: multi-label models are not supported, and a node "
                'task is said with task="node"'
            )


def count_instances(batch: Data, task: TaskName) -> int:
    """An instance is a graph with a read-out: all its nodes pooled, one of them, or a pair of them."""
    if task == "node":
        return int(batch.num_nodes or 0)
    if task == "link":
        return int(batch.edge_label_index.size(1))
    return int(batch.num_graphs) if isinstance(batch, Batch) else 1


def check_devices(model: nn.Module, graphs: Sequence[Data], where: str | None = None) -> None:
    """Model and graphs must be on one device; `where` names a single graph."""
    parameter = next(model.parameters(), None)
    for position, graph in enumerate(graphs):
        tensors = [value for value in graph.to_dict().values() if isinstance(value, Tensor)]
        device = next(
            (value.device for value in tensors if parameter is not None and value.device != parameter.device), None
        )
        if parameter is not None and device is not None:
            raise GraphError(
                f"the model is on {parameter.device}, {where or f'graph {position}'} on {device}; "
                f"move one of them, e.g. graph.to({str(parameter.device)!r})"
            )


def _labels(probe: Data, rows: int) -> Tensor | None:
    labels = probe.get("y")
    return labels.reshape(-1) if isinstance(labels, Tensor) and labels.numel() == rows else None


def _extremes(name: str, phi_fc: Callable[[Tensor], Tensor], embedding: Tensor) -> Tensor | None:
    """What φ_fc returns far outside the data, where logits are large and probabilities still are not."""
    return None if name == OUTPUT else torch.cat([phi_fc(1000 * embedding), phi_fc(-1000 * embedding)])
