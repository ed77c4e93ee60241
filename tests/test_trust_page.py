"""docs/trust.md says what the figures in docs/trust say."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_is_made_of_the_figures(tmp_path):
    command = [sys.executable, ROOT / "tools" / "trust" / "page.py", "--out", tmp_path / "trust.md"]
    subprocess.run([*command, "--figures", ROOT / "docs" / "trust"], check=True, timeout=120)
    assert (tmp_path / "trust.md").read_text() == (ROOT / "docs" / "trust.md").read_text()


def test_every_figure_stands_on_the_page():
    page = (ROOT / "docs" / "trust.md").read_text()
    for path in (ROOT / "docs" / "trust").glob("*.json"):
        document = json.loads(path.read_text())
        assert document["part"] == path.stem
        assert f"`{document['command']}`" in page
        for name, value in document["figures"].items():
            shown = f"{value:,}" if isinstance(value, int) else str(value)
            assert f"\n- {name}: {shown}\n" in page


def test_no_kill_has_lost_anything():
    figures = json.loads((ROOT / "docs" / "trust" / "kills.json").read_text())["figures"]
    assert figures["lost"] == 0
    assert figures["kills"] == sum(value for name, value in figures.items() if name.startswith("SIG"))
