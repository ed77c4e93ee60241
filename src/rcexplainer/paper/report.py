"""`report.html` of a results folder: one page that needs nothing else.

The verdicts first; then for every entry what the paper shows, the command, its figures and tables, and the results
behind them. It reads the folder and runs nothing.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rcexplainer.paper import markup
from rcexplainer.paper.figure_files import FIGURE_FOLDER, FIGURE_FORMATS, read_captions
from rcexplainer.paper.job import Job
from rcexplainer.paper.markdown_pages import READING, write_pages
from rcexplainer.paper.markup import link, tag, text
from rcexplainer.paper.notes import checked, read_notes
from rcexplainer.paper.paper_index import INDEX_COLUMNS, INDEX_TITLE, index_text, paper_items
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.record import Record
from rcexplainer.paper.results_folder import ResultsFolder, open_folder
from rcexplainer.paper.verdicts import VERDICT_WORDS, Verdict, counts
from rcexplainer.saving.files import write_whole

REPORT_FILE = "report.html"
REPORT_TITLE = "RCExplainer: the paper's tables and figures, run again"
TOO_SMALL = "The profile {} shows that everything runs, and is too small to judge by"
VERDICT_CLASSES = {True: "yes", False: "no", None: "open"}


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Attributes:
        page: Its file.
        profile: The folder's profile.
        verdicts: All claims, and whether they hold.
        broken: Files that could not be read.
    """

    page: Path
    profile: str
    verdicts: tuple[Verdict, ...]
    broken: tuple[Path, ...]

    def rows(self) -> list[dict[str, str]]:
        """The verdicts as rows of a table."""
        return [
            {
                "entry": one.entry,
                "claim": one.claim,
                "aim": one.aim,
                "found": one.finding,
                "verdict": VERDICT_WORDS[one.reached],
            }
            for one in self.verdicts
        ]

    def caption(self) -> str:
        """How many claims hold, and where the page is."""
        reached, missed, undecided = counts(self.verdicts)
        judged = f"{reached} reached, {missed} not reached, {undecided} open"
        skipped = f"; {len(self.broken)} files could not be read" if self.broken else ""
        return f"{judged if self.verdicts else TOO_SMALL.format(self.profile)}; the page is {self.page}{skipped}"

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "page": str(self.page),
            "profile": self.profile,
            "verdicts": [asdict(one) for one in self.verdicts],
            "broken": [str(path) for path in self.broken],
        }


def write_report(folder: Path, out: Path | None = None) -> Report:
    """Write `report.html` and the Markdown pages of a folder that `reproduce` wrote.

    Args:
        folder: Its path.
        out: The file of the report; by default `report.html` in the folder.

    Returns:
        The report.

    Raises:
        RCExplainerError: It is not such a folder, or has no result that its profile asks for.
    """
    found = open_folder(folder)
    write_pages(found)
    out = out or folder / REPORT_FILE
    away = os.path.relpath(folder.resolve(), out.resolve().parent)
    prefix = "" if away == "." else f"{Path(away).as_posix()}/"  # of links from a page that is written elsewhere
    page = write_whole(out, markup.page(REPORT_TITLE, _body(found, prefix)).encode())
    return Report(page, found.profile, found.verdicts, found.broken)


def _body(found: ResultsFolder, prefix: str) -> Iterator[str]:
    yield tag("h1", text(REPORT_TITLE))
    if found.broken:
        names = ", ".join(path.relative_to(found.folder).as_posix() for path in found.broken)
        yield tag("p", f"Files that cannot be read, and are left out: {text(names)}. Run again, they are replaced.")
    captions, notes = read_captions(found.folder), read_notes(found.folder)
    for planned in found.plans:
        yield from _front_section(found, planned, notes.get(planned.name, ()))
    yield from _paper_index(found)
    yield from _summary(found)
    yield tag("nav", tag("ul", *(tag("li", link(f"#{one.name}", one.title)) for one in found.plans)))
    yield tag("p", *_origin(found.records.values()), class_="soft")
    yield from (tag("p", text(one)) for one in found.folder_notes)
    for planned in found.plans:
        drawn, said = captions.get(planned.name, {}), notes.get(planned.name, ())
        yield tag("section", *_section(found, planned, drawn, said, prefix), id=planned.name)
    for heading, ones in (("Skipped", found.skipped), ("Not done", found.failed)):
        if ones:
            listed = tag("ul", *(tag("li", text(f"{one.job.label}: {one.error}")) for one in ones))
            yield tag("section", tag("h2", heading), listed)


def _front_section(found: ResultsFolder, planned: EntryPlan, notes: Sequence[str]) -> Iterator[str]:
    """What an entry with a heading `front` has at the top: its notes, checked, and its table."""
    shown = found.headline(planned) if "front" in planned.settings else None
    if shown is not None:
        yield tag("h2", text(planned.settings["front"]))
        yield from (tag("p", markup.prose(one)) for one in checked(notes, [shown, *found.tables(planned)]))
        yield markup.table(shown)


def _paper_index(found: ResultsFolder) -> Iterator[str]:
    """Every table and figure of the paper, with links to ours."""
    titles = {planned.name: planned.title for planned in found.plans}
    rows = [
        (
            "",
            [
                text(f"{item.name} ({item.place})"),
                ", ".join(link(f"#{name}", titles[name]) for name in item.known(titles)) or "not reproduced",
                markup.prose(item.differs),
            ],
        )
        for item in paper_items()
    ]
    yield tag("h2", text(INDEX_TITLE))
    yield tag("p", markup.prose(index_text()))
    yield markup.grid(INDEX_COLUMNS, rows, "words")


def _summary(found: ResultsFolder) -> Iterator[str]:
    yield tag("h2", "What it must show")
    if not found.verdicts:
        yield tag("p", text(f"{TOO_SMALL.format(found.profile)}."))
        return
    named = zip(("yes", "no", "open"), counts(found.verdicts), ("reached", "not reached", "open"), strict=True)
    shown = (tag("li", tag("b", str(count)), text(word), class_=name) for name, count, word in named)
    yield tag("ul", *shown, class_="counts")
    yield _verdicts(found.verdicts)


def _verdicts(judged: Sequence[Verdict]) -> str:
    rows = [
        (
            VERDICT_CLASSES[one.reached],
            [text(VERDICT_WORDS[one.reached]), link(f"#{one.entry}", one.claim), text(one.aim), text(one.finding)],
        )
        for one in judged
    ]
    return markup.grid(("", "claim", "aim", "found"), rows, "words verdicts")


def _section(
    found: ResultsFolder, planned: EntryPlan, captions: Mapping[str, str], notes: Sequence[str], prefix: str
) -> Iterator[str]:
    yield tag("h2", text(planned.title))
    yield tag("p", text(f"{_where(planned.settings['where'])}. {found.progress(planned)}"))
    yield tag("pre", tag("code", text(f"rcexplainer reproduce {planned.name} --profile {found.profile} --out DIR")))
    yield from (tag("p", text(one)) for one in planned.settings.get("differs", "").splitlines())
    yield from (tag("p", text(one)) for one in found.origin_notes(planned))
    yield from (tag("p", markup.prose(one)) for one in notes)
    judged = [one for one in found.verdicts if one.entry == planned.name]
    if judged:
        yield _verdicts(judged)
    yield from _pictures(found.folder, captions, prefix)
    yield from map(markup.table, found.tables(planned))
    shown = [job for job in planned.rows if job in found.records]
    if shown:
        yield _sources(found, shown, prefix)


def _where(place: str) -> str:
    ours, _, rest = place.partition(";")
    if ours != "ours":
        return f"In the paper: {place}"
    return f"Not in the paper, but ours{';' if rest else ''}{rest}"


def _pictures(folder: Path, captions: Mapping[str, str], prefix: str) -> Iterator[str]:
    for name, caption in captions.items():
        files = [f"{FIGURE_FOLDER}/{name}.{kind}" for kind in FIGURE_FORMATS]
        if (folder / files[0]).is_file():
            there = [prefix + path for path in files if (folder / path).is_file()]
            yield markup.picture((folder / files[0]).read_bytes(), caption, there)


def _sources(found: ResultsFolder, jobs: Sequence[Job], prefix: str) -> str:
    """Where every number comes from."""
    rows = []
    for job in jobs:
        record = found.records[job]
        place = link(prefix + found.places[record.digest], record.label)
        cells = (record.digest, record.inputs.get("seed", ""), record.seconds, record.version)
        origin = (record.about.get("commit") or "–", record.about.get("machine", ""))
        rows.append(("", [place, *map(text, (*cells, *origin))]))
    headings = ("result", "digest", "seed", "seconds", "version", "commit", "machine")
    summary = tag("summary", f"results behind it: {len(jobs)}")
    return tag("details", summary, markup.grid(headings, rows), class_="files")


def _origin(records: Iterable[Record]) -> Iterator[str]:
    """Versions, machines and commits of all results."""
    known = list(records)
    versions = sorted({f"{name} {value}" for one in known for name, value in one.about.get("versions", {}).items()})
    machines = sorted({str(one.about["machine"]) for one in known if one.about.get("machine")})
    commits = sorted({str(one.about["commit"]) for one in known if one.about.get("commit")})
    seeds = sorted({one.inputs["seed"] for one in known if "seed" in one.inputs})
    parts = (("Versions", versions), ("Machines", machines), ("Commits", commits), ("Seeds", map(str, seeds)))
    yield text(f"There are {len(known)} results in runs/. {READING} ")
    yield text(". ".join(f"{name}: {'; '.join(values)}" for name, values in parts) + ".")
