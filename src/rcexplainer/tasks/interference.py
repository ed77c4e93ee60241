"""Does a model say the same of a node, or a pair of nodes, in a batch of computation graphs as in the whole graph?

A search runs many copies of computation graphs side by side, each without other edges. A model that normalises over all
nodes it is given (GraphNorm, PairNorm, InstanceNorm) sees them all at once; as long as the copies are all alike nobody
notices. So copies without a random half of their units are run in one batch with the whole ones, and compared with the
whole graph without the same edges, alone.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from rcexplainer.core.search import Evaluate
from rcexplainer.errors import SplitError
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.trial import SAME

COPIES = 16  # of computation graphs, each whole and without half of its units


@torch.no_grad()
def check_interference(instances: Instances, alone: Evaluate, apart: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Refuse a model that mixes the graphs of a batch; `alone`: log p of copies in their whole graph, one by one."""
    name, ptr = type(instances.split.model).__name__, instances.units.ptr
    ids = instances.everything.repeat(1 + COPIES // len(instances))[: max(COPIES, len(instances))]
    ids = torch.cat([ids, ids])
    sizes = ptr.diff()[ids]
    half = torch.rand(int(sizes.sum()), generator=torch.Generator().manual_seed(0)).to(ptr.device) < 0.5
    half[: int(sizes[: len(ids) // 2].sum())] = False  # the first copies are whole
    together, single = instances.log_probs(ids, half), alone(ids, half)
    off = float(apart(together, single).max())
    if off <= SAME:
        return
    by_themselves = float(apart(instances.alone().log_probs(ids, half), single).max())
    if by_themselves <= SAME:
        raise SplitError(
            f"{name} mixes the graphs of a batch: of a {instances.split.task} in one computation graph it says "
            f"something else than in a batch of several (off by {off:.3g}); it normalises or pools over all nodes "
            "it is given (GraphNorm, PairNorm, InstanceNorm), so nothing could be said about one of them"
        )
    raise SplitError(
        f"{name} reads the whole graph: without some edges it says something else of a {instances.split.task} in its "
        f"computation graph than in the whole graph (off by {by_themselves:.3g}); a normalisation or pooling over all "
        "nodes, say, cannot be explained from a part of the graph"
    )
