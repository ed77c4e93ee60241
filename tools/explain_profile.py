"""Where the time of an explanation goes: the share of each part, for one graph alone and for a list.

    python tools/explain_profile.py --keep networks

Network, explainer and molecules are those of `rcexplainer bench explain`. Shares are of the time inside `explain`; a
part includes what it calls; the profiler makes Python calls look slower than they are beside tensor operations.
"""

import argparse
import cProfile
import pstats
from pathlib import Path

import torch

from rcexplainer.benchmark.speed.molecules import Molecules
from rcexplainer.benchmark.speed.options import BenchOptions

PARTS = {
    "scope around the model": ("gnn/scope.py", "__enter__"),
    "graphs joined": ("gnn/graph_store.py", "__init__"),
    "graphs checked": ("gnn/store_checks.py", "all_sound"),
    "units found": ("core/units.py", "find_units"),
    "runs of the model": ("gnn/split.py", "run"),
    "copies made": ("gnn/instances.py", "copies"),
    "mask network, calibration": ("fit/network.py", "__call__"),
    "search": ("core/counterfactual.py", "prefix_search"),
    "last word": ("core/counterfactual.py", "verify"),
    "claims checked alone": ("core/verification.py", "check_minimal"),
    "sample checked alone": ("core/verification.py", "check_alone"),
    "second run in other company": ("core/verification.py", "check_company"),
}
CASES = {"alone, scores": (1, "none", 300), "alone, prefix": (1, "prefix", 100), "list, prefix": (1000, "prefix", 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="folder of the network and its explainer")
    torch.set_num_threads(1)
    subject = Molecules.of(BenchOptions(keep=parser.parse_args().keep))
    graphs = subject.some(1000)
    for name, (count, search, times) in CASES.items():
        asked = graphs[0] if count == 1 else graphs[:count]
        subject.fitted.explain(asked, search=search)
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(times):
            subject.fitted.explain(asked, search=search)
        profile.disable()
        shares = _shares(pstats.Stats(profile))
        print(name, ", ".join(f"{part} {share:.0%}" for part, share in shares.items() if share >= 0.01), sep=": ")


def _shares(stats: pstats.Stats) -> dict[str, float]:
    """The share of `explain` that each part takes."""
    found = {
        (file.rsplit("rcexplainer/", 1)[-1], function): cumulative
        for (file, _, function), (_, _, _, cumulative, _) in stats.stats.items()  # type: ignore[attr-defined]
        if "rcexplainer/" in file
    }
    total = found["method/fitted_explainer.py", "explain"]
    return {part: found.get(place, 0.0) / total for part, place in PARTS.items()}


if __name__ == "__main__":
    main()
