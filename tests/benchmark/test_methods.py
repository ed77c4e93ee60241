"""The methods by name, which of them are chosen, and what they are made with."""

import pytest

from rcexplainer.benchmark.methods import METHODS, REFERENCES, Caps, chosen
from rcexplainer.errors import RCExplainerError


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

    def settings(name: str, task: str = "graph", seed: int = 3, **own):
        return METHODS[name].settings(seed, task, "default", own)

    assert settings("greedy") == {"depth": 0.3, "candidates": None}
    assert settings("greedy", "node") == {"depth": 0.3, "candidates": 64}
    assert settings("random") == {"seed": 3}
    assert settings("occlusion") == {}
    assert settings("rcexplainer", epochs=7)["epochs"] == 7
    graph, node = (settings("subgraphx", task) for task in ("graph", "node"))
    assert (graph["rollouts"], node["rollouts"], node["samples"], node["seed"]) == (10, 2, 5, 3)
    assert not {"task", "target_class", "hops"} & graph.keys()  # what every method is made with
