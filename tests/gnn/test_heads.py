"""Where the head begins: found, given by name or module, and refused if it is not the whole rest of the model."""

import re

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.nn import global_mean_pool

from rcexplainer.errors import SplitError
from rcexplainer.gnn import split_model
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.gnn.splits import build, model_output, split_of


def test_head_by_name_by_module_and_by_forward():
    graphs = make_graphs(6)
    model = build(zoo.GINDeepHead)
    assert split_model(model, graphs, head="lin2").head_name == "lin2"
    assert split_model(model, graphs, head=model.lin2).head_name == "lin2"
    assert split_model(model, graphs, head="output").head_name == "output"
    unusual = build(zoo.UnusualCall)

    def forward(model, batch, edge_weight):
        assert edge_weight is None or edge_weight.shape == (batch.num_edges,)
        return model(batch.edge_index, batch.x, batch.batch)

    split = split_model(unusual, graphs, forward=forward)
    batch = Batch.from_data_list(graphs)
    torch.testing.assert_close(split.head(split.embed(batch)), model_output(split, batch))


def test_gradient_of_the_head_with_respect_to_the_embedding():
    graphs = make_graphs(6)
    split = split_of(zoo.LogSoftmax)
    embedding = split.embed(Batch.from_data_list(graphs)).detach().requires_grad_()
    split.head(embedding)[:, 0].sum().backward()
    weight = split.model.lin.weight.detach()
    probs = split.head(embedding).exp().detach()
    torch.testing.assert_close(embedding.grad, weight[0] - probs @ weight)


def test_wrong_head_lists_the_candidates():
    graphs = make_graphs(6)
    with pytest.raises(SplitError, match=r"no module 'classifier'; candidates for the head: lin1, lin2"):
        split_model(build(zoo.GINDeepHead), graphs, head="classifier")
    with pytest.raises(SplitError, match="no module like the given Linear"):
        split_model(build(zoo.GINDeepHead), graphs, head=nn.Linear(1, 1))


def test_failing_check_says_what_differs_and_by_how_much():
    graphs = make_graphs(6)
    with pytest.raises(SplitError, match=r"with lin, head\(embed\(g\)\) is off by [\d.e-]+ .*Candidates: lin"):
        split_model(build(zoo.SkipsHead), graphs)
    each = r"conv1 is called with \(\d+, 5\), which is not one row for each of the \d+ instances\. The head must"
    with pytest.raises(SplitError, match=each):
        split_model(build(zoo.GCNLinear), graphs, head="conv1")


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (0, "lin is not called at all. The head must be called once"),
        (2, "lin is called 2 times, with (6, 16) and (6, 16). The head must be called once"),
    ],
)
def test_a_module_that_is_not_called_once_is_no_head(calls, said):
    class Odd(zoo.GCNLinear):
        def forward(self, x, edge_index, batch, edge_weight=None):
            hidden = global_mean_pool(self.conv1(x, edge_index, edge_weight), batch)
            return torch.stack([self.lin(hidden) for _ in range(calls)] or [hidden[:, :2]]).sum(0)

    with pytest.raises(SplitError, match=re.escape(said)):
        split_model(build(Odd), make_graphs(6), head="lin")


def test_heads_that_work_in_place_leave_the_embedding_alone():
    graphs = make_graphs(6)
    split = split_of(zoo.InPlaceHead)
    assert split.head_name == "lin"
    batch = Batch.from_data_list(graphs)
    embedding = split.embed(batch)
    before = embedding.clone()
    torch.testing.assert_close(split.head(embedding), model_output(split, batch))
    assert torch.equal(embedding, before)


def test_a_head_that_looks_at_its_graph_is_found_out_on_graphs_of_one_size():
    graphs = [graph for graph in make_graphs(12) if graph.num_nodes == 10]
    with pytest.raises(SplitError, match="head\\(embed\\(g\\)\\) is off by"):
        split_model(build(zoo.SizeDependent), graphs)
