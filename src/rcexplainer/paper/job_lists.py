"""From an entry's settings to its jobs: methods, datasets, networks and seeds are expanded.

`settings` are RCExplainer's: those of the profile, then those of the variant that one is `like`, then its own. Beside
any of them may stand `stored`, the same as version 0.1 wrote it, by which its results are found. `own` are the settings
of a variant that is a baseline, on top of its tuned ones. What a variant sets `on` a dataset comes last; with
`datasets` it is there for those alone. A variant with `retired = true` has settings that this version does not know:
its earlier results are shown, and nothing is run. `earlier` has the levels of noise, the caps and the preset that a
profile had in version 0.1, where they were others.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from rcexplainer.benchmark.methods import Caps
from rcexplainer.benchmark.results import OURS
from rcexplainer.datasets import task_of
from rcexplainer.paper.case_study import CASE_DATASET, CASE_MODEL
from rcexplainer.paper.job import Job, Tags
from rcexplainer.paper.job_kinds import (
    authors_job,
    case_job,
    dial_job,
    explain_job,
    measure_job,
    network_job,
    recovery_job,
    stability_job,
    time_job,
    tradeoff_job,
    training_job,
    tuning_job,
)
from rcexplainer.paper.result_groups import EntrySettings

JobList = dict[Job, Tags]


@dataclass(frozen=True)
class Variant:
    """One of the things that an entry compares.

    Attributes:
        tags: What tells it apart from the others.
        method: A key of `METHODS`.
        preset: Of RCExplainer.
        settings: Of RCExplainer.
        stored: The same, as version 0.1 wrote them.
        retired: Whether this version does not know these settings.
        own: Of a baseline, on top of its tuned settings.
    """

    tags: Tags
    method: str
    preset: str
    settings: dict[str, Any]
    stored: dict[str, Any]
    retired: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)


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
    before = settings.get("earlier", {})

    def make(dataset: str, model: str, seed: int, method: str, **how: Any) -> Job:
        caps = {"caps": asdict(_caps(before, method).within(None))} if "caps" in before else {}
        earlier = {name: before[name] for name in ("noise", "preset") if name in before} | caps
        return measure_job(dataset, model, seed, method, **shared, **how, earlier=earlier)

    return _compared(settings, make)


def recoveries(settings: EntrySettings) -> JobList:
    """The motif by both readings of every variant, for every dataset and seed, on networks of one `recipe`.

    Seeds begin at `first_seed`: those before it are for choosing settings.
    """
    model, recipe, first, jobs = settings["model"], settings["recipe"], settings.get("first_seed", 0), JobList()
    for dataset in settings["datasets"]:
        for seed in range(first, first + settings["seeds"]):
            tags = {"dataset": dataset, "model": model, "seed": seed}
            jobs[network_job(dataset, model, seed, recipe)] = {**tags, "network": True}
            for variant in variants(settings, dataset):
                job = recovery_job(
                    dataset,
                    model,
                    seed,
                    variant.method,
                    recipe=recipe,
                    preset=variant.preset,
                    settings=variant.settings,
                    own=variant.own,
                    most=settings.get("most"),
                )
                jobs[job] = {**tags, **variant.tags}
    return jobs


def timings(settings: EntrySettings) -> JobList:
    """Times, for every dataset, network, seed and variant."""
    return _compared(settings, time_job)


def cases(settings: EntrySettings) -> JobList:
    """The case study, for every seed; and its networks, trained first."""
    own, stored = _words(settings)
    jobs: JobList = {}
    for seed in range(settings["seeds"]):
        jobs[network_job(CASE_DATASET, CASE_MODEL, seed)] = {"network": True}
        jobs[case_job(seed, own, stored)] = {}
    return jobs


def explanations(settings: EntrySettings) -> JobList:
    """One instance of every dataset, explained by every method; and the networks, trained first."""
    model, seed, (own, stored) = settings["model"], settings["seed"], _words(settings)
    jobs: JobList = {}
    for dataset in settings["datasets"]:
        jobs[network_job(dataset, model, seed)] = {"dataset": dataset, "model": model, "network": True}
        for method in settings["methods"]:
            job = explain_job(dataset, model, seed, method, settings=own, stored=stored)
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
    """Every variant on networks trained as the authors' were, and these networks."""
    model, recipe, jobs = settings["model"], settings["recipe"], JobList()
    for dataset in settings["datasets"]:
        for seed in range(settings["seeds"]):
            tags = {"dataset": dataset, "model": model, "seed": seed}
            jobs[network_job(dataset, model, seed, recipe)] = {**tags, "network": True}
            for variant in variants(settings, dataset):
                most = _caps(settings, variant.method).most
                job = authors_job(
                    dataset,
                    model,
                    seed,
                    variant.method,
                    preset=variant.preset,
                    settings=variant.settings,
                    own=variant.own,
                    most=most,
                    recipe=recipe,
                )
                jobs[job] = {**tags, **variant.tags}
    return jobs


def stability(settings: EntrySettings) -> JobList:
    """Counterfactuals of every method on every network, and these networks."""
    model, shared = settings["model"], {name: settings[name] for name in ("confidence", "noise", "copies")}
    jobs: JobList = {}
    for dataset in settings["datasets"]:
        for seed in range(settings["seeds"]):
            tags = {"dataset": dataset, "model": model, "seed": seed}
            jobs[network_job(dataset, model, seed)] = {**tags, "network": True}
            for one in variants(settings, dataset):
                most = _caps(settings, one.method).most
                job = stability_job(dataset, model, seed, one.method, settings=one.settings, most=most, **shared)
                jobs[job] = {**tags, **one.tags}
    return jobs


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
    """Every method on one network, RCExplainer with each number of runs for its ranking; its scores on others.

    The latter are the networks `scores_alone`, with greedy deletion as the denominator of all ratios.
    """
    alone = {"models": settings["scores_alone"], "methods": [OURS, "greedy"], "refine": [0]}
    return _dials(settings) | _dials(settings | alone)


def _dials(settings: EntrySettings) -> JobList:
    """Every method on every dataset and network, RCExplainer with each number of runs; networks first."""
    jobs: JobList = {}
    for dataset, model in panels(settings):
        for seed in range(settings["seeds"]):
            tags = {"dataset": dataset, "model": model, "seed": seed}
            jobs[network_job(dataset, model, seed)] = {**tags, "network": True}
            for variant in variants(settings, dataset):
                refine = settings["refine"] if variant.method == OURS else [0]
                most = _caps(settings, variant.method).most
                where = dataset, model, seed, variant.method
                job = dial_job(*where, settings=variant.settings, refine=refine, most=most)
                jobs[job] = {**tags, **variant.tags}
    return jobs


def tuning(settings: EntrySettings) -> JobList:
    """A job for each dataset and baseline, with its grid of settings for graphs or for nodes; networks first."""
    model, seed = settings["model"], settings["seed"]
    make = partial(tuning_job, graphs=settings["graphs"], most=settings["most"], settings=own_words(settings))
    jobs: JobList = {}
    for dataset in settings["datasets"]:
        tags = {"dataset": dataset, "model": model, "seed": seed}
        jobs[network_job(dataset, model, seed)] = {**tags, "network": True}
        for method, grid in settings["grids"][task_of(dataset)].items():
            jobs[make(dataset, model, seed, method, grid=list(grid.values()))] = {**tags, "variant": method}
    return jobs


def variants(settings: EntrySettings, dataset: str | None = None) -> list[Variant]:
    """What an entry compares: methods, named variants, both, or values of one setting.

    Args:
        settings: The entry's: `methods`, `variants`, or `vary` and `values`.
        dataset: The dataset; what a variant sets `on` it alone comes last.

    Returns:
        The variants, in order.
    """
    preset, (common, stored) = settings.get("preset", "default"), _words(settings)
    if "vary" in settings:
        name = settings["vary"]
        return [
            Variant(
                {"variant": f"{name} = {value}", "value": value},
                OURS,
                preset,
                common | {name: value},
                stored | {name: value},
            )
            for value in settings["values"]
        ]
    named = settings.get("variants", {})
    known = {name: one for name, one in named.items() if dataset is None or dataset in one.get("datasets", [dataset])}
    return [
        *(Variant({"variant": method}, method, preset, common, stored) for method in settings.get("methods", ())),
        *(
            Variant(
                {"variant": name},
                one.get("method", OURS),
                one.get("preset", preset),
                common | _inherited(named, name, own_words) | one.get("on", {}).get(dataset, {}),
                stored | _inherited(named, name, stored_words) | one.get("on", {}).get(dataset, {}),
                one.get("retired", False),
                one.get("own", {}),
            )
            for name, one in known.items()
        ),
    ]


def own_words(level: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of one level."""
    return dict(level.get("settings", {}))


def stored_words(level: Mapping[str, Any]) -> dict[str, Any]:
    """The same as version 0.1 wrote them."""
    return dict(level.get("stored", level.get("settings", {})))


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
                    settings=variant.stored if variant.retired else variant.settings,
                    own=variant.own,
                    stored=variant.stored,
                    retired=variant.retired,
                    caps=_caps(settings, variant.method),
                )
                jobs[job] = {"dataset": dataset, "model": model, **variant.tags}
    return jobs


def panels(settings: EntrySettings) -> list[tuple[str, str]]:
    """Datasets and networks: the pairs in `panels`, or every one of `datasets` with every one of `models`."""
    if "panels" in settings:
        return [(dataset, model) for dataset, model in settings["panels"]]
    models = settings.get("models", [settings.get("model")])
    return [(dataset, model) for dataset in settings["datasets"] for model in models]


def _caps(settings: EntrySettings, method: str) -> Caps:
    """How much a method is measured: `caps` of a profile, for `all` methods and for single ones; else in full."""
    caps = settings.get("caps", {})
    return Caps(**(caps.get("all", {}) | caps.get(method, {})))


def _words(settings: EntrySettings) -> tuple[dict[str, Any], dict[str, Any]]:
    return own_words(settings), stored_words(settings)


def _inherited(
    known: Mapping[str, Any], name: str, words: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """The settings of a variant, on top of those of the one it is `like`."""
    variant = known[name]
    before = _inherited(known, variant["like"], words) if "like" in variant else {}
    return before | words(variant)
