"""Tables of counterfactuals that hold: one for each dataset, predicted class and confidence; and the front page's."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.metrics.flip_stability import FlipNoise
from rcexplainer.paper.captions import panel_text
from rcexplainer.paper.cells import Fill, method_table, metric
from rcexplainer.paper.counterfactual_stability import confidence_key
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    Panel,
    SeedResults,
    TaggedResults,
    done,
    groups,
    no_notes,
    numbers,
)
from rcexplainer.paper.table import Column, Table, TableCell, marked

GREEDY_SEARCH = f"{OURS}, greedy search"  # the row of RCExplainer's own search; all other rows search prefixes
ROW_SEARCHES = {OURS: (("prefix", OURS), ("greedy", GREEDY_SEARCH))}  # method → its searches, each with its row
CAPTION = (
    "counterfactuals {confidence}: share flipped, median number of edges deleted, median probability of the other "
    "class after it, median distance beyond the region (2: as far out as a typical graph is in), and the share still "
    "flipped in noisy copies / the share of the original graphs that keep their class under the same noise: the "
    "paper's, strict, and features of nodes alone. Each method's noise is on the graphs that it flipped: none is best"
)
HEADLINE_CAPTION = (
    "counterfactuals without and with a confidence, means over the seeds: share flipped, median number of edges "
    "deleted, median probability of the other class, and the share still flipped / originals that keep their class "
    "with node features changed at random"
)


def class_results(panel: MethodResults, name: str, confidence: str) -> MethodResults:
    """The results of one predicted class at one confidence.

    Args:
        panel: Method → its results.
        name: The class.
        confidence: As `confidence_key` writes it.

    Returns:
        Row → a flat result for each seed that has graphs of the class; a method that was left out has its reason.
    """
    made: MethodResults = {}
    for method, results in panel.items():
        for search, row in ROW_SEARCHES.get(method, (("prefix", method),)):
            found = [_flat(one, name, search, confidence) for one in results]
            if rows := [one for one in found if one is not None]:
                made[row] = rows
    return made


def _flat(result: Mapping[str, Any], name: str, search: str, confidence: str) -> dict[str, Any] | None:
    about = {key: result[key] for key in ("seed", "skipped", "as_of") if key in result}
    if result.get("skipped"):
        return about
    own = result["classes"].get(name)
    if own is None:
        return None
    counts = {key: own[key] for key in ("instances", "failed", "held_out")}
    return about | counts | own["searches"].get(search, {}).get(confidence, {})


def class_names(panel: MethodResults) -> list[str]:
    """The predicted classes in any of the results, in order."""
    return list(dict.fromkeys(name for results in panel.values() for one in results for name in one["classes"]))


def stability_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """A table for each dataset, predicted class and confidence.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The tables, with the best of each column marked.
    """
    made = [
        _table(settings, panel, name, confidence, class_results(methods, name, confidence_key(confidence)))
        for panel, methods in groups(found).items()
        for name in class_names(methods)
        for confidence in (None, settings["confidence"])
    ]
    return [marked(one) for one in made if one]


def stability_headline(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """RCExplainer's own search and greedy deletion on every dataset and class, with and without a confidence."""
    rows: MethodResults = {}
    for (dataset, _), methods in groups(found).items():
        for name in class_names(methods):
            for confidence in (None, settings["confidence"]):
                own = class_results(methods, name, confidence_key(confidence))
                sure = "" if confidence is None else f", confidence {confidence:g}"
                for row in (GREEDY_SEARCH, "greedy"):
                    if results := done(own).get(row):
                        rows[f"{dataset}, {name}: {row}{sure}"] = results
    stable = [_stable("features", place, level) for place, level in enumerate(settings["noise"])]
    return method_table(HEADLINE_CAPTION, "dataset, class, search", rows, [*_found(), *stable], {}, no_notes)


def _table(
    settings: EntrySettings, panel: Panel, name: str, confidence: float | None, methods: MethodResults
) -> Table | None:
    sure = "where the class changes" if confidence is None else f"with a confidence of {confidence:g}"
    caption = panel_text(
        settings,
        panel,
        CAPTION.format(confidence=sure),
        done(methods),
        f"held-out test graphs predicted as {name}",
    )
    stable = [
        _stable(kind, place, level) for kind in get_args(FlipNoise) for place, level in enumerate(settings["noise"])
    ]
    return method_table(caption, "method", methods, [*_found(), metric("distance", "distance"), *stable], {})


def _found() -> Sequence[Fill]:
    return metric("flipped", "flipped"), metric("edges", "size", digits=1), metric("p(other)", "reached")


def _stable(kind: FlipNoise, place: int, level: float) -> Fill:
    """The share still flipped / the originals' own, of the graphs that a method flipped: methods are not compared."""

    def cell(results: SeedResults, _: Any) -> TableCell:
        own, original = (mean(numbers(results, "stability", kind, name, place)) for name in ("flipped", "original"))
        return TableCell("–") if own != own else TableCell(f"{own:.2f} / {original:.2f}", own)

    return Column(f"{kind}, {level:.0%}".replace("%", " %")), cell
