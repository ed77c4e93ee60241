"""A small network and its explainer, which all tests of faults share."""

import pytest

import rcexplainer as rc
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn


@pytest.fixture(scope="session")
def case():
    """(dataset, network, fitted explainer)."""
    data = rc.datasets.load("ba-2motifs", num_graphs=60)
    settings = TrainConfig(epochs=15, lr=0.01)
    model = train_gnn(gnn_config("paper", 10, 2), data.graphs, data.split, settings=settings, progress=False).model
    fitted = rc.RCExplainer(epochs=1).fit(model, data.subset("train"), progress=False)
    return data, model, fitted
