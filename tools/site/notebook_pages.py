"""Runs the notebooks of docs/notebooks and writes each as a page with its pictures as files, for the site.

    python tools/site/notebook_pages.py             runs them, keeps their outputs, and writes the pages
    python tools/site/notebook_pages.py --render    writes the pages from the outputs that are kept

Notebooks run in a temporary folder, so that what they write is not left behind.
"""

import argparse
import base64
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
SHAPE = re.compile(r'(?<= )d="[^"]*"')
PICTURES = {"image/svg+xml": "svg", "image/png": "png"}


def run(notebook: Any) -> Any:
    """Execute a notebook with this interpreter, in a temporary folder, and drop what changes from run to run.

    Args:
        notebook: The notebook; it is changed.

    Returns:
        The notebook with its outputs.
    """
    from nbclient import NotebookClient

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [tidy(output) for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def tidy(output: Any) -> Any:
    """Keep one form of a picture, and no text beside it: that holds addresses in memory."""
    data = output.get("data", {})
    kept = next((kind for kind in PICTURES if kind in data), None)
    if kept:
        output["data"] = {kept: data[kept] if kept == "image/png" else SHAPE.sub(rounded, data[kept])}
    return output


def rounded(shape: re.Match[str]) -> str:
    """The outline of a shape with two decimals: a hundredth of a point is not seen, and the file is a third smaller."""
    return re.sub(r"(\.\d\d)\d+", r"\1", shape[0])


def page(notebook: Any, name: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown.

    Args:
        notebook: The notebook, with its outputs.
        name: Its name; pictures are in the folder NAME_files.

    Returns:
        The page, and its pictures by file name.
    """
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            text = output.get("text") or data.get("text/plain", "")
            if text:
                parts.append(f"```text\n{text.rstrip()}\n```")
            for kind in PICTURES.keys() & data.keys():
                file = f"{name}-{len(pictures) + 1}.{PICTURES[kind]}"
                pictures[file] = data[kind].encode() if PICTURES[kind] == "svg" else base64.b64decode(data[kind])
                parts.append(f"![Output of the cell: {cell.source.splitlines()[-1]}]({name}_files/{file})")
    title, _, rest = parts[0].partition("\n")
    origin = f"*[The notebook itself]({name}.ipynb), run from top to bottom by a test.*"
    return "\n\n".join([title, origin, rest.strip(), *parts[1:]]) + "\n", pictures


def write(path: Path, notebook: Any) -> None:
    """Write a page and its pictures, and remove pictures that it no longer has."""
    text, pictures = page(notebook, path.stem)
    folder = path.with_name(f"{path.stem}_files")
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, content in pictures.items():
        (folder / name).write_bytes(content)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    print(path.name, f"{len(nbformat.writes(notebook)) / 1000:.0f} kB, {len(pictures)} pictures")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--render", action="store_true")
    render = parser.parse_args().render
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if not render:
            nbformat.write(run(notebook), path)
        write(path, notebook)
