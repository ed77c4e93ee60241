"""HTML by small functions. All that is shown goes through `text`, so that nothing in a result can become markup."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import quote

from rcexplainer.paper.table import Table

# No script, no font, no address: the browser makes no request.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light; --ink: #1d1d1f; --soft: #5c5c63; --line: #d9d9de; --wash: #f6f6f8; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1.25rem 4rem; color: var(--ink); background: #fff;
       font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: #0b57a4; }
section { border-top: 2px solid var(--ink); margin-top: 2.5rem; padding-top: 1rem; }
.soft { color: var(--soft); font-size: .9rem; }
pre { background: var(--wash); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem;
      margin: .75rem 0; overflow-x: auto; font: .875rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
nav ul { columns: 18rem; padding-left: 1.1rem; margin: .5rem 0; }
.counts { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.counts li { border: 1px solid var(--line); border-left: 6px solid var(--soft); border-radius: 6px;
             padding: .4rem .9rem; }
.counts b { font-size: 1.6rem; margin-right: .4rem; font-variant-numeric: tabular-nums; }
table.verdicts td:first-child { white-space: nowrap; border-left: 6px solid var(--soft); font-weight: 700; }
.counts .yes, table.verdicts .yes td:first-child { border-left-color: #0a7a4b; }
.counts .no, table.verdicts .no td:first-child { border-left-color: #b3261e; }
.scroll { overflow-x: auto; margin: .35rem 0; -webkit-overflow-scrolling: touch; }
table { border-collapse: separate; border-spacing: 0; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
thead th { border-bottom: 2px solid var(--ink); vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff; font-weight: 500; }
thead th:first-child { font-weight: 700; }
table.words th, table.words td { text-align: left; white-space: normal; vertical-align: top; position: static; }
table.words td { min-width: 6rem; }
table.words td:last-child { min-width: 14rem; }
table.verdicts td:nth-child(2) { min-width: 13rem; }
table.verdicts a { color: inherit; text-decoration-color: #a9a9b2; }
details { margin: 1rem 0; }
summary { cursor: pointer; font-size: .925rem; font-weight: 600; max-width: 60rem; }
.notes { color: var(--soft); font-size: .85rem; padding-left: 1.1rem; margin: .25rem 0; max-width: 60rem; }
figure { margin: 1.25rem 0; }
figure img { display: block; max-width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .875rem; max-width: 46rem; margin-top: .35rem; }
@media (max-width: 40rem) {
  body { padding: 1rem .9rem 3rem; }
  h1 { font-size: 1.4rem; }
  td:first-child { white-space: normal; max-width: 9rem; }
  figure img { max-width: 44rem; }
  .verdicts thead { display: none; }
  .verdicts, .verdicts tbody, .verdicts tr, .verdicts td { display: block; }
  table.verdicts td { border: 0; padding: 0 0 0 .7rem; border-left: 6px solid var(--soft); }
  table.verdicts .yes td { border-left-color: #0a7a4b; }
  table.verdicts .no td { border-left-color: #b3261e; }
  .verdicts tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .verdicts td:nth-child(3)::before { content: "aim: "; color: var(--soft); }
  .verdicts td:nth-child(4)::before { content: "found: "; color: var(--soft); }
}
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .files { display: none; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: .12rem .35rem; }
  figure, tr { break-inside: avoid; }
  h2, h3, summary, thead { break-after: avoid; }
  a { color: inherit; text-decoration: none; }
}
"""


def text(value: object) -> str:
    """Any value as escaped text."""
    return escape(str(value), quote=True)


def prose(value: str) -> str:
    """A paragraph as markup; `what is between backticks` is code."""
    return "".join(tag("code", text(part)) if odd % 2 else text(part) for odd, part in enumerate(value.split("`")))


def page(title: str, body: Iterable[str]) -> str:
    """A whole document.

    Args:
        title: Its title.
        body: The markup of its body, in pieces.

    Returns:
        The document.
    """
    inside = "\n".join(body)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{text(POLICY)}">
<link rel="icon" href="data:,">
<title>{text(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{inside}
</body>
</html>
"""


def tag(name: str, *inside: str, **attributes: str) -> str:
    """An element.

    Args:
        name: Its name.
        *inside: Markup.
        **attributes: Texts; `class_` for `class`.

    Returns:
        Markup.
    """
    given = "".join(f' {key.rstrip("_")}="{text(value)}"' for key, value in attributes.items())
    return f"<{name}{given}>{''.join(inside)}</{name}>"


def link(path: str, shown: str) -> str:
    """A link to a relative address."""
    return tag("a", text(shown), href=quote(path, safe="/#"))


def grid(headings: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], kind: str = "") -> str:
    """A table in a box that scrolls where the screen is narrow.

    Args:
        headings: Texts.
        rows: (class, cells as markup).
        kind: The class of the table.

    Returns:
        Markup.
    """
    head = tag("tr", *(tag("th", text(heading), scope="col") for heading in headings))
    lines = "\n".join(
        tag("tr", *(tag("td", cell) for cell in cells), **({"class_": name} if name else {})) for name, cells in rows
    )
    table = tag("table", tag("thead", head), "\n", tag("tbody", lines), **({"class_": kind} if kind else {}))
    return tag("div", table, class_="scroll")


def table(one: Table) -> str:
    """A table that can be folded: caption, rows with the best in bold, notes."""
    rows = [("", [tag("b", text(cell.text)) if cell.best else text(cell.text) for cell in row]) for row in one.rows]
    notes = tag("ul", *(tag("li", text(note)) for note in one.notes), class_="notes") if one.notes else ""
    headings = [column.heading for column in one.columns]
    return "<details open>" + tag("summary", text(one.caption)) + grid(headings, rows) + notes + "</details>"


def picture(svg: bytes, caption: str, files: Sequence[str]) -> str:
    """A drawing within the page, as an image, so that names inside one drawing cannot clash with those of another.

    Args:
        svg: The drawing.
        caption: What it shows.
        files: Relative addresses of its files.

    Returns:
        Markup.
    """
    source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    box = tag("div", f'<img alt="{text(caption)}" src="{source}">', class_="scroll")
    links = ", ".join(link(path, path.rsplit(".", 1)[-1].upper()) for path in files)
    return tag("figure", box, tag("figcaption", f"{text(caption)} ({links})"))
