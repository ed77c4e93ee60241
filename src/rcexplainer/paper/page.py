"""`README.md` of a results folder: of every entry its command, tables, figures and what is to be said about them, and
at the end what was skipped, for want of data or of an extra, and what failed. The best of a column is bold.
"""

from collections.abc import Sequence
from pathlib import Path

from rcexplainer.paper.entries import Plan, Results, tables
from rcexplainer.paper.figure_files import FOLDER, read_captions
from rcexplainer.paper.notes import read_notes
from rcexplainer.paper.runner import Failed, with_skipped
from rcexplainer.paper.tables import Cell, Table
from rcexplainer.paper.verdicts import WORDS, Verdict, verdicts
from rcexplainer.saving.files import write_whole

NAME = "README.md"
READING = (
    "An arrow says which direction is better, bold is the best of a column, or the best few if they are alike as "
    "printed; greedy deletion, the reference, and random order, the floor, take no part. Values are means ± standard "
    "deviations over the seeds; of times the standard deviation is that of single explanations, and edges are medians, "
    "averaged over the seeds. Verdicts compare methods on the instances that both were run on."
)


def write_page(
    folder: Path,
    plans: Sequence[Plan],
    profile: str,
    results: Results,
    failed: Sequence[Failed],
    skipped: Sequence[Failed] = (),
) -> Path:
    parts = [
        "# Results",
        f"Made by `rcexplainer reproduce all --profile {profile} --out DIR`. Every number is from a file in `runs/`. "
        f"{READING} Links to them, their machines, versions and commits are in the report (`rcexplainer report`).",
    ]
    told = with_skipped(results, skipped)
    parts += _verdicts([one for planned in plans for one in verdicts(planned, told)])
    drawn, notes = read_captions(folder), read_notes(folder)
    for planned in plans:
        done = sum(job in results for job in planned.jobs)
        parts += [
            f"## {planned.title}",
            f"`rcexplainer reproduce {planned.name} --profile {profile} --out DIR` ({planned.settings['where']}); "
            f"{done} of {len(planned.jobs)} jobs are done.",
            *(text for table in tables(planned, told) for text in table_text(table)),
            *notes.get(planned.name, ()),
            *(f"![{name}]({FOLDER}/{name}.svg)" for name in drawn.get(planned.name, {})),
        ]
    for heading, ones in (("Skipped", skipped), ("Not done", failed)):
        if ones:
            parts += [f"## {heading}", "\n".join(f"- {one.job.label}: {_plain(one.error)}" for one in ones)]
    return write_whole(folder / NAME, ("\n\n".join(parts) + "\n").encode())


def _verdicts(judged: Sequence[Verdict]) -> list[str]:
    """What the results were to show, and whether they do."""
    if not judged:
        return []
    rows = [["", "claim", "aim", "found"], ["---"] * 4]
    rows += [[WORDS[one.reached], one.claim, one.aim, one.found] for one in judged]
    return ["## What it must show", "\n".join(f"| {' | '.join(map(_plain, row))} |" for row in rows)]


def table_text(table: Table) -> list[str]:
    """The table as Markdown: its caption, its rows, its notes."""
    rows = [[column.heading for column in table.columns], ["---"] * len(table.columns)]
    rows += [[_cell(cell) for cell in row] for row in table.rows]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    notes = "\n".join(f"- {_plain(note)}" for note in table.notes)
    return [f"**{table.caption}**", lines, *([notes] if notes else [])]


def _cell(cell: Cell) -> str:
    text = _plain(cell.text)
    return f"**{text}**" if cell.best else text


def _plain(text: str) -> str:
    """On one line, and without what would end a cell."""
    return " ".join(text.split()).replace("|", "\\|")
