"""Options that several commands share, and the values of `--set`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from rcexplainer.errors import RCExplainerError

# Groups of options in the help.
INPUT, OWN, WHICH = "Options", "Your own model", "Which graphs, nodes or links"
METHOD, OUTPUT, COMPUTING = "Method", "Output", "Computing"
ARCHITECTURES = (
    "Architecture of the network: paper, paper-concat, paper-deep-head, graphconv, gcn, gin, gat, sage or shallow."
)
# Options of the commands that have `--set`: none is a setting, though some are arguments of the constructor.
NO_SETTINGS = (
    "preset", "task", "model", "dataset", "graphs", "forward", "head", "output", "index", "seed", "root", "out",
    "device", "threads",
)  # fmt: skip
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

DATASET_HELP = "Dataset, one of those `rcexplainer datasets` lists."
INDEX_FORMS = (
    "graphs by their place, nodes by their number, links as pairs such as 0-5,2-9; or a file of these. May be repeated."
)

Dataset = Annotated[str, typer.Option(metavar="NAME", rich_help_panel=INPUT, help=DATASET_HELP)]
DatasetOrGraphs = Annotated[
    str | None, typer.Option(metavar="NAME", rich_help_panel=INPUT, help=DATASET_HELP, show_default=False)
]
Architecture = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=INPUT,
        help=ARCHITECTURES,
        show_default="paper; for links: shallow",
    ),
]
ModelName = Annotated[
    str,
    typer.Option(
        metavar="FILE|MODULE:FUNCTION",
        rich_help_panel=INPUT,
        help="Trained network: a file that `rcexplainer train` wrote, or your own function without arguments that "
        "returns an nn.Module, such as my_package.gnn:load_model. The current directory is importable.",
    ),
]
GraphsName = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:FUNCTION",
        rich_help_panel=OWN,
        help="Your own graphs in place of a dataset: a function without arguments that returns a PyG Data, a list of "
        "them or a PyG dataset, such as my_package.data:load_graphs.",
        show_default=False,
    ),
]
TaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=OWN,
        help="What your own model predicts: graph, node or link (default: that of the dataset or explainer, else "
        "graph).",
        show_default=False,
    ),
]
ForwardName = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:FUNCTION",
        rich_help_panel=OWN,
        help="Your own function (model, batch, edge_weight) that calls a model with an unusual signature and returns "
        "its output (default: arguments are found by their names).",
        show_default=False,
    ),
]
HeadName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=OWN,
        help="Module of the model where its head begins, such as classifier.0 (default: found).",
        show_default=False,
    ),
]
OutputKindName = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="KIND",
        rich_help_panel=OWN,
        help="What the model returns: logits, log_probs, probs or binary_logit (default: found).",
        show_default=False,
    ),
]
ExplainerFile = Annotated[
    Path, typer.Option(metavar="FILE", rich_help_panel=INPUT, help="Explainer, a file that `rcexplainer fit` wrote.")
]
PartName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=WHICH,
        help="Part of the split: train, val or test (default: test of a dataset; all of your own graphs).",
        show_default=False,
    ),
]
IndexTexts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N,N…",
        rich_help_panel=WHICH,
        help="Only these, or all: graphs of a dataset by their place in the part; your own " + INDEX_FORMS,
        show_default=False,
    ),
]
InputPath = Annotated[
    Path | None,
    typer.Option(
        "--input",
        metavar="PATH",
        rich_help_panel=INPUT,
        help="A file, folder or pattern in place of a dataset: CSV or Parquet with a column of SMILES (for networks "
        "trained on csv:PATH or nitro), or Parquet with a graph in each row. Labels are not needed.",
        show_default=False,
    ),
]
SmilesColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", rich_help_panel=INPUT, help="Column of SMILES of --input (default: found)."),
]
SplitSeed = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        rich_help_panel=INPUT,
        help="Seed of the split (default: the seed the network was trained with; 0 for your own model or graphs).",
    ),
]
Root = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", rich_help_panel=INPUT, help="Folder of downloaded datasets (default: your cache folder)."
    ),
]
Preset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        rich_help_panel=METHOD,
        help="Settings to start from: default, paper (as in the paper's text) or released (as in the authors' code).",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        rich_help_panel=METHOD,
        help="Change one setting of the preset, such as epochs=20; may be repeated. target_class=positive, or =1, fits "
        "for counterfactuals of that class, target_class=each for those of any class that is asked for.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", rich_help_panel=OUTPUT, help="Print one JSON document instead of a table.")
]
DiscloseOption = Annotated[
    str,
    typer.Option(
        "--disclose",
        metavar="NAME",
        rich_help_panel=OUTPUT,
        help="What is told: scores (everything), counterfactual (the prediction, and the edges that are deleted; no "
        "scores of edges) or prediction (nothing else). What is withheld is written nowhere.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", metavar="", rich_help_panel=OUTPUT, help="Show no progress bars.")
]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME", rich_help_panel=COMPUTING, help="Device, such as cpu or cuda (default: cpu)."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel=COMPUTING,
        help="CPU threads (default: OMP_NUM_THREADS where it is set, else 1: small networks gain little from more).",
    ),
]


def parse_settings(texts: Sequence[str] | None, options: Sequence[str] = ()) -> dict[str, Any]:
    """Read the values of `--set`.

    Args:
        texts: Each `name=value`; a later one wins. None: no `--set` was given.
        options: Further options of the command, which are no settings.

    Returns:
        Values by name, each of the type it has in `RCConfig` or `RCExplainer`; a class may be a name. Unknown names
        keep their text: `RCConfig` refuses them, and says which name was meant.

    Raises:
        RCExplainerError: A text is not `name=value`, names an option, or its value is not of the field's type.
    """
    from rcexplainer.config import RCConfig

    hints = get_type_hints(RCConfig) | OF_EXPLAINER
    values: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise RCExplainerError(f"--set takes name=value, such as epochs=20, got {text!r}")
        if name in (*NO_SETTINGS, *options):
            raise RCExplainerError(f"{name} is an option of its own: --{name.replace('_', '-')} {value}")
        values[name] = _parse(name, value, hints.get(name, str))
    return values


def _parse(name: str, value: str, hint: Any) -> Any:
    """One value as the type of its field; a choice among words stays text."""
    if hint not in PARSERS:
        return value
    parser, kind = PARSERS[hint]
    try:
        return parser(value)
    except (ValueError, KeyError):
        raise RCExplainerError(f"{name} must be {kind}, got {value!r}") from None


def _pair(text: str) -> tuple[float, float]:
    """Two numbers with a comma between them; one stands for both."""
    first, _, last = text.partition(",")
    return float(first), float(last or first)


def _target(text: str) -> int | str | None:
    """A class by its number or its name, each of them, or none."""
    word = text.lower()
    if word in ("none", "each"):
        return None if word == "none" else word
    try:
        return int(text)
    except ValueError:
        return text


Target = int | str | None

# Settings of `RCExplainer` that are no fields of `RCConfig`.
OF_EXPLAINER: dict[str, Any] = {"target_class": Target, "hops": int | None}

# By the type of a setting: how its values are read, and what a value must be.
PARSERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    int: (int, "a whole number"),
    Target: (_target, "a class, each or none"),
    int | None: (lambda text: None if text.lower() == "none" else int(text), "a whole number or none"),
    float: (float, "a number"),
    bool: (lambda text: TRUTHS[text.lower()], "true or false"),
    tuple[float, float]: (_pair, "a number, or two such as 0.5,5 (at the start, at the end)"),
}
