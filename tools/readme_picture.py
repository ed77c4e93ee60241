"""Draws docs/figures/explanation.svg: the first held-out molecule that the README's example predicts positive.

    python tools/readme_picture.py

It runs the code of the README (seed 0), so the picture shows what a reader gets.
"""

import re
from pathlib import Path

import torch

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "figures" / "explanation.svg"


def readme_example() -> dict:
    """The names that the first Python block of the README defines."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], names)
    return names


if __name__ == "__main__":
    torch.set_num_threads(1)
    one = readme_example()["explanation"]
    OUT.parent.mkdir(exist_ok=True)
    print(one, one.draw(OUT))
