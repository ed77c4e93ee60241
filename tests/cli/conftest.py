import pytest

from rcexplainer.cli import fit_ as fitting
from tests.benchmark.toys import save_toy, small


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """A hundred graphs instead of the real thing, for whatever opens a saved network."""
    monkeypatch.setattr(fitting, "load", small)


@pytest.fixture(scope="session")
def gnn(tmp_path_factory):
    return save_toy(tmp_path_factory.mktemp("gnn"), "ba-2motifs")


@pytest.fixture(scope="session")
def explainer(gnn):
    """Of that network, hardly trained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "load", small)
        out = gnn.parent / "explainer.safetensors"
        fitting.fit_saved("ba-2motifs", gnn, out, settings={"epochs": 2}, progress=False)
    return out
