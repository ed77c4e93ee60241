"""An explainer saved and loaded gives the same answers, for the same GNN and for no other."""

import json

import pytest
import torch
from safetensors import safe_open
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_mean_pool
from torch_geometric.utils import to_undirected

import rcexplainer as rc
from rcexplainer.errors import CheckpointError
from rcexplainer.gnn import TrainConfig, gnn_config, split_model, train_gnn
from rcexplainer.saving.fingerprint import probe_graphs
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs


@pytest.fixture(scope="module")
def case():
    data = rc.datasets.load("ba-2motifs", num_graphs=80)
    settings = TrainConfig(epochs=40, lr=0.01)
    model = train_gnn(gnn_config("paper", 10, 2), data.graphs, data.split, settings=settings, progress=False).model
    fitted = rc.RCExplainer(epochs=2).fit(model, data.subset("train"), class_names=data.class_names, progress=False)
    return data, model, fitted


def test_round_trip(case, tmp_path):
    data, model, fitted = case
    loaded = rc.load(fitted.save(tmp_path / "folder" / "explainer.safetensors"), model)
    assert loaded.config == fitted.config
    assert loaded.class_names == fitted.class_names
    assert loaded.classes == fitted.classes
    assert str(loaded.regions) == str(fitted.regions)
    for one, two in zip(fitted.explain(data.subset("test")), loaded.explain(data.subset("test")), strict=True):
        assert torch.equal(one.edge_scores, two.edge_scores)
        assert torch.equal(one.counterfactual.removed, two.counterfactual.removed)


def test_the_header_says_what_it_is(case, tmp_path):
    _, _, fitted = case
    with safe_open(fitted.save(tmp_path / "explainer.safetensors"), framework="pt") as file:
        about = json.loads(file.metadata()["about"])
    assert about["version"] == rc.__version__
    assert about["class_names"] == ["cycle", "house"]
    assert about["config"]["epochs"] == 2


def test_another_gnn_is_refused_by_name(case, tmp_path):
    _, model, fitted = case
    path = fitted.save(tmp_path / "explainer.safetensors")
    other = rc.gnn.GNN(model.config)
    with pytest.raises(CheckpointError, match=r"fitted for another GNN.*convs.0.lin_rel.bias, its values differ"):
        rc.load(path, other)
    wider = rc.gnn.GNN(gnn_config("paper", 10, 2, width=8))
    with pytest.raises(CheckpointError, match=r"convs.0.lin_rel.bias, its shape was \(20,\), now \(8,\)"):
        rc.load(path, wider)
    with pytest.raises(CheckpointError, match=r"this one has conv1.bias, the saved one does not"):
        rc.load(path, zoo.GCNLinear())


def test_files_that_are_something_else(case, tmp_path):
    _, model, _ = case
    with pytest.raises(CheckpointError, match="there is no file"):
        rc.load(tmp_path / "nowhere", model)
    with pytest.raises(CheckpointError, match="is a folder: name a file in it"):
        rc.load(tmp_path, model)
    other = rc.gnn.save_gnn(tmp_path / "gnn.safetensors", model)
    with pytest.raises(CheckpointError, match="holds no fitted explainer: its format is 'rcexplainer-gnn'"):
        rc.load(other, model)


@pytest.mark.parametrize("path", [None, b"explainer", 3])
def test_what_is_no_path(case, path):
    _, model, fitted = case
    with pytest.raises(CheckpointError, match=rf"^save\(path\): path must name a file, got {type(path).__name__}$"):
        fitted.save(path)
    with pytest.raises(
        CheckpointError, match=rf"^load\(path, model\): path must name a file, got {type(path).__name__}$"
    ):
        rc.load(path, model)


def test_a_models_own_call_is_needed_again(tmp_path):
    def forward(model, batch, edge_weight):
        return model(batch.edge_index, batch.x, batch.batch)

    torch.manual_seed(4)
    model, graphs = zoo.UnusualCall(), make_graphs(30)
    with torch.no_grad():  # so that every class is predicted for some
        model.lin.bias -= forward(model, Batch.from_data_list(graphs), None).mean(0)
    fitted = rc.RCExplainer(epochs=1).fit(model, graphs, forward=forward, progress=False)
    path = fitted.save(tmp_path / "explainer.safetensors")
    named = r"was fitted with forward=tests\.saving\.test_explainer_file:.*forward, .*pass forward= again"
    with pytest.raises(rc.errors.SplitError, match=f"{named}.*needs 'adjacency'"):
        rc.load(path, model)
    loaded = rc.load(path, model, forward=forward)
    assert torch.equal(loaded.explain(graphs[3]).edge_scores, fitted.explain(graphs[3]).edge_scores)


def test_probes_are_instances_whose_edges_matter() -> None:
    """A model may give its smallest instances the same answer without edges; it is split again on others."""
    graphs = make_graphs(30)
    width = graphs[0].x.size(1)
    model = rc.gnn.GNN(rc.gnn.gnn_config("shallow", width, 2)).eval()  # one layer: without features, edges say nothing
    ring = torch.tensor([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]])
    silent = [Data(x=torch.zeros(3, width), edge_index=ring) for _ in range(9)]
    split = split_model(model, graphs)
    probes = probe_graphs(split, [*silent, *graphs])
    assert any(bool(probe.x.any()) for probe in probes)
    assert split_model(model, list(probes)).head_name == split.head_name
    assert all(probe.num_nodes == 3 for probe in probe_graphs(split, silent))  # nothing better is there


def test_the_same_weights_in_another_architecture_are_another_gnn(case, tmp_path) -> None:
    _, model, fitted = case
    path = fitted.save(tmp_path / "explainer.safetensors")

    class Other(type(model)):
        def forward(self, x, edge_index, batch, edge_weight=None):
            return self.head(2 * self.embed(x, edge_index, batch, edge_weight))

    other = Other(model.config).eval()
    other.load_state_dict(model.state_dict())
    with pytest.raises(CheckpointError, match="this Other has the same weights but gives other outputs"):
        rc.load(path, other)


def test_graphs_that_have_only_a_number_of_nodes_are_recognised_again(tmp_path) -> None:
    """Without features only `num_nodes` tells of nodes without edges."""

    class Degrees(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.head = GraphConv(1, 4), torch.nn.Linear(4, 2)

        def forward(self, edge_index, batch):
            x = torch.ones(len(batch), 1)
            pooled = global_mean_pool(self.conv(x, edge_index).relu(), batch)
            return self.head(pooled)

    generator = torch.Generator().manual_seed(0)
    graphs = []
    for place in range(30):
        edges = torch.randint(6, (2, 4 + 12 * (place % 2)), generator=generator)
        graphs.append(Data(edge_index=to_undirected(edges[:, edges[0] != edges[1]]), num_nodes=9))
    model = Degrees()
    with torch.no_grad():
        logits = split_model(model, graphs).run(graphs).output
        zoo.balance(model.head, logits)
    settings = {"epochs": 1, "weight_outcome": 0.0, "weight_stable": 0.0, "noise": 0.0}
    fitted = rc.RCExplainer(**settings).fit(model, graphs, progress=False)
    again = rc.load(fitted.save(tmp_path / "kept.safetensors"), model)
    assert torch.equal(again.explain(graphs[0]).edge_scores, fitted.explain(graphs[0]).edge_scores)


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")  # torch's own import
def test_a_compiled_model_is_the_model_it_was_made_from(tmp_path):
    """Wrapped, but not compiled yet: that happens in its first run."""
    torch.manual_seed(1)
    model, graphs = zoo.GCNLinear(), make_graphs(12)
    compiled = torch.compile(model)
    fitted = rc.RCExplainer(epochs=1).fit(compiled, graphs, progress=False)
    path = fitted.save(tmp_path / "explainer.safetensors")
    expected = fitted.explain(graphs[0]).edge_scores
    for given in (compiled, model):
        assert torch.equal(rc.load(path, given).explain(graphs[0]).edge_scores, expected)
    other = rc.RCExplainer(epochs=1).fit(compiled, graphs, head=compiled.lin, device="cpu", progress=False)
    assert other.split.head_name == "lin"
    changed = torch.compile(zoo.GCNLinear())
    changed.load_state_dict(compiled.state_dict())
    torch.nn.init.ones_(changed.conv1.bias)
    with pytest.raises(CheckpointError, match=r"this one was trained since: conv1.bias"):
        rc.load(path, changed)
