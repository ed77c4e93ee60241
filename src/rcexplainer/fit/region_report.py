"""The summary of a fitted explainer's regions: their members, and the edges that counterfactuals delete there."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import torch

from rcexplainer.core.region_summary import RegionSummaries, summarise, with_members
from rcexplainer.core.regions import Regions
from rcexplainer.explanation import Explanation, Failure
from rcexplainer.fit.surface import Assign
from rcexplainer.gnn.graph_checks import Graphs
from rcexplainer.gnn.split import SplitModel
from rcexplainer.method.edge_kinds import EdgeKinds
from rcexplainer.method.region_members import RegionMembers

DIGITS = 5  # of planes of norm 1, which may differ by rounding where they are found twice

GivenInstances = Graphs | Explanation | Sequence[Explanation | Failure]


def explained(
    given: GivenInstances | None, explain: Callable[[Graphs], Iterable[Explanation | Failure]]
) -> list[Explanation | Failure]:
    """Take explanations as they are, and explain graphs.

    Args:
        given: Explanations, or graphs; None: no instances.
        explain: Explains graphs.

    Returns:
        The explanations.
    """
    if given is None:
        return []
    if isinstance(given, Explanation):
        return [given]
    if isinstance(given, Sequence) and given and isinstance(given[0], Explanation | Failure):
        return list(given)
    return list(explain(given))


def region_report(
    split: SplitModel,
    regions: Regions,
    explanations: Iterable[Explanation | Failure],
    class_names: Sequence[str] = (),
    node_names: Sequence[str] = (),
    assign: Assign = Regions.assign,
) -> RegionSummaries:
    """Summarise regions together with some explained instances.

    Args:
        split: The model.
        regions: Its decision regions.
        explanations: Explained instances; failures are left out. With counterfactuals, deleted edges are counted.
        class_names: Names of the classes.
        node_names: What each one-hot node feature means, such as an element.
        assign: How instances find their region.

    Returns:
        A summary of each region; regions that several target classes have in common are one.
    """
    summaries = summarise(regions, class_names)
    firsts = first_equals(regions)
    shown = [one for one in explanations if isinstance(one, Explanation)]
    if not shown:
        return _distinct(summaries, firsts)
    members = RegionMembers.of(split, regions, shown, assign)
    own = [firsts[region] if region >= 0 else region for region in members.region.tolist()]
    summaries = with_members(summaries, regions, members.embedding, torch.tensor(own).to(members.region))
    kinds = EdgeKinds.of(shown, node_names)
    deleted = [Counter[str]() for _ in regions.regions]
    for place, (one, region) in enumerate(zip(shown, own, strict=True)):
        if region >= 0 and one.counterfactual is not None and one.counterfactual.flipped:
            found = kinds.counts(place, one, one.removed_units)
            deleted[region].update({kinds.text(kind): count for kind, count in found.items()})
    summaries = replace(
        summaries,
        regions=tuple(
            replace(one, deleted=tuple(found.most_common())) for one, found in zip(summaries, deleted, strict=True)
        ),
    )
    return _distinct(summaries, firsts)


def first_equals(regions: Regions) -> list[int]:
    """Find regions that are the same: those that lead to any other class, and to the only other one.

    Args:
        regions: Some regions.

    Returns:
        For each of them the place of the first one of its class with the same boundaries.
    """
    planes = torch.cat([regions.boundaries.weight, regions.boundaries.bias[:, None]], 1).double().cpu()
    planes = planes / planes.norm(dim=1, keepdim=True)
    first: dict[tuple[object, ...], int] = {}
    found = []
    for place, one in enumerate(regions.regions):
        inwards = (planes[one.rows.cpu()] * one.signs.double().cpu()[:, None]).round(decimals=DIGITS)
        found.append(first.setdefault((one.label, *sorted(map(tuple, inwards.tolist()))), place))
    return found


def _distinct(summaries: RegionSummaries, firsts: Sequence[int]) -> RegionSummaries:
    """The summaries without those of regions that are equal to an earlier one."""
    return replace(summaries, regions=tuple(one for place, one in enumerate(summaries) if firsts[place] == place))
