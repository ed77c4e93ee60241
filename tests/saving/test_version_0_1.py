"""Explainers saved by version 0.1 load, and explain as they did then."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.errors import CheckpointError
from rcexplainer.saving.explainer_file import config_of

FOLDER = Path(__file__).parents[1] / "fixtures" / "version-0.1"


def graphs_of(kept: dict[str, torch.Tensor]) -> list[Data]:
    count = len({name.split(".")[1] for name in kept if name.startswith("graph.")})
    parts = ({name.split(".")[2]: kept[name] for name in kept if name.startswith(f"graph.{i}.")} for i in range(count))
    return [Data(**part) for part in parts]


@pytest.mark.parametrize("name", ["graph", "graph-paper", "node", "link"])
def test_it_explains_as_it_did(name: str) -> None:
    model = rc.gnn.load_gnn(FOLDER / f"{name}-gnn.safetensors").model
    fitted = rc.load(FOLDER / f"{name}-explainer.safetensors", model)
    kept = load_file(FOLDER / f"{name}-expected.safetensors")
    graphs = graphs_of(kept)
    index = kept.get("index")
    found = fitted.explain(graphs) if index is None else fitted.explain(graphs[0], index=index)
    assert len(found) >= 2
    for place, one in enumerate(found):
        torch.testing.assert_close(one.edge_scores, kept[f"scores.{place}"], atol=1e-6, rtol=0)
        torch.testing.assert_close(one.probabilities, kept[f"probabilities.{place}"], atol=1e-6, rtol=0)
        assert torch.equal(one.counterfactual.removed, kept[f"removed.{place}"].bool())


def test_its_settings_are_translated() -> None:
    model = rc.gnn.load_gnn(FOLDER / "node-gnn.safetensors").model
    fitted = rc.load(FOLDER / "node-explainer.safetensors", model)
    assert fitted.config == rc.RCExplainer(task="node", epochs=3, batch_size=64, patience=30).config
    assert fitted.scores.net.members == 2  # the others had collapsed
    model = rc.gnn.load_gnn(FOLDER / "graph-paper-gnn.safetensors").model
    fitted = rc.load(FOLDER / "graph-paper-explainer.safetensors", model)
    assert fitted.config == rc.RCExplainer(preset="paper", epochs=3, batch_size=128).config  # 200 since then


def test_a_file_written_again_is_read_as_the_first_one(tmp_path) -> None:
    model = rc.gnn.load_gnn(FOLDER / "node-gnn.safetensors").model
    fitted = rc.load(FOLDER / "node-explainer.safetensors", model)
    again = rc.load(fitted.save(tmp_path / "again.safetensors"), model)
    kept = load_file(FOLDER / "node-expected.safetensors")
    (graph,) = graphs_of(kept)
    for one, other in zip(*(each.explain(graph, index=kept["index"]) for each in (fitted, again)), strict=True):
        assert torch.equal(one.edge_scores, other.edge_scores)
    assert again.config == fitted.config


def test_settings_that_today_s_version_cannot_express_are_named() -> None:
    old = {
        "sampler": "sample", "gate": "concrete", "score": "mask", "network": "concat", "standardised": False,
        "temperature": 0.5, "temperature_end": 4.99, "keep": "best", "decay": "cosine", "averaged": 1, "press": 1.0,
        "widen": 1.0, "hops": None, "hidden": 64, "coverage": "count",
    }  # fmt: skip
    assert config_of(old).temperature == (0.5, 4.99)
    with pytest.raises(CheckpointError, match=r"settings that version .* does not know: coverage, hidden"):
        config_of(old | {"hidden": 32, "coverage": "confidence"})
