"""The molecules that benchmarks explain, their network and its explainer.

Mutagenicity and the paper's network where the files of the set are there, otherwise generated molecules (`nitro`) in
the same number. Everything is drawn with seed 0.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Batch, Data

from rcexplainer import datasets, errors, gnn
from rcexplainer.benchmark.speed.kept import kept_explainer, kept_network
from rcexplainer.benchmark.speed.options import BenchOptions
from rcexplainer.explainer import RCExplainer

ALL = 4337  # graphs of Mutagenicity
FITTED_BATCH = 128  # instances in a step of the explainer's fit: said, so that earlier versions read its file too


@dataclass(frozen=True, eq=False)
class Molecules:
    """A set of molecules on a device and a network trained on it."""

    data: datasets.GraphDataset
    model: nn.Module  # on the device
    options: BenchOptions

    @classmethod
    def of(cls, options: BenchOptions, data: datasets.GraphDataset | None = None) -> "Molecules":
        """Load or generate them; the network is read from the folder of the options, or trained in a few epochs.

        Args:
            options: What a benchmark is told.
            data: The set; None: `molecule_set`.
        """
        data = molecule_set(options) if data is None else data

        def train() -> gnn.GNN:
            config = gnn.gnn_config("paper", data.num_features, data.num_classes)
            settings = gnn.TrainConfig(epochs=20)
            return gnn.train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model

        model = kept_network(options.keep, data.name, train)
        return cls(data, model.to(options.where), options)

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.data.name

    def order(self) -> list[int]:
        """All graphs in a random order."""
        return torch.randperm(len(self.data), generator=torch.Generator().manual_seed(0)).tolist()

    def some(self, count: int) -> list[Data]:
        """Graphs of the set on the device, drawn at random."""
        return [copy.copy(self.data[place]).to(self.options.where) for place in self.order()[:count]]

    @cached_property
    def fitted(self) -> Any:
        """An explainer of the network, fitted on the training graphs with the defaults."""

        def fit() -> Any:
            graphs = [self.data[place] for place in self.data.split.train.tolist()]
            model = copy.deepcopy(self.model).cpu()
            return RCExplainer(batch_size=FITTED_BATCH).fit(model, graphs, progress=False)

        return kept_explainer(self.options.keep, f"{self.name}-explainer", self.model, fit)


def molecule_set(options: BenchOptions) -> datasets.GraphDataset:
    """Mutagenicity if its files are there, otherwise generated molecules."""
    try:
        return datasets.load("mutagenicity", root=options.root)
    except errors.MissingDataError:
        return generated_set()


def generated_set() -> datasets.GraphDataset:
    """Generated molecules, in the number of Mutagenicity's."""
    return datasets.load("nitro", num_graphs=ALL - 1)  # they come in pairs


@torch.no_grad()
def forward(model: nn.Module, batch: Data) -> Tensor:
    """One forward pass; the logits come to the CPU, as results of an explainer do."""
    return model(batch.x, batch.edge_index, batch.batch).cpu()


def training_step(model: nn.Module, batch: Data) -> Callable[[], None]:
    """A training step of a copy of the network on a batch that is ready: forward, backward, Adam."""
    model = copy.deepcopy(model).train().requires_grad_()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y).backward()
        optimizer.step()

    return step


def one_batch(graphs: list[Data]) -> Data:
    """The graphs as one batch."""
    found: Data = Batch.from_data_list(graphs)
    return found
