"""Prints how long requests with the largest uploads take: 5,000 nodes and 10,000 edges, around a hub and at random.

    python tools/upload_limits.py [--seconds 2] [--methods RCExplainer,Occlusion]

The networks have three random layers; time hardly depends on what a network has learned. "next": how long a small
prediction takes that is asked right after, so whether the request still holds the server.
"""

import argparse
import time
from typing import Any

import torch
from fastapi.testclient import TestClient
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_mean_pool

import rcexplainer as rc
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.server.application import make_app
from rcexplainer.server.limits import RequestLimits

NODES, EDGES, RUNS = 5_000, 10_000, 500
INDEX: dict[str, Any] = {"graph": None, "node": list(range(30)), "link": [(one, one + 1) for one in range(30)]}
ASKED: dict[str, dict[str, Any]] = {"graph": {}, "node": {"index": 0}, "link": {"index": [0, 1]}}
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("predict", {}),
    ("explain", {"search": "prefix"}),
    ("explain", {"search": "greedy"}),
    ("explain", {"search": "greedy", "refine": RUNS}),
    ("instances", {}),
)


class Network(nn.Module):
    """Three layers for graphs, nodes or links."""

    def __init__(self, task: str) -> None:
        super().__init__()
        self.task, self.head = task, nn.Linear(40 if task == "link" else 20, 3)
        self.layers = nn.ModuleList([GraphConv(3, 20), GraphConv(20, 20), GraphConv(20, 20)])

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_label_index: Tensor | None = None
    ) -> Tensor:
        """Logits of each graph, node or link."""
        for layer in self.layers:
            x = layer(x, edge_index).tanh()
        if self.task == "graph":
            x = global_mean_pool(x, batch)
        logits: Tensor = self.head(x if edge_label_index is None else x[edge_label_index.t()].flatten(1))
        return logits


def random_graph(nodes: int, edges: int, seed: int, hub: bool = False) -> Data:
    """A graph with this many edges, or fewer where nodes are few; with a hub, node 0 is next to all others."""
    random = torch.Generator().manual_seed(seed)
    ends = torch.randint(nodes, (2, 4 * edges), generator=random)
    ends = ends[:, ends[0] < ends[1]].unique(dim=1)
    ends = ends[:, torch.randperm(ends.size(1), generator=random)]
    if hub:
        spokes = torch.stack([torch.zeros(nodes - 1, dtype=torch.long), torch.arange(1, nodes)])
        ends = torch.cat([spokes, ends[:, ends[0] > 0]], 1)
    ends = ends[:, :edges]
    return Data(x=torch.randn(nodes, 3, generator=random), edge_index=torch.cat([ends, ends.flip(0)], 1))


def fit(task: str, method: str) -> tuple[FittedExplainer, list[Data]]:
    """An explainer of a random network, and the small graphs it was fitted on."""
    torch.manual_seed(0)
    graphs = [random_graph(12, 18, seed) for seed in range(40)] if task == "graph" else [random_graph(60, 90, 0)]
    settings = {"epochs": 5, "restarts": 1} if method == "RCExplainer" else {}
    made = getattr(rc, method, None) or getattr(rc.baselines, method)
    model, data = Network(task).eval(), graphs if task == "graph" else graphs[0]
    return made(task=task, **settings).fit(model, data, index=INDEX[task], progress=False), graphs


def measure(client: TestClient, path: str, body: dict[str, Any]) -> str:
    """A request, and a small one after it."""
    start = time.monotonic()
    found = client.post(f"/{path}", json=body)
    middle = time.monotonic()
    after = client.post("/predict", json={"instance": 0})
    end = time.monotonic()
    values = found.json()
    best = "best so far" if (values.get("counterfactual") or {}).get("exhausted") else ""
    note = values.get("error", best)[:40]
    return f"{found.status_code} {middle - start:7.2f} s  next {after.status_code} {end - middle:5.2f} s  {note}"


def main() -> None:
    """Measure all tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--methods", default="RCExplainer,Occlusion")
    given = parser.parse_args()
    limits = RequestLimits(seconds=given.seconds, refine=RUNS)
    torch.set_num_threads(1)
    for method in given.methods.split(","):
        for task in INDEX:
            fitted, graphs = fit(task, method)
            app = make_app(fitted, graphs, INDEX[task], limits=limits)
            with TestClient(app, base_url="http://localhost") as client:
                client.post("/explain", json={"instance": 0, "search": "greedy"})  # warm
                for shape in ("random", "hub"):
                    graph = random_graph(NODES, EDGES, 1, shape == "hub")
                    sent = {"edge_index": graph.edge_index.tolist(), "x": graph.x.tolist()}
                    for path, options in REQUESTS:
                        said = measure(client, path, {"graph": sent} | ASKED[task] | options)
                        chosen = " ".join(map(str, options.values()))
                        print(f"{method:12} {task:6} {shape:7} {path:10} {chosen:11} {said}", flush=True)


if __name__ == "__main__":
    main()
