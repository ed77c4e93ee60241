"""The paper's tables and figures by name: which jobs each is made of, and the tables they become.

Each has a small file of settings in `entries/`: what is common, a section for each profile, and under `reference` what
the paper, or its replication, reports. Methods, datasets and seeds are expanded to jobs; entries that ask for the same
job share its result.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rcexplainer.errors import RCExplainerError
from rcexplainer.experiments.reproduce.store import Job
from rcexplainer.experiments.reproduce.work import case_job, measure_job, network_job
from rcexplainer.experiments.results import SPARSITIES, Rows, column, mean, short, std

PROFILES = ("quick", "standard", "paper")
Results = Mapping[Job, dict[str, Any]]  # of the jobs that have one


@dataclass(frozen=True)
class Table:
    """Rows of texts, with what they show."""

    caption: str
    rows: Rows


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
    return tomllib.loads(files(__package__).joinpath("entries", f"{name}.toml").read_text(encoding="utf-8"))


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
    found = {job: (tags, results[job]) for job, tags in planned.jobs.items() if job in results}
    return ENTRIES[planned.name].tables(planned.settings, list(found.values())) if found else []


Found = list[tuple[dict[str, Any], dict[str, Any]]]  # what sets a job apart, and its result


# ---- jobs


def _networks(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    return {
        network_job(dataset, settings["model"], seed): {"dataset": dataset}
        for dataset in settings["datasets"]
        for seed in range(settings["seeds"])
    }


def _measures(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    """Every dataset, network, seed, variant and method; and the networks themselves, trained first."""
    jobs: dict[Job, dict[str, Any]] = {}
    for dataset in settings["datasets"]:
        for model in settings.get("models", [settings.get("model")]):
            for seed in range(settings["seeds"]):
                jobs[network_job(dataset, model, seed)] = {"dataset": dataset, "model": model, "network": True}
                for tags, variant in _variants(settings):
                    job = measure_job(
                        dataset,
                        model,
                        seed,
                        variant.get("method", "rcexplainer"),
                        preset=variant.get("preset", settings.get("preset", "default")),
                        settings=settings.get("settings", {}) | variant.get("settings", {}),
                        most=settings.get("most"),
                        noise=settings.get("noise", ()),
                        k=settings.get("k", (8,)),
                    )
                    jobs[job] = {"dataset": dataset, "model": model, **tags}
    return jobs


def _variants(settings: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What is compared: named variants, values of one setting, or methods."""
    if "variants" in settings:
        return [({"variant": name}, variant) for name, variant in settings["variants"].items()]
    if "vary" in settings:
        name = settings["vary"]
        return [({"variant": f"{name} = {value}"}, {"settings": {name: value}}) for value in settings["values"]]
    return [({"variant": method}, {"method": method}) for method in settings["methods"]]


def _cases(settings: dict[str, Any]) -> dict[Job, dict[str, Any]]:
    return {case_job(seed): {} for seed in range(settings["seeds"])}


# ---- tables


def _dataset_tables(settings: dict[str, Any], found: Found) -> list[Table]:
    rows: Rows = []
    for dataset in settings["datasets"]:
        own = [result for tags, result in found if tags["dataset"] == dataset]
        if not own:
            continue
        shape, paper = own[0]["dataset"], settings["reference"].get(dataset, ["–"] * 5)
        accuracy = [result["accuracy"] for result in own]
        rows.append(
            {
                "dataset": dataset,
                "nodes (paper)": f"{shape['nodes']:.2f} ({paper[0]})",
                "edges": f"{shape['edges']:.2f} ({paper[1]})",
                "graphs": f"{shape['graphs']} ({paper[2]})",
                "classes": f"{len(shape['classes'])} ({paper[3]})",
                "test accuracy ↑": f"{spread(accuracy)} ({paper[4]})",
                "motif flips ↑": spread([_number(result["motif_flips"]) for result in own]),
                "networks": len(own),
            }
        )
    return [Table("Ours, in brackets the paper's; motif flips: instances that flip without their motif", rows)]


def _by(found: Found, *names: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for tags, result in found:
        if not tags.get("network"):
            groups.setdefault(tuple(tags[name] for name in names), []).append(result)
    return groups


def _fidelity_tables(settings: dict[str, Any], found: Found) -> list[Table]:
    made: list[Table] = []
    for (dataset, model), own in _groups(found):
        paper = settings.get("reference", {}).get(dataset, {})
        rows = [
            {
                "method": variant,
                "instances": sum(result["instances"] for result in results),
                **{
                    f"{column(share)} ↑": spread([_at(result["fidelity"], place) for result in results])
                    for place, share in enumerate((*SPARSITIES, 0.70))
                },
                "paper": ", ".join(f"{name}: {value}" for name, value in paper.get(variant, {}).items()),
            }
            for (variant,), results in _by(own, "variant").items()
        ]
        made.append(Table(f"{dataset}, network {model}: fidelity at sparsity", rows))
    return made


def _robustness_tables(settings: dict[str, Any], found: Found) -> list[Table]:
    made: list[Table] = []
    for (dataset, _), own in _groups(found):
        paper = settings.get("reference", {}).get(dataset, {})
        for place, k in enumerate(settings.get("k", (8,))):
            rows = [
                {
                    "method": variant,
                    **{
                        f"{100 * level:.0f} % ↑": spread(
                            [_at(_at(result["robust"]["auc"], at), place) for result in results if result["robust"]]
                        )
                        for at, level in enumerate(settings["noise"])
                    },
                    "paper": ", ".join(f"{name} %: {value}" for name, value in paper.get(variant, {}).items())
                    if k == 8
                    else "",
                }
                for (variant,), results in _by(own, "variant").items()
            ]
            made.append(Table(f"{dataset}: AUC of the noisy graph's scores against the clean graph's top {k}", rows))
    return made


def _time_tables(settings: dict[str, Any], found: Found) -> list[Table]:
    made: list[Table] = []
    for (dataset, _), own in _groups(found):
        paper = settings.get("reference", {}).get(dataset, {})
        rows = [
            {
                "method": variant,
                "one graph, ms ↓": milliseconds([result["seconds"] for result in results]),
                "in a batch, ms ↓": milliseconds([result["batched"] for result in results]),
                "fit, s": f"{mean([_number(result['fit']) for result in results]):.1f}",
                "paper, ms": 1000 * paper[variant] if variant in paper else "–",
            }
            for (variant,), results in _by(own, "variant").items()
        ]
        made.append(Table(f"{dataset}: seconds for the scores of an explanation", rows))
    return made


def _node_tables(settings: dict[str, Any], found: Found) -> list[Table]:
    made: list[Table] = []
    for (dataset, _), own in _groups(found):
        paper = settings.get("reference", {}).get(dataset, {})
        rows = [
            {
                "method": variant,
                "nodes": sum(result["instances"] for result in results),
                "AUC ↑": spread([_number(result["auc"]) for result in results], 3),
                "paper's AUC": paper.get(variant, ["–", "–"])[0],
                "accuracy ↑": spread([_number(result["accuracy"]) for result in results], 3),
                "paper's accuracy": paper.get(variant, ["–", "–"])[1],
                "flipped ↑": spread([_number(result["flipped"]) for result in results]),
                "edges ↓": spread([_number(result["size"]) for result in results]),
            }
            for (variant,), results in _by(own, "variant").items()
        ]
        made.append(Table(f"{dataset}: nodes of motifs that no method was fitted on", rows))
    return made


def _ablation_tables(settings: dict[str, Any], found: Found) -> list[Table]:
    made: list[Table] = []
    for (dataset, model), own in _groups(found):
        groups = _by(own, "variant")
        best = [_total(result) for result in groups.get(("greedy",), [])]
        rows = [
            {
                "variant": variant,
                **{
                    f"{column(share)} ↑": spread([_at(result["fidelity"], place) for result in results])
                    for place, share in enumerate(SPARSITIES)
                },
                "ratio to greedy ↑": short(mean([_total(result) for result in results]) / mean(best)) if best else "–",
                "robust ↑": spread([_robust(result) for result in results]),
            }
            for (variant,), results in groups.items()
        ]
        made.append(Table(f"{dataset}, network {model}", rows))
    return made


def _case_tables(settings: dict[str, Any], found: Found) -> list[Table]:
    rows = [
        {
            "class": pair["own"],
            "and not": pair["other"],
            "seed": pair["seed"],
            "AUC telling ↑": short(_number(pair["auc"])),
            "AUC shared ↓": short(_number(pair["auc_shared"])),
            "p(class) lost": short(_number(pair["lost"])),
            "p(other) gained": short(_number(pair["gained"])),
            "flipped ↑": short(_number(pair["flipped"])),
        }
        for _, result in found
        for pair in result["pairs"]
    ]
    return [Table("three-motifs: the motif that tells two classes apart, and the one they share", rows)]


def _groups(found: Found) -> list[tuple[tuple[str, str], Found]]:
    groups: dict[tuple[str, str], Found] = {}
    for tags, result in found:
        groups.setdefault((tags["dataset"], tags["model"]), []).append((tags, result))
    return list(groups.items())


def _total(result: dict[str, Any]) -> float:
    """Σ fidelity over the sparsities of the ratio; nan where nothing was measured."""
    return sum(_at(result["fidelity"], place) for place in range(len(SPARSITIES)))


def _robust(result: dict[str, Any]) -> float:
    return _number(result["robust"]["auc"][0][0]) if result["robust"] else float("nan")


def _at(values: Any, place: int) -> Any:
    """A value of a list that may be empty; what could not be measured is nan."""
    found = values[place] if values and place < len(values) else None
    return float("nan") if found is None else found


def _number(value: float | None) -> float:
    """JSON has no nan."""
    return float("nan") if value is None else value


def spread(values: list[float], digits: int = 2) -> str:
    """Mean ± standard deviation over the seeds."""
    centre = mean(values)
    if centre != centre:
        return "–"
    return f"{centre:.{digits}f}" + (f" ± {std(values):.{digits}f}" if len(values) > 1 else "")


def milliseconds(values: list[float | None]) -> str:
    centre = mean([_number(value) for value in values])
    return "–" if centre != centre else f"{1000 * centre:.3g}"


@dataclass(frozen=True)
class Entry:
    jobs: Callable[[dict[str, Any]], dict[Job, dict[str, Any]]]
    tables: Callable[[dict[str, Any], Found], list[Table]]


ENTRIES: dict[str, Entry] = {
    "datasets": Entry(_networks, _dataset_tables),
    "fidelity": Entry(_measures, _fidelity_tables),
    "robustness": Entry(_measures, _robustness_tables),
    "time": Entry(_measures, _time_tables),
    "nodes": Entry(_measures, _node_tables),
    "boundaries": Entry(_measures, _fidelity_tables),
    "lambda": Entry(_measures, _fidelity_tables),
    "case-study": Entry(_cases, _case_tables),
    "ablation": Entry(_measures, _ablation_tables),
}
