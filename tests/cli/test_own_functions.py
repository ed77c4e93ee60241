"""`module:function`: what it means, and one clear sentence for everything that can be wrong with it."""

import sys
from pathlib import Path

import pytest
from torch import nn
from torch_geometric.data import Batch, Data

from rcexplainer.cli.own_functions import names_function, own_graphs, own_model
from rcexplainer.errors import RCExplainerError
from tests.cli.own_package import write_package


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A current directory with a package `own_one`, which Python does not know yet."""
    write_package(tmp_path, "own_one")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "own_one"]:
        del sys.modules[name]


def test_what_is_a_function_and_what_is_a_file(tmp_path, monkeypatch):
    assert names_function("my_package.gnn:load_model")
    assert names_function("gnn:load")
    for text in ("gnn.safetensors", "models/gnn.safetensors", "C:/gnn.safetensors", "a:b:c", "gnn:", ":load", "a-b:c"):
        assert not names_function(text)
    monkeypatch.chdir(tmp_path)
    Path("gnn:load").touch()
    assert not names_function("gnn:load")


def test_a_model_and_graphs(here, capsys):
    assert isinstance(own_model("own_one.gnn:graph_model"), nn.Module)
    captured = capsys.readouterr()
    assert captured.out == ""  # standard output is for results
    assert "a user's module may print" in captured.err
    assert len(own_graphs("own_one.data:graphs")) == 40
    assert isinstance(own_graphs("own_one.data:graph")[0], Data)
    assert len(own_graphs("torch_geometric.data:Data")) == 1  # whatever can be called without arguments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("own_two.gnn:load", "there is no module own_two, neither in the current directory, "),
        ("own_one.nets:load", "there is no module own_one.nets, neither"),
        ("own_one.wrong:load", "importing own_one.wrong raised RuntimeError: half written (wrong.py, line 1)"),
        ("own_one.needs:load", "importing own_one.needs raised ModuleNotFoundError: No module named 'a_package_that"),
        ("own_one.gnn:graph_modle", "the module own_one.gnn has no function graph_modle; did you mean graph_model?"),
        ("own_one.gnn:xyz", "has no function xyz; it has: Batch, GraphConv, Net, Unusual, broken, "),
        ("own_one.gnn:number", "the module own_one.gnn has no function number"),
        ("own_one.gnn:with_path", "is called without arguments, but with_path needs path: give them defaults"),
        ("own_one.gnn:broken", "raised FileNotFoundError: no weights here (gnn.py, line "),
        ("own_one.gnn:weights", "must return a torch.nn.Module, got OrderedDict; build the model and load these"),
        ("own_one.data:nothing", "must return a torch.nn.Module, got list"),
        ("gnn.py", "--model takes module:function, such as my_package.gnn:load_model, got 'gnn.py'"),
    ],
)
def test_models_that_cannot_be_had(here, text, message):
    with pytest.raises(RCExplainerError) as caught:
        own_model(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("--model")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "own_one.data:nothing",
            "must return a PyG Data, a list of them or a PyG dataset, got list: the data",
        ),
        ("own_one.data:words", "got str: expected PyG Data objects, got str"),
        ("own_one.gnn:graph_model", "got Net: expected PyG Data objects, got Net"),
        ("graphs.pt", "--graphs takes module:function, such as my_package.data:load_graphs, got 'graphs.pt'"),
    ],
)
def test_graphs_that_cannot_be_had(here, text, message):
    with pytest.raises(RCExplainerError) as caught:
        own_graphs(text)
    assert message in str(caught.value)


def test_a_batch_is_taken_apart(here):
    (here / "own_one" / "batch.py").write_text(
        "from own_one.data import graphs\nfrom torch_geometric.data import Batch\n"
        "def load():\n    return Batch.from_data_list(graphs())\n",
        encoding="utf-8",
    )
    found = own_graphs("own_one.batch:load")
    assert len(found) == 40
    assert not isinstance(found[0], Batch)
