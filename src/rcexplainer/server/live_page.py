"""The page that asks: the served instances, explained, on the page of `rc.viz.page`."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any

from torch_geometric.data import Data

from rcexplainer.core.budget import Deadline
from rcexplainer.errors import TimeUpError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.viz.page.contents import make_document
from rcexplainer.viz.page.curves import DeletionCurve, deletion_curves
from rcexplainer.viz.page.document import PageDocument, plain
from rcexplainer.viz.page.render import render_live_page

PIECE_INSTANCES = 8  # explained together, and after them requests that wait
ExplainedPiece = tuple[list[Explanation | Failure], list[DeletionCurve | None]]


@dataclass(frozen=True)
class PageTexts:
    """What a page calls things.

    Attributes:
        title: Its heading.
        names: What instances are called whose graph has no `id`; None: their numbers.
        node_names: What each one-hot node feature stands for.
        edge_names: What each one-hot entry of `edge_attr` stands for.
        read_smiles: Makes a graph for the model from a SMILES; None: it is no model of such molecules.
    """

    title: str = "Ask the model"
    names: Sequence[str] | None = None
    node_names: Sequence[str] = ()
    edge_names: Sequence[str] = ()
    read_smiles: Callable[[str], Data] | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class LivePage:
    """Makes the page, and what it shows of an upload.

    Attributes:
        fitted: The explainer.
        graphs: The instances; for nodes and links the one graph they are in.
        index: The nodes or pairs of that graph; None for graphs.
        texts: What things are called.
        seconds: What a piece of the page may take: other requests wait that long.
    """

    fitted: FittedExplainer
    graphs: Sequence[Data]
    index: Any
    texts: PageTexts
    seconds: float = inf

    def pieces(self) -> list[slice]:
        """The instances of the page in pieces, each of which `explained` takes."""
        number = len(self.graphs if self.index is None else self.index)
        return [slice(start, start + PIECE_INSTANCES) for start in range(0, number, PIECE_INSTANCES)]

    def explained(self, piece: slice) -> ExplainedPiece:
        """Explain a piece of the instances; searches end with the best they have when its time is up.

        Args:
            piece: Which instances.
        """
        began = time.monotonic()
        graphs = self.graphs[piece] if self.index is None else self.graphs[0]
        index = None if self.index is None else self.index[piece]
        budget = None if self.seconds == inf else Deadline(began + self.seconds / 2)
        results = list(self.fitted.explain(graphs, index=index, on_error="keep", budget=budget))
        try:
            return results, self._curves(results, began + self.seconds)
        except TimeUpError:
            return results, [None] * len(results)

    def html(self, pieces: Sequence[ExplainedPiece]) -> tuple[str, str]:
        """Put the page together.

        Args:
            pieces: All pieces, explained.

        Returns:
            The page and its content security policy.
        """
        results = [one for piece, _ in pieces for one in piece]
        curves = [curve for _, piece in pieces for curve in piece]
        document = self._document(results, curves, self.texts.names)
        return render_live_page(document, self.fitted.split.task, self.texts.read_smiles is not None)

    def shown(self, one: Explanation, number: int, until: float) -> dict[str, Any]:
        """An explained upload as an instance of the page.

        Args:
            one: Its explanation.
            number: Its number at the server.
            until: A moment of `time.monotonic()`; if its deletion curve is not there by then, it has none.

        Returns:
            JSON values.
        """
        curves: list[DeletionCurve | None] = [None]
        with suppress(TimeUpError):
            curves = self._curves([one], until)
        called = str(one.graph.get("id") or f"upload {number}")
        values = plain(self._document([one], curves, [called]).instances[0])
        if one.index is not None:  # nodes and links are called alike in every graph
            values["name"] = f"{called}, {values['name']}"
        return {**values, "number": number}

    def _curves(self, results: Iterable[Explanation | Failure], until: float = inf) -> list[DeletionCurve | None]:
        """Deletion curves; None for failures."""
        results = list(results)
        good = [one for one in results if isinstance(one, Explanation)]
        found = iter(deletion_curves(replace(self.fitted.split, until=until), good))
        return [next(found) if isinstance(one, Explanation) else None for one in results]

    def _document(
        self,
        results: list[Explanation | Failure],
        curves: list[DeletionCurve | None],
        names: Sequence[str] | None,
    ) -> PageDocument:
        texts = self.texts
        return make_document({"": results}, {"": curves}, texts.title, names, texts.node_names, texts.edge_names)


class PageOnce:
    """The page, made for its first visitor and kept; requests of others are answered between its pieces.

    Args:
        live: Makes it.
        worker: The one thread in which the model is run.
    """

    def __init__(self, live: LivePage, worker: Executor) -> None:
        self.live, self.worker = live, worker
        self._lock = asyncio.Lock()
        self._made: tuple[str, str] | None = None

    async def html(self) -> tuple[str, str]:
        """The page and its content security policy."""
        run = partial(asyncio.get_running_loop().run_in_executor, self.worker)
        async with self._lock:
            if self._made is None:
                pieces = [await run(self.live.explained, piece) for piece in self.live.pieces()]
                self._made = await run(self.live.html, pieces)
            return self._made
