"""How long and in which steps the mask network is trained, by device and size of the set."""

from collections import defaultdict
from math import ceil

from rcexplainer.config import RCConfig
from rcexplainer.core.training import Schedule, constant, cosine
from rcexplainer.fit.step import TrainingSet

SMALL_BATCH, LEAST_BATCH = 128, 32  # instances in a step on a CPU, shared by all restarts, and at least for each
STEP_EDGES = defaultdict(lambda: 1 << 22, cpu=1 << 18)  # edges in the masked copies of a step, by type of device
AVERAGING = 0.98  # decay of the running mean of the weights that is kept: of about the last fifty steps
PASSES = 2  # over a small set in an epoch
LEAST_STEPS, MOST_STEPS = 8, 24  # steps in an epoch; the most are shared by all restarts


def make_schedule(config: RCConfig, training: TrainingSet, keep_last: bool) -> Schedule:
    """How long and how fast to train.

    A batch size that is given makes an epoch one pass over all instances. Otherwise it is chosen by device; with it
    the learning rate grows, by its fourth root, and an epoch has a bounded number of steps: at most those of two passes
    over a small set, or of a part of a large one, and at least a few where batches are large.

    Args:
        config: The settings.
        training: The instances.
        keep_last: Keep the weights of the last epoch rather than of the best.
    """
    decay = constant if config.patience is None else cosine
    size, lr, steps = config.batch_size, config.lr, None
    if size is None:
        small = max(LEAST_BATCH, SMALL_BATCH // config.restarts)
        size = device_batch_size(training, small, config.restarts)
        lr *= (size / small) ** 0.25
        steps = min(PASSES * ceil(len(training.data) / size), max(MOST_STEPS // config.restarts, LEAST_STEPS))
        steps = max(steps, LEAST_STEPS) if size > small else steps
    # The gradient of outcomes is estimated from few draws; a mean over steps is less noisy than any one of them. It is
    # the last mean that is kept: on few validation graphs the best of many epochs is a matter of chance.
    averaging = AVERAGING if config.weight_outcome and not keep_last else 0.0
    last, patience = keep_last or averaging > 0, config.patience or config.epochs
    return Schedule(config.epochs, lr, size, patience, decay, last, steps, averaging)


def device_batch_size(training: TrainingSet, small: int, members: int) -> int:
    """Instances in a step: few on a CPU, where visits cost; on a GPU, where steps cost, as many as fit.

    Args:
        training: The instances.
        small: The batch size on a CPU.
        members: Networks that are trained side by side, each on copies of the batch.
    """
    device = training.data.label.device.type
    if device == "cpu":
        return small
    return min(len(training.data), max(small, int(STEP_EDGES[device] / (members * training.copied_edges))))


def stack_size(training: TrainingSet, batch_size: int) -> int:
    """How many restarts are trained side by side: as many as fit, as all their copies of a batch are in memory."""
    edges = min(batch_size, len(training.data)) * training.copied_edges
    return max(1, int(STEP_EDGES[training.data.label.device.type] / edges))
