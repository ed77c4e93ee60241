"""Every kind of dataset × a network of ours or a user's own × every command, as a new user would type them.

graphs   nitro, a CSV file of SMILES
nodes    ba-shapes, tree-cycles
links    shared-neighbours
"""

import json
import sys

import pytest

from rcexplainer.cli import own_network, saved_network, served_page
from rcexplainer.datasets import load
from rcexplainer.gnn import TrainConfig, gnn_config, save_gnn, train_gnn
from rcexplainer.gnn.models import DEFAULT_MODELS

PACKAGE = "combined"
CSV = "csv:molecules.csv"
# dataset → the instances to fit on, none: the training part, and those to explain
SETS = {
    "nitro": (None, "0,2"),
    CSV: (None, "0,1"),
    "ba-shapes": ("300,301,302,303,304,310,311,312", "305,309"),
    "tree-cycles": ("511,512,513,514,515,516,517,3,4,5", "520,531"),
    "shared-neighbours": (None, "0,1"),
}
LARGER = ("nitro", "ba-shapes")
NETWORKS = ("our file", "module:function")
FIT = ["--set", "epochs=2", "--set", "restarts=1", "--quiet"]


def few(name, root=None, seed=0):
    """`load`, with few graphs or pairs."""
    options = {"nitro": {"num_graphs": 60}, "shared-neighbours": {"num_pairs": 90}}
    return load(name, root=root, seed=seed, **options.get(name, {}))


def module_name(dataset: str) -> str:
    return f"{PACKAGE}_{dataset.partition(':')[0].replace('-', '_')}"


MODULE = """
from rcexplainer.gnn import load_gnn
from tests.cli.test_combinations import few


def model():
    return load_gnn({model!r}).model


def graphs():
    return list(few({dataset!r}).graphs)
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where files are: molecules, and what the tests below leave there."""
    found = tmp_path_factory.mktemp("combinations")
    rows = [f"{'C' * (1 + place % 7)}{'O' if place % 2 else 'N'},{place % 2},m{place}" for place in range(40)]
    (found / "molecules.csv").write_text("smiles,label,id\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return found


@pytest.fixture
def here(folder, monkeypatch):
    """The folder is the current one, and datasets are small."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    for module in (saved_network, own_network):
        monkeypatch.setattr(module, "load", few)
    return folder


def network(folder, dataset: str) -> str:
    """A network as `rcexplainer train --out` keeps it, and a user's module that returns it; made once."""
    data, name = few(dataset), module_name(dataset)
    path = folder / f"{name}.safetensors"
    if not path.exists():
        config = gnn_config(DEFAULT_MODELS[data.task], data.num_features, data.num_classes, data.task)
        settings = TrainConfig(epochs=40, lr=0.02)
        model = train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model
        save_gnn(path, model, {"dataset": data.name, "seed": 0})
        (folder / f"{name}.py").write_text(MODULE.format(model=str(path), dataset=dataset), encoding="utf-8")
    return str(path)


@pytest.fixture(params=NETWORKS)
def named(request, run, here, dataset):
    """The words that name a network, its graphs, the explainer and instances; the explainer is fitted once."""
    if dataset == CSV:
        pytest.importorskip("rdkit", reason="rdkit is not installed (extra chem): SMILES cannot be read")
    path, task, name = network(here, dataset), few(dataset).task, module_name(dataset)
    ours = request.param == "our file"
    words = (
        ["--dataset", dataset, "--model", path] if ours else ["--model", f"{name}:model", "--graphs", f"{name}:graphs"]
    )
    explainer = f"{name}-{'ours' if ours else 'own'}.fitted"
    fitted_on, shown = SETS[dataset]
    if not (here / explainer).exists():
        index = [] if fitted_on is None else ["--index", fitted_on]
        asked = [] if ours else ["--task", task]
        assert run("fit", *words, *asked, *index, *FIT, "--out", explainer).code == 0
    if task == "link":
        pairs = few(dataset).graph.edge_label_index[:, :2].t().tolist()
        shown = ",".join(f"{u}-{v}" for u, v in pairs)
    yield words, ["--explainer", explainer], ["--index", shown], task
    sys.modules.pop(name, None)


pytestmark = pytest.mark.parametrize(
    "dataset", [pytest.param(name, marks=pytest.mark.slow if name in LARGER else ()) for name in SETS]
)


def test_fit(run, named, tmp_path):
    words, _, shown, task = named
    chosen = shown if task != "graph" else []  # two graphs may be of one class, which no explainer can be fitted on
    asked = ["--task", task] if "--graphs" in words else []
    ended = run("fit", *words, *asked, *chosen, *FIT, "--json", "--out", str(tmp_path / "new.safetensors"))
    assert (ended.code, ended.err) == (0, "")
    document = json.loads(ended.out)
    assert (document["task"], document["output"]) == (task, "logits")
    assert document["graphs"] == 2 or not chosen


def test_explain(run, named, tmp_path):
    words, explainer, shown, task = named
    page = tmp_path / "page.html"
    ended = run("explain", *words, *explainer, *shown, "--html", str(page), "-q")
    assert (ended.code, ended.err) == (0, "")
    assert f"2 {task}s of " in " ".join(ended.out.split())
    assert "could not be explained" not in ended.out
    assert "<html" in page.read_text(encoding="utf-8")
    document = json.loads(run("explain", *words, *explainer, *shown, "-q", "--json").out)
    assert (document["task"], document["failed"], len(document["explanations"])) == (task, 0, 2)
    for one in document["explanations"]:
        assert one["counterfactual"]["names"] is not None
        assert ("node" in one, "link" in one) == (task == "node", task == "link")


def test_evaluate(run, named):
    words, explainer, shown, task = named
    asked = ["--task", task] if "--graphs" in words else []
    ended = run("evaluate", *words, *asked, *explainer, *shown, "-q", "--json")
    document = json.loads(ended.out)
    assert (ended.code, document["task"], document["held_out"]) == (0, task, 2)
    assert all(one["skipped"] is None and one["failed"] == 0 for one in document["results"])


def test_serve(run, named, monkeypatch):
    testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed (extra app)")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra app)")
    words, explainer, shown, task = named
    started = []
    monkeypatch.setattr(served_page, "listen", lambda app, *_: started.append(app))
    ended = run("serve", *words, *explainer, *shown)
    assert (ended.code, ended.err) == (0, "")
    with testclient.TestClient(started[0], base_url="http://127.0.0.1:8000") as client:
        found = client.get("/health").json()
        assert (found["status"], found["task"], found["instances"]) == ("ok", task, 2)
        assert client.post("/explain", json={"instance": 1}).status_code == 200
        assert "ask the model" in client.get("/").text
