"""`rcexplainer serve`: a page and an HTTP API that answer "what if"."""

from pathlib import Path
from typing import Annotated

import typer

from rcexplainer.cli.options import (
    INPUT,
    DatasetOrGraphs,
    Device,
    Graphs,
    Model,
    Root,
    SplitSeed,
    Task,
    Threads,
)
from rcexplainer.cli.threads import use_threads

WHICH, ADDRESS = "Which graphs, nodes or links", "Address"  # groups of options in the help
FILES = "--dataset nitro --model gnn.safetensors --explainer explainer.safetensors"
OWN = "--model my_package.gnn:load_model --graphs my_package.data:load_graphs \\\n    --explainer explainer.safetensors"
EXAMPLES = (
    f"rcexplainer serve {FILES}",
    f"rcexplainer serve {OWN} --index 3,5,8",
    f"rcexplainer serve {FILES} \\\n    --host 0.0.0.0 --token $(openssl rand -hex 16)",
)


def serve(
    model: Model,
    explainer: Annotated[
        Path,
        typer.Option(metavar="FILE", rich_help_panel=INPUT, help="Explainer, a file that `rcexplainer fit` wrote."),
    ],
    dataset: DatasetOrGraphs = None,
    graphs: Graphs = None,
    task: Task = None,
    seed: SplitSeed = None,
    root: Root = None,
    part: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=WHICH,
            help="Part of the split: train, val or test (default: test of a dataset; all of your own graphs).",
        ),
    ] = None,
    index: Annotated[
        list[str] | None,
        typer.Option(metavar="N,N…", rich_help_panel=WHICH, help="Only these, as for `rcexplainer explain`."),
    ] = None,
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
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Serve a page that answers "what if": delete edges by a click, search, upload; and an HTTP API."""
    use_threads(threads)
    from rcexplainer.cli.explanations import open_named
    from rcexplainer.cli.served_page import listen, make_server
    from rcexplainer.errors import require
    from rcexplainer.server.limits import AccessRules, RequestLimits

    require("fastapi", "app")
    require("uvicorn", "app")
    rules = AccessRules(host, token, frozenset(own.lower() for own in name or ()))
    opened = open_named(
        model,
        explainer,
        dataset=dataset,
        graphs=graphs,
        task=task,
        part=part,
        index=index,
        seed=seed,
        root=root,
        device=device,
    )
    listen(make_server(opened, limit, rules, RequestLimits(seconds=seconds)), rules, port)
