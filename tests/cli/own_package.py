"""A user's package as files of a folder: models and graphs for graphs, nodes and links, and functions that go wrong."""

from pathlib import Path

MODELS = '''
"""Networks with fixed weights that predict every class."""
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import GraphConv, global_add_pool

print("a user's module may print")


class Net(nn.Module):
    def __init__(self, task):
        super().__init__()
        self.task = task
        self.conv = GraphConv(3, 8)
        self.lin = nn.Linear(8, 2)

    def forward(self, x, edge_index, batch=None, edge_weight=None, edge_label_index=None):
        hidden = self.conv(x, edge_index, edge_weight).tanh()
        if self.task == "graph":
            hidden = global_add_pool(hidden, batch)
        if self.task == "link":
            hidden = hidden[edge_label_index[0]] * hidden[edge_label_index[1]]
        return self.lin(hidden)


def made(task):
    from NAME.data import graph, graphs

    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = Net(task)
    with torch.no_grad():  # half of the instances are of either class
        if task == "graph":
            batch = Batch.from_data_list(graphs())
            outputs = model(batch.x, batch.edge_index, batch.batch)
        else:
            g = graph()
            outputs = model(g.x, g.edge_index, edge_label_index=g.edge_label_index)
        model.lin.bias -= outputs.median(0).values
    return model.eval()


class Unusual(Net):
    """Takes its graphs in an order of its own, returns one logit, and has a second layer that could be the head."""

    def __init__(self):
        super().__init__("graph")
        self.lin = nn.Linear(8, 4)
        self.last = nn.Linear(4, 1)

    def forward(self, adjacency, features, assignment, weights=None):
        hidden = self.conv(features, adjacency, weights).tanh()
        return self.last(self.lin(global_add_pool(hidden, assignment)).relu())


def unusual_model():
    from NAME.data import graphs

    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = Unusual()
    with torch.no_grad():
        model.last.bias -= call(model, Batch.from_data_list(graphs()), None).median()
    return model.eval()


def call(model, batch, edge_weight):
    return model(batch.edge_index, batch.x, batch.batch, edge_weight)


def graph_model():
    return made("graph")


def node_model():
    return made("node")


def link_model():
    return made("link")


def weights():
    return graph_model().state_dict()


def broken():
    raise FileNotFoundError("no weights here")


def with_path(path, epochs=3):
    return graph_model()


number = 3
'''

DATA = """
import torch
from torch_geometric.data import Data


def one(random, nodes):
    paid = torch.tensor([[n, int(torch.randint(n, (1,), generator=random))] for n in range(1, nodes)]).t()
    more = torch.randint(nodes, (2, nodes // 2), generator=random)
    edges = torch.cat([paid, more[:, more[0] != more[1]]], dim=1)
    edges = torch.cat([edges, edges.flip(0)], dim=1).unique(dim=1)
    return Data(x=torch.randn(nodes, 3, generator=random), edge_index=edges)


def graphs():
    random = torch.Generator().manual_seed(0)
    found = [one(random, 8) for _ in range(40)]
    for place, graph in enumerate(found):
        graph.id = f"g{place}"
    return found


def graph():
    found = one(torch.Generator().manual_seed(0), 60)
    found.node_names = [f"node-{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(60)]
    found.edge_label_index = found.edge_index[:, ::3]
    return found


def unlabelled_graph():
    found = graph()
    del found.edge_label_index
    return found


def nothing():
    return []


def words():
    return "graphs"
"""


NAME = "own_nets"
TASKS = {"graph": "graphs", "node": "graph", "link": "graph"}  # task → function of NAME.data


def own(task: str, data: str | None = None) -> list[str]:
    """The options that name a model and its graphs."""
    return ["--model", f"{NAME}.gnn:{task}_model", "--graphs", f"{NAME}.data:{data or TASKS[task]}"]


def write_package(folder: Path, name: str = NAME) -> None:
    """Write the package: `name.gnn`, `name.data`, `name.wrong` (an error while it is imported) and `name.needs`.

    Args:
        folder: Where to write it.
        name: What to call it: Python imports a name once.
    """
    package = folder / name
    package.mkdir()
    texts = {
        "__init__": "",
        "gnn": MODELS.replace("NAME", name),
        "data": DATA,
        "wrong": "raise RuntimeError('half written')",
        "needs": "import a_package_that_is_not_there",
    }
    for module, text in texts.items():
        (package / f"{module}.py").write_text(text, encoding="utf-8")
