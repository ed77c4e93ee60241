"""Which results stand under settings that their commit did not have? Their digest is then not of what was computed.

    python tools/relabelled_results.py [results] [--mark]

For every row of the compact files whose `fields` are those of RCExplainer, the fields of `RCConfig` at the row's own
commit are read from git. With `--mark` the finding is written into `about` of the row, under `relabelled`: such a row
never counts as the result of a job, and every page that shows it says so.
"""

import ast
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from rcexplainer.paper.packs import read_pack, write_pack
from rcexplainer.paper.record import Record

CONFIG = "src/rcexplainer/config.py"
BESIDE = {"target_class", "eta"}  # what methods are made with beside the fields of RCConfig


def main(folder: str = "results", mark: str = "") -> int:
    found = 0
    for path in sorted((Path(folder) / "runs").glob("*.jsonl.gz")):
        rows, _ = read_pack(path)
        whys = [unknown(row) for row in rows]
        found += sum(map(bool, whys))
        print(f"{path.name}: {sum(map(bool, whys))} of {len(rows)} rows; {', '.join(sorted({*whys} - {''}))}")
        if mark and any(whys):
            pairs = zip(rows, whys, strict=True)
            write_pack(
                path, [replace(row, about=row.about | {"relabelled": why}) if why else row for row, why in pairs]
            )
    print(f"{found} results are of settings that their commit did not have")
    return 0


def unknown(row: Record) -> str:
    """The settings of a row that its commit did not have, in words; "" where there are none."""
    names = row.inputs.get("fields", {})
    if "weight_same" not in names:  # not RCExplainer's
        return ""
    commit = str(row.about["commit"]).removesuffix("+changes")
    missing = sorted(names.keys() - fields(commit) - BESIDE)
    return f"commit {commit} has no {', '.join(missing)}" if missing else ""


@cache
def fields(commit: str) -> frozenset[str]:
    """The fields of `RCConfig` at a commit."""
    text = subprocess.run(["git", "show", f"{commit}:{CONFIG}"], capture_output=True, text=True, check=True).stdout
    body = next(node.body for node in ast.parse(text).body if getattr(node, "name", "") == "RCConfig")
    return frozenset(
        node.target.id for node in body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
