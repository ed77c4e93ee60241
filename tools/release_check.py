"""Whether this source can be released: built, and tried where the repository is not.

    make release-check
    python tools/release_check.py --tag v0.3.0        # also: the tag is the version
    python tools/release_check.py --out dist          # keep the sdist and the wheel that passed

Each step is printed with what it saw; the first that fails ends the run with status 1. The wheel is installed into an
environment of its own in a temporary folder, with the versions of constraints.txt, and nothing is left of it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "rcexplainer"
SCRIPT = ROOT / "tests" / "fixtures" / "typed_script.py"
BESIDE = ("CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "pyproject.toml")
README_WAY_OUT = (
    "write these links with the repository's public address (https://…/blob/vX.Y.Z/FILE, pictures with its raw files), "
    "and `pip install rcexplainer` where it says that it is not on PyPI"
)
EXTRAS = ("rdkit", "matplotlib", "fastapi", "uvicorn", "pyarrow", "ray")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NOT_THERE = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
IMPORTED = "import rcexplainer as rc; [getattr(rc, name) for name in rc.__all__]; print(rc.__version__, rc.__file__)"


class CheckFailedError(Exception):
    """A step that does not pass."""


@dataclass(frozen=True)
class Trial:
    """Where a release is tried: `dist` has what was built, `venv` the environment, all else is the user's folder."""

    folder: Path
    tag: str | None = None

    @property
    def wheel(self) -> Path:
        """The built wheel."""
        return next((self.folder / "dist").glob("*.whl"))

    @property
    def sdist(self) -> Path:
        """The built source distribution."""
        return next((self.folder / "dist").glob("*.tar.gz"))

    @property
    def scripts(self) -> Path:
        """Where the programs of the environment are."""
        return self.folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")

    def run(self, program: str, *words: object) -> str:
        """Run a program of the environment in the user's folder."""
        return output([str(self.scripts / program), *map(str, words)], self.folder)


def output(words: Sequence[str], folder: Path) -> str:
    """What a command prints, run as by a user who has not got this repository."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "MYPYPATH")
    clean = {name: value for name, value in os.environ.items() if name not in hidden}
    clean["OMP_NUM_THREADS"] = "1"  # small networks: several threads wait for each other on a busy machine
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise CheckFailedError(
            f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done.stdout


def version() -> str:
    """The version, from its one place."""
    return re.findall(r'^__version__ = "(.+)"$', (PACKAGE / "__init__.py").read_text(encoding="utf-8"), re.M)[0]


def version_problems(tag: str | None = None) -> list[str]:
    """Where another version is written, or none."""
    said = {
        "the top of CHANGELOG.md": first(r"^## (\S+)", "CHANGELOG.md"),
        "CITATION.cff": first(r"^version: (\S+)", "CITATION.cff"),
    }
    if tag is not None:
        said["the tag"] = tag.removeprefix("v")
    found = [f"{place} says {other}, the package {version()}" for place, other in said.items() if other != version()]
    if tag is not None and not tag.startswith("v"):
        found.append(f"the tag {tag} does not begin with v")
    if not re.search(rf"^## {re.escape(version())}[^\n]*\n+- ", text("CHANGELOG.md"), re.M):
        found.append(f"CHANGELOG.md has no entry under {version()}")
    if re.search(r"^version = \"", text("pyproject.toml"), re.M):
        found.append("pyproject.toml has a version of its own")
    return found


def first(pattern: str, name: str) -> str:
    """The first match in a file of the repository."""
    return next(iter(re.findall(pattern, text(name), re.M)), "nothing")


def text(name: str) -> str:
    """A file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def package_files() -> set[str]:
    """What the package consists of: its modules and all else that lies beside them, but no leftovers."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / "src").as_posix() for path in files}


def differences(have: Iterable[str], expected: Iterable[str]) -> list[str]:
    """What is missing and what should not be there."""
    have, expected = set(have), set(expected)
    return [f"missing: {name}" for name in sorted(expected - have)] + [
        f"not expected: {name}" for name in sorted(have - expected)
    ]


def check_version(trial: Trial) -> str:
    """One version, with an entry in the changelog."""
    refuse(version_problems(trial.tag))
    return f"{version()} in the package, CHANGELOG.md and CITATION.cff"


def readme_problems() -> list[str]:
    """What of README.md is wrong where it is the long description on PyPI, which has no other file."""
    lines = text("README.md").splitlines()
    links = [
        (number, target)
        for number, line in enumerate(lines, 1)
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)\s]+)", line)
    ]
    denied = [number for number, line in enumerate(lines, 1) if "not on PyPI" in line]
    found = [f"README.md, line {number}: {target} is relative and leads nowhere on PyPI" for number, target in links]
    return found + [f"README.md, line {number}: it says that it is not on PyPI" for number in denied]


def check_description(trial: Trial) -> str:
    """The long description on PyPI: an error for a release, which has a tag, and told in a trial."""
    found = readme_problems()
    if trial.tag is None:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return f"to settle before a release, see CONTRIBUTING.md: {found[0]}{more}" if found else "fit for PyPI"
    refuse([*found, README_WAY_OUT] if found else [])
    return "every link and picture of README.md is whole"


def check_build(trial: Trial) -> str:
    """Source distribution, and a wheel from it."""
    output([sys.executable, "-m", "build", "--outdir", str(trial.folder / "dist"), str(ROOT)], trial.folder)
    return ", ".join(f"{path.name} ({path.stat().st_size // 1000} kB)" for path in (trial.sdist, trial.wheel))


def check_metadata(trial: Trial) -> str:
    """What an index would refuse."""
    output([sys.executable, "-m", "twine", "check", "--strict", str(trial.sdist), str(trial.wheel)], trial.folder)
    return "twine check --strict passed"


def check_wheel(trial: Trial) -> str:
    """The package, its assets, its metadata, and nothing else."""
    with zipfile.ZipFile(trial.wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    inside = {name for name in names if ".dist-info/" not in name}
    refuse(differences(inside, package_files()))
    licences = [name for name in names if name.endswith("licenses/LICENSE")]
    refuse([] if licences else ["missing: the licence"])
    return f"{len(inside)} files, {sum(not name.endswith('.py') for name in inside)} of them assets; nothing else"


def check_sdist(trial: Trial) -> str:
    """The package and what is needed to build it: no tests, results or data."""
    with tarfile.open(trial.sdist) as archive:
        names = {str(PurePosixPath(*PurePosixPath(one.name).parts[1:])) for one in archive if one.isfile()}
    made = {name for name in names if name in ("PKG-INFO", "setup.cfg") or ".egg-info/" in name}
    refuse(differences(names - made, {f"src/{name}" for name in package_files()} | set(BESIDE)))
    return f"{len(names)} files; no tests, results or data"


def check_install(trial: Trial) -> str:
    """The wheel and what it needs, in a clean environment."""
    venv.create(trial.folder / "venv", with_pip=True)
    shutil.copy(ROOT / "constraints.txt", trial.folder)
    trial.run("python", "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt", trial.wheel, "mypy")
    return "with the versions of constraints.txt"


def check_import(trial: Trial) -> str:
    """Every public name, without any extra, from the environment."""
    there = trial.run("python", "-c", NOT_THERE, *EXTRAS).split()
    refuse([f"{name} was installed, and is an extra" for name in there])
    number, place = trial.run("python", "-W", "error::DeprecationWarning:rcexplainer", "-c", IMPORTED).split(maxsplit=1)
    refuse([] if trial.folder.resolve() in Path(place.strip()).resolve().parents else [f"imported from {place}"])
    refuse([] if number == version() else [f"version {number} was installed"])
    return f"every public name without {', '.join(EXTRAS)}"


def check_types(trial: Trial) -> str:
    """A user's script in strict mode."""
    shutil.copy(SCRIPT, trial.folder)
    trial.run("python", "-m", "mypy", "--strict", "--config-file=", SCRIPT.name)
    return "mypy --strict passed on a user's script"


def check_smoke(trial: Trial) -> str:
    """Fit, explain, save, load, explain again."""
    said = trial.run("python", SCRIPT.name, trial.folder)
    return said.strip().splitlines()[-1]


def check_demo(trial: Trial) -> str:
    """`rcexplainer demo`, which also needs no extra."""
    trial.run("rcexplainer", "demo", "--quiet")
    page = trial.folder / "demo.html"
    refuse([] if page.exists() else ["it wrote no demo.html"])
    return f"demo.json and demo.html ({page.stat().st_size // 1000} kB)"


def check_page(trial: Trial) -> str:
    """The page loads nothing from elsewhere, and its script draws the table."""
    page = trial.folder / "demo.html"
    refuse([f"the page loads {found}" for found in foreign(page.read_text(encoding="utf-8"))])
    if CHROMIUM is None:
        return "self-contained; not opened, there is no chromium"
    profile = f"--user-data-dir={trial.folder / 'profile'}"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", profile]
    opened = output([CHROMIUM, *flags, "--dump-dom", page.as_uri()], trial.folder)
    rows = opened.count("<tr") - page.read_text(encoding="utf-8").count("<tr")
    refuse([] if rows >= 8 and "<svg" in opened else [f"in chromium its table has {rows} rows, of 8 molecules"])
    return f"self-contained; in chromium its script made {rows} rows and drew"


def foreign(html: str) -> list[str]:
    """What a page would load from elsewhere: links to read are none of it."""
    sources = r"<(?:script|img|iframe|source|audio|video)[^>]*\ssrc=[\"'](?!data:)[^\"']*"
    links = r"<link[^>]*href=[\"'](?!data:)[^\"']*"
    return re.findall(rf"{sources}|{links}|url\([\"']?(?!data:|#)[^)]*\)|@import[^;]*", html)


def refuse(problems: list[str]) -> None:
    """Fail if there are problems."""
    if problems:
        raise CheckFailedError("\n".join(problems))


STEPS: dict[str, Callable[[Trial], str]] = {
    "version": check_version,
    "description": check_description,
    "build": check_build,
    "metadata": check_metadata,
    "wheel": check_wheel,
    "sdist": check_sdist,
    "install": check_install,
    "import": check_import,
    "types": check_types,
    "smoke test": check_smoke,
    "demo": check_demo,
    "page": check_page,
}


def main() -> int:
    """Go through the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag of the release, vX.Y.Z")
    parser.add_argument("--out", type=Path, help="where to copy what was built, if all passes")
    args = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rcexplainer-release-") as folder:
        trial = Trial(Path(folder), args.tag)
        for name, step in STEPS.items():
            begun = time.monotonic()
            try:
                found = step(trial)
            except CheckFailedError as error:
                print(f"{name:11} FAILED\n{error}")
                return 1
            print(f"{name:11} {time.monotonic() - begun:4.0f} s   {found}", flush=True)
        if args.out is not None:
            args.out.mkdir(parents=True, exist_ok=True)
            for path in (trial.sdist, trial.wheel):
                shutil.copy(path, args.out)
    print(f"rcexplainer {version()} can be released ({time.monotonic() - started:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
