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

_DROPDOWN = re.compile(r"^\.\. dropdown:: (?P<title>.+)\n(?P<body>(?:(?!\.\. )[\s\S])*)", re.M)
_ADMONITION = re.compile(
    r"^\.\. admonition:: (?P<title>.+)\n(?P<body>(?:\n|[ ]{3}.*(?:\n|$))+)", re.M
)
_TITLED_ROLE = re.compile(r":\w+:`(?P<words>[^`<]+?)\s*<[^`>]+>`")
_ROLE = re.compile(r":\w+:`/?(?P<words>[^`]+)`")
_CITATION = re.compile(r"\[(\w+\d{4})\]_")


def readable(markdown: str) -> str:
    """The text of a cell with folded solutions, and without roles."""
    text = _DROPDOWN.sub(_folded, markdown)
    text = _ADMONITION.sub(_quoted, text)
    text = _TITLED_ROLE.sub(r"*\g<words>*", text)
    text = _ROLE.sub(r"`\g<words>`", text)
    return _CITATION.sub(r"[\1]", text)


def _folded(match: re.Match[str]) -> str:
    body = re.sub(r"^ {3}", "", match["body"], flags=re.M).strip()
    return f"<details><summary>{match['title']}</summary>\n\n{body}\n\n</details>"


def _quoted(match: re.Match[str]) -> str:
    body = textwrap.indent(textwrap.dedent(match["body"]).strip(), "> ", lambda line: True)
    return f"> **{match['title']}.**\n>\n{body}\n\n"


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
