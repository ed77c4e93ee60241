"""Calls of `rc.gnn` and of PyG's own `Explainer`: networks split, trained, saved and read, and edges deleted."""

import math
import traceback
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer

import rcexplainer as rc
from rcexplainer.datasets.dataset import Split
from rcexplainer.integrations.pyg import RCExplainerAlgorithm
from rcexplainer.saving.checkpoint import FitFile
from tests.hostile import graphs as hostile
from tests.hostile import models
from tests.hostile.actions import ODD_VALUES, SCRATCH, SMALL_VALUES, Case, mostly, seldom, some_pooled
from tests.zoo import graph_models, node_models
from tests.zoo.parts import FEATURES

TRAIN_SECONDS = 60.0
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "own": ("graph", models.MODELS),
    "zoo": ("graph", graph_models.EXPLAINED),
    "refused": ("graph", graph_models.REFUSED),
    "own node": ("node", models.NODE_MODELS),
    "node": ("node", node_models.EXPLAINED),
    "node refused": ("node", node_models.REFUSED),
}


def _raising(model: Any, batch: Any, edge_weight: Any) -> Any:
    raise LookupError("no such batch")


def _keywords(*, model: Any, batch: Any) -> Any:
    return model(batch)


FORWARDS: dict[str, Any] = {
    "usual": lambda model, batch, edge_weight: model(batch.x, batch.edge_index, batch.batch),
    "first": lambda model, batch, edge_weight: model(batch.x, batch.edge_index, batch.batch)[0],
    "of nodes": lambda model, batch, edge_weight: model(batch.x, batch.edge_index),
    "no model": lambda model, batch, edge_weight: torch.ones(batch.num_graphs, 2),
    "nothing": lambda model, batch, edge_weight: None,
    "the batch": lambda model, batch, edge_weight: batch,
    "raises": _raising,
    "keywords": _keywords,
    "one argument": lambda model: model,
    "writes": lambda model, batch, edge_weight: model(batch.x.zero_(), batch.edge_index, batch.batch),
    "text": "forward",
    "number": 3,
}


@st.composite
def splits(draw: st.DrawFn) -> Case:
    """`gnn.split_model`, and what it promises: the head of the embedding is the model's own output."""
    kind = draw(st.sampled_from(["own", "own", "own", *NETWORKS]))
    task, table = NETWORKS[kind]
    name, model = models.drawn(draw, table)
    if draw(st.integers(0, 3)) == 3:
        given = draw(hostile.calls(FEATURES, 0))
    else:
        base = (
            [node_models.graph(models.WHOLE).clone()]
            if task == "node"
            else [one.clone() for one in graph_models.graphs(6)]
        )
        extra = [draw(hostile.graphs(FEATURES, 0, faults=1))] if draw(st.integers(0, 3)) == 3 else []
        given = hostile.Given([*base, *extra], [*base, *extra])
    if name == "attributed":
        for graph in given.members:
            if isinstance(graph.edge_index, Tensor) and graph.edge_index.dim():
                graph.edge_attr = torch.ones(graph.edge_index.size(-1), models.EDGE_FEATURES)
    labels = draw(st.sampled_from([None, None, "right", "large", "negative", "short", "boolean", "none"]))
    if labels is not None:
        for graph in given.members:
            graph.y = _labels(graph, task, labels)
    how: dict[str, Any] = {"task": draw(mostly(st.just(task), st.sampled_from(["graph", "node", "link", 3, None])))}
    if how["task"] == "link":
        pairs = draw(
            st.sampled_from([torch.tensor([[0, 1], [2, 3]]), torch.tensor([1]), torch.ones(2, 1), "0 1", None])
        )
        for graph in given.members:
            graph.edge_label_index = pairs
    for key, values in {
        "head": mostly(st.sampled_from(["head", "output", "first"])) | st.just(getattr(model, "head", None)),
        "output": mostly(st.sampled_from(["logits", "probs", "log_probs", "binary_logit"])),
        "forward": st.sampled_from(sorted(FORWARDS)).map(FORWARDS.get),
    }.items():
        if draw(st.integers(0, 4)) == 4:
            how[key] = draw(values)

    def call() -> str:
        found = rc.gnn.split_model(model, given.value, **how)
        try:
            done = found.run(given.members[:1])
        except Exception as error:
            if any(frame.name in ("forward", "_raising") for frame in traceback.extract_tb(error.__traceback__)):
                return repr(found)  # the model's own, which nobody catches here
            raise
        again = found.head(done.embedding)
        off = (again - done.output).abs().max() if done.output.numel() else torch.zeros(())
        if bool(done.output.isfinite().all()):
            assert float(off) <= 1e-3 * max(1.0, float(done.output.abs().max())), f"{found!r} is off by {float(off)}"
        assert found.num_classes >= 2, repr(found)
        return repr(found)

    text = f"gnn.split_model {kind} {name} {given} labels={labels} {how}"
    return Case(text, call, model, tuple(given.members))


def _labels(graph: Data, task: str, kind: str) -> Any:
    rows = len(graph.x) if task == "node" and isinstance(graph.x, Tensor) and graph.x.dim() else 1
    right = torch.arange(rows) % 2
    return {
        "right": right, "large": right + 10**9, "negative": right - 9, "short": right[:0], "boolean": right > 0,
        "none": None,
    }[kind]  # fmt: skip


INDEX = st.sampled_from(
    [
        torch.arange(4), torch.arange(4), torch.arange(4), torch.tensor([0, 5]), torch.tensor([], dtype=torch.long),
        torch.tensor([-1, 2]), torch.tensor([10**9]), torch.tensor([2**62]), torch.tensor([0.0, 1.0]),
        torch.tensor([True, False, True]), torch.tensor(1), torch.ones(2, 2, dtype=torch.long), [0, 1, 2], (), None,
        "all", torch.tensor([0, 1], dtype=torch.int32), torch.tensor([math.nan]), 3, torch.arange(4).to("meta"),
        torch.tensor([0, 0, 0]),
    ]
)  # fmt: skip
GOOD_INDEX = st.just(torch.arange(4))


@st.composite
def labelled(draw: st.DrawFn, task: str) -> hostile.Given:
    """Labelled graphs to train on: of a graph task, or one for nodes or links; with faults, or none at all."""
    if draw(st.integers(0, 7)) == 7:
        return draw(hostile.calls(FEATURES, 0))
    made = (
        [node_models.graph(models.WHOLE).clone()]
        if task != "graph"
        else [one.clone() for one in graph_models.graphs(8)]
    )
    if draw(st.integers(0, 5)) == 5:
        made.append(draw(hostile.graphs(FEATURES, 0, faults=1)))
    for place, graph in enumerate(made):
        if task == "graph":
            graph.y = torch.tensor([place % 2])
        elif task == "node":
            graph.y = torch.arange(int(graph.num_nodes) if isinstance(graph.x, Tensor) else 3) % 2
        else:
            graph.edge_label_index, graph.edge_label = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]]), torch.arange(4) % 2
    if draw(st.integers(0, 5)) == 5:
        key = draw(st.sampled_from(["y", "edge_label", "edge_label_index"]))
        made[-1][key] = draw(
            st.sampled_from(
                [
                    None, "yes", 1, [0, 1], torch.tensor(1), torch.tensor([-1]), torch.tensor([7]), torch.tensor([0.5]),
                    torch.tensor([math.nan]), torch.tensor([], dtype=torch.long), torch.tensor([[0, 1]]),
                    torch.tensor([True]), torch.arange(2), torch.tensor([[0], [99]]), torch.tensor([1 + 0j]),
                ]
            )
        )  # fmt: skip
    return hostile.Given(made if len(made) > 1 or draw(st.booleans()) else made[0], made)


@st.composite
def configs(draw: st.DrawFn, task: str) -> Callable[[], Any]:
    """How `gnn_config` is called, or something else than a configuration."""
    if draw(st.integers(0, 19)) == 19:
        odd = draw(ODD_VALUES)
        return lambda: odd
    name = draw(seldom(st.sampled_from(sorted(rc.gnn.MODELS))))
    features, classes = draw(seldom(st.just(FEATURES), SMALL_VALUES)), draw(seldom(st.just(2), SMALL_VALUES))
    changes = draw(
        st.dictionaries(
            st.sampled_from(["width", "layers", "dropout", "head_hidden", "pool", "conv", "batch_norm", "colour"]),
            SMALL_VALUES | st.sampled_from([(3,), (0,), [4], "gat", "gin", "max"]),
            max_size=draw(st.integers(0, 3)) // 3,
        )
    )
    small = {"width": 4, "layers": 1}
    other = draw(seldom(st.just(task), SMALL_VALUES))
    return lambda: rc.gnn.gnn_config(name, features, classes, other, **{**small, **changes})


@st.composite
def trainings(draw: st.DrawFn) -> Case:
    """`gnn.gnn_config`, `gnn.train_gnn` and `gnn.accuracy`."""
    what = draw(st.sampled_from(["train_gnn", "train_gnn", "gnn_config", "accuracy"]))
    task = draw(st.sampled_from(["graph", "graph", "node", "link"]))
    config = draw(configs(task) if what != "accuracy" else st.just(lambda: None))
    given = draw(labelled(task))
    parts = draw(seldom(st.builds(Split, GOOD_INDEX, GOOD_INDEX, GOOD_INDEX), st.builds(Split, INDEX, INDEX, INDEX)))
    if draw(st.integers(0, 29)) == 29:
        parts = draw(ODD_VALUES)
    index = draw(seldom(GOOD_INDEX, INDEX))
    changes = draw(
        st.dictionaries(
            st.sampled_from(
                ["epochs", "lr", "batch_size", "patience", "weight_decay", "clip", "decay", "xavier", "without_edges"]
            ),
            SMALL_VALUES | st.sampled_from([1e30, (1, 0), (0, 5), "constant"]),
            max_size=draw(st.integers(0, 3)) // 3,
        )
    )
    seed, device = (
        draw(seldom(st.integers(0, 9))),
        draw(seldom(st.just(None), st.sampled_from(["meta", "x", "cuda:7"]))),
    )
    place = draw(seldom(st.sampled_from([None, "file"]), st.just("odd")))
    settings_odd = draw(st.integers(0, 29)) == 29
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = rc.gnn.GNN(rc.gnn.gnn_config("paper", FEATURES, 2, task, width=4, layers=1)).eval()
    other = draw(seldom(st.just(net), st.sampled_from([models.Graphs(), None, "net"])))

    def call() -> Any:
        if what == "accuracy":
            share = rc.gnn.accuracy(other, given.value, index)
            assert math.isnan(share) or 0 <= share <= 1, share
            return share
        made = config()
        if what == "gnn_config":
            return repr(rc.gnn.GNN(made)) if isinstance(made, rc.gnn.GNNConfig) else None
        settings = "fast" if settings_odd else rc.gnn.TrainConfig(**{"epochs": 2, **changes})
        SCRATCH.mkdir(exist_ok=True)
        path = SCRATCH / "training.safetensors"
        path.unlink(missing_ok=True)
        file = {None: None, "file": FitFile(path, {}), "odd": "file"}[place]
        found = rc.gnn.train_gnn(
            made, given.value, parts, settings=settings, seed=seed, device=device, progress=False, file=file
        )
        assert all(math.isnan(share) or 0 <= share <= 1 for share in found.accuracy.values()), found.accuracy
        assert not found.model.training
        return repr(found)

    text = f"gnn.{what} {task} {given} parts={parts if not isinstance(parts, Split) else vars(parts)} {changes} "
    text += f"seed={seed!r} device={device!r} file={place} index={index!r} {type(other).__name__}"
    return Case(text, call, other if what == "accuracy" else None, tuple(given.members), None, TRAIN_SECONDS)


@st.composite
def network_files(draw: st.DrawFn) -> Case:
    """`gnn.save_gnn` and `gnn.load_gnn`: odd places, odd information, damaged files, other devices."""
    what = draw(st.sampled_from(["load_gnn", "save_gnn", "save_gnn", "load_gnn"]))
    with torch.random.fork_rng():
        torch.manual_seed(draw(st.integers(0, 9)))
        net = rc.gnn.GNN(rc.gnn.gnn_config(draw(st.sampled_from(sorted(rc.gnn.MODELS))), FEATURES, 2, width=4))
    if draw(st.integers(0, 4)) == 4:
        with torch.no_grad():
            net.head[0].weight[0, 0] = math.nan
    others = st.sampled_from([None, "net", nn.Linear(2, 2), models.Graphs(), rc.gnn.GNN, {}])
    model = draw(mostly(st.just(net), others))
    info = draw(
        mostly(
            st.sampled_from([None, {}, {"seed": 3, "name": "<b>"}, {"value": math.nan}]),
            ODD_VALUES | st.sampled_from([{"model": object()}, {1: 2}, {(1, 2): 3}, {"t": torch.ones(2)}, [("a", 1)]]),
        )
    )
    place = draw(mostly(st.just("file"), st.sampled_from(["folder", "missing", "cut", "text", "bits", "odd", "under"])))
    odd = draw(ODD_VALUES)
    device = draw(mostly(st.sampled_from([None, "cpu"]), st.sampled_from(["meta", "x", "cuda:7", 3, 0.5, []])))

    def call() -> Any:
        SCRATCH.mkdir(exist_ok=True)
        path: Any = SCRATCH / "network.safetensors"
        (SCRATCH / "folder").mkdir(exist_ok=True)
        named = {"folder": SCRATCH / "folder", "odd": odd, "under": path / "network"}.get(place, path)
        rc.gnn.save_gnn(path, net)
        if what == "save_gnn":
            saved = rc.gnn.save_gnn(named, model, info)
            return rc.gnn.load_gnn(saved).info
        content = path.read_bytes()
        if place == "missing":
            path.unlink()
        if place in ("cut", "text", "bits"):
            path.write_bytes({"cut": content[:-9], "text": b"{}", "bits": content[:-1] + b"\x7f"}[place])
        found = rc.gnn.load_gnn(named, device)
        assert not any(value.is_meta for value in found.model.parameters()), "a network without numbers"
        same = all(
            torch.equal(one.nan_to_num(7.0), two.nan_to_num(7.0))
            for one, two in zip(net.state_dict().values(), found.model.state_dict().values(), strict=True)
        )
        assert same, "other weights"
        return repr(found)

    text = f"gnn.{what} {place} {type(model).__name__} info={info!r} device={device!r} {odd!r}"
    return Case(text, call, model if isinstance(model, nn.Module) else net)


@st.composite
def deletions(draw: st.DrawFn) -> Case:
    """`gnn.delete_edges`: what is left is what was not deleted."""
    foreign = draw(st.integers(0, 9)) == 9
    some = [] if foreign else draw(st.lists(hostile.graphs(FEATURES, 2, faults=1), min_size=1, max_size=3))
    graph = hostile.FOREIGN[draw(st.sampled_from(sorted(hostile.FOREIGN)))]() if foreign else some[0]
    if len(some) > 1 and draw(st.booleans()):
        graph = hostile.contained(some, "batch")
    elif len(some) > 1:
        some = some[:1]
    edges = getattr(graph, "edge_index", None)
    size = edges.size(-1) if isinstance(edges, Tensor) and edges.dim() else 3
    mask = torch.rand(size, generator=torch.Generator().manual_seed(draw(st.integers(0, 9)))) > 0.5
    odd = [
        mask[:1],
        mask.long(),
        mask.float(),
        mask[None],
        mask.tolist(),
        mask.numpy(),
        None,
        "all",
        torch.tensor(True),
    ]
    removed = draw(mostly(st.sampled_from([mask, mask, ~mask | mask, mask & ~mask]), st.sampled_from(odd)))

    def call() -> Any:
        found = rc.gnn.delete_edges(graph, removed)
        left = int((~removed).sum())
        assert torch.equal(found.edge_index, graph.edge_index[:, ~removed]), "other edges are left"
        for name in ("edge_attr", "edge_weight"):
            if isinstance(own := graph.get(name), Tensor) and own.size(0) == len(removed):
                assert torch.equal(found[name], own[~removed]) or own.isnan().any(), f"{name} of other edges is left"
        if isinstance(found, Batch):
            assert sum(one.num_edges for one in found.to_data_list()) == left
        return None

    text = f"gnn.delete_edges {hostile.Given(graph, some)} {removed!r}"
    return Case(text, call, None, tuple(some))


@st.composite
def of_pyg(draw: st.DrawFn) -> Case:
    """`integrations.pyg`: the algorithm called as PyG's `Explainer` calls it, and by it."""
    one = some_pooled(draw, ("zoo", "own", "node", "link"))
    whole = draw(st.booleans())
    graph = one.graphs[0] if whole else draw(hostile.graphs(one.features, one.edge_features, faults=1))
    through = whole and one.name in ("plain", "five classes", "saturated") and draw(st.booleans())
    fitted = draw(mostly(st.just(one.fitted), st.sampled_from([None, "fitted", one.model, rc.RCExplainer()])))
    model = draw(mostly(st.just(one.model), st.sampled_from([None, "model", models.Graphs(), nn.Linear(2, 2)])))
    good = {"graph": None, "node": 3, "link": 0}[one.task]
    index = draw(mostly(st.just(good), ODD_VALUES | INDEX))
    if through:  # PyG runs the model itself, and checks nothing before
        model, index = one.model, good
    target = draw(mostly(st.just(torch.zeros(40, dtype=torch.long)), ODD_VALUES | INDEX))
    more: dict[str, Any] = {}
    for name in ("edge_attr", "edge_weight"):
        if isinstance(graph.get(name), Tensor):
            more[name] = graph[name]
    if one.task == "graph" and (through or draw(st.booleans())):
        nodes = len(graph.x) if isinstance(graph.x, Tensor) and graph.x.dim() else 3
        zeros = torch.zeros(nodes, dtype=torch.long)
        more["batch"] = zeros if through else draw(mostly(st.just(zeros), ODD_VALUES | INDEX))
    if one.task == "link":
        pairs = torch.tensor([[0, 1], [5, 7]])
        more["edge_label_index"] = draw(mostly(st.just(pairs), ODD_VALUES | INDEX | st.just(pairs[:, :1] + 99)))
    level = "edge" if one.task == "link" else one.task

    def call() -> Any:
        algorithm = RCExplainerAlgorithm(fitted)
        how: dict[str, Any] = {**more, "index": index}
        if through:
            explainer = Explainer(
                model, algorithm, explanation_type="model", edge_mask_type="object",
                model_config={"mode": "multiclass_classification", "task_level": level, "return_type": "raw"},
            )  # fmt: skip
            algorithm = lambda model, x, edges, target, **how: explainer(x, edges, **how)  # noqa: E731
        found = algorithm(model, graph.x, graph.edge_index, target=target, **how)
        mask = found.edge_mask
        assert mask.shape == (graph.edge_index.size(1),), f"{tuple(mask.shape)} scores"
        assert bool(((mask >= 0) & (mask <= 1)).all()), f"scores are not in [0, 1]: {mask}"
        return None

    text = f"integrations.pyg {one.task} {one.name} {hostile.Given(graph, [graph])} by PyG={through} index={index!r} "
    text += f"target={target!r} {sorted(more)} {type(fitted).__name__} {type(model).__name__}"
    return Case(text, call, one.model, (graph,))
