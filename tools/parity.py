"""Is a new version's explainer as good as the old one's? The same networks and held-out instances, paired by seed.

    python tools/parity.py networks --out build/networks
    PYTHONPATH=OLD/src python tools/parity.py run --networks build/networks --out build/parity/old --jobs 16
    PYTHONPATH=src     python tools/parity.py run --networks build/networks --out build/parity/new --jobs 16
    python tools/parity.py compare build/parity/old build/parity/new --out build/parity.json

`run` needs torch, PyG and safetensors alone. Every job (a set and a seed of the explainer) is a process with one
thread that writes one JSON file; jobs whose file exists are skipped, and a fit that was killed goes on from its
checkpoint, so the same command continues a run. `greedy` is the reference of the graph sets: greedy deletion, fitted
on nothing. `compare` takes the difference new − old of each seed and asks for a mean not below −max(.005, 2 standard
errors). The fidelity of a graph set is the ratio of its sum over the sparsities .95 to .75 to that of greedy deletion.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import time
import warnings
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

GRAPH_SETS = {"mutagenicity": 0, "nci1": 1, "nitro": None}  # the predicted class that is explained; None: every class
NODE_SETS = ("ba-shapes", "ba-community", "tree-cycles", "tree-grid", "ba-grid")
SETS = (*GRAPH_SETS, *NODE_SETS)
SPARSITIES = (0.95, 0.90, 0.85, 0.80, 0.75)
NOISE, TOP = 0.1, 8  # robustness: the share of edges changed, and the top edges that must survive it
EXPLAINED = 200  # held-out graphs, at most
TOLERANCE = 0.005
MEASURES = {"graph": ("ratio to greedy", "robustness"), "node": ("auc", "accuracy")}
GREEDY = "greedy"
# Seconds of a job with one thread, relative to each other: long jobs start first.
COST = {"ba-community": 9, "tree-grid": 5, "ba-grid": 5, "ba-shapes": 4, "tree-cycles": 3}


def kind(name: str) -> str:
    """What the instances of a set are."""
    return "graph" if name in GRAPH_SETS else "node"


def networks(args: argparse.Namespace) -> None:
    """Train a network of the paper for each set, as the package trains it, and save it."""
    from rcexplainer.benchmark.networks import trained_gnn
    from rcexplainer.gnn import save_gnn

    for name in args.sets:
        path = args.out / f"{name}.safetensors"
        if not path.exists():
            _, trained = trained_gnn(name, "paper", args.seed, task=kind(name), progress=False)
            about = {"dataset": name, "seed": args.seed, "accuracy": trained.accuracy, "seconds": trained.seconds}
            save_gnn(path, trained.model, about)
            print(name, trained.accuracy, f"{trained.seconds:.0f} s", flush=True)


def chosen(count: int, most: int, seed: int = 0) -> list[int]:
    """At most `most` positions out of `count`, drawn with the seed, in ascending order."""
    import torch

    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:most].sort().values.tolist()


def job(args: argparse.Namespace) -> None:
    """One set and one seed of the explainer (or greedy deletion): fit, explain, measure, write."""
    import torch

    import rcexplainer as rc

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    saved = rc.gnn.load_gnn(args.networks / f"{args.set}.safetensors")
    data = rc.datasets.load(args.set, seed=saved.info["seed"])
    measure = graph_quality if data.task == "graph" else node_quality
    started = time.perf_counter()
    found = measure(saved.model, data, args)
    about = {"set": args.set, "seed": args.seed, "torch": torch.__version__, "device": args.device or "cpu"}
    path = job_file(args.out, args.set, args.seed)
    part = path.with_suffix(".part")
    part.write_text(
        json.dumps({**about, **found, "seconds": round(time.perf_counter() - started, 1)}, indent=1), encoding="utf-8"
    )
    part.rename(path)
    checkpoint_file(path).unlink(missing_ok=True)


def job_file(folder: Path, name: str, seed: str) -> Path:
    """Where the result of a job is."""
    return folder / f"{name}-{seed}.json"


def checkpoint_file(path: Path) -> Path:
    """Where a job's fit continues from if it was killed."""
    return path.with_suffix(".checkpoint")


def graph_quality(model: Any, data: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Fit on training graphs; fidelity and robustness on test graphs predicted as the explained class."""
    import torch
    from torch_geometric.data import Batch

    import rcexplainer as rc

    def some(part: str, most: int) -> list[Any]:
        graphs = data.subset(part)
        return [copy.copy(graphs[place]).to(device) for place in chosen(len(graphs), most)]

    device = torch.device(args.device or "cpu")
    network, test = copy.deepcopy(model).to(device), data.subset("test")
    with torch.no_grad():
        batch = Batch.from_data_list(test)
        predicted = model(batch.x, batch.edge_index, batch.batch).argmax(1).tolist()
    wanted = GRAPH_SETS[args.set]
    test = [graph for graph, label in zip(test, predicted, strict=True) if wanted in (None, label)]
    test = [copy.copy(test[place]).to(device) for place in chosen(len(test), EXPLAINED)]
    training, validation = some("train", args.graphs), some("val", max(args.graphs // 8, 100))
    started = time.perf_counter()
    if args.seed == GREEDY:
        fitted: Any = rc.baselines.GreedyDeletion().fit(network, training)
    else:
        fitted = rc.RCExplainer().fit(network, training, val=validation, **fitting(args))
    seconds = time.perf_counter() - started
    explained = list(fitted.explain(test, search="none", on_error="keep"))
    ones = [one for one in explained if isinstance(one, rc.Explanation)]
    drop = rc.metrics.fidelity(model, ones, SPARSITIES).drop
    found = {"graphs": len(training), "explained": len(ones), "fit": round(seconds, 2), "drop": drop}
    if args.seed == GREEDY:
        return found
    robust = rc.metrics.robustness(fitted, test, [NOISE], TOP, explanations=explained)
    return found | {"robustness": robust.auc[0][0]} | epochs(fitted)


def node_quality(model: Any, data: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Fit on the nodes of half of the motifs; AUC and accuracy on the nodes of the other half."""
    import torch

    import rcexplainer as rc

    nodes = (data.graph.node_motif_id >= 0).nonzero().flatten()
    motif = data.graph.node_motif_id[nodes]
    motifs = motif.unique()
    order = motifs[torch.randperm(len(motifs), generator=torch.Generator().manual_seed(0))]
    seen = torch.isin(motif, order[: len(order) // 2])
    training = nodes[seen][torch.tensor(chosen(int(seen.sum()), args.nodes))]
    device = torch.device(args.device or "cpu")
    network, graph = copy.deepcopy(model).to(device), copy.copy(data.graph).to(device)
    started = time.perf_counter()
    fitted = rc.RCExplainer(task="node").fit(network, graph, index=training, **fitting(args))
    seconds = time.perf_counter() - started
    explained = fitted.explain(graph, index=nodes[~seen], search="none", on_error="keep")
    ones = [one for one in explained if isinstance(one, rc.Explanation)]
    return {
        "nodes": len(training),
        "explained": len(ones),
        "fit": round(seconds, 2),
        "auc": rc.metrics.motif_auc(ones),
        "accuracy": rc.metrics.motif_accuracy(ones),
        **epochs(fitted),
    }


def fitting(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments of `fit`."""
    return {
        "seed": int(args.seed),
        "progress": False,
        "checkpoint": checkpoint_file(job_file(args.out, args.set, args.seed)),
    }


def epochs(fitted: Any) -> dict[str, int]:
    """How long the mask network was trained, if the explainer tells."""
    return {"epochs": len(history)} if (history := getattr(fitted, "history", ())) else {}


def run(args: argparse.Namespace) -> None:
    """Run the jobs that have no result yet, so many at a time, the longest first."""
    args.out.mkdir(parents=True, exist_ok=True)
    seeds = [str(seed) for seed in args.seeds]
    wanted = [(name, seed) for name in args.sets for seed in (*seeds, *([GREEDY] if name in GRAPH_SETS else []))]
    waiting = [one for one in wanted if not job_file(args.out, *one).exists()]
    # A fit that has a checkpoint is finished first.
    waiting.sort(key=lambda one: (not checkpoint_file(job_file(args.out, *one)).exists(), -COST.get(one[0], 2)))
    started, running, failed = time.monotonic(), {}, []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    while waiting or running:
        over = args.stop_after is not None and time.monotonic() - started > args.stop_after
        while waiting and len(running) < args.jobs and not over:
            name, seed = waiting.pop(0)
            command = [sys.executable, "-W", "ignore", __file__, "job", name, seed]
            options = ["--networks", args.networks, "--out", args.out, "--graphs", args.graphs, "--nodes", args.nodes]
            options += ["--device", args.device] if args.device else []
            log = (args.out / f"{name}-{seed}.log").open("w", encoding="utf-8")
            process = subprocess.Popen([*command, *map(str, options)], env=environment, stdout=log, stderr=log)
            running[process] = (name, seed)
        for process in [one for one in running if one.poll() is not None]:
            name, seed = running.pop(process)
            failed += [f"{name}-{seed}"] if process.returncode else []
            print(f"{time.monotonic() - started:6.0f} s  {name}-{seed}  exit {process.returncode}", flush=True)
        if over and not running:
            break
        time.sleep(0.2)
    print(f"{len(wanted) - len(waiting) - len(failed)} of {len(wanted)} jobs are done; failed: {failed or 'none'}")
    if failed:
        sys.exit(1)


def results(folder: Path, greedy: dict[str, float]) -> dict[tuple[str, str], dict[str, float]]:
    """Set and seed → the measures; the fidelity as a ratio to greedy deletion's."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for path in sorted(folder.glob("*-*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        if one["seed"] == GREEDY or one["set"] not in SETS:
            continue
        if "drop" in one and one["set"] in greedy:
            one["ratio to greedy"] = sum(one["drop"]) / greedy[one["set"]]
        names = (*MEASURES[kind(one["set"])], "fit", "epochs")
        found[one["set"], one["seed"]] = {name: one[name] for name in names if name in one}
    return found


def compare(args: argparse.Namespace) -> None:
    """The differences new − old by set and measure."""
    greedy: dict[str, float] = {}
    for folder in (args.new, args.old):  # the old reference stands, where there are both: the networks are the same
        for path in folder.glob(f"*-{GREEDY}.json"):
            one = json.loads(path.read_text(encoding="utf-8"))
            greedy[one["set"]] = sum(one["drop"])
    old, new = results(args.old, greedy), results(args.new, greedy)
    rows: list[dict[str, Any]] = []
    for name in SETS:
        seeds = sorted(seed for found, seed in old.keys() & new.keys() if found == name)
        for measure in MEASURES[kind(name)] if seeds else ():
            before = [old[name, seed][measure] for seed in seeds]
            after = [new[name, seed][measure] for seed in seeds]
            change = [late - early for early, late in zip(before, after, strict=True)]
            error = stdev(change) / sqrt(len(change)) if len(change) > 1 else 0.0
            bound = -max(TOLERANCE, 2 * error)
            rows.append(
                {
                    "set": name,
                    "measure": measure,
                    "seeds": len(seeds),
                    "old": fmean(before),
                    "new": fmean(after),
                    "difference": fmean(change),
                    "standard error": error,
                    "bound": bound,
                    "holds": fmean(change) >= bound,
                    "fit seconds, old": fmean(old[name, seed]["fit"] for seed in seeds),
                    "fit seconds, new": fmean(new[name, seed]["fit"] for seed in seeds),
                    "each, old": before,
                    "each, new": after,
                }
            )
    for row in rows:
        numbers = "  ".join(f"{row[key]:+.4f}" for key in ("old", "new", "difference", "standard error", "bound"))
        verdict = "holds" if row["holds"] else "FAILS"
        print(f"{row['set']:13} {row['measure']:16} {row['seeds']}  {numbers}  {verdict}")
    if args.out is not None:
        args.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    parts = {function.__name__: commands.add_parser(function.__name__) for function in (networks, run, job, compare)}
    parts["networks"].add_argument("--seed", type=int, default=0)
    parts["job"].add_argument("set", choices=SETS)
    parts["job"].add_argument("seed", help=f"of the explainer, or {GREEDY}")
    for name in ("networks", "run"):
        parts[name].add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    for name in ("run", "job"):
        parts[name].add_argument("--networks", type=Path, default=Path("build/networks"))
        parts[name].add_argument("--graphs", type=int, default=1000, help="training graphs, at most")
        parts[name].add_argument("--nodes", type=int, default=1000, help="training nodes, at most")
        parts[name].add_argument("--device")
    parts["run"].add_argument("--seeds", nargs="+", type=int, default=range(5))
    parts["run"].add_argument("--jobs", type=int, default=1, help="processes at a time")
    parts["run"].add_argument("--stop-after", type=float, help="start no job after this many seconds")
    parts["compare"].add_argument("old", type=Path)
    parts["compare"].add_argument("new", type=Path)
    for name, part in parts.items():
        part.add_argument("--out", type=Path, required=name != "compare")
        part.set_defaults(run={"networks": networks, "run": run, "job": job, "compare": compare}[name])
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
