"""The page that asks: the served instances, explained, on the page of `rc.viz.page`."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

from torch_geometric.data import Data

from rcexplainer.errors import TimeUpError
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.viz.page.contents import make_document
from rcexplainer.viz.page.curves import DeletionCurve, deletion_curves
from rcexplainer.viz.page.document import PageDocument, plain
from rcexplainer.viz.page.render import render_live_page


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
    """

    fitted: FittedExplainer
    graphs: Sequence[Data]
    index: Any
    texts: PageTexts

    @cached_property
    def html(self) -> tuple[str, str]:
        """The page and its content security policy; the first time, all instances are explained."""
        graphs = self.graphs if self.index is None else self.graphs[0]
        results = self.fitted.explain(graphs, index=self.index, on_error="keep")
        document = self._document(list(results), self._curves(results), self.texts.names)
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
        document = self._document([one], curves, [f"upload {number}"])
        return {**plain(document.instances[0]), "number": number}

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
