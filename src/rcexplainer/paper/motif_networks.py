"""Which networks a headline about motifs stands on: those that use the motif.

    used   the share of the instances that flip without their motif is at least `motif_flips` of the entry's aims

A network that predicts the same without the motif does not look at it: to find the motif in it is then no merit, and to
find something else no fault. Without such an aim all networks count.
"""

from collections import Counter

from rcexplainer.paper.cells import Found, Panel, Settings, number


def using_motif(settings: Settings, found: Found) -> Found:
    """The results that are of networks which use the motif."""
    least = settings.get("aims", {}).get("motif_flips")
    if least is None:
        return found
    used = {
        (tags["dataset"], tags["model"], tags["seed"])
        for tags, result in found
        if tags.get("network") and number(result, "motif_flips") >= least
    }
    return [
        (tags, result)
        for tags, result in found
        if (tags["dataset"], tags["model"], (tags if tags.get("network") else result).get("seed")) in used
    ]


def how_many(settings: Settings, found: Found) -> dict[Panel, str]:
    """(dataset, network) → how many of its trainings use the motif, in words; only where not all do."""
    every, used = (_trained(ones) for ones in (found, using_motif(settings, found)))
    return {
        panel: f"{used[panel]} of {count} networks use the motif"
        for panel, count in every.items()
        if used[panel] < count
    }


def _trained(found: Found) -> Counter[Panel]:
    ones = (tags for tags, result in found if tags.get("network") and not result.get("skipped"))
    return Counter((tags["dataset"], tags["model"]) for tags in ones)
