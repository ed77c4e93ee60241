"""How networks are trained, by name."""

from dataclasses import replace

import pytest

from rcexplainer.benchmark import recipes
from rcexplainer.benchmark.accuracy import training_settings
from rcexplainer.benchmark.recipes import recipe_of, usual_recipe
from rcexplainer.datasets import load
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.trainer import DEFAULT_TRAINING


def test_ours_are_the_settings_of_the_dataset_on_all_graphs() -> None:
    data = load("ba-2motifs", num_graphs=20)
    ours = recipe_of("ours")
    assert ours.settings("ba-2motifs") == recipes.training_settings("ba-2motifs")
    assert ours.data(data) is data


def test_plain_networks_never_see_a_copy_without_edges(monkeypatch) -> None:
    monkeypatch.setattr(recipes, "training_settings", training_settings)
    for name in ("ba-shapes", "ba-community", "tree-cycles", "ba-grid", "tree-grid"):
        ours, plain = (recipe_of(recipe).settings(name) for recipe in ("ours", "plain"))
        assert ours.without_edges
        assert plain == DEFAULT_TRAINING["node"] == replace(ours, without_edges=())
        assert usual_recipe(name) == "plain"
    assert usual_recipe("ba-2motifs") == usual_recipe("shared-neighbours") == "ours"


def test_the_authors_recipe_is_theirs() -> None:
    settings = recipe_of("authors").settings("mutagenicity")
    assert (settings.epochs, settings.lr, settings.batch_size, settings.clip) == (300, 0.001, 20, 2.0)
    assert (settings.patience, settings.decay, settings.xavier, settings.weight_decay) == (None, "constant", True, 0.0)


def test_the_longer_recipe_differs_in_its_epochs_alone() -> None:
    theirs, longer = (recipe_of(name).settings("mutagenicity") for name in ("authors", "authors-long"))
    assert longer == replace(theirs, epochs=1000)


def test_larger_graphs_are_left_out_and_the_others_stay_in_their_part() -> None:
    data = load("three-motifs", num_graphs=30)
    sizes = [graph.num_nodes for graph in data.graphs]
    most = sorted(sizes)[len(sizes) // 2]
    small = data.at_most(most)
    assert [graph.num_nodes for graph in small.graphs] == [size for size in sizes if size <= most]
    for part in ("train", "val", "test"):
        kept = [graph for graph in data.subset(part) if graph.num_nodes <= most]
        assert all(one is other for one, other in zip(kept, small.subset(part), strict=True))


def test_an_unknown_recipe_is_named() -> None:
    with pytest.raises(RCExplainerError, match="unknown recipe 'theirs'; known: ours, plain, authors, authors-long"):
        recipe_of("theirs")
