"""What an explained node or link is called."""

from rcexplainer.datasets.node_labels import node_label
from rcexplainer.explanation import Explanation


def instance_name(one: Explanation) -> str | None:
    """Name the explained node or link, as the terminal's table does.

    Args:
        one: The explanation.

    Returns:
        "acct-7" or "acct-7–acct-9" where the graph has `node_names`, else "node 7" or "7–9"; None for a graph.
    """
    if one.index is None:
        return None
    named = one.graph.get("node_names") is not None
    label = node_label(one.graph) if named else str
    if isinstance(one.index, int):
        return label(one.index) if named else f"node {one.index}"
    return "–".join(map(label, one.index))
