"""The entries of `rcexplainer reproduce` by name: the jobs each is made of, and the tables and figures they become.

Each has a file of settings in `entry_files/`. Entries that need the same job share its result.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rcexplainer.errors import RCExplainerError
from rcexplainer.paper import curve_figures, dot_figures, headlines, job_lists
from rcexplainer.paper.authors_figure import authors_figure
from rcexplainer.paper.authors_tables import authors_headline, authors_tables
from rcexplainer.paper.boundary_tables import boundary_headline, boundary_tables
from rcexplainer.paper.captions import described
from rcexplainer.paper.case_examples import example_figure
from rcexplainer.paper.dial_figure import dial_figure
from rcexplainer.paper.dial_tables import dial_tables
from rcexplainer.paper.fidelity_tables import ablation_tables, fidelity_tables
from rcexplainer.paper.figure_style import PaperFigure
from rcexplainer.paper.job_lists import JobList
from rcexplainer.paper.motif_tables import case_tables, dataset_tables, node_tables, pair_means
from rcexplainer.paper.plan import PROFILES, EntryPlan, Results, profile_settings
from rcexplainer.paper.qualitative_tables import qualitative_figure, qualitative_square, qualitative_table
from rcexplainer.paper.recovery_tables import recovery_tables
from rcexplainer.paper.result_groups import EntrySettings, TaggedResults
from rcexplainer.paper.robustness_tables import robustness_tables
from rcexplainer.paper.scores_alone import scores_table
from rcexplainer.paper.stability_tables import stability_headline, stability_tables
from rcexplainer.paper.table import Table
from rcexplainer.paper.time_tables import time_tables
from rcexplainer.paper.tradeoff import tradeoff_table
from rcexplainer.paper.training_tables import training_figure, training_table
from rcexplainer.paper.tuning_tables import tuning_tables

FigureMaker = Callable[[EntrySettings, TaggedResults], list[PaperFigure]]


def _undrawn(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    return []


@dataclass(frozen=True)
class PaperEntry:
    """An entry: a table or figure of the paper, or one of ours.

    Attributes:
        jobs: From its settings to its jobs.
        tables: From settings and results to tables.
        figures: From settings and results to figures.
        headline: From settings and results to the table of the front page; None: the first of its tables.
    """

    jobs: Callable[[EntrySettings], JobList]
    tables: Callable[[EntrySettings, TaggedResults], list[Table]]
    figures: FigureMaker = _undrawn
    headline: headlines.HeadlineMaker | None = None


def _case_figures(settings: EntrySettings, found: TaggedResults) -> list[PaperFigure]:
    return dot_figures.case_square(settings, found) + example_figure(settings, found)


def _dial_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    return dial_tables(settings, found) + scores_table(settings, found)


def _measured(
    tables: Callable[[EntrySettings, TaggedResults], list[Table]],
    figures: FigureMaker = _undrawn,
    headline: headlines.HeadlineMaker | None = None,
) -> PaperEntry:
    return PaperEntry(job_lists.measurements, tables, figures, headline)


PAPER_ENTRIES: dict[str, PaperEntry] = {
    "datasets": PaperEntry(job_lists.networks, dataset_tables),
    "fidelity": _measured(fidelity_tables, curve_figures.fidelity_figure, headlines.fidelity_headline),
    "authors": PaperEntry(job_lists.authors, authors_tables, authors_figure, authors_headline),
    "authors-long": PaperEntry(job_lists.authors, authors_tables, headline=authors_headline),
    "robustness": _measured(robustness_tables, curve_figures.robustness_figures, headlines.robustness_headline),
    "stability": PaperEntry(job_lists.stability, stability_tables, headline=stability_headline),
    "time": PaperEntry(job_lists.timings, time_tables, dot_figures.time_figure, headlines.time_headline),
    "dial": PaperEntry(job_lists.dial, _dial_tables, dial_figure),
    "planned": PaperEntry(job_lists.dial, _dial_tables),
    "nodes": PaperEntry(
        job_lists.recoveries, recovery_tables, dot_figures.recovery_figure, headlines.recovery_headline
    ),
    "nodes-edgeless": _measured(node_tables, dot_figures.node_figure, headlines.node_headline),
    "links": _measured(node_tables, headline=headlines.node_headline),
    "boundaries": _measured(boundary_tables, headline=boundary_headline),
    "candidates": _measured(fidelity_tables, curve_figures.varied_figure("candidates"), headlines.varied_headline),
    "lambda": _measured(fidelity_tables, curve_figures.varied_figure("lambda"), headlines.varied_headline),
    "case-study": PaperEntry(job_lists.cases, case_tables, _case_figures, pair_means),
    "ablation": _measured(ablation_tables, dot_figures.ablation_figure, headlines.ablation_headline),
    "tradeoff": PaperEntry(job_lists.tradeoff, tradeoff_table),
    "tuning": PaperEntry(job_lists.tuning, tuning_tables),
    "qualitative": PaperEntry(job_lists.explanations, qualitative_table, qualitative_figure, qualitative_square),
    "training": PaperEntry(job_lists.training, training_table, training_figure),
}


def plan(name: str, profile: str) -> EntryPlan:
    """The jobs of an entry.

    Args:
        name: The entry's name.
        profile: The profile's name.

    Returns:
        The plan.

    Raises:
        RCExplainerError: There is no such entry or profile.
    """
    if name not in PAPER_ENTRIES:
        raise RCExplainerError(f"unknown entry {name!r}; known: {', '.join(PAPER_ENTRIES)}, or all")
    if profile not in PROFILES:
        raise RCExplainerError(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
    settings = profile_settings(name, profile)
    return EntryPlan(name, settings, PAPER_ENTRIES[name].jobs(settings))


def tables(planned: EntryPlan, results: Results) -> list[Table]:
    """The tables of an entry, of the results that are there.

    Args:
        planned: The entry.
        results: Job → its result.

    Returns:
        The tables; none without results.
    """
    found = planned.tagged(results)
    return PAPER_ENTRIES[planned.name].tables(described(planned), found) if found else []


def headline(planned: EntryPlan, results: Results) -> Table | None:
    """The table of an entry that stands on the front page; None without results.

    Args:
        planned: The entry.
        results: Job → its result.

    Returns:
        The table.
    """
    found = planned.tagged(results)
    if not found:
        return None
    own = PAPER_ENTRIES[planned.name].headline
    made = own(described(planned), found) if own else None
    return made or next(iter(tables(planned, results)), None)


def figures(planned: EntryPlan, results: Results) -> list[PaperFigure]:
    """The figures of an entry, of the results that are there.

    Args:
        planned: The entry.
        results: Job → its result.

    Returns:
        The figures; none without results.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    found = planned.tagged(results)
    return PAPER_ENTRIES[planned.name].figures(described(planned), found) if found else []
