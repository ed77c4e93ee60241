"""From the results of an entry's jobs to its tables: a row for each method or variant, means ± standard deviations over
the seeds, and what the paper reports beside them. An arrow says which direction is better.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rcexplainer.experiments.results import SPARSITIES, Rows, column, mean, short, std
from rcexplainer.metrics.fidelity import SPARSITIES as MEASURED

Settings = dict[str, Any]
Result = dict[str, Any]
Found = list[tuple[dict[str, Any], Result]]  # what sets a job apart from the others, and its result


@dataclass(frozen=True)
class Table:
    """Rows of texts, with what they show."""

    caption: str
    rows: Rows


def _each(
    settings: Settings, found: Found, caption: str, cells: Callable[[list[Result], Any], dict[str, Any]]
) -> list[Table]:
    """A table for every dataset and network, a row for every variant: `cells(its results, what the paper reports)`."""
    groups: dict[tuple[str, str], dict[str, list[Result]]] = {}
    for tags, result in found:
        if not tags.get("network"):
            own = groups.setdefault((tags["dataset"], tags["model"]), {})
            own.setdefault(tags["variant"], []).append(result)
    return [
        Table(
            f"{dataset}, network {model}: {caption}",
            [
                {"method": variant, **cells(results, settings.get("reference", {}).get(dataset, {}).get(variant))}
                for variant, results in variants.items()
            ],
        )
        for (dataset, model), variants in groups.items()
    ]


def datasets(settings: Settings, found: Found) -> list[Table]:
    rows: Rows = []
    for dataset in settings["datasets"]:
        own = [result for tags, result in found if tags["dataset"] == dataset]
        if not own:
            continue
        shape, paper = own[0]["dataset"], settings["reference"].get(dataset, ["–"] * 5)
        rows.append(
            {
                "dataset": dataset,
                "nodes (paper)": f"{shape['nodes']:.2f} ({paper[0]})",
                "edges": f"{shape['edges']:.2f} ({paper[1]})",
                "graphs": f"{shape['graphs']} ({paper[2]})",
                "classes": f"{len(shape['classes'])} ({paper[3]})",
                "test accuracy ↑": f"{_spread(own, 'accuracy')} ({paper[4]})",
                "motif flips ↑": _spread(own, "motif_flips"),
                "networks": len(own),
            }
        )
    return [Table("Ours, in brackets the paper's; motif flips: instances that flip without their motif", rows)]


def fidelity(settings: Settings, found: Found) -> list[Table]:
    def cells(results: list[Result], paper: Any) -> dict[str, Any]:
        return {
            "instances": sum(result["instances"] for result in results),
            **_at_sparsities(results, MEASURED),
            "paper": _listed(paper, ""),
        }

    return _each(settings, found, "fidelity at sparsity", cells)


def robustness(settings: Settings, found: Found) -> list[Table]:
    made: list[Table] = []
    for place, k in enumerate(settings.get("k", (8,))):

        def cells(results: list[Result], paper: Any, place: int = place, k: int = k) -> dict[str, Any]:
            noisy = [result["robust"]["auc"] for result in results if result["robust"]]
            return {
                f"{100 * level:.0f} % ↑": spread([_at(_at(table, at), place) for table in noisy])
                for at, level in enumerate(settings["noise"])
            } | {"paper": _listed(paper, " %") if k == 8 else ""}

        made += _each(settings, found, f"AUC of the noisy graph's scores against the clean graph's top {k}", cells)
    return made


def times(settings: Settings, found: Found) -> list[Table]:
    def cells(results: list[Result], paper: Any) -> dict[str, Any]:
        return {
            "one graph, ms ↓": _milliseconds(results, "seconds"),
            "in a batch, ms ↓": _milliseconds(results, "batched"),
            "fit, s": f"{mean(_values(results, 'fit')):.1f}",
            "paper, ms": "–" if paper is None else 1000 * paper,
        }

    return _each(settings, found, "time for the scores of an explanation", cells)


def nodes(settings: Settings, found: Found) -> list[Table]:
    def cells(results: list[Result], paper: Any) -> dict[str, Any]:
        auc, accuracy = paper or ("–", "–")
        return {
            "nodes": sum(result["instances"] for result in results),
            "AUC ↑": _spread(results, "auc", 3),
            "paper's AUC": auc,
            "accuracy ↑": _spread(results, "accuracy", 3),
            "paper's accuracy": accuracy,
            "flipped ↑": _spread(results, "flipped"),
            "edges ↓": _spread(results, "size"),
        }

    return _each(settings, found, "nodes of motifs that no method was fitted on", cells)


def ablation(settings: Settings, found: Found) -> list[Table]:
    def cells(results: list[Result], paper: Any) -> dict[str, Any]:
        robust = [_at(_at(result["robust"]["auc"], 0), 0) for result in results if result["robust"]]
        total = mean([sum(_at(result["fidelity"], place) for place in range(len(SPARSITIES))) for result in results])
        return {**_at_sparsities(results, SPARSITIES), "sum ↑": short(total), "robust ↑": spread(robust)}

    return _each(settings, found, "fidelity at sparsity and its sum, beside greedy deletion's", cells)


def case_study(settings: Settings, found: Found) -> list[Table]:
    shown = {
        "AUC telling ↑": "auc",
        "AUC shared ↓": "auc_shared",
        "p(class) lost": "lost",
        "p(other) gained": "gained",
        "flipped ↑": "flipped",
    }
    rows = [
        {"class": pair["own"], "and not": pair["other"], "seed": pair["seed"]}
        | {title: short(_number(pair[name])) for title, name in shown.items()}
        for _, result in found
        for pair in result["pairs"]
    ]
    return [Table("three-motifs: the motif that tells two classes apart, and the one they share", rows)]


def spread(values: list[float], digits: int = 2) -> str:
    """Mean ± standard deviation over the seeds."""
    centre = mean(values)
    if centre != centre:
        return "–"
    return f"{centre:.{digits}f}" + (f" ± {std(values):.{digits}f}" if len(values) > 1 else "")


def _at_sparsities(results: list[Result], sparsities: tuple[float, ...]) -> dict[str, str]:
    return {
        f"{column(share)} ↑": spread([_at(result["fidelity"], place) for result in results])
        for place, share in enumerate(sparsities)
    }


def _listed(paper: dict[str, float] | None, unit: str) -> str:
    return ", ".join(f"{name}{unit}: {value}" for name, value in (paper or {}).items())


def _values(results: list[Result], name: str) -> list[float]:
    return [_number(result[name]) for result in results]


def _spread(results: list[Result], name: str, digits: int = 2) -> str:
    return spread(_values(results, name), digits)


def _milliseconds(results: list[Result], name: str) -> str:
    centre = mean(_values(results, name))
    return "–" if centre != centre else f"{1000 * centre:.3g}"


def _at(values: Any, place: int) -> Any:
    """A value of a list that may be empty; what could not be measured is nan."""
    found = values[place] if values and place < len(values) else None
    return float("nan") if found is None else found


def _number(value: float | None) -> float:
    """JSON has no nan."""
    return float("nan") if value is None else value
