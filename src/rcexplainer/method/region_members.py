"""Which decision region each explained instance lies in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rcexplainer.core.regions import Regions
from rcexplainer.explanation import Explanation
from rcexplainer.gnn.instances import Instances
from rcexplainer.gnn.split import SplitModel


@dataclass(frozen=True, eq=False)
class RegionMembers:
    """Instances with their regions.

    Attributes:
        embedding: φ_gc(G) [n, d].
        prediction: [n] the predicted classes.
        region: [n] the regions, −1 where a class has none.
    """

    embedding: Tensor
    prediction: Tensor
    region: Tensor

    @classmethod
    def of(
        cls,
        split: SplitModel,
        regions: Regions,
        explanations: Sequence[Explanation],
        assign: Callable[[Regions, Tensor, Tensor], Tensor] = Regions.assign,
    ) -> "RegionMembers":
        """Run the model on the explained instances and assign them to regions.

        Args:
            split: The model.
            regions: Its decision regions.
            explanations: At least one explanation of the model's predictions.
            assign: How instances find their region, from regions, embeddings and predictions.

        Returns:
            The instances, in the order of the explanations.
        """
        with split.scope:
            found = Instances(split, [one.instance for one in explanations]).passes(lambda done: done.embedding)
        embedding = found.to(regions.scale)
        prediction = torch.tensor([one.prediction for one in explanations], device=embedding.device)
        return cls(embedding, prediction, assign(regions, embedding, prediction))
