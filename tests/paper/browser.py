"""A real browser looks at a page: headless Chromium, if there is one.

The page is put into a frame of a given width, and a script beside the frame (the page has none, and allows none) says
what it sees. The frame has the page's own address space, so that nothing in it is hidden from the script.
"""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROBE = """
const frame = document.querySelector('iframe');
frame.addEventListener('load', () => {
  const inside = frame.contentDocument;
  const images = [...inside.images];
  document.querySelector('pre').textContent = JSON.stringify({
    images: images.length,
    blank: images.filter(one => !one.complete || one.naturalWidth === 0).length,
    overflow: inside.documentElement.scrollWidth - inside.documentElement.clientWidth,
    width: inside.documentElement.clientWidth,
    requests: frame.contentWindow.performance.getEntriesByType('resource')
      .map(one => one.name).filter(name => !name.startsWith('data:')),
  });
});
"""


@dataclass(frozen=True)
class Seen:
    images: int
    blank: int  # images that are not drawn
    overflow: int  # pixels by which the page is wider than the screen
    width: int
    requests: list[str]
    console: list[str]  # what a browser complains about


def look(page: str, folder: Path, width: int) -> Seen:
    """What Chromium sees at this width; the test is skipped where there is none."""
    browser = next((found for name in NAMES if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip(f"there is no browser: none of {', '.join(NAMES)} is installed")
    frame = f'<iframe style="border:0" width="{width}" height="900" srcdoc="{escape(page, quote=True)}"></iframe>'
    outer = folder / f"look-{width}.html"
    outer.write_text(f"<!DOCTYPE html><meta charset=utf-8><pre></pre>{frame}<script>{PROBE}</script>", "utf-8")
    done = subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *(f"--user-data-dir={folder / 'browser'}", "--virtual-time-budget=5000", "--dump-dom", outer.as_uri()),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    said = re.search(r"<pre>(.*?)</pre>", done.stdout, re.DOTALL)
    assert said, done.stderr[-2000:]
    assert said[1], done.stderr[-2000:]
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return Seen(**json.loads(unescape(said[1])), console=console)
