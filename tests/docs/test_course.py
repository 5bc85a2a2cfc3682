"""The course: its lessons run, their hidden solutions are right, and nothing is left out."""

from __future__ import annotations

import ast
import base64
import importlib
import io
import json
import os
import re
import textwrap
import zipfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs"
LESSONS = sorted((DOCS / "course").glob("lesson_*.py"))
PAGES = [*LESSONS, *sorted((DOCS / "gallery").rglob("plot_*.py"))]
# Ten seconds and more.
LONG = (
    "lesson_05_degenerate",
    "lesson_09_extend",
    "lesson_07_forms",
    "lesson_08_low_rank",
    "lesson_10_factorization",
)
EXERCISE = re.compile(r"^\*\*Exercise (\d)\.\*\*(.*?)(?=^\*\*Exercise|^References$)", re.M | re.S)
CODE = re.compile(r"^ {3}\.\. code-block:: python\n\n((?: {6}.*\n|\n)+)", re.M)


FENCED = re.compile(r"^```\w*\n.*?^```$|\$\$.*?\$\$|\$.*?\$|(?<!`)`[^`\n]+`(?!`)", re.M | re.S)
# Roles, directives, citations, literals, and links to other pages.
LEFT_OVER = re.compile(r":[a-z:]+:`|^\s*\.\. |\]_|``|`_|^[=\-~]{4,}$", re.M)


class Solved(NamedTuple):
    """An exercise: its number, its words, and the code of its solution."""

    number: int
    words: str
    code: str


def prose(path: Path) -> str:
    """What a lesson says: its docstring and its comments, without their signs."""
    source = path.read_text(encoding="utf-8")
    comments = [line[2:] for line in source.splitlines() if line.startswith("#")]
    return f"{ast.get_docstring(ast.parse(source))}\n" + "\n".join(comments) + "\n"


def exercises(path: Path) -> list[Solved]:
    """The exercises of a lesson, with the code of their solutions."""
    return [
        Solved(int(number), words, "\n".join(textwrap.dedent(code) for code in CODE.findall(words)))
        for number, words in EXERCISE.findall(prose(path))
    ]


@pytest.mark.parametrize(("table", "folder"), [("lessons", "course"), ("gallery_pages", "gallery")])
def test_the_time_of_every_page_is_told(table, folder):
    """`python benchmarks/pages.py` measures them."""
    told = (DOCS / "tables" / f"{table}.rst").read_text(encoding="utf-8")
    pages = [path for path in PAGES if folder in path.relative_to(DOCS).parts]
    missing = [path.stem for path in pages if f"{path.stem}>`" not in told]
    assert pages
    assert not missing


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.nightly] if path.stem in LONG else [])
        for path in LESSONS
    ],
)
def test_a_lesson_and_the_solutions_of_its_exercises_run(path, monkeypatch):
    mpl.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    taught: dict[str, object] = {"__name__": "__main__"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), taught)
    pyplot.close("all")
    for exercise in exercises(path):
        name = f"{path.name}, exercise {exercise.number}"
        known = dict(taught)
        exec(compile(exercise.code, name, "exec"), known)
        # Whoever tries a solution in a notebook goes on with what the lesson has taught.
        spoiled = {word for word in taught if known[word] is not taught[word]}
        assert spoiled <= {"_"}, name


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_has_goals_exercises_with_solutions_and_references(path):
    text = prose(path)
    number = int(path.stem.split("_")[1])
    assert text.startswith(f"Lesson {number}: ")
    for part in ("**Goals.**", "**You need**", "\nExercises\n---", "\nReferences\n---"):
        assert part in text, part
    references = text.partition("\nReferences\n---")[2]
    assert "thesis" in references or "documents" in references
    assert ":doc:`/references`" in references
    found = exercises(path)
    assert [exercise.number for exercise in found] == list(range(1, len(found) + 1))
    assert 2 <= len(found) <= 5
    for exercise in found:
        checks = [node for node in ast.walk(ast.parse(exercise.code)) if type(node) is ast.Assert]
        assert exercise.words.count(".. dropdown:: Solution") == 1
        assert len(checks) > 0, exercise.number


def test_there_are_ten_lessons_and_the_index_names_each_of_them():
    header = (DOCS / "course" / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    named = re.findall(r":doc:`([^<]+) <(\w+)>`", header)
    assert [page for _, page in named] == [path.stem for path in LESSONS]
    assert len(LESSONS) == 10
    for number, ((title, _), path) in enumerate(zip(named, LESSONS, strict=True), 1):
        assert prose(path).startswith(f"Lesson {number}: {title}\n")


def test_no_line_of_a_page_is_indented_out_of_its_exercise():
    # An exercise is a cell of its own, which ends with its solution: notebooks fold it to the end.
    for path in LESSONS:
        cells = re.split(r"^# %%.*$", path.read_text(encoding="utf-8"), flags=re.M)
        for cell in cells:
            _, _, after = cell.partition("# .. dropdown:: Solution\n")
            strays = [
                line for line in after.splitlines() if line.strip("# ") and line[:5] != "#    "
            ]
            assert strays == [], path.name


@pytest.fixture
def ours(monkeypatch):
    """Extensions of the documentation, by name."""
    pytest.importorskip("sphinx_gallery", reason="the documentation's packages are not installed")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module


@pytest.fixture
def notebook(ours):
    """Of a lesson or a gallery page, its notebook, without a build."""
    lessons = ours("lessons")
    entries = lessons.bibliography(DOCS / "references.rst")
    link = lessons.linked("course_output/x", lambda kind, target: "Title", {"course_output/y"})
    return lambda path: json.loads(lessons.notebook(path, link, entries))


def plain(kind, target, title):
    return f"({kind} {target} {title})"


def test_text_of_a_notebook_folds_solutions_and_leaves_no_roles(ours):
    cell = (
        "**Exercise 1.** See :doc:`/guide/language`, :ref:`cones <cone>`, `psd` and [WS2004]_.\n\n"
        ".. dropdown:: Solution\n\n   As :math:`x` is:\n\n   .. math:: x = 1\n\n   So\n\n"
        "   .. code-block:: python\n\n      if x:\n          assert True\n"
    )
    assert ours("cells").markdown(cell, plain) == (
        "**Exercise 1.** See (doc /guide/language ), (ref cone cones), `psd` and \\[WS2004\\].\n\n"
        "<details><summary>Solution</summary>\n\n"
        "As $x$ is:\n\n$$ x = 1 $$\n\nSo\n\n"
        "```python\nif x:\n    assert True\n```\n\n</details>"
    )
    theorem = ".. admonition:: Fact\n\n   It is\n   so.\n\n*Proof.* Clear.\n"
    assert ours("cells").markdown(theorem, plain) == (
        "> **Fact.**\n> \n> It is so.\n\n*Proof.* Clear."
    )


def test_text_of_a_notebook_keeps_titles_lists_and_signs_of_markdown(ours):
    words = "Part\n----\nNot 2 * 3 * 4, a_b or $5.\n\n- one\n\n  and more\n- two\n\n1. three\n"
    assert ours("cells").markdown(words, plain) == (
        "## Part\n\nNot 2 \\* 3 \\* 4, a\\_b or \\$5.\n\n- one\n\n  and more\n- two\n\n1. three"
    )
    several = ".. math::\n\n   a &= b \\\\\n   &= c\n"
    assert ours("cells").markdown(several, plain) == (
        r"$$ \begin{aligned} a &= b \\ &= c \end{aligned} $$"
    )


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (".. math:: a &= b", r"$$ \begin{aligned} a &= b \end{aligned} $$"),
        (
            r".. math:: M = \begin{bmatrix} a & b \\ c & d \end{bmatrix}",
            r"$$ M = \begin{bmatrix} a & b \\ c & d \end{bmatrix} $$",
        ),
        (
            ".. dropdown:: S\n   :open:\n\n   Words.",
            "<details open><summary>S</summary>\n\nWords.\n\n</details>",
        ),
        ("`title <sdpdr.x>` and `~sdpdr.x`.", "`title` and `x`."),
        (r"\# is a sign.", r"\# is a sign."),
        (r"\+ is a sign.", r"\+ is a sign."),
        (r"\- is a sign.", r"\- is a sign."),
        ("> is a sign.", r"\> is a sign."),
        (r"1984\. A year.", r"1984\. A year."),
        ("1984 and -1 are. #1 is.", "1984 and -1 are. #1 is."),
        ("...and so on.", "...and so on."),
        ("Two ``a`b`` of ``c``.", "Two `` a`b `` of `c`."),
        (".. code-block:: none\n\n   ```\n   x", "````none\n```\nx\n````"),
    ],
)
def test_signs_that_mean_other_things_in_markdown_are_written_as_the_page_shows_them(
    ours, text, made
):
    assert ours("cells").markdown(f"{text}\n", plain) == made


def test_a_notebook_says_what_moves_on_the_page_of_the_lesson(ours):
    told = ours("cells").markdown(".. moving:: shape shapes.json 1\n\n   A body.\n", plain)
    assert told.startswith("> **Correlation matrices of order three.**\n")
    assert told.endswith("> The page of this lesson has a figure here that moves. A body.")


def test_a_notebook_holds_the_picture_that_moves_on_the_page_standing_still(ours):
    told = ours("cells").markdown(".. moving:: springs springs.json\n\n   A [b].\n", plain)
    alt, drawn = re.search(r"^!\[(.+)\]\(data:image/svg\+xml;base64,(.+)\)$", told, re.M).groups()
    assert alt.startswith(r"A \[b\]. Springs are drawn")
    root = ElementTree.fromstring(base64.b64decode(drawn))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    data = ours("moving").chosen("springs.json")
    assert len(root.findall(".//{*}line")) == len(data["edges"])
    assert len(root.findall(".//{*}circle")) == len(data["colour"])


@pytest.mark.parametrize(
    "text",
    [
        "See :func:`psd`.",
        ".. figure:: cone.png\n",
        "A | B\n\n.. unknown:: x\n",
        "term\n   what it is\n",
        ".. image:: cone.png\n",
        "An *open emphasis.",
        "a. one\nb. two\n",
        ".. dropdown:: S\n   :color: red\n\n   Words.\n",
    ],
)
def test_what_cannot_become_a_notebook_ends_the_build(ours, text):
    errors = importlib.import_module("sphinx.errors")
    with pytest.raises(
        errors.ExtensionError, match=r"lesson_x\.py, cell 3 cannot become a notebook"
    ):
        ours("cells").markdown(text, plain, "lesson_x.py, cell 3")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_notebook_is_one_and_nothing_of_the_pages_is_left_over(path, notebook):
    made = notebook(path)
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 0)
    assert made["metadata"]["kernelspec"]["language"] == "python"
    for cell in made["cells"]:
        assert set(cell["metadata"]) <= {"collapsed"}
        assert all(type(line) is str for line in cell["source"])
        if cell["cell_type"] == "code":
            assert set(cell) == {"cell_type", "execution_count", "metadata", "outputs", "source"}
            assert (cell["execution_count"], cell["outputs"]) == (None, [])
            compile("".join(cell["source"]), path.name, "exec")
        else:
            assert set(cell) == {"cell_type", "metadata", "source"}
            assert cell["cell_type"] == "markdown"
            words = FENCED.sub("", "".join(cell["source"]))
            assert LEFT_OVER.findall(words) == []
            assert words.count("<details>") == words.count("</details>")
            assert words.count("```") == 0


def test_a_notebook_begins_with_the_way_to_the_package(notebook):
    readme = " ".join((DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    assert "not on PyPI" in readme
    for path in LESSONS:
        first, title, *_ = notebook(path)["cells"]
        assert "not on PyPI" in "".join(first["source"])
        assert "%pip install" in "".join(first["source"])
        assert "".join(title["source"]).startswith("# Lesson ")
        assert "%pip" not in path.read_text(encoding="utf-8")


def test_a_notebook_lists_the_works_that_it_cites(notebook):
    for path in LESSONS:
        *_, last = notebook(path)["cells"]
        cited = set(re.findall(r"\[(\w+\d{4})\]_", path.read_text(encoding="utf-8")))
        listed = re.findall(r"^- \\\[(\w+)\\\] ", "".join(last["source"]), re.M)
        assert listed == sorted(cited)


@pytest.mark.parametrize("path", [LESSONS[0], LESSONS[3]], ids=lambda path: path.stem)
def test_a_notebook_runs_as_it_is_downloaded(path, notebook):
    mpl.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    known: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(notebook(path)["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), known)
    pyplot.close("all")
    assert "sdpdr" in known


def test_notebooks_that_are_packed_together_lead_to_each_other(ours):
    link = ours("lessons").linked("course_output/x", lambda kind, target: f"T {target}", {
        "course_output/lesson_02_cone"
    })  # fmt: skip
    assert (
        link("doc", "lesson_02_cone", "")
        == "[T course_output/lesson_02_cone](lesson_02_cone.ipynb)"
    )
    assert link("doc", "/course_output/lesson_02_cone", "cones") == "[cones](lesson_02_cone.ipynb)"
    assert link("doc", "/guide/pages", "") == "*T guide/pages*"
    assert link("ref", "forms", "") == "*T forms*"


def test_an_archive_depends_on_nothing_but_its_files(ours, tmp_path):
    paths = [tmp_path / "a.ipynb", tmp_path / "b.ipynb"]
    for path in paths:
        path.write_text(path.stem, encoding="utf-8")
    packed = ours("lessons").archive(paths)
    os.utime(paths[0], (0, 0))
    assert ours("lessons").archive(paths) == packed
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        assert opened.namelist() == ["a.ipynb", "b.ipynb"]
        assert opened.read("a.ipynb") == b"a"
