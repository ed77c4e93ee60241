"""What every caption says beside the numbers: dataset, network and its training, instances and protocol, seeds.

    mutagenicity, network paper (3 GraphConv layers, linear head; trained with Adam, …), held-out test graphs
    predicted as class 0 (mutagen), 3 seeds: fidelity at each sparsity …

Networks are described from the jobs that train them, so that a caption cannot say anything else than what is run.
`described` adds the texts to an entry's settings, under `networks` and `instances`; without them a caption has only the
names. A table of several datasets has the same as notes, datasets alike together.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rcexplainer.benchmark.layout import EXPLAINED
from rcexplainer.benchmark.recipes import AUTHORS_NODES
from rcexplainer.datasets import task_of
from rcexplainer.gnn.models import GNNConfig
from rcexplainer.gnn.trainer import TrainConfig
from rcexplainer.paper.plan import EntryPlan
from rcexplainer.paper.result_groups import EntrySettings, MethodResults, Panel

CONV_NAMES = {"graphconv": "GraphConv", "gcn": "GCN", "gin": "GIN", "gat": "GAT", "sage": "GraphSAGE"}
CLASS_WORDS = {"mutagenicity": "mutagen", "nci1": "active", "ba-2motifs": "house"}  # of the class that is explained
UNSEEN_NODES = "nodes of motifs that no method was fitted on"
UNSEEN_LINKS = "held-out pairs, correctly predicted as links"
SAME_GRAPHS = "the authors' protocol: fitted and evaluated on the same graphs, all that are predicted as"
BARE = "and on a copy of the graph without edges, whose nodes count as the base's"
RECIPE_TEXTS = {
    "authors": f"the authors' recipe, graphs of at most {AUTHORS_NODES} nodes",
    "authors-long": f"the authors' recipe for longer, graphs of at most {AUTHORS_NODES} nodes",
    "plain": "cross-entropy alone",
}
DEFAULTS: dict[str, Any] = {field.name: field.default for kind in (GNNConfig, TrainConfig) for field in fields(kind)}


def described(planned: EntryPlan) -> EntrySettings:
    """An entry's settings with what its captions say about networks and instances.

    Args:
        planned: The entry.

    Returns:
        The settings, with `networks`: (dataset, network) → text, and `instances`: dataset → text.
    """
    trained = [job.inputs for job in planned.rows if job.kind == "network"]
    networks = {
        (one["dataset"], one["model"]): network_text(one["fields"], one["training"], one.get("recipe", ""))
        for one in trained
    }
    instances = {dataset: instances_text(planned.settings, dataset) for dataset, _ in networks}
    return planned.settings | {"networks": networks, "instances": instances}


def network_text(architecture: Mapping[str, Any], training: Mapping[str, Any], recipe: str = "") -> str:
    """A network and how it was trained, in words.

    Args:
        architecture: Fields of `GNNConfig`; those that are not given have their defaults.
        training: Fields of `TrainConfig`.
        recipe: Whose recipe it is (`benchmark.recipes`), where not ours.

    Returns:
        The text, for brackets.
    """
    known = DEFAULTS | dict(architecture) | dict(training)
    hidden = "–".join(map(str, known["head_hidden"]))
    head = f"head with hidden layers {hidden}" if hidden else "linear head"
    layers = "layer" if known["layers"] == 1 else "layers"
    last = "last weights" if known["patience"] is None else "best on validation"
    parts = [
        f"{known['layers']} {CONV_NAMES.get(known['conv'], known['conv'])} {layers}, {head}",
        RECIPE_TEXTS.get(recipe, recipe),
        f"trained with Adam, {'constant ' if known['decay'] == 'constant' else ''}learning rate {known['lr']:g}, "
        f"up to {known['epochs']} epochs, {last}",
        f"batches of {known['batch_size']}" if known["batch_size"] != DEFAULTS["batch_size"] else "",
        f"weight decay {known['weight_decay']:g}" if known["weight_decay"] else "",
        f"gradients clipped at {known['clip']:g}" if known["clip"] else "",
        "Xavier's first weights" if known["xavier"] else "",
        BARE if known["without_edges"] else "",
    ]
    return "; ".join(filter(None, parts))


def instances_text(settings: EntrySettings, dataset: str) -> str:
    """Which instances are explained, and by which protocol.

    Args:
        settings: The entry's; `explained` says it for all of its datasets, `explains` is a key of `LAYOUTS`.
        dataset: The dataset.
    """
    if "explained" in settings:
        return str(settings["explained"])
    task = task_of(dataset)
    if task != "graph":
        return UNSEEN_NODES if task == "node" else UNSEEN_LINKS
    named = class_text(dataset)
    explains = settings.get("explains", "one class")
    if explains == "paper":
        return f"{SAME_GRAPHS} {named}"
    if not named or explains == "every class":
        return "held-out test graphs of every class"
    return f"held-out test graphs predicted as {named}"


def class_text(dataset: str) -> str:
    """The class that is explained, in words; "" where every class is."""
    number = EXPLAINED.get(dataset)
    return "" if number is None else f"class {number} ({CLASS_WORDS[dataset]})"


def panel_text(
    settings: EntrySettings,
    panel: Panel,
    caption: str,
    methods: MethodResults | None = None,
    instances: str | None = None,
) -> str:
    """A caption with dataset, network, instances and seeds before it.

    Args:
        settings: The entry's, with the texts of `described`.
        panel: Dataset and network.
        caption: What is shown.
        methods: The results behind it, whose seeds are counted.
        instances: Which instances it is about, where not those of the entry; "" where the caption says it itself.

    Returns:
        The caption.
    """
    return f"{setting_text(settings, panel, methods, instances)}: {caption}"


def setting_text(
    settings: EntrySettings, panel: Panel, methods: MethodResults | None = None, instances: str | None = None
) -> str:
    """Dataset, network, instances and seeds; the arguments are those of `panel_text`."""
    own = _instances(settings, panel[0]) if instances is None else instances
    parts = (f"{panel[0]}, {_network(settings, panel)}", own, _seeds(methods))
    return ", ".join(filter(None, parts))


def setting_notes(settings: EntrySettings, panels: Mapping[Panel, MethodResults]) -> list[str]:
    """The same for a table of several datasets or networks: a note for those that are alike.

    The network's training is left to the tables of the entry's own page.

    Args:
        settings: The entry's, with the texts of `described`.
        panels: Dataset and network → results.

    Returns:
        The notes; none where nothing more than names is known.
    """
    alike: dict[str, list[str]] = {}
    for panel, methods in panels.items():
        if panel in settings.get("networks", {}):
            parts = (f"network {panel[1]}", _instances(settings, panel[0]), _seeds(methods))
            alike.setdefault(", ".join(filter(None, parts)), []).append(panel[0])
    return [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in alike.items()]


def network_notes(settings: EntrySettings, seeds: str = "") -> list[str]:
    """How the networks of a table of several datasets were trained: a note for those that are alike.

    Args:
        settings: The entry's, with the texts of `described`.
        seeds: Which seeds, in words.

    Returns:
        The notes; none where nothing is known.
    """
    alike: dict[str, list[str]] = {}
    for panel in settings.get("networks", {}):
        alike.setdefault(", ".join(filter(None, (_network(settings, panel), seeds))), []).append(panel[0])
    return [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in alike.items()]


def _network(settings: EntrySettings, panel: Panel) -> str:
    text = settings.get("networks", {}).get(panel)
    return f"network {panel[1]} ({text})" if text else f"network {panel[1]}"


def _instances(settings: EntrySettings, dataset: str) -> str:
    return str(settings.get("instances", {}).get(dataset, ""))


def _seeds(methods: MethodResults | None) -> str:
    most = max(map(len, methods.values()), default=0) if methods else 0
    return "" if most == 0 else "1 seed" if most == 1 else f"{most} seeds"
