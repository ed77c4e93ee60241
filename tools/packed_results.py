"""Is every result of an earlier commit still there? Compares its single files with the compact files of a folder.

    python tools/packed_results.py COMMIT [results]

Every `runs/<kind>/<label>-<digest>.json` of the commit is looked for in the compact files of the working tree, and must
be the same document: all keys in the same order, all values. Only white space may differ, and the mark of a row that
was relabelled before it was committed (`tools/relabelled_results.py`).
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rcexplainer.paper.packs import read_archive
from rcexplainer.paper.record import Record, dump


def main(commit: str, folder: str = "results") -> int:
    packed = {f"{one.kind}/{one.file_name}": one for one in read_archive(Path(folder) / "runs").by_digest.values()}
    names = git("ls-tree", "-r", "--name-only", commit, f"{folder}/runs").splitlines()
    same = different = 0
    for name in (name for name in names if name.endswith(".json")):
        record = packed.get(name.removeprefix(f"{folder}/runs/"))
        if record is not None and dump(unmarked(record)) == dump(json.loads(git("show", f"{commit}:{name}"))):
            same += 1
        else:
            different += 1
            print("lost:" if record is None else "changed:", name)
    print(f"{same} of {same + different} results of {commit} are in the compact files, unchanged")
    return min(different, 1)


def unmarked(record: Record) -> dict[str, Any]:
    about = {name: value for name, value in record.about.items() if name != "relabelled"}
    return record.to_document() | {"about": about}


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
