"""Any explained graph as dots and lines: the instance with its scores, and its counterfactual in the same layout.

    width and darkness of a line   the score
    dashes                         edges that the counterfactual deletes; grey if the search failed
    a green outline                 the motif, where it is known (`graph.edge_motif`)
    a ring                         the explained node, or the two nodes of the explained link
    a triangle on a line           an edge that exists in one direction only
    a small number                 the node's number in its graph; with names, the label that tables print, such as "C4"

Elements of an SVG can be found by their ids: `edge-3-7`, `deleted-3-7`, `motif-3-7`, with the numbers of the nodes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from rcexplainer.datasets.node_labels import node_label
from rcexplainer.errors import require
from rcexplainer.explanation import Explanation
from rcexplainer.viz.drawing_options import DEFAULT_OPTIONS, DrawingOptions
from rcexplainer.viz.excerpt import Excerpt, Numbers, choose_excerpt
from rcexplainer.viz.excerpt_layout import excerpt_layout
from rcexplainer.viz.explained_pairs import explained_pairs
from rcexplainer.viz.graphs import stretched
from rcexplainer.viz.layout import Places
from rcexplainer.viz.pairs import Pairs
from rcexplainer.viz.palette import DELETED, FAILED, INK, MOTIF, NUMBER_INK, deletion_looks, line_grey, motif_handle
from rcexplainer.viz.search_outcome import shortened

LINE_DASHES = (0, (2.2, 1.1))
MOST_NAMES = 90  # nodes up to which their names are written instead of dots
LONGEST_NODE_NAME = 12  # characters
MOST_SPOKES = 20  # lines of full width that fit around a node
NODE_MARGIN = 0.06  # around the nodes, as a share of the drawing: room for their numbers


@dataclass(frozen=True, eq=False)
class GraphDrawing:
    """The layout of one instance, shared by all drawings of it.

    Attributes:
        columns: The edges of the instance, as positions in the columns of the whole graph's `edge_index`.
        ends: [2, pairs] the nodes of every pair of the instance.
        excerpt: Which part is drawn.
        places: [nodes drawn, 2] positions.
        roots: The explained nodes.
        names: A short text for each node drawn; empty for dots.
        options: What is shown at nodes and edges.
    """

    columns: Tensor
    ends: Numbers
    excerpt: Excerpt
    places: Places
    roots: tuple[int, ...]
    names: tuple[str, ...]
    options: DrawingOptions

    noun = "edge"

    @classmethod
    def of(cls, explanations: Sequence[Explanation], options: DrawingOptions = DEFAULT_OPTIONS) -> "GraphDrawing":
        """Lay out an instance.

        Args:
            explanations: Explanations of this instance; what is drawn of a large graph depends on all of them.
            options: What is shown at nodes and edges; lines have no names, so `edge_names` are not used.

        Returns:
            The drawing.
        """
        graph, index = explanations[0].graph, explanations[0].index
        parts = [one.edge_ids for one in explanations if one.edge_ids is not None]
        columns = torch.cat(parts).unique() if parts else torch.arange(graph.num_edges)
        roots = () if index is None else (index,) if isinstance(index, int) else tuple(index)
        ends = graph.edge_index[:, columns]
        nodes = torch.arange(int(graph.num_nodes or 0)) if index is None else ends.unique()
        found, values = zip(*(explained_pairs(one, options.reading, columns) for one in explanations), strict=True)
        scores = torch.stack(values).amax(0)
        removed = torch.stack([pairs.removed for pairs in found]).any(0)
        excerpt = choose_excerpt(
            found[0].ends.numpy(),
            scores.double().numpy(),
            removed.numpy(),
            np.union1d(nodes.numpy(), np.array(roots, dtype=np.int64)),
            list(dict.fromkeys(roots)),
        )
        places = excerpt_layout(excerpt, found[0].ends.numpy(), roots)
        names = _names(graph, excerpt.nodes.tolist(), options)
        return cls(columns, found[0].ends.numpy(), excerpt, places, roots, names, options)

    @property
    def notes(self) -> list[str]:
        """What the drawing leaves out."""
        return [self.excerpt.left_out] if self.excerpt.left_out else []

    def draw_scores(self, axes: Any, one: Explanation) -> None:
        """Draw the instance: its scores, the deleted edges, the motif.

        Args:
            axes: matplotlib axes.
            one: The explanation.
        """
        pairs, values = explained_pairs(one, self.options.reading, self.columns)
        failed = one.counterfactual is not None and not one.counterfactual.flipped
        self._draw_motif(axes, pairs)
        kept = torch.from_numpy(self.excerpt.kept)
        scores = torch.zeros_like(values)
        scores[kept] = stretched(values[kept])  # those drawn of a large graph all have high scores
        for line in scores.argsort(stable=True).tolist():  # dark ones on top
            score, gone = float(scores[line]), bool(pairs.removed[line])
            width = self._line_scale * (0.8 + 3.4 * score)
            if gone:
                colour = FAILED if failed else DELETED
                width = np.clip(width, 0.8 + 0.8 * self._scale, 1.1 + 1.7 * self._scale)
                self._line(axes, pairs, line, "deleted", colour, width, LINE_DASHES)
            else:
                self._line(axes, pairs, line, "edge", line_grey(score), width)
        self._draw_nodes(axes, pairs, self._numbered(pairs))

    def draw_counterfactual(self, axes: Any, one: Explanation) -> None:
        """Draw the instance without the deleted edges.

        Args:
            axes: matplotlib axes.
            one: The explanation; it has a counterfactual.
        """
        pairs, _ = explained_pairs(one, self.options.reading, self.columns)
        failed = one.counterfactual is not None and not one.counterfactual.flipped
        for line in (~pairs.removed).nonzero().flatten().tolist():
            self._line(axes, pairs, line, "kept", "0.68" if failed else "0.35", 1.5 * self._line_scale)
        self._draw_nodes(axes, pairs, self._numbered(pairs), "0.68" if failed else "0.35")

    def legend(self, outcomes: Collection[bool], motif: bool) -> list[Any]:
        """Return matplotlib's handles of what the drawing contains; `outcomes`: as for `deletion_looks`."""
        line = require("matplotlib.lines", "figures").Line2D
        word = "score" if self.options.reading == "scores" else self.options.reading
        handles = [
            line([], [], color=line_grey(1.0), linewidth=4.2, label=f"highest {word}"),
            line([], [], color=line_grey(0.0), linewidth=0.8, label=f"lowest {word}"),
        ]
        for colour, label in deletion_looks(outcomes):
            handles.append(line([], [], color=colour, linewidth=2.0, linestyle=LINE_DASHES, label=label))
        if motif:
            handles.append(motif_handle(line))
        if self.roots:
            ring = {"markersize": 10, "markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": 1.5}
            handles.append(line([], [], linestyle="none", marker="o", label="explained", **ring))
        return handles

    @property
    def _scale(self) -> float:
        """Lines and dots of large graphs are smaller."""
        return float(np.clip((45 / max(1, int(self.excerpt.kept.sum()))) ** 0.5, 0.38, 1.0))

    @property
    def _line_scale(self) -> float:
        """Lines that meet at a hub are thinner still, so that they do not merge into a disc."""
        ends = self.ends[:, self.excerpt.kept]
        spokes = np.unique(ends, return_counts=True)[1].max(initial=1)
        return self._scale * float(np.clip(MOST_SPOKES / spokes, 0.3, 1.0))

    def _ends(self, pairs: Pairs, line: int) -> Places | None:
        """The positions of the two ends of a pair, [2, 2]; None if it is not drawn."""
        if not self.excerpt.kept[line]:
            return None
        return self.places[np.searchsorted(self.excerpt.nodes, pairs.ends[:, line].numpy())]

    def _line(self, axes: Any, pairs: Pairs, line: int, word: str, colour: str, width: float, style: Any = "-") -> None:
        """Draw one pair, with a triangle if its edges go one way."""
        ends = self._ends(pairs, line)
        if ends is None:
            return
        name = f"{word}-{'-'.join(map(str, pairs.ends[:, line].tolist()))}"
        axes.plot(*ends.T, color=colour, lw=width, ls=style, solid_capstyle="round", zorder=1, gid=name)
        way = int(pairs.direction[line])
        if way:
            along = way * (ends[1] - ends[0])
            turn = float(np.degrees(np.arctan2(along[1], along[0]))) - 90
            size = 6.0 * self._scale + 1.3 * width
            axes.plot(*(ends.mean(0) + 0.08 * along), marker=(3, 0, turn), ms=size, color=colour, mew=0, zorder=1)

    def _draw_motif(self, axes: Any, pairs: Pairs) -> None:
        """Outline the motif: wide green lines, and white ones on top of them all."""
        for colour, more, name in ((MOTIF, 2.2, "motif"), ("white", 0.0, "inside")):
            for line in (pairs.kind >= 0).nonzero().flatten().tolist():
                if (ends := self._ends(pairs, line)) is not None:
                    gid = f"{name}-{'-'.join(map(str, pairs.ends[:, line].tolist()))}"
                    width = max(9.0 * self._scale, 5.0) + more
                    axes.plot(*ends.T, color=colour, lw=width, solid_capstyle="round", zorder=0, gid=gid)

    def _draw_nodes(self, axes: Any, pairs: Pairs, numbered: list[int], colour: str = INK) -> None:
        """Draw dots or names, rings around the explained nodes, self-loops, and the numbers of some nodes."""
        at = {int(node): place for place, node in enumerate(self.excerpt.nodes.tolist())}
        for node in set(pairs.loops.tolist()) & set(at):
            centre = self.places[at[node]] + (0, 0.045)
            axes.plot(*centre, "o", ms=9 * self._scale, mfc="none", mec=colour, mew=0.8, zorder=1, gid=f"loop-{node}")
        if self.names:
            box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"}
            for (x, y), text in zip(self.places, self.names, strict=True):
                style = {"ha": "center", "va": "center", "fontsize": 7, "color": colour, "parse_math": False}
                axes.text(x, y, text, zorder=4, bbox=box, **style)
        elif len(self.places):
            area = 26 * self._scale**2
            axes.scatter(*self.places.T, s=area, color=colour, edgecolors="white", linewidths=0.5, zorder=3)
        for root in self.roots:
            ring = {"facecolors": "none", "edgecolors": colour, "linewidths": 1.6}
            axes.scatter(*self.places[at[root]], s=200, color="white", zorder=2)  # a ring is seen among many lines too
            axes.scatter(*self.places[at[root]], s=130, zorder=5, gid=f"root-{root}", **ring)
        size = max(7 * self._scale, 4.5)
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "color": NUMBER_INK, "zorder": 6}
        if self._line_scale < 1:  # a number may have to be written over lines
            look["bbox"] = {"boxstyle": "round,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
        for node in numbered:
            aside = self._aside(pairs, node)
            axes.annotate(str(node), self.places[at[node]], xytext=aside, textcoords="offset points", **look)
        if len(self.places):
            low, high = self.places.min(0), self.places.max(0)
            room = NODE_MARGIN * max(float((high - low).max()), 0.5)
            axes.update_datalim([low - room, high + room])
            axes.autoscale_view()

    def _aside(self, pairs: Pairs, node: int) -> tuple[float, float]:
        """Where the number of a node is written, in points from it: in the widest gap between its lines."""
        own = (pairs.ends == node).any(0).numpy() & self.excerpt.kept
        around = pairs.ends[:, own].numpy()
        lines = self.places[np.searchsorted(self.excerpt.nodes, around.sum(0) - node)]
        lines = lines - self.places[np.searchsorted(self.excerpt.nodes, node)]
        turns = np.exp(1j * (np.pi / 4 + np.arange(16) * np.pi / 8))
        edges = lines[:, 0] + 1j * lines[:, 1]
        gaps = np.abs(np.angle(turns[:, None] / edges[None])).min(1, initial=np.pi)
        best = turns[gaps.argmax()] * (11 if node in self.roots else 8)
        return 1.4 * float(best.real), float(best.imag)  # numbers are wider than high

    def _numbered(self, pairs: Pairs) -> list[int]:
        """The nodes whose numbers are written beside them; names are labels of their own."""
        gone = pairs.ends[:, pairs.removed & torch.from_numpy(self.excerpt.kept)].unique().tolist()
        return [] if self.names else sorted(self.options.numbered(self.excerpt.nodes.tolist(), self.roots, gone))


def _names(graph: Data, nodes: list[int], options: DrawingOptions) -> tuple[str, ...]:
    """What is written at every node drawn instead of a dot; empty without names, or if there are too many nodes.

    These are the user's own names, or the kinds of nodes, with their numbers where the options ask for them.
    """
    x, own = graph.get("x"), graph.get("node_names")
    if len(nodes) > MOST_NAMES:
        return ()
    if isinstance(own, list | tuple) and len(own) == graph.num_nodes:
        return tuple(shortened(str(own[node]), LONGEST_NODE_NAME) for node in nodes)
    kinds = options.node_names
    if not kinds or x is None or x.dim() != 2 or x.size(1) > len(kinds):
        return ()
    numbered, label = options.numbered(nodes, (), ()), node_label(graph, kinds)
    plain = [kinds[place] for place in x[torch.tensor(nodes, dtype=torch.long)].argmax(1).tolist()]
    texts = (label(node) if node in numbered else kind for node, kind in zip(nodes, plain, strict=True))
    return tuple(shortened(text, LONGEST_NODE_NAME) for text in texts)
