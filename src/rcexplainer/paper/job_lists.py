"""From an entry's settings to its jobs: datasets, networks, seeds and variants are expanded."""

from collections.abc import Callable
from functools import partial

from rcexplainer.benchmark.results import OURS
from rcexplainer.datasets import task_of
from rcexplainer.paper.case_study import CASE_DATASET, CASE_MODEL
from rcexplainer.paper.dial import BY_SCORES
from rcexplainer.paper.job import Job, Tags
from rcexplainer.paper.job_inputs import network_job
from rcexplainer.paper.job_kinds import (
    authors_job,
    case_job,
    dial_job,
    explain_job,
    measure_job,
    recovery_job,
    stability_job,
    time_job,
    tradeoff_job,
    training_job,
    tuning_job,
)
from rcexplainer.paper.result_groups import EntrySettings
from rcexplainer.paper.variants import Variant, caps_of, own_settings, panels, variants

JobList = dict[Job, Tags]


def networks(settings: EntrySettings) -> JobList:
    """A network for every dataset and seed."""
    return {
        network_job(dataset, settings["model"], seed): {"dataset": dataset}
        for dataset in settings["datasets"]
        for seed in range(settings["seeds"])
    }


def measurements(settings: EntrySettings) -> JobList:
    """Everything that is measured, for every dataset, network, seed and variant."""
    shared = {"noise": settings.get("noise", ()), "k": settings.get("k", (8,))}
    return _compared(settings, partial(measure_job, **shared))


def recoveries(settings: EntrySettings) -> JobList:
    """The motif by both readings of every variant, on networks of one `recipe`.

    Seeds begin at `first_seed`: those before it are for choosing settings.
    """

    def make(dataset: str, model: str, seed: int, one: Variant) -> Job:
        how = {"recipe": settings["recipe"], "preset": one.preset, "settings": one.settings, "own": one.own}
        return recovery_job(dataset, model, seed, one.method, **how, most=settings.get("most"))

    return _on_every_network(settings, make)


def timings(settings: EntrySettings) -> JobList:
    """Times, for every dataset, network, seed and variant."""
    return _compared(settings, time_job)


def cases(settings: EntrySettings) -> JobList:
    """The case study, for every seed; and its networks, trained first."""
    jobs: JobList = {}
    for seed in range(settings["seeds"]):
        jobs[network_job(CASE_DATASET, CASE_MODEL, seed)] = {"network": True}
        jobs[case_job(seed, own_settings(settings))] = {}
    return jobs


def explanations(settings: EntrySettings) -> JobList:
    """One instance of every dataset, explained by every method; and the networks, trained first."""
    model, seed, own = settings["model"], settings["seed"], own_settings(settings)
    jobs: JobList = {}
    for dataset in settings["datasets"]:
        jobs[network_job(dataset, model, seed)] = {"dataset": dataset, "model": model, "network": True}
        for method in settings["methods"]:
            job = explain_job(dataset, model, seed, method, settings=own)
            jobs[job] = {"dataset": dataset, "model": model, "variant": method}
    return jobs


def training(settings: EntrySettings) -> JobList:
    """One training of RCExplainer on one network."""
    dataset, model, seed, preset, shown = (settings[name] for name in ("dataset", "model", "seed", "preset", "shown"))
    own = settings["settings"] | settings.get("fewer", {})
    tags = {"dataset": dataset, "model": model}
    return {
        network_job(dataset, model, seed): {**tags, "network": True},
        training_job(dataset, model, seed, preset=preset, settings=own, shown=shown): tags,
    }


def authors(settings: EntrySettings) -> JobList:
    """Every variant on networks trained as the authors' were."""

    def make(dataset: str, model: str, seed: int, one: Variant) -> Job:
        how = {"recipe": settings["recipe"], "preset": one.preset, "settings": one.settings, "own": one.own}
        return authors_job(dataset, model, seed, one.method, **how, most=caps_of(settings, one.method).most)

    return _on_every_network(settings, make)


def stability(settings: EntrySettings) -> JobList:
    """Counterfactuals of every method."""
    shared = {name: settings[name] for name in ("confidence", "noise", "copies")}

    def make(dataset: str, model: str, seed: int, one: Variant) -> Job:
        most = caps_of(settings, one.method).most
        return stability_job(dataset, model, seed, one.method, settings=one.settings, most=most, **shared)

    return _on_every_network(settings, make)


def tradeoff(settings: EntrySettings) -> JobList:
    """A job for each setting on one network, and one for greedy deletion, the denominator of all ratios."""
    where = settings["dataset"], settings["model"], settings["seed"]
    make = partial(tradeoff_job, *where, graphs=settings["graphs"])
    tags = dict(zip(("dataset", "model", "seed"), where, strict=True))
    jobs: JobList = {network_job(*where): {**tags, "network": True}, make("greedy"): {**tags, "variant": "greedy"}}
    for variant in variants(settings):
        jobs[make(variant.method, settings=variant.settings)] = tags | variant.tags
    return jobs


def dial(settings: EntrySettings) -> JobList:
    """Every method on one network, RCExplainer with each number of runs for its ranking; without refinement on others,
    and in other settings (`variants`).

    The others are the networks `scores_alone`, with greedy deletion as the denominator of all ratios, and occlusion:
    what the true effects of single deletions would be worth there.
    """
    free = [many for many in settings["refine"] if many in (0, BY_SCORES)]
    alone = {"models": settings["scores_alone"], "methods": [OURS, "occlusion", "greedy"], "refine": free}
    return _dials(settings) | _dials(settings | alone)


def _dials(settings: EntrySettings) -> JobList:
    """Every method on every dataset and network, RCExplainer with each number of runs for its ranking."""

    def make(dataset: str, model: str, seed: int, one: Variant) -> Job:
        refine = settings["refine"] if one.tags["variant"] == OURS else [0]
        most = caps_of(settings, one.method).most
        return dial_job(dataset, model, seed, one.method, settings=one.settings, refine=refine, most=most)

    return _on_every_network(settings, make)


def tuning(settings: EntrySettings) -> JobList:
    """A job for each dataset and baseline, with its grid of settings for graphs or for nodes; networks first."""
    model, seed = settings["model"], settings["seed"]
    make = partial(tuning_job, graphs=settings["graphs"], most=settings["most"], settings=own_settings(settings))
    jobs: JobList = {}
    for dataset in settings["datasets"]:
        tags = {"dataset": dataset, "model": model, "seed": seed}
        jobs[network_job(dataset, model, seed)] = {**tags, "network": True}
        for method, grid in settings["grids"][task_of(dataset)].items():
            jobs[make(dataset, model, seed, method, grid=list(grid.values()))] = {**tags, "variant": method}
    return jobs


def _on_every_network(settings: EntrySettings, make: Callable[[str, str, int, Variant], Job]) -> JobList:
    """A job for every network, seed and variant; and the networks themselves, trained first by the entry's `recipe`."""
    first, jobs = settings.get("first_seed", 0), JobList()
    for dataset, model in panels(settings):
        for seed in range(first, first + settings["seeds"]):
            tags = {"dataset": dataset, "model": model, "seed": seed}
            jobs[network_job(dataset, model, seed, settings.get("recipe", "ours"))] = {**tags, "network": True}
            for one in variants(settings, dataset, model):
                jobs[make(dataset, model, seed, one)] = {**tags, **one.tags}
    return jobs


def _compared(settings: EntrySettings, make: Callable[..., Job]) -> JobList:
    """A job for every dataset, network, seed and variant; and the networks themselves, trained first."""
    jobs: JobList = {}
    for dataset, model in panels(settings):
        for seed in range(settings["seeds"]):
            network = {"dataset": dataset, "model": model, "seed": seed, "network": True}
            jobs[network_job(dataset, model, seed)] = network
            for variant in variants(settings, dataset):
                job = make(
                    dataset,
                    model,
                    seed,
                    variant.method,
                    preset=variant.preset,
                    settings=variant.settings,
                    own=variant.own,
                    caps=caps_of(settings, variant.method),
                )
                jobs[job] = {"dataset": dataset, "model": model, **variant.tags}
    return jobs
