"""Instances ready to be asked about: their graphs and units on one device, and the model on copies with units gone.

Deleted means deleted: a copy is a graph whose edges are really absent; soft masks never enter here.
"""

from collections.abc import Callable, Sequence
from copy import copy

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from rcexplainer.core.search import toggle_each
from rcexplainer.core.segments import gather_ranges, split_by_cost
from rcexplainer.core.units import Units, find_units
from rcexplainer.gnn.graph_store import GraphStore, delete_edges
from rcexplainer.gnn.split import Pass, SplitModel

# Edges in one run of the model: enough to keep it busy, little enough to fit anywhere.
MAX_EDGES = 1 << 18
ALONE = 1  # the same where every graph is run alone


class Instances:
    """Graphs with their units. `instances[ids]` is the batch of these graphs and the units in it.

    `max_edges`: how many are run at once, fewer than that and those of one graph; `ALONE`: one graph at a time.
    """

    def __init__(self, split: SplitModel, graphs: Sequence[Data], max_edges: int = MAX_EDGES) -> None:
        self.split, self.graphs, self.max_edges = split, graphs, max_edges
        self.store = GraphStore(graphs, split.device)  # results are on the CPU; their graphs go where the model is
        whole = self.store[torch.arange(len(graphs))]
        nodes, fixed = int(whole.num_nodes or 0), whole.get("edge_fixed")
        self.units = find_units(whole.edge_index, nodes, whole.batch, len(graphs), fixed)
        self._node_ptr = whole.ptr
        sizes = torch.bincount(whole.batch[whole.edge_index[0]], minlength=len(graphs))
        self._edge_ptr = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])

    @property
    def everything(self) -> Tensor:
        """The positions of all instances."""
        return torch.arange(len(self), device=self._node_ptr.device)

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, ids: Tensor) -> tuple[Batch, Units]:
        ids = ids.to(self._node_ptr.device)
        batch = self.store[ids]
        columns, column_owner = gather_ranges(self._edge_ptr[ids], self._edge_ptr[ids + 1])
        rows, owner = gather_ranges(self.units.ptr[ids], self.units.ptr[ids + 1])
        counts = self.units.counts[ids]
        ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        of_edge = self.units.of_edge[columns]
        of_edge = torch.where(of_edge < 0, -1, of_edge + (ptr[:-1] - self.units.ptr[ids])[column_owner])
        pair = self.units.pair[:, rows] + (batch.ptr[:-1] - self._node_ptr[ids])[owner]
        return batch, Units(of_edge, pair, owner, ptr)

    def some(self, ids: Tensor) -> "Instances":
        """These instances alone."""
        return Instances(self.split, [self.graphs[place] for place in ids.tolist()])

    def alone(self) -> "Instances":
        """The same instances, each in a run of its own."""
        other = copy(self)
        other.max_edges = ALONE
        return other

    def chunks(self, ids: Tensor) -> list[Tensor]:
        """`ids` in pieces that are run at once."""
        return split_by_cost(ids, self._edge_ptr.diff()[ids.to(self._edge_ptr.device)].clamp_min(1), self.max_edges)

    @torch.no_grad()
    def passes(self, read: Callable[[Pass], Tensor]) -> Tensor:
        """What `read` takes from a run of the model over every instance, in order."""
        return torch.cat([read(self.split.run(self.store[ids])) for ids in self.chunks(self.everything)])

    def outputs(self) -> Tensor:
        """What the model returns for every instance, [n, C], in order."""
        return self.passes(lambda done: done.output)

    @torch.no_grad()
    def without(self, ids: Tensor, removed: Tensor, read: Callable[[Pass], Tensor]) -> Tensor:
        """What `read` takes from the model on copies of the instances `ids` [v] with units removed [Σ their units]."""
        parts: list[Tensor] = []
        start = 0
        for piece in self.chunks(ids):
            batch, units = self[piece]
            gone = removed[start : start + len(units)].to(units.owner.device)
            start += len(units)
            parts.append(read(self.split.run(delete_edges(batch, units.to_edges(gone, False)))))
        return torch.cat(parts) if parts else self.passes(read)[:0]

    def log_probs(self, ids: Tensor, removed: Tensor) -> Tensor:
        """log p [v, C] of copies with units removed."""
        return self.without(ids, removed, lambda done: self.split.log_probs(done.output))


def node_inputs(done: Pass, batch: Data, inputs: str) -> Tensor:
    """What the mask network reads of every node, [nodes, D].

    "last": the output of the last message-passing layer, as in the paper. "layers": those of all layers, as in its
    code. "all": these, the same with length 1 (networks often normalise or saturate after a layer), and the node's
    features.
    """
    if inputs == "last":
        return done.layers[-1]
    if inputs == "layers":
        return torch.cat(done.layers, 1)
    unit = [nn.functional.normalize(layer, dim=1) for layer in done.layers]
    features = [batch.x] if isinstance(batch.x, Tensor) and batch.x.is_floating_point() else []
    hops = [batch.hop_code] if "hop_code" in batch else []
    return torch.cat([*done.layers, *unit, *features, *hops], 1)


def single_effects(instances: Instances, labels: Tensor, target: Tensor | None = None) -> Tensor:
    """p(c | G) − p(c | G without u) for every unit u, [units]; c [instances] is the predicted class.

    Towards another class t [instances] (c itself: towards any): what p(t) gains. What c loses to a third class, as by
    deleting something that c and t have in common, leads elsewhere.
    """
    units = instances.units
    nothing = torch.zeros(len(units), dtype=torch.bool, device=units.owner.device)
    instance, removed = toggle_each(units.ptr, nothing, torch.arange(len(units), device=units.owner.device))
    left = instances.log_probs(instance, removed).exp()
    change = instances.log_probs(instances.everything, nothing).exp()[instance] - left
    lost = change.gather(1, labels[instance, None]).squeeze(1)
    if target is None:
        return lost
    gained = -change.gather(1, target[instance, None]).squeeze(1)
    return torch.where(target[instance] == labels[instance], lost, gained)
