"""What the words of a command line name: a network, how it is called, and the graphs it is explained on."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NamedInputs:
    """A network and its graphs by name; nothing is opened yet.

    Attributes:
        model: File of a network that `rcexplainer train` wrote, or `module:function`.
        dataset: Name of a dataset.
        graphs: `module:function`, in place of a dataset.
        task: graph, node or link; None: as the dataset, the network or the explainer is, else graph.
        seed: Seed of the split; None: the seed a network of ours was trained with, else 0.
        root: Folder of downloaded datasets.
        device: Device to compute on; None: the CPU.
        head: Dotted name of the module where the head begins; None: found.
        output: Kind of numbers the model returns; None: found.
        forward: `module:function` that calls the model; None: found by common conventions.
    """

    model: str
    dataset: str | None = None
    graphs: str | None = None
    task: str | None = None
    seed: int | None = None
    root: Path | None = None
    device: str | None = None
    head: str | None = None
    output: str | None = None
    forward: str | None = None


@dataclass(frozen=True)
class TableFiles:
    """Files of graphs or SMILES by name.

    Attributes:
        path: A file, a folder or a pattern.
        columns: Columns of SMILES and of ids; None: found by common names.
    """

    path: Path
    columns: tuple[str | None, str | None] = (None, None)
