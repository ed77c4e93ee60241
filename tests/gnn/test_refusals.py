"""Models that would get wrong explanations are refused, with a message that says why."""

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, GraphNorm, LayerNorm, PairNorm, RGCNConv, global_mean_pool
from torch_geometric.utils import to_undirected

import rcexplainer as rc
from rcexplainer.errors import CheckpointError, GraphError, RCExplainerError, SplitError
from rcexplainer.explainer import RCExplainer
from rcexplainer.gnn import delete_edges, split_model
from rcexplainer.gnn.instances import Instances
from rcexplainer.integrations.pyg import RCExplainerAlgorithm
from rcexplainer.sources.attribute_levels import edge_level_keys
from tests.gnn import zoo


def graphs(number: int = 40, nodes: int = 8) -> list[Data]:
    """Random graphs of 4 features; half of them have many edges."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for place in range(number):
        edges = torch.randint(nodes, (2, 8 + 16 * (place % 2)), generator=generator)
        x = torch.randn(nodes, 4, generator=generator) + 1
        made.append(Data(x=x, edge_index=to_undirected(edges[:, edges[0] != edges[1]])))
    return made


class Pooled(nn.Module):
    """A layer, a normalisation with or without `batch`, a pool, a head."""

    def __init__(self, norm: nn.Module | None = None, with_batch: bool = True) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.norm, self.with_batch, self.head = GraphConv(4, 8), norm, with_batch, nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(x, edge_index)
        if self.norm is not None:
            x = self.norm(x, batch) if self.with_batch else self.norm(x)
        pooled = self.head(global_mean_pool(x.relu(), batch))
        return pooled - pooled.new_tensor([1.0, 0.0])


def balance(model: Pooled, some: list[Data]) -> None:
    """Make the untrained model predict either class for half of the graphs."""
    batch = Batch.from_data_list(some)
    shift = {"shift": batch.shift} if "shift" in batch else {}
    with torch.no_grad():
        zoo.balance(model.head, model(batch.x, batch.edge_index, batch.batch, **shift))


@pytest.mark.parametrize("norm", [GraphNorm(8), LayerNorm(8), PairNorm()])
def test_a_model_that_mixes_the_graphs_of_a_batch(norm) -> None:
    with pytest.raises(SplitError, match=r"Pooled mixes the graphs of a batch: .*off by .* pass it `batch`"):
        split_model(Pooled(norm, with_batch=False), graphs())
    assert split_model(Pooled(norm, with_batch=True), graphs()).num_classes == 2


def test_an_output_that_is_not_what_it_is_said_to_be() -> None:
    assert split_model(Pooled(), graphs(), output="logits").output == "logits"
    for output, said in (
        ("log_probs", "probabilities that sum to 1, but the model's sum to"),
        ("probs", "lies between 0 and 1, but the model returns values from|that sum to 1"),
        ("binary_logit", "has one column, but the model returns 2"),
    ):
        with pytest.raises(SplitError, match=said):
            split_model(Pooled(), graphs(), output=output)


def test_a_checkpoint_belongs_to_one_way_of_taking_the_model_apart(tmp_path) -> None:
    class Twice(Pooled):
        def __init__(self) -> None:
            super().__init__()
            self.before = nn.Linear(8, 8)

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            pooled = global_mean_pool(self.conv(x, edge_index).relu(), batch)
            return self.head(self.before(pooled).relu()) - pooled.new_tensor([0.3, 0.0])

    model, kept = Twice(), tmp_path / "fit.safetensors"
    balance(model, graphs())
    settings = {"epochs": 1, "weight_outcome": 0.0, "weight_stable": 0.0}
    RCExplainer(**settings).fit(model, graphs(), head="before", checkpoint=kept, progress=False)
    with pytest.raises(CheckpointError, match=r"another run \(split differ"):
        RCExplainer(**settings).fit(model, graphs(), head="head", checkpoint=kept, progress=False)


def test_a_graph_that_lacks_what_others_have_does_not_change_their_answers() -> None:
    class Placed(Pooled):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, shift: Tensor | None = None) -> Tensor:
            return super().forward(x if shift is None else x + shift, edge_index, batch)

    some = graphs()
    for graph in some:
        graph.shift = torch.full((8, 1), 3.0)
    model = Placed()
    balance(model, some)
    fitted = RCExplainer(epochs=1, weight_outcome=0.0, weight_stable=0.0).fit(model, some, progress=False)
    bare = Data(x=some[1].x, edge_index=some[1].edge_index)
    alone = fitted.explain(some[0], search="none")
    beside = fitted.explain([some[0], bare, some[0]], search="none", on_error="keep")
    for one in (beside[0], beside[2]):
        torch.testing.assert_close(one.probabilities, alone.probabilities)


def test_types_of_edges_are_cut_with_them_in_parts_with_as_many_edges_as_nodes() -> None:
    """Parts of a directed ring have as many edges as nodes, or one; the name of the attribute mentions no edges."""

    class Typed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.head = RGCNConv(4, 8, 3), nn.Linear(8, 2)

        def forward(self, x: Tensor, edge_index: Tensor, rel: Tensor) -> Tensor:
            return self.head(self.conv(x, edge_index, rel).relu())

    generator = torch.Generator().manual_seed(0)
    first = torch.arange(40)
    edges = torch.cat([torch.stack([first, (first + 1) % 40]), torch.randint(40, (2, 30), generator=generator)], 1)
    edges = edges[:, edges[0] != edges[1]]
    graph = Data(x=torch.randn(40, 4, generator=generator), edge_index=edges)
    graph.rel = torch.randint(3, (edges.size(1),), generator=generator)
    model = Typed().eval()
    with torch.no_grad():
        logits = model(graph.x, graph.edge_index, graph.rel)
        zoo.balance(model.head, logits)
    fitted = RCExplainer(task="node", epochs=1, restarts=1).fit(model, graph, progress=False)
    shown = fitted.explain(graph, index=list(range(40)), search="greedy")
    assert any(one.instance.num_edges in (1, one.instance.num_nodes) for one in shown)
    for one in shown:
        left = delete_edges(graph, one.counterfactual.removed)
        with torch.no_grad():
            after = model(left.x, left.edge_index, left.rel)[one.index].softmax(0)
        torch.testing.assert_close(one.counterfactual.probabilities, after)


def test_an_attribute_of_graphs_is_not_cut_where_there_are_as_many_edges_as_graphs() -> None:
    pair = Data(x=torch.randn(2, 4), edge_index=torch.tensor([[0], [1]]), u=torch.randn(1, 2))
    joined = Instances(split_model(Pooled(), graphs()), [pair, pair]).store[torch.tensor([0, 1])]
    assert edge_level_keys(joined) == ["edge_index"]
    assert edge_level_keys(pair) == ["edge_index"]


def test_what_is_no_model_no_file_and_no_fitted_explainer(tmp_path) -> None:
    model = Pooled()
    balance(model, graphs())
    fitted = RCExplainer(epochs=1, weight_outcome=0.0, weight_stable=0.0).fit(model, graphs(), progress=False)
    kept = fitted.save(tmp_path / "kept.safetensors")
    with pytest.raises(CheckpointError, match=r"needs the GNN it was fitted for, a torch\.nn\.Module, got NoneType"):
        rc.load(kept, None)  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match="is a folder: name a file in it"):
        fitted.save(tmp_path)
    with pytest.raises(RCExplainerError, match="needs what fit returns, got RCExplainer"):
        RCExplainerAlgorithm(RCExplainer())  # type: ignore[arg-type]
    some = graphs()[:2]
    for wrong in ([torch.ones(some[0].num_edges, dtype=torch.bool), None], "all"):
        with pytest.raises(RCExplainerError, match="candidates"):
            fitted.explain(some, candidates=wrong)  # type: ignore[arg-type]
    unlabelled = some[0].clone()
    unlabelled.y = torch.tensor([float("nan")])
    assert fitted.explain(unlabelled).prediction == fitted.explain(some[0]).prediction
    with pytest.raises(GraphError, match="non-integer label"):
        split_model(model, [unlabelled])


@pytest.mark.parametrize("name", ["edge_attr", "edge_weight", "edge_type", "pos"])
def test_a_graph_that_lacks_what_the_model_was_fitted_with_is_named(name, tmp_path) -> None:
    """Also where the model would run without it: that is another model."""

    class Reads(Pooled):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, **given: Tensor | None) -> Tensor:
            value = given.get(name)
            weight = None if value is None else value.flatten().float()
            if value is not None and name == "pos":
                x, weight = x * value, None
            pooled = global_mean_pool(self.conv(x, edge_index, weight).relu(), batch)
            return self.head(pooled) - pooled.new_tensor([1.0, 0.0])

    def read(model, batch, edge_weight):
        given = {name: edge_weight if name == "edge_weight" and edge_weight is not None else batch.get(name)}
        return model(batch.x, batch.edge_index, batch.batch, **given)

    some = graphs()
    for graph in some:
        rows = graph.num_nodes if name == "pos" else graph.num_edges
        graph[name] = torch.rand(rows, *([1] if name in ("pos", "edge_attr") else [])) + 0.5
    model = Reads()
    with torch.no_grad():
        zoo.balance(model.head, read(model, Batch.from_data_list(some), None))
    fitted = RCExplainer(epochs=1, weight_outcome=0.0, weight_stable=0.0).fit(model, some, forward=read, progress=False)
    bare = Data(x=some[1].x, edge_index=some[1].edge_index)
    again = rc.load(fitted.save(tmp_path / "kept.safetensors"), model, forward=read)
    for explainer in (fitted, again):
        with pytest.raises(GraphError, match=f"graph 0 has no {name}, the explainer was fitted on graphs with it"):
            explainer.explain(bare)
        first, missing, last = explainer.explain([some[0], bare, some[2]], on_error="keep")
        assert isinstance(missing, rc.Failure)
        assert f"graph 1 has no {name}" in str(missing.error)
        assert first.prediction in (0, 1)
        assert last.prediction in (0, 1)
    with pytest.raises(GraphError, match=f"val graph 0 has no {name}"):
        RCExplainer(epochs=1).fit(model, some, val=[bare], forward=read, progress=False)
