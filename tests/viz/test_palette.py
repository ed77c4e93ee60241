"""Colours that must not be confused, as people with colour-vision deficiency see them, and on paper."""

import numpy as np
import pytest

from rcexplainer.viz.page.render import asset, page_style
from rcexplainer.viz.palette import (
    DARK,
    DELETED,
    FAILED,
    FLIPPED,
    INK,
    LIGHT,
    MOTIF,
    NUMBER_INK,
    band_colour,
    line_grey,
)
from rcexplainer.viz.search_outcome import SearchOutcome

# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
SIGHT = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
BAND = "#" + "".join(f"{round(255 * part):02x}" for part in band_colour(1.0))
APART = [(FLIPPED, FAILED), (DELETED, FAILED), (DELETED, FLIPPED), (DELETED, INK), (DELETED, BAND), (MOTIF, INK)]
MEANINGS = [("flipped", "failed"), ("deleted", "failed"), ("deleted", "flipped"), ("deleted", "ink"), ("motif", "ink")]
DARK_PANEL, CHOSEN_ROW = "#1c1f23", {"light": "#dcebf9", "dark": "#1d3a55"}  # as in page.css


def linear(colour: str) -> np.ndarray:
    value = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear RGB."""
    ratio = XYZ @ rgb.clip(0, 1) / np.array([0.9505, 1.0, 1.089])
    root = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_that_mean_different_things_look_different(sight: str) -> None:
    for one, other in APART:
        gap = np.linalg.norm(lab(SIGHT[sight] @ linear(one)) - lab(SIGHT[sight] @ linear(other)))
        assert gap > 15, (one, other)


@pytest.mark.parametrize("sight", SIGHT)
def test_on_a_dark_page_too(sight: str) -> None:
    for one, other in MEANINGS:
        gap = np.linalg.norm(lab(SIGHT[sight] @ linear(DARK[one])) - lab(SIGHT[sight] @ linear(DARK[other])))
        assert gap > 15, (one, other)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast of two colours."""
    low, high = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["deleted", "flipped", "failed", "motif", "ink", "number"])
def test_texts_stand_out_on_both_pages(name: str) -> None:
    assert contrast(LIGHT[name], "#ffffff") > 4.5
    assert contrast(DARK[name], DARK_PANEL) > 4.5


@pytest.mark.parametrize("name", ["flipped", "failed"])
def test_outcomes_stand_out_in_the_chosen_row(name: str) -> None:
    assert contrast(LIGHT[name], CHOSEN_ROW["light"]) > 4.5
    assert contrast(DARK[name], CHOSEN_ROW["dark"]) > 4.5


def test_drawings_and_pages_have_the_same_colours() -> None:
    assert SearchOutcome(True, "flipped", "✓", "").colour == FLIPPED == LIGHT["flipped"]
    assert SearchOutcome(False, "not flipped", "✗", "").colour == FAILED == LIGHT["failed"]
    assert LIGHT["score"].lower() == BAND
    style, own = page_style(), asset("page.css")
    for name in LIGHT:
        assert f"--{name}:" not in own  # one place for each
    assert style.count(f"--flipped: {FLIPPED};") == 1
    assert style.count(f"--flipped: {DARK['flipped']};") == 2  # by the system, and by the button
    assert set(LIGHT) == set(DARK)


@pytest.mark.parametrize("colour", [DELETED, FLIPPED, FAILED, MOTIF, INK, NUMBER_INK])
def test_texts_and_lines_stand_out_from_paper(colour: str) -> None:
    luminance = float(XYZ[1] @ linear(colour))
    assert 1.05 / (luminance + 0.05) > 4.5  # WCAG's contrast for small text


def test_scores_are_darker_the_higher_in_grey_too() -> None:
    steps = [place / 10 for place in range(11)]
    bands = [float(XYZ[1] @ np.array(band_colour(step))) for step in steps]
    assert bands == sorted(set(bands), reverse=True)
    greys = [float(line_grey(step)) for step in steps]
    assert greys == sorted(set(greys), reverse=True)
