"""`rcexplainer evaluate --model`: methods on a trained network, a user's own or a file of ours."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rcexplainer.benchmark.archive import EVERYTHING
from rcexplainer.benchmark.methods import chosen
from rcexplainer.benchmark.own_evaluation import OwnEvaluation, evaluate_own
from rcexplainer.cli.class_number import with_class_number
from rcexplainer.cli.instance_index import in_whole, places_of
from rcexplainer.cli.named_inputs import NamedInputs
from rcexplainer.cli.named_instances import explainer_file, open_explained
from rcexplainer.cli.option_names import as_options
from rcexplainer.cli.options import OF_EXPLAINER
from rcexplainer.cli.own_network import call_arguments, find_network
from rcexplainer.config import make_config
from rcexplainer.errors import RCExplainerError
from rcexplainer.saving.documents import write_document


def evaluate_named(
    inputs: NamedInputs,
    *,
    index: Sequence[str] | None = None,
    explainer: Path | None = None,
    methods: str | None = None,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    out: Path | None = None,
    progress: bool = True,
) -> OwnEvaluation:
    """Measure methods on the network and the graphs that a command line names.

    Args:
        inputs: The network and its graphs.
        index: The values of `--index`, the held-out instances; None: the test part.
        explainer: File of a saved explainer to measure.
        methods: Names with commas between them, or all; None: RCExplainer, or the saved explainer alone.
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        out: Folder that keeps every result as soon as it is there, and the document in the end.
        progress: Show progress bars.

    Raises:
        RCExplainerError: Something named does not exist, or things do not belong together.
    """
    if methods is not None:
        chosen(methods)  # a wrong name, or a wrong setting, costs no time
    settings = settings or {}
    make_config(preset, {name: value for name, value in settings.items() if name not in OF_EXPLAINER})
    if explainer is not None:
        explainer_file(explainer)
    on_cpu = replace(inputs, device=None)  # methods have copies of their own on the device
    call, saved = call_arguments(inputs), {}
    if explainer is None:
        network = find_network(on_cpu)
    else:
        network, fitted = open_explained(on_cpu, explainer)
        saved[explainer.name] = fitted
        call = {"head": fitted.split.head_name, "output": fitted.split.output} | call  # as it was fitted
    data, held_out = network.data, None
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
        settings=with_class_number(settings, data.class_names),
        seed=network.seed,
        device=inputs.device,
        call=call,
        out=out,
        identity={
            "network": inputs.model,
            "forward": inputs.forward,
            "explainer": None if explainer is None else hashlib.sha256(explainer.read_bytes()).hexdigest(),
        },
        progress=progress,
    )
    said = [replace(one, skipped=one.skipped and as_options(one.skipped)) for one in result.results]
    result = replace(result, results=tuple(said))
    if out is not None:
        write_document(out / EVERYTHING, result.to_json() | {"model": inputs.model})
    return result
