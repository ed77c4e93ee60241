"""The training diagram: its plane by hand, and the run that it watches is the one of `fit`."""

from dataclasses import replace

import pytest
import torch

from rcexplainer import RCExplainer
from rcexplainer.benchmark.case import Case
from rcexplainer.config import make_config
from rcexplainer.core.boundaries import LinearBoundaries
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.curriculum import with_lessons
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.partition import find_boundaries, find_regions
from rcexplainer.gnn import TrainConfig, delete_edges, gnn_config, train_gnn
from rcexplainer.paper.boundary_plane import Plane
from rcexplainer.paper.training_diagram import training_run, watched, weighed
from rcexplainer.paper.training_tables import training_figure, training_table
from rcexplainer.saving.checkpoint import FitFile
from tests.paper.toys import small

SETTINGS = {
    "scaled": True,
    "network": "factorised",
    "inputs": "all",
    "weight_regions": 1.0,
    "lr": 0.005,
    "epochs": 3,
    "teacher_limit": 30,
}


def boundaries(*weights: list[float], bias: float = 0.5) -> LinearBoundaries:
    return LinearBoundaries(
        torch.tensor(weights), torch.full((len(weights),), bias), torch.tensor([[0, 1]] * len(weights))
    )


def wide(*spread: float) -> torch.Tensor:
    """Embeddings around (1, 1, …) with this spread along each axis."""
    rows = torch.randn(200, len(spread), generator=torch.Generator().manual_seed(0))
    return 1 + rows * torch.tensor(spread)


def test_three_normals_in_a_plane_are_shown_exactly() -> None:
    x = wide(1.0, 2.0, 0.1, 50.0)  # most of the spread lies elsewhere
    three = boundaries([1.0, 0, 0, 0], [0, 2.0, 0, 0], [1.0, 1.0, 0, 0])
    plane = Plane.of(x, three)
    assert plane.normals == pytest.approx(1.0, abs=1e-6)
    assert plane.spread < 0.1
    torch.testing.assert_close(plane.axes @ plane.axes.T, torch.eye(2))
    ours = torch.cat([plane(x), torch.ones(len(x), 1)], 1) @ plane.lines(three).T
    torch.testing.assert_close(ours, three(x), atol=1e-4, rtol=1e-4)
    # Most of the spread within the plane goes across, in the direction of more.
    torch.testing.assert_close(plane.axes[0].round(decimals=0), torch.tensor([0.0, 1.0, 0.0, 0.0]))


def test_beside_a_single_normal_goes_where_the_embeddings_spread_most() -> None:
    plane = Plane.of(wide(0.1, 1.0, 5.0), boundaries([3.0, 0, 0]))
    assert plane.normals == pytest.approx(1.0)
    inside = plane.axes.square().sum(0)  # how much of each axis of the space lies in the plane
    assert inside[0] == pytest.approx(1.0)
    assert inside[2] > 0.99


def test_normals_that_do_not_lie_in_a_plane_are_said_so() -> None:
    plane = Plane.of(wide(1.0, 1.0, 1.0), boundaries([1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]))
    assert plane.normals == pytest.approx(2 / 3, abs=1e-5)


@pytest.fixture(scope="module")
def case() -> Case:
    data = small("ba-2motifs")
    config = gnn_config("paper", data.num_features, data.num_classes)
    trained = train_gnn(
        config, data.graphs, data.split, settings=TrainConfig(epochs=80, lr=0.01), seed=0, progress=False
    )
    return Case(data, trained.model, trained.accuracy["test"], 0)


def test_weights_of_one_are_the_graph_and_weights_of_zero_are_deletion(case: Case) -> None:
    known = InstanceSet.of(case.split, case.data.subset("test"))
    units = known.instances.units
    torch.testing.assert_close(weighed(known, torch.ones(len(units))), known.embedding)
    bare = [delete_edges(graph, torch.ones(graph.num_edges, dtype=torch.bool)) for graph in known.instances.graphs]
    nothing = weighed(known, torch.zeros(len(units)))
    torch.testing.assert_close(nothing, InstanceSet.of(case.split, bare).embedding, atol=1e-5, rtol=1e-4)


def test_the_run_is_the_one_of_fit(case: Case) -> None:
    fitted = RCExplainer(preset="paper", **SETTINGS).fit(
        case.model, case.training, val=case.validation, seed=0, progress=False
    )
    config, split = make_config("paper", SETTINGS), case.split
    seen, held = InstanceSet.of(split, case.training), InstanceSet.of(split, case.validation)
    regions = find_regions(find_boundaries(split, seen, config, 0), seen, config)
    torch.testing.assert_close(regions.state(), fitted.regions.state())
    generator = torch.Generator().manual_seed(0)
    limit = torch.randperm(len(seen), generator=generator)[:30].sort().values
    training, validation = (
        with_lessons(part, {None: regions}, config, FitFile(None, {}), "search") for part in (seen.some(limit), held)
    )
    snapshots, epochs = zip(*watched(training, validation, validation, generator, 0), strict=True)
    assert [one.epoch for one in snapshots] == [0, 1, 2, 3]
    assert [epoch.terms for epoch in epochs[1:]] == [epoch.terms for epoch in fitted.history]
    torch.testing.assert_close(snapshots[-1].mask, validation.logits(fitted.scores.net)[0].sigmoid())
    assert not torch.equal(snapshots[0].mask, snapshots[-1].mask)


@pytest.fixture(scope="module")
def result(case: Case) -> dict:
    return training_run(case, make_config("paper", SETTINGS), [0, 2])


def test_a_run_keeps_what_is_drawn(case: Case, result: dict) -> None:
    assert result["graphs"] == {"training": 30, "held out": len(case.data.split.test)}
    assert [row["epoch"] for row in result["epochs"]] == [0, 1, 2, 3]
    assert result["epochs"][0]["terms"] is None
    assert set(result["epochs"][3]["terms"]) == {"same", "opposite", "sparse", "discrete"}
    assert result["plane"]["normals"] == pytest.approx(1.0, abs=1e-5)
    for one in result["examples"]:
        assert [shown["epoch"] for shown in one["masks"]] == [0, 2, 3]
        assert len(one["masks"][0]["mask"]) == len(one["edges"]) == len(one["motif"])
        assert len(one["kept"]) == len(one["left"]) == 4
        assert one["whole"]["inside"]
        (own,) = (region["lines"] for region in result["regions"] if region["class"] == one["class"])
        for step in (*one["kept"], *one["left"]):  # one boundary, which the plane shows as it is
            u, v = step["place"]
            assert all(a * u + b * v + c > -1e-3 for a, b, c in own) or not step["inside"]


def test_examples_are_the_first_of_their_class(case: Case, result: dict) -> None:
    test = case.data.subset("test")
    predicted = InstanceSet.of(case.split, test).label.tolist()
    for one in result["examples"]:
        right = [place for place, graph in enumerate(test) if predicted[place] == int(graph.y) == one["class"]]
        pairs = {tuple(sorted(pair)) for pair in test[right[0]].edge_index.t().tolist()}
        assert {tuple(pair) for pair in one["edges"]} == pairs


def test_table_and_figure(result: dict) -> None:
    found = [({"dataset": "toy", "model": "paper"}, result), ({"network": True}, {"accuracy": 1.0})]
    (table,) = training_table({"shown": [0, 2], "seed": 0}, found)
    assert [row["epochs"] for row in table.to_rows()] == ["0", "2", "3"]
    assert table.to_rows()[0]["same"] == ""
    assert "trained on 30 graphs" in table.caption
    pytest.importorskip("matplotlib")
    (drawn,) = training_figure({}, found)
    assert drawn.name == "training"
    assert "100% of the boundaries' normals" in drawn.caption
    assert len(drawn.figure.axes) == 3 + 3 * len(result["examples"])


def test_node_sets_have_no_diagram(case: Case) -> None:
    nodes = replace(case, data=replace(case.data, task="node"))
    with pytest.raises(RCExplainerError, match="needs a graph set: ba-2motifs is a node set"):
        training_run(nodes, make_config("paper", SETTINGS), [0])
