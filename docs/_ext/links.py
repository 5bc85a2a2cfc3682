"""Links within the pages: whatever they lead to must be there, file and anchor.

They are looked at when all pages are written, and one that leads nowhere fails the build. Links
that leave the pages are checked by ``make links``, which needs a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

_TAG = re.compile(r"<[a-z][^<>]*>")
_LINK = re.compile(r'\s(?:href|src)="([^"]*)"')
_ANCHOR = re.compile(r'\s(?:id|name)="([^"]*)"')
_SCRIPT = re.compile(r"<(script|style)\b([^>]*)>.*?</\1>", re.S)


def broken(site: Path) -> Iterator[tuple[str, str]]:
    """Pages, and the links of each that lead nowhere.

    Parameters
    ----------
    site : Path
        A folder of pages, looked at with all that lies below it.

    Yields
    ------
    page, link : str
    """
    links, anchors = {}, {}
    # What is beneath _static belongs to the theme, templates included.
    for page in sorted(set(site.rglob("*.html")) - set((site / "_static").rglob("*"))):
        text = _SCRIPT.sub(r"<\1\2>", page.read_text(encoding="utf-8"))
        tags = " ".join(_TAG.findall(text))
        links[page] = sorted({unescape(link) for link in _LINK.findall(tags)})
        anchors[page] = {unescape(name) for name in _ANCHOR.findall(tags)}
    for page, found in links.items():
        for link in found:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment)
            there = goal in anchors or goal.is_file()
            # "#" alone is the top of any page.
            if not there or (goal in anchors and anchor and anchor not in anchors[goal]):
                yield page.relative_to(site).as_posix(), link


def _check(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        for page, link in broken(Path(app.outdir).resolve()):
            logging.getLogger(__name__).warning("%s: the link %r leads nowhere", page, link)
            app.statuscode = 1


def setup(app: Any) -> dict[str, bool]:
    """Check links when the pages are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
