"""The methods by name, which of them are chosen, and what they are made with."""

from dataclasses import replace

import pytest

from rcexplainer import baselines
from rcexplainer.benchmark.methods import METHODS, REFERENCES, Caps, MethodInputs, chosen
from rcexplainer.datasets import task_of
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer


def test_names_are_those_of_the_contract() -> None:
    assert list(METHODS) == [
        "rcexplainer",
        "rcexplainer-noldb",
        "gnnexplainer",
        "pgexplainer",
        "pgmexplainer",
        "subgraphx",
        "cfgnnexplainer",
        "cf2",
        "gradient",
        "gradcam",
        "integrated-gradients",
        "attention",
        "occlusion",
        "greedy",
        "random",
    ]


def test_references_are_always_there() -> None:
    assert chosen("gradient") == ["gradient", "occlusion", "greedy", "random"]
    assert chosen("random, cf2") == chosen(["random", "cf2"]) == ["cf2", "occlusion", "greedy", "random"]
    assert chosen("all") == chosen(["all"]) == list(METHODS)
    assert set(REFERENCES) == set(chosen(["random"]))
    with pytest.raises(RCExplainerError, match="unknown method 'gnnexplaner'; did you mean gnnexplainer"):
        chosen("gnnexplaner,cf2")
    for nothing in (" , ", []):
        with pytest.raises(RCExplainerError, match="no method is named"):
            chosen(nothing)


def test_no_cap_is_above_the_number_of_instances() -> None:
    assert Caps(most=10, noisy=30, labelled=0).within(None) == Caps(10, 10, 10, 0)
    assert Caps(noisy=30).within(20) == Caps(20, 20, 20, 20)
    assert Caps().within(None) == Caps()


def test_settings_say_what_a_method_is_made_with() -> None:
    """Results are kept under these: they change only where a method is made otherwise."""

    def settings(name: str, dataset: str = "three-motifs", *, seed: int = 3, ours=(), **own):
        return METHODS[name].settings(MethodInputs(task_of(dataset), seed, settings=dict(ours), own=own))

    assert settings("greedy") == {"depth": 0.3, "candidates": None}
    assert settings("greedy", "ba-shapes") == {"depth": 0.3, "candidates": 64}
    assert settings("random") == {"seed": 3}
    assert settings("occlusion") == {}
    assert settings("occlusion", "ba-shapes", connected=True) == {"connected": True}
    assert settings("occlusion", "ba-shapes", connected=False) == {}
    assert "restarts" not in settings("pgexplainer")["settings"]  # as in version 0.2, whose results are found
    assert settings("pgexplainer", restarts=3)["settings"]["restarts"] == 3
    assert settings("rcexplainer", ours={"epochs": 7}, weight_stable=9.0)["epochs"] == 7
    assert settings("rcexplainer", weight_stable=9.0) == settings("rcexplainer")  # a baseline's settings are not ours
    graph, node = (settings("subgraphx", dataset) for dataset in ("three-motifs", "ba-shapes"))
    assert (graph["rollouts"], graph["samples"]) == (20, 100)  # as published
    assert (node["rollouts"], node["samples"], node["seed"]) == (2, 5, 3)
    assert not {"task", "target_class", "hops"} & graph.keys()  # what every method is made with


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("pgexplainer", {"edge_size": 0.5, "temperature": [5.0, 2.0]}),
        ("gnnexplainer", {"lr": 0.5, "seed": 9}),
        ("rcexplainer-noldb", {"eta": 0.5}),
        ("greedy", {"depth": 0.5}),
        ("subgraphx", {"samples": 7}),
        ("cf2", {"weight": 7.0}),
    ],
)
def test_a_baseline_is_made_with_the_settings_of_the_case(name, own, case, monkeypatch) -> None:
    made = []
    for kind in (baselines.Method, RCExplainer):
        monkeypatch.setattr(kind, "fit", lambda method, *_, **__: made.append(method))
    monkeypatch.setattr(baselines.NoLDB, "fit", lambda method, *_, **__: made.append(method))
    METHODS[name].fit(replace(case, baseline_settings=own), False)
    (one,) = made
    there = one.settings if name == "rcexplainer-noldb" else vars(getattr(one, "settings", one))
    fields = METHODS[name].settings(MethodInputs("graph", case.seed, own=own))
    for field, value in own.items():
        wanted = tuple(value) if isinstance(value, list) else value
        assert there[field] == fields.get("settings", fields)[field] == wanted


def test_greedy_deletion_goes_as_deep_as_the_case_says(case, monkeypatch) -> None:
    depths, make = [], baselines.GreedyDeletion.__init__

    def recorded(method, **settings):
        depths.append(settings["depth"])
        make(method, **settings)

    monkeypatch.setattr(baselines.GreedyDeletion, "__init__", recorded)
    for depth in (0.3, 0.5):
        METHODS["greedy"].fit(replace(case, greedy_depth=depth), False)
    assert depths == [0.3, 0.5]
