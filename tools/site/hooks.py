"""Hooks of `mkdocs build`: pages from outside `docs/`, links that lead out of it, and formulas as MathML.

The Markdown files are written for the repository: `docs/methods.md` links to `../results/boundaries.md` and to source
files. On the site the results and the root's pages are pages too, and every other file that is linked is shown as a
listing. Formulas between dollar signs become MathML while the site is built: no script and no font is loaded for them.
"""

import html
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "CHANGELOG.md": "Changes",
    "CONTRIBUTING.md": "Contributing",
    "SECURITY.md": "Security",
    "CODE_OF_CONDUCT.md": "Code of conduct",
}
LISTINGS = "source"  # the folder of the site that shows linked files of the repository
SHOWN = (".py", ".toml", ".cff", ".yml", ".json", ".txt")
LINK = re.compile(r"(?<!`)(\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(\))")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the root that there are into the last section of the navigation."""
    present = {name: title for name, title in ROOT_PAGES.items() if (ROOT / name).is_file()}
    config.nav = [*(config.nav or ()), {"Project": [{title: f"project/{name}"} for name, title in present.items()]}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is linked from outside `docs/`: results, pages of the root, listings of source files."""
    found = {place for file in files.documentation_pages() for place in _links(ROOT / "docs" / file.src_uri)}
    for path in sorted((ROOT / "results").rglob("*")):
        if path.is_file() and (path.suffix == ".md" or path.parent.name == "figures"):
            files.append(File.generated(config, _site_path(path), abs_src_path=str(path)))
            found |= _links(path) if path.suffix == ".md" else set()
    for name in ROOT_PAGES:
        if (ROOT / name).is_file():
            files.append(File.generated(config, _site_path(ROOT / name), abs_src_path=str(ROOT / name)))
            found |= _links(ROOT / name)
    for path in sorted(found):
        if path.exists() and _site_path(path).startswith(f"{LISTINGS}/"):
            files.append(File.generated(config, _site_path(path), content=_listing(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links that leave `docs/` to where their file is on the site."""
    source = _source(page.file)
    if source is None:
        return markdown

    def moved(link: re.Match[str]) -> str:
        target = _target(source, link[2])
        if not target.exists():
            return link[0]  # mkdocs names it, as an error in strict mode
        place = posixpath.relpath(_site_path(target), posixpath.dirname(page.file.src_uri) or ".")
        return f"{link[1]}{place}{link[3] or ''}{link[4]}"

    return LINK.sub(moved, markdown)


def on_page_content(content: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML."""
    from latex2mathml.converter import convert

    def mathml(formula: re.Match[str]) -> str:
        display = "block" if formula[1] == "div" else "inline"
        return convert(html.unescape(formula[2]).strip(), display=display)

    return FORMULA.sub(mathml, content)


def _source(file: File) -> Path | None:
    """The file of the repository that a page is written in; none for listings."""
    if file.src_uri.startswith(f"{LISTINGS}/"):
        return None
    return Path(file.abs_src_path) if file.abs_src_path else None


def _target(source: Path, link: str) -> Path:
    """What a relative link of a file leads to."""
    return Path(posixpath.normpath((source.parent / link).as_posix()))


def _links(source: Path) -> set[Path]:
    """The files and folders that a page links to."""
    return {_target(source, link[2]) for link in LINK.finditer(source.read_text(encoding="utf-8"))}


def _site_path(path: Path) -> str:
    """Where a file of the repository is on the site, relative to its root."""
    place = path.relative_to(ROOT).as_posix()
    if place == "README.md":
        return "index.md"
    if place.startswith("docs/") and not path.is_dir():
        return place.removeprefix("docs/")
    if place in ROOT_PAGES:
        return f"project/{place}"
    if place.startswith("results/") and path.suffix in (".md", ".svg", ".png"):
        return place
    return f"{LISTINGS}/{place}.md"


def _listing(path: Path) -> str:
    """A page with the text of a file, or of every file of a folder."""
    parts = [f"# {path.relative_to(ROOT).as_posix()}\n"]
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file() and (file.suffix in SHOWN or file == path) and "__pycache__" not in file.parts:
            text = file.read_text(encoding="utf-8")
            heading = [f"## {file.relative_to(path).as_posix()}\n"] if path.is_dir() else []
            parts += [*heading, f"````{file.suffix.removeprefix('.') or 'text'}\n{text}\n````\n"]
    return "\n".join(parts)
