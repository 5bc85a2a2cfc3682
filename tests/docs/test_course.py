"""The course: its lessons run, their hidden solutions are right, and nothing is left out."""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import pytest

DOCS = Path(__file__).parents[2] / "docs"
LESSONS = sorted((DOCS / "course").glob("lesson_*.py"))
EXERCISE = re.compile(r"^\*\*Exercise (\d)\.\*\*(.*?)(?=^\*\*Exercise|^References$)", re.M | re.S)
CODE = re.compile(r"^ {3}\.\. code-block:: python\n\n((?: {6}.*\n|\n)+)", re.M)


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


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
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


def test_notebooks_fold_solutions_and_leave_no_roles(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    readable = importlib.import_module("lessons").readable
    cell = (
        "**Exercise 1.** See :doc:`/guide/language`, :doc:`cones <lesson_02>` and [WS2004]_.\n\n"
        ".. dropdown:: Solution\n\n   As $x$ is:\n\n   .. math:: x = 1\n\n   So\n\n"
        "```python\nif x:\n    assert True\n```\n"
    )
    assert readable(cell) == (
        "**Exercise 1.** See `guide/language`, *cones* and [WS2004].\n\n"
        "<details><summary>Solution</summary>\n\n"
        "As $x$ is:\n\n$$ x = 1 $$\n\nSo\n\n"
        "```python\nif x:\n    assert True\n```\n\n</details>"
    )
    theorem = ".. admonition:: Fact\n\n   It is\n   so.\n\n*Proof.* Clear.\n"
    assert readable(theorem) == "> **Fact.**\n>\n> It is\n> so.\n\n*Proof.* Clear.\n"
