"""What `rcexplainer fit` fits on: the training part of a dataset, or of a user's own instances, or files of graphs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from rcexplainer.cli.counted_graphs import CountedGraphs
from rcexplainer.cli.explain_settings import ExplainSettings
from rcexplainer.cli.explanations import explained_instances
from rcexplainer.cli.input_file import molecule_network
from rcexplainer.cli.instance_index import ChosenInstance, graphs_at, in_whole, places_of
from rcexplainer.cli.named_inputs import NamedInputs, TableFiles
from rcexplainer.cli.option_conflicts import refuse_together
from rcexplainer.cli.own_network import find_model, find_network
from rcexplainer.datasets import GraphDataset
from rcexplainer.datasets.fragments import ATOM_NAMES
from rcexplainer.datasets.graph_table import GraphTable
from rcexplainer.errors import RCExplainerError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.gnn.forward import TaskName
from rcexplainer.method.fitted_explainer import FittedExplainer

MOST_SUMMARISED = 500  # graphs that are explained for the summary of the regions


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What an explainer is fitted on.

    Attributes:
        name: Of the dataset, or the files.
        task: What its instances are.
        model: The network.
        seed: Seed of the split and of the fit.
        arguments: Arguments of `RCExplainer.fit` for the instances.
        training: Gives the number of training instances, once they have been read.
        validation: Number of validation instances; 0: a tenth of the training instances is held out.
        part: What these are, for people.
        class_names: Names of the classes; none if unknown.
        node_names: What each one-hot node feature means; none if unknown.
        explained: Explains some of them, for the summary of the regions.
    """

    name: str
    task: TaskName
    model: nn.Module
    seed: int
    arguments: dict[str, Any]
    training: Callable[[], int]
    validation: int
    part: str
    class_names: tuple[str, ...]
    node_names: tuple[str, ...]
    explained: Callable[[FittedExplainer], Sequence[Explanation | Failure]]


def fit_dataset(inputs: NamedInputs, index: Sequence[str] | None, class_names: Sequence[str] | None) -> FitInputs:
    """Open the network and the instances of a dataset, or of a user's own functions.

    Args:
        inputs: Their names.
        index: The values of `--index`; None: the training part, with the validation part for early stopping.
        class_names: Names of the classes, for graphs without any.

    Raises:
        RCExplainerError: They do not exist, do not belong together, or are none.
    """
    network = find_network(replace(inputs, device=None))  # `fit` has a copy of its own on the device
    data = network.data
    if index is not None and inputs.dataset is not None and data.task == "graph":
        raise RCExplainerError(
            "--index is for nodes and links, and for your own graphs: graphs of a dataset are fitted on its training "
            "part, leave --index out"
        )
    if class_names and data.class_names:
        raise RCExplainerError(f"{data.name} names its classes: leave out --class-names")
    training = in_whole(data, "train" if index is None else None, places_of(index, data.task))
    validation = in_whole(data, "val", None) if index is None else []
    some = (validation or training)[:MOST_SUMMARISED]
    return FitInputs(
        name=data.name,
        task=data.task,
        model=network.model,
        seed=network.seed,
        arguments=_arguments(data, training, validation),
        training=training.__len__,
        validation=len(validation),
        part="training part" if index is None else f"{data.task}s of --index",
        class_names=tuple(class_names or data.class_names),
        node_names=tuple(data.node_names),
        explained=partial(explained_instances, data=data, chosen=some, settings=ExplainSettings()),
    )


def fit_table(inputs: NamedInputs, files: TableFiles, class_names: Sequence[str] | None) -> FitInputs:
    """Open the network and files of graphs, which are read as they are needed.

    Args:
        inputs: Names the network; nothing else of it is used.
        files: The files.
        class_names: Names of the classes, if known.

    Raises:
        RCExplainerError: They do not exist, or do not belong together.
    """
    refuse_together("--input", dataset=inputs.dataset, graphs=inputs.graphs, task=inputs.task, root=inputs.root)
    table = GraphTable(files.path, *files.columns)
    graphs = CountedGraphs(table)
    model = molecule_network(inputs.model).model if table.holds_smiles else find_model(replace(inputs, device=None))
    return FitInputs(
        name=table.name,
        task="graph",
        model=model,
        seed=inputs.seed or 0,
        arguments={"graphs": graphs},
        training=lambda: graphs.count,
        validation=0,
        part="rows",
        class_names=tuple(class_names or ()),
        node_names=ATOM_NAMES if table.holds_smiles else (),
        explained=lambda fitted: fitted.explain(table.first(MOST_SUMMARISED), on_error="keep"),
    )


def _arguments(
    data: GraphDataset, training: Sequence[ChosenInstance], validation: Sequence[ChosenInstance]
) -> dict[str, Any]:
    """Arguments of `RCExplainer.fit` for these instances."""
    if not training:
        raise RCExplainerError(f"{data.name} has no {data.task}s to fit on")
    learnt, held_out = ([one.position for one in ones] for ones in (training, validation))
    if data.task == "graph":
        return {"graphs": graphs_at(data, learnt), "val": graphs_at(data, held_out) or None}
    return {
        "graphs": data.graph,
        "index": torch.tensor(learnt),
        "val": torch.tensor(held_out) if held_out else None,
    }
