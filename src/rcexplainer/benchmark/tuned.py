"""The settings of baselines that did best on validation instances, from `tuned.toml`.

The file is written by `tools/tuned_settings.py` from the results of `rcexplainer reproduce tuning`. A baseline that is
not in it, or a dataset, has the defaults of the baseline.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

TUNED_FILE = "tuned.toml"

TunedSettings = Mapping[str, Mapping[str, Mapping[str, Any]]]  # dataset → method → settings


@cache
def all_tuned() -> TunedSettings:
    """Everything that the file holds."""
    return tomllib.loads(files(__package__).joinpath(TUNED_FILE).read_text(encoding="utf-8"))


def tuned_settings(dataset: str, method: str) -> Mapping[str, Any]:
    """The tuned settings of one method.

    Args:
        dataset: The name of the dataset.
        method: A key of `METHODS`.

    Returns:
        Settings on top of the method's defaults; none where it was not tuned, or the defaults did best.
    """
    return all_tuned().get(dataset, {}).get(method, {})
