"""What a notebook prints of a public object stays short, however much the object holds."""

import inspect
from dataclasses import fields, is_dataclass

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import barabasi_albert_graph

import rcexplainer as rc
from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.core.region_summary import RegionSummaries, RegionSummary
from rcexplainer.core.regions import DecisionRegion, Regions
from rcexplainer.core.units import Units
from rcexplainer.fit.mask_scores import MaskScores
from rcexplainer.gnn import GNN, GNNConfig, split_model
from rcexplainer.short_repr import short_repr

MOST = 2000
# Made of settings, each of which is checked to be a number or one of a few words.
SETTINGS = {"RCConfig", "GNNConfig", "TrainConfig", "Seconds"}


def public_classes() -> dict[str, type]:
    """The classes that `rc` and its parts name."""
    parts = [rc, *(part for name in rc.__all__ if inspect.ismodule(part := getattr(rc, name)))]
    found = {name: getattr(part, name) for part in parts for name in getattr(part, "__all__", ())}
    return {name: value for name, value in found.items() if inspect.isclass(value) and value.__module__ != "typing"}


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> dict[str, object]:
    """Objects of the classes that write their own text."""
    torch.manual_seed(0)
    made = [
        Data(x=torch.randn(300, 4), edge_index=barabasi_albert_graph(300, 4), y=torch.tensor([place % 2]))
        for place in range(8)
    ]
    model = GNN(GNNConfig(num_features=4, num_classes=2))
    fitted = rc.baselines.Random().fit(model, made, progress=False)
    explanations = fitted.explain(made, budget=20)
    folder = tmp_path_factory.mktemp("data")
    rc.datasets.to_parquet(made, folder / "graphs.parquet")
    return {
        "GraphDataset": rc.datasets.load("ba-2motifs"),
        "Explanation": explanations[0],
        "Explanations": explanations,
        "FittedRCExplainer": fitted,
        "SplitModel": split_model(model, made),
        "GNN": model,
        "GraphTable": rc.datasets.GraphTable(folder / "graphs.parquet"),
        "MappedGraph": rc.datasets.map_graph(made[0], folder / "mapped"),
        "StoreGraph": rc.datasets.StoreGraph(made[0], made[0]),
    }


def filled(kind: type) -> object:
    """An object of a dataclass with large values of the types it has."""
    large = {
        "Tensor": torch.rand(300, 300),
        "tuple": tuple(place / 7 for place in range(1000)),
        "Exception": ValueError("x" * 100_000),
        "str": "x" * 200,
        "float": 0.123456789,
    }
    made = object.__new__(kind)
    for field in fields(kind):
        value = next((value for name, value in large.items() if name in str(field.type)), 10**9)
        object.__setattr__(made, field.name, value)
    return made


@pytest.mark.parametrize("name", sorted(public_classes()))
def test_a_public_object_prints_in_a_few_lines(objects, name: str) -> None:
    kind = public_classes()[name]
    if name in objects:
        assert len(repr(objects[name])) < MOST
    elif issubclass(kind, rc.baselines.Method):
        assert len(repr(kind())) < MOST
    elif is_dataclass(kind) and name not in SETTINGS:
        assert len(repr(filled(kind))) < MOST
    else:
        assert issubclass(kind, Exception) or name in SETTINGS


@pytest.mark.parametrize(
    "kind", [LinearBoundaries, DecisionRegion, Regions, RegionSummary, RegionSummaries, MaskScores, Units]
)
def test_the_parts_of_a_public_object_too(kind: type) -> None:
    assert len(repr(filled(kind))) < MOST
    assert "\n" not in repr(filled(kind))


def test_datasets_say_what_they_hold(objects) -> None:
    said = repr(objects["GraphDataset"])
    assert said == "GraphDataset('ba-2motifs', 1000 graphs: 800 train, 100 val, 100 test; classes ['cycle', 'house'])"
    assert repr(rc.datasets.load("tree-cycles").split) == "Split(train=tensor[697], val=tensor[87], test=tensor[87])"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (torch.ones(2, 3), "tensor[2, 3]"),
        (torch.tensor(4), "4"),
        (torch.nn.Linear(2, 3), "Linear(…)"),
        ((1, "a"), "[1, 'a']"),
        (list(range(100)), "[0, 1, … 100 in all]"),
        (dict.fromkeys(range(100)), "dict of 100"),
        ("a\nb", r"'a\nb'"),
        (None, "None"),
    ],
)
def test_a_value_in_short(value: object, said: str) -> None:
    assert short_repr(value) == said


def test_a_long_text_is_cut() -> None:
    assert short_repr("x" * 1000) == "'" + "x" * 78 + "…"
