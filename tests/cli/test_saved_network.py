"""A saved network is opened with the data and the split it was trained on, or refused."""

from dataclasses import replace

import pytest

from rcexplainer.cli import saved_network
from rcexplainer.cli.saved_network import open_network
from rcexplainer.errors import CheckpointError
from rcexplainer.gnn import load_gnn, save_gnn
from tests.benchmark.toys import small


def test_the_split_is_the_one_the_network_was_trained_on(other_gnn):
    opened = open_network("ba-2motifs", other_gnn)
    assert opened.seed == 1
    assert opened.data.split.test.tolist() == small("ba-2motifs", seed=1).split.test.tolist()
    assert open_network("ba-2motifs", other_gnn, 1).seed == 1
    with pytest.raises(CheckpointError, match="was trained with seed 1: --seed 0 would give another split"):
        open_network("ba-2motifs", other_gnn, 0)


def test_a_network_whose_file_has_no_seed_and_no_dataset(gnn, tmp_path):
    model = load_gnn(gnn).model
    path = save_gnn(tmp_path / "gnn", model)
    assert open_network("ba-2motifs", path).seed == 0
    assert open_network("ba-2motifs", path, 5).seed == 5
    with pytest.raises(CheckpointError, match=r"trained on other data: it has 10 node features, nitro has \d+"):
        open_network("nitro", path)


def test_other_data_are_refused(gnn, tmp_path):
    with pytest.raises(CheckpointError, match="was trained on ba-2motifs, not on nitro"):
        open_network("nitro", gnn)
    with pytest.raises(CheckpointError, match="was trained on ba-2motifs, not on tree-cycles"):
        open_network("tree-cycles", gnn)
    nameless = save_gnn(tmp_path / "gnn", load_gnn(gnn).model)
    with pytest.raises(CheckpointError, match="is for graph prediction, tree-cycles is for node prediction"):
        open_network("tree-cycles", nameless)


def test_a_file_is_the_same_from_any_folder(gnn, tmp_path, monkeypatch):
    path = save_gnn(tmp_path / "gnn", load_gnn(gnn).model, {"dataset": "csv:data/mine.csv"})
    monkeypatch.setattr(saved_network, "load", lambda name, root, seed: replace(small("ba-2motifs"), name=name))
    assert open_network("csv:/home/me/data/mine.csv", path).data.name == "csv:/home/me/data/mine.csv"
    with pytest.raises(CheckpointError, match=r"was trained on csv:data/mine.csv, not on csv:yours.csv"):
        open_network("csv:yours.csv", path)
