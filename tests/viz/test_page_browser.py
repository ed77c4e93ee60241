"""The page as a person uses it, in a real browser: what it shows are the numbers that the Python API gives.

The tests need playwright and a chromium that is installed already; nothing is downloaded.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

import rcexplainer as rc
from rcexplainer.counterfactual_graph import Counterfactual
from rcexplainer.gnn import delete_edges
from rcexplainer.viz.page.contents import make_document
from rcexplainer.viz.page.curves import deletion_curves
from rcexplainer.viz.page.render import render_page
from tests.chromium import launched, sync_api
from tests.viz.explained import both
from tests.viz.page_case import PageCase, page_case

pytest.importorskip("rdkit")
EVIL = "<script>document.title = 'evil'</script><img src=x onerror=\"document.title='evil'\">"
expect = sync_api.expect


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as opened:
        yield opened


@pytest.fixture(scope="module")
def case() -> PageCase:
    return page_case()


@pytest.fixture(scope="module")
def files(case: PageCase, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages that are opened."""
    folder = tmp_path_factory.mktemp("pages")
    few = case.explanations[:8]
    other = [replace(one, scores=1 - one.scores) for one in few]
    graph = case.graphs[0].clone()
    graph.id, graph.smiles, graph.node_names = EVIL, EVIL, [EVIL] * int(graph.num_nodes or 0)
    evil = replace(few[0], graph=graph, class_names=(EVIL, "toxic"))
    ring = torch.tensor([[1, 1, 2, 3], [0, 2, 1, 2]])
    motif = torch.tensor([True, False, False, False])
    directed = Data(edge_index=ring, num_nodes=4, edge_motif=motif)
    named = Data(edge_index=ring, num_nodes=4, node_names=["Ann", "Bob", "Cem", "Dora"])
    path = Data(edge_index=both([(node, node + 1) for node in range(49)]), num_nodes=50)
    gone = Counterfactual(path, torch.tensor([7, 56]), 0, torch.tensor([0.2, 0.8]))
    star = Data(edge_index=both([(0, leaf) for leaf in range(1, 15)]), num_nodes=15)
    star.node_names = [f"acct-{100 + node}" for node in range(15)]
    return {
        "accounts": rc.viz.page(
            [rc.Explanation(star, torch.rand(28), 0, torch.tensor([0.6, 0.4]), (), None, 0, star, torch.arange(28))],
            folder / "accounts.html",
        ),
        "named": rc.viz.page(
            rc.Explanation(named, torch.linspace(1, 0, 4), 0, torch.tensor([0.6, 0.4])), folder / "named.html"
        ),
        "large": rc.viz.page(
            rc.Explanation(path, torch.rand(98), 0, torch.tensor([0.6, 0.4]), (), gone), folder / "large.html"
        ),
        "directed": rc.viz.page(
            rc.Explanation(directed, torch.linspace(0, 1, 4), 0, torch.tensor([0.6, 0.4])), folder / "d.html"
        ),
        "whole": rc.viz.page(case.explanations, folder / "whole.html", case.fitted, title="Molecules"),
        "no model": rc.viz.page(few, folder / "bare.html"),
        "methods": rc.viz.page({"ours": few, "theirs": other}, folder / "methods.html", case.fitted),
        "evil": rc.viz.page({EVIL: [evil, rc.Failure(1, ValueError(EVIL))]}, folder / "evil.html", title=EVIL),
    }


@pytest.fixture
def visit(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Open a page by its name; at the end there must have been no error and no warning."""
    said: list[str] = []
    contexts = []

    def opened(name: str, **settings: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | settings))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on(
            "request", lambda request: None if request.url.startswith(("file:", "data:")) else said.append(request.url)
        )
        page.goto(files[name].as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def names(page: Any) -> list[str]:
    """The ids of the rows that the table shows."""
    return page.locator("#table-body td.name").all_inner_texts()


def answer(page: Any) -> float:
    """The probability of the predicted class that the page gives for the deletion shown."""
    return float(page.locator("#answer").inner_text().rsplit("= ", 1)[1])


def test_the_slider_shows_what_the_model_answers(visit: Any, case: PageCase) -> None:
    page = visit("whole")
    for place in (0, 3):
        one = case.explanations[place]
        page.locator("#table-body tr").nth(place).click()
        assert one.counterfactual is not None
        assert answer(page) == pytest.approx(float(one.counterfactual.probabilities[one.prediction]), abs=1e-6)
        slider = page.get_by_role("slider")
        for length in range(len(one.units) + 1):
            slider.fill(str(length))
            wanted = case.probabilities(delete_edges(one.graph, one.top(length)))
            assert answer(page) == pytest.approx(wanted[one.prediction], abs=1e-6)
            assert page.locator("#cards .edge.deleted").count() == length
            predicted = ("harmless", "toxic")[wanted.index(max(wanted))]
            assert f": {predicted}, p(" in page.locator("#answer").inner_text()
        page.get_by_role("button", name="Show the counterfactual").click()
        assert page.locator("#cards .edge.deleted").count() == len(one.removed_units)


def test_an_edge_says_what_it_does_alone_on_hover_and_focus(visit: Any, case: PageCase) -> None:
    page, one = visit("whole"), case.explanations[0]
    order = one.unit_scores.argsort(descending=True, stable=True).tolist()

    def said(rank: int) -> None:
        alone = one.top(rank + 1) & ~one.top(rank)
        wanted = case.probabilities(delete_edges(one.graph, alone))[one.prediction]
        text = page.locator("#edge-readout").inner_text()
        u, v = one.units.pair[:, order[rank]].tolist()
        assert re.match(rf"[A-Za-z]+{u}–[A-Za-z]+{v}: score ", text)
        before, after = map(float, re.findall(r"\d\.\d{6}", text))
        assert before == pytest.approx(float(one.probabilities[one.prediction]), abs=1e-6)
        assert after == pytest.approx(wanted, abs=1e-6)

    edge = page.locator(f'#cards .edge[data-edge="{order[2]}"]')
    edge.hover()
    said(2)
    page.locator(f'#cards .edge[data-edge="{order[0]}"]').focus()
    said(0)
    page.keyboard.press("ArrowRight")
    said(1)
    page.keyboard.press("ArrowLeft")
    said(0)


def test_filter_sort_and_search(visit: Any, case: PageCase) -> None:
    page, everything = visit("whole"), case.explanations
    assert names(page) == [f"mol-{place}" for place in range(20)]
    page.get_by_role("button", name="Next ›").click()
    assert names(page)[0] == "mol-20"
    page.get_by_role("combobox", name="Outcome").select_option("not flipped")
    failed = [place for place, one in enumerate(everything) if one.counterfactual and not one.counterfactual.flipped]
    assert names(page) == [f"mol-{place}" for place in failed][:20]
    page.get_by_role("combobox", name="Predicted").select_option("toxic")
    both = [place for place in failed if everything[place].prediction == 1]
    assert names(page) == [f"mol-{place}" for place in both][:20]
    page.get_by_role("combobox", name="Outcome").select_option("any")
    page.get_by_role("combobox", name="Predicted").select_option("any")
    sizes = [len(one.units) for one in everything]
    for sort in (sorted(range(60), key=lambda place: sizes[place]), sorted(range(60), key=lambda place: -sizes[place])):
        page.locator("#table-head").get_by_role("button", name="Bonds").click()
        assert names(page) == [f"mol-{place}" for place in sort[:20]]
    assert page.locator('th[data-key="size"]').get_attribute("aria-sort") == "descending"
    page.get_by_label("Search").fill("MOL-5")
    assert sorted(names(page)) == sorted(f"mol-{place}" for place in (5, *range(50, 60)))
    page.get_by_label("Search").fill(everything[7].graph.smiles)
    assert "mol-7" in names(page)
    page.get_by_label("Search").fill("no such thing")
    expect(page.locator("#table-body")).to_have_text("Nothing matches.")


def test_everything_by_keyboard(visit: Any, case: PageCase) -> None:
    page = visit("whole")
    title = page.locator("#instance-title")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect(title).to_have_text("mol-2")
    page.keyboard.press("k")
    expect(title).to_have_text("mol-1")
    for _ in range(25):
        page.keyboard.press("j")
    expect(title).to_have_text("mol-26")
    expect(page.locator("#table-body tr.selected td.name")).to_have_text("mol-26")  # on the second page of the table
    one = case.explanations[26]
    for length in (1, 2):
        page.keyboard.press("ArrowRight")
        wanted = case.probabilities(delete_edges(one.graph, one.top(length)))
        assert answer(page) == pytest.approx(wanted[one.prediction], abs=1e-6)
    page.keyboard.press("ArrowLeft")
    assert page.locator("#cards .edge.deleted").count() == 1
    page.keyboard.press("c")
    assert page.locator("#show-counterfactual").get_attribute("aria-pressed") == "true"
    whole = page.locator("#cards .drawing").get_attribute("viewBox")
    page.keyboard.press("+")
    assert page.locator("#cards .drawing").get_attribute("viewBox") != whole
    page.keyboard.press("0")
    assert page.locator("#cards .drawing").get_attribute("viewBox") == whole
    page.keyboard.press("/")
    page.keyboard.type("mol-33j")  # letters are letters in a field
    expect(page.locator("#table-body")).to_have_text("Nothing matches.")
    page.keyboard.press("Backspace")
    assert names(page) == ["mol-33"]
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.locator("#table-body button").first.focus()
    page.keyboard.press("Enter")
    expect(title).to_have_text("mol-33")
    page.locator("body").press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_table_keeps_the_focus(visit: Any) -> None:
    page = visit("whole")
    focused = "document.activeElement.closest('tr')?.dataset.number ?? document.activeElement.id"
    title = page.locator("#instance-title")
    page.keyboard.press("/")
    page.keyboard.type("mol-4")
    page.keyboard.press("Enter")  # opens the first row found, and goes on from there
    expect(title).to_have_text("mol-4")
    assert page.evaluate(focused) == "4"
    page.keyboard.press("ArrowDown")
    expect(title).to_have_text("mol-40")
    page.keyboard.press("End")
    expect(title).to_have_text("mol-49")
    page.keyboard.press("Home")
    assert page.evaluate(focused) == "4"
    page.keyboard.press("Enter")  # the row is drawn anew, and has the focus again
    assert page.evaluate(focused) == "4"
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "4"
    page.keyboard.press("PageDown")
    expect(title).to_have_text("mol-24")
    assert page.evaluate(focused) == "24"
    page.keyboard.press("PageUp")
    assert page.evaluate(focused) == "4"


def test_sort_and_filter_by_keyboard(visit: Any, case: PageCase) -> None:
    page, sizes = visit("whole"), [len(one.units) for one in case.explanations]
    head = page.locator('th[data-key="size"] button')
    head.focus()
    for _ in range(2):
        page.keyboard.press("Enter")
    assert names(page)[0] == f"mol-{max(range(60), key=lambda place: sizes[place])}"
    assert page.evaluate("document.activeElement.closest('th').dataset.key") == "size"
    page.locator("#filter-outcome").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#filter-outcome").input_value() == "flipped"
    expect(page.locator("#table-body .badge:not(.flipped)")).to_have_count(0)
    page.keyboard.press("ArrowUp")
    page.locator("#pager-next").focus()
    for _ in range(2):
        page.keyboard.press("Enter")
    assert page.locator("#pager-next").is_disabled()
    assert page.evaluate("document.activeElement.id") == "pager-back"


def test_the_address_names_the_instance(visit: Any) -> None:
    page = visit("whole")
    title, start = page.locator("#instance-title"), page.url.split("#")[0]
    page.locator("#table-body tr").nth(7).click()
    assert page.url == f"{start}#7"
    page.reload()
    expect(title).to_have_text("mol-7")
    expect(page.locator("#table-body tr.selected td.name")).to_have_text("mol-7")
    page.keyboard.press("j")
    assert page.url == f"{start}#8"
    page.evaluate("location.hash = '#33'")  # as typed, or by a link
    expect(title).to_have_text("mol-33")
    expect(page.locator("#table-body tr.selected td.name")).to_have_text("mol-33")
    for wrong in ("#60", "#-1", "#mol-2", "#1e1"):
        page.goto(f"{start}{wrong}")
        page.reload()
        expect(title).to_have_text("mol-0")


def shown_numbers(page: Any) -> list[int]:
    """The numbers of nodes that can be seen in the drawing."""
    return sorted(int(one.text_content()) for one in page.locator("#cards .number").all() if one.is_visible())


def test_atoms_have_their_numbers(visit: Any, case: PageCase) -> None:
    page, one = visit("whole"), case.explanations[0]
    assert shown_numbers(page) == list(range(one.graph.num_nodes))
    page.keyboard.press("n")
    assert shown_numbers(page) == []
    page.get_by_role("button", name="Numbers of atoms").click()
    assert shown_numbers(page) == list(range(one.graph.num_nodes))
    assert page.locator(".thumbnail .number").count() == 0


def test_nothing_is_cut_off_at_the_edge_of_a_drawing(visit: Any) -> None:
    page = visit("whole")
    outside = """() => {
      const frame = document.querySelector("#cards .drawing").getBoundingClientRect();
      return [...document.querySelectorAll("#cards .node text")].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
      }).map((text) => text.textContent);
    }"""
    for _ in range(25):
        assert page.evaluate(outside) == []
        page.keyboard.press("j")


def test_large_graphs_number_the_ends_of_deleted_edges(visit: Any) -> None:
    page = visit("large")
    assert shown_numbers(page) == [7, 8]
    page.keyboard.press("n")
    assert len(shown_numbers(page)) == 50
    page = visit("named")
    assert page.locator("#cards .node text").all_text_contents() == ["Ann", "Bob", "Cem", "Dora"]
    page.locator('#cards .edge[data-edge="0"]').focus()
    assert re.match("Bob→Ann: score", page.locator("#edge-readout").inner_text())


OVERLAPS = """(selector) => {
  const boxes = [...document.querySelectorAll(selector)].map((one) => [one.textContent, one.getBoundingClientRect()]);
  return boxes.flatMap(([name, a], place) => boxes.slice(place + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
  ).map(([other]) => `${name} ${other}`));
}"""


def test_long_names_stand_beside_their_nodes_and_apart_from_each_other(visit: Any) -> None:
    page = visit("accounts")
    assert page.locator("#instance-title").inner_text() == "acct-100"
    names = page.locator("#cards .beside").all_text_contents()
    assert names == [f"acct-{100 + node}" for node in range(15)]
    assert page.locator("#cards .dot").count() == 15
    assert page.evaluate(OVERLAPS, "#cards .beside") == []
    page.get_by_role("button", name="Numbers of nodes").click()
    assert {one.is_visible() for one in page.locator("#cards .beside").all()} == {False}


def test_nothing_covers_the_drawing_the_table_fits_and_charts_are_readable(visit: Any) -> None:
    page = visit("whole")
    drawing, tools = page.locator("#cards .drawing").bounding_box(), page.locator("#cards .zoom").bounding_box()
    assert tools["y"] >= drawing["y"] + drawing["height"]
    table = page.locator("#table").evaluate(
        "table => [table.parentElement.scrollWidth, table.parentElement.clientWidth]"
    )
    assert table[0] <= table[1]
    for figure in range(page.locator("#histograms svg").count()):
        assert page.evaluate(OVERLAPS, f"#histograms figure:nth-of-type({figure + 1}) text") == []


def test_found_and_failed_searches_are_told_apart_by_word_mark_and_frame(visit: Any, case: PageCase) -> None:
    page, looks = visit("whole"), {}
    for flipped in (True, False):
        wanted = [one.counterfactual is not None and one.counterfactual.flipped is flipped for one in case.explanations]
        page.goto(f"{page.url.split('#')[0]}#{wanted.index(True)}")
        page.reload()
        frame = page.locator("#cards .frame")
        style = frame.evaluate("one => [getComputedStyle(one).borderTopStyle, getComputedStyle(one).borderTopColor]")
        looks[flipped] = [page.locator("#cards .badge").inner_text(), *style]
    assert looks[True][0] == "✓ flipped"
    assert looks[False][0] == "✗ not flipped"
    assert all(one != other for one, other in zip(looks[True], looks[False], strict=True))


def test_reasons_lead_to_their_examples(visit: Any, case: PageCase) -> None:
    page = visit("whole")
    first = page.locator(".reason").first
    count = int(first.locator("strong").inner_text().split()[0])
    assert re.search(rf"of {count} flipped \(", first.inner_text())
    example = first.locator(".examples button").nth(1)
    name = example.inner_text()
    example.click()
    expect(page.locator("#instance-title")).to_have_text(name)
    expect(page.locator("#instance-title")).to_be_in_viewport()
    shown = page.locator(".reason").count()
    page.locator("#more-reasons").click()
    assert page.locator(".reason").count() > shown
    assert page.locator("#histograms svg").count() == 3


def test_arrowheads_and_the_outline_of_the_motif(visit: Any) -> None:
    page = visit("directed")
    assert [page.locator(f'#cards .edge[data-edge="{edge}"] .arrow').count() for edge in range(3)] == [1, 0, 1]
    ends = "line => ['x1', 'x2'].map((end) => Number(line.getAttribute(end)))"
    corners = page.locator('#cards .edge[data-edge="0"] .arrow').get_attribute("d")
    tip, base = (float(corner.split()[0]) for corner in corners.strip("MZ").split("L")[:2])
    start, end = page.locator('#cards .edge[data-edge="0"] .bond').evaluate(ends)
    assert (tip - base) * (end - start) > 0
    assert abs(tip - start) < abs(end - start)
    assert page.locator("#cards .motif-outline").count() == page.locator("#cards .motif-inside").count() == 1
    assert page.locator("#cards .motif-outline").evaluate(ends) == [start, end]
    page.locator('#cards .edge[data-edge="0"]').focus()
    assert re.match(r"1→0: score .*; in the motif", page.locator("#edge-readout").inner_text())
    page.locator('#cards .edge[data-edge="1"]').focus()
    assert re.match("1–2: score (?!.*in the motif)", page.locator("#edge-readout").inner_text())
    expect(page.locator("#legend")).to_contain_text("known motif")
    expect(page.locator("#legend")).to_contain_text("in one direction only")


def test_high_scores_are_drawn_above_low_ones_and_deleted_edges_on_top(visit: Any, case: PageCase) -> None:
    page, one = visit("whole"), case.explanations[0]
    order = page.locator("#cards .edge").evaluate_all("groups => groups.map((one) => Number(one.dataset.edge))")
    removed = one.removed_units.tolist()
    below = [edge for edge in order if edge not in removed]
    assert order[: len(below)] == below
    assert one.unit_scores[below].diff().min() >= -1e-4  # the page has four digits


def test_without_a_model_the_page_says_that_it_has_no_slider(visit: Any) -> None:
    page = visit("no model")
    expect(page.locator("#deletion")).to_contain_text("explanations hold no model")
    assert page.get_by_role("slider").count() == 0
    page.keyboard.press("ArrowRight")  # nothing to slide
    assert page.locator("#cards .bars").count() == 1


def test_methods_stand_side_by_side(visit: Any, case: PageCase) -> None:
    page, one = visit("methods"), case.explanations[0]
    left, right = (card.bounding_box() for card in page.locator("#cards .card").all())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    page.get_by_role("slider").fill("1")
    worst = one.unit_scores.argsort(stable=True)[:1]
    deleted = page.locator("#cards .card").nth(1).locator(".edge.deleted")
    assert deleted.get_attribute("data-edge") == str(int(worst))
    page.get_by_role("combobox", name="Method").select_option("theirs")
    expect(page.locator("#summary")).to_contain_text("theirs: ")


def test_markup_in_names_is_text(visit: Any) -> None:
    page = visit("evil")
    assert page.title() == EVIL
    assert page.locator("h1").inner_text() == EVIL
    assert page.locator("#instance-title").inner_text() == EVIL
    assert page.locator("#instance-about code").inner_text() == EVIL
    assert EVIL in page.locator("#cards .bars th").first.inner_text()
    page.locator("#cards .edge").first.focus()
    assert page.locator("#edge-readout").inner_text().count(EVIL) >= 2
    page.locator("#table-body tr").nth(1).click()
    assert EVIL in page.locator("#cards .outcome-text").inner_text()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


@pytest.mark.parametrize("name", ["whole", "methods", "evil"])
def test_a_phone_needs_no_sideways_scrolling(visit: Any, name: str) -> None:
    page = visit(name, viewport={"width": 360, "height": 740}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#table-body tr").nth(1).click()
    expect(page.locator("#instance-title")).to_be_in_viewport()  # it is below the table
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_light_and_dark(visit: Any) -> None:
    page = visit("whole", color_scheme="dark")
    shade = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0)"
    )
    assert page.evaluate(shade) < 200
    theme = page.locator("#theme")
    theme.click()
    expect(theme).to_have_text("Theme: light")
    assert page.evaluate(shade) > 600
    theme.click()
    expect(theme).to_have_text("Theme: dark")
    assert page.evaluate(shade) < 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["whole", "methods"])
def test_axe_finds_nothing_serious(visit: Any, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = visit(name, color_scheme=scheme)
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (one["id"], [node["html"] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_five_hundred_molecules_are_small_and_quick(visit: Any, case: PageCase, files: dict[str, Path]) -> None:
    curves = {"": deletion_curves(case.fitted.split, case.explanations)}
    some = make_document({"": case.explanations}, curves)
    text = render_page(replace(some, instances=(9 * some.instances)[:500]))
    files["many"] = files["whole"].with_name("many.html")
    files["many"].write_text(text, encoding="utf-8")
    assert len(text.encode()) < 8e6
    page = visit("many")
    expect(page.locator("#pager-text")).to_have_text("1–20 of 500")
    assert page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") < 2000  # ms
    sort = "() => { const start = performance.now(); document.querySelector('th[data-key=size] button').click();"
    assert page.evaluate(f"{sort} return performance.now() - start; }}") < 500
    page.get_by_role("slider").fill("2")
    assert page.locator("#cards .edge.deleted").count() == 2
