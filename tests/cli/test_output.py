"""Tables and documents on standard output."""

import json

from rcexplainer.cli.output import WIDTH, show, show_tables

ROWS = [
    {"name": "house", "share": 0.98765, "edges_gone": 12.3456, "flipped": True},
    {"name": "[red]", "share": 1.0, "edges_gone": 2.0, "extra": 7},
]


def test_a_table_has_every_column_and_cells_as_text(capsys):
    show({}, ROWS, "a [caption]", as_json=False)
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].split() == ["name", "share", "edges", "gone", "flipped", "extra"]
    assert lines[1].split() == ["house", "0.988", "12.35", "yes"]
    assert lines[2].split() == ["[red]", "1.000", "2.00", "7"]
    assert lines[-1] == "a [caption]"


def test_a_first_row_with_few_cells_leaves_the_columns_as_they_are(capsys):
    rows = [{"name": "a", "error": "broken"}, {"name": "b", "edges": 12, "share": 0.5, "word": "x"}]
    show({}, rows, "caption", as_json=False)
    head, broken, whole = capsys.readouterr().out.splitlines()[:3]
    assert head.split() == ["name", "edges", "share", "word", "error"]
    assert broken.split() == ["a", "broken"]
    for column, cell in (("edges", "12"), ("share", "0.500")):  # numbers are aligned to the right
        assert head.index(column) + len(column) == whole.index(cell) + len(cell)
    assert head.index("error") == broken.index("broken")


def test_several_tables_and_one_without_rows(capsys):
    show_tables({}, [(ROWS, "first"), ([], "nothing to show")], as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line][-2:] == ["first", "nothing to show"]


def test_in_a_pipe_a_row_is_one_line_with_nothing_cut_and_the_caption_is_wrapped(capsys):
    cells = [f"{number} " + "word " * 99 + "end" for number in range(2)]
    show({}, [{"name": "x" * 200, "text": cell} for cell in cells], "word " * 100, as_json=False)
    head, *rows, empty = capsys.readouterr().out.splitlines()[:4]
    assert head.split() == ["name", "text"]
    assert [row.split(maxsplit=1) for row in rows] == [["x" * 200, cell] for cell in cells]
    assert not empty
    show({}, [], "word " * 100, as_json=False)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= WIDTH


def test_in_a_pipe_no_line_ends_in_blanks(capsys):
    show({}, [{"name": "a", "error": "short"}, {"name": "b", "error": "word " * 99}], "caption", as_json=False)
    lines = capsys.readouterr().out.split("\n")
    assert lines[1].split() == ["a", "short"]
    assert lines == [line.rstrip() for line in lines]


def test_json_is_exactly_one_document(capsys):
    show({"value": float("nan"), "path": object}, ROWS, "caption", as_json=True)
    assert json.loads(capsys.readouterr().out)["value"] is None
