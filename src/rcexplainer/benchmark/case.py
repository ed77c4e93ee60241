"""A case: one trained network on one dataset, what methods may learn from, and the held-out instances they explain.

Instances are named by their place: 0 … count − 1 are the held-out ones; in node and link sets those that methods learn
from follow. With a device, methods are fitted and run there (graph sets only); explanations come back on the CPU and
are judged by the network on the CPU.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.benchmark.layout import LAYOUTS, PARTITIONS, Explains, Layout, motif_validation
from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.networks import on_device, trained_gnn
from rcexplainer.benchmark.tuned import tuned_settings
from rcexplainer.datasets import GraphDataset, task_of
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import GNN, SplitModel, split_model
from rcexplainer.gnn.device import usable_device
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.saving.documents import UNFINISHED
from rcexplainer.tasks import TASKS

GREEDY_DEPTH = 0.3  # the share of the units that greedy deletion orders, unless a plan needs more or less


@dataclass(frozen=True, eq=False)
class Case:
    """One trained network, what methods may learn from, and what they explain."""

    data: GraphDataset
    model: GNN  # on the CPU
    accuracy: float  # on test instances
    seed: int
    preset: str = "default"
    settings: Mapping[str, Any] = field(default_factory=dict)  # of RCExplainer
    explains: Explains = "one class"  # graph sets only
    greedy_depth: float = GREEDY_DEPTH
    device: str | None = None
    baseline_settings: Mapping[str, Any] = field(default_factory=dict)  # of a baseline, on top of its tuned settings
    motifs_apart: bool = False  # in node sets RCExplainer's validation nodes are of motifs of their own
    call: Mapping[str, Any] = field(default_factory=dict)  # head, forward and output of a model; found where left out
    unfinished: Path | None = None  # a folder of checkpoints, from which fits that were stopped go on

    @classmethod
    def of(
        cls,
        dataset: str,
        arch: str,
        seed: int,
        *,
        preset: str = "default",
        settings: Mapping[str, Any] | None = None,
        explains: Explains = "one class",
        greedy_depth: float = GREEDY_DEPTH,
        device: str | None = None,
        baseline_settings: Mapping[str, Any] | None = None,
        recipe: str = "ours",
        motifs_apart: bool = False,
        root: Path | None = None,
        keep: Path | None = None,
        unfinished: Path | None = None,
        progress: bool = True,
    ) -> Self:
        """Train a network, or load the one kept in the folder `keep`.

        Args:
            dataset: A name of `rcexplainer.datasets`.
            arch: A name of `rcexplainer.gnn.models.MODELS`.
            seed: Draws the data where it is generated, its split, the weights and the choice of instances.
            preset: Of RCExplainer.
            settings: Of RCExplainer, on top of the preset.
            explains: Which graphs of a graph set are explained, see `layout`.
            greedy_depth: The share of the units that greedy deletion orders.
            device: Where the network is trained and, in graph sets, methods are run; None: the CPU.
            baseline_settings: Of a baseline, on top of its tuned settings; RCExplainer ignores them.
            recipe: How the network is trained, a key of `RECIPES`.
            motifs_apart: Whether, in node sets, whole motifs are set apart for RCExplainer's validation; otherwise it
                holds out a tenth of the nodes it is given, whose motifs it is trained on too.
            root: Where downloaded datasets are.
            keep: A folder of trained networks.
            unfinished: A folder of checkpoints, from which fits that were stopped go on.
            progress: Show progress bars.
        """
        task = task_of(dataset)
        data, trained = trained_gnn(
            dataset, arch, seed, root=root, device=device, progress=progress, task=task, keep=keep, recipe=recipe
        )
        return cls(
            data,
            trained.model.cpu(),
            trained.accuracy["test"],
            seed,
            preset,
            dict(settings or {}),
            explains,
            greedy_depth,
            device if task == "graph" else None,
            dict(baseline_settings or {}),
            motifs_apart,
            unfinished=unfinished,
        )

    def checkpoint(self, name: str) -> Path | None:
        """The checkpoint of a method's fit; None: it has none."""
        return None if self.unfinished is None else self.unfinished / f"{self.seed}-{name}{UNFINISHED}"

    def tuned(self, method: str) -> Mapping[str, Any]:
        """The settings with which a baseline did best on validation instances of this dataset; none: its defaults."""
        return tuned_settings(self.data.name, method)

    @property
    def within(self) -> bool:
        """Whether instances are parts of one graph: nodes or links."""
        return self.data.task != "graph"

    @cached_property
    def network(self) -> GNN:
        """The model on the device: what methods are fitted to."""
        return self.model if self.device is None else copy.deepcopy(self.model).to(usable_device(self.device))

    @cached_property
    def split(self) -> SplitModel:
        """The model on the CPU, taken apart: what explanations are judged with."""
        return split_model(self.model, self._shown, task=self.data.task, **self.call)

    @cached_property
    def hops(self) -> int:
        """How far a computation graph reaches; 0 for graphs."""
        return TASKS[self.data.task].hops(self.split, self._shown)

    @cached_property
    def _shown(self) -> list[Data]:
        """Graphs on which the model is taken apart."""
        graphs = [self.data.graph] if self.within else self.data.subset("train")
        return TASKS[self.data.task].trial_graphs(graphs, self.seen)

    @cached_property
    def _parts(self) -> tuple[Tensor, Tensor] | None:
        """Nodes and links to learn from, and held-out ones."""
        return PARTITIONS[self.data.task](self.data, self.model, self.seed) if self.within else None

    @cached_property
    def _layout(self) -> Layout:
        """The graphs of a graph set."""
        return LAYOUTS[self.explains](self.data, partial(predictions, self.split))

    @cached_property
    def _graphs(self) -> list[Data]:
        return on_device(self._layout.explained, self.device)

    @cached_property
    def training(self) -> list[Data]:
        """Graphs to learn from; in node and link sets the one graph."""
        return [self.data.graph] if self.within else on_device(self._layout.training, self.device)

    @cached_property
    def _learning(self) -> tuple[Tensor | None, Tensor | None]:
        """Nodes or links that RCExplainer is trained on, and those set apart for it."""
        if self.seen is None or not self.motifs_apart or self.data.task != "node":
            return self.seen, None
        return motif_validation(self.data, self.seen, self.seed)

    @property
    def learnt(self) -> Tensor | None:
        """Nodes or links to learn from without those of `validation`; None for graphs."""
        return self._learning[0]

    @cached_property
    def validation(self) -> list[Data] | Tensor | None:
        """Graphs, or nodes, for early stopping; None: the method holds some out itself."""
        if self.within:
            return self._learning[1]
        found = self._layout.validation
        return None if found is None else on_device(found, self.device)

    @cached_property
    def background(self) -> list[Data] | None:
        """Graphs for boundaries and regions; None: those to learn from."""
        found = None if self.within else self._layout.background
        return None if found is None else on_device(found, self.device)

    @property
    def seen(self) -> Tensor | None:
        """Nodes or links to learn from; None for graphs."""
        return None if self._parts is None else self._parts[0]

    @property
    def count(self) -> int:
        """Number of held-out instances."""
        return len(self._graphs) if self._parts is None else len(self._parts[1])

    @property
    def places(self) -> list[int]:
        """Every instance: the held-out ones, then, in node and link sets, those to learn from."""
        return list(range(self.count if self._parts is None else sum(map(len, self._parts))))

    def some(self, most: int | None) -> list[int]:
        """At most `most` held-out instances, drawn with the seed, in the order of the dataset; None: all of them."""
        return sorted(self.first(most))

    def first(self, most: int | None) -> list[int]:
        """The same in the order in which they are drawn: a smaller sample is the beginning of a larger one."""
        order = torch.randperm(self.count, generator=torch.Generator().manual_seed(self.seed))
        return order[:most].tolist()

    def explain(self, fitted: FittedExplainer, places: list[int], search: Search) -> list[Explanation]:
        """The explanations of these instances; those that fail are left out."""
        return list(self.explained(fitted, places, search).values())

    def explained(self, fitted: FittedExplainer, places: list[int], search: Search) -> dict[int, Explanation]:
        """The explanations of these instances by place; those that fail are left out."""
        if self._parts is None:
            found = fitted.explain(self.graphs(places), search=search, on_error="keep")
        else:
            seen, unseen = self._parts
            index = torch.cat([unseen, seen])[torch.tensor(places)]
            found = fitted.explain(self.data.graph, index=index, search=search, on_error="keep")
        return {place: one for place, one in zip(places, found, strict=True) if isinstance(one, Explanation)}

    def graphs(self, places: list[int]) -> list[Data]:
        """The graphs at these places, on the device; in node and link sets there are none."""
        return [] if self.within else [self._graphs[place] for place in places]
