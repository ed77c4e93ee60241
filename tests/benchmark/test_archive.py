"""A folder of one evaluation: refusals and what an interrupt leaves; the rest is tested with the loop that uses it."""

import pytest

from rcexplainer.benchmark import archive as module
from rcexplainer.benchmark.archive import Archive
from rcexplainer.benchmark.groups import NetworkResult
from rcexplainer.errors import RCExplainerError


def test_without_a_folder_nothing_is_kept() -> None:
    archive = Archive.of(None, {"dataset": "x"})
    assert archive.networks is None
    assert archive.get(NetworkResult, "0-network", lambda: NetworkResult(0, 0.5)) == NetworkResult(0, 0.5)
    archive.finish({})


def test_a_result_is_made_once(tmp_path) -> None:
    archive = Archive.of(tmp_path / "new" / "folder", {"dataset": "x"})
    made = []

    def make():
        made.append(1)
        return NetworkResult(0, 0.5)

    assert archive.get(NetworkResult, "0-network", make) == archive.get(NetworkResult, "0-network", make)
    assert Archive.of(tmp_path / "new" / "folder", {"dataset": "x"}).get(NetworkResult, "0-network", make).seed == 0
    assert made == [1]
    (archive.folder / "results" / "0-network.json").write_text('{"seed": "zero"}', encoding="utf-8")
    assert archive.get(NetworkResult, "0-network", make) == NetworkResult(0, 0.5)
    assert made == [1, 1]


def test_a_folder_that_cannot_be_used_is_refused(tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(RCExplainerError, match="is a file: name a folder"):
        Archive.of(file, {})
    with pytest.raises(RCExplainerError, match="cannot be made: Not a directory"):
        Archive.of(file / "folder", {})


def test_another_evaluation_is_refused_by_what_differs(tmp_path) -> None:
    Archive.of(tmp_path, {"dataset": "a", "settings": {"epochs": 2}, "device": None})
    Archive.of(tmp_path, {"device": None, "settings": {"epochs": 2}, "dataset": "a"})
    with pytest.raises(RCExplainerError, match=r"dataset is a there, b here; device is null there, cpu here. Name ano"):
        Archive.of(tmp_path, {"dataset": "b", "settings": {"epochs": 2}, "device": "cpu"})


def test_a_full_disk_loses_only_what_is_being_written(tmp_path, monkeypatch) -> None:
    archive = Archive.of(tmp_path, {})
    archive.get(NetworkResult, "0-network", lambda: NetworkResult(0, 0.5))

    def full(path, document):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_document", full)
    message = r"1-network could not be written \(No space left on device\); all that was finished before is in"
    with pytest.raises(RCExplainerError, match=message):
        archive.get(NetworkResult, "1-network", lambda: NetworkResult(1, 0.5))
    assert archive.has("0-network")
    assert not archive.has("1-network")


def test_fits_that_are_not_finished_outlive_an_evaluation_of_other_methods(tmp_path) -> None:
    archive = Archive.of(tmp_path, {})
    archive.unfinished.mkdir()
    names = ("0-rcexplainer.unfinished", "0-random.unfinished", ".0-random.unfinished.1-x.part")
    for name in names:
        (archive.unfinished / name).write_bytes(b"x")
    archive.get(NetworkResult, "0-random", lambda: NetworkResult(0, 0.5))
    (archive.unfinished / names[1]).write_bytes(b"x")  # killed before it was gone
    archive.finish({})
    assert [path.name for path in archive.unfinished.iterdir()] == [names[0]]
    archive.get(NetworkResult, "0-rcexplainer", lambda: NetworkResult(0, 0.5))
    archive.finish({})
    assert not archive.unfinished.exists()


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ((), "no result is finished yet, and OUT keeps nothing: the same command, or call, starts anew"),
        (("networks/a",), "no result is finished yet; what was trained of the network is kept in OUT: the same com"),
        (("networks/a", "unfinished/a"), "no result is finished yet; a fit that was begun is kept in OUT: the same"),
        (("unfinished/a", "results/a.json"), "1 result is in OUT: the same command, or call, goes on from there"),
        (("results/a.json", "results/b.json"), "2 results are in OUT: the same command, or call, goes on from there"),
    ],
)
def test_an_interrupt_says_what_is_kept(left, said, tmp_path, caplog) -> None:
    archive = Archive.of(tmp_path, {})
    for name in left:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(KeyboardInterrupt), archive.held():
        raise KeyboardInterrupt
    assert said in caplog.text.replace(str(tmp_path), "OUT")


def test_files_that_are_being_written_are_no_results(tmp_path, caplog) -> None:
    archive = Archive.of(tmp_path, {})
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / ".a.json.1-x.part").write_bytes(b"")
    with pytest.raises(KeyboardInterrupt), archive.held():
        raise KeyboardInterrupt
    assert "no result is finished yet" in caplog.text
