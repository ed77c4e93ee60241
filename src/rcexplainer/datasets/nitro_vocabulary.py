"""The vocabulary of the set `nitro`: groups, ring systems and linkers, with the weights they are drawn by."""

from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from rcexplainer.datasets.fragments import read_smiles

GROUPS = {
    name: read_smiles(smiles)
    for name, smiles in {
        "nitro": "[N+](=O)[O-]",
        "amino": "N",
        "nitroso": "N=O",
        "methylamino": "NC",
        "dimethylamino": "N(C)C",
        "aminomethyl": "CN",
        "aminoethyl": "CCN",
        "nitromethyl": "C[N+](=O)[O-]",
        "amide": "C(=O)N",
        "nitrile": "C#N",
        "acid": "C(=O)O",
        "aldehyde": "C=O",
        "acetyl": "C(=O)C",
        "hydroxyl": "O",
        "methoxy": "OC",
        "methyl": "C",
        "ethyl": "CC",
        "trifluoromethyl": "C(F)(F)F",
        "fluoro": "F",
        "chloro": "Cl",
        "bromo": "Br",
    }.items()
}


@dataclass(frozen=True)
class WeightedChoice:
    """A distribution over texts.

    Attributes:
        values: The texts.
        bounds: The cumulative sums of their weights.
    """

    values: tuple[str, ...]
    bounds: tuple[float, ...]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> "WeightedChoice":
        """Make a distribution from the weight of each text."""
        return cls(tuple(weights), tuple(accumulate(weights.values())))

    def draw(self, random: np.random.RandomState) -> str:
        """Draw one text."""
        return self.values[bisect(self.bounds, random.random_sample() * self.bounds[-1])]


AROMATIC_RINGS = WeightedChoice.of(
    {
        "c1ccccc1": 8,
        "c1ccncc1": 2,
        "c1ccc2ccccc2c1": 2,
        "c1ccsc1": 1.5,
        "c1ccoc1": 1,
        "c1cc[nH]c1": 1,
        "c1ccc2[nH]ccc2c1": 1.5,
        "c1ccc2occc2c1": 1,
        "c1ccc2ncccc2c1": 1,
        "c1ccccc1-c1ccccc1": 1.5,
        "c1ccc2CCCc2c1": 1.5,
        "c1ccc2CCCCc2c1": 1.5,
    }
)
SATURATED_RINGS = WeightedChoice.of(
    {"C1CCCCC1": 3, "C1CCCC1": 2, "C1CCNCC1": 2, "CN1CCCCC1": 1, "C1COCCN1": 1.5, "C1CCOCC1": 1.5}
)
LINKERS = WeightedChoice.of(
    {"": 4, "C": 3, "O": 2, "N": 1, "S": 0.5, "C(=O)": 1.5, "CC": 1.5, "CO": 1, "C(=O)N": 2, "NC(=O)": 2}
)

ANYWHERE = {
    "aminomethyl": 3,
    "aminoethyl": 2,
    "nitromethyl": 3,
    "amide": 2,
    "nitrile": 1.5,
    "acid": 1,
    "aldehyde": 0.7,
    "acetyl": 0.7,
    "hydroxyl": 1,
    "methoxy": 0.7,
    "methyl": 1,
    "ethyl": 0.7,
    "trifluoromethyl": 0.7,
    "fluoro": 0.7,
    "chloro": 1,
    "bromo": 0.7,
}
ON_AROMATIC = WeightedChoice.of(ANYWHERE | {"nitroso": 3, "methylamino": 3, "dimethylamino": 2})
ON_SATURATED = WeightedChoice.of(ANYWHERE | {"nitro": 10, "amino": 10})
# Replacements of the group in a negative molecule. If none had nitrogen, the classes would differ in their atoms; if
# all had, in how many similar groups they carry: these weights keep both differences small.
STAND_INS = {
    "nitro": WeightedChoice.of(
        {"nitromethyl": 2, "nitroso": 2.2, "amide": 0.8, "nitrile": 0.5}
        | {"acid": 0.6, "aldehyde": 0.4, "acetyl": 0.4, "methoxy": 0.4, "ethyl": 0.3, "trifluoromethyl": 0.4}
    ),
    "amino": WeightedChoice.of(
        {"aminomethyl": 2, "methylamino": 2.2, "dimethylamino": 1, "aminoethyl": 1, "nitrile": 0.6}
        | {"hydroxyl": 0.7, "methyl": 0.5, "fluoro": 0.4, "chloro": 0.5, "bromo": 0.4}
    ),
}
NUMBER_OF_GROUPS = WeightedChoice.of({"1": 0.5, "2": 2.5, "3": 4, "4": 3})
