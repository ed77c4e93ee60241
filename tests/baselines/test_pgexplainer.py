"""PGExplainer: its network and loss, that it learns, and that it can be kept."""

import inspect
from pathlib import Path

import pytest
import torch
import torch_geometric.explain as pyg
from safetensors.torch import load_file
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.baselines import PGExplainer
from rcexplainer.baselines.pg_gates import (
    PYG_PGEXPLAINER,
    PGSettings,
    gate_net,
    mean_loss,
    noisy_logits,
    unit_inputs,
    unit_logits,
)
from rcexplainer.baselines.pgexplainer import noisy_copies
from rcexplainer.baselines.soft_masks import SoftBatch
from rcexplainer.core.namespace import part
from rcexplainer.errors import CheckpointError, RCExplainerError
from rcexplainer.gnn import GNN, GNNConfig, split_model
from rcexplainer.gnn.graph_checks import as_graphs
from rcexplainer.gnn.instances import Instances
from rcexplainer.saving.files import write_tensors
from rcexplainer.tasks import TASKS
from rcexplainer.testing.sample_networks import motif_network, predictions
from tests.gnn.graphs import make_graphs
from tests.gnn.zoo import FEATURES

QUICK = {"epochs": 3, "batch_size": 2}
SAVED = Path(__file__).parents[1] / "fixtures" / "version-0.1"


def network(task: str = "graph", seed: int = 5, width: int = 8) -> GNN:
    torch.manual_seed(seed)
    return GNN(GNNConfig(FEATURES, 3, task=task, conv="graphconv", width=width, layers=2)).eval()


def batch_of(model, graphs) -> SoftBatch:
    instances = Instances(split_model(model, graphs), graphs)
    labels = instances.passes(lambda done: done.output).argmax(1)
    return SoftBatch(instances.split, *instances[instances.everything], labels)


def test_its_settings_for_pyg_are_pygs() -> None:
    ours, theirs = PGExplainer(**PYG_PGEXPLAINER).settings, pyg.PGExplainer.coeffs
    assert (ours.edge_size, ours.edge_ent, ours.bias) == (theirs["edge_size"], theirs["edge_ent"], theirs["bias"])
    assert list(ours.temperature) == theirs["temp"]
    assert ours.lr == inspect.signature(pyg.PGExplainer).parameters["lr"].default
    (first, last) = (layer.out_features for layer in gate_net(4, ours.hidden) if isinstance(layer, torch.nn.Linear))
    assert [first, last] == [layer.out_channels for layer in pyg.PGExplainer(1).mlp if hasattr(layer, "out_channels")]


def test_its_loss_is_pygs(monkeypatch) -> None:
    """On one directed graph, with the same noise and temperature."""
    model, (graph,) = network(), make_graphs(1, directed=True)
    soft, settings = batch_of(model, [graph]), PGSettings(**PYG_PGEXPLAINER, epochs=10)
    logits = torch.linspace(-2, 2, len(soft.units))
    terms = mean_loss(soft, logits, 0.3, settings, torch.Generator().manual_seed(0))

    theirs = pyg.PGExplainer(epochs=10)
    theirs.connect(
        pyg.ExplainerConfig(explanation_type="phenomenon", edge_mask_type="object"),
        pyg.ModelConfig(mode="multiclass_classification", task_level="graph", return_type="raw"),
    )
    noise = torch.rand(len(logits), generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(torch, "rand_like", lambda like: noise)
    gates = theirs._concrete_sample(logits, theirs._get_temperature(3))
    loss = theirs._loss(soft.run(gates.sigmoid()).output, soft.labels, gates)
    assert float(sum(terms.values())) == pytest.approx(float(loss), abs=0.01)  # PyG keeps masks off 0 and 1 by .005


def test_both_directions_are_read_alike() -> None:
    torch.manual_seed(0)
    soft = batch_of(network(), make_graphs(2))
    net = gate_net(16, 4)
    one, other = unit_inputs(soft)
    assert torch.equal(one, torch.cat([other[:, 8:], other[:, :8]], 1))
    torch.testing.assert_close(unit_logits(net, soft), ((net(one) + net(other)) / 2).squeeze(1))


def test_the_loss_reaches_every_weight() -> None:
    torch.manual_seed(0)
    soft, net = batch_of(network(), make_graphs(3)), gate_net(16, 4)
    loss = mean_loss(soft, unit_logits(net, soft), 0.0, PGSettings(), torch.Generator().manual_seed(0))
    for name, term in loss.items():
        slopes = torch.autograd.grad(term, list(net.parameters()), retain_graph=True)
        assert all(bool(slope.any()) for slope in slopes), name


def test_training_lowers_the_loss() -> None:
    model, graphs = network(), make_graphs(8)
    soft = batch_of(model, graphs)

    def loss(epochs: int) -> float:
        fitted = PGExplainer(epochs=epochs, batch_size=4).fit(model, graphs, progress=False)
        with torch.no_grad():
            logits = unit_logits(fitted.scores.nets[0], soft)
            return float(sum(mean_loss(soft, logits, 1.0, PGSettings(), torch.Generator().manual_seed(9)).values()))

    assert loss(30) < loss(1) - 0.5


def test_a_copy_without_noise_is_read_like_the_graph() -> None:
    for task, graphs in (("graph", make_graphs(3)), ("node", make_graphs(1, num_nodes=9))):
        model = network(task)
        split = split_model(model, graphs, task=task)
        instances = Instances(split, graphs if task == "graph" else TASKS["node"].training_graphs(graphs, [0, 4], 2))
        soft = SoftBatch(split, *instances[instances.everything], torch.zeros(len(instances), dtype=torch.long))
        net, generator = gate_net((2 if task == "graph" else 3) * 8, 4), torch.Generator().manual_seed(0)
        readings = noisy_copies(instances, 1e-9, generator)
        copied = noisy_logits(net, readings(instances.everything, soft.batch, soft.units, generator), task)
        assert copied.unit.tolist() == list(range(len(soft.units)))
        assert torch.equal(copied.owner, soft.units.owner)
        torch.testing.assert_close(copied.logits, unit_logits(net, soft))


def test_the_stability_loss_is_off_unless_it_has_a_weight() -> None:
    model, graphs = network(), make_graphs(4)
    assert PGExplainer().settings.weight_stable == 0

    def weight(**settings) -> torch.Tensor:
        return PGExplainer(**QUICK, **settings).fit(model, graphs, progress=False).scores.nets[0][0].weight

    assert torch.equal(weight(), weight(noise=0.5))
    assert not torch.equal(weight(weight_stable=5.0), weight())
    assert not torch.equal(weight(weight_stable=5.0), weight(weight_stable=5.0, noise=0.5))


def test_the_stability_loss_makes_it_robust() -> None:
    model, training, houses = motif_network("graphconv")

    def auc(**settings) -> float:
        fitted = PGExplainer(epochs=20, batch_size=16, **settings).fit(model, training[:60], progress=False)
        return rc.metrics.robustness(fitted, houses, [0.2], 5, copies=3).auc[0][0]

    assert auc(weight_stable=20.0) > auc() + 0.01


def test_settings_belong_to_one_explainer() -> None:
    assert PGExplainer(edge_size=7.0).settings.edge_size == 7
    assert PGExplainer().settings == PGSettings()


def test_there_are_no_scores_before_the_fit() -> None:
    with pytest.raises(RCExplainerError, match="use what `fit` returns"):
        PGExplainer().scores(None, None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"edge_sise": 1.0}, "unknown setting 'edge_sise'; did you mean edge_size?"),
        ({"taks": "node"}, "unknown setting 'taks'; did you mean task?"),
        ({"epochs": 0}, "epochs must be a whole number ≥ 1, got 0"),
        ({"temperature": (1.0, 0.0)}, "temperature must be a finite number > 0, got 0.0"),
        ({"temperature": 1.0}, r"temperature must be a pair \(T₀, T₁\), got 1.0"),
        ({"bias": 0.5}, "bias must be between 0 and ½, got 0.5"),
        ({"edge_ent": -1.0}, "edge_ent must be a finite number ≥ 0, got -1.0"),
        ({"lr": float("nan")}, "lr must be a finite number > 0, got nan"),
        ({"weight_stable": -1.0}, "weight_stable must be a finite number ≥ 0, got -1.0"),
        ({"noise": 0.0}, "noise must be a share above 0 and up to 1, got 0.0"),
    ],
)
def test_impossible_settings(wrong, message: str) -> None:
    with pytest.raises(RCExplainerError, match=message):
        PGExplainer(**wrong)


def test_another_seed_is_another_network() -> None:
    model, graphs = network(), make_graphs(4)
    one, other = (PGExplainer(**QUICK).fit(model, graphs, seed=seed, progress=False) for seed in (0, 1))
    assert not torch.equal(one.scores.nets[0][0].weight, other.scores.nets[0][0].weight)


def same_results(one, other) -> bool:
    removed = [some.counterfactual.removed for some in (one, other)]
    return torch.equal(one.edge_scores, other.edge_scores) and torch.equal(*removed)


def test_saved_and_loaded(tmp_path) -> None:
    """By the class, and by `rc.load`, which reads files of all methods."""
    model, graphs = network(), make_graphs(4)
    fitted = PGExplainer(**QUICK).fit(model, graphs, class_names=["a", "b", "c"], progress=False)
    path = fitted.save(tmp_path / "pg.safetensors")
    for loaded in (PGExplainer.load(path, model), rc.load(path, model)):
        assert type(loaded) is type(fitted)
        assert (loaded.settings, loaded.class_names, loaded.targets) == (fitted.settings, ("a", "b", "c"), (None,))
        assert all(map(same_results, fitted.explain(graphs), loaded.explain(graphs)))


def test_its_target_class_is_saved(tmp_path) -> None:
    model, graphs = network(), make_graphs(4)
    target = 1 if predictions(model, graphs[:1]).tolist() == [2] else 2
    fitted = PGExplainer(target_class=target, **QUICK).fit(model, graphs, progress=False)
    loaded = rc.load(fitted.save(tmp_path / "pg.safetensors"), model)
    assert loaded.targets == fitted.targets == (target,)
    assert loaded.explain(graphs[0]).counterfactual.target == target
    with pytest.raises(RCExplainerError, match=f"was fitted for target_class {target}, not 0"):
        loaded.explain(graphs[0], target_class=0)


def test_saved_and_loaded_for_nodes(tmp_path) -> None:
    model, (graph,) = network("node"), make_graphs(1, num_nodes=20)
    graph.y = None
    fitted = PGExplainer(task="node", **QUICK).fit(model, graph, index=[0, 2, 4, 6], progress=False)
    assert fitted.scores.nets[0][0].in_features == 3 * 8  # the two ends, and the explained node
    loaded = PGExplainer.load(fitted.save(tmp_path / "pg.safetensors"), model)
    assert loaded.hops == fitted.hops == 2
    one, other = (some.explain(graph, index=5, search="none") for some in (fitted, loaded))
    assert torch.equal(one.edge_scores, other.edge_scores)


def test_a_file_of_version_0_1_explains_as_it_did() -> None:
    expected = load_file(SAVED / "pgexplainer-expected.safetensors")
    model = rc.gnn.load_gnn(SAVED / "pgexplainer-gnn.safetensors").model
    count = sum(name.startswith("scores.") for name in expected)
    graphs = [Data(**part(f"graph.{place}", expected)) for place in range(count)]
    fitted = rc.load(SAVED / "pgexplainer-explainer.safetensors", model)
    assert (fitted.targets, fitted.hops, fitted.device) == ((None,), 0, None)
    for place, one in enumerate(fitted.explain(graphs)):
        torch.testing.assert_close(one.edge_scores, expected[f"scores.{place}"], atol=1e-6, rtol=0)
        torch.testing.assert_close(one.probabilities, expected[f"probabilities.{place}"], atol=1e-6, rtol=0)
        assert torch.equal(one.counterfactual.removed, expected[f"removed.{place}"].bool())


def test_files_that_do_not_fit(tmp_path) -> None:
    model, graphs = network(), make_graphs(4)
    path = PGExplainer(**QUICK).fit(model, graphs, progress=False).save(tmp_path / "pg.safetensors")
    with pytest.raises(CheckpointError, match="was fitted for another GNN, or this one was trained since"):
        PGExplainer.load(path, network(seed=6))
    with pytest.raises(CheckpointError, match="is not a rcexplainer-explainer file: its format is 'rcexplainer-pgexpl"):
        rc.FittedRCExplainer.load(path, model)
    with pytest.raises(CheckpointError, match="there is no file"):
        PGExplainer.load(tmp_path / "nothing", model)
    other = write_tensors(tmp_path / "other", {"x": torch.ones(1)}, {"format": "another"})
    with pytest.raises(CheckpointError, match="is not a rcexplainer-pgexplainer file: its format is 'another'"):
        PGExplainer.load(other, model)
    with pytest.raises(CheckpointError, match="holds no fitted explainer: its format is 'another', not rcexplainer-"):
        rc.load(other, model)
    damaged = write_tensors(tmp_path / "damaged", {"x": torch.ones(1)}, {"format": "rcexplainer-pgexplainer"})
    with pytest.raises(CheckpointError, match="is damaged or was written by another version: 'about'"):
        PGExplainer.load(damaged, model)


def test_it_learns_from_a_stream_of_graphs() -> None:
    model = network()
    fitted = PGExplainer(**QUICK).fit(model, (graph for graph in make_graphs(4)), progress=False)
    again = PGExplainer(**QUICK).fit(model, as_graphs(make_graphs(4)), progress=False)
    assert torch.equal(fitted.scores.nets[0][0].weight, again.scores.nets[0][0].weight)
