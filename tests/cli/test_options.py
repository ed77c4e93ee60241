"""The values of --set, and names in the help that the library knows."""

from dataclasses import replace
from typing import get_args, get_type_hints

import pytest

from rcexplainer.cli.options import ARCHITECTURES, PARSERS, parse_settings
from rcexplainer.config import RCConfig
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.models import MODELS


def test_settings_are_read_as_their_fields_types():
    texts = ["epochs=20", "lr=1e-2", "scaled=no", "gate = concrete", "weight_same=1"]
    expected = {"epochs": 20, "lr": 0.01, "scaled": False, "gate": "concrete", "weight_same": 1.0}
    assert parse_settings(texts) == expected
    assert isinstance(parse_settings(["weight_same=1"])["weight_same"], float)
    assert parse_settings(["epochs=1", "epochs=2"]) == {"epochs": 2}
    assert parse_settings(["patience=none"]) == {"patience": None}
    assert parse_settings(["temperature=0.5,5"]) == {"temperature": (0.5, 5.0)}
    assert parse_settings(["temperature=1"]) == {"temperature": (1.0, 1.0)}
    assert parse_settings(None) == {}


def test_every_type_of_a_setting_can_be_read():
    texts = {int: "1", int | None: "none", float: "0.5", bool: "no", tuple[float, float]: "1,2"}
    for name, hint in get_type_hints(RCConfig).items():
        text = texts[hint] if hint in PARSERS else get_args(hint)[-1]
        replace(RCConfig(), **parse_settings([f"{name}={text}"]))  # it refuses values of another type


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs", "--set takes name=value, such as epochs=20, got 'epochs'"),
        ("=3", "--set takes name=value, such as epochs=20, got '=3'"),
        ("epochs=2.5", "epochs must be a whole number, got '2.5'"),
        ("lr=fast", "lr must be a number, got 'fast'"),
        ("patience=never", "patience must be a whole number or none, got 'never'"),
        (
            "temperature=0.5,hot",
            "temperature must be a number, or two such as 0.5,5 (at the start, at the end), got '0.5,hot'",
        ),
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
