"""Captions: a reader of any table knows dataset, network, its training, protocol, instances and seeds."""

import pytest

from rcexplainer.paper.captions import described, instances_text, network_text, panel_text, setting_notes
from rcexplainer.paper.entries import PAPER_ENTRIES, headline, plan, tables
from tests.paper.fakes import results_of

PANELLED = ("fidelity", "robustness", "time", "nodes", "nodes-edgeless", "links", "candidates", "lambda", "ablation")


@pytest.mark.parametrize("name", PANELLED)
def test_every_caption_says_which_network_which_instances_and_how_many_seeds(name: str) -> None:
    planned = plan(name, "standard")
    for table in tables(planned, results_of(planned)):
        assert "trained with Adam" in table.caption
        assert f"{planned.settings['seeds']} seeds: " in table.caption
        assert any(words in table.caption for words in ("held-out", "no method was fitted on", "test pairs"))


def test_captions_of_node_sets_say_that_networks_saw_a_copy_without_edges() -> None:
    bare = "and on a copy of the graph without edges, whose nodes count as the base's"
    for name in ("nodes-edgeless", "candidates", "datasets"):
        planned = plan(name, "standard")
        for table in tables(planned, results_of(planned)):
            assert bare in table.caption + " ".join(table.notes), name
    for name in ("fidelity", "nodes"):
        planned = plan(name, "standard")
        assert not any(bare in table.caption for table in tables(planned, results_of(planned)))
    assert all(
        "cross-entropy alone; trained with Adam" in table.caption for table in tables(planned, results_of(planned))
    )


def test_tables_of_several_datasets_have_notes() -> None:
    planned = plan("fidelity", "standard")
    shown = headline(planned, results_of(planned))
    assert shown is not None
    assert "mutagenicity: network paper, held-out test graphs predicted as class 0 (mutagen), 3 seeds" in shown.notes
    for name in ("case-study", "datasets"):
        planned = plan(name, "standard")
        for table in (*tables(planned, results_of(planned)), headline(planned, results_of(planned))):
            assert "trained with Adam" in " ".join(table.notes), name


def test_graphs_labelled_as_a_class_are_not_said_to_be_predicted_as_it() -> None:
    planned = plan("fidelity", "standard")
    given = {job: one | {"labelled": [0.5] * 6} for job, one in results_of(planned).items()}
    labelled = [one.caption for one in tables(planned, given) if "labelled" in one.caption]
    assert len(labelled) == 3
    assert all("held-out test graphs labelled, not predicted, as the explained class" in one for one in labelled)
    assert not any("predicted as class" in one for one in labelled)


def test_a_network_in_words() -> None:
    plain = {"lr": 0.005, "epochs": 300, "patience": 60}
    assert network_text({}, plain) == (
        "3 GraphConv layers, linear head; trained with Adam, learning rate 0.005, up to 300 epochs, best on validation"
    )
    other = plain | {"patience": None, "decay": "constant", "clip": 2.0, "batch_size": 20, "xavier": True}
    assert network_text({"conv": "gin", "layers": 1, "head_hidden": [32, 32]}, other, "authors") == (
        "1 GIN layer, head with hidden layers 32–32; the authors' recipe, graphs of at most 100 nodes; trained with "
        "Adam, constant learning rate 0.005, up to 300 epochs, last weights; batches of 20; gradients clipped at 2; "
        "Xavier's first weights"
    )


def test_which_instances_by_protocol() -> None:
    assert instances_text({}, "nci1") == "held-out test graphs predicted as class 1 (active)"
    assert instances_text({"explains": "every class"}, "nci1") == "held-out test graphs of every class"
    assert instances_text({"explains": "paper"}, "nci1") == (
        "the authors' protocol: fitted and evaluated on the same graphs, all that are predicted as class 1 (active)"
    )
    assert instances_text({}, "tree-grid") == "nodes of motifs that no method was fitted on"
    assert instances_text({"explained": "pairs"}, "shared-neighbours") == "pairs"


def test_without_texts_a_caption_has_the_names() -> None:
    assert panel_text({}, ("toy", "paper"), "shown") == "toy, network paper: shown"
    assert panel_text({}, ("toy", "paper"), "shown", {"a": [{}]}) == "toy, network paper, 1 seed: shown"
    assert setting_notes({}, {("toy", "paper"): {}}) == []


@pytest.mark.parametrize("name", PAPER_ENTRIES)
def test_every_entry_can_be_described(name: str) -> None:
    found = described(plan(name, "standard"))
    assert all(found["networks"].values())
    assert all(found["instances"].values())
