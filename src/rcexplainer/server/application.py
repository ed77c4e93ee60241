"""The application: an HTTP API, and the page that uses it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from torch import Tensor
from torch_geometric.data import Data

from rcexplainer import __version__
from rcexplainer.disclosure import Disclosure, checked_disclosure
from rcexplainer.errors import RCExplainerError, TimeUpError, require
from rcexplainer.explanation import Explanation
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.server.answers import ModelAnswers, class_labels, explanation_values, prediction_values
from rcexplainer.server.batching import BatchQueue, BusyError
from rcexplainer.server.instances import AskedInstance, KnownInstances
from rcexplainer.server.limits import AccessRules, Application, Guard, RequestLimits
from rcexplainer.server.live_page import LivePage, PageOnce, PageTexts
from rcexplainer.server.openapi import DELETED_SCHEMA, INSTANCE_SCHEMA, OPTIONS_SCHEMA, SMILES_SCHEMA, json_body
from rcexplainer.server.requests import SEARCH_SHARE, ExplainRequest, PredictRequest, RequestReader
from rcexplainer.server.uploads import GraphForm, RequestError, read_json
from rcexplainer.tasks.index import Pair

A = TypeVar("A")
LOG = logging.getLogger(__name__)
LAST_RUN = 1.0  # seconds by which a run of the model that began in time may be late
TOO_LATE = "there is no answer after {:g} s, the time limit: try again if others ask too, or ask about a smaller graph"
ROUTE_ERRORS = {
    404: "there is nothing at this address: /openapi.json says what there is",
    405: "this address takes another method: /openapi.json says which",
}
EXPLAIN_SUMMARIES: dict[Disclosure, str] = {
    "scores": "Edge scores and a counterfactual",
    "counterfactual": "A counterfactual; the scores of edges are withheld",
    "prediction": "The prediction; scores and counterfactuals are withheld",
}
NO_PAGE = "This server discloses the {} alone and has no page: /openapi.json says what can be asked.\n"
OWN_FAULT = "the model could not answer this; the server's log says why"


def make_app(
    fitted: FittedExplainer,
    graphs: Sequence[Data],
    index: Sequence[int | Pair] | None = None,
    *,
    rules: AccessRules | None = None,
    limits: RequestLimits | None = None,
    texts: PageTexts | None = None,
    disclose: Disclosure = "scores",
) -> Application:
    """Make a server for one explainer, as an ASGI application.

    Args:
        fitted: The explainer.
        graphs: The instances that clients can name by their number; for nodes and links the one graph they are in.
        index: The nodes or pairs of that graph; None for graphs.
        rules: Who may ask; by default only this machine, without a token.
        limits: How much a request may ask for.
        texts: What the page calls things, and how SMILES are read.
        disclose: What clients are told, as for `explain`. Without scores there is no page, whose drawings and curves
            show them, and no question about chosen edges.

    Returns:
        The application, for uvicorn or any other ASGI server.

    Raises:
        MissingExtraError: FastAPI is not installed.
        RCExplainerError: There is no graph, or no such disclosure.
    """
    require("fastapi", "app")
    from fastapi import FastAPI, Request
    from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
    from starlette.exceptions import HTTPException

    if not graphs:
        raise RCExplainerError("a server needs at least one graph")
    limits, disclose = limits or RequestLimits(), checked_disclosure(disclose)
    known = KnownInstances(
        [AskedInstance(graph) for graph in graphs]
        if index is None
        else [AskedInstance(graphs[0], one) for one in index]
    )
    texts = texts or PageTexts()
    live = LivePage(fitted, graphs, index, texts, limits.seconds)
    form = GraphForm.of(graphs[0], limits)
    reader = RequestReader(known, form, fitted.split.task, limits, texts.read_smiles, disclose)
    names, answers = class_labels(fitted), ModelAnswers(fitted, limits.seconds, disclose)
    worker = ThreadPoolExecutor(1, "model")
    predictions: BatchQueue[PredictRequest, Tensor] = BatchQueue(answers.predictions, worker, limits.waiting)
    explanations: BatchQueue[ExplainRequest, Explanation] = BatchQueue(answers.explanations, worker, limits.waiting)

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        yield
        worker.shutdown(wait=False, cancel_futures=True)

    # No pages of documentation: theirs load scripts from other hosts.
    app = FastAPI(title="rcexplainer", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)

    async def refused(_: object, error: Any) -> Any:
        sentence = ROUTE_ERRORS.get(error.status_code, str(error.detail))
        return JSONResponse({"error": sentence}, error.status_code, headers=error.headers)

    app.add_exception_handler(HTTPException, refused)

    async def answered(work: Awaitable[dict[str, Any]]) -> Any:
        status, values = await _outcome(work, limits.seconds)
        return JSONResponse(values, status)

    @app.get("/health", summary="Whether the server is there, and what it serves")
    async def health() -> dict[str, Any]:
        return {
            "status": "ok",
            "task": fitted.split.task,
            "classes": names,
            "instances": len(known.given),
            "seconds": limits.seconds,
            "disclose": disclose,
        }

    everything = disclose == "scores"
    deleted = DELETED_SCHEMA if everything else {}
    options = {name: own for name, own in OPTIONS_SCHEMA.items() if everything or name != "candidates"}

    @app.post("/predict", summary="The prediction for an instance", openapi_extra=json_body(INSTANCE_SCHEMA | deleted))
    async def predict(request: Request) -> Any:
        async def work() -> dict[str, Any]:
            asked = reader.predict(read_json(await request.body()))
            return prediction_values(await predictions.ask(asked), names)

        return await answered(work())

    @app.post(
        "/explain",
        summary=EXPLAIN_SUMMARIES[disclose],
        openapi_extra=json_body(INSTANCE_SCHEMA | options),
    )
    async def explain(request: Request) -> Any:
        async def work() -> dict[str, Any]:
            asked = reader.explain(read_json(await request.body()))
            if disclose == "prediction":
                plain = PredictRequest(asked.asked, frozenset(), asked.arrived)
                return prediction_values(await predictions.ask(plain), names)
            return explanation_values(await explanations.ask(asked), names)

        return await answered(work())

    if not everything:

        @app.get("/", include_in_schema=False)
        async def no_page() -> Any:
            return PlainTextResponse(NO_PAGE.format(disclose))

        return Guard(app, rules or AccessRules(), limits)

    made = PageOnce(live, worker)

    @app.get("/", include_in_schema=False)
    async def page() -> Any:
        text, policy = await made.html()
        policy = f"{policy}; frame-ancestors 'none'"
        return HTMLResponse(text, headers={"content-security-policy": policy})

    @app.post(
        "/instances",
        summary="An uploaded graph, for the page",
        openapi_extra=json_body(INSTANCE_SCHEMA | SMILES_SCHEMA),
    )
    async def upload(request: Request) -> Any:
        async def work() -> dict[str, Any]:
            asked = reader.upload(read_json(await request.body()))
            found = await explanations.ask(asked)
            number, until = known.add(asked.asked), asked.arrived + SEARCH_SHARE * limits.seconds
            return await asyncio.get_running_loop().run_in_executor(worker, live.shown, found, number, until)

        return await answered(work())

    return Guard(app, rules or AccessRules(), limits)


async def _outcome(work: Awaitable[dict[str, Any]], seconds: float) -> tuple[int, dict[str, Any]]:
    """Status and JSON values of an answer; of an error one sentence."""
    try:
        async with asyncio.timeout(seconds + LAST_RUN):
            return 200, await work
    except (TimeUpError, TimeoutError):
        return 504, {"error": TOO_LATE.format(seconds)}
    except RequestError as error:
        return error.status, {"error": str(error)}
    except BusyError as error:
        return 503, {"error": str(error)}
    except RCExplainerError as error:
        return 422, {"error": " ".join(str(error).split())}
    except Exception:
        LOG.exception("a request failed")
        return 500, {"error": OWN_FAULT}
