"""What a fitted explainer reads: one forward pass of the GNN, then the networks, then their calibrations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rcexplainer.config import RCConfig
from rcexplainer.core.calibration import Calibration, relative_shares
from rcexplainer.core.deletion_plan import DeletionPlan
from rcexplainer.core.mask_net import EdgeMaskNet
from rcexplainer.core.plan_net import PlanNet
from rcexplainer.core.plan_terms import PlanTerms
from rcexplainer.fit.network import class_pair, connected_units, logits_of
from rcexplainer.fit.relevance import Relevance
from rcexplainer.gnn.instances import Instances, Observation
from rcexplainer.gnn.node_inputs import node_inputs
from rcexplainer.method.unit_readings import UnitReadings
from rcexplainer.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class MaskScores(ShortRepr):
    """The scores of the mask network and, where it was learnt, the relevance of the units."""

    net: EdgeMaskNet
    calibration: Calibration
    config: RCConfig
    targets: tuple[int | None, ...] = (None,)  # classes the network was trained to lead to
    relevance: Relevance | None = None
    plan: PlanNet | None = None

    @property
    def conditioned(self) -> bool:
        """Whether the network has an output row for each pair of predicted and target class."""
        return self.targets != (None,)

    def counterfactual(self, instances: Instances, labels: Tensor) -> Tensor:
        """[units] the scores alone, of leading to any other class."""
        return replace(self, relevance=None, plan=None)(instances, labels).scores

    @torch.no_grad()
    def __call__(self, instances: Instances, labels: Tensor, target: int | None = None) -> UnitReadings:
        """Read every unit; towards a class the network was not trained for, as if leading to any other.

        Args:
            instances: The instances to explain.
            labels: [n] their predicted classes.
            target: The class to lead to; None: any other.
        """
        known = target if target in self.targets else None
        towards = labels if known is None else torch.full_like(labels, known)
        row = class_pair(labels, towards, instances.split.num_classes, self.conditioned)
        parts = [self._piece(seen, row[seen.ids], labels[seen.ids]) for seen in instances.observed()]
        scores, relevance, terms = zip(*parts, strict=True)
        second = None if self.relevance is None else torch.cat(relevance)
        return UnitReadings(torch.cat(scores), second, None if self.plan is None else self._plan(instances, terms))

    def _plan(self, instances: Instances, terms: Sequence[PlanTerms]) -> DeletionPlan:
        """The plan for the instances, from its terms for the pieces that they were run in."""
        units = instances.units
        return DeletionPlan(PlanTerms.joined(terms), units.pair, units.ptr, instances.node_ptr)

    def _piece(self, seen: Observation, row: Tensor, label: Tensor) -> tuple[Tensor, Tensor, PlanTerms | None]:
        """Scores, relevance and terms of the plan, of the instances of one run; without a relevance network, the scores
        twice."""
        nodes, units = node_inputs(seen.done, seen.batch, self.config.inputs), seen.units
        embedding = seen.done.embedding
        logits = logits_of(self.net, nodes, embedding, row, units.pair, units.owner, self.config)
        logits = connected_units(logits, seen.batch, units, self.config)
        if self.calibration.relative:
            logits = relative_shares(logits, units.counts, units.owner)
        scores = self.calibration(logits, row[units.owner])
        terms = None if self.plan is None else self.plan.terms(nodes, embedding, row, units.pair, units.owner)
        if self.relevance is None:
            return scores, scores, terms
        found = self.relevance(scores, self.relevance.net(nodes, embedding, label, units.pair, units.owner))
        return scores, connected_units(found, seen.batch, units, self.config).clamp(0, 1), terms
