"""An explainer for a saved network: fitted on the training part, stopped by the validation part, saved to a file."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.accuracy import versions
from rcexplainer.cli.saved_network import open_network
from rcexplainer.core.region_summary import RegionSummaries
from rcexplainer.explainer import RCExplainer
from rcexplainer.saving.documents import writable_file

MOST_SUMMARISED = 500  # validation graphs that are explained for the summary of the regions
SUMMARY_COLUMNS = (
    "given: validation graphs in the region; margin: their median distance from the nearest boundary, in units of its "
    "scale, and the smallest one"
)


@dataclass(frozen=True)
class FitReport:
    """How fitting an explainer went.

    Attributes:
        dataset: Name of the dataset.
        model: File of the network.
        explainer: File of the explainer.
        seed: Seed of the split and of the fit.
        preset: Name of the preset.
        settings: All settings as used; after a collapse they are safer than those asked for.
        graphs: Number of training graphs.
        validation: Number of validation graphs.
        regions: Each decision region: its class, numbers of boundaries, covered graphs and intruders, the classes that
            border it, and the validation graphs in it: their margins, and the edges their counterfactuals delete.
        summary: The regions as a table.
        epochs: Epochs trained.
        validation_loss: The lowest one.
        seconds: Time of the fit.
    """

    dataset: str
    model: str
    explainer: str
    seed: int
    preset: str
    settings: dict[str, Any]
    graphs: int
    validation: int
    regions: tuple[dict[str, Any], ...]
    summary: str
    epochs: int
    validation_loss: float
    seconds: float

    def row(self) -> dict[str, Any]:
        """Return the numbers that fit on a line."""
        return {
            "graphs": self.graphs,
            "validation": self.validation,
            "regions": len(self.regions),
            "epochs": self.epochs,
            "seconds": round(self.seconds, 1),
            "validation_loss": self.validation_loss,
        }

    def caption(self) -> str:
        """Return the regions, and where everything is."""
        return (
            f"{self.summary}\n{SUMMARY_COLUMNS}\n\nfitted for {self.model} on {self.dataset}, saved in {self.explainer}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints."""
        return {key: value for key, value in asdict(self).items() if key != "summary"} | {"versions": versions()}


def fit_saved(
    dataset: str,
    model: Path,
    out: Path,
    *,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    checkpoint: Path | None = None,
    seed: int | None = None,
    root: Path | None = None,
    device: str | None = None,
    progress: bool = True,
) -> FitReport:
    """Fit an explainer for a saved network and save it.

    Args:
        dataset: Name of the dataset the network was trained on.
        model: File of the network.
        out: File of the explainer.
        preset: Name of the preset.
        settings: Fields of `RCConfig` that differ from the preset.
        checkpoint: File with the state of the fit, from which a killed run goes on.
        seed: As for `open_network`.
        root: Folder of downloaded datasets.
        device: Device to fit on; the CPU by default.
        progress: Show progress bars.

    Returns:
        What was fitted, and how it went.

    Raises:
        RCExplainerError: A setting, a file or the device cannot be used, or network and dataset do not belong together.
    """
    explainer = RCExplainer(preset=preset, **(settings or {}))  # first: a wrong setting costs no time
    writable_file(out)
    if checkpoint is not None:
        writable_file(checkpoint, "--checkpoint")
    network = open_network(dataset, model, seed, root=root)
    data = network.data
    training, validation = data.subset("train"), data.subset("val")
    started = time.perf_counter()
    fitted = explainer.fit(
        network.model,
        training,
        val=validation or None,
        class_names=data.class_names,
        checkpoint=checkpoint,
        seed=network.seed,
        progress=progress,
        device=device,
    )
    seconds = time.perf_counter() - started
    fitted.save(out)
    shown = fitted.explain((validation or training)[:MOST_SUMMARISED], on_error="keep")
    summary = fitted.region_summary(shown, node_names=data.node_names)
    return FitReport(
        dataset=data.name,
        model=str(model),
        explainer=str(out),
        seed=network.seed,
        preset=preset,
        settings=asdict(fitted.config),
        graphs=len(training),
        validation=len(validation),
        regions=_regions(summary),
        summary=str(summary),
        epochs=len(fitted.history),
        validation_loss=min((epoch.val for epoch in fitted.history), default=float("nan")),
        seconds=seconds,
    )


def _regions(summary: RegionSummaries) -> tuple[dict[str, Any], ...]:
    """The decision regions as JSON values."""
    names = summary.class_names
    return tuple(
        {
            "class": names[one.label],
            "boundaries": one.boundaries,
            "covered": one.covered,
            "intruders": one.intruders,
            "borders": {names[label]: number for label, number in one.borders},
            "members": one.members,
            "margin": one.margin,
            "smallest_margin": one.smallest_margin,
            "deleted": dict(one.deleted),
        }
        for one in summary
    )
