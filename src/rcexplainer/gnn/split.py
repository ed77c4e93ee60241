"""Any GNN as φ = φ_fc ∘ φ_gc: `SplitModel.embed` (φ_gc) and `SplitModel.head` (φ_fc).

    embed  the model runs as it is; the input of its head module is the embedding, one row per instance
    head   the head module itself if its output is the model's; otherwise the model runs on a tiny graph with the
           input of the head module replaced, so that everything between head and output (functional activations,
           dropout, softmax) belongs to φ_fc

`split_model` checks on real graphs that head(embed(G)) = φ(G), and measures what soft masks do to the model.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from typing import get_args

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.errors import GraphError, SplitError, TimeUpError
from rcexplainer.gnn.batch_independence import check_batch_independence, without_memory
from rcexplainer.gnn.columns import attributes_of
from rcexplainer.gnn.edge_masks import MASK_ROUTES, MaskRoute
from rcexplainer.gnn.forward import Forward, TaskName, conventional_forwards, function_name
from rcexplainer.gnn.graph_checks import (
    GraphKind,
    Graphs,
    check_devices,
    check_graph,
    check_single_label,
    list_graphs,
)
from rcexplainer.gnn.heads import OUTPUT, find_head, head_candidates
from rcexplainer.gnn.mask_error import EXACT, best_mask_route
from rcexplainer.gnn.model_checks import check_forward, check_model, original_of
from rcexplainer.gnn.module_calls import node_layers
from rcexplainer.gnn.outputs import (
    OUTPUT_KINDS,
    OutputKind,
    check_kind,
    check_precision,
    doubt_columns,
    log_probs,
    num_classes,
    output_kind,
)
from rcexplainer.gnn.prediction import first_fitting
from rcexplainer.gnn.scope import Untouched, capture_input, capture_outputs
from rcexplainer.gnn.store_checks import check_all
from rcexplainer.gnn.trial import Trial, first_trial, probe_sample
from rcexplainer.short_repr import ShortRepr

log = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class Pass(ShortRepr):
    """One run of the model over a batch."""

    embedding: Tensor  # [instances, d]
    output: Tensor  # [instances, C], of the kind that the model returns
    layers: tuple[Tensor, ...]  # node embeddings after each message-passing layer, [nodes, d_l]


@dataclass(frozen=True, eq=False, repr=False)
class SplitModel:
    """A model split into embedding and head; it is borrowed, never changed. Made by `split_model`."""

    model: nn.Module
    task: TaskName
    forward: Forward  # how the model is called
    head_name: str  # the module where φ_fc begins; "output" if there is none
    output: OutputKind
    num_classes: int
    embedding_dim: int  # d
    layer_names: tuple[str, ...]  # the message-passing layers
    masking: str | None  # how soft masks reach the model: "edge_weight" or "layers"; None: they do not
    mask_error: float  # |φ(mask 0) − φ(deleted)| on the probe graphs, as a share of the effect of the deletion
    scope: Untouched = field(repr=False)
    _head: Callable[[Tensor], Tensor] = field(repr=False)
    dtype: torch.dtype = torch.float32  # of masks, embeddings and outputs, whatever the model has inside (`precision`)
    forward_name: str | None = None  # of a `forward` that the user gave, as `module:function`
    until: float = inf  # a moment of `time.monotonic()`: no run of the model begins after it

    @property
    def exact_masking(self) -> bool:
        """Whether this model gives the same output for an edge of weight 0 as for a deleted edge."""
        return self.mask_error < EXACT

    @property
    def device(self) -> torch.device | None:
        """The device of the model; None if it has no parameters."""
        return next((parameter.device for parameter in self.model.parameters()), None)

    def run(self, graphs: Data | Sequence[Data], mask: Tensor | None = None) -> Pass:
        """Run the model.

        Args:
            graphs: A batch, a graph or a list of graphs.
            mask: [E] a weight for every column of `edge_index`; self-loops always have weight 1. None: no mask.

        Returns:
            One row per graph; in a node task per node, or per `root_index` if the graphs are computation graphs; in a
            link task per pair in `edge_label_index`.

        Raises:
            SplitError: The mask does not fit the edges or cannot reach the model, or the output does not fit the
                instances.
            TimeUpError: It is later than `until`.
        """
        if self.until < inf and time.monotonic() > self.until:
            raise TimeUpError(
                "the time is up: no further run of the model is begun; give more time, or a smaller graph"
            )
        batch = as_batch(graphs)
        rows = count_instances(batch, self.task)
        route = None if mask is None else self.mask_route("a soft mask")
        modules = [self.model.get_submodule(name) for name in self.layer_names]
        with self.scope, ExitStack() as stack:
            layers = stack.enter_context(capture_outputs(modules))
            at_head = None if self.head_name == OUTPUT else self.model.get_submodule(self.head_name)
            seen = stack.enter_context(capture_input(at_head)) if at_head is not None else []
            if mask is None or route is None:
                returned = self.forward(self.model, batch, None)
            elif mask.shape == (batch.num_edges,):
                returned = route(self.model, self.forward, batch, mask.to(self.dtype))
            else:
                raise SplitError(f"a mask needs one value for each of {batch.num_edges} edges, got {tuple(mask.shape)}")
            # A copy: what a model returns may be memory that its next call writes to.
            output = first_fitting(returned, rows, type(self.model).__name__).to(self.dtype).clone()
        done = Pass(seen[-1].to(self.dtype) if seen else output, output, tuple(layers))
        roots = batch.get("root_index") if self.task == "node" else None
        return done if roots is None else Pass(done.embedding[roots], done.output[roots], done.layers)

    def mask_route(self, who: str) -> MaskRoute:
        """How soft masks reach the model.

        Args:
            who: What needs them, for the message.

        Raises:
            SplitError: They do not reach it.
        """
        if self.masking is None:
            raise SplitError(
                f"{who} needs soft edge masks, which do not reach {type(self.model).__name__}: neither an edge_weight "
                "it takes nor its message-passing layers change its output; pass forward=lambda model, batch, "
                "edge_weight: … that uses edge_weight, or use a method that only deletes edges (RCExplainer's default "
                "for graphs, Occlusion, GreedyDeletion, SubgraphX)"
            )
        return MASK_ROUTES[self.masking]

    def embed(self, graphs: Data | Sequence[Data], mask: Tensor | None = None) -> Tensor:
        """φ_gc: the embedding of every instance, [instances, d]; arguments as for `run`."""
        return self.run(graphs, mask).embedding

    def head(self, embedding: Tensor) -> Tensor:
        """φ_fc: the model's output [instances, C] for instances with these embeddings [instances, d]."""
        with self.scope:
            return self._head(embedding.clone()).clone()  # some heads work in place, or return memory of their own

    def check(self, graph: Data, where: str, kind: GraphKind) -> None:
        """Refuse a graph that the model cannot be run on.

        Args:
            graph: The graph.
            where: What to call it.
            kind: The kind of the graphs that the explainer was fitted on.

        Raises:
            GraphError: It is malformed, on another device, or of another kind.
        """
        check_devices(self.model, [graph], where)
        check_graph(graph, where)
        kind.check(graph, where, "the explainer was fitted on")

    def log_probs(self, output: Tensor) -> Tensor:
        """Log-probabilities [instances, C ≥ 2] from an output of the model or of `head`."""
        return log_probs(output, self.output)

    def __repr__(self) -> str:
        exact = "exact" if self.exact_masking else f"inexact (off by {self.mask_error:.2g})"
        masks = "no soft masks" if self.masking is None else f"masking={self.masking!r}, {exact}"
        return (
            f"SplitModel({type(self.model).__name__}, task={self.task!r}, head={self.head_name!r}, "
            f"embedding={self.embedding_dim}, classes={self.num_classes}, output={self.output!r}, "
            f"{masks})"
        )


def split_model(
    model: nn.Module,
    graphs: Graphs,
    head: str | nn.Module | None = None,
    forward: Forward | None = None,
    task: TaskName = "graph",
    output: OutputKind | None = None,
) -> SplitModel:
    """Split a model into embedding and head, and check the result on a few of the graphs.

    Args:
        model: A trained classifier; it is left as it was found.
        graphs: A `Data`, or a list, `Dataset`, `Batch` or `DataLoader` of them.
        head: The module where φ_fc begins (dotted name or module), or "output"; found if None.
        forward: `forward(model, batch, edge_weight)` for a model with an unusual call; found if None.
        task: "graph", "node" or "link".
        output: "logits", "log_probs", "probs" or "binary_logit"; found if None.

    Raises:
        SplitError: The model cannot be split or explained.
        GraphError: The graphs cannot be used.
    """
    if task not in get_args(TaskName):
        raise SplitError(f"unknown task {task!r}; it is one of {', '.join(get_args(TaskName))}")
    if output is not None and output not in OUTPUT_KINDS:
        raise SplitError(f"unknown output {output!r}; it is one of {', '.join(OUTPUT_KINDS)}")
    check_model(model)
    if forward is not None:
        check_forward(forward)
    model = original_of(model)
    check_precision(model.parameters())
    found = list_graphs(graphs)
    check_devices(model, found)
    check_all(found)
    if task == "graph":
        check_single_label(found)
    if task == "link" and not all(_has_pairs(graph) for graph in found):
        raise GraphError("a link task needs graphs with edge_label_index [2, n]: the pairs of nodes to predict")
    forwards = [forward] if forward else conventional_forwards(model, task)
    scope = Untouched(model)
    with scope, torch.no_grad():
        probe, trial = _tried(model, forwards, probe_sample([graph for graph in found if graph.num_edges]), task)
        rows = count_instances(probe, task)
        check_precision([trial.reference])
        isolated = without_memory(trial)
        if task == "graph":
            check_batch_independence(trial)
        trial = isolated
        masking, error = best_mask_route(trial)
        name, phi_fc, embedding = find_head(trial, head_candidates(trial.calls, rows), head)
        extremes, labels = _extremes(name, phi_fc, embedding), _labels(found, task)
        kind = output or output_kind(trial.reference, labels, extremes, binary=task == "link")
        check_kind(trial.reference, kind)
    if output is None:
        doubt_columns(trial.name, trial.reference, labels)
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
        trial.reference.dtype,
        None if forward is None else function_name(forward),
    )
    log.info("%r", split)
    return split


def _has_pairs(graph: Data) -> bool:
    pairs = graph.get("edge_label_index")
    return isinstance(pairs, Tensor) and pairs.dim() == 2 and pairs.size(0) == 2 and pairs.dtype == torch.long


def _tried(model: nn.Module, forwards: Sequence[Forward], graphs: list[Data], task: TaskName) -> tuple[Data, Trial]:
    """A few graphs that the model can run, and its first run; graphs on which alone it raises are left out."""
    probe = as_batch(graphs)
    try:
        return probe, first_trial(model, forwards, probe, count_instances(probe, task))
    except SplitError as error:
        if error.__cause__ is None or task != "graph":  # it is not the model that raised
            raise
        sound = [graph for graph in graphs if _runs(model, forwards, graph)]
        if not sound or len(sound) == len(graphs):
            raise
        probe = as_batch(sound)
        return probe, first_trial(model, forwards, probe, len(sound))


def _runs(model: nn.Module, forwards: Sequence[Forward], graph: Data) -> bool:
    try:
        first_trial(model, forwards, Batch.from_data_list([graph]), 1)
    except SplitError as error:
        return error.__cause__ is None
    return True


def as_batch(graphs: Data | Sequence[Data]) -> Data:
    """The graphs as a `Batch` of the attributes that all have; models always get one, also for a single graph.

    Raises:
        GraphError: PyG cannot put them into one batch.
    """
    if isinstance(graphs, Batch):
        return graphs
    several = [graphs] if isinstance(graphs, Data) else list(graphs)
    names = [set(attributes_of(graph)) for graph in several]
    own = sorted(names[0] - names[0].intersection(*names)) if names else []  # of the first graph, not of all
    try:
        return Batch.from_data_list(several, exclude_keys=own)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise GraphError(
            f"the graphs cannot be put into one batch ({type(error).__name__}: {error}): an attribute must be of one "
            "kind in all of them"
        ) from error


def count_instances(batch: Data, task: TaskName) -> int:
    """The rows of a model's output for a batch: its graphs, nodes or labelled pairs, depending on the task."""
    if task == "node":
        return int(batch.num_nodes or 0)
    if task == "link":
        return int(batch.edge_label_index.size(1))
    return int(batch.num_graphs) if isinstance(batch, Batch) else 1


def _labels(graphs: Sequence[Data], task: TaskName) -> Tensor | None:
    """The labels of all instances of the graphs; None if some have none, or not one for each instance."""
    labels = [graph.get("edge_label" if task == "link" else "y") for graph in graphs]
    counts = [count_instances(graph, task) for graph in graphs]
    found = [label.reshape(-1) for label in labels if isinstance(label, Tensor)]
    return torch.cat(found) if [len(label) for label in found] == counts else None


def _extremes(name: str, phi_fc: Callable[[Tensor], Tensor], embedding: Tensor) -> Tensor | None:
    """The output of φ_fc far away from the data, where logits are large but probabilities are not."""
    return None if name == OUTPUT else torch.cat([phi_fc(1000 * embedding), phi_fc(-1000 * embedding)])
