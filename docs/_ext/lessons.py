"""Notebooks of lessons and gallery pages: readable without Sphinx, and the course in one archive.

What sphinx-gallery writes keeps most directives and roles as they stand, so its notebooks are
written anew from the same cells, when the titles of all pages are known.
"""

from __future__ import annotations

import json
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from cells import Link, Markdown, markdown, parsed
from docutils import nodes
from sphinx_gallery.notebook import (
    add_code_cell,
    add_markdown_cell,
    jupyter_notebook_skeleton,
)
from sphinx_gallery.py_source_parser import split_code_and_text_blocks

COURSE, ARCHIVE = "course_output", "unfold_it_yourself.zip"
INSTALL = """\
# This notebook needs sdpdr, which is not on PyPI. If it is not installed where this notebook runs,
# say below where your clone of its repository is, run the line without its sign, and restart.
# %pip install /path/to/sdpdr
"""
_CITED = re.compile(r"\[(\w+\d{4})\]_")
# Archives of equal files are equal.
_LONG_AGO = (2000, 1, 1, 0, 0, 0)


def notebook(path: Path, link: Link, entries: Mapping[str, str] | None = None) -> str:
    """A lesson as a notebook.

    Parameters
    ----------
    path : Path
        A program whose text lies in its comments, as sphinx-gallery reads it.
    link : callable
        See `cells.markdown`.
    entries : mapping, optional
        The list of references by label, as Markdown; those that are cited stand at the end.
    """
    made = jupyter_notebook_skeleton()
    add_code_cell(made, INSTALL)
    _, blocks = split_code_and_text_blocks(path)
    for number, (kind, text, *_) in enumerate(blocks):
        if kind == "code":
            add_code_cell(made, text)
        else:
            where = f"{path.name}, cell {number + 1}"
            add_markdown_cell(made, markdown(text, link, where, first=number == 0))
    cited = sorted({label for kind, text, *_ in blocks for label in _CITED.findall(text)})
    if entries and cited:
        add_markdown_cell(made, "\n".join(rf"- \[{label}\] {entries[label]}" for label in cited))
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def bibliography(path: Path) -> dict[str, str]:
    """The entries of the page of references, as Markdown."""
    tree = parsed(path.read_text(encoding="utf-8"), path.name)
    words = Markdown(linked("references", lambda kind, target: target, set()), path.name)
    return {
        label.astext(): words.blocks(entry, 1)
        for label, *entry in (cited.children for cited in tree.findall(nodes.citation))
    }


def linked(page: str, title: Callable[[str, str], str], beside: set[str]) -> Link:
    """Links between notebooks that are packed together; of other pages the titles."""

    def link(kind: str, target: str, words: str) -> str:
        goal = posixpath.normpath(posixpath.join("/", posixpath.dirname(page), target)).lstrip("/")
        if kind == "doc" and goal in beside:
            return f"[{words or title(kind, goal)}]({posixpath.basename(goal)}.ipynb)"
        return f"*{words or title(kind, goal if kind == 'doc' else target)}*"

    return link


def archive(paths: Iterable[Path]) -> bytes:
    """Files side by side."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as put:
        for path in paths:
            put.writestr(zipfile.ZipInfo(path.name, _LONG_AGO), path.read_bytes())
    return packed.getvalue()


def _prepare(app: Any) -> None:
    """A place for the archive, which pages can link to before it is written."""
    place = Path(app.srcdir, COURSE, ARCHIVE)
    if not place.exists():
        place.touch()


def _write(app: Any, env: Any) -> list[str]:
    folder = Path(app.srcdir)

    def title(kind: str, target: str) -> str:
        if kind == "doc":
            return str(env.titles[target].astext())
        return str(env.get_domain("std").labels[target][2])

    entries = bibliography(folder / "references.rst")
    lessons = {f"{COURSE}/{path.stem}" for path in (folder / COURSE).glob("*.ipynb")}
    for source, page in _sources(app.config.sphinx_gallery_conf, folder):
        text = notebook(source, linked(page, title, lessons), entries)
        made, program, packed = (folder / f"{page}.{end}" for end in ("ipynb", "py", "zip"))
        _keep(made, text.encode())
        # New versions of sphinx-gallery pack both.
        if packed.exists():
            _keep(packed, archive([program, made]))
    _keep(folder / COURSE / ARCHIVE, archive(sorted((folder / COURSE).glob("*.ipynb"))))
    return []


def _sources(conf: Mapping[str, Any], folder: Path) -> Iterator[tuple[Path, str]]:
    for given, made in zip(conf["examples_dirs"], conf["gallery_dirs"], strict=True):
        for source in sorted((folder / given).rglob("*.py")):
            place = source.relative_to(folder / given).with_suffix("")
            yield source, f"{made}/{place.as_posix()}"


def _keep(path: Path, content: bytes) -> None:
    """What has not changed is not written, so that no page is read again for it."""
    if path.read_bytes() != content:
        path.write_bytes(content)


def setup(app: Any) -> dict[str, bool]:
    """Begin after sphinx-gallery, whose priority is the usual 500."""
    app.connect("builder-inited", _prepare, priority=600)
    app.connect("env-updated", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
