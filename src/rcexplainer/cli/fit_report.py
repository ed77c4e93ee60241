"""An explainer for a trained network: fitted on the training part, stopped by the validation part, saved to a file."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.accuracy import versions
from rcexplainer.cli.class_number import with_class_number
from rcexplainer.cli.fit_inputs import fit_dataset, fit_table
from rcexplainer.cli.named_inputs import NamedInputs, TableFiles
from rcexplainer.cli.options import OF_EXPLAINER
from rcexplainer.cli.own_network import call_arguments
from rcexplainer.config import make_config
from rcexplainer.core.region_summary import RegionSummaries
from rcexplainer.explainer import RCExplainer
from rcexplainer.gnn.device import usable_device
from rcexplainer.saving.documents import UNFINISHED, writable_file
from rcexplainer.saving.files import remove_file

SUMMARY_COLUMNS = (
    "given: validation {}s in the region; margin: their median distance from the nearest boundary, in units of its "
    "scale, and the smallest one"
)


@dataclass(frozen=True)
class FitReport:
    """How fitting an explainer went.

    Attributes:
        dataset: Name of the dataset.
        task: What its instances are.
        model: The network: a file or `module:function`.
        explainer: File of the explainer.
        part: What it was fitted on: train, or those of `--index`.
        seed: Seed of the split and of the fit.
        preset: Name of the preset.
        settings: All settings as used; after a collapse they are safer than those asked for.
        graphs: Number of training instances.
        validation: Number of validation instances; 0: a tenth of the training instances was held out.
        regions: Each decision region: its class, numbers of boundaries, covered graphs and intruders, the classes that
            border it, and the validation graphs in it: their margins, and the edges their counterfactuals delete.
        summary: The regions as a table.
        epochs: Epochs trained.
        head: The module where the model's head begins.
        output: Kind of numbers the model returns.
        forward: `module:function` that calls the model; None: a common convention fits.
        validation_loss: The lowest one.
        seconds: Time of the fit.
    """

    dataset: str
    task: str
    model: str
    explainer: str
    part: str
    seed: int
    preset: str
    settings: dict[str, Any]
    graphs: int
    validation: int
    regions: tuple[dict[str, Any], ...]
    summary: str
    epochs: int
    head: str
    output: str
    forward: str | None
    validation_loss: float
    seconds: float

    def row(self) -> dict[str, Any]:
        """Return the numbers that fit on a line."""
        return {
            f"{self.task}s": self.graphs,
            "validation": self.validation,
            "regions": len(self.regions),
            "epochs": self.epochs,
            "seconds": round(self.seconds, 1),
            "validation_loss": self.validation_loss,
        }

    def caption(self) -> str:
        """Return the regions, and where everything is."""
        return (
            f"{self.summary}\n{SUMMARY_COLUMNS.format(self.task)}\n\nfitted for {self.model} on the {self.part} "
            f"of {self.dataset}, saved in {self.explainer}; head: {self.head}, output: {self.output}"
            + ("" if self.forward is None else f"; explain and serve it with --forward {self.forward}, too")
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints."""
        return {key: value for key, value in asdict(self).items() if key != "summary"} | {"versions": versions()}


def fit_named(
    inputs: NamedInputs,
    out: Path,
    *,
    index: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    checkpoint: Path | None = None,
    progress: bool = True,
    table: TableFiles | None = None,
) -> FitReport:
    """Fit an explainer for a network that a command line names, and save it.

    Args:
        inputs: The network and its graphs.
        out: File of the explainer.
        index: The values of `--index`; None: the training part, with the validation part for early stopping.
        class_names: Names of the classes, for graphs without any.
        preset: Name of the preset.
        settings: Fields of `RCConfig` that differ from the preset; `hops`, and `target_class` by its number or name.
        checkpoint: File with the state of the fit, from which a killed run goes on; None: one beside `out`, which is
            gone when the explainer is there.
        progress: Show progress bars.
        table: Files of graphs, in place of a dataset.

    Returns:
        What was fitted, and how it went.

    Raises:
        RCExplainerError: A setting, a file or the device cannot be used, or network and graphs do not belong together.
    """
    settings = settings or {}
    make_config(preset, {name: value for name, value in settings.items() if name not in OF_EXPLAINER})  # costs no time
    usable_device(inputs.device)
    writable_file(out)
    if checkpoint is not None:
        writable_file(checkpoint, "--checkpoint")
    state = checkpoint or out.with_name(out.name + UNFINISHED)
    call = call_arguments(inputs)
    given = fit_table(inputs, table, class_names) if table is not None else fit_dataset(inputs, index, class_names)
    explainer = RCExplainer(task=given.task, preset=preset, **with_class_number(settings, given.class_names))
    started = time.perf_counter()
    fitted = explainer.fit(
        given.model,
        **given.arguments,
        class_names=given.class_names or None,
        checkpoint=state,
        seed=given.seed,
        progress=progress,
        device=inputs.device,
        **call,
    )
    seconds = time.perf_counter() - started
    fitted.save(out)
    if checkpoint is None:
        remove_file(state)
    summary = fitted.region_summary(given.explained(fitted), node_names=given.node_names)
    return FitReport(
        dataset=given.name,
        task=given.task,
        model=inputs.model,
        explainer=str(out),
        part=given.part,
        seed=given.seed,
        preset=preset,
        settings=asdict(fitted.config),
        graphs=given.training(),
        validation=given.validation,
        regions=_regions(summary),
        summary=str(summary),
        epochs=len(fitted.history),
        head=fitted.split.head_name,
        output=fitted.split.output,
        forward=inputs.forward,
        validation_loss=min((epoch.val for epoch in fitted.history), default=float("nan")),
        seconds=seconds,
    )


def _regions(summary: RegionSummaries) -> tuple[dict[str, Any], ...]:
    """The decision regions as JSON values."""
    names = summary.class_names or tuple(str(label) for label in range(1 + _highest(summary)))
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


def _highest(summary: RegionSummaries) -> int:
    """The highest class that a region is of, or borders on."""
    return max((label for one in summary for label in (one.label, *(other for other, _ in one.borders))), default=-1)
