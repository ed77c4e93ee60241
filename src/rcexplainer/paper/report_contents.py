"""What `report.html` shows of a results folder, as frozen values: the template only puts them in place."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rcexplainer.paper.figure_files import FIGURE_FOLDER, FIGURE_FORMATS, read_captions
from rcexplainer.paper.job import Job
from rcexplainer.paper.markdown_pages import READING
from rcexplainer.paper.notes import checked, read_notes
from rcexplainer.paper.paper_index import PaperItem, paper_items
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.record import Record
from rcexplainer.paper.results_folder import ResultsFolder
from rcexplainer.paper.table import Table
from rcexplainer.paper.verdicts import Verdict, counts

REPORT_TITLE = "RCExplainer: the paper's tables and figures, run again"
TOO_SMALL = "The profile {} shows that everything runs, and is too small to judge by"
COUNTED = (("yes", "reached"), ("no", "not reached"), ("open", "open"))  # class and word of each kind of verdict


@dataclass(frozen=True)
class FrontTable:
    """The table of an entry that is shown at the top, with its heading and paragraphs."""

    heading: str
    paragraphs: tuple[str, ...]
    table: Table


@dataclass(frozen=True)
class ReportPicture:
    """A figure: its caption, the drawing as a data URL, and the relative addresses of its files."""

    caption: str
    source: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class ResultSource:
    """A result behind a table: its name, its file, and digest, seed, seconds, version, commit and machine."""

    label: str
    path: str
    values: tuple[object, ...]


@dataclass(frozen=True)
class ReportSection:
    """All about one entry.

    Attributes:
        name: The entry's name, its anchor on the page.
        title: Its heading.
        about: Where the paper shows it, and how much is done.
        command: The command that makes it.
        paragraphs: How it differs from the paper, and where its results come from.
        notes: Paragraphs of the folder's own notes, with code between backticks.
        verdicts: Its claims.
        pictures: Its figures.
        tables: Its tables.
        sources: The results behind them.
    """

    name: str
    title: str
    about: str
    command: str
    paragraphs: tuple[str, ...]
    notes: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    pictures: tuple[ReportPicture, ...]
    tables: tuple[Table, ...]
    sources: tuple[ResultSource, ...]


@dataclass(frozen=True)
class ReportContents:
    """Everything on the page.

    Attributes:
        title: Its heading.
        broken: Files that could not be read, relative to the folder.
        fronts: The tables at the top.
        index: The paper's tables and figures, each with the names and titles of our entries that show the same.
        verdicts: All claims; none if the profile is too small to judge by.
        counts: Class, number and word of the reached, missed and open claims.
        too_small: What is said instead of verdicts.
        origin: Versions, machines, commits and seeds of all results.
        notes: What a reader must know about where they come from.
        sections: The entries.
        undone: Skipped and failed jobs, under their headings.
    """

    title: str
    broken: tuple[str, ...]
    fronts: tuple[FrontTable, ...]
    index: tuple[tuple[PaperItem, tuple[tuple[str, str], ...]], ...]
    verdicts: tuple[Verdict, ...]
    counts: tuple[tuple[str, int, str], ...]
    too_small: str
    origin: str
    notes: tuple[str, ...]
    sections: tuple[ReportSection, ...]
    undone: tuple[tuple[str, tuple[str, ...]], ...]


def report_contents(found: ResultsFolder, prefix: str = "") -> ReportContents:
    """Collect what the report shows.

    Args:
        found: The results folder.
        prefix: From the page to the folder, in front of the relative addresses of its files.

    Returns:
        The contents.
    """
    captions, notes = read_captions(found.folder), read_notes(found.folder)
    titles = {planned.name: planned.title for planned in found.plans}
    undone = (("Skipped", found.skipped), ("Not done", found.failed))
    return ReportContents(
        title=REPORT_TITLE,
        broken=tuple(path.relative_to(found.folder).as_posix() for path in found.broken),
        fronts=tuple(_fronts(found, notes)),
        index=tuple((item, tuple((name, titles[name]) for name in item.known(titles))) for item in paper_items()),
        verdicts=found.verdicts,
        counts=tuple(
            zip(("yes", "no", "open"), counts(found.verdicts), ("reached", "not reached", "open"), strict=True)
        ),
        too_small=TOO_SMALL.format(found.profile),
        origin=_origin(found.records.values()),
        notes=found.folder_notes,
        sections=tuple(
            _section(found, planned, captions.get(planned.name, {}), notes.get(planned.name, ()), prefix)
            for planned in found.plans
        ),
        undone=tuple((name, tuple(f"{one.job.label}: {one.error}" for one in ones)) for name, ones in undone if ones),
    )


def _fronts(found: ResultsFolder, notes: Mapping[str, Sequence[str]]) -> Iterator[FrontTable]:
    """The tables of the entries that have a heading `front`, with their notes, whose figures are checked."""
    for planned in found.plans:
        shown = found.headline(planned) if "front" in planned.settings else None
        if shown is not None:
            said = checked(notes.get(planned.name, ()), [shown, *found.tables(planned)])
            yield FrontTable(planned.settings["front"], tuple(said), shown)


def _section(
    found: ResultsFolder, planned: EntryPlan, captions: Mapping[str, str], notes: Sequence[str], prefix: str
) -> ReportSection:
    """All about one entry."""
    return ReportSection(
        name=planned.name,
        title=planned.title,
        about=f"{_where(planned.settings['where'])}. {found.progress(planned)}",
        command=f"rcexplainer reproduce {planned.name} --profile {found.profile} --out DIR",
        paragraphs=(*planned.settings.get("differs", "").splitlines(), *found.origin_notes(planned)),
        notes=tuple(notes),
        verdicts=tuple(one for one in found.verdicts if one.entry == planned.name),
        pictures=tuple(_pictures(found.folder, captions, prefix)),
        tables=tuple(found.tables(planned)),
        sources=tuple(_source(found, job, prefix) for job in planned.rows if job in found.records),
    )


def _where(place: str) -> str:
    """Where the paper shows it, in words."""
    ours, _, rest = place.partition(";")
    if ours != "ours":
        return f"In the paper: {place}"
    return f"Not in the paper, but ours{';' if rest else ''}{rest}"


def _pictures(folder: Path, captions: Mapping[str, str], prefix: str) -> Iterator[ReportPicture]:
    """The figures whose files are there."""
    for name, caption in captions.items():
        files = [f"{FIGURE_FOLDER}/{name}.{kind}" for kind in FIGURE_FORMATS]
        if (folder / files[0]).is_file() and not (folder / files[0]).is_symlink():
            source = "data:image/svg+xml;base64," + base64.b64encode((folder / files[0]).read_bytes()).decode()
            there = tuple(prefix + path for path in files if (folder / path).is_file())
            yield ReportPicture(caption, source, there)


def _source(found: ResultsFolder, job: Job, prefix: str) -> ResultSource:
    """Where a number comes from."""
    record = found.records[job]
    origin = (record.about.get("commit") or "–", record.about.get("machine", ""))
    values = (record.digest, record.inputs.get("seed", ""), record.seconds, record.version, *origin)
    return ResultSource(record.label, prefix + found.places[record.digest], values)


def _origin(records: Iterable[Record]) -> str:
    """Versions, machines, commits and seeds of all results, in words."""
    known = list(records)
    versions = sorted({f"{name} {value}" for one in known for name, value in one.about.get("versions", {}).items()})
    machines = sorted({str(one.about["machine"]) for one in known if one.about.get("machine")})
    commits = sorted({str(one.about["commit"]) for one in known if one.about.get("commit")})
    seeds = sorted({one.inputs["seed"] for one in known if "seed" in one.inputs})
    parts = (("Versions", versions), ("Machines", machines), ("Commits", commits), ("Seeds", map(str, seeds)))
    said = ". ".join(f"{name}: {'; '.join(values)}" for name, values in parts)
    return f"There are {len(known)} results in runs/. {READING} {said}."
