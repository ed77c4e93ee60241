"""Small datasets under the names of the real ones, and all entries run on them once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rcexplainer.benchmark import networks, recipes
from rcexplainer.datasets import GraphDataset, inventory, load
from rcexplainer.gnn import TrainConfig
from rcexplainer.paper import entries, figure_files, plan, reproduce
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.result_groups import EntrySettings

TOY_SIZES = {
    "ba-2motifs": {"num_graphs": 80},
    "three-motifs": {"num_graphs": 60},
    "shared-neighbours": {"num_pairs": 300},
}
TOY_JOBS = {"tradeoff": 4, "planned": 4}  # of each entry, its network among them: 3, unless said here


def small(name: str, root: Path | None = None, seed: int = 0) -> GraphDataset:
    """`load`, with fewer graphs."""
    return load(name, root=root, seed=seed, **TOY_SIZES.get(name, {}))


def toy_training(name: str) -> TrainConfig:
    """Networks that are hardly trained; on ba-2motifs long enough to predict both classes."""
    return TrainConfig(epochs=80 if name == "ba-2motifs" else 20, lr=0.02)


def toy_settings(name: str, profile: str) -> EntrySettings:
    """An entry's settings, with a search on fewer graphs."""
    settings = plan.profile_settings(name, profile)
    return settings | {"settings": settings.get("settings", {}) | {"teacher_limit": 10}}


def few_jobs(name: str, profile: str) -> EntryPlan:
    """The first jobs of an entry."""
    planned = entries.plan(name, profile)
    return EntryPlan(planned.name, planned.settings, dict(list(planned.rows.items())[: TOY_JOBS.get(name, 3)]))


@contextmanager
def toy_data() -> Iterator[pytest.MonkeyPatch]:
    """While it lasts, every dataset is small, and so is every search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(networks, "load", small)
        patch.setattr(inventory, "load", small)
        patch.setattr(recipes, "training_settings", toy_training)
        patch.setattr(entries, "profile_settings", toy_settings)
        yield patch


def run_all(folder: Path) -> reproduce.Reproduction:
    """The first jobs of every entry, on small datasets."""
    with toy_data() as patch:
        patch.setattr(reproduce, "plan", few_jobs)
        patch.setattr(figure_files, "FIGURE_FORMATS", ("svg",))
        return reproduce.reproduce("all", "quick", folder, progress=False)
