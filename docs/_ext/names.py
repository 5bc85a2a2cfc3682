"""Names of the pages of the reference: no two agree where case does not count."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

REFERENCE = Path(__file__).parents[1] / "api"
_LINE = re.compile(r"^   (?P<entry>[A-Za-z_][\w.]*)$|^\.\. currentmodule:: (?P<room>\S+)$", re.M)


def reference() -> str:
    """The pages of the reference that list names, one after the other."""
    pages = sorted(set(REFERENCE.glob("*.rst")) - {REFERENCE / "index.rst"})
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def listed(text: str) -> list[str]:
    """Full names of all that the reference lists, in order."""
    room, names = "", []
    for found in _LINE.finditer(text):
        if found["room"]:
            room = found["room"]
        else:
            names.append(f"{room}.{found['entry']}")
    return names


def filenames(names: list[str]) -> dict[str, str]:
    """Other names of files for what shares its own, but for the case, with a function.

    Examples
    --------
    >>> filenames(["sdpdr.plan", "sdpdr.Plan", "sdpdr.MVU"])
    {'sdpdr.Plan': 'sdpdr.Plan-class'}
    """
    often = Counter(map(str.lower, names))
    return {
        name: f"{name}-class" for name in names if often[name.lower()] > 1 and name != name.lower()
    }
