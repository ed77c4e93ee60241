"""`rcexplainer serve`: a page and an HTTP API that answer "what if"."""

from typing import Annotated

import typer

from rcexplainer.cli.example_words import OWN_EXPLAINER, SAVED_EXPLAINER
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.options import (
    WHICH,
    DatasetOrGraphs,
    Device,
    DiscloseOption,
    ExplainerFile,
    ForwardName,
    GraphsName,
    IndexTexts,
    ModelName,
    PartName,
    Root,
    SplitSeed,
    TaskOption,
    Threads,
)
from rcexplainer.cli.threads import use_threads

ADDRESS = "Address"  # a group of options in the help
EXAMPLES = (
    f"rcexplainer serve {SAVED_EXPLAINER}",
    f"rcexplainer serve {OWN_EXPLAINER} --index 3,5,8",
    f"rcexplainer serve {SAVED_EXPLAINER} \\\n    --host 0.0.0.0 --token $(openssl rand -hex 16)",
)


def serve(
    model: ModelName,
    explainer: ExplainerFile,
    dataset: DatasetOrGraphs = None,
    graphs: GraphsName = None,
    task: TaskOption = None,
    forward: ForwardName = None,
    seed: SplitSeed = None,
    root: Root = None,
    part: PartName = None,
    index: IndexTexts = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", rich_help_panel=WHICH, help="Only the first N of these.")
    ] = 100,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            rich_help_panel=ADDRESS,
            help="Address to listen at. Another one than this machine's own needs --token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", rich_help_panel=ADDRESS, help="Port; 0: any free one.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar="RCEXPLAINER_TOKEN",
            rich_help_panel=ADDRESS,
            help="Secret that every request must carry.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST", rich_help_panel=ADDRESS, help="Further name of this server in addresses; may be repeated."
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=0.01,
            metavar="S",
            rich_help_panel=ADDRESS,
            help="Time of one request; a search ends in time, with the best so far.",
        ),
    ] = 10.0,
    disclose: DiscloseOption = "scores",
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Serve a page on which a click deletes an edge and the model answers, and an HTTP API."""
    use_threads(threads)
    from rcexplainer.cli.named_instances import open_named
    from rcexplainer.cli.served_page import listen, make_server
    from rcexplainer.datasets.molecule_rows import rows_quoted
    from rcexplainer.errors import require
    from rcexplainer.server.limits import AccessRules, RequestLimits

    require("fastapi", "app")
    require("uvicorn", "app")
    rules = AccessRules(host, token, frozenset(own.lower() for own in name or ()))
    inputs = NamedInputs(model, dataset, graphs, task, seed, root, device, forward=forward)
    with rows_quoted(disclose == "scores"):
        opened = open_named(inputs, explainer, part, index)
    listen(make_server(opened, limit, rules, RequestLimits(seconds=seconds), disclose), rules, port)
