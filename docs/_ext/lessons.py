"""Notebooks of lessons and gallery pages: readable without Sphinx, and the course in two archives.

Notebooks of sphinx-gallery keep most directives and roles as they stand, so they are written anew
from the same cells, when the titles of all pages are known. A student's notebook of a lesson has an
empty cell in the place of each solution. A teacher's has the solutions, as cells that run, the
minutes of all exercises, and marks for slides (``jupyter nbconvert --to slides``).
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

from cells import Link, Markdown, parsed, read_cell, take_solution
from docutils import nodes
from sphinx_gallery.notebook import (
    add_code_cell,
    add_markdown_cell,
    jupyter_notebook_skeleton,
)
from sphinx_gallery.py_source_parser import split_code_and_text_blocks

COURSE, ARCHIVE = "course_output", "unfold_it_yourself.zip"
TEACHERS = "unfold_it_yourself_teachers.zip"
ANSWER = (
    "# Your answer. If it is a point or multipliers of a program, sdpdr.testing.graded grades it."
)
INSTALL = """\
# This notebook needs sdpdr, which is not on PyPI. If it is not installed where this notebook runs,
# say below where your clone of its repository is, run the line without its sign, and restart.
# %pip install /path/to/sdpdr
"""
_CITED = re.compile(r"\[(\w+\d{4})\]_")
_MINUTES = re.compile(r"\*\*Exercise (\d)\.\*\* \*(\d+) minutes\.\*")
# Archives of equal files are equal.
_LONG_AGO = (2000, 1, 1, 0, 0, 0)


def notebook(
    path: Path, link: Link, entries: Mapping[str, str] | None = None, *, teacher: bool = False
) -> str:
    """A lesson as a notebook.

    Parameters
    ----------
    path : Path
        A program whose text lies in its comments, as sphinx-gallery reads it.
    link : callable
        See `cells.markdown`.
    entries : mapping, optional
        The list of references by label, as Markdown; those that are cited stand at the end.
    teacher : bool, default False
        Whether it has the solutions of exercises, their minutes, and marks for slides.
    """
    made = jupyter_notebook_skeleton()
    add_code_cell(made, INSTALL)
    _, blocks = split_code_and_text_blocks(path)
    for number, (kind, text, *_) in enumerate(blocks):
        if kind == "code":
            add_code_cell(made, text)
            continue
        where = f"{path.name}, cell {number + 1}"
        words = Markdown(link, where)
        children = read_cell(text, where, first=number == 0)
        solution = take_solution(children)
        add_markdown_cell(made, words.blocks(children, 1))
        if teacher and number == 0:
            add_markdown_cell(made, _minutes(blocks))
        if solution is not None and teacher:
            _add_solution(made, words, solution)
        elif solution is not None:
            add_code_cell(made, ANSWER)
    cited = sorted({label for kind, text, *_ in blocks for label in _CITED.findall(text)})
    if entries and cited:
        add_markdown_cell(made, "\n".join(rf"- \[{label}\] {entries[label]}" for label in cited))
    if teacher:
        _mark_slides(made["cells"])
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _minutes(blocks: Iterable[Any]) -> str:
    """How long the exercises of a lesson take, for its teacher."""
    found = [pair for _, text, *_ in blocks for pair in _MINUTES.findall(text)]
    each = ", ".join(f"exercise {number}: {minutes}" for number, minutes in found)
    total = sum(int(minutes) for _, minutes in found)
    return f"*For the teacher.* Minutes for the exercises: {each}; {total} in all."


def _add_solution(made: dict[str, Any], words: Markdown, solution: list[nodes.Node]) -> None:
    """The words of a solution, and its code as cells that run."""
    title = "**Solution.**"
    for node in solution:
        if isinstance(node, nodes.literal_block):
            add_code_cell(made, node.astext())
        else:
            add_markdown_cell(made, f"{title}\n\n{words.block(node, 1)}".strip())
            title = ""


def _mark_slides(cells: list[dict[str, Any]]) -> None:
    """A slide begins at every heading and exercise, and the cells up to the next appear on it."""
    for cell in cells:
        text = "".join(cell["source"])
        begins = cell["cell_type"] == "markdown" and text.startswith(("#", "**Exercise"))
        kind = "skip" if text == INSTALL.strip() else "slide" if begins else "fragment"
        cell["metadata"]["slideshow"] = {"slide_type": kind}


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


def archive(files: Mapping[str, bytes]) -> bytes:
    """Files side by side, by name."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as put:
        for name, content in sorted(files.items()):
            put.writestr(zipfile.ZipInfo(name, _LONG_AGO), content)
    return packed.getvalue()


def _prepare(app: Any) -> None:
    """Places for the archives, which pages can link to before they are written."""
    for name in (ARCHIVE, TEACHERS):
        place = Path(app.srcdir, COURSE, name)
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
    students, teachers = dict[str, bytes](), dict[str, bytes]()
    for source, page in _sources(app.config.sphinx_gallery_conf, folder):
        link = linked(page, title, lessons)
        content = notebook(source, link, entries).encode()
        made, program, packed = (folder / f"{page}.{end}" for end in ("ipynb", "py", "zip"))
        _keep(made, content)
        # New versions of sphinx-gallery pack both.
        if packed.exists():
            _keep(packed, archive({program.name: program.read_bytes(), made.name: content}))
        if page in lessons:
            students[made.name] = content
            teachers[made.name] = notebook(source, link, entries, teacher=True).encode()
    _keep(folder / COURSE / ARCHIVE, archive(students))
    _keep(folder / COURSE / TEACHERS, archive(teachers))
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
