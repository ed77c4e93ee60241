"""The positions of what is drawn of an instance: around the explained node if only a part of it is drawn."""

from collections.abc import Sequence

import numpy as np
import torch

from rcexplainer.viz.excerpt import Excerpt, Numbers
from rcexplainer.viz.layout import Places, stress_layout
from rcexplainer.viz.radial_layout import radial_layout


def excerpt_layout(excerpt: Excerpt, ends: Numbers, roots: Sequence[int]) -> Places:
    """Compute node positions.

    Args:
        excerpt: The part to draw.
        ends: [2, pairs] the nodes of every edge of the instance.
        roots: The explained nodes; empty for a graph.

    Returns:
        [nodes drawn, 2] positions.
    """
    drawn = np.searchsorted(excerpt.nodes, ends[:, excerpt.kept])
    if excerpt.partial and roots:
        centre = np.searchsorted(excerpt.nodes, list(dict.fromkeys(roots))).tolist()
        return radial_layout(drawn, len(excerpt.nodes), centre)
    return stress_layout(torch.from_numpy(drawn), len(excerpt.nodes))
