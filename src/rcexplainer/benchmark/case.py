"""A case: one trained network on one dataset, what methods may learn from, and the held-out instances they explain.

graph   trained methods see the training graphs; explained are test graphs predicted as the class of the paper
node    they see the nodes of half of the motifs; explained are the nodes of the other half
link    they see training pairs; explained are test pairs, both rightly predicted links
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.benchmark.measures import predictions
from rcexplainer.benchmark.networks import trained_gnn
from rcexplainer.benchmark.nodes import PARTS
from rcexplainer.datasets import GraphDataset, task_of
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import GNN, SplitModel, split_model
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.results import Search
from rcexplainer.tasks import TASKS

# The classes the paper explains: mutagens, actives, houses. Deletion cannot create: the other class of BA-2motifs, a
# cycle, is also what a graph without a house is taken for. Of other sets every class is explained.
EXPLAINED = {"mutagenicity": 0, "nci1": 1, "ba-2motifs": 1}


@dataclass(frozen=True, eq=False)
class Case:
    data: GraphDataset
    model: GNN
    accuracy: float  # on test instances
    seed: int
    preset: str = "default"
    settings: Mapping[str, Any] = field(default_factory=dict)  # of RCExplainer

    @classmethod
    def of(
        cls,
        dataset: str,
        model: str,
        seed: int,
        *,
        preset: str = "default",
        settings: Mapping[str, Any] | None = None,
        root: Path | None = None,
        keep: Path | None = None,
        progress: bool = True,
    ) -> "Case":
        """Train a network, or take the one that was kept, and put it to use."""
        task = task_of(dataset)
        data, trained = trained_gnn(dataset, model, seed, root=root, progress=progress, task=task, keep=keep)
        return cls(data, trained.model.cpu(), trained.accuracy["test"], seed, preset, dict(settings or {}))

    @property
    def within(self) -> bool:
        """Whether instances are parts of one graph."""
        return self.data.task != "graph"

    @property
    def training(self) -> list[Data]:
        return [self.data.graph] if self.within else self.data.subset("train")

    @property
    def validation(self) -> list[Data] | None:
        return None if self.within else self.data.subset("val")

    @cached_property
    def split(self) -> SplitModel:
        return split_model(
            self.model, TASKS[self.data.task].trial_graphs(self.training, self.seen), task=self.data.task
        )

    @cached_property
    def hops(self) -> int:
        subject = TASKS[self.data.task]
        return subject.hops(self.split, subject.trial_graphs(self.training, self.seen))

    @cached_property
    def _parts(self) -> tuple[Tensor, Tensor] | None:
        return PARTS[self.data.task](self.data, self.model, self.seed) if self.within else None

    @property
    def seen(self) -> Tensor | None:
        """Of nodes and links: those that methods may learn from."""
        return None if self._parts is None else self._parts[0]

    @cached_property
    def _graphs(self) -> list[Data]:
        test = self.data.subset("test")
        wanted = EXPLAINED.get(self.data.name)
        if wanted is None:
            return test
        found = predictions(self.split, test) == wanted
        return [graph for graph, kept in zip(test, found.tolist(), strict=True) if kept]

    @property
    def count(self) -> int:
        """Held-out instances."""
        return len(self._graphs) if self._parts is None else len(self._parts[1])

    def some(self, most: int | None) -> list[int]:
        """Which of the held-out instances are explained: all of them, or as many as there is time for."""
        return sorted(self.first(most))

    def first(self, most: int | None) -> list[int]:
        """The same in the order in which they are drawn: fewer are the first of more."""
        order = torch.randperm(self.count, generator=torch.Generator().manual_seed(self.seed))
        return order[:most].tolist()

    def explain(self, fitted: FittedExplainer, places: list[int], search: Search) -> list[Explanation]:
        """The explanations of these held-out instances; those that fail are left out."""
        return list(self.explained(fitted, places, search).values())

    def explained(self, fitted: FittedExplainer, places: list[int], search: Search) -> dict[int, Explanation]:
        """The same by their places."""
        if self._parts is None:
            found = fitted.explain([self._graphs[place] for place in places], search=search, on_error="keep")
        else:
            index = self._parts[1][torch.tensor(places)]
            found = fitted.explain(self.data.graph, index=index, search=search, on_error="keep")
        return {place: one for place, one in zip(places, found, strict=True) if isinstance(one, Explanation)}

    def graphs(self, places: list[int]) -> list[Data]:
        """The held-out graphs themselves, for noise; of nodes and links there are none."""
        return [] if self.within else [self._graphs[place] for place in places]
