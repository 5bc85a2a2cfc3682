"""Study files: what they ask for, and what they may not."""

from dataclasses import replace
from pathlib import Path

import pytest

from sdpdr.errors import CardError, FileFormatError, StudyError, UnknownNameError
from sdpdr.lab.study.problem import Problem, read_optimal_values
from sdpdr.lab.study.run import shuffled
from sdpdr.lab.study.studyfile import Study, find_study, shipped
from sdpdr.lab.study.task import Contestant, RunLimits, Task
from sdpdr.library import find_card
from sdpdr.program import write_sdpa

CARDS = Path(__file__).parents[2] / "problems"

WHOLE = """
[about]
title = "Whole"

[problems]
cards = ["path-graph*", "circle"]

[[solvers]]
name = "clarabel"
forms = ["gram", "lmi"]

[run]
tols = [1e-4, 1e-6]
seeds = [0, 1]
repeats = 3
"""


def test_runs_are_the_product_of_what_is_asked_for():
    tasks = Study.read(WHOLE, "whole").tasks()
    assert len(tasks) == 3 * 2 * 2 * 2 * 3
    assert len({task.key for task in tasks}) == len(tasks)
    assert {task.problem.name for task in tasks} == {"path-graph", "path-graph-band", "circle"}


def test_a_pattern_and_sizes_of_a_family_choose_problems():
    def names(problems):
        text = f"[about]\ntitle = 't'\n[problems]\n{problems}\n[[solvers]]\nname = 'scs'"
        return {problem.name for problem in Study.read(text, "t").problems}

    assert names('cards = ["swiss-roll-100", "swiss-roll-100-*"]') == {
        "swiss-roll-100",
        "swiss-roll-100-equality",
        "swiss-roll-100-band",
    }
    assert names('families = [{ name = "swiss-roll", sizes = [30, 40] }]') == {
        "swiss-roll@30",
        "swiss-roll@40",
    }


def test_cards_that_expect_an_error_are_no_programs():
    assert not Problem.of_card(find_card("two-clusters")).is_program
    text = WHOLE.replace('"circle"', '"two-clusters"')
    assert "two-clusters" not in {p.name for p in Study.read(text, "t").problems}


def test_a_variant_is_the_same_data_under_another_formulation():
    text = (
        WHOLE + '\n[[variants]]\nvariant = "="\nisometry = "equality"\n[[variants]]\nvariant = "<"'
    )
    study = Study.read(text, "t")
    by_variant = {p.variant: p for p in study.problems if p.name == "circle"}
    assert by_variant["="].card.method["isometry"] == "equality"
    assert (by_variant["="].known().status, by_variant["="].known().value) == ("SOLVED", None)
    assert by_variant["<"].known().value == find_card("circle").expect.value


def test_a_variant_that_says_what_the_card_says_keeps_what_is_known():
    problem = Problem.of_card(find_card("swiss-roll-100"))
    same = problem.varied("inequality", {"isometry": "inequality"})
    assert same.known() == problem.known()


def test_the_key_says_all_that_matters_and_nothing_else():
    problem = Problem.of_card(find_card("path-graph"))
    task = Task(problem, Contestant("clarabel", "lmi"), 1e-6, RunLimits())
    others = [
        replace(task, tol=1e-5),
        replace(task, seed=1),
        replace(task, repeat=1),
        replace(task, limits=RunLimits(time_limit=1.0)),
        replace(task, contestant=Contestant("clarabel", "gram")),
        replace(task, contestant=Contestant("clarabel", "lmi", {"max_iter": 3})),
        replace(task, contestant=Contestant("clarabel", "lmi", defaults=True)),
        replace(task, problem=Problem.of_card(find_card("circle"))),
        replace(task, problem=problem.varied("=", {"isometry": "equality"})),
    ]
    assert len({task.key, *(other.key for other in others)}) == 1 + len(others)
    again = Task(
        Problem.of_card(find_card("path-graph")), Contestant("clarabel", "lmi"), 1e-6, RunLimits()
    )
    assert again.key == task.key


def test_options_go_to_fields_of_the_solver_and_the_rest_to_its_own():
    solver = Contestant(
        "clarabel", "lmi", {"max_iter": 7, "equilibrate_enable": False}
    ).configured()
    assert (solver.max_iter, dict(solver.options)) == (7, {"equilibrate_enable": False})


@pytest.mark.daily(6)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('title = "Whole"', 'titel = "Whole"', "key about.titel: unknown. Did you mean 'title'"),
        ("repeats = 3", "repeats = 0", "key run.repeats: expected a whole number of at least 1"),
        ("seeds = [0, 1]", "seeds = []", "key run.seeds: expected a list of whole numbers"),
        ("tols = [1e-4, 1e-6]", "tols = [0]", "key run.tols: expected numbers above 0"),
        ("seeds = [0, 1]", "seeds = [-1]", "key run.seeds: expected whole numbers from 0 on"),
        ("seeds = [0, 1]", "seeds = [0, 0]", "each once"),
        ("[run]", "[run]\ntime_limit = inf", "key run.time_limit: expected a number above 0"),
        ('forms = ["gram", "lmi"]', "forms = []", "key solvers[0].forms: is empty"),
        ('name = "clarabel"', 'name = "lowrank"', "lowrank does not take 'gram'"),
        ("[run]", "[solvers.options]\nmax_iter = 'many'\n[run]", "key solvers[0].name"),
        ("[run]", "[[variants]]\nvariant = 'v'\n[[variants]]\nvariant = 'v'\n[run]", "there twice"),
        ("[run]", "[run]\nmemory_limit = '2'", "an amount such as '2 GB', got '2'"),
        ("[run]", "[run]\nthreads = true", "key run.threads: expected a whole number"),
        ('"circle"', '"no-such-*"', "no card is called 'no-such-*'"),
        ('cards = ["path-graph*", "circle"]', "cards = ['two-clusters']", "no problem is left"),
        ('name = "clarabel"', 'name = "clarabell"', "Did you mean 'clarabel'"),
        ('name = "clarabel"', 'name = "nowhere:Solver"', "cannot be imported"),
        ('name = "clarabel"', 'name = "pathlib:Path"', "expected a class of sdpdr.solvers.Solver"),
        (
            'forms = ["gram", "lmi"]',
            'forms = ["gramm"]',
            "clarabel does not take 'gramm'. Allowed: auto, gram",
        ),
        ('forms = ["gram", "lmi"]', 'forms = ["lmi", "lmi"]', "is there twice"),
        ("[run]", "[[variants]]\nisometry = 'equality'\n[run]", "key variants[0].variant: missing"),
        ("[problems]", "[problems]\nfiles = ['*.dat-s']", "there is no file"),
        ("[problems]", "[problems]\nfiles = ['$SDPDR_NOT_SET/a']", "variable of the environment"),
        (
            "[problems]",
            "[problems]\nfamilies = [{ name = 'roll' }]",
            "key problems.families[0].name",
        ),
    ],
)
def test_errors_name_the_key_and_what_is_allowed(old, new, words):
    with pytest.raises(StudyError) as caught:
        Study.read(WHOLE.replace(old, new), "whole")
    assert "study whole" in str(caught.value) or "solver '" in str(caught.value)
    assert words in str(caught.value)


def test_a_variant_that_a_recipe_does_not_know():
    text = WHOLE + "\n[[variants]]\nvariant = 'v'\nisometri = 1"
    with pytest.raises(CardError, match=r"method\.isometri: unknown"):
        Study.read(text, "t")


def test_a_study_that_is_not_there(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be read"):
        find_study(str(tmp_path / "none.toml"))
    with pytest.raises(UnknownNameError, match="Did you mean 'quick'"):
        find_study("quik")


@pytest.fixture
def files(tmp_path):
    write_sdpa(find_card("path-graph").build().to_sdp(), tmp_path / "path.dat-s")
    (tmp_path / "values.csv").write_text("name,optimal_value\npath,8.5360000e+01\n")
    (tmp_path / "study.toml").write_text(
        "[about]\ntitle = 't'\n[problems]\nfiles = ['*.dat-s']\noptimal = 'values.csv'\n"
        "[[solvers]]\nname = 'scs'\nforms = ['lmi']"
    )
    return tmp_path


def test_files_count_as_problems_with_the_values_of_their_table(files):
    (problem,) = Study.load(files / "study.toml").problems
    assert (problem.name, problem.source, problem.method) == ("path", "file", "file")
    known = problem.known(problem.build())
    assert known.status == "SOLVED"
    assert known.value == pytest.approx(85.36)
    assert known.rtol == pytest.approx(1e-7 / 8.536)
    with pytest.raises(CardError, match="has no recipe"):
        problem.varied("v", {})


def test_two_files_of_one_name_are_not_one_problem(files):
    (files / "other").mkdir()
    write_sdpa(find_card("circle").build().to_sdp(), files / "other" / "path.dat-s")
    text = (files / "study.toml").read_text().replace("['*.dat-s']", "['*.dat-s', '*/*.dat-s']")
    with pytest.raises(StudyError, match="two problems are called 'path'"):
        Study.read(text, "t", files)


def test_cards_of_ones_own_lie_beside_the_study(tmp_path):
    (tmp_path / "own.toml").write_text((CARDS / "path-graph.toml").read_text())
    text = WHOLE.replace('"circle"', '"own.toml"')
    names = {problem.name for problem in Study.read(text, "t", tmp_path).problems}
    assert "own" in names


def test_variables_of_the_environment_stand_for_folders(files, monkeypatch):
    monkeypatch.setenv("SDPDR_FILES", str(files))
    text = (files / "study.toml").read_text()
    text = text.replace("'*.dat-s'", "'$SDPDR_FILES/*.dat-s'").replace(
        "'values", "'$SDPDR_FILES/values"
    )
    assert [p.name for p in Study.read(text, "t").problems] == ["path"]


@pytest.mark.parametrize(
    "content",
    ["name,value\npath,1\n", "name,optimal_value\npath,one\n", "name,optimal_value\n,1\n"],
)
def test_a_table_of_values_that_cannot_be_used(tmp_path, content):
    (tmp_path / "v.csv").write_text(content)
    with pytest.raises(FileFormatError, match="columns name and optimal_value|expected a name"):
        read_optimal_values(tmp_path / "v.csv")


@pytest.mark.daily(2)
@pytest.mark.parametrize("name", shipped())
def test_every_study_that_is_shipped_can_be_read(name, monkeypatch, files):
    monkeypatch.setenv("SDPLIB", str(files))
    (files / "optimal_values.csv").write_text("name,optimal_value\npath,8.5360000e+01\n")
    (files / "path.dat-s").rename(files / "path.dat-s.gz")
    study = find_study(name)
    assert len(shuffled(study)) == len({task.key for task in study.tasks()}) > 0
