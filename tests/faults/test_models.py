"""Models that raise on some graphs, or run out of memory: the others are answered."""

import pytest
import torch
from torch import nn

import rcexplainer as rc
from rcexplainer.benchmark.own_dataset import own_dataset
from rcexplainer.benchmark.own_evaluation import evaluate_own
from rcexplainer.errors import GraphError, ModelError, RCExplainerError, SplitError

MARK = 777.0
ERRORS = (
    RuntimeError("no such atom"),
    torch.OutOfMemoryError("CUDA out of memory"),
    MemoryError(),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
)


class Fragile(nn.Module):
    """Raises on graphs that are marked."""

    def __init__(self, model: nn.Module, error: Exception) -> None:
        super().__init__()
        self.model, self.error = model, error

    def forward(self, x, edge_index, batch=None, edge_weight=None):
        if bool((x[:, 0] == MARK).any()):
            raise self.error
        return self.model(x, edge_index, batch, edge_weight)


class Narrow(nn.Module):
    """Has memory for few nodes at a time."""

    def __init__(self, model: nn.Module, most: int) -> None:
        super().__init__()
        self.model, self.most = model, most

    def forward(self, x, edge_index, batch=None, edge_weight=None):
        if len(x) > self.most:
            raise torch.OutOfMemoryError(f"{len(x)} nodes")
        return self.model(x, edge_index, batch, edge_weight)


def marked(graphs, every=10):
    """Copies of graphs; the model raises on every tenth."""
    copies = [graph.clone() for graph in graphs]
    for graph in copies[::every]:
        graph.x[0, 0] = MARK
    return copies


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_explain_answers_the_others(case, error):
    data, model, _ = case
    fragile = Fragile(model, error)
    fitted = rc.RCExplainer(epochs=1).fit(fragile, data.subset("train"), progress=False)
    found = fitted.explain(marked(data.graphs), on_error="keep")
    assert [one.index for one in found.failures] == list(range(0, 60, 10))
    assert all(isinstance(one.error, ModelError) and one.error.__cause__ is error for one in found.failures)
    alone = fitted.explain(data.graphs[1])
    assert torch.allclose(found[1].edge_scores, alone.edge_scores, atol=1e-5)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_fit_leaves_them_out_and_says_so(case, error, caplog):
    data, model, _ = case
    fitted = rc.RCExplainer(epochs=1).fit(Fragile(model, error), marked(data.graphs), progress=False)
    assert "6 of 60 training instances are left out, because the model raises on them" in caplog.text
    assert len(fitted.explain(data.graphs[:5])) == 5


def test_a_model_that_always_raises_is_refused(case):
    data, model, _ = case
    with pytest.raises(SplitError, match="raised on these graphs: RuntimeError: no such atom"):
        rc.RCExplainer(epochs=1).fit(Fragile(model, ERRORS[0]), marked(data.graphs, every=1), progress=False)
    with pytest.raises(GraphError, match="raises on each of the 30 validation instances: RuntimeError: no such atom"):
        rc.RCExplainer(epochs=1).fit(
            Fragile(model, ERRORS[0]), data.graphs[:30], val=marked(data.graphs[30:], every=1), progress=False
        )


def test_evaluate_measures_the_others(case):
    data, model, _ = case
    own = own_dataset("mine", marked(data.graphs), "graph", 0)
    result = evaluate_own(Fragile(model, ERRORS[0]), own, methods=["gradient"], progress=False)
    held_out = result.held_out
    wrong = sum(bool((own.graphs[place].x == MARK).any()) for place in own.split.test)
    assert {one.method: (one.instances, one.failed) for one in result.results} == dict.fromkeys(
        ("gradient", "greedy", "occlusion", "random"), (held_out - wrong, wrong)
    )


def test_batches_become_smaller_where_memory_ends(case):
    data, model, _ = case
    narrow = Narrow(model, most=1000)  # a graph has 25 nodes
    small = rc.RCExplainer(epochs=1, weight_order=0.0, weight_effect=0.0)
    with pytest.raises(RCExplainerError, match=r"memory does not suffice for the \d+ training instances.*fewer"):
        small.fit(narrow, data.subset("train"), progress=False)
    narrow.most = 10**9
    able = small.fit(narrow, data.subset("train"), progress=False)
    whole = able.explain(data.graphs[:20], search="none")
    narrow.most = 130
    for one, two in zip(whole, able.explain(data.graphs[:20], search="none"), strict=True):
        assert torch.allclose(one.edge_scores, two.edge_scores, atol=1e-5)
