"""Problems that Python makes: all kinds of entries, and errors that name file and line."""

import math

import pytest

from sdpdr.errors import CardError, StudyError
from sdpdr.lab.study.python_problems import digest_of, python_problems
from sdpdr.lab.study.studyfile import Study
from sdpdr.lab.study.task import Contestant, RunLimits, Task, run_task

LIMITS = RunLimits(time_limit=100.0, warmup=False)

HEAD = """
import cvxpy as cp
import numpy as np
import sdpdr

def cut(n, weight=1.0):
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(weight * cp.sum(cp.upper_tri(X)) * -1), [cp.diag(X) == 1])
"""
STUDY = """
[about]
title = "Mine"
[problems]
python = ["mine.py:problems"]
[[solvers]]
name = "clarabel"
forms = ["gram"]
"""


@pytest.fixture
def mine(tmp_path):
    def write(text):
        path = tmp_path / "mine.py"
        path.write_text(HEAD + text)
        return path

    return write


def names(path, function="problems"):
    return [problem.name for problem in python_problems(path, function)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("problems = [cut(3), ('four', cut(4))]", ["problems[0]", "four"]),
        ("problems = {'three': cut(3), 'four': cut(4)}", ["three", "four"]),
        ("problems = cut(3)", ["problems"]),
        ("def problems():\n    return cut(3)", ["problems"]),
        ("def problems():\n    return [cut(3), cut(4)]", ["problems[0]", "problems[1]"]),
        ("def problems():\n    yield 'three', cut(3)\n    yield cut(4)", ["three", "problems[1]"]),
        (
            "def problems():\n    graph = sdpdr.graphs.path([1.0, 2.0])\n"
            "    yield 'model', sdpdr.methods.mvu(graph)\n"
            "    yield 'sdp', sdpdr.methods.mvu(graph).to_sdp()",
            ["model", "sdp"],
        ),
    ],
)
def test_every_way_to_give_problems(mine, text, expected):
    assert names(mine(text)) == expected


def test_a_problem_is_made_anew_whatever_else_was_made_before(mine):
    path = mine("def problems():\n    for n in (2, 3, 4):\n        yield cut(n)")
    found = list(python_problems(path, "problems"))
    assert [problem.build().psd_variables[0].n for problem in reversed(found)] == [4, 3, 2]
    assert [problem.method for problem in found] == ["python"] * 3


def test_the_digest_depends_on_numbers_and_not_on_names(mine):
    path = mine("problems = [cut(3), cut(3), cut(3, 2.0), cut(4)]")
    first, same, scaled, larger = (problem.digest for problem in python_problems(path, "problems"))
    assert first == same
    assert len({first, scaled, larger}) == 3


def test_a_file_that_has_changed_is_noticed(mine):
    (problem,) = python_problems(mine("problems = [cut(3)]"), "problems")
    key = problem.digest
    mine("problems = [cut(3, 2.0)]")
    with pytest.raises(StudyError, match="makes another program.*run the study again"):
        problem.build()
    (again,) = python_problems(problem.path, "problems")
    assert digest_of(again.build()) == again.digest != key
    (problem,) = python_problems(mine("problems = [cut(3, np.random.random())]"), "problems")
    with pytest.raises(StudyError, match="fix their seed"):
        problem.build()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1 / 0", "mine.py, line 9: ZeroDivisionError: division by zero"),
        ("def problems():\n    return cut(-1)", "mine.py, line 7: ValueError"),
        ("def problems():\n    yield cut(2)\n    int('x')", "mine.py, line 11: ValueError"),
        ("def problems(:", "mine.py, line 9: SyntaxError"),
        ("import sys\nsys.exit(3)", "mine.py, line 10: SystemExit: 3"),
        ("def problems(n):\n    return cut(n)", "missing 1 required positional argument: 'n'"),
        ("things = []", "mine.py has no 'problems'"),
        ("problems = 3", r"mine.py:problems makes 3; expected a sdpdr.Model, a cvxpy.Problem"),
        ("problems = [cut(2), 'x']", r"mine.py:problems\[1\] is 'x'; expected a sdpdr.Model"),
        (
            "x = cp.Variable(integer=True)\nproblems = [cp.Problem(cp.Minimize(cp.exp(x)))]",
            r"mine.py:problems\[0\]: variable .* is integer",
        ),
    ],
)
def test_errors_name_the_file_and_the_line(mine, text, words):
    with pytest.raises(StudyError, match=words):
        names(mine(text))


ENTROPY = """
def entropy(weight=1.0):
    x = cp.Variable(3)
    return cp.Problem(cp.Maximize(weight * cp.sum(cp.entr(x))), [cp.sum(x) == 1])
problems = {"entropy": entropy(), "same": entropy(), "twice": entropy(2.0)}
"""


def test_a_problem_with_an_exponential_cone_is_solved_by_those_that_take_it(mine):
    first, same, twice = python_problems(mine(ENTROPY), "problems")
    assert first.digest == same.digest != twice.digest
    for solver, form in (("clarabel", "cvxpy"), ("scs", "cvxpy")):
        record = run_task(Task(first, Contestant(solver, form), 1e-5, LIMITS))
        assert (record["outcome"], record["claim_accuracy"]) == ("SOLVED", "true")
        assert record["solved"]
        assert record["value"] == pytest.approx(math.log(3.0), rel=1e-4)
        assert record["bound"] >= math.log(3.0) - 1e-9
    for solver, form in (("auto", "auto"), ("clarabel", "lmi"), ("cvxopt", "cvxpy")):
        record = run_task(Task(first, Contestant(solver, form), 1e-5, LIMITS))
        assert (record["outcome"], record["solved"]) == ("REFUSED", False)
        assert "needs the exponential cone" in record["message"]
        assert "sdpdr.verify(problem) proves" in record["message"]


def test_a_wrong_answer_to_such_a_problem_is_found_out(mine):
    tilted = "x = cp.Variable(3)\ncost = cp.sum(cp.entr(x)) + np.arange(3.0) @ x\n"
    tilted += "problems = cp.Problem(cp.Maximize(cost), [cp.sum(x) == 1])"
    (first,) = python_problems(mine(tilted), "problems")
    loose = Contestant("scs", "cvxpy", {"eps_abs": 1e-1, "eps_rel": 1e-1})
    record = run_task(Task(first, loose, 1e-6, LIMITS))
    assert (record["outcome"], record["solved"]) == ("INACCURATE", False)
    assert record["claim_accuracy"] == "overstated"


@pytest.mark.parametrize("entry", ["mine.py", "mine:problems", "mine.py:", "mine.txt:problems"])
def test_an_entry_that_names_no_function_is_refused(tmp_path, entry):
    with pytest.raises(StudyError, match="expected FILE.py:NAME, such as 'mine.py:problems'"):
        Study.read(STUDY.replace("mine.py:problems", entry), "t", tmp_path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(StudyError, match=r"mine\.py cannot be read: No such file"):
        Study.read(STUDY, "t", tmp_path)


def test_a_study_finds_the_file_beside_itself_and_keys_follow_the_program(mine, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    mine("problems = {'three': cut(3), 'four': cut(4)}")
    before = [task.key for task in Study.load(tmp_path / "study.toml").tasks()]
    mine("problems = {'three': cut(3), 'four': cut(4, 2.0)}")
    after = [task.key for task in Study.load(tmp_path / "study.toml").tasks()]
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_two_problems_of_one_name_are_refused(mine):
    path = mine("problems = [('same', cut(3)), ('same', cut(4))]")
    with pytest.raises(StudyError, match="two problems are called 'same'; rename one"):
        Study.read(STUDY, "t", path.parent)


def test_variants_of_python_problems_are_refused(mine):
    path = mine("problems = [cut(3)]")
    with pytest.raises(CardError, match="let problems make one problem for each variant"):
        Study.read(f'{STUDY}\n[[variants]]\nvariant = "v"\nisometry = "equality"', "t", path.parent)
