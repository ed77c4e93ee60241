"""Which networks count in a headline about motifs: those that rely on the motif.

    relies   the share of instances that flip without their motif is at least `motif_flips` of the entry's aims

A network that predicts the same without the motif does not look at it: an explainer that points elsewhere is then not
wrong, and one that points at the motif not right. Without such an aim all networks count.
"""

from collections import Counter

from rcexplainer.paper.result_groups import EntrySettings, Panel, TaggedResults, number


def using_motif(settings: EntrySettings, found: TaggedResults) -> TaggedResults:
    """The results on networks that rely on the motif.

    Args:
        settings: The entry's, with its aims.
        found: Its results, those of the networks among them.

    Returns:
        The results that count, of networks and methods.
    """
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


def how_many(settings: EntrySettings, found: TaggedResults) -> dict[Panel, str]:
    """How many networks rely on the motif, in words.

    Args:
        settings: The entry's.
        found: Its results.

    Returns:
        (dataset, network) → the sentence, only where not all of them do.
    """
    every, used = (_trained(ones) for ones in (found, using_motif(settings, found)))
    return {
        panel: f"{used[panel]} of {count} networks use the motif"
        for panel, count in every.items()
        if used[panel] < count
    }


def _trained(found: TaggedResults) -> Counter[Panel]:
    ones = (tags for tags, result in found if tags.get("network") and not result.get("skipped"))
    return Counter((tags["dataset"], tags["model"]) for tags in ones)
