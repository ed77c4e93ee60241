"""The one loop of every evaluation: seeds × methods, each result kept as soon as it is finished."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from rcexplainer import __version__
from rcexplainer.benchmark.archive import Archive
from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.comparison_plan import comparison_plan, skipped
from rcexplainer.benchmark.cost import clocked
from rcexplainer.benchmark.graph_plan import graph_plan
from rcexplainer.benchmark.groups import MethodResult, NetworkResult
from rcexplainer.benchmark.methods import METHODS, chosen
from rcexplainer.benchmark.motif_plan import motif_plan
from rcexplainer.benchmark.networks import each_seed
from rcexplainer.benchmark.paper_plan import paper_plan
from rcexplainer.benchmark.plan import Evaluation, Plan
from rcexplainer.benchmark.recipes import recipe_of, usual_recipe
from rcexplainer.datasets import task_of
from rcexplainer.errors import MissingExtraError, RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.gnn.models import DEFAULT_MODELS

PROTOCOLS = ("held-out", "paper")


def evaluate(
    dataset: str,
    arch: str | None = None,
    seeds: Sequence[int] = (0,),
    *,
    methods: str | Sequence[str] | None = None,
    protocol: str = "held-out",
    recipe: str | None = None,
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    robustness: bool = True,
    device: str | None = None,
    root: Path | None = None,
    out: Path | None = None,
    progress: bool = True,
) -> Evaluation:
    """Train a network for each seed, fit every method to it, explain and measure.

    Args:
        dataset: A name of `rcexplainer.datasets`: a graph, node or link set.
        arch: A name of `rcexplainer.gnn.models.MODELS`; None: the usual one for this kind of set.
        seeds: Each draws its own data, split, network and explainers.
        methods: None: RCExplainer beside greedy deletion, occlusion and random order. Names, or "all": these methods
            and the three references are compared on one sample of held-out instances.
        protocol: "held-out", or "paper": fitted and evaluated on the same graphs of one class.
        recipe: How networks are trained, a key of `RECIPES`; None: "plain" for node sets, else "ours".
        preset: Of RCExplainer.
        settings: Of RCExplainer, on top of the preset.
        robustness: Measure whether explanations survive 10 % noise (graph sets).
        device: Where networks are trained and, in graph sets, methods are run; None: the CPU.
        root: Where downloaded datasets are.
        out: A folder that keeps every result as soon as it is there, and the trained networks. Started again with the
            same arguments, the evaluation goes on from there; seeds and methods may be added.
        progress: Show progress bars.

    Returns:
        The results; `.tables()` for a terminal, `.to_json()` for everything.

    Raises:
        RCExplainerError: An argument is wrong, or `out` holds another evaluation.
    """
    task = task_of(dataset)
    own = dict(settings or {})
    plan = _plan(dataset, task, methods, protocol, robustness, device)
    if not seeds:
        raise RCExplainerError("at least one seed is needed")
    RCExplainer(task=task, preset=preset, **own)  # before anything is trained: wrong settings raise at once
    arch, recipe = arch or DEFAULT_MODELS[task], recipe or usual_recipe(dataset)
    recipe_of(recipe)
    arguments = {
        "dataset": dataset,
        "arch": arch,
        "protocol": protocol,
        "methods": "default" if methods is None else "compared",
        "preset": preset,
        "settings": own,
        "robustness": robustness,
        "device": device,
        "version": __version__,
    }
    if recipe != "ours":  # folders of graph and link sets are as they were in version 0.2
        arguments["recipe"] = recipe
    archive = Archive.of(None if out is None else Path(out), arguments)
    case_of = partial(
        Case.of,
        dataset,
        arch,
        preset=preset,
        settings=own,
        explains=plan.explains,
        greedy_depth=plan.greedy_depth,
        device=device,
        recipe=recipe,
        motifs_apart=True,
        root=root,
        keep=archive.networks,
        unfinished=archive.unfinished,
        progress=progress,
    )
    networks: list[NetworkResult] = []
    results: list[MethodResult] = []
    with archive.held():
        for seed in each_seed(seeds, dataset, progress):
            network, found = _one_seed(plan, archive, seed, partial(case_of, seed), progress)
            networks.append(network)
            results += found
        evaluation = Evaluation(
            dataset, arch, protocol, preset, own, tuple(seeds), tuple(networks), tuple(results), plan, recipe
        )
        archive.finish(evaluation.to_json())
    return evaluation


def _plan(
    dataset: str, task: str, methods: str | Sequence[str] | None, protocol: str, robust: bool, device: str | None
) -> Plan:
    """The plan that these arguments ask for."""
    if protocol not in PROTOCOLS:
        raise RCExplainerError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}")
    if methods is not None:
        if protocol != "held-out" or device is not None:
            raise RCExplainerError(
                "methods are compared on held-out instances and on the CPU: leave out protocol and device"
            )
        return comparison_plan(chosen(methods), robust)
    if protocol == "paper":
        return paper_plan(dataset)
    return graph_plan(robust) if task == "graph" else motif_plan()


def _one_seed(
    plan: Plan, archive: Archive, seed: int, make_case: Callable[[], Case], progress: bool
) -> tuple[NetworkResult, list[MethodResult]]:
    """All methods on one network; what is kept is not made again, and a finished seed needs no network."""
    case = cache(make_case)
    if not all(archive.has(f"{seed}-{name}") for name in plan.methods):
        case()  # now: what is wrong with dataset, architecture or device is said before a progress bar is shown
    results: list[MethodResult] = []
    for name in tqdm(plan.methods, desc="methods", unit="method", disable=not progress):
        try:
            found = archive.get(MethodResult, f"{seed}-{name}", partial(_measure, plan, case, name, progress))
        except MissingExtraError as error:
            if not plan.skips:
                raise
            found = skipped(name, seed, str(error))  # not kept: the package may be there the next time
        results.append(found)
    return archive.get(NetworkResult, f"{seed}-network", lambda: plan.network(case())), results


def _measure(plan: Plan, make_case: Callable[[], Case], name: str, progress: bool) -> MethodResult:
    """Fit one method, and measure it."""
    case = make_case()
    _ = case.training  # choosing the instances is no part of the time that fitting takes
    try:
        fitted, seconds = clocked(partial(METHODS[name].fit, case, progress))
    except MissingExtraError:
        raise
    except RCExplainerError as error:
        if not plan.skips:
            raise
        return skipped(name, case.seed, str(error))
    return plan.measure(case, name, fitted, seconds)
