"""`rcexplainer evaluate --model`: methods on a trained network, a user's own or a file of ours."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.archive import EVERYTHING
from rcexplainer.benchmark.methods import chosen
from rcexplainer.benchmark.own_evaluation import OwnEvaluation, evaluate_own
from rcexplainer.cli.explanations import explainer_file, open_explainer
from rcexplainer.cli.instance_index import in_whole, places_of
from rcexplainer.cli.own_network import find_network
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.saving.documents import write_document


def evaluate_named(
    model: str,
    *,
    dataset: str | None = None,
    graphs: str | None = None,
    task: str | None = None,
    index: Sequence[str] | None = None,
    explainer: Path | None = None,
    methods: str | None = None,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    root: Path | None = None,
    out: Path | None = None,
    device: str | None = None,
    progress: bool = True,
) -> OwnEvaluation:
    """Measure methods on the network and the graphs that a command line names.

    Args:
        model: File of a network, or `module:function`.
        dataset: Name of a dataset.
        graphs: `module:function`, in place of a dataset.
        task: graph, node or link; None: as the dataset is, else graph.
        index: The values of `--index`, the held-out instances; None: the test part.
        explainer: File of a saved explainer to measure.
        methods: Names with commas between them, or all; None: RCExplainer, or the saved explainer alone.
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        seed: Of the split and of the methods.
        root: Folder of downloaded datasets.
        out: Folder to write the document to.
        device: Where methods are run on graphs; the CPU by default.
        progress: Show progress bars.

    Raises:
        RCExplainerError: Something named does not exist, or things do not belong together.
    """
    if methods is not None:
        chosen(methods)  # a wrong name, or a wrong setting, costs no time
    RCExplainer(preset=preset, **(settings or {}))
    if explainer is not None:
        explainer_file(explainer)
    network = find_network(model, dataset=dataset, graphs=graphs, task=task, seed=seed or None, root=root)
    data = network.data
    saved = {} if explainer is None else {explainer.name: open_explainer(explainer, network.model, None)}
    for fitted in saved.values():
        if fitted.split.task != data.task:
            raise RCExplainerError(f"{explainer} is for {fitted.split.task} prediction: use --task {fitted.split.task}")
    held_out = None
    if index is not None:
        places = places_of(index, data.task)
        if places is None:
            raise RCExplainerError("--index all would leave nothing to fit on: name the held-out instances")
        held_out = [one.position for one in in_whole(data, None, places)]
    result = evaluate_own(
        network.model,
        data,
        index=held_out,
        methods=methods,
        saved=saved,
        preset=preset,
        settings=settings,
        seed=network.seed,
        device=device,
        progress=progress,
    )
    if out is not None:
        write_document(out / EVERYTHING, result.to_json() | {"model": model})
    return result
