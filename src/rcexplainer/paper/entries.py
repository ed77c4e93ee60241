"""The paper's tables and figures by name: which jobs each is made of, and the tables they become.

Each has a small file of settings in `entries/`: what is common, a section for each profile, and under `reference` what
the paper, or its replication, reports. Methods, datasets and seeds are expanded to jobs; entries that ask for the same
job share its result.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from rcexplainer.benchmark.methods import Caps
from rcexplainer.errors import RCExplainerError
from rcexplainer.paper import figures as draw
from rcexplainer.paper.figures import Drawn
from rcexplainer.paper.jobs import (
    case_job,
    explain_job,
    measure_job,
    network_job,
    time_job,
    training_job,
)
from rcexplainer.paper.qualitative import qualitative_figure, qualitative_table
from rcexplainer.paper.store import Job
from rcexplainer.paper.tables import (
    Found,
    Table,
    ablation,
    case_study,
    datasets,
    fidelity,
    nodes,
    robustness,
    times,
)
from rcexplainer.paper.training_diagram import training_figure, training_table

PROFILES = ("quick", "standard", "paper")
Results = Mapping[Job, dict[str, Any]]  # of the jobs that have one


@dataclass(frozen=True)
class Plan:
    """One entry in one profile: its settings and its jobs, each with what sets it apart from the others."""

    name: str
    settings: dict[str, Any]
    jobs: dict[Job, dict[str, Any]]

    @property
    def title(self) -> str:
        return self.settings["title"]


@cache
def settings_of(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("entry_files", f"{name}.toml").read_text(encoding="utf-8"))


def plan(name: str, profile: str) -> Plan:
    """The jobs of an entry."""
    if name not in ENTRIES:
        raise RCExplainerError(f"unknown entry {name!r}; known: {', '.join(ENTRIES)}, or all")
    if profile not in PROFILES:
        raise RCExplainerError(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
    known = settings_of(name)
    settings = {key: value for key, value in known.items() if key not in PROFILES} | known[profile]
    return Plan(name, settings, ENTRIES[name].jobs(settings))


def tables(planned: Plan, results: Results) -> list[Table]:
    """What is known of an entry so far."""
    found = found_of(planned, results)
    return ENTRIES[planned.name].tables(planned.settings, found) if found else []


def figures(planned: Plan, results: Results) -> list[Drawn]:
    """What can be drawn of it; needs the extra `figures`."""
    found = found_of(planned, results)
    return ENTRIES[planned.name].figures(planned.settings, found) if found else []


def found_of(planned: Plan, results: Results) -> Found:
    """The results that an entry has, each with what sets its job apart."""
    return [(tags, results[job]) for job, tags in planned.jobs.items() if job in results]


def _networks(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    return {
        network_job(dataset, settings["model"], seed): {"dataset": dataset}
        for dataset in settings["datasets"]
        for seed in range(settings["seeds"])
    }


def _measures(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    """Everything that is measured of every dataset, network, seed and variant."""
    make = partial(measure_job, noise=settings.get("noise", ()), k=settings.get("k", (8,)))
    return _compared(settings, make)


def _times(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    return _compared(settings, time_job)


def _compared(settings: dict[str, Any], make: Callable[..., Job]) -> dict[Job, dict[str, Any]]:
    """A job for every dataset, network, seed and variant; and the networks themselves, trained first."""
    jobs: dict[Job, dict[str, Any]] = {}
    for dataset in settings["datasets"]:
        for model in settings.get("models", [settings.get("model")]):
            for seed in range(settings["seeds"]):
                network = {"dataset": dataset, "model": model, "seed": seed, "network": True}
                jobs[network_job(dataset, model, seed)] = network
                for tags, variant in _variants(settings):
                    method = variant.get("method", "rcexplainer")
                    job = make(
                        dataset,
                        model,
                        seed,
                        method,
                        preset=variant.get("preset", settings.get("preset", "default")),
                        settings=settings.get("settings", {}) | variant.get("settings", {}),
                        caps=_caps(settings, method),
                    )
                    jobs[job] = {"dataset": dataset, "model": model, **tags}
    return jobs


def _caps(settings: dict[str, Any], method: str) -> Caps:
    """How much a method is measured: `caps` of a profile, for `all` methods and for single ones; without, in full."""
    caps = settings.get("caps", {})
    return Caps(**(caps.get("all", {}) | caps.get(method, {})))


def _variants(settings: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What is compared: named variants, values of one setting, or methods."""
    if "variants" in settings:
        variants = settings["variants"]
        return [({"variant": name}, variant | {"settings": _own(variants, name)}) for name, variant in variants.items()]
    if "vary" in settings:
        name = settings["vary"]
        return [
            ({"variant": f"{name} = {value}", "value": value}, {"settings": {name: value}})
            for value in settings["values"]
        ]
    return [({"variant": method}, {"method": method}) for method in settings["methods"]]


def _own(variants: dict[str, Any], name: str) -> dict[str, Any]:
    """The settings of a variant, on top of those of the one it is `like`."""
    variant = variants[name]
    before = _own(variants, variant["like"]) if "like" in variant else {}
    return before | variant.get("settings", {})


def _cases(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    return {case_job(seed, settings.get("settings")): {} for seed in range(settings["seeds"])}


def _explanations(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    """One instance of every dataset as every method explains it; and the networks, trained first."""
    model, seed = settings["model"], settings["seed"]
    jobs: dict[Job, dict[str, Any]] = {}
    for dataset in settings["datasets"]:
        jobs[network_job(dataset, model, seed)] = {"dataset": dataset, "model": model, "network": True}
        for method in settings["methods"]:
            job = explain_job(dataset, model, seed, method, settings=settings.get("settings"))
            jobs[job] = {"dataset": dataset, "model": model, "variant": method}
    return jobs


def _training(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    """One training of one network's explainer."""
    dataset, model, seed, preset, shown = (settings[name] for name in ("dataset", "model", "seed", "preset", "shown"))
    own = settings["settings"] | settings.get("fewer", {})
    tags = {"dataset": dataset, "model": model}
    return {
        network_job(dataset, model, seed): {**tags, "network": True},
        training_job(dataset, model, seed, preset=preset, settings=own, shown=shown): tags,
    }


def _undrawn(settings: dict[str, Any], found: Found) -> list[Drawn]:
    return []


@dataclass(frozen=True)
class Entry:
    jobs: Callable[[dict[str, Any]], dict[Job, dict[str, Any]]]
    tables: Callable[[dict[str, Any], Found], list[Table]]
    figures: Callable[[dict[str, Any], Found], list[Drawn]] = _undrawn


ENTRIES: dict[str, Entry] = {
    "datasets": Entry(_networks, datasets),
    "fidelity": Entry(_measures, fidelity, draw.fidelity),
    "robustness": Entry(_measures, robustness, draw.robustness),
    "time": Entry(_times, times, draw.times),
    "nodes": Entry(_measures, nodes, draw.nodes),
    "links": Entry(_measures, nodes),
    "boundaries": Entry(_measures, fidelity, draw.varied("boundaries")),
    "lambda": Entry(_measures, fidelity, draw.varied("lambda")),
    "case-study": Entry(_cases, case_study, draw.case_study),
    "ablation": Entry(_measures, ablation, draw.ablation),
    "qualitative": Entry(_explanations, qualitative_table, qualitative_figure),
    "training": Entry(_training, training_table, training_figure),
}
