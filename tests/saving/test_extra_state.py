"""Models whose `state_dict` holds more than dense tensors are fitted, saved and recognised."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

import rcexplainer as rc
from rcexplainer.errors import CheckpointError
from rcexplainer.saving.fingerprint import fingerprint
from tests.zoo import graph_models
from tests.zoo.parts import HIDDEN


class Versioned(graph_models.Net):
    """Has extra state, as quantised and wrapped layers do."""

    def __init__(self, state: Any = None) -> None:
        super().__init__()
        self.state = {"version": 3, "scale": torch.ones(2), "names": ["a", None]} if state is None else state

    def get_extra_state(self) -> Any:
        return self.state

    def set_extra_state(self, state: Any) -> None:
        self.state = state


class SparseBuffer(graph_models.Net):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mix", torch.eye(HIDDEN).to_sparse())

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.second(self.first(x, edge_index).relu(), edge_index).relu()
        return self.head((self.mix @ global_add_pool(x, batch).T).T)


@pytest.mark.parametrize("make", [Versioned, SparseBuffer])
def test_it_is_fitted_saved_and_recognised(make: type[nn.Module], tmp_path) -> None:
    graphs = graph_models.graphs()[:40]
    model = graph_models.balanced(graph_models.built(make), graphs)
    fitted = rc.RCExplainer(epochs=1).fit(model, list(graphs), checkpoint=tmp_path / "fit", progress=False)
    again = rc.load(fitted.save(tmp_path / "kept.safetensors"), model)
    assert torch.equal(again.explain(graphs[0]).edge_scores, fitted.explain(graphs[0]).edge_scores)


def test_another_extra_state_is_another_model(tmp_path) -> None:
    graphs = graph_models.graphs()[:40]
    model = graph_models.balanced(graph_models.built(Versioned), graphs)
    kept = rc.RCExplainer(epochs=1).fit(model, list(graphs), progress=False).save(tmp_path / "kept.safetensors")
    model.state["version"] = 4
    with pytest.raises(CheckpointError, match="_extra_state, its values differ"):
        rc.load(kept, model)


def test_fingerprints_depend_on_values_alone() -> None:
    class Opaque:
        pass

    states = [{"a": 1, "b": torch.ones(2)}, {"b": torch.ones(2), "a": 1}, {"a": 2, "b": torch.ones(2)}, Opaque()]
    one, same, other, opaque = (fingerprint(Versioned(state))["_extra_state"] for state in states)
    assert one == same
    assert one != other
    assert opaque == fingerprint(Versioned(Opaque()))["_extra_state"]
