"""The server of what a command line names."""

import socket
from typing import Any

from rcexplainer.cli.input_file import SMILES_SETS
from rcexplainer.cli.instance_index import graphs_at
from rcexplainer.cli.named_instances import NamedInstances
from rcexplainer.datasets.smiles_file import smiles_graph
from rcexplainer.disclosure import checked_disclosure
from rcexplainer.errors import MissingExtraError, RCExplainerError, require
from rcexplainer.server.application import make_app
from rcexplainer.server.limits import AccessRules, Application, RequestLimits
from rcexplainer.server.live_page import PageTexts


def make_server(
    opened: NamedInstances, limit: int, rules: AccessRules, limits: RequestLimits, disclose: str = "scores"
) -> Application:
    """Make the application.

    Args:
        opened: Network, explainer and instances.
        limit: Only the first of these instances.
        rules: Who may ask.
        limits: How much.
        disclose: What clients are told: scores, counterfactual or prediction.

    Raises:
        RCExplainerError: There is nothing to serve, or no such disclosure.
    """
    data, chosen = opened.network.data, opened.chosen[:limit]
    if not chosen:
        raise RCExplainerError(f"there is nothing to serve: no {data.task} of {data.name} was chosen")
    positions = [one.position for one in chosen]
    within = data.task != "graph"
    fitted = opened.fitted
    texts = PageTexts(
        title=f"{data.name}{f', {opened.part}' if opened.part else ''}: ask the model",
        names=[str(one.index) if isinstance(one.index, int) else "–".join(map(str, one.index)) for one in chosen],
        node_names=data.node_names,
        edge_names=data.edge_names,
        read_smiles=smiles_graph if data.name.startswith(SMILES_SETS) and _reads_smiles() else None,
    )
    graphs = [data.graph] if within else graphs_at(data, positions)
    return make_app(
        fitted,
        graphs,
        positions if within else None,
        rules=rules,
        limits=limits,
        texts=texts,
        disclose=checked_disclosure(disclose),
    )


def _reads_smiles() -> bool:
    """Whether RDKit is installed."""
    try:
        require("rdkit.Chem", "chem")
    except MissingExtraError:
        return False
    return True


def listen(app: Application, rules: AccessRules, port: int) -> None:
    """Print the address and answer requests until the process is interrupted.

    Args:
        app: The application.
        rules: Who may ask; they have the address.
        port: The port; 0: any free one.

    Raises:
        RCExplainerError: The address cannot be used.
    """
    import uvicorn

    family = socket.AF_INET6 if ":" in rules.host else socket.AF_INET
    with socket.socket(family) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((rules.host, port))
            bound.listen(128)  # whoever reads the address can connect at once
        except OSError as error:
            raise RCExplainerError(f"cannot listen at {rules.host}, port {port}: {error.strerror or error}") from None
        shown = f"[{rules.host}]" if family == socket.AF_INET6 else rules.host
        address = f"http://{shown}:{bound.getsockname()[1]}/"
        print(f"{address}{'?token=…' if rules.token else ''} (Ctrl-C ends it)", flush=True)
        settings: dict[str, Any] = {"log_level": "warning", "ws": "none", "limit_concurrency": 512, "lifespan": "on"}
        uvicorn.Server(uvicorn.Config(app, **settings)).run(sockets=[bound])
