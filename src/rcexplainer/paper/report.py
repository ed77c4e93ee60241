"""`report.html` of a results folder: one page that needs nothing else.

The verdicts first; then of every entry what the paper shows, the command, its figures and tables, and the files behind
them. It reads the folder and runs nothing.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rcexplainer.errors import RCExplainerError
from rcexplainer.paper import markup
from rcexplainer.paper.entries import ENTRIES, Plan, plan, tables
from rcexplainer.paper.figure_files import FOLDER, read_captions
from rcexplainer.paper.markup import link, tag, text
from rcexplainer.paper.notes import read_notes
from rcexplainer.paper.page import READING
from rcexplainer.paper.store import PROFILE, Job, Store
from rcexplainer.paper.verdicts import WORDS, Verdict, counts, verdicts
from rcexplainer.saving.files import write_whole

NAME = "report.html"
TITLE = "RCExplainer: the paper's tables and figures, run again"
TOO_SMALL = "The profile {} shows that everything runs, and is too small to judge by"
CLASSES = {True: "yes", False: "no", None: "open"}


@dataclass(frozen=True)
class Kept:
    """A folder of results, as its profile reads it."""

    folder: Path
    profile: str
    plans: tuple[Plan, ...]
    documents: Mapping[Job, dict[str, Any]]  # whole files, with where their result comes from
    broken: tuple[Path, ...]  # files that are there but cannot be read
    prefix: str = ""  # of links to files in the folder, for a page that is written elsewhere

    @property
    def results(self) -> dict[Job, dict[str, Any]]:
        return {job: document["result"] for job, document in self.documents.items()}


@dataclass(frozen=True)
class Report:
    page: Path
    profile: str
    verdicts: tuple[Verdict, ...]
    broken: tuple[Path, ...]

    def rows(self) -> list[dict[str, str]]:
        return [
            {"entry": one.entry, "claim": one.claim, "aim": one.aim, "found": one.found, "verdict": WORDS[one.reached]}
            for one in self.verdicts
        ]

    def caption(self) -> str:
        reached, missed, undecided = counts(self.verdicts)
        judged = f"{reached} reached, {missed} not reached, {undecided} open"
        skipped = f"; {len(self.broken)} files could not be read" if self.broken else ""
        return f"{judged if self.verdicts else TOO_SMALL.format(self.profile)}; the page is {self.page}{skipped}"

    def to_json(self) -> dict[str, Any]:
        return {
            "page": str(self.page),
            "profile": self.profile,
            "verdicts": [asdict(one) for one in self.verdicts],
            "broken": [str(path) for path in self.broken],
        }


def write_report(folder: Path, out: Path | None = None) -> Report:
    """Write the page of a folder of results.

    Args:
        folder: A folder that `reproduce` wrote.
        out: The file; by default `report.html` in the folder.

    Returns:
        The page, the verdicts, and files that could not be read.

    Raises:
        RCExplainerError: The folder is not there, or holds no results.
    """
    kept = read(folder)
    if out is not None and out.resolve().parent != folder.resolve():
        kept = replace(kept, prefix=Path(os.path.relpath(folder.resolve(), out.resolve().parent)).as_posix() + "/")
    judged = tuple(one for planned in kept.plans for one in verdicts(planned, kept.results))
    page = write_whole(out or folder / NAME, markup.page(TITLE, _body(kept, judged)).encode())
    return Report(page, kept.profile, judged, kept.broken)


def read(folder: Path) -> Kept:
    """All results that the entries ask for, in the folder's own profile."""
    if not folder.exists():
        raise RCExplainerError(f"there is no folder {folder}: make it with `rcexplainer reproduce all --out {folder}`")
    if not folder.is_dir():
        raise RCExplainerError(f"{folder} is a file: name the folder that `rcexplainer reproduce` wrote")
    store = Store(folder)
    profile = store.profile
    if profile is None:
        raise RCExplainerError(
            f"{folder} is not a folder of results, it has no {PROFILE} that can be read: fill it with `rcexplainer "
            f"reproduce all --out {folder}`, which does not run again what is there"
        )
    kept = _read(store, profile)
    if not kept.documents:
        found = len(list((folder / "runs").rglob("*.json")))
        raise RCExplainerError(
            f"none of the {found} files in {folder / 'runs'} is a result that profile {profile} asks for: they are of "
            "another version; run `rcexplainer reproduce` again"
        )
    return kept


def _read(store: Store, profile: str) -> Kept:
    plans = tuple(plan(name, profile) for name in ENTRIES)
    jobs = list(dict.fromkeys(job for planned in plans for job in planned.jobs))
    there = [job for job in jobs if store.path(job).exists()]
    documents = {job: json.loads(store.path(job).read_text("utf-8")) for job in there if store.get(job) is not None}
    broken = tuple(store.path(job) for job in there if job not in documents)
    return Kept(store.folder, profile, plans, documents, broken)


def _body(kept: Kept, judged: Sequence[Verdict]) -> Iterator[str]:
    yield tag("h1", text(TITLE))
    if kept.broken:
        names = ", ".join(path.relative_to(kept.folder).as_posix() for path in kept.broken)
        yield tag("p", f"Files that cannot be read, and are left out: {text(names)}. Run again, they are replaced.")
    yield from _summary(kept, judged)
    yield tag("nav", tag("ul", *(tag("li", link(f"#{one.name}", one.title)) for one in kept.plans)))
    yield tag("p", *_origin(kept.documents.values()), class_="soft")
    captions, notes = read_captions(kept.folder), read_notes(kept.folder)
    for planned in kept.plans:
        own = [one for one in judged if one.entry == planned.name]
        drawn, said = captions.get(planned.name, {}), notes.get(planned.name, ())
        yield tag("section", *_section(kept, planned, own, drawn, said), id=planned.name)


def _summary(kept: Kept, judged: Sequence[Verdict]) -> Iterator[str]:
    yield tag("h2", "What it must show")
    if not judged:
        yield tag("p", text(f"{TOO_SMALL.format(kept.profile)}."))
        return
    named = zip(("yes", "no", "open"), counts(judged), ("reached", "not reached", "open"), strict=True)
    shown = (tag("li", tag("b", str(count)), text(word), class_=name) for name, count, word in named)
    yield tag("ul", *shown, class_="counts")
    yield _verdicts(judged)


def _verdicts(judged: Sequence[Verdict]) -> str:
    rows = [
        (
            CLASSES[one.reached],
            [text(WORDS[one.reached]), link(f"#{one.entry}", one.claim), text(one.aim), text(one.found)],
        )
        for one in judged
    ]
    return markup.grid(("", "claim", "aim", "found"), rows, "words verdicts")


def _section(
    kept: Kept, planned: Plan, judged: Sequence[Verdict], captions: Mapping[str, str], notes: Sequence[str]
) -> Iterator[str]:
    done = [job for job in planned.jobs if job in kept.documents]
    yield tag("h2", text(planned.title))
    yield tag("p", text(f"{_where(planned.settings['where'])}. {len(done)} of {len(planned.jobs)} jobs are done."))
    yield tag("pre", tag("code", text(f"rcexplainer reproduce {planned.name} --profile {kept.profile} --out DIR")))
    yield from (tag("p", markup.prose(one)) for one in notes)
    if judged:
        yield _verdicts(judged)
    yield from _pictures(kept, captions)
    yield from map(markup.table, tables(planned, kept.results))
    if done:
        yield _files(kept, done)


def _where(place: str) -> str:
    return "Not in the paper, but ours" if place == "ours" else f"In the paper: {place}"


def _pictures(kept: Kept, captions: Mapping[str, str]) -> Iterator[str]:
    for name, caption in captions.items():
        files = [f"{FOLDER}/{name}.{kind}" for kind in ("svg", "png")]
        if (kept.folder / files[0]).is_file():
            there = [kept.prefix + path for path in files if (kept.folder / path).is_file()]
            yield markup.picture((kept.folder / files[0]).read_bytes(), caption, there)


def _files(kept: Kept, jobs: Sequence[Job]) -> str:
    """Where every number comes from."""
    store = Store(kept.folder)
    rows = []
    for job in jobs:
        document = kept.documents[job]
        path = kept.prefix + store.path(job).relative_to(kept.folder).as_posix()
        about = document.get("about", {})
        cells = (job.inputs.get("seed", ""), document.get("seconds", ""), about.get("commit") or "–")
        rows.append(("", [link(path, job.label), *map(text, cells), text(about.get("machine", ""))]))
    headings = ("result", "seed", "seconds", "commit", "machine")
    return tag("details", tag("summary", f"files behind it: {len(jobs)}"), markup.grid(headings, rows), class_="files")


def _origin(documents: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Versions, machines and commits of all results."""
    known = list(documents)
    about = [one.get("about", {}) for one in known]
    versions = sorted({f"{name} {version}" for one in about for name, version in one.get("versions", {}).items()})
    machines = sorted({str(one["machine"]) for one in about if one.get("machine")})
    commits = sorted({str(one["commit"]) for one in about if one.get("commit")})
    seeds = sorted({one["inputs"]["seed"] for one in known if "seed" in one.get("inputs", {})})
    parts = (("Versions", versions), ("Machines", machines), ("Commits", commits), ("Seeds", map(str, seeds)))
    yield text(f"There are {len(known)} results in runs/. {READING} ")
    yield text(". ".join(f"{name}: {'; '.join(values)}" for name, values in parts) + ".")
