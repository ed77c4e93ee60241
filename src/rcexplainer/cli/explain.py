"""`rcexplainer explain`: counterfactuals of graphs, nodes or links, by a saved explainer."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.example_words import OWN_EXPLAINER, SAVED_EXPLAINER
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.option_conflicts import refuse_together
from rcexplainer.cli.options import (
    COMPUTING,
    INPUT,
    METHOD,
    OUTPUT,
    WHICH,
    DatasetOrGraphs,
    Device,
    DiscloseOption,
    ExplainerFile,
    ForwardName,
    GraphsName,
    IndexTexts,
    InputPath,
    Json,
    ModelName,
    PartName,
    Quiet,
    Root,
    SmilesColumn,
    SplitSeed,
    TaskOption,
    Threads,
)
from rcexplainer.cli.output import show
from rcexplainer.cli.overwritten_files import refuse_overwriting
from rcexplainer.cli.threads import use_threads
from rcexplainer.saving.documents import write_document

EXAMPLES = (
    f"rcexplainer explain {SAVED_EXPLAINER} --limit 5",
    f"rcexplainer explain {SAVED_EXPLAINER} \\\n    --predicted positive --search greedy --out explanations.json",
    f"rcexplainer explain {SAVED_EXPLAINER} --html page.html",
    "rcexplainer explain --input molecules.csv --model gnn.safetensors --explainer explainer.safetensors",
    "rcexplainer explain --input 'molecules/*.parquet' --out results --engine ray \\\n"
    "    --model gnn.safetensors --explainer explainer.safetensors",
    "rcexplainer explain --dataset ba-shapes --model gnn.safetensors --explainer explainer.safetensors --index 310,455",
    f"rcexplainer explain {OWN_EXPLAINER} --index 3,5,8",
    f"rcexplainer explain {OWN_EXPLAINER} --task link --index 0-5,2-9",
)


def explain(
    model: ModelName,
    explainer: ExplainerFile,
    dataset: DatasetOrGraphs = None,
    graphs: GraphsName = None,
    task: TaskOption = None,
    forward: ForwardName = None,
    input_file: InputPath = None,
    smiles_column: SmilesColumn = None,
    id_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", rich_help_panel=INPUT, help="Column of ids of --input (default: found, if any)."),
    ] = None,
    seed: SplitSeed = None,
    root: Root = None,
    part: PartName = None,
    index: IndexTexts = None,
    predicted: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS", rich_help_panel=WHICH, help="Only those predicted as this class, by name or number."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", rich_help_panel=WHICH, help="Only the first N of these.")
    ] = None,
    search: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            rich_help_panel=METHOD,
            help="Search for edges to delete: prefix (the shortest prefix of the ranking that changes the prediction), "
            "greedy (where no prefix does, delete further edges greedily) or none (scores and order of deletion only).",
        ),
    ] = "prefix",
    target_class: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            rich_help_panel=METHOD,
            help="Class that the prediction must change to, by name or number (default: any other, or the one that the "
            "explainer was fitted for).",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="N|Ns",
            rich_help_panel=METHOD,
            help="What each search may cost: a number of model runs such as 500, or seconds such as 2.5s (default: "
            "3000 runs). A search that reaches it gives the best it has.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            rich_help_panel=METHOD,
            help="Probability that another class must reach without the deleted edges, such as 0.8, for "
            "counterfactuals away from the decision boundary (default: it need only be the predicted class).",
        ),
    ] = None,
    refine: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=METHOD,
            help="Model runs to spend on a better ranking, by really deleting the edges ranked first (default: none, "
            "the explainer's own scores).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR",
            rich_help_panel=OUTPUT,
            help="Write the JSON document to this .json file, too; of a dataset of any size (--input, --engine), the "
            "folder of its results, Parquet with a row for each graph. A job that was stopped goes on.",
        ),
    ] = None,
    scores: Annotated[
        str,
        typer.Option(
            metavar="none|all|K",
            rich_help_panel=OUTPUT,
            help="Edge scores in the folder of results: none, of all edges, or of the K best.",
        ),
    ] = "none",
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Write a page to share to this .html file: a table of the graphs, drawings, the prediction after "
            "every deletion, and what is deleted again and again.",
        ),
    ] = None,
    disclose: DiscloseOption = "scores",
    as_json: Json = False,
    quiet: Quiet = False,
    device: Device = None,
    threads: Threads = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=COMPUTING,
            help="What explains a dataset of any size: local (this machine) or ray (the cluster of RAY_ADDRESS, else "
            "this machine).",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=COMPUTING,
            help="Processes of the engine (default: one for each core, or one for a GPU).",
        ),
    ] = None,
    part_rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            rich_help_panel=COMPUTING,
            help="Graphs in each file of results (default: 16384, fewer of large graphs).",
        ),
    ] = None,
) -> None:
    """Show which edges, deleted, change the prediction of a graph, node or link."""
    use_threads(threads)
    read = {"--input": input_file, "--model": model, "--explainer": explainer, "--dataset": dataset, "--index": index}
    refuse_overwriting({"--out": out, "--html": html}, read)
    from rcexplainer.cli.explain_settings import ExplainSettings, parse_budget
    from rcexplainer.cli.explanation_page import writable_page, write_page
    from rcexplainer.cli.explanations import explain_named
    from rcexplainer.cli.interrupted_explanations import partial_file, show_interrupted
    from rcexplainer.cli.table_explanations import TableRequest, explain_table, table_option, writable_document
    from rcexplainer.disclosure import checked_disclosure, refuse_withheld

    settings = ExplainSettings(
        limit, predicted, search, parse_budget(budget), confidence, refine, not quiet, disclose, target_class
    )
    inputs = NamedInputs(model, dataset, graphs, task, seed, root, device, forward=forward)
    table = TableRequest(input_file, (smiles_column, id_column), out, engine, workers, part_rows, scores)
    if (option := table_option(table)) is not None:
        folder = f"a folder of results ({option})"
        refuse_together(folder, dataset=dataset, part=part, index=index, predicted=predicted, html=html)
        summary, document = explain_table(inputs, explainer, table, settings)
        show(document, summary.lines(), f"written to {out}", as_json)
        return
    if out is not None:
        writable_document(out)
    if html is not None:
        refuse_withheld("--html", "scores", checked_disclosure(disclose))
        writable_page(html)
    report = explain_named(
        inputs,
        explainer,
        input_file=input_file,
        columns=(smiles_column, id_column),
        part=part,
        index=index,
        settings=settings,
    )
    caption = report.caption()
    if report.remainder is not None:
        show_interrupted(report, out, as_json)
        raise report.remainder.interrupt
    if out is not None:
        write_document(out, report.to_json())
        partial_file(out).unlink(missing_ok=True)
        caption += f"; written to {out}"
    if html is not None:
        write_page(report, html)
        caption += f"; page written to {html}"
    show(report.to_json(), report.rows(), caption, as_json)
