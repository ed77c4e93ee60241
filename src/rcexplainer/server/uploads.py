"""JSON of a client as a graph, or a refusal in one clear sentence. No file is opened and nothing is unpickled."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.graph_checks import SHARED_ATTRIBUTES
from rcexplainer.server.limits import RequestLimits

LARGEST_WHOLE = 2**53  # beyond it JSON numbers are not exact
MOST_NESTED = 16
STRINGS, BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"'), re.compile(rb"[\[\]{}]")
ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half of a character: such a text can be sent to nobody
PER_NODE = frozenset({"pos"})  # of the shared attributes; the others have a row for each edge


class RequestError(RCExplainerError):
    """A request that cannot be answered.

    Args:
        message: One sentence for the client.
        status: The HTTP status, 4xx.
    """

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


def read_json(body: bytes) -> dict[str, Any]:
    """Parse the body of a request.

    Args:
        body: Its bytes.

    Returns:
        The values of a JSON object.

    Raises:
        RequestError: It is no JSON object, or has NaN or infinite numbers.
    """
    if _depth(body) > MOST_NESTED:
        raise RequestError(f"the body has more than {MOST_NESTED} arrays or objects inside each other", 400)
    try:
        values = json.loads(body, parse_constant=_no_number)
        if ESCAPED_SURROGATE.search(body):
            json.dumps(values, ensure_ascii=False).encode()
    except RequestError:
        raise
    except UnicodeEncodeError:
        raise RequestError("the body has half of a character, a surrogate that stands alone", 400) from None
    except ValueError:  # also of bytes that are no text, and of numbers with thousands of digits
        raise RequestError("the body is not JSON", 400) from None
    if not isinstance(values, dict):
        raise RequestError('the body must be a JSON object, such as {"instance": 0}')
    return values


def _depth(body: bytes) -> int:
    """How many arrays and objects are inside each other, as far as that is above `MOST_NESTED`."""
    depth = deepest = 0
    for bracket in BRACKETS.findall(STRINGS.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > MOST_NESTED:
            break
    return deepest


def _no_number(text: str) -> NoReturn:
    raise RequestError(f"the body has the number {text}: JSON has none, and the model takes finite numbers only", 400)


@dataclass(frozen=True)
class GraphForm:
    """What graphs of the served model look like.

    Attributes:
        width: Node features; None: graphs have none, and uploads say `num_nodes`.
        dtype: Type of the node features.
        shared: Trailing shape and type of the other attributes that graphs have, such as `edge_attr`.
        limits: How large an upload may be.
    """

    width: int | None
    dtype: torch.dtype | None
    shared: dict[str, tuple[tuple[int, ...], torch.dtype]]
    limits: RequestLimits

    @classmethod
    def of(cls, graph: Data, limits: RequestLimits) -> "GraphForm":
        """Take the form of a graph.

        Args:
            graph: A graph of the served model.
            limits: How large an upload may be.
        """
        found = ((name, graph.get(name)) for name in SHARED_ATTRIBUTES)
        shared = {name: (tuple(own.shape[1:]), own.dtype) for name, own in found if isinstance(own, Tensor)}
        if graph.x is None:
            return cls(None, None, shared, limits)
        return cls(int(graph.x.size(-1)) if graph.x.dim() > 1 else 1, graph.x.dtype, shared, limits)

    def graph(self, values: object) -> Data:
        """Convert an uploaded graph.

        Args:
            values: `{"edge_index": [[sources], [targets]], "x": [[features of a node], …], "edge_attr": …}`.

        Returns:
            The graph.

        Raises:
            RequestError: It is malformed, too large, or not like the graphs of the model.
        """
        if not isinstance(values, dict):
            raise RequestError('graph must be an object, such as {"edge_index": [[0, 1], [1, 0]], "x": [[1.0], [0.5]]}')
        known = {"edge_index", "x", "num_nodes", "id", *self.shared}
        if unknown := sorted(map(str, values.keys() - known)):
            raise RequestError(
                f"the graph has unknown fields: {short(', '.join(unknown))}; known: {', '.join(sorted(known))}"
            )
        edges = self._edge_index(values.get("edge_index"))
        nodes = self._num_nodes(values)
        if edges.numel() and int(edges.max()) >= nodes:
            raise RequestError(
                f"edge_index names node {int(edges.max())}, but the graph has {nodes} nodes, counted from 0"
            )
        graph = Data(edge_index=edges, num_nodes=nodes)
        if self.width is not None and self.dtype is not None:
            graph.x = _rows(values.get("x"), "x", nodes, (self.width,), self.dtype)
        for name, (shape, dtype) in self.shared.items():
            count = nodes if name in PER_NODE else edges.size(1)
            graph[name] = _rows(values.get(name), name, count, shape, dtype)
        if isinstance(values.get("id"), str):
            graph.id = short(values["id"])
        return graph

    def _edge_index(self, value: object) -> Tensor:
        if not isinstance(value, list) or len(value) != 2 or not all(isinstance(row, list) for row in value):
            raise RequestError("edge_index must be two lists of node numbers, [[sources], [targets]]")
        if len(value[0]) != len(value[1]):
            raise RequestError(
                f"edge_index has {len(value[0])} sources and {len(value[1])} targets: give one of each per edge"
            )
        if len(value[0]) > self.limits.edges:
            raise RequestError(
                f"the graph has {len(value[0]):,} edges; this server takes up to {self.limits.edges:,}", 413
            )
        for row in value:
            for node in row:
                if type(node) is not int or not 0 <= node < LARGEST_WHOLE:
                    raise RequestError(f"edge_index must have whole numbers from 0 on, got {short(repr(node))}")
        return torch.tensor(value, dtype=torch.long).reshape(2, -1)

    def _num_nodes(self, values: dict[str, Any]) -> int:
        nodes = values.get("num_nodes")
        if self.width is not None:
            nodes = len(values["x"]) if isinstance(values.get("x"), list) else None
            if nodes is None:
                raise RequestError(f"the graph needs x, a list of {self.width} numbers for each node")
        if type(nodes) is not int or nodes < 1:
            raise RequestError(f"the graph needs at least one node, got {short(repr(nodes))}")
        if nodes > self.limits.nodes:
            raise RequestError(f"the graph has {nodes:,} nodes; this server takes up to {self.limits.nodes:,}", 413)
        return nodes


def _rows(value: object, name: str, count: int, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """`count` rows of numbers, each of the given shape (no or one dimension), as a tensor of finite values."""
    if not isinstance(value, list):
        raise RequestError(f"the graph needs {name}, a list with an entry for each of {count}")
    if len(value) != count:
        raise RequestError(f"{name} has {len(value)} entries, the graph needs {count}")
    width = shape[0] if shape else None
    for row in value:
        if width is not None and (not isinstance(row, list) or len(row) != width):
            got = f"a list of {len(row)}" if isinstance(row, list) else short(repr(row))
            raise RequestError(f"every entry of {name} must be a list of {width} numbers, got {got}")
        for number in row if width is not None else (row,):
            _check_number(number, name, dtype)
    found = torch.tensor(value, dtype=dtype).reshape(count, *shape)
    if found.is_floating_point() and not bool(found.isfinite().all()):
        raise RequestError(f"{name} has numbers that are infinite as {str(dtype).removeprefix('torch.')}")
    return found


def _check_number(number: object, name: str, dtype: torch.dtype) -> None:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise RequestError(f"{name} must have finite numbers, got {short(repr(number))}")
    if not dtype.is_floating_point and (number != int(number) or abs(number) >= LARGEST_WHOLE):
        raise RequestError(f"{name} must have whole numbers, got {short(repr(number))}")
    if isinstance(number, int) and abs(number) >= LARGEST_WHOLE:
        raise RequestError(f"{name} has a number beyond 2⁵³")


def short(text: str, most: int = 60) -> str:
    """A text of a client that goes into a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
