"""The contents of a report as one HTML file, by Jinja2 with autoescaping.

The page has no script. Its content security policy allows exactly its own style sheet, by its hash, and images that are
part of the page: the browser makes no request.
"""

from functools import cache
from importlib import resources
from urllib.parse import quote

from rcexplainer.paper.paper_index import INDEX_COLUMNS, INDEX_TITLE, index_text
from rcexplainer.paper.report_contents import ReportContents
from rcexplainer.paper.verdicts import VERDICT_WORDS
from rcexplainer.viz.page.render import content_hash
from rcexplainer.viz.palette import DARK, LIGHT

PAGE_TEMPLATE, PART_TEMPLATE, STYLE_SHEET = "report.html.jinja", "parts.html.jinja", "report.css"
VERDICT_CLASSES = {True: "yes", False: "no", None: "open"}


def render_report(report: ReportContents) -> str:
    """Render a report.

    Args:
        report: What it shows.

    Returns:
        Its HTML.
    """
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    sources = {name: _template(name) for name in (PAGE_TEMPLATE, PART_TEMPLATE)}
    environment = Environment(
        loader=DictLoader(sources), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "address": lambda path: quote(path, safe="/#"),  # a relative address: no scheme survives it
        "verdict_class": VERDICT_CLASSES.__getitem__,
        "verdict_word": VERDICT_WORDS.__getitem__,
    }
    style = _style()
    return environment.get_template(PAGE_TEMPLATE).render(
        report=report,
        index={"title": INDEX_TITLE, "text": index_text(), "columns": INDEX_COLUMNS},
        policy=(
            f"default-src 'none'; style-src '{content_hash(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
        ),
        style=Markup(style),
    )


def _style() -> str:
    """The style sheet; verdicts have the colours that drawings have for found and failed searches."""
    light, dark = (f"--reached: {own['flipped']}; --missed: {own['deleted']};" for own in (LIGHT, DARK))
    colours = f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    return colours + _template(STYLE_SHEET)


@cache
def _template(name: str) -> str:
    """A file of the page; line ends are those that browsers hash."""
    text = resources.files("rcexplainer.paper").joinpath("templates", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
