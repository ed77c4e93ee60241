"""The file of a fit in progress."""

import json
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from rcexplainer.errors import CheckpointError
from rcexplainer.saving.checkpoint import CHECKPOINT_FORMAT, FitFile, digest
from rcexplainer.saving.files import write_tensors

RUN = {"seed": 0, "settings": {"epochs": 3}}


def test_what_was_put_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "fit.safetensors"
    FitFile(path, RUN).put("search", {"order": torch.tensor([2, 1])}, "text")
    again = FitFile(path, RUN)
    tensors, text = again.get("search")
    assert tensors["order"].tolist() == [2, 1]
    assert text == "text"
    assert again.get("training") is None


@pytest.mark.parametrize(("name", "text"), [("run", "["), ("run", "[]"), ("texts", "{"), ("texts", "[1]")])
def test_texts_that_are_none_of_ours_are_refused(tmp_path: Path, name: str, text: str) -> None:
    header = {"format": CHECKPOINT_FORMAT, "run": json.dumps(RUN), "texts": "{}", name: text}
    path = write_tensors(tmp_path / "fit.safetensors", {}, header)  # its checksum is right
    with pytest.raises(CheckpointError, match="is damaged or was written by another version"):
        FitFile(path, RUN)
    left = path.rename(tmp_path / "fit.unfinished")  # nobody named this one: it is replaced
    assert FitFile(left, RUN).parts == {}


def test_parts_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "fit.safetensors"
    file = FitFile(path, RUN)
    file.put("a", {"x": torch.zeros(1)})
    file.put("a b", {"x": torch.ones(1)})
    again = FitFile(path, RUN)
    assert [float(again.get(name)[0]["x"]) for name in ("a", "a b")] == [0.0, 1.0]


def test_what_changes_all_the_time_is_written_now_and_then(tmp_path: Path) -> None:
    path = tmp_path / "fit.safetensors"
    file = FitFile(path, RUN, every=1000.0)
    file.put("training", {"x": torch.zeros(1)})
    file.put("training", {"x": torch.ones(1)}, at_once=False)
    assert float(FitFile(path, RUN).get("training")[0]["x"]) == 0.0
    file.put("training", {"x": torch.ones(1)})
    assert float(FitFile(path, RUN).get("training")[0]["x"]) == 1.0


def test_without_a_path_nothing_is_kept() -> None:
    file = FitFile(None, RUN)
    file.put("a", {})
    assert file.get("a") is None


def test_the_file_of_another_run_is_refused_by_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "fit.safetensors"
    FitFile(path, RUN).put("a", {"x": torch.zeros(1)})
    with pytest.raises(CheckpointError, match=r"another run \(settings differ\).*delete the file"):
        FitFile(path, {**RUN, "settings": {"epochs": 4}})


def test_a_file_cut_in_half_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fit.safetensors"
    FitFile(path, RUN).put("a", {"x": torch.zeros(100)})
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(CheckpointError, match=r"fit\.safetensors cannot be read"):
        FitFile(path, RUN)


def test_graphs_are_told_apart_by_edges_and_features() -> None:
    def graph(value: float, last: int) -> Data:
        return Data(x=torch.full((3, 1), value), edge_index=torch.tensor([[0], [last]]))

    assert digest([graph(1, 1)]) == digest([graph(1, 1)])
    assert len({digest([graph(1, 1)]), digest([graph(2, 1)]), digest([graph(1, 2)]), digest([])}) == 4
