"""Explained molecules for tests of the page: a small random network, whose predictions a few deletions change."""

from dataclasses import dataclass
from functools import cache

import torch
from torch_geometric.data import Batch, Data

import rcexplainer as rc
from rcexplainer.datasets.molecules import to_rdkit
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.sample_networks import centre

CLASSES = ("harmless", "toxic")


@dataclass(frozen=True, eq=False)
class PageCase:
    """Graphs, a model, an explainer of it, and explanations of the graphs."""

    graphs: list[Data]
    model: torch.nn.Module
    fitted: FittedExplainer
    explanations: list[rc.Explanation]

    def probabilities(self, graph: Data) -> list[float]:
        """The model's own answer for one graph, by hand."""
        with torch.no_grad():
            batch = Batch.from_data_list([graph])
            return self.model(batch.x, batch.edge_index, batch.batch).softmax(1)[0].tolist()


@cache
def page_case(number: int = 60) -> PageCase:
    """The first molecules of the built-in set, with ids and SMILES."""
    data = rc.datasets.load("nitro", num_graphs=max(number, 60))
    graphs = [graph.clone() for graph in data.graphs[:number]]
    from rdkit.Chem import MolToSmiles

    for place, graph in enumerate(graphs):
        graph.id, graph.row = f"mol-{place}", place + 2
        graph.smiles = MolToSmiles(to_rdkit(graph), canonical=False)
    with torch.random.fork_rng():
        torch.manual_seed(4)
        config = rc.gnn.GNNConfig(data.num_features, 2, width=8, layers=2)
        model = rc.gnn.GNN(config).eval()
    batch = Batch.from_data_list(graphs)
    centre(model.head, model(batch.x, batch.edge_index, batch.batch))
    fitted = rc.baselines.Occlusion().fit(model, graphs, class_names=CLASSES)
    found = [one for one in fitted.explain(graphs) if isinstance(one, rc.Explanation)]
    assert {one.counterfactual.flipped for one in found if one.counterfactual} == {True, False}
    assert {one.prediction for one in found} == {0, 1}
    return PageCase(graphs, model, fitted, found)
