"""Takes docs/figures/page.png: the page with the held-out molecules of the README's example, opened in Chromium.

    python tools/page_picture.py

It runs the code of the README (seed 0), so the picture shows what a reader gets. It needs the extras `dev`, and a
chromium that is installed already.
"""

from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from page_browser import open_browser
from readme_picture import ROOT, readme_example

import rcexplainer as rc

OUT = ROOT / "docs" / "figures" / "page.png"
SIZE = {"width": 1280, "height": 1130}
MOST_BYTES = 300_000  # a README should load quickly


def take_picture(page: Path, place: int, out: Path) -> None:
    """Open a page at the instance in this place, delete its most important bond, and take a picture."""
    with open_browser() as browser:
        tab = browser.new_page(viewport=SIZE, color_scheme="light")
        tab.goto(f"{page.as_uri()}#{place}")
        tab.get_by_role("slider").fill("1")
        tab.evaluate("document.activeElement.blur()")
        out.write_bytes(tab.screenshot())
    if out.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{out.name} has {out.stat().st_size} bytes, more than {MOST_BYTES}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder, chdir(folder):  # the example saves its explainer
        names = readme_example()
        test, molecule = names["data"].subset("test"), names["molecule"]
        found = names["fitted"].explain(test)
        title = "Is there an NO2 or NH2 on an aromatic ring?"
        page = rc.viz.page(found, Path(folder) / "page.html", names["fitted"], title=title)
        OUT.parent.mkdir(exist_ok=True)
        take_picture(page, next(place for place, graph in enumerate(test) if graph is molecule), OUT)
    print(f"{OUT}: {len(found)} molecules, {OUT.stat().st_size / 1000:.0f} kB")
