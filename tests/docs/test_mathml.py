"""Formulas become MathML that browsers can draw."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytestmark = pytest.mark.integration

pytest.importorskip("latex2mathml")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from mathml import to_mathml  # noqa: E402  # the folder of extensions is not a package

SPACE = {"m": "http://www.w3.org/1998/Math/MathML"}


def formulas() -> set[str]:
    files = [
        *(ROOT / "docs").rglob("*.rst"),
        *(ROOT / "docs" / "course").glob("*.py"),
        *(ROOT / "sdpdr").rglob("*.py"),
    ]
    written = [
        p
        for p in files
        if not {"_build", "generated", "gallery_output", "course_output"} & set(p.parts)
    ]
    found = [re.findall(r":math:`([^`]+)`", p.read_text(encoding="utf-8")) for p in written]
    # Lessons are comments; a formula broken there has their sign within.
    return {" ".join(text.replace("\n# ", " ").split()) for texts in found for text in texts}


def test_every_formula_is_understood():
    assert len(formulas()) > 50
    for formula in formulas():
        drawn = "".join(ET.fromstring(to_mathml(formula, display=False)).itertext())
        assert "\\" not in drawn, formula


@pytest.mark.parametrize(
    ("latex", "drawn"),
    [(r"\mathbf 1", "𝟏"), (r"\mathbf{S}", "𝐒"), (r"\mathcal A", "𝓐"), (r"K \succeq 0", "K⪰0")],
)
def test_alphabets_are_letters_of_their_own(latex, drawn):
    assert "".join(ET.fromstring(to_mathml(latex, display=False)).itertext()) == drawn


def test_lines_are_aligned_at_ampersands():
    root = ET.fromstring(to_mathml(r"\max\ & x \\ \text{s.t. } & y \le 1", display=True))
    rows = root.findall(".//m:mtr", SPACE)
    classes = [[cell.get("class") for cell in row] for row in rows]
    assert classes == [["math-right", "math-left"]] * 2


@pytest.mark.parametrize(("display", "tag"), [(True, "m:munder"), (False, "m:msub")])
def test_limits_stand_below_in_displays_only(display, tag):
    root = ET.fromstring(to_mathml(r"\max_x f", display=display))
    assert root.find(f".//{tag}", SPACE) is not None
