"""Training is deterministic by seed, keeps the best validation epoch, and learns what can be learnt."""

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.datasets import Split, load
from rcexplainer.errors import CheckpointError, GraphError, RCExplainerError, WriteError
from rcexplainer.gnn import TrainConfig, accuracy, gnn_config, load_gnn, save_gnn, train_gnn

QUICK = TrainConfig(epochs=8, patience=8, batch_size=32, lr=0.01)


@pytest.fixture(scope="module")
def motifs():
    return load("ba-2motifs", num_graphs=120)


@pytest.fixture(scope="module")
def trained(motifs):
    return train_gnn(gnn_config("paper", 10, 2), motifs.graphs, motifs.split, settings=QUICK, progress=False)


def test_same_seed_same_weights(motifs, trained):
    torch.manual_seed(99)  # the caller's own stream has no say, and is left alone
    state = torch.random.get_rng_state()
    again = train_gnn(gnn_config("paper", 10, 2), motifs.graphs, motifs.split, settings=QUICK, progress=False)
    assert torch.equal(torch.random.get_rng_state(), state)
    other = train_gnn(gnn_config("paper", 10, 2), motifs.graphs, motifs.split, settings=QUICK, seed=1, progress=False)
    pairs = list(zip(trained.model.parameters(), again.model.parameters(), other.model.parameters(), strict=True))
    assert all(torch.equal(one, two) for one, two, _ in pairs)
    assert not all(torch.equal(one, three) for one, _, three in pairs)
    assert trained.accuracy == again.accuracy


def test_learns_a_node_set():
    cycles = load("tree-cycles")
    settings = TrainConfig(epochs=60, lr=0.02, patience=60)
    config = gnn_config("paper", cycles.num_features, 2, "node")
    result = train_gnn(config, cycles.graphs, cycles.split, settings=settings, progress=False)
    assert result.accuracy["test"] > 0.9
    assert not result.model.training
    assert result.accuracy["test"] == accuracy(result.model, cycles.graphs, cycles.split.test)


def test_nodes_without_edges_count_as_what_the_settings_say():
    cycles = load("tree-cycles")
    graph, config = cycles.graphs[0], gnn_config("paper", cycles.num_features, 2, "node")
    for label in (0, 1):
        settings = TrainConfig(epochs=30, lr=0.02, patience=30, without_edges=(label, label))
        model = train_gnn(config, cycles.graphs, cycles.split, settings=settings, progress=False).model
        bare = model(graph.x, graph.edge_index[:, :0]).argmax(1)
        assert bare.eq(label).all()


def test_without_edges_must_fit_the_task(motifs):
    cycles = load("tree-cycles")
    for classes in ((0,), (0, 2), (0, -1)):
        settings = TrainConfig(epochs=1, without_edges=classes)
        with pytest.raises(RCExplainerError, match="a class for each of the 2"):
            train_gnn(gnn_config("paper", 10, 2, "node"), cycles.graphs, cycles.split, settings=settings)
    settings = TrainConfig(epochs=1, without_edges=(0, 0))
    with pytest.raises(RCExplainerError, match="node tasks"):
        train_gnn(gnn_config("paper", 10, 2), motifs.graphs, motifs.split, settings=settings)


def test_reported_accuracy_is_that_of_the_returned_model(motifs, trained):
    for part in ("train", "val", "test"):
        assert trained.accuracy[part] == accuracy(trained.model, motifs.subset(part))


def test_the_best_validation_epoch_is_kept_and_patience_stops():
    """Labels that cannot be learnt: validation never improves for long, so training stops early."""
    motifs = load("ba-2motifs", num_graphs=60)
    random = torch.Generator().manual_seed(0)
    graphs = []
    for graph in motifs.graphs:
        noise = graph.clone()
        noise.y = torch.randint(0, 2, (1,), generator=random)
        graphs.append(noise)
    settings = TrainConfig(epochs=500, patience=5, batch_size=16)
    result = train_gnn(gnn_config("paper", 10, 2), graphs, motifs.split, settings=settings, progress=False)
    assert result.best_epoch < 400


def test_progress_goes_to_standard_error(motifs, capsys):
    train_gnn(gnn_config("paper", 10, 2), motifs.graphs, motifs.split, settings=TrainConfig(epochs=1))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "epoch" in captured.err


def test_checkpoint_round_trip(tmp_path, motifs, trained):
    info = {"dataset": "ba-2motifs", "seed": 0, "accuracy": trained.accuracy}
    path = save_gnn(tmp_path / "folder" / "gnn.safetensors", trained.model, info)
    saved = load_gnn(path)
    assert saved.info == info
    assert saved.model.config == trained.model.config
    graph = motifs[0]
    torch.testing.assert_close(saved.model(graph.x, graph.edge_index), trained.model(graph.x, graph.edge_index))
    assert [file.name for file in path.parent.iterdir()] == ["gnn.safetensors"]


def test_damaged_checkpoints(tmp_path, trained):
    from safetensors.torch import save_file

    path = save_gnn(tmp_path / "gnn.safetensors", trained.model)
    with pytest.raises(CheckpointError, match="there is no file"):
        load_gnn(tmp_path / "none")
    with pytest.raises(CheckpointError, match=r"^load_gnn\(path\): path must name a file, got NoneType$"):
        load_gnn(None)
    with pytest.raises(CheckpointError, match=r"^save_gnn\(path, model\): path must name a file, got int$"):
        save_gnn(3, trained.model)
    with pytest.raises(CheckpointError, match=r"writes networks of rcexplainer.gnn, got Linear"):
        save_gnn(tmp_path / "own.safetensors", torch.nn.Linear(1, 1))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CheckpointError, match="cannot be read as safetensors"):
        load_gnn(path)
    save_file({"a": torch.ones(1)}, path)
    with pytest.raises(CheckpointError, match="is not a rcexplainer-gnn file: its format is None"):
        load_gnn(path)
    header = {"format": "rcexplainer-gnn", "config": '{"num_features": 3, "depth": 2}', "info": "{}"}
    save_file({"a": torch.ones(1)}, path, header)
    with pytest.raises(CheckpointError, match="unknown settings depth"):
        load_gnn(path)
    save_file({"a": torch.ones(1)}, path, header | {"config": "{"})
    with pytest.raises(CheckpointError, match="is damaged"):
        load_gnn(path)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, trained, monkeypatch):
    path = save_gnn(tmp_path / "gnn.safetensors", trained.model)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WriteError, match=r"gnn\.safetensors could not be written \(disk full\): make room, or name"):
        save_gnn(path, trained.model, {"other": 1})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_bad_input(motifs):
    config = gnn_config("paper", 10, 2)
    with pytest.raises(GraphError, match="no `y`"):
        train_gnn(config, [Data(x=torch.rand(2, 10), edge_index=torch.tensor([[0], [1]]))], motifs.split)
    with pytest.raises(GraphError, match="the graphs have 10 features per node, the model expects 7"):
        train_gnn(gnn_config("paper", 7, 2), motifs.graphs, motifs.split)
    with pytest.raises(GraphError, match="there is a label 5, but the model has 2 classes, 0 to 1"):
        train_gnn(gnn_config("paper", 10, 2), [_relabelled(graph, 5) for graph in motifs.graphs], motifs.split)
    with pytest.raises(GraphError, match="training split is empty"):
        train_gnn(config, motifs.graphs, Split(torch.empty(0).long(), motifs.split.val, motifs.split.test))
    with pytest.raises(GraphError, match="the validation split names instance 500, but the instances are 0 to 119"):
        train_gnn(config, motifs.graphs, Split(motifs.split.train, torch.tensor([3, 500]), motifs.split.test))


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("epochs", 0, "a whole number ≥ 1"),
        ("patience", 0, "a whole number ≥ 1"),
        ("lr", float("nan"), "a finite number > 0"),
        ("weight_decay", -1.0, "a finite number ≥ 0"),
        ("clip", 0.0, "a number > 0"),
    ],
)
def test_the_impossible_value_is_named(name, value, wanted):
    with pytest.raises(RCExplainerError, match=f"^{name} must be {wanted}, got {value}$"):
        TrainConfig(**{name: value})


def _relabelled(graph: Data, label: int) -> Data:
    copy = graph.clone()
    copy.y = torch.tensor([label])
    return copy
