"""The values of --set, and names in the help that the library knows."""

from dataclasses import fields, replace
from inspect import signature
from typing import get_args, get_type_hints

import pytest

from rcexplainer.cli.class_number import with_class_number
from rcexplainer.cli.evaluate import evaluate
from rcexplainer.cli.fit import FIT_OPTIONS, fit
from rcexplainer.cli.options import ARCHITECTURES, NO_SETTINGS, PARSERS, parse_settings
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
    targets = {"none": None, "each": "each", "1": 1, "positive": "positive"}
    assert {text: parse_settings([f"target_class={text}"])["target_class"] for text in targets} == targets
    assert parse_settings(None) == {}


def test_no_setting_is_an_option_too():
    assert not {field.name for field in fields(RCConfig)} & {*NO_SETTINGS, *FIT_OPTIONS}
    for command, options in ((fit, (*NO_SETTINGS, *FIT_OPTIONS)), (evaluate, NO_SETTINGS)):
        assert set(options) <= signature(command).parameters.keys()


def test_a_class_is_set_by_its_name_or_its_number():
    names = ("negative", "positive")
    for target, number in (("positive", 1), (1, 1), ("each", "each"), (None, None)):
        assert with_class_number({"epochs": 2, "target_class": target}, names) == {"epochs": 2, "target_class": number}
    assert with_class_number({"target_class": 1}, ("1", "0"))["target_class"] == 0  # a name goes before a number
    assert with_class_number({"target_class": 1}, ()) == {"target_class": 1}
    assert with_class_number({}, names) == {}
    with pytest.raises(RCExplainerError, match=r"^--set target_class: unknown class 'toxic'; known: negative, pos"):
        with_class_number({"target_class": "toxic"}, names)
    with pytest.raises(RCExplainerError, match="classes have no names here: give a number such as 1, each or none"):
        with_class_number({"target_class": "toxic"}, ())


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
        ("preset=paper", "preset is an option of its own: --preset paper"),
        ("task=node", "task is an option of its own: --task node"),
        ("class_names=a,b", "class_names is an option of its own: --class-names a,b"),
        ("scaled=perhaps", "scaled must be true or false, got 'perhaps'"),
    ],
)
def test_settings_that_cannot_be_read(text, message):
    with pytest.raises(RCExplainerError) as caught:
        parse_settings([text], FIT_OPTIONS)
    assert str(caught.value) == message


def test_the_help_lists_every_architecture():
    listed = ARCHITECTURES.split(": ")[1].rstrip(".").replace(" or ", ", ").split(", ")
    assert listed == list(MODELS)
