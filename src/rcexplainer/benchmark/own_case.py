"""A user's trained model and graphs as a case: what methods are fitted on, and the held-out instances they explain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from rcexplainer.benchmark.case import Case
from rcexplainer.benchmark.networks import on_device
from rcexplainer.benchmark.own_dataset import all_instances
from rcexplainer.datasets import GraphDataset, Split
from rcexplainer.errors import RCExplainerError
from rcexplainer.gnn import GNN
from rcexplainer.tasks.index import Pair


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Instances by what they are used for: graphs by their place or nodes [n], or pairs of nodes [n, 2]."""

    learnt: Tensor
    validation: Tensor  # may be empty: methods then hold out a tenth of `learnt` themselves
    explained: Tensor

    @classmethod
    def of(cls, data: GraphDataset, index: Sequence[int | Pair] | None = None) -> "HeldOut":
        """Hold out the test part of the split, or chosen instances: then all others are to be learnt from.

        Args:
            data: The dataset.
            index: Graphs by their place, nodes, or pairs of nodes.

        Raises:
            RCExplainerError: There is nothing to learn from, or nothing held out.
        """
        everything = all_instances(data)
        if index is None:
            found = cls(*(everything[part] for part in (data.split.train, data.split.val, data.split.test)))
        else:
            named = {one if isinstance(one, int) else tuple(one) for one in index}
            others = [(tuple(one) if isinstance(one, list) else one) not in named for one in everything.tolist()]
            chosen = torch.tensor(list(index), dtype=torch.long)
            found = cls(everything[torch.tensor(others, dtype=torch.bool)], everything[:0], chosen)
        if not len(found.learnt) or not len(found.explained):
            what = "edge_label_index, or too few pairs in it" if data.task == "link" else f"too few {data.task}s"
            raise RCExplainerError(
                f"{data.name} has {'no ' if data.task == 'link' else ''}{what}: {len(found.learnt)} to fit on and "
                f"{len(found.explained)} held out; both need at least one"
            )
        return found


@dataclass(frozen=True, eq=False)
class OwnCase(Case):
    """A case whose network was trained by the user; nothing is known about its motifs or its accuracy."""

    held_out: HeldOut = field(kw_only=True)

    @classmethod
    def made(
        cls,
        model: nn.Module,
        data: GraphDataset,
        held_out: HeldOut,
        *,
        seed: int,
        preset: str,
        settings: Mapping[str, Any],
        device: str | None,
        call: Mapping[str, Any],
        unfinished: Path | None = None,
    ) -> "OwnCase":
        """Make a case.

        Args:
            model: The trained network, on the CPU.
            data: Its graphs.
            held_out: What is fitted on, and what is explained.
            seed: Of methods that draw random numbers.
            preset: Of RCExplainer.
            settings: Of RCExplainer, on top of the preset.
            device: Where methods are run on graphs; None: the CPU.
            call: `head`, `forward` and `output` of the network; found where left out.
            unfinished: A folder of checkpoints, from which fits that were stopped go on.
        """
        if data.task == "graph":
            parts = Split(held_out.learnt, held_out.validation, held_out.explained)
            data = replace(data, split=parts)
        network = cast(GNN, model)  # a case of ours says more about its network than methods look at
        place = device if data.task == "graph" else None
        return cls(
            data,
            network,
            float("nan"),
            seed,
            preset,
            settings,
            "every class",
            device=place,
            call=call,
            unfinished=unfinished,
            held_out=held_out,
        )

    @cached_property
    def _parts(self) -> tuple[Tensor, Tensor] | None:
        return (self.held_out.learnt, self.held_out.explained) if self.within else None

    @cached_property
    def _learning(self) -> tuple[Tensor | None, Tensor | None]:
        found = self.held_out.validation
        return self.seen, found if self.within and len(found) else None

    @cached_property
    def validation(self) -> list[Data] | Tensor | None:
        """Graphs, nodes or links for early stopping; None: the method holds some out itself."""
        if self.within:
            return self._learning[1]
        return on_device(self.data.subset("val"), self.device) or None
