"""The demo: built-in molecules, a network trained on them, and the bonds without which its prediction changes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcexplainer.cli.explanation_record import edge_labels, explanation_record, prediction_text
from rcexplainer.datasets import GraphDataset, load
from rcexplainer.explainer import RCExplainer
from rcexplainer.explanation import Explanation
from rcexplainer.gnn import TrainConfig, TrainedGNN, gnn_config, train_gnn
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.viz.page.page_file import page

DEMO_TRAINING = TrainConfig(epochs=60, patience=20)
DEMO_EPOCHS = 30  # of the explainer: half of the default is enough for these molecules
POSITIVE = 1  # the class of molecules with an NO2 or NH2 on an aromatic ring
MOLECULES_SHOWN = 8


@dataclass(frozen=True, eq=False)
class MoleculeDemo:
    """A network trained on molecules, and explanations of all test molecules.

    Attributes:
        data: The molecules.
        trained: The network.
        fitted: The explainer.
        explanations: One per test molecule, each with a counterfactual.
    """

    data: GraphDataset
    trained: TrainedGNN
    fitted: FittedExplainer
    explanations: tuple[Explanation, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a line for each of the first test molecules that are predicted positive."""
        positive = [(place, one) for place, one in enumerate(self.explanations) if one.prediction == POSITIVE]
        return [self._row(place, one) for place, one in positive[:MOLECULES_SHOWN]]

    def _row(self, place: int, one: Explanation) -> dict[str, Any]:
        """One molecule: its prediction, the bonds to remove, and the prediction without them."""
        counterfactual = one.counterfactual
        assert counterfactual is not None  # only search="none" leaves it out
        return {
            "molecule": place,
            "bonds": len(one.units),
            "predicted": prediction_text(self.data.class_names, one.prediction, one.probabilities),
            "without": ", ".join(edge_labels(one, one.removed_units, self.data.node_names)) or "–",
            "then": prediction_text(self.data.class_names, counterfactual.prediction, counterfactual.probabilities),
            "flipped": counterfactual.flipped,
        }

    def caption(self) -> str:
        """Return what the table shows, in a few sentences."""
        cases = [one.counterfactual for one in self.explanations if one.prediction == POSITIVE]
        flipped = sum(case is not None and case.flipped for case in cases)
        accuracy = self.trained.accuracy["test"]
        return (
            f"Is there an NO2 or NH2 on an aromatic ring? The network is right on {accuracy:.1%} of "
            f"{len(self.explanations)} held-out molecules. Without the bonds listed, the prediction changes: verified "
            f"for {flipped} of {len(cases)} positives. Lower-case atoms are aromatic."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints."""
        return self._about() | {
            "positives": self.rows(),
            "flipped": [bool(one.counterfactual and one.counterfactual.flipped) for one in self.explanations],
        }

    def document(self) -> dict[str, Any]:
        """Return the document that is saved: every test molecule; `molecule` is its place among them."""
        return self._about() | {
            "explanations": [
                {"molecule": place, **explanation_record(one, self.data)} for place, one in enumerate(self.explanations)
            ],
        }

    def write_page(self, path: Path) -> Path:
        """Write the page: every test molecule, with the network's real predictions after deletions.

        Args:
            path: The file.

        Returns:
            The path.
        """
        return page(
            self.explanations,
            path,
            self.fitted,
            title="An NO2 or NH2 on an aromatic ring? Held-out molecules, explained",
            node_names=self.data.node_names,
            edge_names=self.data.edge_names,
        )

    def _about(self) -> dict[str, Any]:
        """What both documents begin with."""
        return {"dataset": self.data.name, "seed": self.trained.seed, "accuracy": self.trained.accuracy}


def run_demo(seed: int = 0, progress: bool = True) -> MoleculeDemo:
    """Load the molecules, train the network, fit the explainer and explain the test molecules.

    Args:
        seed: Draws the molecules, the split and all weights.
        progress: Show progress bars.

    Returns:
        The network and its explanations.
    """
    data = load("nitro", seed=seed)
    config = gnn_config("paper", data.num_features, data.num_classes)
    trained = train_gnn(config, data.graphs, data.split, settings=DEMO_TRAINING, seed=seed, progress=progress)
    fitted = RCExplainer(epochs=DEMO_EPOCHS).fit(
        trained.model,
        data.subset("train"),
        val=data.subset("val"),
        class_names=data.class_names,
        seed=seed,
        progress=progress,
    )
    explained = fitted.explain(data.subset("test"), search="greedy")
    return MoleculeDemo(data, trained, fitted, tuple(one for one in explained if isinstance(one, Explanation)))
