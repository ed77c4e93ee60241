"""An explained molecule as RDKit draws it, with bond orders and charges, and its counterfactual in the same places.

    a band behind a bond   its score: the wider and darker, the higher
    a cross, and dashes    bonds that the counterfactual deletes; grey if the search failed
    a small number         the node of the atom
    a green outline         the motif, where it is known (`graph.edge_motif`)

Hydrogens that are nodes of the graph are folded into their atoms, unless their bond is deleted, in a motif or has a
high score.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from rcexplainer.errors import require
from rcexplainer.explanation import Explanation
from rcexplainer.viz.drawing_options import DEFAULT_OPTIONS, DrawingOptions
from rcexplainer.viz.explained_pairs import explained_pairs
from rcexplainer.viz.layout import Places
from rcexplainer.viz.molecule_reading import HYDROGEN, drawn_molecule
from rcexplainer.viz.pairs import Pairs
from rcexplainer.viz.palette import DELETED, FAILED, INK, MOTIF, NUMBER_INK, band_colour, deletion_looks, motif_handle
from rcexplainer.viz.search_outcome import counted
from rcexplainer.viz.svg_paths import add_shape, read_shapes

HIGH_SCORE = 0.5  # stretched score from which a hydrogen is drawn as an atom
CANVAS_PIXELS = 30.0  # of RDKit's canvas, per ångström
ATOM_MARGIN = 0.9  # around the atoms, in ångström: room for their text
BOND_DASHES = (0, (1.6, 1.0))
LEAST_EXTENT = 6.5  # ångström that a panel shows at least: small molecules are not blown up
NUMBER_SIZE = 0.033  # of the numbers of atoms, as a share of the panel: a symbol has about 0.6 ångström
CAVEAT = "the graph the model was asked about, not a proposal for a synthesis"


@dataclass(frozen=True, eq=False)
class MoleculeDrawing:
    """The depiction of one molecule, shared by all drawings of it.

    Attributes:
        mol: RDKit's molecule with coordinates; some hydrogens are folded into their atoms.
        atoms: The atom of each node; −1 for a folded hydrogen.
        places: [nodes, 2] the coordinates of each node; a folded hydrogen is where its atom is.
        options: What is shown at atoms and bonds.
    """

    mol: Any
    atoms: tuple[int, ...]
    places: Places
    options: DrawingOptions

    noun = "bond"

    @classmethod
    def of(
        cls, explanations: Sequence[Explanation], options: DrawingOptions = DEFAULT_OPTIONS
    ) -> "MoleculeDrawing | None":
        """Lay out a molecule.

        Args:
            explanations: Explanations of this molecule; which hydrogens are drawn depends on all of them.
            options: What is shown at atoms and bonds; elements and kinds of bonds, if the graph does not say them.

        Returns:
            The drawing; None if the graph cannot be read as a molecule.

        Raises:
            MissingExtraError: If RDKit is not installed.
        """
        if explanations[0].index is not None:
            return None
        mol = drawn_molecule(explanations[0].graph, options.node_names, options.edge_names)
        if mol is None:
            return None
        important: set[int] = set()
        ends: set[int] = set()
        for one in explanations:
            pairs, scores = explained_pairs(one, options.reading)
            ends |= set(pairs.ends[:, pairs.removed].flatten().tolist())
            own = pairs.removed | (scores > HIGH_SCORE) | (pairs.kind >= 0)
            important |= set(pairs.ends[:, own].flatten().tolist())
        mol, atoms, owners = _folded(mol, important)
        for node in options.numbered([node for node, atom in enumerate(atoms) if atom >= 0], (), ends):
            mol.GetAtomWithIdx(atoms[node]).SetProp("atomNote", str(node))
        require("rdkit.Chem.rdDepictor", "chem").Compute2DCoords(mol)
        where = mol.GetConformer().GetPositions()[:, :2]
        return cls(mol, atoms, where[list(owners)], options)

    @property
    def notes(self) -> list[str]:
        """What the drawing folds away."""
        hidden = self.atoms.count(-1)
        return [f"Not drawn as atoms: {counted(hidden, 'hydrogen')}."] if hidden else []

    def fragment_note(self, one: Explanation) -> str:
        """Say what the molecule without its deleted bonds is.

        Args:
            one: The explanation; it has a counterfactual.

        Returns:
            The sentence under the drawing.
        """
        frags = require("rdkit.Chem", "chem").GetMolFrags
        pieces = len(frags(self._cut(one)))
        if pieces > len(frags(self.mol)):
            return f"{pieces} fragments: {CAVEAT}"
        return CAVEAT.capitalize()

    def draw_scores(self, axes: Any, one: Explanation) -> None:
        """Draw the molecule: its scores, the deleted bonds, the motif.

        Args:
            axes: matplotlib axes.
            one: The explanation.
        """
        pairs, scores = explained_pairs(one, self.options.reading)
        colour = FAILED if one.counterfactual is not None and not one.counterfactual.flipped else DELETED
        self._draw_bands(axes, pairs, scores)
        gone = {tuple(self.atoms[node] for node in pair) for pair in pairs.ends[:, pairs.removed].t().tolist()}
        bonds = {
            bond.GetIdx()
            for bond in self.mol.GetBonds()
            if gone & {(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()), (bond.GetEndAtomIdx(), bond.GetBeginAtomIdx())}
        }
        self._depict(axes, self.mol, INK, bonds, colour)
        for line in pairs.removed.nonzero().flatten().tolist():
            middle = self._ends(pairs, line).mean(0)
            gid = f"deleted-{'-'.join(map(str, pairs.ends[:, line].tolist()))}"
            axes.plot(*middle, "x", ms=9, mew=4.4, color="white", zorder=4)
            axes.plot(*middle, "x", ms=8, mew=2.2, color=colour, zorder=5, gid=gid)

    def draw_counterfactual(self, axes: Any, one: Explanation) -> None:
        """Draw the molecule without the deleted bonds.

        Args:
            axes: matplotlib axes.
            one: The explanation; it has a counterfactual.
        """
        failed = one.counterfactual is not None and not one.counterfactual.flipped
        self._depict(axes, self._cut(one), "#9A9A9A" if failed else INK, set(), INK)

    def legend(self, outcomes: Collection[bool], motif: bool) -> list[Any]:
        """Return matplotlib's handles of what the drawing contains; `outcomes`: as for `deletion_looks`."""
        line = require("matplotlib.lines", "figures").Line2D
        word = "score" if self.options.reading == "scores" else self.options.reading
        handles = [
            line([], [], color=band_colour(1.0), linewidth=9, label=f"highest {word}"),
            line([], [], color=band_colour(0.25), linewidth=4, label=f"low {word}"),
        ]
        cross = {"marker": "x", "markersize": 7, "markeredgewidth": 2.2}
        for colour, label in deletion_looks(outcomes):
            handles.append(line([], [], color=colour, linestyle=BOND_DASHES, linewidth=1.4, label=label, **cross))
        if motif:
            handles.append(motif_handle(line))
        return handles

    def _cut(self, one: Explanation) -> Any:
        """The molecule without the deleted bonds; nothing else changes."""
        cut = require("rdkit.Chem", "chem").RWMol(self.mol)
        for start, end in one.units.pair[:, one.removed_units].t().tolist():
            cut.RemoveBond(self.atoms[start], self.atoms[end])
        cut.UpdatePropertyCache(strict=False)
        require("rdkit.Chem", "chem").GetSymmSSSR(cut)
        return cut.GetMol()

    def _ends(self, pairs: Pairs, line: int) -> Places:
        """The coordinates of the two atoms of a bond, [2, 2]."""
        return self.places[pairs.ends[:, line].numpy()]

    def _draw_bands(self, axes: Any, pairs: Pairs, scores: Tensor) -> None:
        """Draw the outline of the motif, then a band for every score."""
        scale = self._scale
        for colour, width, name in ((MOTIF, 14.0 * scale + 2.4, "motif"), ("white", 14.0 * scale, "inside")):
            for line in (pairs.kind >= 0).nonzero().flatten().tolist():
                gid = f"{name}-{'-'.join(map(str, pairs.ends[:, line].tolist()))}"
                axes.plot(*self._ends(pairs, line).T, color=colour, lw=width, solid_capstyle="round", zorder=0, gid=gid)
        for line in scores.argsort(stable=True).tolist():
            score = float(scores[line])
            if -1 in (self.atoms[node] for node in pairs.ends[:, line].tolist()):
                continue  # the bond of a folded hydrogen
            gid = f"edge-{'-'.join(map(str, pairs.ends[:, line].tolist()))}"
            band = {"color": band_colour(score), "lw": scale * (2 + 10 * score), "solid_capstyle": "round"}
            axes.plot(*self._ends(pairs, line).T, zorder=1, gid=gid, **band)

    @property
    def _scale(self) -> float:
        """Bands of large molecules are narrower, as their bonds are shorter on paper."""
        return float(np.clip(12.0 / self._extent, 0.45, 1.0))

    @property
    def _extent(self) -> float:
        """The larger side of the drawing, in ångström."""
        return max(float(np.ptp(self.places, axis=0).max(initial=0.0)), LEAST_EXTENT)

    def _depict(self, axes: Any, mol: Any, ink: str, marked: set[int], mark: str) -> None:
        """Let RDKit draw a molecule, and put its lines and texts where the atoms are in data coordinates."""
        module = require("rdkit.Chem.Draw.rdMolDraw2D", "chem")
        canvas = module.MolDraw2DSVG(-1, -1)  # the canvas grows with the molecule: the scale is always the same
        looks = canvas.drawOptions()
        looks.clearBackground, looks.prepareMolsBeforeDrawing, looks.scalingFactor = False, False, CANVAS_PIXELS
        looks.includeRadicals, looks.annotationFontScale = False, NUMBER_SIZE * self._extent / 0.6
        looks.useBWAtomPalette()
        canvas.DrawMolecule(mol)
        canvas.FinishDrawing()
        at = mol.GetConformer().GetPositions()[0, :2]
        pixel = canvas.GetDrawCoords(0)
        for shape in read_shapes(canvas.GetDrawingText()):
            points = (shape.points - (pixel.x, pixel.y)) * (1, -1) / CANVAS_PIXELS + at
            own = shape.bond in marked
            colour = NUMBER_INK if shape.note else mark if own else ink
            add_shape(axes, shape, points, colour, 1.4, BOND_DASHES if own else "-")
        centre, half = (self.places.max(0) + self.places.min(0)) / 2, np.ptp(self.places, axis=0) / 2 + ATOM_MARGIN
        half = np.maximum(half, LEAST_EXTENT / 2)
        axes.update_datalim([centre - half, centre + half])
        axes.autoscale_view()


def _folded(mol: Any, important: set[int]) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The molecule with its unimportant hydrogens in the text of their atoms.

    Also the atom of each node, −1 for a folded hydrogen, and the atom at whose place the node is.
    """
    editable = require("rdkit.Chem", "chem").RWMol(mol)
    host = {}
    for atom in mol.GetAtoms():
        near = [other for other in atom.GetNeighbors() if other.GetAtomicNum() != HYDROGEN]
        alone = atom.GetDegree() == len(near) == 1
        if atom.GetAtomicNum() == HYDROGEN and alone and atom.GetIdx() not in important:
            host[atom.GetIdx()] = near[0].GetIdx()
    for owner in host.values():
        atom = editable.GetAtomWithIdx(owner)
        atom.SetNumExplicitHs(atom.GetNumExplicitHs() + 1)
    for node in sorted(host, reverse=True):
        editable.RemoveAtom(node)
    kept = [node for node in range(mol.GetNumAtoms()) if node not in host]
    number = {node: place for place, node in enumerate(kept)}
    folded = editable.GetMol()
    folded.UpdatePropertyCache(strict=False)
    require("rdkit.Chem", "chem").GetSymmSSSR(folded)
    atoms = tuple(number.get(node, -1) for node in range(mol.GetNumAtoms()))
    owners = tuple(number[host.get(node, node)] for node in range(mol.GetNumAtoms()))
    return folded, atoms, owners
