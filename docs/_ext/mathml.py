"""Mathematics as MathML, converted when the pages are built.

Browsers draw MathML themselves, so the pages need neither a script nor a network. MathML Core,
which is what browsers implement, leaves alignment and alphabets to the author; `_for_browsers`
expresses them in ways that it knows.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from docutils import nodes
from latex2mathml.converter import convert

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# First letters of the Unicode alphabets (capitals, small letters, digits) of each variant.
ALPHABETS = {"bold": (0x1D400, 0x1D41A, 0x1D7CE), "script": (0x1D4D0, 0x1D4EA, None)}
LIMITS = {"max", "min", "sup", "inf"}
FENCES = set("⟨⟩‖|")
RELATIONS = set("⪰⪯≻≺⟺⟹∈⟂")

ET.register_namespace("", NAMESPACE)


def to_mathml(latex: str, *, display: bool) -> str:
    """MathML of a formula; several lines (``\\\\``) are aligned at ``&``."""
    latex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", latex.strip())
    if has_rows(latex):
        latex = rf"\begin{{split}}{latex}\end{{split}}"
    # The converter closes \textstyle at once; what follows would be drawn as if it were absent.
    latex = latex.replace(r"\textstyle", "")
    root = ET.fromstring(convert(latex, display="block" if display else "inline"))
    _for_browsers(root, display=display)
    return ET.tostring(root, encoding="unicode")


def has_rows(latex: str) -> bool:
    """Whether a formula is broken into lines outside of matrices and other environments."""
    environment = re.compile(r"\\begin\{(\w+)\}(?:(?!\\begin).)*?\\end\{\1\}", re.DOTALL)
    rest, count = latex, 1
    while count:
        rest, count = environment.subn("", rest)
    return r"\\" in rest or "&" in rest


def _for_browsers(root: ET.Element, *, display: bool) -> None:
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        variant = element.attrib.pop("mathvariant", None)
        if variant in ALPHABETS:
            element.text = "".join(_letter(c, variant) for c in element.text or "")
        elif variant == "normal":
            element.set("mathvariant", "normal")
        if tag == "mtd" and "columnalign" in element.attrib:
            element.set("class", f"math-{element.attrib.pop('columnalign')}")
        if tag == "msub" and display and (element[0].text or "") in LIMITS:
            element.tag = f"{{{NAMESPACE}}}munder"
        if tag in ("mi", "mo") and element.text in FENCES and "fence" not in element.attrib:
            element.tag = f"{{{NAMESPACE}}}mo"
            element.attrib |= {"stretchy": "false", "lspace": "0", "rspace": "0"}
        if tag == "mi" and element.text in RELATIONS:
            element.tag = f"{{{NAMESPACE}}}mo"


def _letter(character: str, variant: str) -> str:
    capitals, small, digits = ALPHABETS[variant]
    for first, start in (("A", capitals), ("a", small), ("0", digits)):
        last = {"A": "Z", "a": "z", "0": "9"}[first]
        if start is not None and first <= character <= last:
            return chr(start + ord(character) - ord(first))
    return character


def visit_inline(self: Any, node: nodes.math) -> None:
    """An inline formula."""
    self.body.append(to_mathml(node.astext(), display=False))
    raise nodes.SkipNode


def visit_display(self: Any, node: nodes.math_block) -> None:
    """A displayed formula, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math-display"))
    self.body.append(to_mathml(node.astext(), display=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.add_js_file("formulas.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
