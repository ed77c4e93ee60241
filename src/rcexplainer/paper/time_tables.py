"""Tables of times: one explanation alone and in a batch, and the fit; and durations as text."""

from typing import Any

from rcexplainer.benchmark.results import OURS, mean
from rcexplainer.metrics.direction import BETTER
from rcexplainer.paper.captions import panel_text
from rcexplainer.paper.cells import Fill, counted, method_table, plain, shown_as, signed
from rcexplainer.paper.result_groups import (
    EntrySettings,
    SeedResults,
    TaggedResults,
    done,
    groups,
    left_out,
    numbers,
    reported,
)
from rcexplainer.paper.table import Column, Table, TableCell, marked

TIME_CAPTION = (
    "time for the scores of one explanation, alone (the first one apart: it warms up) and in a batch, on one thread, "
    "with no other job beside it; × ours: ratio of the medians; the paper's were measured on other hardware"
)


def time_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """Milliseconds of every method, beside the paper's.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        A table for every dataset and network.
    """
    made: list[Table | None] = []
    for panel, methods in groups(found).items():
        fills: list[Fill] = [
            (Column("mean ± std, ms", BETTER["seconds_mean"]), _mean_time),
            _milliseconds("median, ms", "seconds"),
            _times_ours(mean(numbers(methods.get(OURS, []), "seconds"))),
            _milliseconds("95 %, ms", "seconds_p95"),
            _milliseconds("first, ms", "cold"),
            _milliseconds("in a batch, ms", "batched"),
            (Column("fit, s"), lambda results, _: shown_as(numbers(results, "fit"), lambda value: f"{value:.1f}")),
            counted("timed alone", "timed"),
            counted("in a batch", "batch"),
            (Column("paper, ms"), lambda _, paper: plain(None if paper is None else 1000 * paper)),
            (Column("difference, ms"), _slower),
        ]
        caption = panel_text(settings, panel, TIME_CAPTION, done(methods))
        made.append(method_table(caption, "method", methods, fills, reported(settings, panel[0]), left_out))
    return [marked(one) for one in made if one]


def duration(seconds: float) -> str:
    """Seconds from one second on, milliseconds below."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _milliseconds(title: str, name: str) -> Fill:
    return Column(title, BETTER[name]), lambda results, _: shown_as(numbers(results, name), in_milliseconds)


def in_milliseconds(seconds: float) -> str:
    """A number of milliseconds with three digits, or without decimals from 100 on."""
    return f"{1000 * seconds:,.0f}" if seconds >= 0.1 else f"{1000 * seconds:.3g}"


def _mean_time(results: SeedResults, _: Any) -> TableCell:
    """Mean and standard deviation over the explanations of a seed, both averaged over the seeds."""
    deviation = in_milliseconds(mean(numbers(results, "seconds_std")))
    return shown_as(numbers(results, "seconds_mean"), lambda centre: f"{in_milliseconds(centre)} ± {deviation}")


def _times_ours(ours: float) -> Fill:
    """The median as a multiple of RCExplainer's."""

    def fill(results: SeedResults, _: Any) -> TableCell:
        ratios = [seconds / ours for seconds in numbers(results, "seconds")]
        return shown_as(ratios, lambda ratio: f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}")

    return Column("× ours"), fill


def _slower(results: SeedResults, paper: float | None) -> TableCell:
    ours = mean(numbers(results, "seconds_mean"))
    return (
        TableCell("")
        if paper is None or ours != ours
        else TableCell(signed(ours - paper, in_milliseconds), ours - paper)
    )
