"""Models that compute in a mixture of float32 and float64 are explained in one precision."""

import pytest
import torch
from torch import nn
from torch_geometric.nn import global_mean_pool

import rcexplainer as rc
from rcexplainer.gnn import split_model
from rcexplainer.gnn.split import as_batch
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.gnn.splits import build


class DoubleOutput(zoo.GCNLinear):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch).double()


class DoubleBuffer(zoo.GCNLinear):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.full((zoo.CLASSES,), 2.0, dtype=torch.float64))

    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch) * self.scale


class DoubleHead(zoo.GCNLinear):
    def __init__(self) -> None:
        super().__init__()
        self.lin.double()

    def forward(self, x, edge_index, batch):
        x = self.conv2(self.conv1(x, edge_index).relu(), edge_index).relu()
        return self.lin(global_mean_pool(x, batch).double())


class SingleAgain(DoubleHead):
    def forward(self, x, edge_index, batch):
        return super().forward(x, edge_index, batch).float()


class DoubleNodes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = zoo.GCNLinear()

    def forward(self, x, edge_index):
        x = self.inner.conv1(x, edge_index).relu()
        return self.inner.lin(self.inner.conv2(x, edge_index).relu()).double()


MIXED = [DoubleOutput, DoubleBuffer, DoubleHead, SingleAgain]


@pytest.mark.parametrize("model_class", MIXED)
def test_masks_reach_a_mixed_model_and_all_it_gives_has_one_precision(model_class):
    graphs = make_graphs(12)
    split = split_model(build(model_class), graphs)
    assert split.masking == "layers"
    assert split.exact_masking
    mask = torch.rand(as_batch(graphs).num_edges, dtype=torch.float64)
    for done in (split.run(graphs), split.run(graphs, mask), split.run(graphs, mask.float())):
        assert done.embedding.dtype == done.output.dtype == split.dtype == torch.float32
    assert torch.allclose(split.head(split.embed(graphs)), split.run(graphs).output, atol=1e-5)
    assert split.head(split.embed(graphs)).dtype == torch.float32


@pytest.mark.parametrize("model_class", MIXED)
@pytest.mark.parametrize(
    "method",
    [
        rc.RCExplainer(epochs=1),
        rc.RCExplainer(preset="paper", epochs=1),
        rc.baselines.GNNExplainer(epochs=1),
        rc.baselines.PGExplainer(epochs=1),
        rc.baselines.CF2(steps=1),
        rc.baselines.GradCAM(),
    ],
    ids=repr,
)
def test_mixed_models_are_explained(model_class, method):
    graphs = make_graphs(12)
    model = build(model_class)
    with torch.no_grad():
        predicted = [int(model(one.x, one.edge_index, torch.zeros(len(one.x)).long()).argmax()) for one in graphs[:3]]
    fitted = method.fit(model, graphs, progress=False)
    assert [one.prediction for one in fitted.explain(graphs[:3])] == predicted


def test_an_explainer_of_a_mixed_model_is_saved_and_read(tmp_path):
    model, graphs = build(DoubleOutput), make_graphs(12)
    fitted = rc.RCExplainer(epochs=1).fit(model, graphs, progress=False)
    again = rc.load(fitted.save(tmp_path / "explainer.safetensors"), model)
    assert torch.equal(again.explain(graphs[0]).edge_scores, fitted.explain(graphs[0]).edge_scores)


def test_nodes_of_a_mixed_model_are_explained():
    graph = make_graphs(1, num_nodes=20)[0]
    fitted = rc.baselines.GNNExplainer(task="node", epochs=1).fit(build(DoubleNodes), graph, progress=False)
    assert len(fitted.explain(graph, index=[0, 1])) == 2


def test_a_model_of_float64_is_explained_in_float64():
    graphs = make_graphs(12)
    for graph in graphs:
        graph.x, graph.edge_attr = graph.x.double(), graph.edge_attr.double()
    split = split_model(build(zoo.GCNLinear).double(), graphs)
    done = split.run(graphs)
    assert done.embedding.dtype == done.output.dtype == split.dtype == torch.float64
