"""A document as one HTML file: template, style sheet, scripts and data in one, under a strict content security policy.

The policy allows exactly this style sheet and this script, by their hashes, and nothing from anywhere else. The data is
a block of JSON that no browser runs, in which `<`, `>` and `&` are written as escapes; the script only ever sets text.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from rcexplainer.viz.page.document import PageDocument, plain
from rcexplainer.viz.palette import DARK, LIGHT

# One idea a file, in the order in which they need each other.
SCRIPTS = (
    "elements.js",
    "state.js",
    "drawing.js",
    "probabilities.js",
    "slider.js",
    "table.js",
    "instance.js",
    "reasons.js",
    "histograms.js",
    "keyboard.js",
    "page.js",
)
LIVE_SCRIPTS = ("download.js", "live.js")  # only where a server is behind the page
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render_page(document: PageDocument) -> str:
    """Render a page.

    Args:
        document: What it shows.

    Returns:
        Its HTML.
    """
    return _rendered(document, page_script(), plain(document), "")[0]


def render_live_page(document: PageDocument, task: str, smiles: bool) -> tuple[str, str]:
    """Render a page behind which a server runs the model.

    Args:
        document: What it shows.
        task: graph, node or link: what an upload must name beside its graph.
        smiles: Whether the server reads SMILES.

    Returns:
        Its HTML, and the content security policy it is sent with: as that of any page, and requests to its own server.
    """
    values = plain(document) | {"live": {"task": task, "smiles": smiles}}
    return _rendered(document, page_script((*SCRIPTS, *LIVE_SCRIPTS)), values, "; connect-src 'self'")


def _rendered(document: PageDocument, script: str, values: dict[str, Any], more: str) -> tuple[str, str]:
    """A page and its policy."""
    from jinja2 import Environment
    from markupsafe import Markup

    style = page_style()
    policy = (
        f"default-src 'none'; style-src '{content_hash(style)}'; script-src '{content_hash(script)}'; img-src data:; "
        f"base-uri 'none'; form-action 'none'{more}"
    )
    template = Environment(autoescape=True, keep_trailing_newline=True).from_string(asset("page.html.j2"))
    text = template.render(
        document=document,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        data=Markup(embedded_json(values)),
    )
    return text, policy


def embedded_json(values: Any) -> str:
    """Write JSON that can stand inside an HTML element.

    Args:
        values: Nested dicts, lists and scalars.

    Returns:
        JSON without characters that could end the element or begin another.
    """
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, escape in ESCAPES.items():
        text = text.replace(letter, escape)
    return text


def page_style() -> str:
    """Return the style sheet, with the colours of drawings in front."""
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in own.items()) for own in (LIGHT, DARK))
    colours = (
        f":root {{ color-scheme: light; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ "
        f':root:not([data-theme="light"]) {{ color-scheme: dark; {dark} }} }}\n'
        f':root[data-theme="dark"] {{ color-scheme: dark; {dark} }}\n'
    )
    return colours + asset("page.css")


def page_script(names: Sequence[str] = SCRIPTS) -> str:
    """Return scripts of the page as one, in a scope of their own.

    Args:
        names: The scripts, in their order.
    """
    body = "\n".join(asset(name) for name in names)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


def content_hash(text: str) -> str:
    """Return the hash by which a content security policy allows an inline element with this content."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def asset(name: str) -> str:
    """Read a file of the page; line ends are those that browsers hash."""
    text = resources.files("rcexplainer.viz.page").joinpath("assets", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
