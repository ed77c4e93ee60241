"""Do CPU and GPU, float32 and float64 agree on the edges that matter most?

    python tools/trust/devices.py --out build/trust

An explainer is fitted once, on the CPU in float32. Then it is moved, network, mask network, regions and all, to every
device and number type, and explains the same instances there. Its k highest-scored units have to be those of the CPU in
float64, unless scores around the cut are closer than `TIE`: rounding may then order them either way. Needs torch, PyG,
numpy and safetensors alone; without a GPU it compares the two number types and says that there was none.
"""

import argparse
import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import torch
from part_record import finish
from torch import Tensor, nn
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.explainer import FittedRCExplainer
from rcexplainer.gnn import TrainConfig, gnn_config, train_gnn
from rcexplainer.gnn.graph_checks import GraphKind
from rcexplainer.gnn.split import split_model
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.testing.sample_graphs import random_graphs, whole_graph
from rcexplainer.testing.sample_networks import LinkNetwork, random_network

TIE = 1e-5  # scores are promised to be the same to this much
KS = (1, 3, 8)
CONVS = ("graphconv", "gcn", "gin", "gat", "sage")
Index = Sequence[Any] | None


@dataclass(frozen=True)
class Setting:
    """A network and what is explained of it."""

    name: str
    task: str
    model: nn.Module
    graphs: list[Data]
    train: Index = None  # which nodes or links
    asked: Index = None

    def given(self) -> Data | list[Data]:
        return self.graphs if self.task == "graph" else self.graphs[0]


@dataclass(frozen=True)
class Place:
    """Where and in which numbers to compute."""

    device: str
    dtype: torch.dtype

    @property
    def name(self) -> str:
        return f"{self.device} {str(self.dtype).removeprefix('torch.')}"


@dataclass
class Row:
    """One explainer at one place, compared with the CPU in float64."""

    setting: str
    method: str
    place: str
    instances: int
    cuts: int  # instances × k
    same: int  # cuts with the same units
    ties: int  # other units, but the scores around the cut are closer than TIE
    wrong: int  # other units, and no tie
    predictions: int  # instances with another predicted class
    flips: int  # instances with another verdict of the search: flipped or not
    score_gap: float  # largest difference of a score


REFERENCE = Place("cpu", torch.float64)


def settings(number: int, seed: int, trained_too: bool = True) -> Iterator[Setting]:
    """Random networks of every kind of layer on random graphs, nodes and links, and two that were trained."""
    graphs = random_graphs(number, 12, seed=seed)
    pairs = [(0, 5), (1, 7), (2, 9), (3, 11), (4, 8), (6, 10), (0, 9), (5, 12), (2, 13), (1, 10)]
    whole = whole_graph()
    for conv in CONVS:
        yield Setting(f"{conv}, random graphs", "graph", random_network(conv), graphs)
        nodes = list(range(int(whole.num_nodes or 0)))
        yield Setting(f"{conv}, random nodes", "node", random_network(conv, "node"), [whole], nodes, nodes)
    yield Setting("gcn, random links", "link", LinkNetwork("gcn", pairs), [whole], pairs, pairs)
    if trained_too:
        yield trained("ba-2motifs", 30, number, num_graphs=max(100, 2 * number))
        yield trained("tree-cycles", 100, number)


def trained(dataset: str, epochs: int, number: int, **options: int) -> Setting:
    """A network of the paper's kind that has learnt a synthetic set."""
    data = rc.datasets.load(dataset, **options)
    config = gnn_config("paper", data.num_features, data.num_classes, data.task)
    how = TrainConfig(epochs=epochs, lr=0.01, patience=epochs)
    model = train_gnn(config, data.graphs, data.split, settings=how, progress=False).model.eval()
    if data.task == "graph":
        return Setting(f"{dataset}, trained", "graph", model, list(data.graphs)[:number])
    nodes = (data.graph.node_motif_id >= 0).nonzero().flatten()[: 2 * number]
    return Setting(f"{dataset}, trained", "node", model, [data.graph], nodes[:number].tolist(), nodes[number:].tolist())


def moved(value: Any, place: Place) -> Any:
    """A copy with every tensor and module in it at this place; whole numbers keep their type."""
    if isinstance(value, Tensor):
        return value.to(place.device, place.dtype if value.is_floating_point() else value.dtype)
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).to(place.device, place.dtype)
    if isinstance(value, Data):
        return Data.from_dict({name: moved(entry, place) for name, entry in value.to_dict().items()})
    if isinstance(value, dict):
        return {name: moved(entry, place) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(moved(entry, place) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        found = object.__new__(type(value))  # not a copy: cached properties stay behind, on their own device
        for field in fields(value):
            object.__setattr__(found, field.name, moved(getattr(value, field.name), place))
        return found
    return value


def same_explainer(fitted: FittedRCExplainer, setting: Setting, place: Place) -> FittedRCExplainer:
    """The fitted explainer at another place: its network is split again there."""
    model, probes = moved(fitted.split.model, place), moved(fitted.probes, place)
    split = split_model(model, list(probes), fitted.split.head_name, None, fitted.split.task, fitted.split.output)
    kind = GraphKind.of(moved(setting.graphs[0], place))
    parts = {name: moved(getattr(fitted, name), place) for name in ("scores", "regions")}
    return replace(fitted, split=split, kind=kind, probes=probes, **parts)


def explainers(setting: Setting) -> Iterator[tuple[str, Callable[[Place], FittedExplainer]]]:
    """Methods, each as a function that gives its fitted explainer at a place."""
    once = rc.RCExplainer(task=setting.task, epochs=3, **({} if setting.task == "graph" else {"restarts": 2}))
    fitted = once.fit(setting.model, setting.given(), index=setting.train, progress=False)
    yield "RCExplainer", lambda place: same_explainer(fitted, setting, place)
    for name in ("Occlusion", "Gradient"):

        def fresh(place: Place, name: str = name) -> FittedExplainer:
            method = getattr(rc.baselines, name)(task=setting.task)
            return method.fit(moved(setting.model, place), moved(setting.given(), place), index=setting.train)

        yield name, fresh


def compared(setting: Setting, method: str, place: Place, found: list[Any], wanted: list[Any]) -> Row:
    """Count where explanations differ from those of the CPU in float64."""
    row = Row(setting.name, method, place.name, len(found), 0, 0, 0, 0, 0, 0, 0.0)
    for one, other in zip(found, wanted, strict=True):
        row.predictions += one.prediction != other.prediction
        row.flips += one.counterfactual.flipped != other.counterfactual.flipped
        if one.unit_scores.numel():
            gap = float((one.unit_scores.double() - other.unit_scores).abs().max())
            row.score_gap = gap if gap != gap else max(row.score_gap, gap)  # NaN must not hide behind a number
        ordered = other.unit_scores.double().sort(descending=True).values
        for k in KS:
            row.cuts += 1
            if torch.equal(one.top(k), other.top(k)):
                row.same += 1
            elif k < len(ordered) and float(ordered[k - 1] - ordered[k]) < TIE:
                row.ties += 1
            else:
                row.wrong += 1
    return row


def rows_of(setting: Setting, places: Sequence[Place]) -> Iterator[Row]:
    """All methods at all places."""
    for method, at in explainers(setting):
        results = {}
        for place in (REFERENCE, *places):
            # The search only changes what flips, and a bound on its runs keeps dense graphs quick.
            found = at(place).explain(moved(setting.given(), place), index=setting.asked, budget=300)
            results[place] = list(found)
        for place in places:
            yield compared(setting, method, place, results[place], results[REFERENCE])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/trust"))
    parser.add_argument("--instances", type=int, default=40, help="graphs, or nodes, of each network")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    cuda = torch.cuda.is_available()
    places = [Place("cpu", torch.float32)]
    if cuda:
        places += [Place("cuda", torch.float32), Place("cuda", torch.float64)]
    rows = []
    for setting in settings(given.instances, given.seed):
        for row in rows_of(setting, places):
            rows.append(row)
            print(
                f"{row.setting:24} {row.method:12} {row.place:13} {row.same} of {row.cuts} cuts the same, {row.ties} "
                f"ties, {row.wrong} wrong, scores differ by up to {row.score_gap:.1e}",
                flush=True,
            )
    device = torch.cuda.get_device_name(0) if cuda else "none: CPU alone"
    figures = {
        "gpu": device,
        "networks": len({row.setting for row in rows}),
        **{
            f"{place.name}: {name}": sum(getattr(row, name) for row in rows if row.place == place.name)
            for place in places
            for name in ("cuts", "same", "ties", "wrong", "predictions", "flips")
        },
    }
    notes = [
        "Each explainer is compared with itself on the CPU in float64; a cut is an instance and a k of "
        f"{', '.join(map(str, KS))}. predictions and flips count instances with another class or another verdict.",
    ]
    if not cuda:
        notes.append("There was no GPU on this machine: only the number types were compared.")
    failures = [
        f"{row.setting}, {row.method}, {row.place}: {row.wrong} of {row.cuts} cuts differ, {row.predictions} classes, "
        f"{row.flips} verdicts of the search; scores by {row.score_gap}"
        for row in rows
        if row.wrong or row.predictions or row.flips or not row.score_gap < 1.0
    ]
    sizes = {"instances": given.instances, "k": list(KS), "tie": TIE, "torch": torch.__version__}
    return finish(
        given.out,
        "devices",
        seed=given.seed,
        sizes=sizes,
        figures=figures,
        rows=[asdict(row) for row in rows],
        notes=notes,
        failures=failures,
    )


if __name__ == "__main__":
    sys.exit(main())
