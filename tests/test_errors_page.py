"""docs/errors.md: its examples print what it says, and it has every class of error and every message of the library."""

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from rcexplainer import errors

TOOLS = Path(__file__).parents[1] / "tools"
# Errors whose message is put together elsewhere: what the page shows of them.
COMPOSED = {
    (
        "arguments",
        "ArgumentError",
    ): "ArgumentError: FittedExplainer.explain has no argument serach; did you mean",
    ("gnn/graph_checks", "GraphError"): "GraphError: expected PyG Data objects, got a networkx Graph",
    ("method/base", "ArgumentError"): "… has no argument …: it is a setting",
    ("method/fitted_explainer", "ExplainError"): "ExplainError: instance 1 could not be explained",
    ("datasets/tu", "MissingDataError"): "MissingDataError: ",
    ("integrations/ray", "RCExplainerError"): "| `RCExplainerError` |",  # the messages of other errors, passed on
    ("testing/expectation", "ConformanceError"): "| `ConformanceError` |",
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        return import_module("errors_page")
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def text(tool) -> str:
    return tool.PAGE.read_text(encoding="utf-8")


def stable(page: str) -> list[str]:
    """The words of the page without what differs from one version of torch or safetensors to another."""
    return re.sub(r"differ by [\d.]+|\(Error while [^)]*\)", "#", " ".join(page.split())).split("```")


def test_every_example_prints_what_the_page_says(tool, text) -> None:
    pytest.importorskip("networkx")
    with tool.elsewhere():
        found = tool.answered(text.partition(tool.MARK)[0])
    assert stable(found) == stable(text.partition(tool.MARK)[0])
    examples = [block for _, block in tool.BLOCK.findall(found)]
    assert len(examples) > 50
    said = [re.search(r"^(\w+Error: |rcexplainer: )", block, re.MULTILINE) for block in examples]
    assert all(said), "an example raises no error"


def test_every_message_of_the_source_is_listed(tool, text) -> None:
    listed = text.partition(tool.MARK)[2].strip()
    assert listed == tool.message_lists().strip(), "run: python tools/errors_page.py --write"


def test_messages_that_are_put_together_elsewhere_have_an_example(tool, text) -> None:
    bare = {(module, name) for module, name, said in tool.messages() if not said.strip("… ")}
    assert bare <= COMPOSED.keys()
    words = " ".join(text.split())
    assert [said for said in COMPOSED.values() if said not in words] == []


def test_every_class_of_errors_has_a_line(tool, text) -> None:
    public = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert public <= set(tool.error_names())
    lines = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert lines == set(tool.error_names())


def test_links_lead_to_headings(text) -> None:
    titles = re.findall(r"^##+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w ]", "", title).lower().replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= anchors
