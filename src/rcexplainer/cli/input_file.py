"""Molecules of a CSV file, without labels, for a network of ours that was trained on molecules."""

from pathlib import Path

from rcexplainer.cli.own_functions import names_function
from rcexplainer.cli.saved_network import ExplainedNetwork
from rcexplainer.datasets.fragments import ATOM_NAMES
from rcexplainer.datasets.smiles_file import unlabelled
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn import load_gnn
from rcexplainer.gnn.device import usable_device
from rcexplainer.gnn.model_file import SavedGNN
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
    if not file.is_file():
        raise RCExplainerError(f"--input: there is no file {file}; it takes a CSV file with a column of SMILES")
    saved = molecule_network(model, device)
    return ExplainedNetwork(unlabelled(file, *columns), saved.model, int(saved.info.get("seed") or 0), model)


def molecule_network(model: str, device: str | None = None) -> SavedGNN:
    """Load a network that reads the molecules of a file of SMILES.

    Args:
        model: File of the network.
        device: Device of the network; the CPU by default.

    Raises:
        CheckpointError: There is no such file, or it was trained on something else than molecules of a CSV file.
        RCExplainerError: The model is a user's own function, whose features are not known here.
    """
    if names_function(model):
        raise RCExplainerError(
            "--input is for networks that `rcexplainer train` wrote where it has SMILES: only you know the node "
            "features of your own model, give its graphs by --graphs module:function or as a Parquet file of tensors"
        )
    path = readable_file(Path(model), "--model", "rcexplainer train --out DIR")
    saved = load_gnn(path, usable_device(device))
    trained = str(saved.info.get("dataset") or SMILES_SETS[0])
    if not trained.startswith(SMILES_SETS) or saved.model.config.num_features != len(ATOM_NAMES):
        raise CheckpointError(
            f"{path} was trained on {trained}, whose node features are not those of a CSV file: --input is for "
            "networks trained on csv:PATH or nitro"
        )
    return saved
