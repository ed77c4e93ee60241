"""What a client asks: an instance, edges that are deleted from it, and options of the search."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.disclosure import Disclosure
from rcexplainer.method.results import Search
from rcexplainer.server.instances import AskedInstance, KnownInstances
from rcexplainer.server.limits import RequestLimits
from rcexplainer.server.uploads import GraphForm, RequestError, short
from rcexplainer.tasks.index import Pair

INSTANCE_FIELDS = ("instance", "graph", "index")
PREDICT_FIELDS = (*INSTANCE_FIELDS, "deleted")
EXPLAIN_FIELDS = (*INSTANCE_FIELDS, "search", "target_class", "candidates", "confidence", "refine", "budget")
LONGEST_SMILES = 1000
SEARCH_SHARE = 0.75  # of the time of a request: the rest is for the model's last word on what was found
NODE_PAIRS = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}}


@dataclass(frozen=True)
class SearchOptions:
    """How to explain; requests with the same options are answered together.

    Attributes:
        search: prefix, greedy or none.
        target_class: The class to reach; None: any other.
        confidence: The probability it must reach; None: it need only be the predicted class.
        refine: Model runs for the ranking; None: none.
        seconds: From the arrival of the request to the end of refinement and search.
    """

    search: Search
    target_class: int | None
    confidence: float | None
    refine: int | None
    seconds: float


@dataclass(frozen=True, eq=False)
class PredictRequest:
    """Predict an instance without the edges between these pairs of nodes."""

    asked: AskedInstance
    deleted: frozenset[Pair]
    arrived: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, eq=False)
class ExplainRequest:
    """Explain an instance; only edges in `candidates`, a mask of the columns, may be deleted (None: all)."""

    asked: AskedInstance
    options: SearchOptions
    candidates: Tensor | None
    arrived: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, eq=False)
class RequestReader:
    """Reads requests.

    Attributes:
        known: The instances that can be named by their number.
        form: What uploaded graphs look like.
        task: graph, node or link.
        limits: How much a request may ask for.
        read_smiles: Makes a graph from a SMILES; None: the model is not one of such molecules.
        disclose: What answers tell; fields that would find out more are refused.
    """

    known: KnownInstances
    form: GraphForm
    task: str
    limits: RequestLimits
    read_smiles: Callable[[str], Data] | None = None
    disclose: Disclosure = "scores"

    def predict(self, values: dict[str, Any]) -> PredictRequest:
        """Read a request for a prediction.

        Args:
            values: The JSON object.

        Raises:
            RequestError: A field is unknown or has no valid value.
        """
        _refuse_unknown(values, PREDICT_FIELDS)
        self._refuse_questions_of_edges(values, "deleted")
        return PredictRequest(self.instance(values), _pairs(values.get("deleted"), "deleted"))

    def explain(self, values: dict[str, Any]) -> ExplainRequest:
        """Read a request for an explanation.

        Args:
            values: The JSON object.

        Raises:
            RequestError: A field is unknown or has no valid value.
        """
        _refuse_unknown(values, EXPLAIN_FIELDS)
        self._refuse_questions_of_edges(values, "candidates")
        asked, candidates = self.instance(values), None
        if values.get("candidates") is not None:
            candidates = edge_columns(asked.graph.edge_index, _pairs(values["candidates"], "candidates"))
        return ExplainRequest(asked, self._options(values), candidates)

    def _refuse_questions_of_edges(self, values: dict[str, Any], name: str) -> None:
        """With chosen edges deleted, or left, answers tell which edges there are and what each of them does."""
        if self.disclose != "scores" and name in values:
            raise RequestError(f"this server discloses the {self.disclose} alone: leave {name} out", 403)

    def upload(self, values: dict[str, Any]) -> ExplainRequest:
        """Read an upload: a graph, or a molecule as SMILES.

        Args:
            values: The JSON object.

        Raises:
            RequestError: It is neither, or not valid.
            DatasetError: The SMILES cannot be read.
        """
        _refuse_unknown(values, (*INSTANCE_FIELDS, "smiles"))
        if "smiles" not in values:
            return ExplainRequest(self.instance(values), self._upload_options(), None)
        smiles = values["smiles"]
        if self.read_smiles is None or len(values) > 1:
            raise RequestError("smiles is for models of molecules in a CSV file or in nitro, and stands alone")
        if not isinstance(smiles, str) or len(smiles) > LONGEST_SMILES:
            raise RequestError(f"smiles must be a text of at most {LONGEST_SMILES} characters")
        return ExplainRequest(AskedInstance(self.read_smiles(smiles)), self._upload_options(), None)

    def instance(self, values: dict[str, Any]) -> AskedInstance:
        """Find the instance of a request: one by its number, or an uploaded graph.

        Args:
            values: The JSON object.

        Raises:
            RequestError: There is none, or the upload is not valid.
        """
        if ("instance" in values) == ("graph" in values):
            raise RequestError("give either instance, the number of a known one, or graph")
        if "instance" in values:
            if "index" in values:
                raise RequestError("index belongs to graph: an instance is a node or link already")
            return self.known[values["instance"]]
        return AskedInstance(self.form.graph(values["graph"]), self._index(values.get("index")))

    def _index(self, value: object) -> int | Pair | None:
        if self.task == "graph":
            if value is not None:
                raise RequestError("index is for models of nodes and links; this one is for graphs")
            return None
        if self.task == "node":
            if type(value) is not int:
                raise RequestError("give index, the number of the node to explain")
            return value
        if not isinstance(value, list) or len(_pairs([value], "index")) != 1:
            raise RequestError("give index, the two nodes of the link to explain, such as [0, 5]")
        return value[0], value[1]

    def _upload_options(self) -> SearchOptions:
        """Half of the time that a search has: the rest is for the deletion curve on the page."""
        options = self._options({})
        return replace(options, seconds=options.seconds / 2)

    def _options(self, values: dict[str, Any]) -> SearchOptions:
        search = values.get("search", "prefix")
        if search not in get_args(Search):
            raise RequestError(f"search must be one of {', '.join(get_args(Search))}")
        confidence, seconds = _number(values, "confidence", 1.0), _number(values, "budget", math.inf)
        refine = _whole(values, "refine", 1, self.limits.refine)
        if search == "none" and (confidence is not None or (seconds is not None and refine is None)):
            unused = "budget" if confidence is None else "confidence"
            raise RequestError(f"{unused} is for a search, and search is none: leave {unused} out, or choose a search")
        most = SEARCH_SHARE * self.limits.seconds
        return SearchOptions(
            search=search,
            target_class=_whole(values, "target_class", 0, 2**31),
            confidence=confidence,
            refine=refine,
            seconds=most if seconds is None else min(seconds, most),
        )


def edge_columns(edge_index: Tensor, pairs: frozenset[Pair]) -> Tensor:
    """Find edges by their nodes.

    Args:
        edge_index: [2, E] the edges.
        pairs: Pairs of nodes, the smaller number first.

    Returns:
        [E] whether an edge, in either direction, is between two of these nodes.

    Raises:
        RequestError: There is no edge between the nodes of a pair.
    """
    low, high = edge_index.min(0).values.tolist(), edge_index.max(0).values.tolist()
    ends = list(zip(low, high, strict=True))
    if missing := sorted(pairs.difference(ends)):
        raise RequestError(f"there is no edge between nodes {missing[0][0]} and {missing[0][1]} that can be deleted")
    return torch.tensor([pair in pairs for pair in ends], dtype=torch.bool)


def _refuse_unknown(values: dict[str, Any], known: tuple[str, ...]) -> None:
    if unknown := sorted(values.keys() - set(known)):
        raise RequestError(f"the request has unknown fields: {short(', '.join(unknown))}; known: {', '.join(known)}")


def _pairs(value: object, name: str) -> frozenset[Pair]:
    """Pairs of node numbers, the smaller first."""
    found = [] if value is None else value
    if not isinstance(found, list):
        raise RequestError(f"{name} must be a list of pairs of node numbers, such as [[0, 1]]")
    pairs = set()
    for pair in found:
        if not isinstance(pair, list) or len(pair) != 2 or any(type(node) is not int or node < 0 for node in pair):
            raise RequestError(f"{name} must be pairs of node numbers from 0 on, such as [[0, 1]]")
        pairs.add((min(pair), max(pair)))
    return frozenset(pairs)


def _whole(values: dict[str, Any], name: str, least: int, most: int) -> int | None:
    value = values.get(name)
    if value is not None and (type(value) is not int or not least <= value <= most):
        raise RequestError(f"{name} must be a whole number from {least} to {most}")
    return value


def _number(values: dict[str, Any], name: str, most: float) -> float | None:
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise RequestError(f"{name} must be a number above 0" + (f" and at most {most:g}" if most < math.inf else ""))
    return float(min(value, 1e6))
