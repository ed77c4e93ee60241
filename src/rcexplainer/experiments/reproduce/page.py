"""`README.md` of a results folder: every table made so far, the command behind it, and what failed."""

from collections.abc import Sequence
from pathlib import Path

from rcexplainer.experiments.reproduce.entries import Plan, Results, tables
from rcexplainer.experiments.reproduce.running import Failed
from rcexplainer.experiments.reproduce.tables import Table
from rcexplainer.experiments.results import Rows
from rcexplainer.files import write_whole

NAME = "README.md"


def write_page(folder: Path, plans: Sequence[Plan], profile: str, results: Results, failed: Sequence[Failed]) -> Path:
    parts = [
        "# Results",
        f"Made by `rcexplainer reproduce all --profile {profile} --out DIR`. Every number is from a file in `runs/`.",
    ]
    for planned in plans:
        parts.append(f"## {planned.title}")
        done = sum(job in results for job in planned.jobs)
        parts.append(
            f"`rcexplainer reproduce {planned.name} --profile {profile}` ({planned.settings['where']}); "
            f"{done} of {len(planned.jobs)} jobs are done."
        )
        parts += [text for table in tables(planned, results) for text in _table(table)]
    if failed:
        parts.append("## Not done")
        parts.append("\n".join(f"- {one.job.label}: {one.error}" for one in failed))
    return write_whole(folder / NAME, ("\n\n".join(parts) + "\n").encode())


def _table(table: Table) -> list[str]:
    return [f"**{table.caption}**", _markdown(table.rows)]


def _markdown(rows: Rows) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(row.get(name, "")) for name in columns) + " |" for row in rows]
    return "\n".join(lines)
