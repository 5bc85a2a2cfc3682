"""Notebooks of the course, whose solutions stay folded as on the pages.

sphinx-gallery turns a lesson into a notebook and leaves directives and roles as they stand. What is
under a dropdown goes between ``<details>``, which Jupyter folds; of a role its words remain.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

_CODE = re.compile(r"(^```[\s\S]*?^```$)", re.M)
_MATH = re.compile(r"^ *\.\. math::(?P<formula>.*\n(?:\n| {6}.*(?:\n|$))*)", re.M)
_ADMONITION = re.compile(r"^\.\. admonition:: (?P<title>.+)\n(?P<body>(?:\n|\$\$.*| {3}.*)+)", re.M)
_DROPDOWN = re.compile(r"^\.\. dropdown:: (?P<title>.+)\n(?P<body>[\s\S]*)", re.M)
_TITLED_ROLE = re.compile(r":\w+:`(?P<words>[^`<]+?)\s*<[^`>]+>`")
_ROLE = re.compile(r":\w+:`/?(?P<words>[^`]+)`")
_CITATION = re.compile(r"\[(\w+\d{4})\]_")


def readable(markdown: str) -> str:
    """The text of a cell with folded solutions, and without roles.

    A solution is the last thing in its cell.
    """
    pieces = _CODE.split(markdown)
    # What the regular expression captures, the code, is at the odd places.
    text = "".join(piece if k % 2 else _words(piece) for k, piece in enumerate(pieces))
    return _DROPDOWN.sub(
        lambda m: f"<details><summary>{m['title']}</summary>\n\n{m['body'].strip()}\n\n</details>",
        text,
    )


def _words(text: str) -> str:
    text = _MATH.sub(lambda m: f"$$ {' '.join(m['formula'].split())} $$\n\n", text)
    text = _ADMONITION.sub(_quoted, text)
    text = re.sub(r"^ {3}(?! *[-\d])", "", text, flags=re.M)
    text = _TITLED_ROLE.sub(r"*\g<words>*", text)
    text = _ROLE.sub(r"`\g<words>`", text)
    return _CITATION.sub(r"[\1]", text)


def _quoted(match: re.Match[str]) -> str:
    body = re.sub(r"^ {3}", "", match["body"], flags=re.M).strip()
    return f"> **{match['title']}.**\n>\n{textwrap.indent(body, '> ', lambda line: True)}\n\n"


def mend_notebooks(app: Any) -> None:
    """Rewrite the notebooks that sphinx-gallery has just written."""
    for path in sorted(Path(app.srcdir, "course_output").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = [readable("".join(cell["source"]))]
        path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Run after sphinx-gallery, whose priority is the usual 500."""
    app.connect("builder-inited", mend_notebooks, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
