"""What the code of a page takes for granted: "your own" models and graphs, made small and at once.

Networks have random weights and biases that are shifted so that they predict every class; nothing here is trained.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_mean_pool

import rcexplainer as rc
from tests.sources.stores import stores

Names = dict[str, Any]


@torch.no_grad()
def balanced(model: Any, outputs: torch.Tensor) -> Any:
    """Shift the last bias so that no class is predicted for everything."""
    model.head[-1].bias -= outputs.median(0).values
    return model


def graph_names(name: str = "ba-2motifs", count: int = 40, classes: int = 2) -> Names:
    """A graph classifier, training graphs, others, and one of them."""
    data = rc.datasets.load(name, num_graphs=count)
    model = rc.gnn.GNN(rc.gnn.gnn_config("paper", data.num_features, classes)).eval()
    split = rc.gnn.split_model(model, data.graphs)
    balanced(model, split.run(data.graphs).output)
    with torch.no_grad():
        label = split.run(data.graphs).output.argmax(1)
    last = data.graphs[int((label != classes - 1).nonzero()[0])]  # not of the class that pages ask for
    return {
        "rc": rc,
        "torch": torch,
        "data": data,
        "model": model,
        "graphs": data.graphs[:6],
        "train_graphs": data.graphs,
        "graph": last,
    }


def node_names() -> Names:
    """A node classifier and its graph."""
    data = rc.datasets.load("tree-cycles")
    model = rc.gnn.GNN(rc.gnn.gnn_config("paper", data.num_features, 2, "node")).eval()
    balanced(model, model(data.graph.x, data.graph.edge_index))
    return {"rc": rc, "model": model, "graph": data.graph, "train_nodes": list(range(500, 530)), "nodes": [7, 8, 9]}


def link_names() -> Names:
    """A link predictor, its graph, and pairs of nodes."""
    data = rc.datasets.load("shared-neighbours", num_pairs=60)
    model = rc.gnn.GNN(rc.gnn.gnn_config("shallow", data.num_features, 2, "link")).eval()
    graph = data.graph
    balanced(model, model(graph.x, graph.edge_index, edge_label_index=graph.edge_label_index))
    return {"rc": rc, "model": model, "graph": graph, "pairs": graph.edge_label_index.t()[:30]}


def fitted_names(**given: Any) -> Names:
    """A graph classifier with a fitted explainer."""
    names = graph_names(**given)
    fitted = rc.RCExplainer(epochs=1).fit(names["model"], names["train_graphs"], progress=False)
    return names | {"fitted": fitted}


class OwnNet(nn.Module):
    """A model as users have them: for graphs if it is given a batch vector, else for nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GraphConv(3, 8), GraphConv(8, 8)
        self.classifier = nn.Linear(8, 2)

    def read(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index).relu()


class OwnGraphNet(OwnNet):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.classifier(global_mean_pool(self.read(x, edge_index), batch))


class OwnNodeNet(OwnNet):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.classifier(self.read(x, edge_index))


class UnusualNet(OwnNet):
    def forward(self, graph: tuple[Tensor, Tensor], groups: Tensor) -> Tensor:
        return self.classifier(global_mean_pool(self.read(*graph), groups))


def own_graph(nodes: int, random: torch.Generator) -> Data:
    """A random tree with a few more edges; features are one of three kinds."""
    ends = torch.stack(
        [torch.arange(1, nodes), (torch.rand(nodes - 1, generator=random) * torch.arange(1, nodes)).long()]
    )
    kind = torch.randint(3, (nodes,), generator=random)
    return Data(x=torch.eye(3)[kind], edge_index=torch.cat([ends, ends.flip(0)], 1))


@torch.no_grad()
def own_model_names() -> Names:
    """docs/your-model.md: a graph classifier, one with an unusual call, a node classifier; with their graphs."""
    random = torch.Generator().manual_seed(0)
    graphs, graph = [own_graph(12, random) for _ in range(30)], own_graph(120, random)
    together = Batch.from_data_list(graphs)
    model, unusual, node_model = OwnGraphNet().eval(), UnusualNet().eval(), OwnNodeNet().eval()
    model.classifier.bias -= model(together.x, together.edge_index, together.batch).median(0).values
    unusual.load_state_dict(model.state_dict())
    node_model.classifier.bias -= node_model(graph.x, graph.edge_index).median(0).values
    return {
        "rc": rc, "model": model, "unusual": unusual, "node_model": node_model,
        "graphs": graphs, "graph": graph, "nodes": list(range(40)),
    }  # fmt: skip


def concept_names() -> Names:
    """A fitted explainer, and embeddings with their head."""
    names = fitted_names()
    split = names["fitted"].split
    with torch.no_grad():
        embedding = split.embed(names["train_graphs"])
        predictions = split.head(embedding).argmax(1)
    return names | {"head": split.head, "embeddings": embedding, "predictions": predictions}


def broken_names() -> Names:
    """With a graph whose features are not finite."""
    names = graph_names()
    broken = names["graph"].clone()
    broken.x = broken.x * float("nan")
    return names | {"broken": broken}


def molecule_names() -> Names:
    """Molecules and a classifier of them."""
    names = graph_names("nitro")
    return names | {"molecule": names["graph"]}


def large_names() -> Names:
    """A node classifier whose graph is written to disk, and PyG's stores with the same graph."""
    names = node_names()
    graph: Data = names["graph"]
    data = Data(x=graph.x, edge_index=graph.edge_index, y=graph.y)
    features, edges = stores(data)
    nodes = {"training_nodes": names["train_nodes"], "nodes": [510, 511]}
    return names | nodes | {"data": data, "feature_store": features, "graph_store": edges}


def stream_names() -> Names:
    """A table of graphs at the path of the page, and a generator of graphs."""
    names = graph_names()
    Path("molecules").mkdir()
    rc.datasets.to_parquet(names["train_graphs"], "molecules/part.parquet")
    return names | {"stream": iter(names["train_graphs"])}


def table_names() -> Names:
    """A CSV file of molecules at the path of the page."""
    Path("molecules.csv").write_text("id,smiles\na,Cc1ccccc1\nb,CCO\n", encoding="utf-8")
    return {"rc": rc}


def ray_names() -> Names:
    """A Ray Dataset of a table, and a function that loads the explainer."""
    import ray

    names = fitted_names()
    model, path = names["model"], names["fitted"].save(Path("explainer.safetensors").absolute())
    rc.datasets.to_parquet(names["graphs"], "graphs.parquet")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    return names | {"dataset": ray.data.read_parquet("graphs.parquet"), "load_explainer": lambda: rc.load(path, model)}


PAGES: dict[str, Callable[[], Names]] = {
    "docs/choose.md": graph_names,
    "docs/concepts.md": concept_names,
    "docs/how-to/graphs.md": broken_names,
    "docs/how-to/nodes.md": node_names,
    "docs/how-to/links.md": link_names,
    "docs/how-to/chosen-class.md": lambda: graph_names("three-motifs", 45, 3),
    "docs/how-to/molecules.md": molecule_names,
    "docs/large-graphs.md": large_names,
    "docs/many-graphs.md": stream_names,
    "docs/metrics.md": fitted_names,
    "docs/five-minutes.md": dict,
    "docs/scale.md": table_names,
    "docs/your-model.md": own_model_names,
}
SLOW_PAGES: dict[str, Callable[[], Names]] = {"docs/scale.md": ray_names}
