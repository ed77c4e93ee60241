"""RCExplainer: the whole story on one screen.

fit      graphs → embeddings → boundaries → regions → teacher → mask network → plan → calibrated scores → relevance
explain  one forward pass for the scores, then a verified counterfactual (`method.fitted_explainer`)
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn
from torch_geometric.data import Data

from rcexplainer.arguments import clear_arguments
from rcexplainer.config import RCConfig, make_config
from rcexplainer.core.objectives import Objective
from rcexplainer.core.region_distance import Distances, region_distances
from rcexplainer.core.region_summary import RegionSummaries
from rcexplainer.core.regions import Regions
from rcexplainer.core.sampling import warn_if_smooth
from rcexplainer.core.training import Epoch
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.curriculum import with_lessons
from rcexplainer.fit.edgeless import EdgelessShares, logged_shares
from rcexplainer.fit.mask_scores import MaskScores
from rcexplainer.fit.network import num_class_pairs, restored_net
from rcexplainer.fit.objective import Restarts, make_objective
from rcexplainer.fit.partition import class_margins, find_boundaries, find_regions
from rcexplainer.fit.plan import fit_plan, restored_plan
from rcexplainer.fit.preparation import prepare
from rcexplainer.fit.region_report import GivenInstances, explained, region_report
from rcexplainer.fit.relevance import fit_relevance, restored_relevance
from rcexplainer.fit.stream import FitGraphs
from rcexplainer.fit.surface import Assign, assign_of
from rcexplainer.fit.train import safer, train_ensemble
from rcexplainer.gnn.forward import Forward, TaskName
from rcexplainer.gnn.graph_checks import GraphKind
from rcexplainer.gnn.outputs import OutputKind
from rcexplainer.method.base import Method, check_target
from rcexplainer.method.fitted_explainer import FittedExplainer
from rcexplainer.method.settings import setting_names
from rcexplainer.saving.checkpoint import FitFile
from rcexplainer.saving.explainer_file import SavedExplainer, read_explainer, write_explainer
from rcexplainer.saving.files import damage_told, named_file
from rcexplainer.saving.fingerprint import probe_graphs
from rcexplainer.saving.formats import reader
from rcexplainer.short_repr import short_repr
from rcexplainer.tasks.index import Index

log = logging.getLogger(__name__)


def all_settings(method: type) -> list[str]:
    """The arguments of the constructor, with the fields of `RCConfig`."""
    return [*setting_names(method), *(field.name for field in fields(RCConfig))]


class RCExplainer(Method):
    """Robust counterfactual explanations (Bajaj et al., NeurIPS 2021).

    Args:
        task: "graph", "node" or "link".
        target_class: Explanations say what makes an instance its predicted class rather than this one; "each": one
            network learns the answers for every class, and `explain(target_class=...)` chooses.
        preset: "default", "paper" (the text) or "released" (the authors' code).
        hops: How far computation graphs of nodes and links reach; measured if None.
        **settings: Fields of `RCConfig`.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    def __init__(
        self,
        task: TaskName = "graph",
        target_class: int | Literal["each"] | None = None,
        preset: str = "default",
        *,
        hops: int | None = None,
        **settings: Any,
    ) -> None:
        self.config = make_config(preset, settings, task)
        connected = self.config.connected
        super().__init__(task=task, target_class=target_class, hops=hops, connected=connected)  # type: ignore[arg-type]

    @clear_arguments(all_settings)
    def fit(  # type: ignore[override]
        self,
        model: nn.Module,
        graphs: FitGraphs,
        *,
        index: Index | None = None,
        val: FitGraphs | Index | None = None,
        background: FitGraphs | None = None,
        head: str | nn.Module | None = None,
        forward: Forward | None = None,
        output: OutputKind | None = None,
        class_names: Sequence[str] | None = None,
        checkpoint: str | Path | None = None,
        seed: int = 0,
        progress: bool = True,
        device: torch.device | str | None = None,
    ) -> "FittedRCExplainer":
        """Find regions and train the mask network; labels are not needed.

        Args:
            model: The trained GNN; it is left as it was found.
            graphs: A `Data`, or a list, `Dataset`, `Batch` or `DataLoader` of them; for nodes and links one `Data`,
                `MappedGraph`, `StoreGraph` or (FeatureStore, GraphStore) pair. Any other iterable, and the path of a
                Parquet or CSV file, is read once and need not fit in memory: a seeded sample of it is kept
                (docs/many-graphs.md).
            index: The nodes or links to train on; all nodes, or the pairs in `edge_label_index`, if None.
            val: Graphs, or an index, for early stopping; a seeded tenth of the training instances if None.
            background: Graphs that boundaries and regions come from; all graphs or nodes given if None (for links: the
                pairs given, edges and random pairs; of a graph that is not in memory: 10,000 nodes drawn at random).
            head: The module where φ_fc begins (dotted name or module); found if None.
            forward: `forward(model, batch, edge_weight)` for a model with an unusual call.
            output: "logits", "log_probs", "probs" or "binary_logit"; found if None.
            class_names: Names of the classes.
            checkpoint: A file from which a killed run continues; an interrupt (Ctrl-C) writes it at once.
            seed: Random seed.
            progress: Whether to show progress bars.
            device: Where to compute, now and when explaining, with copies of model and graphs; None: where they are.

        Returns:
            The fitted explainer.

        Raises:
            SplitError: The model cannot be explained.
            GraphError: The graphs cannot be used.
            CheckpointError: The checkpoint belongs to another run.
        """
        limit = self.config.teacher_limit
        given = prepare(
            model, graphs, task=self.task, index=index, val=val, background=background, head=head, forward=forward,
            output=output, class_names=class_names, hops=self.hops, limit=limit, seed=seed, progress=progress,
            device=device,
        )  # fmt: skip
        split, generator = given.split, torch.Generator().manual_seed(seed)
        if self.config.weight_regions:
            split.mask_route(f"{type(self).__name__} with weight_regions={self.config.weight_regions:g}")
        targets = self.targets(split.num_classes)
        file = FitFile(checkpoint, given.description(self.settings, seed, forward) if checkpoint is not None else {})
        with file, split.scope:  # an interrupt writes what there is
            seen, training, validation = given.observed(limit, generator)
            warn_if_smooth(class_margins(split), seen.embedding)
            edgeless = logged_shares(training, self.config, class_names or ())
            attempts = safer(self.config)
            for number, config in enumerate(attempts):
                boundaries = {target: find_boundaries(split, seen, config, seed, target) for target in targets}
                regions = {target: find_regions(boundaries[target], seen, config) for target in targets}
                learning = with_lessons(training, regions, config, file, "search", progress)
                held_out = with_lessons(validation, regions, config, file, "validation search", progress)
                name = "mask network" if not number else f"mask network, attempt {number + 1}"
                trained = train_ensemble(
                    learning, held_out, self.objective, seed=seed, file=file, name=name, progress=progress,
                )  # fmt: skip
                if trained.collapse is None:
                    break
                rest = "; training continues with safer settings" if config is not attempts[-1] else ""
                log.warning("the mask network has collapsed: %s%s", trained.collapse, rest)
            plan = fit_plan(learning, held_out, trained.net, seed, file, progress)
            scores = MaskScores(trained.net, held_out.calibration(trained.net), config, targets, plan=plan)
            relevance = fit_relevance(training, validation, config, scores.counterfactual, seed, progress)
        return FittedRCExplainer(
            split=split,
            scores=replace(scores, relevance=relevance),
            kind=GraphKind.of(training.instances.graphs[0]),
            class_names=tuple(class_names or ()),
            classes=frozenset(seen.label.tolist()),
            device=given.device,
            hops=given.hops,
            targets=targets,
            regions=learning.regions,
            probes=probe_graphs(split, training.instances.graphs),
            history=trained.history,
            edgeless=edgeless,
            collapse=trained.collapse,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that tells one explainer from another before it is fitted; what follows from others included."""
        matrix = "padded" if self.task == "graph" else "square"
        implied = {"sampler": self.config.sampler, "pairs": matrix if self.config.network == "directed" else "edges"}
        if self.config.planned and self.task == "graph":
            implied["plan"] = "compared deletions"  # how it is learnt
        elif self.config.network == "planned":
            implied["network"] = "neighbours"  # there is no plan
        return {**asdict(self.config), **implied, "target_class": self.target_class}

    def objective(self, config: RCConfig, restarts: Restarts) -> Objective:
        """What mask networks minimise that are trained side by side."""
        return make_objective(config, restarts)

    def checked_target(self, target_class: Any) -> Any:
        """A class, None or "each".

        Raises:
            RCExplainerError: It is none of them.
        """
        if isinstance(target_class, str):
            if target_class == "each":
                return target_class
            raise RCExplainerError(
                f'target_class must be a class number, "each" or None, got {short_repr(target_class)}'
            )
        return super().checked_target(target_class)

    def targets(self, num_classes: int) -> tuple[int | None, ...]:
        """The classes to lead to; None stands for any class other than the predicted one."""
        if self.target_class == "each":
            return (None, *range(num_classes))
        check_target(self.target_class, num_classes)
        return (self.target_class,)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedRCExplainer(FittedExplainer):
    """A fitted RCExplainer; its parts are public."""

    scores: MaskScores
    regions: Regions
    probes: tuple[Data, ...]  # a few small training graphs: on these the model is split again after loading
    history: tuple[Epoch, ...] = ()
    edgeless: EdgelessShares | None = None  # of the training instances, if the model can run them; not saved
    collapse: str | None = None  # how the masks have collapsed, if they have; not saved

    @property
    def config(self) -> RCConfig:
        """The settings it was fitted with; after a collapse they are safer than the ones given."""
        return self.scores.config

    def region_summary(
        self, instances: GivenInstances | None = None, *, node_names: Sequence[str] = ()
    ) -> RegionSummaries:
        """Summarise the decision regions: their size, the classes that border them, and, given instances, how far
        inside these are.

        Args:
            instances: Explanations, or graphs; explanations with counterfactuals add the edges they delete.
            node_names: What each one-hot node feature means, such as an element.

        Returns:
            A summary of each region; printed, a table. With several target classes a class has regions for each of
            them, which `borders` tells apart; those that are equal are one, and an instance counts for its first.
        """
        shown = explained(instances, lambda graphs: self.explain_iter(graphs, search="none"))
        return region_report(self.split, self.regions, shown, self.class_names, node_names, self.assign)

    @property
    def assign(self) -> Assign:
        """How instances find their region: from regions, embeddings [n, d] and predictions [n] to regions [n]."""
        return assign_of(self.config)

    @property
    def distances(self) -> Distances | None:
        """Measures how far counterfactuals lie beyond their decision regions."""
        return partial(region_distances, self.regions, self.assign)

    @property
    def by_scores(self) -> "FittedRCExplainer":
        """The same explainer without its plan: edges are deleted in the order of their scores."""
        return replace(self, scores=replace(self.scores, plan=None))

    def save(self, path: str | Path) -> Path:
        """Write the explainer to one file, without its GNN; `rcexplainer.load(path, model)` reads it.

        Returns:
            The path.
        """
        saved = SavedExplainer(
            split=self.split,
            config=self.config,
            weights=self.scores.net.state_dict(),
            ensemble=self.scores.net.members,
            calibration=self.scores.calibration,
            relevance=None if self.scores.relevance is None else self.scores.relevance.state(),
            plan=None if self.scores.plan is None else self.scores.plan.state_dict(),
            regions=self.regions,
            probes=self.probes,
            class_names=self.class_names,
            classes=self.classes or frozenset(),
            hops=self.hops,
            targets=self.targets,
            network_targets=self.scores.targets,
        )
        return write_explainer(named_file(path, "save(path)"), saved)

    @classmethod
    def load(cls, path: str | Path, model: nn.Module, *, forward: Forward | None = None) -> "FittedRCExplainer":
        """Read an explainer; as `rcexplainer.load`, for files of RCExplainer alone."""
        saved = read_explainer(path, model, forward)
        rows = num_class_pairs(saved.split.num_classes, saved.network_targets != (None,))
        with damage_told(Path(path)):
            net = restored_net(saved.weights, saved.ensemble, rows, saved.config)
            relevance = restored_relevance(saved.relevance, saved.split.num_classes, saved.config)
            plan = restored_plan(saved.plan, net, rows)
        return cls(
            split=saved.split,
            scores=MaskScores(net, saved.calibration, saved.config, saved.network_targets, relevance, plan),
            kind=GraphKind.of(saved.probes[0]),
            class_names=saved.class_names,
            classes=saved.classes,
            hops=saved.hops,
            targets=saved.targets,
            regions=saved.regions,
            probes=saved.probes,
        )


@clear_arguments()
def load(path: str | Path, model: nn.Module, *, forward: Forward | None = None) -> FittedExplainer:
    """Read a fitted explainer that was written by `save`: an RCExplainer, or a baseline that is trained.

    Args:
        path: The file.
        model: The GNN it was fitted for.
        forward: As it was given to `fit`: functions are not saved.

    Returns:
        A `FittedRCExplainer`, or the class of the method that was saved.

    Raises:
        CheckpointError: The file is damaged, of another version, or of another GNN.
    """
    file = named_file(path, "load(path, model)")
    found: FittedExplainer = reader(file).load(file, model, forward=forward)
    return found
