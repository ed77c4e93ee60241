"""Does a batch of computation graphs give the same answers as the whole graph?

A search runs many copies of computation graphs side by side, each with other edges removed. A model that normalises
over all nodes it is given (GraphNorm, PairNorm, InstanceNorm) sees all copies at once, which goes unnoticed while they
are identical. So copies without a random half of their units are run in one batch with complete ones, and compared
with the whole graph without the same edges, run alone. Some copies have one shape: a cache keyed by shape shows.
"""

import torch

from rcexplainer.core.search import Evaluate
from rcexplainer.core.segments import owners, ranks
from rcexplainer.errors import SplitError
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.trial import SAME
from rcexplainer.tasks.receptive_field import relative_gap

COPIES = 16  # of computation graphs, each whole and without half of its units
TWINS = 4  # of these, with two different halves deleted: two graphs of one shape


@torch.no_grad()
def check_interference(instances: Instances, alone: Evaluate) -> None:
    """Refuse a model that mixes the graphs of a batch.

    Args:
        instances: A few computation graphs.
        alone: log p of copies in their whole graph, one by one.

    Raises:
        SplitError: The model mixes computation graphs of a batch, or reads the whole graph.
    """
    name, ptr = type(instances.split.model).__name__, instances.units.ptr
    ids = instances.everything.repeat(1 + COPIES // len(instances))[: max(COPIES, len(instances))]
    complete, ids = len(ids), torch.cat([ids, ids, ids[-TWINS:]])  # twins of the largest
    sizes = ptr.diff()[ids]
    copy_ptr = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    owner = owners(copy_ptr)
    draws = torch.rand(len(owner), generator=torch.Generator().manual_seed(0)).to(ptr.device)
    half = (ranks(draws, owner, copy_ptr) < ((sizes + 1) // 2)[owner]) & (owner >= complete)
    together = instances.log_probs(ids, half)[complete:]
    # Complete copies are only company: they were compared with the whole graph when the receptive field was measured.
    ids, half = ids[complete:], half[owner >= complete]
    single = alone(ids, half)
    off = float(relative_gap(together, single).max())
    if off <= SAME:
        return
    by_themselves = float(relative_gap(instances.alone().log_probs(ids, half), single).max())
    if by_themselves <= SAME:
        raise SplitError(
            f"{name} mixes the graphs of a batch: its answer for a {instances.split.task} in one computation graph "
            f"differs from its answer in a batch of several (off by {off:.3g}); it normalises or pools over all nodes "
            "it is given (GraphNorm, PairNorm, InstanceNorm, BatchNorm without running statistics), so no claim about "
            f"one {instances.split.task} would hold. A network with LayerNorm(mode='node'), or with BatchNorm that "
            "keeps running statistics, can be explained"
        )
    raise SplitError(
        f"{name} reads the whole graph: once edges are deleted, its answer for a {instances.split.task} in its "
        f"computation graph differs from that in the whole graph (off by {by_themselves:.3g}); a normalisation or "
        "pooling over all nodes cannot be explained from a part of the graph"
    )
