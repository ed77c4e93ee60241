"""What every method is: made with a task, a target class and settings, fitted to a model, then ready to explain.

    fitted = Method(task="node", **settings).fit(model, graph, index=nodes)
    explanations = fitted.explain(graph, index=nodes)

A method is one function, `scores(instances, labels)`: a number in [0, 1] for every unit that can be deleted, or two of
them (`UnitReadings`). A method that has to be trained returns it from `learn`. Checking the input, batching, searching
for counterfactuals and verifying them is the same for all (`FittedExplainer`).
"""

import copy
import inspect
import warnings
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.arguments import clear_arguments, plain_number, unknown_argument
from rcexplainer.errors import ArgumentError, NotFittedError, RCExplainerError, SplitError
from rcexplainer.gnn.device import device_of, usable_device
from rcexplainer.gnn.forward import Forward, TaskName
from rcexplainer.gnn.graph_checks import GraphKind, Graphs, list_graphs, source_of
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.model_checks import check_model, original_of
from rcexplainer.gnn.outputs import OutputKind
from rcexplainer.gnn.seed import check_seed
from rcexplainer.gnn.split import split_model
from rcexplainer.gnn.store_checks import check_all
from rcexplainer.method.connection import connected_readings
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.settings import check_names, different_names, setting_names, whole
from rcexplainer.method.unit_readings import UnitReadings
from rcexplainer.short_repr import short_repr
from rcexplainer.sources import AnyGraph
from rcexplainer.tasks import TASKS
from rcexplainer.tasks.index import Index

UnitScores = Callable[[Instances, Tensor], Tensor | UnitReadings]  # (instances, predicted classes) → [units]


class Method:
    """An explanation method, before it has seen a model.

    Args:
        task: "graph", "node" or "link".
        target_class: The class that counterfactuals lead to; None for any class other than the predicted one.
        hops: How far computation graphs of nodes and links reach; measured if None.
        connected: Nodes and links: an edge ranks below the best path that connects it to the explained node.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    soft_masks: ClassVar[bool] = False  # whether scores need soft edge masks, which do not reach every model

    def __init__(
        self,
        *,
        task: TaskName = "graph",
        target_class: int | None = None,
        hops: int | None = None,
        connected: bool = False,
        **unknown: Any,
    ) -> None:
        check_names(unknown, setting_names(type(self)))
        if isinstance(task, nn.Module):
            raise RCExplainerError(f"the model is given to fit: {type(self).__name__}(…).fit(model, graphs)")
        if task not in get_args(TaskName):
            raise RCExplainerError(f"unknown task {short_repr(task)}; it is one of {', '.join(get_args(TaskName))}")
        if hops is not None:
            whole("hops", hops)
        if hops is not None and task == "graph":
            raise RCExplainerError(f"hops is for nodes and links, graphs are explained whole; got hops={hops}")
        if not isinstance(connected, bool):
            raise RCExplainerError(f"connected must be True or False, got {connected!r}")
        if connected and task == "graph":
            raise RCExplainerError("connected is for nodes and links: a graph has no node to be connected to")
        self.task: TaskName = task
        self.target_class = self.checked_target(target_class)
        self.hops, self.connected = hops, connected

    def __repr__(self) -> str:
        target = "" if self.target_class is None else f", target_class={self.target_class!r}"
        return f"{type(self).__name__}(task={self.task!r}{target})"

    if not TYPE_CHECKING:  # a type checker would take any name for known

        def __getattr__(self, name: str) -> Any:
            """Called for what a method does not have: perhaps it is what `fit` returns that has it."""
            own = type(self).__name__
            if name.startswith("_") or not any(name in names_of(kind) for kind in fitted_classes(FittedExplainer)):
                raise AttributeError(f"{own!r} object has no attribute {name!r}")
            raise NotFittedError(
                f"{own} is not fitted yet: {name} belongs to what fit returns, fitted = {own}(…).fit(model, graphs)"
            )

    def checked_target(self, target_class: Any) -> Any:
        """The target class as an int.

        Raises:
            RCExplainerError: It is not a class number.
        """
        if target_class is None:
            return None
        target_class = plain_number(target_class)
        if not isinstance(target_class, Integral) or isinstance(target_class, bool):
            raise RCExplainerError(f"target_class must be a class number or None, got {short_repr(target_class)}")
        return int(target_class)

    def scores(self, instances: Instances, labels: Tensor) -> Tensor | UnitReadings:
        """One score in [0, 1] per unit of these instances, or both readings of them.

        Args:
            instances: The instances to explain.
            labels: Their predicted classes, [n].
        """
        name = type(self).__name__
        raise RCExplainerError(f"{name} has no scores before it is trained: use what `fit` returns")

    def learn(self, training: Callable[[], Instances], seed: int, progress: bool) -> UnitScores:
        """Train, and return the scores of the trained method; by default nothing is learnt.

        Args:
            training: Makes the instances to train on.
            seed: Random seed.
            progress: Whether to show a progress bar.
        """
        return self.scores

    @clear_arguments(setting_names)
    def fit(
        self,
        model: nn.Module,
        graphs: Graphs,
        *,
        index: Index | None = None,
        head: str | nn.Module | None = None,
        forward: Forward | None = None,
        output: OutputKind | None = None,
        class_names: Sequence[str] | None = None,
        seed: int = 0,
        progress: bool = True,
        device: torch.device | str | None = None,
        **moved: Any,
    ) -> FittedExplainer:
        """Fit to a model; a method that needs no training returns at once.

        Args:
            model: The trained GNN; it is left as it was found.
            graphs: A `Data`, or a list, `Dataset`, `Batch` or `DataLoader` of them; for nodes and links one `Data`,
                `MappedGraph`, `StoreGraph` or (FeatureStore, GraphStore) pair.
            index: The nodes or links to train on.
            head: The module where φ_fc begins; found if None.
            forward: `forward(model, batch, edge_weight)` for a model with an unusual call.
            output: What the model returns; found if None.
            class_names: Names of the classes.
            seed: Random seed.
            progress: Whether to show progress bars.
            device: Where to compute, with a copy of the model; None: where the model is.
            **moved: `task` and `hops`, which now belong to the constructor; accepted with a warning until 0.4.

        Returns:
            The fitted explainer.

        Raises:
            SplitError: The model cannot be explained.
            GraphError: The graphs cannot be used.
        """
        if moved:
            return self._moved(moved).fit(
                model,
                graphs,
                index=index,
                head=head,
                forward=forward,
                output=output,
                class_names=class_names,
                seed=seed,
                progress=progress,
                device=device,
            )
        check_seed(seed)
        model, head, place = on_device(model, head, device)
        found, task = graphs_on(graphs, place, device_of(model)), TASKS[self.task]
        if in_memory := [graph for graph in found if isinstance(graph, Data)]:
            check_all(in_memory)
        trials = task.trial_graphs(found, index)
        split = split_model(model, trials, head, forward, self.task, output)
        if self.soft_masks:
            split.mask_route(type(self).__name__)
        hops = task.hops(split, trials, self.hops)
        check_target(self.target_class, split.num_classes)
        with split.scope:
            scores = self.learn(lambda: Instances(split, task.training_graphs(found, index, hops)), seed, progress)
        return self.fitted(
            split=split,
            scores=Untargeted(scores, self.connected),
            kind=GraphKind.of(trials[0]),
            class_names=different_names(class_names, split.num_classes),
            device=place,
            hops=hops,
            targets=(self.target_class,),
        )

    def fitted(self, **parts: Any) -> FittedExplainer:
        """The fitted explainer made of these parts."""
        return FittedExplainer(**parts)

    def _moved(self, moved: dict[str, Any]) -> "Method":
        """The method as if `task` and `hops` had been given to the constructor."""
        if unknown := sorted(moved.keys() - {"task", "hops"}):
            known = [name for name in inspect.signature(self.fit).parameters if name != "moved"]
            name = f"{type(self).__name__}.fit"
            raise ArgumentError(unknown_argument(name, unknown[0], known, setting_names(type(self))))
        names = ", ".join(f"{name}=…" for name in moved)
        warnings.warn(
            f"{names} belongs to the constructor: {type(self).__name__}({names}).fit(…); fit accepts it until 0.4",
            DeprecationWarning,
            stacklevel=4,
        )
        other = copy.copy(self)
        Method.__init__(
            other,
            task=moved.get("task", self.task),
            target_class=self.target_class,
            hops=moved.get("hops", self.hops),
            connected=self.connected,
        )
        return other


def fitted_classes(kind: type[FittedExplainer]) -> list[type[FittedExplainer]]:
    """This class of fitted explainers and all that derive from it."""
    return [kind, *(other for child in kind.__subclasses__() for other in fitted_classes(child))]


def names_of(kind: type) -> set[str]:
    """The attributes of the objects of a dataclass, methods included."""
    return {*dir(kind), *getattr(kind, "__dataclass_fields__", ())}


class Untargeted:
    """Scores that are the same whichever class is to be reached."""

    def __init__(self, scores: UnitScores, connected: bool = False) -> None:
        self.unit_scores, self.connected = scores, connected

    def __call__(self, instances: Instances, labels: Tensor, target: int | None) -> Tensor | UnitReadings:
        found = self.unit_scores(instances, labels)
        return connected_readings(found, instances) if self.connected else found


def check_target(target_class: int | None, num_classes: int) -> None:
    """Refuse a class that the model does not have."""
    if target_class is not None and not 0 <= target_class < num_classes:
        known = f"0 to {num_classes - 1}"
        raise RCExplainerError(f"there is no target_class {target_class}: the model has the classes {known}")


def on_device(
    model: nn.Module, head: str | nn.Module | None, device: torch.device | str | None
) -> tuple[nn.Module, str | nn.Module | None, torch.device | None]:
    """A copy of the model on the device, if one is given; a head given as a module is found again by its name."""
    check_model(model)
    if device is None:
        return model, head, None
    model = original_of(model)
    place = usable_device(device)
    if isinstance(head, nn.Module):
        head = next((name for name, module in model.named_modules() if module is head), head)
    try:
        return copy.deepcopy(model).to(place), head, place
    except (NotImplementedError, RuntimeError) as error:  # such as a model without weights, on the device `meta`
        raise SplitError(f"the model cannot be moved to {place}: {error}") from error


def graphs_on(graphs: Graphs, device: torch.device | None, home: torch.device) -> list[AnyGraph]:
    """The graphs as a list, as copies on the device if one is given.

    Args:
        graphs: The graphs.
        device: Where to; None: they stay where they are.
        home: The device of the model, where parts of a graph go that is not in memory.
    """
    if (source := source_of(graphs)) is not None:
        return [source.on(home)]
    found = list_graphs(graphs)
    return found if device is None else [copy.copy(graph).to(device) for graph in found]
