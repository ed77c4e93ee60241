"""Mistakes of somebody new or busy end in an error of ours that names the way out."""

import inspect
import pickle
import re
from collections import namedtuple
from copy import copy, deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data, HeteroData, TemporalData
from torch_geometric.nn import GCNConv, global_mean_pool

import rcexplainer as rc
from rcexplainer.arguments import clear_arguments
from rcexplainer.errors import ArgumentError, ExplainError, GraphError, NotFittedError, RCExplainerError, SplitError
from rcexplainer.gnn import split_model
from tests.gnn.graphs import make_graphs

WIDTH = 5
METHODS = [value for name in rc.baselines.__all__ if inspect.isclass(value := getattr(rc.baselines, name))]


class Net(nn.Module):
    """A graph classifier; `result` says what it returns of (nodes, pooled, logits)."""

    def __init__(self, result=lambda nodes, pooled, logits: logits) -> None:
        super().__init__()
        torch.manual_seed(0)
        width = make_graphs(1)[0].x.size(1)
        self.conv, self.lin, self.result = GCNConv(width, WIDTH), nn.Linear(WIDTH, 2), result

    def forward(self, x, edge_index, batch):
        nodes = self.conv(x, edge_index).relu()
        pooled = global_mean_pool(nodes, batch)
        return self.result(nodes, pooled, self.lin(pooled))


class NodeNet(Net):
    """A node classifier."""

    def forward(self, x, edge_index):
        return self.lin(self.conv(x, edge_index).relu())


class Table(nn.Module):
    """A row for each of 30 nodes, with or without message passing."""

    def __init__(self, passing: bool) -> None:
        super().__init__()
        self.emb, self.conv, self.lin = nn.Embedding(30, WIDTH), GCNConv(WIDTH, WIDTH), nn.Linear(WIDTH, 2)
        self.passing = passing

    def forward(self, x, edge_index):
        rows = self.emb.weight
        return self.lin(self.conv(rows, edge_index) if self.passing else rows)


@pytest.fixture(scope="module")
def graphs() -> list[Data]:
    return make_graphs(6)


@pytest.fixture(scope="module")
def fitted(graphs):
    return rc.baselines.Occlusion().fit(Net(), graphs, class_names=["dull", "toxic"])


@pytest.fixture(scope="module")
def graph() -> Data:
    found = make_graphs(1, num_nodes=20)[0]
    found.y = None
    return found


def test_the_rows_of_an_output_tell_what_a_model_is_for(graphs, graph) -> None:
    with pytest.raises(SplitError, match=r'what a graph classifier returns: for one pass task="graph"') as said:
        split_model(Net(), graph, task="node")
    assert "`batch`" not in str(said.value)
    with pytest.raises(SplitError, match=r'what a node classifier returns: for one pass task="node"'):
        split_model(NodeNet(), graphs)
    with pytest.raises(SplitError, match="pools the nodes of all graphs together"):
        split_model(Net(lambda nodes, pooled, logits: logits.mean(0)), graphs)


@pytest.mark.parametrize("passing", [True, False])
def test_a_table_with_a_row_for_each_node(graphs, graph, passing: bool) -> None:
    with pytest.raises(SplitError, match="these are the 30 rows of its embedding table 'emb', whatever the") as said:
        split_model(Table(passing), graph, task="node")
    assert "n_id=torch.arange(num_nodes)" in str(said.value)
    assert "`batch`" not in str(said.value)
    if passing:
        many = make_graphs(8, num_nodes=12)
        with pytest.raises(SplitError, match="embedding table 'emb' has 30 rows, which does not fit these graphs"):
            split_model(Table(passing), many)


class NodeTable(nn.Module):
    """A row for each node of one graph, of an embedding or of a parameter."""

    def __init__(self, rows: nn.Embedding | nn.Parameter) -> None:
        super().__init__()
        self.rows, self.conv = rows, GCNConv(WIDTH, 2)

    def forward(self, x, edge_index):
        rows = self.rows.weight if isinstance(self.rows, nn.Embedding) else self.rows
        return self.conv(rows, edge_index)


@pytest.mark.parametrize("make", [nn.Embedding, lambda rows, width: nn.Parameter(torch.randn(rows, width))])
def test_a_table_that_fits_the_whole_graph_does_not_fit_a_part_of_it(graph, make) -> None:
    """Its rows are too few for the probed computation graphs together, or more than these have nodes."""
    nodes = torch.arange(200)
    ring = torch.stack([nodes, nodes.roll(1)])
    large = Data(x=torch.randn(200, WIDTH), edge_index=torch.cat([ring, ring.flip(0)], 1))
    for given, reason in ((graph, "index 20 is out of bounds"), (large, "NodeTable should return one row of class")):
        with pytest.raises(GraphError, match=f"whole graph but not on a part of it: {reason}") as said:
            rc.baselines.Occlusion(task="node").fit(NodeTable(make(given.num_nodes, WIDTH)), given)
        assert "n_id=torch.arange(num_nodes)" in str(said.value)
        assert "forward=" not in str(said.value)


def test_columns_that_are_far_more_than_the_labels_have_classes_are_doubted(graphs, caplog) -> None:
    class Encoder(Net):
        def __init__(self) -> None:
            super().__init__()
            self.lin = nn.Linear(WIDTH, 16)

    split_model(Encoder(), graphs)
    assert "Encoder returns 16 columns, but the labels of these graphs are 0 to 2" in caplog.text
    caplog.clear()
    split_model(Encoder(), graphs, output="logits")
    split_model(Net(), graphs)
    assert not caplog.text


def test_a_model_without_arguments(graphs) -> None:
    class Constant(nn.Module):
        def forward(self):
            return torch.zeros(6, 2)

    with pytest.raises(SplitError, match=r"Constant.forward takes no arguments, so its answer cannot depend"):
        split_model(Constant(), graphs)


Named = namedtuple("Named", "nodes pooled scores")


@pytest.mark.parametrize(
    ("result", "right"),
    [
        (lambda *three: three, "[2]"),
        (lambda *three: three[::-1], "[0]"),
        (lambda nodes, pooled, logits: {"pooled": pooled, "scores": logits}, "['scores']"),
        (lambda *three: Named(*three), ".scores"),
    ],
)
@pytest.mark.parametrize("frozen", [True, False])
def test_the_prediction_is_computed_from_the_other_outputs(graphs, result, right: str, frozen: bool) -> None:
    model = Net(result).requires_grad_(not frozen)
    with pytest.raises(SplitError) as said:
        split_model(model, graphs)
    assert f"; {right} is computed from the others: take it with" in str(said.value)
    assert str(said.value).endswith(f"model(…){right}")
    assert all(parameter.grad is None for parameter in model.parameters())


def test_of_two_heads_none_is_recommended(graphs) -> None:
    with pytest.raises(SplitError, match=r"; take the prediction with .* model\(…\)\[…\]"):
        split_model(Net(lambda nodes, pooled, logits: (pooled * 2, logits)), graphs)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda logits: logits.argmax(1), "but returned integers of shape (6,), which look like class numbers; "),
        (lambda logits: logits.argmax(1), "return the scores before argmax"),
        (lambda logits: logits > 0, "but returned booleans of shape (6, 2); return scores, as real numbers"),
        (lambda logits: logits.to(torch.complex64), "but returned complex numbers of shape (6, 2); return real"),
        (lambda logits: logits.detach().numpy(), "but returned a numpy array of shape (6, 2); return a torch"),
        (lambda logits: None, "but returned None; its forward must return them"),
        (
            lambda logits: SimpleNamespace(logits=logits),
            "but returned SimpleNamespace, which has .logits; pass forward=lambda model, batch, edge_weight: "
            "model(…).logits",
        ),
        (lambda logits: SimpleNamespace(text="yes"), "but returned SimpleNamespace; if it needs other arguments"),
    ],
)
def test_an_output_without_scores_is_described_with_the_way_out(graphs, result, said: str) -> None:
    with pytest.raises(SplitError, match=re.escape(said)):
        split_model(Net(lambda nodes, pooled, logits: result(logits)), graphs)


def test_the_way_out_for_an_object_with_logits_is_one(graphs) -> None:
    model = Net(lambda nodes, pooled, logits: SimpleNamespace(logits=logits))
    split = split_model(model, graphs, forward=lambda net, batch, _: net(batch.x, batch.edge_index, batch.batch).logits)
    assert split.num_classes == 2


class Narrow(nn.Module):
    """Returns values of one width: those of `result` of (nodes, pooled, logits), two columns each."""

    def __init__(self, result) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.lin, self.result = GCNConv(make_graphs(1)[0].x.size(1), 2), nn.Linear(2, 2), result

    def forward(self, x, edge_index, batch):
        nodes = self.conv(x, edge_index)
        pooled = global_mean_pool(nodes, batch)
        return self.result(nodes, pooled, self.lin(pooled))


def test_an_embedding_as_wide_as_the_logits_is_no_prediction(graphs) -> None:
    with pytest.raises(SplitError, match=r"; \[2\] is computed from the others: take it with .* model\(…\)\[2\]"):
        split_model(Narrow(lambda *three: three), graphs)
    with pytest.raises(SplitError, match=r"; take the prediction with .* model\(…\)\[…\]"):
        split_model(Narrow(lambda nodes, pooled, logits: (pooled * 2, logits)), graphs)


@pytest.mark.parametrize("units", [torch.softmax, torch.log_softmax, lambda logits, _: logits.clone()])
def test_one_prediction_in_two_units_is_one_prediction(graphs, units) -> None:
    for order in (1, -1):
        both = Narrow(lambda nodes, pooled, logits, order=order: (logits, units(logits, 1))[::order])
        alone = Narrow(lambda nodes, pooled, logits, order=order: (logits, units(logits, 1))[::order][0])
        assert torch.equal(split_model(both, graphs).run(graphs).output, split_model(alone, graphs).run(graphs).output)


def test_the_place_of_the_prediction_is_remembered(graphs) -> None:
    """In a graph with a single node, the nodes have as many rows as the graphs."""
    split = split_model(Narrow(lambda nodes, pooled, logits: (nodes, logits)), graphs)
    single = Data(x=graphs[0].x[:1], edge_index=torch.empty(2, 0, dtype=torch.long))
    one = torch.zeros(1, dtype=torch.long)
    assert torch.equal(split.run(single).output, split.model(single.x, single.edge_index, one)[1])
    split.model.result = lambda nodes, pooled, logits: (nodes,)
    with pytest.raises(SplitError, match=r"Narrow returned its prediction as \[1\] before, and nothing there now"):
        split.run(single)


@pytest.mark.parametrize("call", ["fit", "explain", "list"])
def test_a_graph_of_networkx(graphs, fitted, call: str) -> None:
    networkx = pytest.importorskip("networkx")
    path = networkx.path_graph(3)
    calls = {
        "fit": lambda: rc.RCExplainer().fit(Net(), path),
        "explain": lambda: fitted.explain(path),
        "list": lambda: rc.RCExplainer().fit(Net(), [path, path]),
    }
    with pytest.raises(GraphError, match=r"got a networkx Graph: .* torch_geometric.utils.from_networkx"):
        calls[call]()
    with pytest.raises(ExplainError, match="got a networkx Graph") as said:
        fitted.explain([graphs[0], path])
    assert isinstance(said.value.results[0], rc.Explanation)


class DGLGraph:
    """Looks like one."""

    __module__ = "dgl.heterograph"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (DGLGraph(), r"got a dgl DGLGraph: .*from_dgl"),
        (HeteroData(), r"heterogeneous graphs are not supported: got HeteroData; .*to_homogeneous\(\)"),
        (
            TemporalData(src=torch.tensor([0]), dst=torch.tensor([1]), t=torch.tensor([0])),
            r"temporal graphs are not supported: got TemporalData; .*torch.stack\(\[events.src, events.dst\]\)",
        ),
        ((torch.ones(2, 3), torch.zeros(2, 2)), r"got tuple: .* Data\(x=x, edge_index=edge_index\)"),
        ({"edge_index": 1}, r"got dict: Data\(\*\*graph\)"),
        ({"first": Data(x=torch.ones(1, 3))}, r"got dict: .* without their names: list\(graphs.values\(\)\)"),
        (torch.ones(2), "got Tensor: make one Data"),
        ("CCO", r"got str: graphs of a file are read by rc.datasets.GraphTable\(path\)"),
        (3, r"got int: nodes and links are named by index"),
        (Net(), r"got Net: fit takes the model, then the graphs"),
        (None, "got NoneType"),
        (torch.utils.data.DataLoader([1]), r"got a torch DataLoader: take torch_geometric.loader.DataLoader"),
    ],
)
def test_what_is_no_graph(fitted, given, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        fitted.explain(given)
    with pytest.raises(RCExplainerError):
        rc.RCExplainer().fit(Net(), [given])


def test_graphs_with_their_labels_beside_them(graphs) -> None:
    for label in (0, torch.tensor(0)):
        with pytest.raises(GraphError, match="pass the graphs alone, without their labels"):
            rc.RCExplainer().fit(Net(), [(one, label) for one in graphs])


def test_a_whole_dataset_would_have_its_test_part_learnt(fitted) -> None:
    graphs = rc.datasets.load("ba-2motifs", num_graphs=20)
    for call in (lambda: rc.RCExplainer().fit(Net(), graphs), lambda: fitted.explain(graphs)):
        with pytest.raises(GraphError, match=r'fit on data.subset\("train"\), explain data.subset\("test"\)'):
            call()
    with pytest.raises(GraphError, match=r"fit\(model, data.graph, index=data.split.train\)"):
        rc.RCExplainer(task="node").fit(Net(), rc.datasets.load("tree-cycles"))
    with pytest.raises(rc.errors.DatasetError, match="a part is train, val or test, got 'training'"):
        graphs.subset("training")


@pytest.mark.parametrize("method", [rc.RCExplainer, *METHODS])
def test_a_method_that_is_not_fitted_says_so(method) -> None:
    made = method()
    for name in ("explain", "explain_iter", "split", "save", "regions"):
        with pytest.raises(NotFittedError, match=f"{method.__name__} is not fitted yet: {name} belongs to what fit"):
            getattr(made, name)
        assert not hasattr(made, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'") as said:
        made.nothing  # noqa: B018
    assert not isinstance(said.value, RCExplainerError)
    assert repr(deepcopy(copy(made))) == repr(pickle.loads(pickle.dumps(made))) == repr(made)


def test_an_error_is_looked_for_where_it_is() -> None:
    with pytest.raises(AttributeError, match=r"it is rcexplainer\.errors\.RCExplainerError$"):
        rc.RCExplainerError  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'OtherError'; it has "):
        rc.OtherError  # noqa: B018


def test_what_a_fitted_explainer_does_not_have(fitted) -> None:
    with pytest.raises(NotFittedError, match="fitted already"):
        fitted.fit(Net(), [])
    with pytest.raises(NotFittedError, match="nothing to save"):
        fitted.save("file")
    assert not hasattr(fitted, "nothing")
    assert copy(fitted).class_names == ("dull", "toxic")
    with pytest.raises(NotFittedError, match="split belongs to what fit returns"):
        rc.metrics.robustness(rc.RCExplainer(), [], noise=[0.1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2], r"got list; the model comes first: fit\(model, graphs\)"),
        ("model.pt", r"got str; a file is read into a model first"),
        ({"weight": 1}, r"got dict; weights go into a model first: model.load_state_dict\(weights\)"),
        (Net, "got the class Net: pass a trained model of it"),
    ],
)
def test_what_is_no_model(graphs, given, said: str) -> None:
    for method in (rc.RCExplainer(), rc.baselines.Random()):
        with pytest.raises(SplitError, match=said):
            method.fit(given, graphs)


def test_arguments_that_do_not_exist(graphs, fitted) -> None:
    for call, said in (
        (lambda: rc.RCExplainer().fit(Net(), graphs, epochs=3), r"it is a setting, RCExplainer\(epochs=…\).fit\(…\)"),
        (
            lambda: rc.RCExplainer().fit(Net(), graphs, class_name=[]),
            "class_name; did you mean class_names",
        ),
        (lambda: rc.baselines.Random().fit(Net(), graphs, clas_names=[]), "did you mean class_names?"),
        (lambda: rc.RCExplainer.fit(Net(), graphs), "fit is called on an object, not on the class"),
        (lambda: fitted.explain(graphs[0], serach="greedy"), "did you mean search?"),
        (lambda: rc.baselines.Random().fit(Net(), graphs, 3), r"fit\(model, graphs, …\): .*, such as index=…"),
        (lambda: fitted.explain(graphs[0], 3), "give the other arguments by name, such as index=…"),
        (lambda: fitted.explain(), r"explain\(graphs\): missing a required argument: 'graphs'"),
        (lambda: rc.load("explainer.safetensors"), r"load\(path, model\): missing a required argument: 'model'"),
        (lambda: rc.metrics.fidelity([]), r"^fidelity\(model, explanations, sparsity\): missing .* 'explanations'$"),
        (
            lambda: rc.metrics.fidelity(Net(), [], [0.5], 3),
            r"^fidelity\(model, explanations, sparsity\): too many posit",
        ),
        (
            lambda: rc.metrics.robustness(fitted, graphs, nois=[0.1]),
            "^robustness has no argument nois; did you mean noise",
        ),
        (lambda: rc.metrics.robustness(fitted, graphs, [0.1], 8, "paper"), "give the other arguments by name, such as"),
    ):
        with pytest.raises(ArgumentError, match=said):
            call()


@pytest.mark.parametrize("name", [name for name in rc.metrics.__all__ if name.islower()])
def test_every_metric_says_what_it_is_called_with(name: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} has no argument colour; it has "):
        getattr(rc.metrics, name)(colour="red")
    with pytest.raises(ArgumentError, match=rf"^{name}\(.*\): missing a required argument: "):
        getattr(rc.metrics, name)()


def test_a_model_in_the_place_of_its_explainer(fitted, graphs, tmp_path) -> None:
    one, needed = fitted.explain(graphs[0]), "needs a fitted explainer, such as rc.RCExplainer"
    for given in (Net(), None, 3, graphs[0]):
        said = rf"{needed}\(\)\.fit\(model, graphs\), got {type(given).__name__}$"
        with pytest.raises(RCExplainerError, match=rf"^robustness\(fitted, graphs\) {said}"):
            rc.metrics.robustness(given, graphs)
        with pytest.raises(RCExplainerError, match=rf"^explain_time\(fitted, graphs\) {said}"):
            rc.metrics.explain_time(given, graphs)
        with pytest.raises(
            RCExplainerError, match=r"(?s)^region_agreement needs a fitted RCExplainer, .* has no regions$"
        ):
            rc.metrics.region_agreement(given, [one])
        if given is not None:
            with pytest.raises(RCExplainerError, match=rf"^page\(explanations, path, fitted\) {said}"):
                rc.viz.page(one, tmp_path / "page.html", given)
    with pytest.raises(NotFittedError):
        rc.metrics.explain_time(rc.RCExplainer(), graphs)
    with pytest.raises(RCExplainerError, match="explain_time needs a list of graphs, got generator"):
        rc.metrics.explain_time(fitted, (one for one in graphs))


def test_more_edges_than_there_are_numbers_for_are_all_edges(fitted, graphs) -> None:
    one = fitted.explain(graphs[0])
    assert torch.equal(one.top(2**80), one.top(len(one.units)))
    few, many = (rc.metrics.robustness(fitted, graphs, [0.0], k) for k in (10_000, 2**80))
    assert str(few.auc) == str(many.auc)


def test_a_type_error_inside_a_function_stays_one() -> None:
    @clear_arguments()
    def broken(number: int) -> int:
        return number + "1"

    with pytest.raises(TypeError, match="unsupported operand") as said:
        broken(1)
    assert not isinstance(said.value, ArgumentError)


def test_values_that_cannot_be(graphs, fitted) -> None:
    one, model = fitted.explain(graphs[0]), Net()
    for call, said in (
        (lambda: rc.RCExplainer(model), r"the model is given to fit: RCExplainer\(…\).fit\(model, graphs\)"),
        (lambda: rc.RCExplainer().fit(model, graphs, class_names="toxic"), "must be a list of texts"),
        (lambda: rc.RCExplainer().fit(model, graphs, class_names={0: "dull", 1: "toxic"}), "must be a list of texts"),
        (lambda: rc.RCExplainer().fit(model, graphs, seed="0"), "seed must be a whole number from 0 to 2⁶³−1, got '0'"),
        (lambda: rc.RCExplainer().fit(model, graphs, seed=2**70), "seed must be a whole number from 0 to 2⁶³−1, got"),
        (lambda: rc.baselines.PGExplainer().fit(model, graphs, seed=-1), "seed must be a whole number from 0 to 2⁶³−1"),
        (lambda: rc.datasets.stratified_split([0, 1], 2**32), "seed must be a whole number from 0 to 2³²−1, got 4294"),
        (lambda: rc.RCExplainer().fit(model, graphs, forward=lambda m, b: m), r"but its own are \(m, b\)"),
        (lambda: rc.RCExplainer().fit(model, graphs, forward="forward"), "forward must be a function of"),
        (lambda: rc.RCExplainer().fit(model, graphs, device="gpu"), "a device is named cpu, cuda"),
        (lambda: fitted.explain(graphs[0], target_class="toxic"), "0 to 1; toxic is class 1"),
        (lambda: fitted.explain(graphs[0], target_class=torch.tensor(2)), "no target_class 2: the model has"),
        (lambda: fitted.explain(graphs[0], target_class=torch.tensor(1.0)), "no target_class 1.0: the model has"),
        (lambda: fitted.explain(graphs[0], target_class=torch.tensor([0, 1])), r"no target_class tensor\[2\]: the"),
        (lambda: rc.RCExplainer(target_class=torch.tensor(True)), "must be a class number or None, got True"),
        (lambda: rc.RCExplainer().fit(model, graphs, val=3), "^val takes graphs like those of the fit, .*, got 3$"),
        (lambda: rc.RCExplainer().fit(model, graphs, background=3), "^background takes graphs like .*, got 3$"),
        (lambda: rc.RCExplainer().fit(model, graphs, val=[]), "^val: the dataset is empty"),
        (lambda: rc.RCExplainer().fit(model, graphs, val=[graphs[0], 3]), "^val: expected PyG Data objects, got int"),
        (lambda: rc.RCExplainer().fit(model, graphs, val=[Data()]), "^val graph 0 "),
        (lambda: rc.RCExplainer().fit(model, graphs, background=(one for one in ())), "^background: the dataset is"),
        (lambda: rc.RCExplainer("node").fit(NodeNet(), graphs[0], val=[]), "^val: the index is empty"),
        (lambda: rc.RCExplainer("node").fit(NodeNet(), graphs[0], background=3), "^background takes graphs like"),
        (lambda: rc.RCExplainer().fit(model, graphs, class_names=["a", "a"]), "class_names must differ, got 'a' more"),
        (lambda: rc.baselines.Occlusion().fit(model, graphs, class_names=["a", "a"]), "class_names must differ"),
        (lambda: fitted.explain(graphs[0], candidates=[0, 1]), "got a list with 0"),
        (lambda: one.top("3"), "got '3'"),
        (lambda: one.top(0.3), "a number of edges, got 0.3"),
        (lambda: one.at_sparsity("0.9"), "such as 0.9, got '0.9'"),
        (lambda: rc.metrics.fidelity([one], model), "a list, got Net"),
        (lambda: rc.metrics.fidelity(model, one), "a list, got Explanation"),
        (lambda: rc.metrics.fidelity(model, graphs), "expected explanations, got Data in place 0"),
        (lambda: rc.metrics.fidelity(model, [one], sparsity=0.9), "sparsity must be a list of shares"),
        (lambda: rc.metrics.counterfactuals(one), "a list, got Explanation"),
        (lambda: rc.metrics.robustness(fitted, graphs, noise=0.1), "noise must be a list of shares"),
        (lambda: rc.load(model, "explainer.safetensors"), "path must name a file, got Net"),
        (lambda: rc.RCExplainer(target_class="all"), "must be a class number, \"each\" or None, got 'all'"),
        (lambda: fitted.explain(graphs[0], disclose=np.array(["a", "b"])), "disclose must be one of scores"),
        (lambda: rc.datasets.load(None), "takes the name of a dataset"),
        (lambda: rc.viz.subplots(0, 1), "rows must be a whole number ≥ 1, got 0"),
        (lambda: rc.viz.subplots(1, "2"), "columns must be a whole number ≥ 1, got '2'"),
        (lambda: rc.viz.subplots(1, 1, size=-1), "size must be a finite number > 0, got -1"),
        (lambda: rc.viz.legend(graphs[0]), "legend takes a figure, such as rc.viz.subplots makes, got Data"),
        (lambda: rc.viz.legend(rc.viz.subplots(1, 1)[0], 3), "kinds must be a list of texts, got 3"),
        (lambda: rc.viz.target_grid([one], ["a"], ["b"]), "examples must be a dict from"),
        (lambda: rc.viz.target_grid({(0, 1): graphs[0]}, ["a"], ["b"]), "must be an explanation, got Data"),
        (lambda: rc.viz.target_grid({(0, 1): one}, "ab", ["b"]), "class_names must be a list of texts, got 'ab'"),
        (lambda: rc.viz.target_grid({(0, 1): one}, ["a"], ["b"]), "has no edge_motif_id"),
        (lambda: rc.datasets.load("mutag", seed="0"), "seed must be a whole number"),
    ):
        with pytest.raises(RCExplainerError, match=said):
            call()


def test_a_class_in_a_tensor_is_that_class(fitted, graphs) -> None:
    for given in (torch.tensor(1), torch.tensor([1]), np.int64(1)):
        assert fitted.explain(graphs[0], target_class=given).counterfactual.target == 1
        assert rc.RCExplainer(target_class=given).target_class == 1
        assert rc.baselines.Occlusion(target_class=given).target_class == 1


def test_an_error_of_all_instances_speaks_of_no_others(fitted, graphs) -> None:
    with pytest.raises(ExplainError, match=r"got NoneType \(1 more failed too\)$"):
        fitted.explain([None, None])
    with pytest.raises(ExplainError, match=r"got NoneType; the others are in .results$"):
        fitted.explain([None, graphs[0]])
