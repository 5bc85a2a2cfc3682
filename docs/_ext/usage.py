"""Thumbnails of the gallery pages and lessons that use what a page is about.

``used-in:: NAME ...`` shows them, those first whose title names it, then short pages before lessons
and long ones. Where nothing uses it nothing is shown, not even the heading of ``:heading:``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from listtable import parsed
from sphinx.util.docutils import SphinxDirective

# sphinx-gallery keeps there which page uses which names.
FOLDER = "gallery_output/backreferences"
# Pages that are listed for a name that is used everywhere.
MOST = 8

# Name of the file, folder of its source, folder of its page, first sentence, title.
Example = Sequence[str]


def order(path: str) -> tuple[bool, str]:
    """Pages of the gallery before lessons."""
    return Path(path).parent.name == "course", path


def chosen(names: Sequence[str], uses: Mapping[str, Iterable[Example]]) -> list[str]:
    """Pages that use any of the names, the most telling first.

    Parameters
    ----------
    names : sequence of str
        Full names.
    uses : mapping from name to examples
        As sphinx-gallery writes it.

    Returns
    -------
    list of str
        Paths of their sources.

    Examples
    --------
    >>> lesson = ["lesson_04.py", "course", "", "", "Unfolding"]
    >>> own, other = (["plot_a.py", "gallery/unfold", "", "", f"{x} does"] for x in ("MVU", "SPE"))
    >>> chosen(["sdpdr.MVU"], {"sdpdr.MVU": [lesson, other, own], "sdpdr.SPE": [other]})
    ['gallery/unfold/plot_a.py', 'course/lesson_04.py']
    """
    short = {name.rpartition(".")[2] for name in names}
    found = {
        f"{folder}/{file}": (
            not short & set(re.findall(r"\w+", title)),
            Path(folder).name == "gallery",
            Path(folder).name == "course",
        )
        for name in names
        for file, folder, _, _, title in uses.get(name, ())
    }
    return sorted(found, key=lambda path: (found[path], path))


class UsedIn(SphinxDirective):
    """The thumbnails of a few pages, and how many more there are."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"heading": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir, FOLDER, "backreferences_all.json")
        self.env.note_dependency(str(path))
        uses = json.loads(path.read_text(encoding="utf-8"))
        pages = [
            Path(page).relative_to(self.env.srcdir).as_posix()
            for page in chosen(self.arguments[0].split(), uses)
        ]
        if not pages:
            return []
        heading = self.options.get("heading")
        lines = [f".. rubric:: {heading}", ""] if heading else []
        lines += [f".. minigallery:: {' '.join(pages[:MOST])}", ""]
        if len(pages) > MOST:
            lines += [f"These are {MOST} of {len(pages)} pages that use it.", ""]
        return parsed(self, lines)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("used-in", UsedIn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
