"""Tables of datasets with known motifs: the datasets and their networks, nodes and links, the case study."""

from statistics import fmean
from typing import Any

from rcexplainer.metrics.direction import BETTER
from rcexplainer.paper.captions import UNSEEN_NODES, network_notes
from rcexplainer.paper.cells import Fill, beside, counted, listed, method_table, metric, over_seeds, panel_tables
from rcexplainer.paper.fidelity_tables import counterfactual_columns
from rcexplainer.paper.motif_networks import how_many, using_motif
from rcexplainer.paper.record import as_of
from rcexplainer.paper.result_groups import (
    EntrySettings,
    MethodResults,
    SeedResults,
    TaggedResults,
    groups,
    number,
    samples,
    without_networks,
)
from rcexplainer.paper.table import Column, Table, TableCell, dated

DATASETS_CAPTION = (
    "ours, and in brackets or beside it the numbers of the paper's table; test accuracy: on test instances on which "
    "nothing was chosen; motif flips: share of the instances that flip without their motif"
)
MOTIF_CAPTION = (
    "recovery of the motif, and counterfactuals along the ranking (own search: RCExplainer's, which continues where no "
    "prefix flips), on {}"
)
CASE_CAPTION = (
    "three-motifs, held-out test graphs that are correctly predicted: AUC of the motif that tells two classes apart, "
    "and of the one they share; occlusion: AUC of the telling motif when each edge is scored by what deleting it alone "
    "does to both classes"
)
CASE_COLUMNS = {
    "AUC telling": "auc",
    "AUC shared": "auc_shared",
    "AUC telling, occlusion": "auc_occlusion",
    "p(class) lost": "lost",
    "p(other) gained": "gained",
    "flipped": "flipped",
}


def dataset_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """The size of every dataset, and the accuracy of its networks.

    Args:
        settings: The entry's.
        found: The results of its networks.

    Returns:
        One table; none without results.
    """
    networks: MethodResults = {name: [] for name in settings["datasets"]}
    for tags, result in found:
        networks[tags["dataset"]].append(result)
    fills = [
        *(_shape(name, place) for place, name in enumerate(("nodes", "edges", "graphs", "classes"))),
        *beside("test accuracy", ("accuracy",), 4),
        metric("motif flips", "motif_flips"),
        (Column("networks"), lambda own, _: TableCell(str(len(own)))),
    ]
    made = method_table(
        DATASETS_CAPTION,
        "dataset",
        networks,
        fills,
        settings.get("reference", {}),
        lambda methods: samples(methods) + network_notes(settings),
    )
    return [made] if made else []


def node_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """Recovery of the motif by every method, on networks that rely on it, then on all networks where some do not.

    Args:
        settings: The entry's; `explained` says on which instances.
        found: Its results.

    Returns:
        One or two tables for every dataset and network.
    """
    fills = [
        counted("instances", "instances"),
        *beside("AUC", ("auc",), 0, digits=3),
        *beside("accuracy", ("accuracy",), 1, digits=3),
        *counterfactual_columns(),
    ]
    caption = MOTIF_CAPTION.format(explained_instances(settings))
    few = how_many(settings, found)
    made: list[Table] = []
    for panel in groups(found):
        own = [(tags, result) for tags, result in found if (tags["dataset"], tags["model"]) == panel]
        if panel in few:
            headline = f"{caption}; {few[panel]}, only these count"
            made += panel_tables(settings, using_motif(settings, own), headline, fills, instances="")
        whole = f"{caption}; all networks, {few[panel]}" if panel in few else caption
        made += panel_tables(settings, own, whole, fills, instances="")
    return made


def explained_instances(settings: EntrySettings) -> str:
    """On which instances motifs are recovered, in words."""
    return str(settings.get("explained", UNSEEN_NODES))


def case_tables(settings: EntrySettings, found: TaggedResults) -> list[Table]:
    """The case study, a row for every pair of classes and seed."""
    columns = [Column(title, BETTER.get(name)) for title, name in CASE_COLUMNS.items()]
    ones = [(pair, result) for _, result in without_networks(found) for pair in result["pairs"]]
    rows = tuple(
        (
            *(TableCell(str(pair[name])) for name in ("own", "other", "seed")),
            *(over_seeds([number(pair, name)]) for name in CASE_COLUMNS.values()),
        )
        for pair, _ in ones
    )
    shown = (Column("class"), Column("and not"), Column("seed"), *columns)
    table = Table(CASE_CAPTION, shown, rows, tuple(network_notes(settings)))
    return [dated(table, [as_of([result]) for _, result in ones])] if rows else []


def pair_means(settings: EntrySettings, found: TaggedResults) -> Table | None:
    """The case study, a row for every pair of classes: means over the seeds.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        The table; None without results.
    """
    pairs: dict[tuple[str, str], SeedResults] = {}
    own = [result for _, result in without_networks(found)]
    for result in own:
        for pair in result["pairs"]:
            key = (f"{pair['own']}, not {pair['other']}", pair["telling"])
            pairs.setdefault(key, []).append(pair)
    fills: list[Fill] = [metric(title, name) for title, name in CASE_COLUMNS.items()]
    fills.append((Column("graphs"), lambda own, _: TableCell(f"{fmean(one['graphs'] for one in own):.0f}")))
    rows = tuple(
        (TableCell(name), TableCell(motif), *(fill(ones, None) for _, fill in fills))
        for (name, motif), ones in pairs.items()
    )
    columns = (Column("class"), Column("telling motif"), *(column for column, _ in fills))
    version = as_of(own)
    table = Table(CASE_CAPTION, columns, rows, tuple(network_notes(settings, f"{len(own)} seeds")))
    return dated(table, [version] * len(rows)) if rows else None


def _shape(name: str, place: int) -> Fill:
    """A number of a dataset, in brackets the paper's."""

    def fill(own: SeedResults, paper: Any) -> TableCell:
        value = own[0]["dataset"][name]
        exact = len(value) if name == "classes" else value
        ours = f"{exact:.0f}" if float(exact).is_integer() else f"{exact:.2f}"
        known = listed(paper, place)
        return TableCell(ours if known is None else f"{ours} ({known:g})")

    return Column(name), fill
