"""The Markdown pages of a results folder.

README.md      the front page: what boundaries add, from the paper to here, claims, the entries
headlines.md   one table of each entry
<entry>.md     all tables of an entry, with its notes and figures
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rcexplainer.paper.failures import Failed
from rcexplainer.paper.figure_files import FIGURE_FOLDER, Captions, read_captions
from rcexplainer.paper.notes import checked, read_notes
from rcexplainer.paper.paper_index import INDEX_COLUMNS, INDEX_TITLE, index_text, paper_items
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.results_folder import ResultsFolder
from rcexplainer.paper.table import Table, TableCell
from rcexplainer.paper.verdicts import VERDICT_WORDS, Verdict, counts
from rcexplainer.saving.files import write_whole

FRONT_PAGE, HEADLINE_PAGE = "README.md", "headlines.md"
BETWEEN_FINDINGS = re.compile(r"; (?![^()]*\))")  # not inside brackets
IN_BRACKETS = re.compile(r" \([^()]*\)$")
READING = (
    "An arrow says which direction is better; the best of a column is bold, or all that are printed alike. Greedy "
    "deletion, the reference, and random order, the floor, do not compete. Values are means ± standard deviations over "
    "the seeds; for times the standard deviation is over single explanations, and numbers of edges are medians, "
    "averaged over the seeds. Verdicts compare methods on the instances that both explained. Results that a new run "
    "might not give are shown until it is made, and say why: an earlier version, a digest not of what was computed "
    "(relabelled), a network trained anew (other weights), other defaults (earlier)."
)


def write_pages(found: ResultsFolder) -> Path:
    """Write all Markdown pages of a folder.

    Args:
        found: The folder.

    Returns:
        The front page.
    """
    captions, notes = read_captions(found.folder), read_notes(found.folder)
    for planned in found.plans:
        text = _entry_page(found, planned, captions, notes.get(planned.name, ()))
        write_whole(found.folder / f"{planned.name}.md", text)
    write_whole(found.folder / HEADLINE_PAGE, _headline_page(found))
    return write_whole(found.folder / FRONT_PAGE, _front_page(found, notes))


def table_text(table: Table) -> list[str]:
    """A table as Markdown.

    Args:
        table: The table.

    Returns:
        Its caption, its rows, its notes.
    """
    rows = [[column.heading for column in table.columns], ["---"] * len(table.columns)]
    rows += [[_cell(cell) for cell in row] for row in table.rows]
    notes = "\n".join(f"- {_plain(note)}" for note in table.notes)
    return [f"**{table.caption}**", _grid(rows), *([notes] if notes else [])]


def _front_page(found: ResultsFolder, notes: Mapping[str, Sequence[str]]) -> bytes:
    parts = [
        "# Results",
        f"Made by `rcexplainer reproduce all --profile {found.profile} --out DIR`; `rcexplainer report DIR` writes "
        f"these pages and `report.html` again, and runs nothing. {READING}",
        *found.folder_notes,
        *(text for planned in found.plans for text in _front_section(found, planned, notes.get(planned.name, ()))),
        *_paper_index(found),
        *_claims(found.verdicts),
        "## Entries",
        f"[One table of each]({HEADLINE_PAGE}). Each page has all tables and figures.",
        _grid(
            [
                ["entry", "in the paper", "state"],
                ["---"] * 3,
                *(
                    [f"[{_plain(one.title)}]({one.name}.md)", _plain(one.settings["where"]), found.progress(one)]
                    for one in found.plans
                ),
            ]
        ),
    ]
    for heading, ones in (("Skipped", found.skipped), ("Not done", found.failed)):
        parts += _failures(heading, ones)
    return _joined(parts)


def _front_section(found: ResultsFolder, planned: EntryPlan, notes: Sequence[str]) -> list[str]:
    """What an entry with a heading `front` has on the front page: its notes, checked, and its table."""
    shown = found.headline(planned) if "front" in planned.settings else None
    if shown is None:
        return []
    page = f"[All tables of it]({planned.name}.md)"
    said = checked(notes, [shown, *found.tables(planned)])
    return [f"## {planned.settings['front']}", *said, *table_text(shown), page]


def _paper_index(found: ResultsFolder) -> list[str]:
    """Every table and figure of the paper, with links to ours."""
    titles = {planned.name: planned.title for planned in found.plans}
    rows = [list(INDEX_COLUMNS), ["---"] * 3]
    for item in paper_items():
        links = ", ".join(f"[{_plain(titles[name])}]({name}.md)" for name in item.known(titles))
        rows.append([f"{_plain(item.name)} ({item.place})", links or "not reproduced", _plain(item.differs)])
    return [f"## {INDEX_TITLE}", index_text(), _grid(rows)]


def _headline_page(found: ResultsFolder) -> bytes:
    parts = ["# One table of each entry", f"{READING} [All results]({FRONT_PAGE})"]
    for planned in found.plans:
        shown = found.headline(planned)
        parts += [
            f"## {planned.title}",
            f"[All tables and figures]({planned.name}.md) · `rcexplainer reproduce {planned.name}` · "
            f"{planned.settings['where']} · {found.progress(planned)}",
            *([] if shown is None else table_text(shown)),
        ]
    return _joined(parts)


def _entry_page(found: ResultsFolder, planned: EntryPlan, captions: Captions, notes: Sequence[str]) -> bytes:
    drawn = captions.get(planned.name, {})
    parts = [
        f"# {planned.title}",
        f"`rcexplainer reproduce {planned.name} --profile {found.profile} --out DIR` ({planned.settings['where']}); "
        f"{found.progress(planned)} [All results]({FRONT_PAGE})",
        *planned.settings.get("differs", "").splitlines(),
        *found.origin_notes(planned),
        *_verdicts([one for one in found.verdicts if one.entry == planned.name]),
        *notes,
        *(f"![{_plain(caption)}]({FIGURE_FOLDER}/{name}.svg)" for name, caption in drawn.items()),
        *(text for table in found.tables(planned) for text in table_text(table)),
    ]
    return _joined(parts)


def _claims(judged: Sequence[Verdict]) -> list[str]:
    """The claims of all entries that are decided, and where the open ones are."""
    if not judged:
        return []
    lines = _verdicts(judged, [_shortened(one) for one in judged if one.reached is not None])
    still = Counter(one.entry for one in judged if one.reached is None)
    links = ", ".join(f"{number} of [{name}]({name}.md)" for name, number in still.items())
    return ["## Claims", *lines, *([f"Open, as jobs are missing or values undecided: {links}."] if links else [])]


def _shortened(one: Verdict) -> Verdict:
    """The claim with the first of its findings and a short name of its version: the page of the entry says it all.

    Of a claim that is reached, what stands in brackets is left out too.
    """
    first, *others = BETWEEN_FINDINGS.split(one.found)
    first = IN_BRACKETS.sub("", first) if one.reached else first
    found = f"{first}; {len(others)} more" if others else first
    oldest = one.as_of.partition(",")[0].removesuffix(" in part")
    version = f" (v{oldest})" if oldest else ""
    return replace(one, found=found + version, as_of="")


def _verdicts(judged: Sequence[Verdict], shown: Sequence[Verdict] | None = None) -> list[str]:
    """What the results must show, and whether they do; all are counted, and all or some are shown."""
    if not judged:
        return []
    reached, missed, undecided = counts(judged)
    shown = judged if shown is None else shown
    versions = {one.as_of for one in judged}
    alike = len(versions) == 1  # said once, above the table
    version = f", as of version {min(versions)}" if alike and any(versions) else ""
    rows = [["", "claim", "aim", "found"], ["---"] * 4]
    for one in shown:
        found = one.found if alike else one.finding
        rows.append([VERDICT_WORDS[one.reached].split()[0], *map(_plain, (one.claim, one.aim, found))])
    return [f"**{reached} claims reached, {missed} not reached, {undecided} open{version}**", _grid(rows)]


def _failures(heading: str, ones: Sequence[Failed]) -> list[str]:
    lines = "\n".join(f"- {one.job.label}: {_plain(one.error)}" for one in ones)
    return [f"## {heading}", lines] if ones else []


def _grid(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: TableCell) -> str:
    text = _plain(cell.text)
    return f"**{text}**" if cell.best else text


def _plain(text: str) -> str:
    """On one line, and without what would end a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def _joined(parts: Sequence[str]) -> bytes:
    return ("\n\n".join(parts) + "\n").encode()
