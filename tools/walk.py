"""The walk of a call through the house: which files it passes, in which order, and which call each other back.

    python tools/walk.py explain        one graph, with a counterfactual
    python tools/walk.py explain-node   one node
    python tools/walk.py fit            RCExplainer.fit on graphs

Every call of a function of ours is traced, apart from the constructors that dataclasses generate, which only hold
values. Files of `core/` and the model itself are counted apart.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import rcexplainer as rc
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn

SOURCE = Path(rc.__file__).parent
MODEL = "gnn/models.py"  # the network that is explained


def file_of(frame: FrameType | None) -> str | None:
    """The file of the nearest frame of ours, from this one outwards."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(SOURCE) and frame.f_code.co_name != "<module>":
            return path.relative_to(SOURCE).as_posix()
        frame = frame.f_back
    return None


def walk(call: Callable[[], object]) -> tuple[list[str], set[tuple[str, str]]]:
    """The files in the order they are first entered, and the steps from file to file."""
    files: dict[str, None] = {}
    steps: set[tuple[str, str]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        path = Path(frame.f_code.co_filename)
        if not path.is_relative_to(SOURCE) or frame.f_code.co_name == "<module>":
            return
        own, caller = path.relative_to(SOURCE).as_posix(), file_of(frame.f_back)
        files.setdefault(own)
        if caller is not None and caller != own:
            steps.add((caller, own))

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(files), steps


def calls() -> dict[str, Callable[[], object]]:
    """What can be followed; everything before the call is made here."""
    data = rc.datasets.load("nitro", num_graphs=60)
    config = gnn_config("paper", data.num_features, data.num_classes)
    settings = TrainConfig(epochs=5)
    model = train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model
    train, graph = data.subset("train"), data.subset("test")[0]
    explainer = rc.RCExplainer(epochs=2)
    fitted = explainer.fit(model, train, progress=False)
    whole = rc.datasets.load("tree-cycles").graph
    shape = gnn_config("paper", whole.num_features, 2, "node")
    torch.manual_seed(0)
    node_model = rc.gnn.GNN(shape)
    with torch.no_grad():  # so that both classes are predicted
        node_model.head[-1].bias -= node_model(whole.x, whole.edge_index).median(0).values
    nodes = rc.RCExplainer(task="node", epochs=1, restarts=1).fit(node_model, whole, index=range(40), progress=False)
    return {
        "explain": lambda: fitted.explain(graph, search="greedy"),
        "explain-node": lambda: nodes.explain(whole, index=3),
        "fit": lambda: explainer.fit(model, train, progress=False),
    }


def main(name: str) -> None:
    files, steps = walk(calls()[name])
    outside = [file for file in files if not file.startswith("core/") and file != MODEL]
    back = sorted({tuple(sorted(step)) for step in steps if step[::-1] in steps})
    for file in files:
        lines = len((SOURCE / file).read_text(encoding="utf-8").splitlines())
        print(f"{'      ' if file in outside else '(core)' if file != MODEL else '(model)'} {file} {lines}")
    print(
        f"{len(files)} files, {len(outside)} of them outside core and the model; {len(steps)} steps from file to file"
    )
    print("back and forth:", ", ".join(" ↔ ".join(pair) for pair in back) or "none")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["explain"])
