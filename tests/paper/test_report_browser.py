"""The report as a reader opens it: Chromium at two widths, light and dark, by keyboard, under its own policy.

The tests need playwright and a chromium that is installed already; nothing is downloaded.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rcexplainer.paper.entries import plan
from rcexplainer.paper.figure_files import write_figures
from rcexplainer.paper.report import write_report
from tests.chromium import launched, sync_api
from tests.paper.fakes import results_of
from tests.paper.test_report import fill

pytest.importorskip("matplotlib")
ENTRIES = ("lambda", "case-study")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with verdicts, figures, tables and a note whose words are markup."""
    folder = tmp_path_factory.mktemp("results")
    fill(folder, *ENTRIES)
    plans = [plan(name, "standard") for name in ENTRIES]
    write_figures(folder, plans, {job: result for one in plans for job, result in results_of(one).items()})
    evil = "<script>document.title = 'evil'</script><img src=x onerror='document.title=1'>"
    (folder / "notes.toml").write_text(f'case-study = ["{evil}"]', encoding="utf-8")
    return write_report(folder).page


@pytest.fixture
def visit(browser: Any, report: Path) -> Iterator[Any]:
    """Open the report; at the end there must have been no message, no error and no request."""
    said: list[str] = []

    def opened(width: int = 1280, scheme: str = "light") -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(("file:", "data:")) else said.append(one.url))
        page.goto(report.as_uri())
        return page

    yield opened
    for context in browser.contexts:
        context.close()
    assert said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_width_and_scheme(visit: Any, width: int, scheme: str) -> None:
    page = visit(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every((one) => one.complete && one.naturalWidth > 0)")
    assert page.locator("img").count() == 2
    shade = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0)"
    )
    assert (page.evaluate(shade) > 600) == (scheme == "light")
    assert page.title().startswith("RCExplainer")
    assert "<script>" in page.locator("#case-study").inner_text()
    assert page.locator("script").count() == 0
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []


def test_a_wide_table_is_scrolled_by_the_keyboard(visit: Any) -> None:
    page = visit(360)
    box = page.locator("#case-study details .scroll").first
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(one) => one.scrollLeft > 0", arg=box.element_handle())
    summary = page.locator("#case-study summary").first
    summary.press("Enter")
    sync_api.expect(box).to_be_hidden()
