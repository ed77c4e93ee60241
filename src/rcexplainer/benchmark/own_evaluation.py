"""Methods on a user's trained model: fidelity, flips and counterfactuals on held-out instances."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn
from tqdm.auto import tqdm

from rcexplainer import __version__
from rcexplainer.benchmark.accuracy import versions
from rcexplainer.benchmark.archive import Archive
from rcexplainer.benchmark.cost import clocked, milliseconds
from rcexplainer.benchmark.groups import explained_at_random
from rcexplainer.benchmark.measures import NAN
from rcexplainer.benchmark.methods import METHODS, REFERENCES, chosen
from rcexplainer.benchmark.motif_directions import MOTIF_NUMBERS, direction_text, known_direction
from rcexplainer.benchmark.motif_masks import MotifMasks, with_bool_masks
from rcexplainer.benchmark.own_case import HeldOut, OwnCase
from rcexplainer.benchmark.results import OURS
from rcexplainer.datasets import GraphDataset
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.metrics import MotifDirection
from rcexplainer.metrics.fidelity import Fidelity, fidelity
from rcexplainer.metrics.flips import Counterfactuals, counterfactuals
from rcexplainer.saving.checkpoint import digest
from rcexplainer.saving.fingerprint import weights_digest
from rcexplainer.tasks.index import Pair

OWN_SPARSITIES = (0.9, 0.8, 0.7)
OWN_COLUMNS = (
    "at .90, .80, .70: fidelity ↑, the probability lost when the top edges are deleted, at these sparsities; flips ↑: "
    "share whose class then changes; flipped ↑: share with a verified counterfactual among prefixes of the ranking, "
    "size ↓: its median edges, minimal ↑: share of these from which no edge can be spared; ms ↓ for one instance"
)

Fit = Callable[[], FittedExplainer]


@dataclass(frozen=True)
class OwnResult:
    """One method on the held-out instances.

    Attributes:
        method: Its name, or the file of a saved explainer.
        instances: Number of instances explained.
        failed: Number of instances that could not be explained.
        fidelity: The drop of p(predicted class), and the share of flips, when the top edges are deleted.
        counterfactuals: What the search found, starting from the method's ranking.
        fit_seconds: Time of the fit; 0 for a saved explainer.
        seconds: Time for one instance, search included, all in one call.
        skipped: Why the method was not measured; None where it was.
    """

    method: str
    instances: int = 0
    failed: int = 0
    fidelity: Fidelity | None = None
    counterfactuals: Counterfactuals | None = None
    fit_seconds: float = 0.0
    seconds: float = float("nan")
    skipped: str | None = None

    def row(self) -> dict[str, Any]:
        """Return a line of the table; a method that was skipped has a name only."""
        if self.fidelity is None or self.counterfactuals is None:
            return {"method": self.method}
        drops = {f"at_{share:.2f}": drop for share, drop in zip(OWN_SPARSITIES, self.fidelity.drop, strict=True)}
        return {
            "method": self.method,
            "instances": self.instances,
            **drops,
            "flips_at_0.80": self.fidelity.flips[OWN_SPARSITIES.index(0.8)],
            "flipped": self.counterfactuals.flipped,
            "size": self.counterfactuals.size,
            "minimal": self.counterfactuals.minimal,
            "ms": milliseconds(self.seconds),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        document = asdict(self)
        if document["fidelity"] is not None:
            del document["fidelity"]["each"]
        return document


@dataclass(frozen=True)
class OwnEvaluation:
    """Methods on one model.

    Attributes:
        dataset: Name of the graphs.
        task: What the instances are.
        seed: Of the split and of the methods.
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        part: Which instances are held out, in words.
        learnt: Number of instances to fit on.
        validation: Number of instances for early stopping.
        held_out: Number of held-out instances.
        results: One per method.
        saved: Files of saved explainers among the methods.
        motif: Which way the edges of the held-out instances' motifs push the prediction, nan where that cannot be told;
            None: no graph has an `edge_motif`.
        masks: What the held-out graphs have by that name; None: nothing.
    """

    dataset: str
    task: str
    seed: int
    preset: str
    settings: dict[str, Any]
    part: str
    learnt: int
    validation: int
    held_out: int
    results: tuple[OwnResult, ...]
    saved: tuple[str, ...] = ()
    motif: MotifDirection | None = None
    masks: MotifMasks | None = None

    def tables(self) -> list[tuple[list[dict[str, Any]], str]]:
        """Return the rows of the one table, and its caption."""
        good = [one.row() for one in self.results if one.skipped is None]
        left_out = [{"method": one.method, "reason": one.skipped} for one in self.results if one.skipped is not None]
        stopping = self.validation or "a tenth of these"
        caption = (
            f"held out: {self.held_out} {self.task}s of {self.dataset}, {self.part}; methods are fitted on "
            f"{self.learnt} others, with {stopping} for early stopping. {OWN_COLUMNS}"
        ) + self._motif_text()
        if self.saved:
            caption += (
                f". {', '.join(self.saved)} was fitted before: these instances are held out for it only if it was "
                "fitted on the training part of the same split"
            )
        return [(good, caption), *([(left_out, "not measured")] if left_out else [])]

    def _motif_text(self) -> str:
        """Which way the motif's edges push, or why that is not known; nothing where no graph has one."""
        if self.motif is None or self.masks is None:
            return ""
        if self.motif.supports == self.motif.supports:
            return f". {direction_text(self.motif)}{self.masks.left_out()}"
        more = "" if self.task == "graph" else f", beside {' and '.join(MOTIF_NUMBERS)}"
        wanted = f"it must be a bool for each edge, true for some of those held out{more}"
        return f". edge_motif is not used: {wanted}; {self.masks.reason()}"

    def to_json(self) -> dict[str, Any]:
        """Return the document that `--json` prints."""
        results = [one.to_json() for one in self.results]
        return {**asdict(self), "results": results, "versions": versions()}


def evaluate_own(
    model: nn.Module,
    data: GraphDataset,
    *,
    index: Sequence[int | Pair] | None = None,
    methods: str | Sequence[str] | None = None,
    saved: Mapping[str, FittedExplainer] | None = None,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str | None = None,
    call: Mapping[str, Any] | None = None,
    out: Path | None = None,
    identity: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> OwnEvaluation:
    """Fit methods to a trained model, and measure them on instances they were not fitted on.

    Args:
        model: The trained network, on the CPU.
        data: Its graphs, such as `own_dataset` makes them.
        index: The held-out instances: all others are fitted on. None: the test part of the split.
        methods: Names, or "all"; None: RCExplainer, or the saved explainers alone where there are any. Greedy deletion,
            occlusion and random order stand beside them.
        saved: Explainers that are fitted already, by name.
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        seed: Of methods that draw random numbers.
        device: Where methods are run on graphs; None: the CPU.
        call: `head`, `forward` and `output` of the network, as for `Method.fit`; found where left out.
        out: A folder that keeps every result as soon as it is there. Started again with the same arguments, the
            evaluation goes on from there; methods may be added.
        identity: What else results depend on, as JSON values, such as hashes of the files of saved explainers.
        progress: Show progress bars.

    Returns:
        The results; `.tables()` for a terminal, `.to_json()` for everything.

    Raises:
        RCExplainerError: A method is unknown, there is nothing to fit on or nothing held out, or `out` holds another
            evaluation.
    """
    ready = dict(saved or {})
    names = chosen(methods) if methods is not None else ([*([] if ready else [OURS]), *REFERENCES])
    data = with_bool_masks(data)
    held_out = HeldOut.of(data, index)
    own = dict(settings or {})
    arguments = {
        "dataset": data.name,
        "model": weights_digest(model),
        "data": digest(data.graphs),
        "held_out": hashlib.sha256(str([part.tolist() for part in vars(held_out).values()]).encode()).hexdigest(),
        "preset": preset,
        "settings": own,
        "call": {name: str(value) for name, value in (call or {}).items() if not callable(value)},
        "seed": seed,
        "device": device,
        "version": __version__,
        **(identity or {}),
    }
    archive = Archive.of(out, arguments)
    case = OwnCase.made(
        model, data, held_out, seed=seed, preset=preset, settings=own, device=device, call=call or {},
        unfinished=archive.unfinished,
    )  # fmt: skip
    fits: dict[str, Fit] = {name: partial(_ready, one) for name, one in ready.items()}
    fits |= {name: partial(METHODS[name].fit, case, False) for name in names}
    with archive.held():
        _ = case.split  # a model that cannot be explained is refused before any method is fitted
        bar = tqdm(fits.items(), desc="methods", unit="method", disable=not progress)
        results = [_kept(archive, case, name, fit) for name, fit in bar]
        motif = _motif(archive, case)
        evaluation = OwnEvaluation(
            data.name,
            data.task,
            seed,
            preset,
            own,
            f"the test part of the split by seed {seed}" if index is None else "those that were named",
            len(held_out.learnt),
            len(held_out.validation),
            len(held_out.explained),
            tuple(results),
            tuple(ready),
            motif,
            None if motif is None else MotifMasks.of(data, [0] if case.within else held_out.explained.tolist()),
        )
        archive.finish(evaluation.to_json())
    return evaluation


def _kept(archive: Archive, case: OwnCase, name: str, fit: Fit) -> OwnResult:
    """One method: as it is kept, or measured now; a package that is missing may be there the next time."""
    try:
        return archive.get(OwnResult, f"{case.seed}-{name}", partial(_measured, case, name, fit))
    except MissingExtraError as error:
        return OwnResult(name, skipped=" ".join(str(error).split()))


def _motif(archive: Archive, case: OwnCase) -> MotifDirection | None:
    """Which way the motif's edges push, as it is kept or measured now; None where no graph has an `edge_motif`."""
    if not any("edge_motif" in graph for graph in case.data.graphs):
        return None
    return archive.get(MotifDirection, f"{case.seed}-motif", partial(_direction, case))


def _direction(case: OwnCase) -> MotifDirection:
    ones = list(explained_at_random(case, case.some(None)).values())
    return known_direction(case.split, ones) or MotifDirection(NAN, NAN, NAN)


def _ready(fitted: FittedExplainer) -> FittedExplainer:
    """An explainer that is fitted already."""
    return fitted


def _measured(case: OwnCase, name: str, fit: Fit) -> OwnResult:
    """One method; one that cannot explain this model is skipped, with the reason."""
    try:
        fitted, fit_seconds = clocked(fit)
    except MissingExtraError:
        raise
    except RCExplainerError as error:
        return OwnResult(name, skipped=" ".join(str(error).split()))
    places = case.some(METHODS[name].caps.most if name in METHODS else None)
    ones, seconds = clocked(lambda: case.explain(fitted, places, "prefix"))
    if not ones:
        return OwnResult(name, failed=len(places), skipped=f"none of {len(places)} instances could be explained")
    return OwnResult(
        name,
        len(ones),
        len(places) - len(ones),
        fidelity(case.split, ones, OWN_SPARSITIES),
        counterfactuals(ones),
        0.0 if name not in METHODS else fit_seconds,
        seconds / len(places),
    )
