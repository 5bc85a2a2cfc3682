"""Formulas become MathML that browsers can draw."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytestmark = pytest.mark.nightly

pytest.importorskip("latex2mathml")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from mathml import to_mathml  # noqa: E402  # the folder of extensions is not a package


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
