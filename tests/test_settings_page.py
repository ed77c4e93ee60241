"""docs/settings.md names every setting with its value in every preset, as `tools/settings_page.py` writes it."""

import logging
from dataclasses import fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from rcexplainer.config import PRESETS, RCConfig, make_config
from rcexplainer.errors import RCExplainerError

TOOL = Path(__file__).parents[1] / "tools" / "settings_page.py"


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location("settings_page", TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_as_the_tool_writes_it(tool) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page()


def test_every_setting_is_described_once_and_there_are_at_most_30(tool) -> None:
    names = [name for _, settings in tool.groups() for name, _ in settings]
    assert names == [field.name for field in fields(RCConfig)]
    assert len(names) <= 30
    assert all(len(comment) > 10 for _, settings in tool.groups() for _, comment in settings)


def test_a_setting_without_effect_says_so(caplog) -> None:
    with caplog.at_level(logging.WARNING):
        make_config("default", {"weight_sparse": 0.1})
    assert "weight_sparse=0.1 has no effect: weight_regions is 0" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        make_config("default", {"weight_sparse": 0.1, "weight_regions": 1.0})
        make_config("paper", {"epochs": 3})
    assert not caplog.text
    assert PRESETS["paper"].without_effect().keys() == {"teacher", "effect_temperature", "weight_stable"}


def test_a_setting_of_version_0_1_says_what_stands_for_it() -> None:
    with pytest.raises(RCExplainerError, match=r"'averaged'; since 0.2 the best restarts are always averaged"):
        make_config("default", {"averaged": 3})
    with pytest.raises(RCExplainerError, match=r"'hops'; since 0.2 hops is an argument of the constructor"):
        make_config("default", {"hops": 3})
