"""Training sets with the teacher's lessons, for every target class."""

from rcexplainer.config import RCConfig
from rcexplainer.core.regions import Regions
from rcexplainer.errors import RCExplainerError
from rcexplainer.fit.data import InstanceSet
from rcexplainer.fit.step import TrainingSet
from rcexplainer.fit.surface import assign_of
from rcexplainer.fit.teacher import teach
from rcexplainer.saving.checkpoint import FitFile


def with_lessons(
    data: InstanceSet,
    regions: dict[int | None, Regions],
    config: RCConfig,
    file: FitFile,
    name: str,
    progress: bool = False,
) -> TrainingSet:
    """A training set with the teacher's lessons, for every target class that some of the instances can be led to.

    Args:
        data: The instances.
        regions: Regions by target class; None: any class other than the predicted one.
        config: The settings.
        file: The checkpoint of the fit.
        name: Under which lessons are kept there.
        progress: Whether to show progress bars.

    Raises:
        RCExplainerError: All instances are predicted as the target class already.
    """
    parts: list[TrainingSet] = []
    for target, own in regions.items():
        if target is not None and bool((data.label == target).all()):
            continue  # predicted so already, all of them
        some = data if target is None else data.towards(target)
        region = assign_of(config)(own, some.embedding, some.label)
        lessons = teach(some, own, region, config, file, name if target is None else f"{name} {target}", progress)
        parts.append(TrainingSet(some, lessons, own, region, config))
    if not parts:
        raise RCExplainerError(
            f"all {len(data)} instances of the {name} are predicted as target_class {next(iter(regions))} already: "
            "give others too"
        )
    return parts[0] if list(regions) == [None] else TrainingSet.joined(parts)
