"""Every reader of foreign bytes as a function from bytes, with small valid inputs to begin from.

A reader of files gets its bytes in a scratch file. What has several files, or a checksum that no mutation would
survive, is put together from the bytes: their first one chooses how.
"""

import io
import json
import math
import random
import shutil
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import rcexplainer as rc
from rcexplainer.datasets.smiles_file import csv, smiles_graph, unlabelled
from rcexplainer.datasets.tu import by_name
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.model_file import GNN_FORMAT, load_gnn, save_gnn
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.saving.files import read_tensors, write_tensors
from rcexplainer.server.instances import AskedInstance, KnownInstances
from rcexplainer.server.limits import RequestLimits
from rcexplainer.server.requests import RequestReader, edge_columns
from rcexplainer.server.uploads import GraphForm, read_json
from rcexplainer.sources import MappedGraph
from rcexplainer.testing.sample_graphs import sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import random_network

Read = Callable[[bytes, Path], object]


@dataclass(frozen=True)
class Reader:
    """A reader under test.

    Attributes:
        read: Reads bytes; an answer or an `RCExplainerError` is right, anything else is a finding.
        seeds: Small inputs that can be read, given a folder to make them in.
        longest: Bytes of an input at most.
    """

    read: Read
    seeds: Callable[[Path], Sequence[bytes]]
    longest: int = 4096


# ---- TU folders: the files of a set, one after the other with a zero byte between them

TU_PARTS = (
    "A", "graph_indicator", "graph_labels", "node_labels", "edge_labels", "node_attributes", "edge_attributes",
    "graph_attributes",
)  # fmt: skip


def read_tu(content: bytes, scratch: Path) -> object:
    raw = scratch / "F" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    parts = content.split(b"\x00")
    for place, name in enumerate((*TU_PARTS, "truth")):
        path = raw / (f"F_{name}.txt" if name != "truth" else "edge_ground_truth.txt")
        if (place < len(parts) and parts[place]) or place == 0:  # without the first, the set would be downloaded
            path.write_bytes(parts[place])
        else:
            path.unlink(missing_ok=True)
    return by_name("F", scratch, 0)


def tu_seeds(scratch: Path) -> list[bytes]:
    edges = b"1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n6, 7\n7, 6\n"
    whole = [edges, b"1\n1\n1\n2\n2\n3\n3\n", b"0\n1\n0\n", b"0\n1\n2\n0\n1\n1\n2\n", b"0\n0\n1\n1\n0\n0\n1\n1\n"]
    real = [b"0.5, 1\n1, 2\n0.25, 3\n1e3, 4\n-1, 5\n6, 6\n7, 7\n", b"1.0\n" * 8, b"", b"1\n1\n0\n0\n0\n0\n1\n1\n"]
    return [b"\x00".join(whole[:3]), b"\x00".join(whole), b"\x00".join([*whole, *real])]


# ---- CSV tables and SMILES


def read_csv(content: bytes, scratch: Path) -> object:
    path = scratch / "table.csv"
    path.write_bytes(content)
    found = [
        outcome(lambda: csv(path)),
        outcome(lambda: unlabelled(path)),
        outcome(lambda: list(rc.datasets.GraphTable(path))),
    ]
    if all(isinstance(one, RCExplainerError) for one in found):
        raise found[0]  # refused by all of them: counted as refused
    return found


def outcome(call: Callable[[], object]) -> Any:
    """What a call gives, or our error: other readers of the same bytes are to be called too."""
    try:
        return call()
    except RCExplainerError as error:
        return error


def csv_seeds(scratch: Path) -> list[bytes]:
    return [
        b"smiles,label\nCCO,0\nc1ccccc1,1\nCC(=O)O,0\nC[N+](=O)[O-],1\n",
        b"id;smiles;class\n1;CCO;yes\n2;c1ccccc1N;no\n3;;no\n",
        b'\xef\xbb\xbfname\tSMILES\ty\n"a\nb"\tCCO\t1\nx\tC#N\t0.5\n',
    ]


def read_smiles(content: bytes, scratch: Path) -> object:
    return smiles_graph(content.decode("utf-8", "replace"))


def smiles_seeds(scratch: Path) -> list[bytes]:
    known = [
        "CCO",
        "c1ccccc1[N+](=O)[O-]",
        "[Na+].[Cl-]",
        "C/C=C\\C",
        "[13C@@H](F)(Cl)Br",
        "C1CC1CC2CC2",
        "[*]C",
        "N->[Fe]",
    ]
    return [text.encode() for text in known]


# ---- Parquet: the bytes of a file, or a table written as they say


def read_parquet(content: bytes, scratch: Path) -> object:
    path = scratch / "table.parquet"
    if not content or content[0] % 2:
        path.write_bytes(content[1:])
    else:
        _write_table(content[1:], path)
    return list(rc.datasets.GraphTable(path))


def _write_table(content: bytes, path: Path) -> None:
    """A table of graphs whose types, sizes and values follow the bytes."""
    import pyarrow as pa
    from pyarrow import parquet

    draw, rows = Draw(content), 0
    names = ("edge_index", "x", "num_nodes", "edge_attr", "edge_weight", "edge_type", "pos", "id", "smiles")
    rows, columns = draw.below(4), {}
    for name in names:
        if not draw.below(5) and name != "edge_index":
            continue
        depth = draw.below(3) if not draw.below(4) else {"edge_index": 2, "num_nodes": 0, "x": 2}.get(name, 1)
        kind = draw.pick([pa.int64(), pa.float32(), pa.int8(), pa.uint64(), pa.float64(), pa.string(), pa.float16()])
        if draw.below(4):
            kind = pa.int64() if name in ("edge_index", "num_nodes", "edge_type") else pa.float32()
        values = [draw.nested(depth, kind, name == "edge_index") for _ in range(rows)]
        for _ in range(depth):
            kind = pa.large_list(kind) if not draw.below(6) else pa.list_(kind)
        columns[name] = pa.array(values, kind)
    parquet.write_table(pa.table(columns), path)


class Draw:
    """Choices that follow bytes; zeros once they are used up."""

    def __init__(self, content: bytes) -> None:
        self.stream = io.BytesIO(content)

    def below(self, most: int) -> int:
        """A number from 0 to most − 1."""
        found = self.stream.read(1)
        return found[0] % most if found else 0

    def pick(self, values: Sequence[Any]) -> Any:
        return values[self.below(len(values))]

    def nested(self, depth: int, kind: Any, pair: bool = False) -> Any:
        """Lists of lists of numbers, or a null."""
        if not self.below(16):
            return None
        if depth:
            return [self.nested(depth - 1, kind) for _ in range(2 if pair and self.below(8) else self.below(5))]
        text = str(kind)
        if text == "string":
            return self.pick(["", "CCO", "x", "c1ccccc1"])
        whole = [0, 1, 2, 0, 1, 3, 100]
        if text.startswith("int"):
            return self.pick([*whole, -1, 127])
        if text.startswith("uint"):
            return self.pick([*whole, 2**64 - 1])
        number = self.pick([0.0, 1.0, 2.5, math.nan, math.inf, -1.0, 60000.0])
        if text == "halffloat":
            import numpy as np

            return np.float16(number)
        return number


def parquet_seeds(scratch: Path) -> list[bytes]:
    graphs = sample_graphs(2)
    for graph in graphs:
        graph.y = None
    path = rc.datasets.to_parquet(graphs, scratch / "seed.parquet")
    drawn = [b"\x00" + random.Random(seed).randbytes(300) for seed in range(12)]
    return [b"\x01" + path.read_bytes(), *drawn]


# ---- safetensors: fitted explainers, trained networks, checkpoints of a fit


@cache
def explainer_parts() -> tuple[Any, Any, list[Any]]:
    """A small network, two fitted explainers of it that can be saved, and its graphs."""
    model, graphs = random_network("gcn"), sample_graphs(6)
    own = rc.RCExplainer(epochs=1, teacher_limit=6).fit(model, graphs, progress=False)
    other = rc.baselines.PGExplainer(epochs=1).fit(model, graphs, progress=False)
    return model, (own, other), graphs


def _explainer_file(which: int, scratch: Path) -> tuple[dict[str, Tensor], dict[str, str], str]:
    """The tensors and texts of a fitted explainer's file."""
    path = scratch / f"whole-{which}.safetensors"
    _, fitted, _ = explainer_parts()
    fitted[which].save(path)
    kind = ("rcexplainer-explainer", "rcexplainer-pgexplainer")[which]
    return (*read_tensors(path, kind), kind)


KEPT: dict[tuple[int, Path], tuple[dict[str, Tensor], dict[str, str], str]] = {}


def read_safetensors(content: bytes, scratch: Path) -> object:
    how, rest = (content[0] % 8, content[1:]) if content else (0, b"")
    path = scratch / "case.safetensors"
    model, _, graphs = explainer_parts()
    if how in (2, 3, 4):
        which = 1 if how == 4 else 0
        if (which, scratch) not in KEPT:
            KEPT[which, scratch] = _explainer_file(which, scratch)
        tensors, header, kind = KEPT[which, scratch]
        if how == 3:
            tensors = _tampered(tensors, rest)
        else:
            header = {**header, "about": rest.decode("utf-8", "replace")}
        write_tensors(path, tensors, {**header, "format": kind})
    elif how == 5:
        write_tensors(path, model.state_dict(), _network_header(rest))
    else:
        path.write_bytes(rest)
    if how in (5, 6):
        return load_gnn(path)
    if how == 7:
        return FitFile(path, {"model": "x"}).get("mask network")
    return rc.load(path, model).explain(graphs[0], search="none")


def _network_header(rest: bytes) -> dict[str, str]:
    config, _, info = rest.partition(b"\x00")
    texts = {"config": config.decode("utf-8", "replace"), "info": info.decode("utf-8", "replace")}
    return {"format": GNN_FORMAT, **texts}


def _tampered(tensors: dict[str, Tensor], rest: bytes) -> dict[str, Tensor]:
    """Some tensors left out, of another shape or type, or with other values."""
    draw, names, found = Draw(rest), sorted(tensors), dict(tensors)
    for _ in range(1 + draw.below(3)):
        name = names[(draw.below(256) * 256 + draw.below(256)) % len(names)]
        old = found.get(name, tensors[name])
        change = draw.below(7)
        if change == 0:
            found.pop(name, None)
        elif change == 1:
            found[name] = old.reshape(-1)[: draw.below(9)].clone()
        elif change == 2:
            found[name] = old.unsqueeze(0).clone()
        elif change == 3:
            found[name] = old.to(draw.pick([torch.float64, torch.int64, torch.float16, torch.bool, torch.float32]))
        elif change == 4 and old.numel():
            values = old.clone().reshape(-1)
            value = (
                draw.pick([0, 1, 7, 100, -1])
                if not old.is_floating_point()
                else draw.pick([math.nan, math.inf, 1e38, 0.0])
            )
            values[draw.below(256) % len(values)] = value
            found[name] = values.reshape(old.shape)
        elif change == 5:
            found[name] = torch.cat([old, old]) if old.dim() else old.repeat(2)
        else:
            found["more" + name] = old.clone()
    return found


def safetensors_seeds(scratch: Path) -> list[bytes]:
    model, fitted, _ = explainer_parts()
    seeds = []
    for which in (0, 1):
        _, header, _ = _explainer_file(which, scratch)
        seeds.append(bytes([2 if which == 0 else 4]) + header["about"].encode())
    path = scratch / "seed.safetensors"
    save_gnn(path, model, {"seed": 0})
    whole = path.read_bytes()
    size = struct.unpack("<Q", whole[:8])[0]
    _, texts = read_tensors(path, GNN_FORMAT)
    seeds += [
        b"\x06" + whole,
        b"\x06" + whole[: 8 + size],
        b"\x05" + texts["config"].encode() + b"\x00" + texts["info"].encode(),
    ]
    fitted[0].save(path)
    seeds += [b"\x00" + path.read_bytes(), *(b"\x03" + random.Random(seed).randbytes(24) for seed in range(16))]
    path.unlink()
    FitFile(path, {"model": "x"}).put("mask network", {"a": torch.ones(3)}, "{}")
    return [*seeds, b"\x07" + path.read_bytes()]


# ---- requests to the server


@cache
def request_readers() -> list[RequestReader]:
    graphs, whole, limits = sample_graphs(3), whole_graph(), RequestLimits()
    plain = whole.clone()
    plain.edge_attr = None
    plain.x = torch.ones(whole.num_nodes, 2, dtype=torch.long)
    bare = whole.clone()
    bare.x = bare.edge_attr = None
    bare.num_nodes = whole.num_nodes
    bare.edge_weight = torch.ones(whole.num_edges)
    form = GraphForm.of
    several = KnownInstances([AskedInstance(one) for one in graphs])
    return [
        RequestReader(several, form(graphs[0], limits), "graph", limits, smiles_graph),
        RequestReader(KnownInstances([AskedInstance(plain, 0)]), form(plain, limits), "node", limits),
        RequestReader(KnownInstances([AskedInstance(bare, (0, 1))]), form(bare, limits), "link", limits),
    ]  # fmt: skip


def read_upload(content: bytes, scratch: Path) -> object:
    how, body = (content[0], content[1:]) if content else (0, b"")
    reader = request_readers()[how % 3]
    values = read_json(body)
    if (how // 3) % 3 == 0:
        asked = reader.predict(values)
        return edge_columns(asked.asked.graph.edge_index, asked.deleted)
    return reader.explain(values) if (how // 3) % 3 == 1 else reader.upload(values)


def upload_seeds(scratch: Path) -> list[bytes]:
    ring = {"edge_index": [[0, 1, 1, 2], [1, 0, 2, 1]]}
    wide = {**ring, "x": [[0.5, 1, 0, 0, -1e3]] * 3, "edge_attr": [[1, 0, 0.5]] * 4, "id": "a"}
    long, bare = {**ring, "x": [[1, 2]] * 3}, {**ring, "num_nodes": 3, "edge_weight": [0.5, 1, 1, 1]}
    how = {"search": "greedy", "target_class": 1, "candidates": [[1, 2]], "confidence": 0.8, "refine": 9, "budget": 1.5}
    asked = [
        (0, {"graph": wide, "deleted": [[0, 1]]}),
        (0, {"instance": 1, "deleted": []}),
        (3, {"graph": wide, **how}),
        (6, {"smiles": "CCO"}),
        (6, {"graph": wide}),
        (1, {"graph": long, "index": 2}),
        (4, {"graph": long, "index": 0}),
        (2, {"graph": bare, "index": [0, 2]}),
        (5, {"graph": bare, "index": [0, 1], "search": "none"}),
        (8, {"instance": 0}),
    ]
    return [bytes([kind]) + json.dumps(body).encode() for kind, body in asked]


# ---- a graph on disk: the bytes of its files, or arrays made as the bytes say


ARRAYS = ("edge_index.npy", "node/x.npy", "edge/edge_attr.npy", "graph/u.npy")
NEXT = b"\x00NEXT\x00"


def read_arrays(content: bytes, scratch: Path) -> object:
    folder = scratch / "mapped"
    parts = content[1:].split(NEXT) if not content or content[0] % 2 else _drawn_arrays(content[1:])
    shutil.rmtree(scratch / "index", ignore_errors=True)
    for place, name in enumerate(ARRAYS):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if place < len(parts) and parts[place]:
            path.write_bytes(parts[place])
        else:
            path.unlink(missing_ok=True)
    graph = MappedGraph(folder, index=scratch / "index")
    nodes = torch.arange(min(3, graph.num_nodes))
    values = graph.node_values(nodes), graph.edge_values(torch.arange(min(2, graph.num_edges)))
    return values, graph.graph_values, graph.adjacency.into(nodes)


def _drawn_arrays(content: bytes) -> list[bytes]:
    """The files of a graph whose shapes, types and values follow the bytes; most of them fit each other."""
    import numpy as np

    draw = Draw(content)
    nodes, edges = 1 + draw.below(5), 1 + draw.below(6)
    shapes = [(2, edges), (nodes, 2), (edges, 1), (1, 3)]
    files = []
    for place, shape in enumerate(shapes):
        kind = "<i8" if place == 0 else "<f4"
        if not draw.below(8):
            kind = draw.pick(["<i4", "u1", "<u8", ">i8", "<f8", "<f2", "?", "<c8", "<U3", "<M8[s]"])
        if not draw.below(8):
            shape = draw.pick([(), (0,), (2, 0), (nodes, 0), (*shape, 1), shape[::-1], (shape[0] + 1, *shape[1:])])
        count = math.prod(shape)
        whole = [draw.below(nodes) if draw.below(32) else draw.pick([-1, nodes, 2**40]) for _ in range(count)]
        with np.errstate(all="ignore"):
            values = np.array(whole, np.int64).reshape(shape).astype(kind)
        stream = io.BytesIO()
        np.save(stream, np.asfortranarray(values) if not draw.below(6) else values)
        whole_file = stream.getvalue()
        files.append(whole_file[: -1 - draw.below(9)] if not draw.below(16) else whole_file)
    return files if draw.below(8) else files[: 1 + draw.below(3)]


def array_seeds(scratch: Path) -> list[bytes]:
    import numpy as np

    edges = np.array([[0, 1, 2], [1, 0, 1]])
    whole = []
    for values in (edges, np.ones((3, 2), np.float32), np.ones((3, 1), np.float64), np.ones((1, 2), np.int32)):
        stream = io.BytesIO()
        np.save(stream, values)
        whole.append(stream.getvalue())
    headers = io.BytesIO()
    np.lib.format.write_array(headers, np.asfortranarray(edges), version=(2, 0))
    drawn = [b"\x00" + random.Random(seed).randbytes(120) for seed in range(24)]
    files = [whole, whole[:2], whole[:1], [headers.getvalue(), whole[1]], [whole[0], whole[1], b"", whole[3]]]
    return [*(b"\x01" + NEXT.join(parts) for parts in files), *drawn]


READERS: dict[str, Reader] = {
    "tu": Reader(read_tu, tu_seeds),
    "csv": Reader(read_csv, csv_seeds),
    "smiles": Reader(read_smiles, smiles_seeds, 512),
    "parquet": Reader(read_parquet, parquet_seeds, 1 << 14),
    "safetensors": Reader(read_safetensors, safetensors_seeds, 1 << 17),
    "uploads": Reader(read_upload, upload_seeds),
    "arrays": Reader(read_arrays, array_seeds),
}
