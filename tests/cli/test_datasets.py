"""`rcexplainer datasets`."""

import json
import subprocess
import sys

import pytest

from rcexplainer.datasets import names


def test_list_of_datasets(run):
    ended = run("datasets")
    assert ended.code == 0
    assert all(name in ended.out for name in names())
    listed = [row["name"] for row in json.loads(run("datasets", "--json").out)]
    assert listed == [*names(), "tu:NAME", "csv:PATH"]


def test_numbers_of_a_dataset(run):
    ended = run("datasets", "ba-shapes", "ba-2motifs", "--json")
    shapes, motifs = json.loads(ended.out)
    assert ended.code == 0
    assert (shapes["nodes"], shapes["edges"], shapes["graphs"]) == (700, 2055, 1)
    assert motifs["classes"] == {"cycle": 500, "house": 500}
    assert (motifs["edges"], motifs["motif_edges"]) == (25.5, 5.5)
    out = run("datasets", "ba-shapes").out
    assert "2055" in out
    assert "560/70/70" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mutagen"], "did you mean mutagenicity"),
        (["ba-shapes", "--seed", "-1"], "from 0 to 2³²−1, got -1"),
    ],
)
def test_mistakes(refused, arguments, message):
    refused(["datasets", *arguments], message)


def test_the_list_needs_no_torch():
    """Nothing is loaded for a list of names: torch alone takes seconds."""
    code = (
        "import sys; from rcexplainer.cli.app import main\n"
        "try: main(['datasets'])\n"
        "except SystemExit as end: assert not end.code\n"
        "assert not {'torch', 'numpy', 'torch_geometric'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
