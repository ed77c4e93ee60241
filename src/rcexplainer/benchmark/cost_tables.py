"""What methods cost: means over the seeds, and a table."""

from collections.abc import Sequence

from rcexplainer.benchmark.cost import milliseconds
from rcexplainer.benchmark.groups import MethodResult
from rcexplainer.benchmark.results import Rows, means_and_stds


def cost_rows(results: Sequence[MethodResult]) -> Rows:
    """Seconds, means over the seeds, a line for each method; `std` holds the standard deviations."""
    groups: dict[str, list[MethodResult]] = {}
    for one in results:
        groups.setdefault(one.method, []).append(one)
    return [
        {
            "method": method,
            **means_and_stds(
                [
                    {"fit_seconds": one.time.fit, "seconds_each": one.time.seconds, "seconds_batched": one.time.batched}
                    for one in ones
                ]
            ),
            "failed": sum(one.failed for one in ones),
        }
        for method, ones in groups.items()
    ]


def cost_table(results: Sequence[MethodResult], noun: str = "graph") -> tuple[Rows, str]:
    """The same for a terminal, with its caption.

    Args:
        results: All methods and seeds.
        noun: What an instance is.
    """
    rows = [
        {
            "method": row["method"],
            "fit s": f"{row['fit_seconds']:.1f}",
            f"one {noun} ms": milliseconds(row["seconds_each"]),
            "batch ms": milliseconds(row["seconds_batched"]),
            "failed": row["failed"],
        }
        for row in cost_rows(results)
    ]
    caption = (
        f"seconds to fit; milliseconds for the scores of one {noun} alone (median) and in a batch, on one thread; "
        f"failed: {noun}s that could not be explained"
    )
    return rows, caption
