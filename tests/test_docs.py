"""Every code block of the documentation is run: Python page by page, commands one after the other, at a small size."""

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import typer

import rcexplainer as rc
from rcexplainer import config
from rcexplainer.benchmark import networks
from rcexplainer.cli.app import app, main
from rcexplainer.cli.old_names import with_new_names
from rcexplainer.gnn import trainer
from tests.docs_blocks import COMMANDS, FENCE, PYTHON, ROOT, SHOWN, blocks, commands, indented_commands, pages
from tests.docs_names import PAGES, SLOW_PAGES

# Blocks that a test of their own runs.
ELSEWHERE = {
    ("README.md", "python"): "tests/test_readme.py",
    ("README.md", "console"): "tests/test_readme.py",
    ("README.md", "sh"): "tests/test_own_package.py",
    ("docs/your-model.md", "sh"): "tests/test_own_package.py",
    ("docs/methods.md", "python"): "tests/baselines/test_methods_page.py",
    ("docs/drawings.md", "python"): "tests/viz/test_drawings_page.py",
    ("docs/page.md", "python"): "tests/viz/test_page_docs.py",
    ("docs/add-a-method.md", "python"): "tests/testing/test_checks.py",
}
# Pages that a tool writes from what it has run; their own test runs it again. Wrong commands stand there on purpose.
WRITTEN = {"docs/errors.md": "tests/test_errors_page.py"}
EVERY = [block for page in pages() if page not in WRITTEN for block in blocks(page)]
HERE = [block for block in EVERY if (block.page, block.language) not in ELSEWHERE]
PYTHON_PAGES = sorted({block.page for block in HERE if block.language in PYTHON and not block.mark})
COMMAND_PAGES = sorted({block.page for block in HERE if block.language in COMMANDS and not block.mark})
SMALL_DATA = {"nitro": {"num_graphs": 60}, "ba-2motifs": {"num_graphs": 60}}
CHECKED = 4  # blocks that are not run, each with its reason on the page


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Few graphs and few epochs, whatever is asked for, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(config.PRESETS, "default", replace(config.PRESETS["default"], epochs=1))
    monkeypatch.setitem(config._NODES, "default", config._NODES["default"] | {"epochs": 1, "restarts": 1})
    for task, settings in trainer.DEFAULT_TRAINING.items():
        monkeypatch.setitem(trainer.DEFAULT_TRAINING, task, replace(settings, epochs=8))
    load = rc.datasets.load

    def few(name: str, *args: Any, **options: Any):
        return load(name, *args, **(options | SMALL_DATA.get(name, {})))

    monkeypatch.setattr(rc.datasets, "load", few)
    for module in ("rcexplainer.benchmark.accuracy", "rcexplainer.cli.saved_network", networks.__name__):
        monkeypatch.setattr(f"{module}.load", few)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def test_every_block_is_run_or_says_why_not() -> None:
    assert len(EVERY) > 40
    assert {block.language for block in EVERY} <= {*PYTHON, *COMMANDS, *SHOWN}
    checked = [block for block in EVERY if block.mark == "checked"]
    assert len(checked) == CHECKED
    assert all(block.language in COMMANDS for block in checked)  # Python is always run
    assert all(len(block.reason) > 15 for block in EVERY if block.mark)
    for (page, language), test in ELSEWHERE.items():
        assert any(block.page == page and block.language == language for block in EVERY)
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
    for page, test in WRITTEN.items():
        if page in pages():
            assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
    slow = {block.page for block in HERE if block.mark == "slow"}
    assert slow == set(SLOW_PAGES)
    assert set(PYTHON_PAGES) == set(PAGES)


def run_page(page: str, names: dict[str, Any], mark: str = "") -> None:
    """Run the Python of a page, all blocks in one namespace; a failure names its line on the page."""
    for block in blocks(page):
        if block.language in PYTHON and block.mark == mark:
            code = "\n" * (block.line - 1) + block.code
            exec(compile(code, str(ROOT / page), "exec"), names)


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_the_python_of_a_page(page, small) -> None:
    names = PAGES[page]()
    given = set(names)
    run_page(page, names)
    assert set(names) - given  # it defined something


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Ray's own: open sockets, deprecated calls
@pytest.mark.parametrize("page", SLOW_PAGES)
def test_the_slow_python_of_a_page(page, small) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'rcexplainer[ray]'")
    try:
        names = SLOW_PAGES[page]()
        run_page(page, names, "slow")
        assert names["results"].count() == len(names["graphs"])
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_five_minutes_as_they_are(tmp_path, monkeypatch, capsys) -> None:
    """Without anything made small, as a reader runs it."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    run_page("docs/five-minutes.md", names)
    assert names["explanation"].counterfactual.flipped
    assert "house" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"explanation.svg", "explainer.safetensors", "page.html"}


def parse(words: list[str]) -> None:
    """Parse a command line of `rcexplainer` without running it; a wrong name or value is an error."""
    group = typer.main.get_command(app)
    name, *rest = with_new_names(words)
    command = group.commands[name]
    command.make_context(name, list(rest))


def check(line: str) -> None:
    """Check a command without running it: its options, the files it names, the extras it installs."""
    words = shlex.split(line)
    if words[0] == "cd":
        check(line.split("&&", 1)[1])
    elif words[0] == "rcexplainer":
        parse([word.replace("NAME", "nitro") for word in words[1:] if word not in ("…", "...")])
    elif words[0] == "python":
        module = words[1] == "-m"
        place = words[2].replace(".", "/") if module else words[1]
        found = [
            ROOT / f"{base}{place}{end}" for base in ("", "src/", "examples/") for end in ("", ".py", "/__main__.py")
        ]
        assert any(path.exists() for path in found), line
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M), line
    elif words[:2] == ["pip", "install"]:
        extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
        asked = re.search(r"\.\[(.*?)\]", words[-1])
        assert words[-1] == "." or set(asked[1].split(",")) <= set(extras), line
    elif words[0] == "zcat":
        assert (ROOT / words[1]).exists(), line
    else:
        pytest.fail(f"nothing checks the command: {line}")


@pytest.mark.parametrize("page", [page for page in pages() if page not in WRITTEN])
def test_the_commands_of_a_page_are_valid(page) -> None:
    lines = [line for block in blocks(page) if block.language in COMMANDS for line in commands(block.code)]
    for line in [*lines, *indented_commands(page)]:
        check(line)


def test_a_wrong_command_is_noticed() -> None:
    with pytest.raises(typer.TyperException, match=r"(?i)no such option"):
        check("rcexplainer explain --datsaet nitro")
    with pytest.raises(AssertionError):
        check("python tools/no_such_tool.py")
    with pytest.raises(AssertionError):
        check("make no-such-target")


QUICK = {"fit": ["--set", "epochs=1", "--set", "teacher_limit=60"], "train": ["--epochs", "60"], "explain": []}


@pytest.mark.parametrize("page", COMMAND_PAGES)
def test_the_commands_of_a_page(page, small, capsys) -> None:
    """One after the other, as a reader would type them, in one folder."""
    if page == "docs/how-to/molecules.md":  # its Python writes the file that its commands read
        run_page(page, PAGES[page]())
    for block in blocks(page):
        for line in commands(block.code) if block.language in COMMANDS and not block.mark else ():
            name, *words = shlex.split(line)
            if name == "zcat":
                shell = line.replace("results/", f"{ROOT}/results/").replace("python ", f"{sys.executable} ")
                assert json.loads(subprocess.run(shell, shell=True, check=True, capture_output=True).stdout)
                continue
            assert name == "rcexplainer"
            with pytest.raises(SystemExit) as left:
                main([*words, *QUICK[words[0]], "--quiet"])
            assert left.value.code == 0, f"{line}\n{capsys.readouterr().err}"


def test_json_is_json() -> None:
    found = [block for block in EVERY if block.language == "json"]
    assert found
    assert all(json.loads(block.code) for block in found)


def test_links_between_pages_lead_somewhere() -> None:
    for page in pages():
        text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text):
            found = (ROOT / page).parent / target
            later = found.name in ("errors.md", "trust.md")  # pages of their own tools
            assert found.exists() or later, f"{page}: {target}"


def test_every_page_and_public_name_is_on_the_site() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in (ROOT / "docs").rglob("*.md"):
        assert path.relative_to(ROOT / "docs").as_posix() in nav
    reference = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md"))
    for part in ("baselines", "metrics", "datasets", "gnn", "viz", "testing"):
        public = [name for name in getattr(rc, part).__all__ if callable(getattr(getattr(rc, part), name))]
        for name in {*public} - {"Direction", "Figure"}:
            assert re.search(rf"^::: rcexplainer\.[\w.]*\.{name}$", reference, re.M), f"rc.{part}.{name}"


def test_figures_of_the_first_page_are_those_of_the_benchmarks() -> None:
    speed = ROOT / "docs" / "speed" / "after"
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")

    def row(file: str, **wanted: str) -> dict[str, Any]:
        rows = json.loads((speed / file).read_text(encoding="utf-8"))["rows"]
        return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))

    for what in ("scores", "prefix", "greedy"):
        listed = row("explain-cpu-1.json", row="list", what=what)
        time, ratio = re.search(
            rf"^\| scores.*{what if what != 'scores' else 'graphs'}.* \| (\S+) ms a graph \| (\S+) ×", text, re.M
        ).groups()
        assert float(time) == pytest.approx(listed["ms a graph"], rel=0.01)
        assert float(ratio) == pytest.approx(listed["÷ loader + forward"], rel=0.02)
    for what in ("scores", "prefix"):
        alone = row("explain-cpu-1.json", row="alone", what=what)
        assert f"{alone['ms a graph']:.1f} ms" in text
    bullet = " ".join(re.search(r"^- You have many instances.*?(?=^- )", text, re.M | re.S)[0].split())
    told = re.findall(r"([\d.]+) times", bullet)  # the sentence says what the table says
    assert told == re.findall(r"^\| (?:scores|one graph).* \| ([\d.]+) ×", text, re.M)
    assert f"{row('fit-cpu-2.json', row='graphs')['seconds']:.1f} s" in text
    assert f"{row('fit-cuda-1.json', row='graphs')['seconds']:.1f} s" in text


def timed() -> dict[str, dict[str, str]]:
    """The table of results/time.md: method → column → what is there."""
    lines = (ROOT / "results" / "time.md").read_text(encoding="utf-8").splitlines()
    header, _, *rows = [line.strip("|").replace("*", "").split("|") for line in lines if line.startswith("| ")][-16:]
    named = [dict(zip((one.strip() for one in header), (one.strip() for one in row), strict=True)) for row in rows]
    return {row["method"]: row for row in named}


def test_times_with_a_plan_on_the_first_page_are_those_of_the_results() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    names = [name.strip() for name in re.search(r"^\| with a plan \|(.*)\|$", text, re.M)[1].lower().split("|")]
    rows = (("one graph alone, scores", "median, ms ↓", "ms"), ("its share of a batch", "in a batch, ms ↓", "ms"))
    for what, column, unit in (*rows, ("fit", "fit, s", "s")):
        shown = " | ".join(f"{timed()[name][column]} {unit}" for name in names)
        assert f"| {what} | {shown} |" in text
    plan = json.loads((ROOT / "docs" / "speed" / "plan" / "fit-cuda-1.json").read_text(encoding="utf-8"))["rows"]
    assert f"H200 ({next(row for row in plan if row['row'] == 'graphs')['seconds']:.1f} s with a plan)" in text


def test_costs_of_methods_are_those_of_the_results() -> None:
    text = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    dial = (ROOT / "results" / "dial.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `([\w-]+)`(.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) ?\|$", text, re.M)
    assert len(shown) == 16
    for name, extra, fit, runs, first, second, time in shown:
        label = name + (", refine = " + re.search(r"\d+", extra)[0] if "refine" in extra else "")
        assert f"| {label} | {runs} | {first} | {second} |" in dial, label
        if "refine" in extra:
            assert (fit, time) == ("the same", "")
        else:
            assert time == timed()[name]["in a batch, ms ↓"], label
            assert fit in ("none", f"{timed()[name]['fit, s']} s"), label
            assert fit != "none" or float(timed()[name]["fit, s"]) < 1  # seconds in which things are only checked


def test_a_fit_pays_from_the_number_of_graphs_that_the_times_say() -> None:
    text = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    greedy, ours = timed()["greedy"], timed()["rcexplainer"]
    batch, fit = "in a batch, ms ↓", ours["fit, s"]
    told = (
        f"greedy deletion takes {greedy[batch]} ms a graph in a batch and RCExplainer's scores {ours[batch]} ms after"
    )
    assert f"{told} a fit of {fit} s" in text
    graphs = 1000 * float(fit) / (float(greedy[batch]) - float(ours[batch]))
    assert f"from about {round(graphs, -2):,.0f} graphs on" in text


def test_every_cell_of_the_comparison_has_a_source() -> None:
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*) \|$", text, re.M)
    cells = [
        cell.strip() for row in rows if row.count(" | ") == 7 and "---" not in row for cell in row.split(" | ")[1:]
    ]
    names = {"rcexplainer", "PyG", "DIG", "GRETEL", "GNN-X-Bench", "exmol", "authors"}
    assert len(cells) > 150
    assert not [cell for cell in cells if "](" not in cell and "][" not in cell and cell not in names]
    assert "not looked for" not in text
    used, defined = set(re.findall(r"\]\[([\w-]+)\]", text)), dict(re.findall(r"^\[([\w-]+)\]: (https.*)$", text, re.M))
    assert used == set(defined)
    # What was read can be read again: a source is of a commit, or of a version.
    pinned = re.compile(
        r"https://github\.com/[\w-]+/[\w-]+/(?:blob|tree)/(?:[0-9a-f]{40}|2\.8\.1)/|https://pypi\.org/.*/[\d.]+$"
    )
    assert not [link for link in defined.values() if not pinned.match(link)]


def build_site(*words: str) -> "subprocess.CompletedProcess[str]":
    """`mkdocs build --strict`, as `make docs` runs it; --quiet would drop warnings before they are counted."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", *words]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", env=environment)


def test_every_build_of_the_site_is_strict() -> None:
    builds = [
        line
        for path in (ROOT / "Makefile", *(ROOT / ".github" / "workflows").glob("*.yml"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if "mkdocs build" in line
    ]
    assert len(builds) == 2
    assert all("--strict" in line and "--quiet" not in line and " -q" not in line for line in builds)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[another](other.md#here)", ""),
        ("[another](no-such-page.md)", "no-such-page.md"),
        ("[another](other.md#no-such-heading)", "no-such-heading"),
        ("[another](/other.md)", "absolute link"),
    ],
)
def test_a_wrong_link_fails_the_build(tmp_path, text, said) -> None:
    """Two pages with the settings of the site."""
    pytest.importorskip("mkdocs")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Start\n\n{text}\n", encoding="utf-8")
    (tmp_path / "docs" / "other.md").write_text("# Other\n\n## Here\n", encoding="utf-8")
    own = {"nav": ["index.md", "other.md"], "plugins": [], "hooks": [], "docs_dir": "docs", "site_dir": "site"}
    settings = {"INHERIT": str(ROOT / "mkdocs.yml")} | own
    (tmp_path / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
    done = build_site("--config-file", str(tmp_path / "mkdocs.yml"))
    assert bool(done.returncode) == bool(said), done.stderr
    assert ("WARNING" in done.stderr) == bool(said)
    assert said in done.stderr


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path) -> None:
    pytest.importorskip("mkdocs")
    done = build_site("--site-dir", str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("INFO ") for line in done.stderr.splitlines() if line), done.stderr
    pages_made = list((tmp_path / "site").rglob("*.html"))
    assert len(pages_made) > 40
    loaded = re.compile(r"<(?:script|link|img)[^>]*(?:src|href)=[\"']?https?://")
    for path in pages_made:
        assert not loaded.search(path.read_text(encoding="utf-8")), path  # nothing is fetched from elsewhere


@pytest.mark.slow
def test_the_figures_of_the_concepts_are_drawn(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    tool = ROOT / "tools" / "site" / "concept_figures.py"
    names = runpy.run_path(str(tool))
    written = names["main"](tmp_path, graphs=150, epochs=2, copies=1)
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert {path.name for path in written} == set(re.findall(r"figures/(concept-\w+\.svg)", page))
    assert all((ROOT / "docs" / "figures" / path.name).exists() for path in written)
