"""What every method is: its settings are checked when it is made, its model and graphs when it is fitted."""

from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

from rcexplainer.baselines import GNNExplainer, Occlusion, Random
from rcexplainer.errors import ArgumentError, NotFittedError, RCExplainerError, SplitError
from rcexplainer.method.base import graphs_on
from rcexplainer.testing.sample_graphs import FEATURES, sample_graphs, whole_graph
from rcexplainer.testing.sample_networks import random_network

CPU = torch.device("cpu")


class ByHand(nn.Module):
    """A graph classifier without layers of PyG and without edge weights: soft masks do not reach it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.head = nn.Linear(FEATURES, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        start, end = edge_index
        sums = x.index_add(0, end, x[start])
        return self.head(global_add_pool(self.first(sums).relu(), batch))


def test_a_method_names_its_task_and_its_target() -> None:
    assert repr(Occlusion()) == "Occlusion(task='graph')"
    assert repr(Occlusion(task="node", target_class=1)) == "Occlusion(task='node', target_class=1)"


def test_settings_are_given_by_name() -> None:
    with pytest.raises(TypeError, match="positional"):
        Occlusion("node")  # type: ignore[misc]


def test_arguments_of_fit_are_given_by_name() -> None:
    graphs, model = sample_graphs(), random_network("graphconv")
    with pytest.raises(ArgumentError, match=r"fit\(model, graphs, …\): give the other arguments by name"):
        Occlusion().fit(model, graphs, [0])
    with pytest.raises(ArgumentError, match=r"fit\(model, graphs\): missing a required argument: 'graphs'"):
        Occlusion().fit(model)


def test_before_the_fit_there_is_nothing_to_explain_with() -> None:
    with pytest.raises(NotFittedError, match="Occlusion is not fitted yet: explain belongs to what fit returns"):
        Occlusion().explain  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute '_split'") as said:
        Occlusion()._split  # noqa: B018
    assert not isinstance(said.value, RCExplainerError)


@pytest.mark.parametrize("task", ["node", "link"])
def test_hops_and_connected_are_for_nodes_and_links(task) -> None:
    made = Occlusion(task=task, hops=3, connected=True)
    assert (made.hops, made.connected) == (3, True)
    with pytest.raises(RCExplainerError, match="hops is for nodes and links, graphs are explained whole; got hops=3"):
        Occlusion(hops=3)
    with pytest.raises(RCExplainerError, match="connected is for nodes and links"):
        Occlusion(connected=True)
    with pytest.raises(RCExplainerError, match="hops must be a whole number ≥ 1, got 0"):
        Occlusion(task=task, hops=0)


def test_the_first_and_the_last_class_can_be_targets() -> None:
    graphs, model = sample_graphs(), random_network("graphconv")
    for target in (0, 1):
        assert Random(target_class=target).fit(model, graphs).targets == (target,)
    for target in (-1, 2):
        with pytest.raises(RCExplainerError, match=f"no target_class {target}: the model has the classes 0 to 1"):
            Random(target_class=target).fit(model, graphs)


def test_only_a_method_with_soft_masks_refuses_a_model_that_they_do_not_reach() -> None:
    graphs = sample_graphs()
    assert Occlusion().fit(ByHand(), graphs).explain(graphs[0]).scores.isfinite().all()
    with pytest.raises(SplitError, match="GNNExplainer needs soft edge masks, which do not reach ByHand"):
        GNNExplainer().fit(ByHand(), graphs)
    assert GNNExplainer().fit(random_network("graphconv"), graphs).split.masking is not None


def test_graphs_are_copied_to_a_device_that_is_given() -> None:
    graphs = sample_graphs()
    assert all(one is other for one, other in zip(graphs_on(graphs, None, CPU), graphs, strict=True))
    for one, other in zip(graphs_on(graphs, torch.device("meta"), CPU), graphs, strict=True):
        assert isinstance(one, Data)
        assert {one.x.device.type, one.edge_index.device.type} == {"meta"}
        assert {other.x.device.type, other.edge_index.device.type} == {"cpu"}


class TwoHeads(nn.Module):
    """Both heads see all of the answer; which one φ_fc begins with is for the caller to say."""

    def __init__(self) -> None:
        super().__init__()
        self.gnn = random_network("graphconv")
        self.near, self.last = nn.Linear(2, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.last(self.near(self.gnn(x, edge_index, batch)))


@pytest.mark.parametrize("name", ["near", "last"])
def test_on_a_device_the_head_is_that_of_the_copy(name: str) -> None:
    graphs, model = sample_graphs(), TwoHeads()
    fitted = Random().fit(model, graphs, head=getattr(model, name), device="cpu")
    assert fitted.split.head_name == name
    assert fitted.split.model is not model
    assert Random().fit(model, graphs, head=getattr(model, name)).split.model is model


def test_a_model_without_weights_cannot_be_moved() -> None:
    model = deepcopy(random_network("graphconv")).to("meta")
    with pytest.raises(SplitError, match="the model cannot be moved to cpu: "):
        Random().fit(model, sample_graphs(), device="cpu")


def test_graphs_are_checked_before_the_fit() -> None:
    wrong = whole_graph()
    wrong.x[0, 0] = torch.nan
    with pytest.raises(RCExplainerError, match="NaN"):
        Random(task="node").fit(random_network("graphconv", "node"), wrong)
