"""Fuzzing sees where inputs go: nothing of the library is imported before it is instrumented."""

import subprocess
import sys

import pytest

from rcexplainer.errors import RCExplainerError
from tests.hostile.trust_tools import FOLDER, trust_tool

LOADED = """
import sys
sys.path.insert(0, {folder!r})
import fuzz
print(sorted(name for name in sys.modules if name.partition(".")[0] == "rcexplainer"))
"""


def test_nothing_of_the_library_is_imported_with_the_script() -> None:
    words = [sys.executable, "-c", LOADED.format(folder=str(FOLDER))]
    run = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=True)
    assert run.stdout.strip() == "[]"


def test_what_is_imported_too_early_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"imported before atheris could instrument it.* inside the function that"):
        trust_tool("fuzz").refuse_blind()


def test_a_table_that_all_its_readers_refuse_is_counted_as_refused(tmp_path) -> None:
    pytest.importorskip("rdkit", reason="RDKit is not installed: molecules are not read")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: tables are not read")
    readers = trust_tool("readers")
    with pytest.raises(RCExplainerError):
        readers.read_csv(b"\xff\xfe\x00", tmp_path)
    assert readers.read_csv(b"smiles\nCCO\n", tmp_path)  # without labels `csv` alone refuses it


def test_drawn_arrays_are_graphs_that_are_read_and_such_that_are_refused(tmp_path) -> None:
    readers, answered = trust_tool("readers"), 0
    seeds = readers.array_seeds(tmp_path)
    for content in seeds:
        try:
            _, _, edges = readers.read_arrays(content, tmp_path)
        except RCExplainerError:
            continue
        answered += 1
        assert len(edges.columns) == len(edges.sources)
    assert 10 < answered < len(seeds)
