"""Write `src/rcexplainer/benchmark/tuned.toml` from the results of `rcexplainer reproduce tuning`.

rcexplainer reproduce tuning --profile standard --out results
python tools/tuned_settings.py results
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rcexplainer.benchmark import tuned
from rcexplainer.paper.entries import plan
from rcexplainer.paper.store import Store
from rcexplainer.paper.tuning_tables import tuned_winners

PROFILE = "standard"
COMMENT = f"""\
# The settings with which each baseline had the largest fidelity on validation instances, dataset by dataset; {{}} has
# none: its defaults did best. Printed by `rcexplainer reproduce tuning --profile {PROFILE}`, written by
# `tools/tuned_settings.py`; what is not named here has its defaults.
"""


def tuned_text(winners: tuned.TunedSettings) -> str:
    """The file, as TOML."""
    return "\n".join([COMMENT, *(_section(dataset, methods) for dataset, methods in winners.items())])


def _section(dataset: str, methods: Mapping[str, Mapping[str, Any]]) -> str:
    return "".join([f"[{dataset}]\n", *(f"{method} = {_inline(own)}\n" for method, own in methods.items())])


def _inline(settings: Mapping[str, Any]) -> str:
    """A table in one line; numbers, texts, truth values and lists are written in TOML as in JSON."""
    return (
        f"{{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in settings.items())} }}" if settings else "{}"
    )


def main(folder: str = "results") -> int:
    planned = plan("tuning", PROFILE)
    records = Store(Path(folder)).records(planned.jobs)
    missing = [job.label for job in planned.jobs if job not in records]
    if missing:
        print(f"{folder} has no result of {len(missing)} of the {len(planned.jobs)} jobs of tuning: {missing[0]}, …")
        return 1
    winners = tuned_winners(planned.settings, planned.tagged({job: one.result for job, one in records.items()}))
    path = Path(tuned.__file__).with_name(tuned.TUNED_FILE)
    path.write_text(tuned_text(winners), encoding="utf-8")
    print(f"{path} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
