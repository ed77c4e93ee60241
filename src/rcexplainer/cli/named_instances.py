"""The network, the explainer and the instances that a command line names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch import nn

from rcexplainer.cli.instance_index import ChosenInstance, in_part, in_whole, places_of
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.option_conflicts import one_of
from rcexplainer.cli.own_network import find_forward, find_model, is_ours, saved_with_dataset, with_graphs
from rcexplainer.cli.saved_network import ExplainedNetwork
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import load as load_explainer
from rcexplainer.gnn.device import usable_device
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.saving.documents import readable_file


@dataclass(frozen=True, eq=False)
class NamedInstances:
    """What a command line names, opened.

    Attributes:
        network: The network and its graphs.
        fitted: The explainer.
        chosen: The instances.
        part: The part of the split they are from; None: they were chosen among all.
    """

    network: ExplainedNetwork
    fitted: FittedExplainer
    chosen: list[ChosenInstance]
    part: str | None


def open_named(
    inputs: NamedInputs, explainer: Path, part: str | None = None, index: Sequence[str] | None = None
) -> NamedInstances:
    """Open a network, its explainer and the instances of a dataset or of a user's own functions.

    Args:
        inputs: The network and its graphs.
        explainer: File of the explainer.
        part: train, val or test; None: test of a dataset, unless nodes or links are named by `index`, and all of a
            user's own graphs.
        index: The values of `--index`.

    Raises:
        RCExplainerError: Things do not exist, or do not belong together.
    """
    network, fitted = open_explained(inputs, explainer)
    data, places = network.data, places_of(index, network.data.task)
    if inputs.dataset is not None and (index is None or data.task == "graph"):
        part = part or "test"
    if inputs.dataset is not None and part is not None and data.task == "graph":
        return NamedInstances(network, fitted, in_part(data, part, places), part)
    return NamedInstances(network, fitted, in_whole(data, part, places), part)


def open_explained(inputs: NamedInputs, explainer: Path) -> tuple[ExplainedNetwork, FittedExplainer]:
    """Open a network with its graphs, and its explainer, which knows the task.

    Args:
        inputs: The network and its graphs.
        explainer: File of the explainer.

    Raises:
        RCExplainerError: Things do not exist, or do not belong together.
    """
    explainer_file(explainer)
    one_of(inputs.dataset, inputs.graphs)
    if is_ours(inputs):
        network = saved_with_dataset(inputs)
        return network, open_explainer(explainer, network.model, inputs)
    model = find_model(inputs)
    fitted = open_explainer(explainer, model, inputs)
    if inputs.task not in (None, fitted.split.task):
        raise RCExplainerError(
            f"{explainer} is for {fitted.split.task} prediction, got --task {inputs.task}: leave it out"
        )
    return with_graphs(inputs, model, fitted.split.task), fitted


def explainer_file(path: Path) -> Path:
    """Check that there is a file, before anything else takes time.

    Args:
        path: The value of `--explainer`.

    Raises:
        CheckpointError: It is a folder, or does not exist.
    """
    return readable_file(path, "--explainer", "rcexplainer fit --out FILE")


def open_explainer(path: Path, model: nn.Module, inputs: NamedInputs) -> FittedExplainer:
    """Read an explainer for a model.

    Args:
        path: File of the explainer.
        model: The network it was fitted for, on the device.
        inputs: The names: how the model is called, and the device to explain on.

    Raises:
        CheckpointError: The file is no explainer, or one of another network.
    """
    fitted = load_explainer(explainer_file(path), model, forward=find_forward(inputs))
    return replace(fitted, device=usable_device(inputs.device))
