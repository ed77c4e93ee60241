"""What a model returns decides whether it is a classifier; regression and multi-label models are refused."""

import pytest
import torch
from torch import Tensor

import rcexplainer as rc
from rcexplainer.errors import SplitError
from rcexplainer.gnn import split_model
from rcexplainer.gnn.outputs import output_kind
from tests.gnn import zoo
from tests.gnn.graphs import make_graphs
from tests.gnn.splits import build
from tests.zoo import graph_models
from tests.zoo.claims import check


def unlabelled(count: int = 8) -> list:
    graphs = make_graphs(count)
    for graph in graphs:
        graph.y = None
    return graphs


def labelled(*labels: float) -> list:
    graphs = make_graphs(len(labels))
    for graph, label in zip(graphs, labels, strict=True):
        graph.y = torch.tensor([label])
    return graphs


class ManyTargets(zoo.GCNLinear):
    """The probabilities of labels that do not exclude each other, from a model without any head module."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return zoo.global_mean_pool(self.conv2(self.conv1(x, edge_index).relu(), edge_index), batch)[:, :4].sigmoid()


def test_one_unbounded_number_without_labels_may_be_a_regression() -> None:
    with pytest.raises(SplitError, match=r"one unbounded number and the graphs have no labels.*binary_logit"):
        split_model(build(zoo.OneLogit), unlabelled())
    assert split_model(build(zoo.OneLogit), unlabelled(), output="binary_logit").output == "binary_logit"


def test_one_probability_needs_no_labels() -> None:
    assert split_model(build(zoo.OneProbability), unlabelled()).output == "probs"


@pytest.mark.parametrize("labels", [(0, 1, 0, 1), (0.0, 1.0, 1.0, 0.0), (1, 1, 1, 1), (-1, 1, -1, 1)])
def test_one_number_with_two_labels_is_a_logit(labels) -> None:
    assert split_model(build(zoo.OneLogit), labelled(*labels)).output == "binary_logit"


def test_one_number_with_other_labels_is_a_regression() -> None:
    for labels in ((3.0, 7.0, 3.0), (2, 2, 2)):
        with pytest.raises(SplitError, match=r"one number but the labels are .*, not 0 and 1: regression|labels are 2"):
            split_model(build(zoo.OneLogit), labelled(*labels))
    many = labelled(*(number % 2 for number in range(40)))
    many[1].y = torch.tensor([5])  # not among the 16 graphs of the trial
    with pytest.raises(SplitError, match="one number but the labels have 3 values: regression"):
        split_model(build(zoo.OneLogit), many)


def test_several_probabilities_that_do_not_sum_to_one_are_multi_label() -> None:
    for model in (zoo.MultiLabel, ManyTargets):
        with pytest.raises(SplitError, match="several numbers between 0 and 1 that do not sum to 1: multi-label"):
            split_model(build(model), unlabelled())
        assert split_model(build(model), unlabelled(), output="logits").output == "logits"


def test_several_unbounded_numbers_are_logits() -> None:
    assert split_model(build(zoo.GCNLinear), unlabelled()).output == "logits"
    assert split_model(build(zoo.LogSoftmax), unlabelled()).output == "log_probs"
    assert split_model(build(zoo.Softmax), unlabelled()).output == "probs"


def test_links_need_no_labels_but_ratings_are_refused() -> None:
    scores = torch.randn(6, 1)
    assert output_kind(scores, binary=True) == "binary_logit"
    with pytest.raises(SplitError, match="one number but the labels have 5 values"):
        output_kind(scores, torch.arange(1, 6), binary=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_refused_in_one_sentence(dtype) -> None:
    graphs = unlabelled()
    for graph in graphs:
        graph.x = graph.x.to(dtype)
    with pytest.raises(SplitError, match=rf"^the model computes in {dtype}, too coarse to verify a flip: .*float\(\)"):
        split_model(build(zoo.GCNLinear).to(dtype), graphs)


def test_autocast_inside_a_model_is_refused() -> None:
    class Casting(zoo.GCNLinear):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            with torch.autocast("cpu", torch.bfloat16):
                return super().forward(x, edge_index, batch)

    with pytest.raises(SplitError, match=r"computes in torch.bfloat16, .*outside of torch.autocast"):
        split_model(build(Casting), unlabelled())


def test_double_precision_works() -> None:
    graphs = unlabelled()
    for graph in graphs:
        graph.x = graph.x.double()
    split = split_model(build(zoo.GCNLinear).double(), graphs)
    assert split.run(graphs).output.dtype == torch.float64


def test_a_double_precision_model_is_explained_rightly() -> None:
    graphs = [graph.clone() for graph in graph_models.graphs()[:40]]
    for graph in graphs:
        graph.x = graph.x.double()
    model = graph_models.balanced(graph_models.built(graph_models.Net).double(), tuple(graphs))
    tally = check(model, rc.RCExplainer(epochs=1).fit(model, graphs, progress=False).explain(graphs))
    assert tally.wrong == 0
    assert tally.flips >= 5
