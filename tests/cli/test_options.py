"""The values of --set, and names in the help that the library knows."""

import pytest

from rcexplainer.cli.options import ARCHITECTURES, parse_settings
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.models import MODELS


def test_settings_are_read_as_their_fields_types():
    texts = ["epochs=20", "lr=1e-2", "scaled=no", "gate = concrete", "weight_same=1"]
    expected = {"epochs": 20, "lr": 0.01, "scaled": False, "gate": "concrete", "weight_same": 1.0}
    assert parse_settings(texts) == expected
    assert isinstance(parse_settings(["weight_same=1"])["weight_same"], float)
    assert parse_settings(["epochs=1", "epochs=2"]) == {"epochs": 2}
    assert parse_settings(None) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs", "--set takes name=value, such as epochs=20, got 'epochs'"),
        ("=3", "--set takes name=value, such as epochs=20, got '=3'"),
        ("epochs=2.5", "epochs must be a whole number, got '2.5'"),
        ("lr=fast", "lr must be a number, got 'fast'"),
        ("scaled=perhaps", "scaled must be true or false, got 'perhaps'"),
    ],
)
def test_settings_that_cannot_be_read(text, message):
    with pytest.raises(RCExplainerError) as caught:
        parse_settings([text])
    assert str(caught.value) == message


def test_the_help_lists_every_architecture():
    listed = ARCHITECTURES.split(": ")[1].rstrip(".").replace(" or ", ", ").split(", ")
    assert listed == list(MODELS)
