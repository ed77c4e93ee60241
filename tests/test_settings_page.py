"""docs/settings.md names every setting with its value in every preset."""

from dataclasses import fields
from pathlib import Path

import pytest

from rcexplainer.config import PRESETS, RCConfig

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"


def shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("name", [field.name for field in fields(RCConfig)])
def test_a_setting_is_described(name: str) -> None:
    (line,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}` |")]
    cells = [cell.strip() for cell in line.split(" | ")]
    for cell, config in zip(cells[1:], PRESETS.values(), strict=False):
        assert cell.split(" (nodes")[0] == shown(getattr(config, name))
    assert len(cells[-1]) > 10
