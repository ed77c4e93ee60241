"""Molecules of a CSV file, without labels, for a network of ours that was trained on molecules."""

from pathlib import Path

from rcexplainer.cli.own_functions import names_function
from rcexplainer.cli.saved_network import ExplainedNetwork
from rcexplainer.datasets.smiles_file import unlabelled
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn import load_gnn
from rcexplainer.gnn.device import usable_device
from rcexplainer.saving.documents import readable_file

SMILES_SETS = ("nitro", "csv:")  # datasets whose node features are those of `csv:PATH`


def open_input(
    model: str, file: Path, columns: tuple[str | None, str | None] = (None, None), device: str | None = None
) -> ExplainedNetwork:
    """Load a network and the molecules to explain.

    Args:
        model: File of the network.
        file: CSV file with a column of SMILES; labels are not read.
        columns: The columns of SMILES and of ids; None: found by common names. Ids are not needed.
        device: Device of the network; the CPU by default.

    Returns:
        The network and its molecules, all of them in the test part.

    Raises:
        CheckpointError: There is no such file, or the network was trained on something else than molecules of a CSV
            file.
        RCExplainerError: The model is a user's own function, whose features are not known here.
    """
    if names_function(model):
        raise RCExplainerError(
            "--input is for networks that `rcexplainer train` wrote: only --graphs module:function knows the node "
            "features of your own model"
        )
    path = readable_file(Path(model), "--model", "rcexplainer train --out DIR")
    if not file.is_file():
        raise RCExplainerError(f"--input: there is no file {file}; it takes a CSV file with a column of SMILES")
    saved = load_gnn(path, usable_device(device))
    trained = str(saved.info.get("dataset") or SMILES_SETS[0])
    data = unlabelled(file, *columns)
    if not trained.startswith(SMILES_SETS) or saved.model.config.num_features != data.num_features:
        raise CheckpointError(
            f"{path} was trained on {trained}, whose node features are not those of a CSV file: --input is for "
            "networks trained on csv:PATH or nitro"
        )
    return ExplainedNetwork(data, saved.model, int(saved.info.get("seed") or 0), model)
