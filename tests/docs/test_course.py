"""The course: its lessons run, their hidden solutions are right, and nothing is left out."""

from __future__ import annotations

import ast
import importlib
import json
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import pytest

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs"
LESSONS = sorted((DOCS / "course").glob("lesson_*.py"))
PAGES = [*LESSONS, *sorted((DOCS / "gallery").rglob("plot_*.py"))]
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


# The first runs every day; the documentation's build runs all of them as well.
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.nightly] if number else [])
        for number, path in enumerate(LESSONS)
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
        for folded in ("Hint", "Solution"):
            assert exercise.words.count(f".. dropdown:: {folded}\n") == 1, exercise.number
        assert re.match(r" \*\d+ minutes\.\*", exercise.words), exercise.number
        assert len(checks) > 0, exercise.number


def test_there_are_ten_lessons_and_the_index_names_each_of_them():
    header = (DOCS / "course" / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    named = re.findall(r":doc:`([^<]+) <(\w+)>`", header)
    assert [page for _, page in named] == [path.stem for path in LESSONS]
    assert len(LESSONS) == 10
    for number, ((title, _), path) in enumerate(zip(named, LESSONS, strict=True), 1):
        assert prose(path).startswith(f"Lesson {number}: {title}\n")


def test_the_plan_for_lecturers_has_the_parts_of_the_lessons_in_their_order():
    page = " ".join((DOCS / "guide" / "teaching.rst").read_text(encoding="utf-8").split())
    plan = page.partition("A plan ======")[2].partition("A set of problems")[0]
    rows = re.split(r"\* - :doc:`\d+ </course_output/", plan)[1:]
    assert len(rows) == len(LESSONS)
    for path, row in zip(LESSONS, rows, strict=True):
        titles = re.findall(r"^(.+)\n-{4,}$", prose(path), re.M)
        parts = re.findall(r"(.+?) (\d+)(?:; |$)", row.partition("`")[2].split(" - ")[1])
        named = [title.strip() for title, _ in parts if title.strip() in titles]
        assert len(named) >= 4, (path.stem, parts)
        assert [title for title in titles if title in named] == named
        assert 60 <= sum(int(minutes) for _, minutes in parts) <= 80, path.stem


@pytest.fixture
def ours(monkeypatch):
    """Extensions of the documentation, by name."""
    pytest.importorskip("sphinx_gallery", reason="the documentation's packages are not installed")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module


@pytest.fixture
def notebook(ours):
    """The notebook of a lesson or a gallery page, without a build."""
    lessons = ours("lessons")
    entries = lessons.bibliography(DOCS / "references.rst")
    link = lessons.linked("course_output/x", lambda kind, target: "Title", {"course_output/y"})
    return lambda path, **options: json.loads(lessons.notebook(path, link, entries, **options))


def cells(made, kind):
    return ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize("path", [LESSONS[2]], ids=lambda path: path.stem)
def test_a_student_has_empty_cells_and_a_teacher_the_solutions(path, notebook, ours):
    answer = ours("lessons").ANSWER
    student, teacher = notebook(path), notebook(path, teacher=True)
    found = exercises(path)
    assert cells(student, "code").count(answer) == len(found)
    assert "Solution" not in "".join(cells(student, "markdown"))
    assert "".join(cells(student, "markdown")).count("<summary>Hint</summary>") == len(found)
    assert answer not in cells(teacher, "code")
    for exercise in found:
        assert exercise.code.strip() in "\n".join(cells(teacher, "code"))
        assert exercise.code.strip() not in "\n".join(cells(student, "code"))
    assert "Minutes for the exercises: exercise 1: " in "".join(cells(teacher, "markdown"))
    slides = [cell["metadata"]["slideshow"]["slide_type"] for cell in teacher["cells"]]
    assert slides.count("slide") > len(found)


@pytest.mark.nightly
@pytest.mark.parametrize("teacher", [False, True])
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_notebook_is_one_and_nothing_of_the_pages_is_left_over(path, teacher, notebook):
    made = notebook(path, teacher=teacher)
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 0)
    assert made["metadata"]["kernelspec"]["language"] == "python"
    for cell in made["cells"]:
        assert set(cell["metadata"]) <= {"collapsed", "slideshow"}
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


@pytest.mark.nightly
@pytest.mark.parametrize("teacher", [False, True])
@pytest.mark.parametrize("path", [LESSONS[0]], ids=lambda path: path.stem)
def test_a_notebook_runs_as_it_is_downloaded(path, teacher, notebook):
    mpl.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    known: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(notebook(path, teacher=teacher)["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), known)
    pyplot.close("all")
    assert "sdpdr" in known
