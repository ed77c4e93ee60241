"""The live page as a person uses it, in a real browser, with a real server behind it."""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rcexplainer.datasets.smiles_file import smiles_graph
from rcexplainer.gnn import delete_edges
from rcexplainer.server.application import make_app
from rcexplainer.server.live_page import PageTexts
from tests.chromium import launched, sync_api
from tests.server.served_case import PAIRS, as_json, link_case, node_case
from tests.viz.page_case import PageCase, page_case

pytest.importorskip("rdkit", reason="RDKit is not installed: the live page is not opened")
uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed: the live page is not opened")
expect = sync_api.expect
NUMBER = 8


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address at which an application is served."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    case = page_case()
    with served(make_app(case.fitted, case.graphs[:NUMBER], texts=PageTexts(read_smiles=smiles_graph))) as found:
        yield found


@pytest.fixture
def visit(address: str) -> Iterator[Any]:
    said: list[str] = []
    with launched() as browser:

        def opened(at: str = address, refused: str | None = None, **settings: Any) -> Any:
            """A page; the browser itself reports requests that the server refuses, which must have this status."""
            page = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | settings))
            page.set_default_timeout(10_000)
            expected = f"the server responded with a status of {refused}"
            page.on(
                "console",
                lambda message: (
                    said.append(f"{message.type}: {message.text}") if expected not in message.text else None
                ),
            )
            page.on("pageerror", lambda error: said.append(f"error: {error}"))
            page.goto(at)
            return page

        yield opened
    assert said == []


def wanted(case: PageCase, place: int, units: list[int]) -> list[float]:
    """The model's own answer without these units."""
    one = case.explanations[place]
    mask = sum((one.units.of_edge == unit for unit in units), start=one.units.of_edge < -1)
    return case.probabilities(delete_edges(one.graph, mask))


def answered(page: Any, count: int) -> float:
    said = rf"Without {count} bonds?: " if count else "Nothing deleted: "
    expect(page.locator("#live-answer")).to_contain_text(re.compile(said))
    assert page.locator("#cards .edge.deleted").count() == count
    return float(page.locator("#live-answer").inner_text().rsplit("= ", 1)[1])


def test_clicks_delete_and_restore_and_the_model_answers(visit: Any) -> None:
    page, case = visit(), page_case()
    label = case.explanations[1].prediction
    page.locator("#table-body tr").nth(1).click()
    page.get_by_role("button", name="Restore all").click()
    assert answered(page, 0) == pytest.approx(wanted(case, 1, [])[label], abs=1e-6)
    edge = page.locator('#cards .edge[data-edge="3"] .hit')
    edge.click(force=True)
    assert answered(page, 1) == pytest.approx(wanted(case, 1, [3])[label], abs=1e-6)
    page.locator('#cards .edge[data-edge="5"]').focus()
    page.keyboard.press("Enter")
    assert answered(page, 2) == pytest.approx(wanted(case, 1, [3, 5])[label], abs=1e-6)
    assert float(page.locator("#answer").inner_text().rsplit("= ", 1)[1]) == pytest.approx(
        wanted(case, 1, [3, 5])[label], abs=1e-6
    )
    edge.click(force=True)
    assert answered(page, 1) == pytest.approx(wanted(case, 1, [5])[label], abs=1e-6)
    page.get_by_role("slider").fill("2")
    assert page.locator("#cards .edge.deleted").count() == 2


def test_clicks_before_the_answer_go_on_from_each_other(visit: Any) -> None:
    page, case = visit(), page_case()
    label = case.explanations[1].prediction
    page.locator("#table-body tr").nth(1).click()
    page.get_by_role("slider").fill("2")
    clicks = """['#live-restore', '#cards .edge[data-edge="3"]', '#cards .edge[data-edge="5"]'].forEach(
        (found) => document.querySelector(found).dispatchEvent(new MouseEvent('click', { bubbles: true })))"""
    page.evaluate(clicks)  # all three in one go: no answer can come in between
    assert answered(page, 2) == pytest.approx(wanted(case, 1, [3, 5])[label], abs=1e-6)


def test_the_smallest_change_is_that_of_the_explainer(visit: Any) -> None:
    page, case = visit(), page_case()
    predicted = case.explanations[2].prediction
    for target in (None, 1 - predicted):
        one = case.fitted.explain(case.graphs[2], search="greedy", target_class=target)
        page.locator("#table-body tr").nth(2).click()
        page.locator("#live-target").select_option("" if target is None else str(target))
        page.get_by_role("button", name="Find the smallest change").click()
        start = "Found: " if one.counterfactual.flipped else "Not found: "
        expect(page.locator("#live-answer")).to_contain_text(f"{start}")
        assert page.locator("#cards .edge.deleted").count() == len(one.removed_units)
    assert page.locator("#live-target option:disabled").inner_text() == ("harmless", "toxic")[predicted]
    page.get_by_role("button", name="Restore all").click()
    page.locator('#cards .edge[data-edge="0"] .hit').click(force=True)
    answered(page, 1)
    page.locator("#live-target").select_option("")
    page.locator("#live-only").check()
    page.get_by_role("button", name="Find the smallest change").click()
    expect(page.locator("#live-answer")).to_contain_text("ound: ")
    assert page.locator("#cards .edge.deleted").count() <= 1


def test_uploads_and_smiles_are_asked_about(visit: Any) -> None:
    page, case = visit(), page_case()
    page.locator("#live-smiles").fill("c1ccccc1[N+](=O)[O-]")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#instance-about")).to_contain_text("c1ccccc1[N+](=O)[O-]")
    page.get_by_role("button", name="Restore all").click()
    answered(page, 0)
    graph = case.graphs[0]
    values = as_json(graph) | {"id": "<b>mine</b>"}
    values |= {"edge_attr": graph.edge_attr.tolist()} if graph.edge_attr is not None else {}
    file = {"name": "graph.json", "mimeType": "application/json", "buffer": json.dumps(values).encode()}
    page.locator("#live-file").set_input_files(file)
    expect(page.locator("#instance-title")).to_have_text("<b>mine</b>")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download JSON").click()
    assert json.loads(started.value.path().read_text(encoding="utf-8"))["name"] == "<b>mine</b>"
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as started:
            page.get_by_role("button", name=f"Download {kind}").click()
        content = started.value.path().read_bytes()
        assert content.startswith(start)
        assert len(content) > 3000


INDICES = {  # of an upload: what is not read, what is, and what the server gets
    "node": (["", "x", "1-2", "-3"], " 7 ", 7, "node 7"),
    "link": (["", "5", "1-2-3", "a-b"], "3 - 9", (3, 9), "3–9"),
}


@pytest.mark.parametrize("task", INDICES)
def test_a_node_or_link_of_an_uploaded_graph_is_asked_about(visit: Any, task: str) -> None:
    fitted, graph = node_case() if task == "node" else link_case()
    wrong, text, index, name = INDICES[task]
    one = fitted.explain(graph, index=index)
    with served(make_app(fitted, [graph], [4, 12] if task == "node" else PAIRS[2:])) as at:
        page = visit(at, refused="422")
        page.locator("#live-send").click()
        expect(page.locator("#live-answer")).to_have_text("Choose a file first.")
        content = json.dumps(as_json(graph) | {"id": "mine"}).encode()
        page.locator("#live-file").set_input_files(
            {"name": "g.json", "mimeType": "application/json", "buffer": content}
        )
        for bad in wrong:
            page.locator("#live-index").fill(bad)
            page.locator("#live-send").click()
            expect(page.locator("#live-answer")).to_contain_text("such as")
            expect(page.locator("#live-index")).to_be_focused()
        page.locator("#live-index").fill("88" if task == "node" else "1, 88")
        page.keyboard.press("Enter")  # a node that the graph does not have
        expect(page.locator("#live-answer")).to_contain_text("88")
        page.locator("#live-index").fill(text)
        page.keyboard.press("Enter")
        expect(page.locator("#instance-title")).to_have_text(f"mine, {name}")
        assert page.locator("#cards .root").count() == (1 if task == "node" else 2)
        page.get_by_role("button", name="Find the smallest change").click()
        expect(page.locator("#live-answer")).to_contain_text("ound: ")
        page.get_by_role("button", name="Restore all").click()
        expect(page.locator("#live-answer")).to_contain_text("Nothing deleted: ")
        shown = float(page.locator("#live-answer").inner_text().rsplit("= ", 1)[1])
        assert shown == pytest.approx(float(one.probabilities[one.prediction]), abs=1e-6)
        page.locator("#live-index").fill("8" if task == "node" else "0,1")  # another one of the same graph
        page.keyboard.press("Enter")
        expect(page.locator("#instance-title")).to_have_text("mine, node 8" if task == "node" else "mine, 0–1")
        page.close()  # before its server


def test_phone_width_and_dark_mode_fit(visit: Any) -> None:
    page = visit(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page.get_by_role("button", name="Restore all").click()
    answered(page, 0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_everything_can_be_asked_with_the_keyboard_alone(visit: Any) -> None:
    page = visit()
    page.locator("#cards .edge").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#live-answer")).to_contain_text("Without")
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
        if seen[-1] == "live-search":
            page.keyboard.press("Enter")
            break
    assert seen.index("live-restore") < seen.index("live-search")
    expect(page.locator("#live-answer")).to_contain_text("ound: ")
    later = []
    for _ in range(12):
        page.keyboard.press("Tab")
        later.append(page.evaluate("document.activeElement.id"))
    assert [one for one in later if one.startswith("live-")] == ["live-target", "live-only", "live-file", "live-smiles"]
    page.locator("#live-smiles").focus()
    page.keyboard.type("CC[N+](=O)[O-]")
    page.keyboard.press("Enter")
    expect(page.locator("#instance-about")).to_contain_text("CC[N+](=O)[O-]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = visit(color_scheme=scheme)
    page.get_by_role("button", name="Restore all").click()
    answered(page, 0)
    found = axe.Axe().run(page).response["violations"]
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []
