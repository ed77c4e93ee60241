"""PGM-Explainer: on which nodes does the prediction depend, in the statistical sense?

    s [S, n]   S copies of the graph; in each a node is perturbed with probability `share`
    t [S]      whether the prediction changed: p(c) of the copy is lower by more than `threshold`
    X [S, n]   the variable of a node: s_i; for node tasks (s_i, t_i), as every node has a prediction of its own
    χ²(i | Z)  Σ_z Σ_(x, t) (observed − expected)² / expected: are X_i and t independent given the nodes Z?
    blanket    grow: the node with the smallest p-value given the blanket joins it, while that is below `significance`
               shrink: a node that is independent of t given the others leaves it
    score(i)   (V_i + [i in the blanket]) / 2, with V_i = √(χ²(i) / S) ∈ [0, 1]: how strongly t depends on X_i

A unit has the lower score of its two nodes: it enters the induced subgraph with the second of them. The explained node
(both ends of a link) always belongs to the subgraph, with score 1.

Different from the publication: a perturbed node has features 0 (published: the mean, which changes nothing where all
nodes have the same features, or random zeros and ones, which suit binary features alone); t means the same for both
tasks, the published meaning for nodes (the one for graphs, the eighth of the copies with the lowest p(c), finds less);
all nodes are ranked.
"""

from typing import Unpack

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from rcexplainer.baselines.node_masks import read_at, zero_filled
from rcexplainer.baselines.random_numbers import generators
from rcexplainer.gnn.instances import Instances
from rcexplainer.method.base import Method
from rcexplainer.method.settings import CommonSettings, inner_share, whole

SAMPLES_PER_CELL = 5  # on average; χ² is not reliable on a sparser table


class PGMExplainer(Method):
    """PGM-Explainer (Vu and Thai, NeurIPS 2020).

    Args:
        samples: S, perturbed copies of each instance.
        share: Probability that a node is perturbed in a copy.
        threshold: Drop in p(c) that counts as a changed prediction.
        significance: Level of the independence tests.
        seed: Random seed.
        **common: `task`, `target_class`, `hops` and `connected`, as for every method.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    def __init__(
        self,
        samples: int = 1000,
        share: float = 0.5,
        threshold: float = 0.1,
        significance: float = 0.05,
        seed: int = 0,
        **common: Unpack[CommonSettings],
    ) -> None:
        super().__init__(**common)
        self.samples = whole("samples", samples, least=8 * SAMPLES_PER_CELL)
        self.share, self.threshold = inner_share("share", share), inner_share("threshold", threshold)
        self.significance, self.seed = inner_share("significance", significance), whole("seed", seed, least=0)

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
    """The drop in p(predicted class) in each perturbed copy of an instance.

    Args:
        instances: The instances.
        place: The position of the instance.
        perturbed: Which nodes are perturbed, [S, n], boolean.

    Returns:
        [S, read-outs]: one read-out for a graph or a link, one for each node of a node's computation graph.
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
    """Test the independence of each variable from the change, given others.

    Args:
        known: Variables with whole numbers from 0, [S, n].
        changed: The change, [S], boolean.
        given: Columns of `known` to condition on.

    Returns:
        χ² [n] and p-value [n].
    """
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


def blanket(known: Tensor, changed: Tensor, significance: float, excluded: list[int]) -> list[int]:
    """The Markov blanket of the change: grown by the strongest dependence, then shrunk.

    Args:
        known: Variables with whole numbers from 0, [S, n].
        changed: The change, [S], boolean.
        significance: Level of the tests.
        excluded: Columns that may not join.
    """
    found: list[int] = []
    states = int(known.max()) + 1
    while 2 * states ** (len(found) + 1) * SAMPLES_PER_CELL <= len(known):
        p_value = chi_square(known, changed, found)[1]
        p_value[[*excluded, *found]] = 1
        best = int(p_value.argmin())
        if p_value[best] >= significance:
            break
        found.append(best)
    for node in list(found):
        others = [other for other in found if other != node]
        if chi_square(known, changed, others)[1][node] >= significance:
            found = others
    return found
