"""One wrong byte anywhere in a file is refused; files of other versions are named as such."""

import json
import logging
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save

import rcexplainer as rc
from rcexplainer.errors import CheckpointError
from rcexplainer.gnn import load_gnn, save_gnn
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.saving.files import read_tensors, write_tensors
from rcexplainer.saving.seal import sealed, unsealed

RUN = {"seed": 0}


def flipped(path: Path, place: int, mask: int = 0x01) -> Path:
    """A copy of a file with one bit wrong."""
    content = bytearray(path.read_bytes())
    content[place] ^= mask
    copy = path.with_name(f"flipped-{path.name}")
    copy.write_bytes(bytes(content))
    return copy


@pytest.mark.parametrize("mask", [0x01, 0x80])
def test_every_byte_of_a_small_file_counts(tmp_path, mask):
    path = write_tensors(tmp_path / "file", {"a": torch.arange(5), "b": torch.ones(2)}, {"format": "toy", "text": "t"})
    tensors, header = read_tensors(path, "toy")
    assert tensors["a"].tolist() == [0, 1, 2, 3, 4]
    assert header["text"] == "t"
    for place in range(path.stat().st_size):
        with pytest.raises(CheckpointError, match=r"flipped-file"):
            read_tensors(flipped(path, place, mask), "toy")


def test_one_flipped_byte_in_an_explainer_is_refused(case, tmp_path):
    _, model, fitted = case
    path = fitted.save(tmp_path / "explainer.safetensors")
    assert rc.load(path, model).config == fitted.config
    size = path.stat().st_size
    for place in [0, 8, *range(40, size, size // 40), size - 1]:
        with pytest.raises(CheckpointError, match=r"damaged|cannot be read|format"):
            rc.load(flipped(path, place), model)


def test_the_error_says_what_was_found_and_what_to_do(case, tmp_path):
    _, model, fitted = case
    path = fitted.save(tmp_path / "explainer.safetensors")
    with pytest.raises(CheckpointError, match=r"its content and its checksum do not belong together.*another copy"):
        rc.load(flipped(path, path.stat().st_size - 1), model)


def test_networks_and_checkpoints_have_checksums_too(case, tmp_path):
    network = save_gnn(tmp_path / "gnn.safetensors", case[1])
    with pytest.raises(CheckpointError, match="damaged"):
        load_gnn(flipped(network, network.stat().st_size - 1))
    state = tmp_path / "fit.safetensors"
    FitFile(state, RUN).put("a", {"x": torch.ones(9)})
    with pytest.raises(CheckpointError, match=r"damaged.*to start the fit anew, delete the file"):
        FitFile(flipped(state, state.stat().st_size - 1), RUN)


def test_a_damaged_checkpoint_that_no_user_named_is_replaced(tmp_path, caplog):
    state = tmp_path / "explainer.unfinished"
    FitFile(state, RUN).put("a", {"x": torch.ones(9)})
    state.write_bytes(state.read_bytes()[:-1])
    assert FitFile(state, RUN).get("a") is None
    assert "starts anew" in caplog.text


def test_the_same_content_gives_the_same_bytes(case, tmp_path):
    one, two = (case[2].save(tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_file_without_a_checksum_loads_with_a_warning(case, tmp_path, caplog):
    _, model, fitted = case
    path = fitted.save(tmp_path / "explainer.safetensors")
    with safe_open(path, framework="pt") as file:
        header = {name: text for name, text in file.metadata().items() if name not in ("checksum", "layout")}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    old = tmp_path / "old.safetensors"
    old.write_bytes(save(tensors, header))
    with caplog.at_level(logging.WARNING):
        assert rc.load(old, model).config == fitted.config
    assert "old.safetensors has no checksum" in caplog.text


def test_a_file_of_a_later_version_is_named(tmp_path):
    path = tmp_path / "later.safetensors"
    path.write_bytes(save({"a": torch.ones(1)}, {"format": "toy", "layout": "3", "digest": "of another kind"}))
    with pytest.raises(CheckpointError, match=r"later version of rcexplainer \(layout 3, this one reads up to 2\)"):
        read_tensors(path, "toy")


def test_settings_of_a_later_version_are_named(case, tmp_path):
    _, model, fitted = case
    path = fitted.save(tmp_path / "explainer.safetensors")
    tensors, header = read_tensors(path, "rcexplainer-explainer")
    about = json.loads(header["about"])
    about["config"] |= {"foresight": 3}
    about["config"].pop("lr")
    texts = {"format": header["format"], "about": json.dumps(about)}
    with pytest.raises(CheckpointError, match=r"damaged or was written by another version|does not know.*foresight"):
        rc.load(write_tensors(tmp_path / "later.safetensors", tensors, texts), model)


@pytest.mark.parametrize("claimed", [1 << 40, (1 << 63) - 1, 100_000_001])
def test_sizes_in_a_header_are_checked_before_memory_is_taken(tmp_path, claimed):
    path = tmp_path / "huge.safetensors"
    path.write_bytes(claimed.to_bytes(8, "little") + b"{}")
    with pytest.raises(CheckpointError, match="cannot be read as safetensors"):
        read_tensors(path, "toy")


def test_a_tensor_that_claims_more_than_the_file_has_is_refused(tmp_path):
    header = b'{"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'
    path = tmp_path / "huge.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
    with pytest.raises(CheckpointError, match="cannot be read as safetensors"):
        read_tensors(path, "toy")


def test_a_changed_value_in_a_document_is_found():
    document = sealed({"share": 0.25, "method": "greedy"})
    assert unsealed(json.loads(json.dumps(document))) == {"share": 0.25, "method": "greedy"}
    with pytest.raises(ValueError, match="damaged"):
        unsealed(document | {"share": 0.26})
    assert unsealed({"share": 0.25}) == {"share": 0.25}  # of an earlier version
