"""The command line, thin: it reads arguments, calls the library, and prints a table or one JSON document.

Results go to standard output, progress and messages to standard error. A user's mistake is one line and exit code 2.
"""

import logging
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rcexplainer import __version__
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import ready, to_text, write_document

app = typer.Typer(
    name="rcexplainer",
    help="What would have had to be missing for this prediction of a graph neural network to be different?",
    epilog="Start with: rcexplainer demo",
    add_completion=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Root = Annotated[Path | None, typer.Option(help="Folder for downloaded datasets (default: your cache folder).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")]
Device = Annotated[str | None, typer.Option(help="Where to compute, such as cpu or cuda.")]
Preset = Annotated[str, typer.Option(help="default, paper (the text, literally) or released (the authors' code).")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change one setting of the preset; may be repeated."),
]
Gnn = Annotated[Path, typer.Option(help="A network kept by `rcexplainer train --out`.")]
SplitSeed = Annotated[
    int | None, typer.Option(min=0, help="The seed the network was trained with (default: as it was written down).")
]
WIDTH = 110  # of tables that go to a file or a pipe


def main(arguments: list[str] | None = None) -> None:
    """Entry point of `rcexplainer` and `python -m rcexplainer`."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    try:
        code = app(args=arguments, prog_name="rcexplainer", standalone_mode=False)
    except typer.TyperException as error:
        _fail(error.format_message() if hasattr(error, "format_message") else str(error))
    except (RCExplainerError, OSError) as error:
        _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        print("rcexplainer: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    raise SystemExit(code or 0)


def _fail(message: str) -> NoReturn:
    print(f"rcexplainer: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(2)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit()


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What would have had to be missing for this prediction of a graph neural network to be different?"""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def datasets(
    names: Annotated[
        list[str] | None, typer.Argument(help="Load these and show their numbers.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides what is generated, and the split.")] = 0,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """List the datasets, or load some and show their numbers."""
    from rcexplainer.datasets import ENTRIES, FAMILIES
    from rcexplainer.datasets.inventory import describe

    if names:
        found = [describe(name, root=root, seed=seed) for name in names]
        caption = "nodes and edges: means over the graphs, an undirected edge counts once"
        _show([asdict(one) for one in found], [one.row() for one in found], caption, as_json)
        return
    listed = [{"name": name, "task": one.task, "about": one.about} for name, one in {**ENTRIES, **FAMILIES}.items()]
    _show(listed, listed, "rcexplainer datasets NAME shows its numbers", as_json)


@app.command()
def train(
    dataset: Annotated[str, typer.Option(help="A name from `rcexplainer datasets`.")],
    model: Annotated[
        str, typer.Option(help="paper, paper-concat, paper-deep-head, graphconv, gcn, gin, gat or sage.")
    ] = "paper",
    seeds: Annotated[int, typer.Option(min=1, help="How many trainings; each draws its own split and weights.")] = 1,
    first_seed: Annotated[int, typer.Option(min=0, help="The seed of the first one.")] = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="At most so many epochs.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Dropout after each layer.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the trained networks in this folder.")] = None,
    root: Root = None,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a graph neural network and print its accuracy on training, validation and test instances."""
    from rcexplainer.benchmark.accuracy import PARTS, train_seeds

    if out is not None:
        if out.exists() and not out.is_dir():
            raise RCExplainerError(f"--out {out} is a file, not a folder")
        out.mkdir(parents=True, exist_ok=True)  # before the work is done that is to be kept there
    changes = {name: value for name, value in (("epochs", epochs), ("lr", lr)) if value is not None}
    report = train_seeds(
        dataset,
        model,
        range(first_seed, first_seed + seeds),
        root=root,
        out=out,
        device=device,
        progress=not quiet,
        training=changes,
        architecture={} if dropout is None else {"dropout": dropout},
    )
    rows: list[dict[str, Any]] = [
        {"seed": run.seed, **run.accuracy, "epoch": run.best_epoch, "seconds": round(run.seconds, 1)}
        for run in report.runs
    ]
    if seeds > 1:
        rows.append(
            {"seed": "mean ± std"} | {part: f"{report.mean(part):.3f} ± {report.std(part):.3f}" for part in PARTS}
        )
    _show(report.to_json(), rows, f"accuracy of {model} on {dataset}", as_json)


@app.command()
def fit(
    dataset: Annotated[str, typer.Option(help="The dataset the network was trained on.")],
    gnn: Gnn,
    out: Annotated[Path, typer.Option(help="Where to keep the explainer.")] = Path("explainer.safetensors"),
    preset: Preset = "default",
    settings: Settings = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file from which a run that was killed goes on when it is started again.")
    ] = None,
    seed: SplitSeed = None,
    root: Root = None,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit an explainer for a trained network, and keep it."""
    from rcexplainer.cli.fit_ import fit_saved, parse_settings

    report = fit_saved(
        dataset,
        gnn,
        out,
        preset=preset,
        settings=parse_settings(settings or ()),
        checkpoint=checkpoint,
        seed=seed,
        root=root,
        device=device,
        progress=not quiet,
    )
    _show(report.to_json(), [report.row()], report.caption(), as_json)


@app.command()
def explain(
    dataset: Annotated[str, typer.Option(help="The dataset the network was trained on.")],
    gnn: Gnn,
    explainer: Annotated[Path, typer.Option(help="An explainer kept by `rcexplainer fit`.")],
    part: Annotated[str, typer.Option(help="train, val or test.")] = "test",
    index: Annotated[
        list[str] | None,
        typer.Option(help="Only the graphs at these places of the part, such as 0,5,7; may be repeated."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many graphs.")] = None,
    predicted: Annotated[str | None, typer.Option(help="Only graphs predicted as this class (name or number).")] = None,
    search: Annotated[
        str,
        typer.Option(
            help="none: scores alone; prefix: the shortest flipping prefix of the ranking; greedy: and on from there."
        ),
    ] = "prefix",
    out: Annotated[Path | None, typer.Option(help="Write the JSON document to this file.")] = None,
    seed: SplitSeed = None,
    root: Root = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Explain graphs: predictions before and after, and the edges without which the prediction is another one."""
    from rcexplainer.cli.explain_ import explain_saved, parse_index

    report = explain_saved(
        dataset,
        gnn,
        explainer,
        part=part,
        index=None if index is None else parse_index(index),
        limit=limit,
        predicted=predicted,
        search=search,
        out=out,
        seed=seed,
        root=root,
        device=device,
    )
    caption = report.caption() if out is None else f"{report.caption()}; written to {out}"
    if out is not None:
        write_document(out, report.to_json())
    _show(report.to_json(), report.rows(), caption, as_json)


@app.command()
def evaluate(
    dataset: Annotated[str, typer.Option(help="A name from `rcexplainer datasets`.")],
    model: Annotated[
        str | None, typer.Option(help="As for `rcexplainer train`; left out: paper, for links shallow.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How often all of it is done; each seed draws its own split.")] = 1,
    methods: Annotated[
        str | None,
        typer.Option(help="Compare: all, or names with commas between them, e.g. rcexplainer,gnnexplainer."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="held-out, or paper: fitted and evaluated on the same graphs of one class.")
    ] = "held-out",
    preset: Preset = "default",
    settings: Settings = None,
    robustness: Annotated[bool, typer.Option(help="Measure how explanations stand 10 % noise.")] = True,
    root: Root = None,
    device: Device = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Measure RCExplainer beside random order, occlusion and greedy deletion, or all methods, on held-out instances."""
    from rcexplainer.benchmark import evaluate as held_out
    from rcexplainer.benchmark import nodes, paper_protocol
    from rcexplainer.benchmark.comparison import compare
    from rcexplainer.benchmark.methods import chosen
    from rcexplainer.cli.fit_ import parse_settings
    from rcexplainer.datasets import task_of
    from rcexplainer.gnn.models import USUAL

    if protocol not in ("held-out", "paper"):
        raise RCExplainerError(f"protocol must be one of held-out, paper, got {protocol!r}")
    how: dict[str, Any] = {
        "preset": preset,
        "settings": parse_settings(settings or ()),
        "root": root,
        "progress": not quiet,
    }
    result: Any
    model = model or USUAL[task_of(dataset)]
    if methods is not None and (protocol == "paper" or device is not None):
        raise RCExplainerError(
            "--methods compares on held-out instances and on the CPU: leave --protocol and --device out"
        )
    if methods is not None:
        names = chosen(methods)
        result = compare(dataset, model, range(seeds), names, robust=robustness, **how)
    elif task_of(dataset) != "graph":
        result = nodes.evaluate_nodes(dataset, model, range(seeds), device=device, **how)
    elif protocol == "paper":
        result = paper_protocol.paper_protocol(dataset, model, range(seeds), device=device, **how)
    else:
        result = held_out.evaluate(dataset, model, range(seeds), robust=robustness, device=device, **how)
    _show_tables(result.to_json(), result.tables(), as_json)


@app.command()
def reproduce(
    entry: Annotated[
        str,
        typer.Argument(
            help="datasets, fidelity, robustness, time, nodes, links, boundaries, lambda, case-study, ablation, "
            "tradeoff, qualitative, training, or all."
        ),
    ],
    profile: Annotated[str, typer.Option(help="quick: minutes; standard: hours, 3 seeds; paper: 10 seeds.")] = "quick",
    out: Annotated[Path, typer.Option(help="A folder for one profile; what is done is not run again.")] = Path(
        "results"
    ),
    jobs: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run the paper's tables and figures again, beside what the paper says; a run that was killed goes on."""
    from rcexplainer.paper.reproduce import reproduce as run

    result = run(entry, profile, out, workers=jobs, progress=not quiet)
    shown = [(table.to_rows(), "\n".join((table.caption, *table.notes))) for table in result.tables()]
    notes = [
        ([{"job": one.job.label, name: one.error} for one in ones], caption)
        for caption, name, ones in (("left out", "skipped", result.skipped), ("not done", "failed", result.failed))
        if ones
    ]
    _show_tables(result.to_json(), [*shown, *notes], as_json)
    if result.failed:
        raise typer.Exit(1)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `rcexplainer reproduce` wrote.")],
    as_json: Json = False,
) -> None:
    """Write DIR/report.html, one page with verdicts, tables and figures; nothing is run again."""
    from rcexplainer.paper.report import write_report

    result = write_report(folder)
    _show(result.to_json(), result.rows(), result.caption(), as_json)


@app.command()
def bench(
    what: Annotated[
        str,
        typer.Argument(
            help="import: the import; core: scores beside a forward pass; regions: of a million embeddings; nodes: "
            "computation graphs of 10,000 nodes."
        ),
    ],
    repeats: Annotated[int, typer.Option(min=1, help="How often each is measured; the median counts.")] = 3,
    as_json: Json = False,
) -> None:
    """Measure speed on this machine."""
    from rcexplainer.benchmark.speed import BENCHMARKS

    if what not in BENCHMARKS:
        raise RCExplainerError(f"unknown benchmark {what!r}; known: {', '.join(BENCHMARKS)}")
    rows = BENCHMARKS[what](repeats)
    _show(rows, rows, f"medians of {repeats}", as_json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where all explanations are kept.")] = Path("demo.json"),
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same answer.")] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """The main job on a built-in dataset: molecules, a network that classifies them, and what would change its mind."""
    from rcexplainer.cli.demo_ import run_demo

    ready(out)
    result = run_demo(seed=seed, progress=not quiet)
    write_document(out, result.document())
    caption = f"{result.caption()} All {len(result.explanations)} explanations are in {out}."
    _show(result.to_json() | {"saved": str(out)}, result.rows(), caption, as_json)


def _show(document: Any, rows: list[dict[str, Any]], caption: str, as_json: bool) -> None:
    """One JSON document, or a table."""
    _show_tables(document, [(rows, caption)], as_json)


def _show_tables(document: Any, tables: list[tuple[list[dict[str, Any]], str]], as_json: bool) -> None:
    """One JSON document, or tables with their captions; numbers to the right."""
    if as_json:
        print(to_text(document))
        return
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    for place, (rows, caption) in enumerate(tables):
        if place:
            console.print()
        if rows:
            console.print(_table(rows))
        console.print(f"\n{caption}", style="dim", highlight=False, markup=False)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(header_style="bold", box=None, pad_edge=False)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        number = all(isinstance(row.get(column, 0), int | float) for row in rows[:1])
        table.add_column(column.replace("_", " "), justify="right" if number else "left")
    for row in rows:
        table.add_row(*(escape(_cell(row.get(column, ""))) for column in columns))
    return table


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:.2f}"
    return str(value)
