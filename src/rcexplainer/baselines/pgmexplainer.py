"""PGM-Explainer (NeurIPS 2020): which nodes does the prediction depend on, in the statistical sense?

    s [S, n]   S copies of the graph; in each of them a node is perturbed with probability `share`
    t [S]      whether the prediction changed: p(c) of the copy is lower by more than `threshold`
    X [S, n]   what is known of a node: s_i; of a node task (s_i, t_i), for every node has a prediction of its own
    χ²(i | Z)  Σ_z Σ_(x, t) (observed − expected)² / expected: are X_i and t independent where the nodes Z are as in z?
    blanket    grow: the node with the smallest p-value given the blanket joins it, while that is below `significance`
               shrink: a node that is independent of t given the others leaves it
    score(i)   (V_i + [i in the blanket]) / 2, with V_i = √(χ²(i) / S) ∈ [0, 1]: how strongly t depends on X_i

A unit has the lower score of its two nodes: it belongs to the subgraph that the best nodes induce from there on. The
node that is explained (of a link both ends) belongs to it in any case, with score 1.

Not as published: a perturbed node has the features 0 (published: their mean, which changes nothing where all nodes have
the same, or random zeros and ones, which suit no other features); one meaning of t for both tasks, the published one of
nodes (that of graphs is the eighth of the copies with the lowest p(c), and finds less); a ranking of all nodes.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from rcexplainer.baselines.chance import generators
from rcexplainer.baselines.node_masks import read_at, zero_filled
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method

SAMPLES_PER_CELL = 5  # on average; a sparser table proves nothing


class PGMExplainer(Method):
    def __init__(
        self,
        samples: int = 1000,
        share: float = 0.5,
        threshold: float = 0.1,
        significance: float = 0.05,
        seed: int = 0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        if samples < 8 * SAMPLES_PER_CELL:
            raise RCExplainerError(f"samples must be at least {8 * SAMPLES_PER_CELL} for a test, got {samples}")
        for name, value in (("share", share), ("threshold", threshold), ("significance", significance)):
            if not 0 < value < 1:
                raise RCExplainerError(f"{name} must be between 0 and 1, got {value}")
        self.samples, self.share, self.threshold = samples, share, threshold
        self.significance, self.seed = significance, seed

    def scores(self, instances: Instances, labels: Tensor) -> Tensor:
        nodes: list[Tensor] = []
        for place, random in enumerate(generators(instances.units, self.seed)):
            size, roots = int(instances.graphs[place].num_nodes or 0), read_at(instances, place)
            perturbed = torch.from_numpy(random.random((self.samples, size)) < self.share)
            fell = confidence_drops(instances, place, perturbed) > self.threshold
            every = instances.split.task == "node"  # every node has a prediction
            known = perturbed + 2 * fell.long() if every else perturbed.long()
            changed = fell[:, roots[0] if every else 0]
            score = chi_square(known, changed)[0].div(self.samples).sqrt() / 2
            score[blanket(known, changed, self.significance, roots)] += 0.5
            score[roots] = 1
            nodes.append(score)
        return torch.cat(nodes).to(labels.device, torch.float)[instances.units.pair].amin(0)


@torch.no_grad()
def confidence_drops(instances: Instances, place: int, perturbed: Tensor) -> Tensor:
    """How much p(predicted class) falls in each perturbed copy of an instance, [S, read-outs].

    A graph and a link have one read-out; of a node's computation graph every node has one.
    """
    split = instances.split
    hidden = torch.cat([torch.zeros_like(perturbed[:1]), perturbed])
    found: list[Tensor] = []
    for batch in zero_filled(instances, torch.full((len(hidden),), place), hidden.flatten()):
        if split.task == "node":
            del batch.root_index
        found.append(split.log_probs(split.run(batch).output).exp().cpu())
    probs = torch.cat(found).view(len(hidden), -1, found[0].size(1))
    before, predicted = probs[0].max(1)
    return before - probs[1:].gather(2, predicted.expand(len(perturbed), -1)[..., None]).squeeze(2)


def chi_square(known: Tensor, changed: Tensor, given: list[int] | None = None) -> tuple[Tensor, Tensor]:
    """χ² and p-value [n] of the independence of each column of `known` [S, n] from `changed` [S], given columns."""
    given, states = given or [], int(known.max()) + 1
    strata = states ** len(given)
    stratum = (known[:, given] * states ** torch.arange(len(given))).sum(1)
    rows = one_hot(2 * stratum + changed, 2 * strata).double()
    table = (rows.T @ one_hot(known, states).double().flatten(1)).view(strata, 2, -1, states)
    of_state, of_change = table.sum(1, keepdim=True), table.sum(3, keepdim=True)
    expected = of_state * of_change / of_change.sum(1, keepdim=True).clamp_min(1)
    statistic = ((table - expected) ** 2 / expected.clamp_min(1e-12)).sum((0, 1, 3))
    levels = ((of_state > 0).sum(3).squeeze(1) - 1).clamp_min(0) * ((of_change > 0).sum(1).squeeze(2) - 1).clamp_min(0)
    freedom = levels.sum(0)
    # P(χ² > x) with k degrees of freedom is the regularised upper incomplete gamma function at (k / 2, x / 2).
    p_value = torch.special.gammaincc(freedom.clamp_min(1) / 2, statistic / 2)
    return statistic, torch.where(freedom > 0, p_value, 1.0)


def blanket(known: Tensor, changed: Tensor, significance: float, apart: list[int]) -> list[int]:
    """The Markov blanket of the change among all columns but those `apart`: grown by the strongest, then shrunk."""
    found: list[int] = []
    states = int(known.max()) + 1
    while 2 * states ** (len(found) + 1) * SAMPLES_PER_CELL <= len(known):
        p_value = chi_square(known, changed, found)[1]
        p_value[[*apart, *found]] = 1
        best = int(p_value.argmin())
        if p_value[best] >= significance:
            break
        found.append(best)
    for node in list(found):
        others = [other for other in found if other != node]
        if chi_square(known, changed, others)[1][node] >= significance:
            found = others
    return found
