"""Coverage-guided fuzzing of every reader of foreign bytes, with atheris (extra `trust`).

    python tools/trust/fuzz.py --out build/trust --minutes 10 --reader all

Each reader runs in a process of its own, from the small valid inputs of `readers.py`. An answer or an
`RCExplainerError` is right. Any other exception, a case of more than 5 seconds, or one that takes more than 1 GB of
memory is a finding: its bytes are kept in OUT/fuzz/READER/findings, one for each place in the code, and the run goes
on.

    python tools/trust/fuzz.py --replay build/trust/fuzz/csv/findings/NAME.bin --reader csv
"""

import argparse
import hashlib
import json
import logging
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from source_digest import source_digest

SLOWEST = 5.0  # seconds of a case
MEMORY = 1 << 30  # bytes that a case may take
NAMES = ("tu", "csv", "smiles", "parquet", "safetensors", "uploads", "arrays")
RESTARTS = 200  # a crash in native code ends a process; so often another one goes on


class Case:
    """Runs one input after the other, and keeps what must not happen."""

    def __init__(self, read: Callable[[bytes, Path], object], folder: Path, scratch: Path) -> None:
        self.read, self.folder, self.scratch = read, folder, scratch
        self.findings = folder / "findings"
        self.findings.mkdir(parents=True, exist_ok=True)
        self.runs = self.refused = 0
        self.told, self.begun = 0.0, False

    def __call__(self, content: bytes) -> None:
        from rcexplainer.errors import RCExplainerError

        if not self.begun:  # whatever is needed to begin is loaded by now
            self.begun = True
            limit_memory()
        (self.folder / "current.bin").write_bytes(content)  # what a crash of the process leaves
        start, used = time.monotonic(), time.process_time()
        try:
            self.read(content, self.scratch)
        except RCExplainerError:
            self.refused += 1
        except Exception as error:  # noqa: BLE001  this is what is looked for
            self.keep(content, *described(error))
        took = time.process_time() - used  # by the clock, a busy machine would be found out
        if took > SLOWEST:
            self.keep(content, "slow", f"{took:.1f} s")
        self.runs += 1
        if start - self.told > 1:
            self.told = start
            self.tell()

    def keep(self, content: bytes, where: str, what: str) -> None:
        """One input for each place in the code, the shortest."""
        name = hashlib.sha256(where.encode()).hexdigest()[:12]
        path = self.findings / f"{name}.bin"
        if path.exists() and path.stat().st_size <= len(content):
            return
        path.write_bytes(content)
        (self.findings / f"{name}.json").write_text(json.dumps({"where": where, "what": what}))

    def tell(self) -> None:
        (self.folder / f"runs-{os.getpid()}.json").write_text(json.dumps({"runs": self.runs, "refused": self.refused}))


def limit_memory() -> None:
    """From here on this process may take so much more: beyond that, an allocation raises."""
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def described(error: BaseException) -> tuple[str, str]:
    """The last place in our code that an exception went through, and what it says."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/rcexplainer/" in frame.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside"
    return f"{type(error).__name__} at {place}", f"{type(error).__name__}: {str(error)[:300]}"


def child(name: str, out: Path, seconds: int, seed: int) -> None:
    """Fuzz one reader; the process ends with it."""
    refuse_blind()
    import atheris

    logging.disable(logging.CRITICAL)
    folder = out / "fuzz" / name
    scratch = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    with atheris.instrument_imports(include=["rcexplainer"]):  # torch, RDKit and pyarrow are not ours
        from readers import READERS

        reader = READERS[name]
        case = Case(reader.read, folder, scratch)
        corpus = folder / "corpus"
        corpus.mkdir(exist_ok=True)
        for number, content in enumerate(reader.seeds(scratch)):
            (corpus / f"seed-{number}").write_bytes(content)
            outcome(reader.read, content, scratch)  # loads what is imported late
    options = [
        f"-max_total_time={seconds}", f"-max_len={reader.longest}", f"-seed={seed + 1}", "-timeout=60",
        "-rss_limit_mb=4096", f"-artifact_prefix={folder}/stopped-", "-print_final_stats=1",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], case)
    atheris.Fuzz()


def refuse_blind() -> None:
    """Refuse to fuzz what was imported too early: such a module is not instrumented, and mutations for it are blind.

    Raises:
        RuntimeError: A module of the library is there already.
    """
    early = sorted(name for name in sys.modules if name.partition(".")[0] == "rcexplainer")
    if early:
        raise RuntimeError(
            f"{early[0]} was imported before atheris could instrument it, and so were {len(early) - 1} other modules: "
            "import them inside the function that needs them"
        )


def outcome(read: Callable[[bytes, Path], object], content: bytes, scratch: Path) -> str:
    """What a reader does with an input, in words."""
    from rcexplainer.errors import RCExplainerError

    try:
        return f"an answer: {str(read(content, scratch))[:200]}"
    except RCExplainerError as error:
        return f"refused: {error}"
    except Exception as error:  # noqa: BLE001  this is what is looked for
        return "FOUND " + ": ".join(described(error))


def fuzzed(name: str, out: Path, minutes: float, seed: int) -> dict[str, Any]:
    """Run a reader for some minutes in processes of its own, and count."""
    folder = out / "fuzz" / name
    kept = folder / "done.json"
    source, found = source_digest(), json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    if found.get("source") == source and found["minutes"] >= minutes:
        return found["row"]
    for old in folder.glob("runs-*.json"):
        old.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    end, crashes, coverage, corpus = time.monotonic() + 60 * minutes, [], 0, 0
    for attempt in range(RESTARTS):
        left = int(end - time.monotonic())
        if left < 2:
            break
        command = [sys.executable, __file__, "--child", name, "--out", str(out), "--seconds", str(left)]
        run = subprocess.run(
            [*command, "--seed", str(seed + attempt)], stderr=subprocess.PIPE, text=True, errors="replace"
        )
        shown = re.findall(r"cov: (\d+).*corp: (\d+)", run.stderr)
        if shown:
            coverage, corpus = max(coverage, int(shown[-1][0])), int(shown[-1][1])
        if run.returncode and left > 2 and time.monotonic() < end - 2:
            last = folder / "current.bin"
            target = folder / "findings" / f"stopped-{attempt}.bin"
            if last.exists():
                target.parent.mkdir(exist_ok=True)
                shutil.copy(last, target)
            crashes.append({"where": "the process", "what": f"status {run.returncode}: {run.stderr[-600:]}"})
    counts = [json.loads(path.read_text()) for path in folder.glob("runs-*.json")]
    row = {
        "reader": name,
        "minutes": minutes,
        "cases": sum(one["runs"] for one in counts),
        "refused": sum(one["refused"] for one in counts),
        "branches": coverage,
        "corpus": corpus,
        "crashes": crashes,
    }
    kept.write_text(json.dumps({"source": source, "minutes": minutes, "row": row}))
    return row


def findings_of(row: dict[str, Any], out: Path) -> list[dict[str, Any]]:
    """All that was ever found in a reader, each input read again: what is still wrong is open."""
    name, found = row["reader"], [{**one, "open": True} for one in row["crashes"]]
    for path in sorted((out / "fuzz" / name / "findings").glob("*.json")):
        command = [sys.executable, __file__, "--reader", name, "--replay", str(path.with_suffix(".bin"))]
        start = time.monotonic()
        again = subprocess.run(command, capture_output=True, text=True, errors="replace")
        one = json.loads(path.read_text())
        slow = one["where"] == "slow" and time.monotonic() - start > 2 * SLOWEST  # imports take their time
        found.append({**one, "open": slow or bool(again.returncode) or again.stdout.startswith("FOUND")})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/trust"))
    parser.add_argument("--minutes", type=float, default=0.5, help="for each reader")
    parser.add_argument("--reader", default="all", choices=[*NAMES, "all"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", type=Path, help="read this input once and say what happens")
    parser.add_argument("--child", choices=NAMES, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=int, default=30, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.out, given.seconds, given.seed)
    from part_record import finish  # beside this script; it needs the library, which `child` imports itself

    if given.replay:
        from readers import READERS

        reader, scratch = READERS[given.reader], Path(tempfile.mkdtemp())
        for content in reader.seeds(scratch):
            outcome(reader.read, content, scratch)  # loads what is imported late
        limit_memory()
        print(outcome(reader.read, given.replay.read_bytes(), scratch))
        return 0
    asked = NAMES if given.reader == "all" else (given.reader,)
    rows = []
    for name in asked:
        row = fuzzed(name, given.out, given.minutes, given.seed)
        rows.append(row := {**row, "findings": findings_of(row, given.out)})
        opened = sum(one["open"] for one in row["findings"])
        said = f"{row['cases']:,} cases, {row['refused']:,} refused, {len(row['findings'])} findings, {opened} open"
        print(f"{name}: {said}", flush=True)
    found = [(row["reader"], one) for row in rows for one in row["findings"]]
    failures = [f"{name}: {one['where']}: {one['what']}" for name, one in found if one["open"]]
    wrong = failures + [f"{row['reader']}: not one case was run" for row in rows if not row["cases"]]
    figures = {
        "readers": len(rows),
        "minutes": sum(row["minutes"] for row in rows),
        "cases": sum(row["cases"] for row in rows),
        "findings": len(found),
        "open": len(failures),
    }
    sizes = {"minutes": given.minutes, "readers": list(asked)}
    notes = ["Every input that was ever a finding is read again at the end: open are those that still are one."]
    return finish(
        given.out,
        "fuzz",
        seed=given.seed,
        sizes=sizes,
        figures=figures,
        rows=rows,
        notes=notes,
        failures=wrong,
    )


if __name__ == "__main__":
    sys.exit(main())
