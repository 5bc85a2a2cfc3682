"""What the commands about problems and solvers say and do."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sdpdr as package
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.library.card import Card
from sdpdr.lab.library.problem import families, library
from sdpdr.program import read_sdpa
from sdpdr.solvers import Clarabel, table
from sdpdr.solvers.base import Availability

PROBLEMS = Path(__file__).parents[2] / "problems"
COMMANDS = ("doctor", "list", "show", "solve", "embed", "transform", "export", "sdp", "demo")


def test_help_lists_the_commands_and_every_exit_code(sdpdr):
    ran = sdpdr("--help")
    assert ran.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in ran.out
    for code in Exit:
        assert f"  {int(code):<5}{code.meaning}" in ran.out


def test_every_command_has_help_with_examples(sdpdr):
    for command in COMMANDS:
        ran = sdpdr(f"{command} --help")
        assert ran.code == 0
        assert f"examples:\n    sdpdr {command}" in ran.out


def test_the_version_is_that_of_the_package(sdpdr):
    assert sdpdr("--version").out == f"sdpdr {package.__version__}\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "Missing command"),
        ("solv circle", "Did you mean 'solve'"),
        ("solve", "Missing argument 'CARD'"),
        ("solve circle --tol -1", "expected a number above 0"),
        ("study", "Missing command"),
        ("study sho quick", "No such command 'sho'"),
    ],
)
def test_a_command_line_not_understood_is_one_line_and_2(sdpdr, line, words):
    ran = sdpdr(line)
    assert ran.code == Exit.USAGE
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert words in ran.err


# -- doctor ----------------------------------------------------------------------------------------


@pytest.mark.integration
def test_doctor_in_json_grades_every_usable_solver(sdpdr, monkeypatch):
    few = [found for found in table() if found.name in ("lowrank", "nearest") or not found.usable]
    monkeypatch.setattr("sdpdr.lab.cli.doctor.solver_table", lambda: few)
    record = json.loads(sdpdr("doctor --json").out)
    assert {solver["name"] for solver in record["solvers"]} >= {"lowrank", "nearest"}
    for solver in record["solvers"]:
        usable = solver["installed"] and solver["licensed"]
        assert (solver["self_test"] is not None) == usable
        assert usable or solver["reason"]
        if usable:
            # Three unit vectors of which all products are -1/2 are nearest to products of -1.
            known = 13.5 if solver["name"] == "nearest" else 30.0
            assert abs(solver["self_test"]["value"] - known) < 1e-3


def test_doctor_lists_versions_and_fails_if_no_solver_works(sdpdr, monkeypatch):
    monkeypatch.setattr("sdpdr.lab.cli.doctor.solver_table", tuple)
    ran = sdpdr("doctor")
    assert ran.code == Exit.NO_SOLVER
    assert package.__version__ in ran.out


# -- list and show ---------------------------------------------------------------------------------


def test_list_shows_every_card_and_filters_and_sorts(sdpdr):
    names = [card["name"] for card in json.loads(sdpdr("list --json").out)]
    assert names == list(library())
    chosen = json.loads(sdpdr("list --json --method mfnu --tag quick --sort n").out)
    assert {card["method"]["name"] for card in chosen} == {"mfnu"}
    assert all("quick" in card["tags"] for card in chosen)
    sizes = [card["n"] for card in chosen]
    assert sizes == sorted(sizes)
    assert len(sizes) > 2
    shown = sdpdr("list --method mfnu --tag quick").out
    assert all(f"\n{card['name']} " in shown for card in chosen)
    ran = sdpdr("list --method mfmu")
    assert ran.code == Exit.BAD_INPUT
    assert "Did you mean 'mfnu'" in ran.err


def test_list_of_families(sdpdr, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    listed = json.loads(sdpdr("list --json --families").out)
    assert [family["name"] for family in listed] == list(families())
    (roll,) = [family for family in listed if family["name"] == "swiss-roll"]
    assert roll["references"]["100"] == pytest.approx(26004.9182776)
    shown = sdpdr("list --families").out
    assert "all, by a formula" in shown
    assert "50, 100, 200" in shown
    tagged = json.loads(sdpdr("list --json --families --tag swiss-roll --sort n").out)
    assert 1 < len(tagged) < len(listed)


def test_members_of_families_are_shown_solved_and_exported(sdpdr):
    shown = sdpdr("show swiss-roll@50").out
    assert "n = 50" in shown
    assert "size" in shown
    assert sdpdr("solve ring@12").code == Exit.OK
    assert "Nothing is known of this size" in sdpdr("show swiss-roll@37").out
    assert sdpdr("export ring@12 --to ring.dat-s").code == Exit.OK
    ran = sdpdr("solve ring")
    assert ran.code == Exit.BAD_INPUT
    assert "choose a size, as in ring@10" in ran.err


def test_show_tells_the_mathematics_the_expectation_and_the_plan(sdpdr):
    out = sdpdr("show path-graph").out
    assert "maximise    tr K" in out
    assert "85.36, analytic" in out
    assert "solver      lowrank" in out


def test_show_in_latex_is_latex_alone(sdpdr):
    out = sdpdr("show path-graph --latex").out
    assert out.startswith(r"\begin{aligned}")
    assert out.endswith("\\end{aligned}\n")


def test_show_of_a_card_without_a_model_says_why(sdpdr):
    ran = sdpdr("show two-clusters")
    assert ran.code == Exit.OK
    assert "2 components" in ran.out
    assert sdpdr("show two-clusters --latex").code == Exit.BAD_INPUT


# -- solve -----------------------------------------------------------------------------------------


def test_solve_grades_and_compares(sdpdr):
    ran = sdpdr("solve path-graph")
    assert ran.code == Exit.OK
    assert ran.err == ""
    for word in ("status", "bound", "DIMACS errors", "85.36 within 1e-06", "seconds"):
        assert word in ran.out


def test_solve_in_json_takes_options(sdpdr):
    ran = sdpdr("solve path-graph --solver clarabel --form gram --tol 1e-7 --seed 3 --json")
    record = json.loads(ran.out)
    assert ran.code == Exit.OK
    assert (record["solver"], record["form"], record["tol"]) == ("clarabel", "gram", 1e-7)
    assert record["seed"] == 3
    assert all(finding["holds"] for finding in record["findings"])


@pytest.mark.parametrize("name", ["two-clusters", "impossible-triangle"])
def test_what_is_expected_to_fail_and_does_is_fine(sdpdr, name):
    ran = sdpdr(f"solve {name}")
    assert ran.code == Exit.OK
    assert "NO" not in ran.out.split()


def test_a_missed_expectation_is_1(sdpdr, tmp_path):
    card = (tmp_path / "wrong.toml").write_text
    card(
        '[about]\ntitle = "Wrong"\nreference = "none"\ntags = []\n'
        '[graph]\nkind = "path"\nlengths = [1.0, 2.0]\n[method]\nname = "mvu"\n'
        '[expect]\nvalue = 5.0\nprovenance = "paper"\nsource = "a misprint"\n'
        "[size]\nn = 3\nedges = 2\n"
    )
    ran = sdpdr("solve wrong.toml")
    assert ran.code == Exit.UNCERTIFIED
    assert "NO" in ran.out.split()


def test_infeasible_and_not_expected_is_5(sdpdr, tmp_path):
    text = (PROBLEMS / "impossible-triangle.toml").read_text().replace('"INFEASIBLE"', '"SOLVED"')
    (tmp_path / "hope.toml").write_text(text)
    assert sdpdr("solve hope.toml").code == Exit.NO_ANSWER


def test_solve_writes_record_embedding_and_figure(sdpdr, tmp_path):
    ran = sdpdr("solve path-graph --out results/today")
    assert ran.code == Exit.OK
    folder = tmp_path / "results" / "today"
    assert sorted(path.name for path in folder.iterdir()) == [
        "path-graph.csv",
        "path-graph.json",
        "path-graph.svg",
    ]
    assert json.loads((folder / "path-graph.json").read_text())["card"] == "path-graph"
    assert len((folder / "path-graph.csv").read_text().splitlines()) == 9


def test_without_a_point_only_the_record_is_written(sdpdr, tmp_path):
    sdpdr("solve impossible-triangle --out results")
    [path] = (tmp_path / "results").iterdir()
    assert json.loads(path.read_text())["status"] == "INFEASIBLE"


# -- solvers that cannot ---------------------------------------------------------------------------


def test_an_unknown_solver_offers_the_nearest(sdpdr):
    ran = sdpdr("solve path-graph --solver clarabell")
    assert (ran.code, ran.out) == (Exit.BAD_INPUT, "")
    assert "Did you mean 'clarabel'" in ran.err


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Availability(False, False, "", 'pip install "sdpdr[x]"'), "cannot run: pip install"),
        (Availability(True, False, "1.0", "No licence file."), "has no licence: No licence file."),
    ],
    ids=["missing", "unlicensed"],
)
def test_a_solver_missing_or_without_licence_is_4(sdpdr, monkeypatch, found, words):
    monkeypatch.setattr(Clarabel, "availability", classmethod(lambda cls: found))
    ran = sdpdr("solve path-graph --solver clarabel")
    assert ran.code == Exit.NO_SOLVER
    assert words in ran.err


def test_a_form_that_a_solver_does_not_take_is_4(sdpdr):
    ran = sdpdr("solve path-graph --solver clarabel --form factor")
    assert ran.code == Exit.NO_SOLVER
    assert "it takes gram, lmi, chordal, chordal-lmi, cvxpy" in ran.err


# -- export and sdp --------------------------------------------------------------------------------

# max y11 + y22 / 2 with y11 + y22 = 1 and y >= 0: the optimum is 1.
TINY = "1\n1\n2\n1.0\n0 1 1 1 1.0\n0 1 2 2 0.5\n1 1 1 1 1.0\n1 1 2 2 1.0\n"


@pytest.mark.parametrize(("form", "name"), [("gram", "p.dat-s"), ("lmi", "p.dat-s.gz")])
def test_what_is_exported_has_the_same_optimum(sdpdr, form, name):
    assert sdpdr(f"export path-graph --form {form} --to {name}").code == Exit.OK
    record = json.loads(sdpdr(f"sdp {name} --solver clarabel --json").out)
    assert abs(record["value"] - 85.36) < 1e-3
    sign = -1.0 if form == "lmi" else 1.0
    assert abs(record["sdpa"]["value"] - sign * 85.36) < 1e-3


def test_sdp_grades_a_file(sdpdr, tmp_path):
    (tmp_path / "tiny.dat-s").write_text(TINY)
    ran = sdpdr("sdp tiny.dat-s --solver clarabel --form gram --tol 1e-5")
    assert ran.code == Exit.OK
    assert "in SDPA's convention" in ran.out
    for name in ("primal rows", "primal cone", "dual rows", "dual cone", "duality gap"):
        assert name in ran.out
    record = json.loads(sdpdr("sdp tiny.dat-s --json").out)
    assert abs(record["sdpa"]["value"] - 1.0) < 1e-4
    assert record["sdpa"]["bound"] >= 1.0 - 1e-9


def test_export_refuses_before_it_builds(sdpdr, tmp_path):
    assert "Choose one of .dat-s" in sdpdr("export path-graph --to path.txt").err
    assert "Make it first" in sdpdr("export path-graph --to nowhere/path.dat-s").err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "words"), [(None, "there is no such file"), ("hello\n", "line 1: expected")]
)
def test_sdp_of_a_file_that_is_none_is_3(sdpdr, tmp_path, text, words):
    if text is not None:
        (tmp_path / "bad.dat-s").write_text(text)
    ran = sdpdr("sdp bad.dat-s")
    assert ran.code == Exit.BAD_INPUT
    assert words in ran.err


def test_solve_of_a_file_names_the_command_for_files(sdpdr):
    ran = sdpdr("solve truss1.dat-s")
    assert ran.code == Exit.BAD_INPUT
    assert "sdpdr sdp" in ran.err


def test_a_relaxation_is_warned_of_in_one_line(sdpdr, tmp_path):
    (tmp_path / "mixed.dat-s").write_text(f"{TINY}*INTEGER\n*1\n")
    ran = sdpdr("sdp mixed.dat-s")
    assert ran.code == Exit.OK
    (line,) = ran.err.splitlines()
    assert line.startswith("warning: mixed.dat-s has a section *INTEGER, which is ignored")


def test_a_file_of_another_format_is_named(sdpdr, tmp_path):
    (tmp_path / "p.cbf").write_text("VER\n3\n")
    ran = sdpdr("sdp p.cbf")
    assert (ran.code, ran.err.count("\n")) == (Exit.BAD_INPUT, 1)
    assert "this looks like a CBF file; SDPA sparse files are read" in ran.err


def test_an_interrupted_solve_is_graded_and_its_best_point_written(sdpdr, tmp_path, monkeypatch):
    best = replace(library()["path-graph"].solve(), status=package.Status.INTERRUPTED)
    monkeypatch.setattr(Card, "solve", lambda self, **options: best)
    ran = sdpdr("solve path-graph --out results")
    assert ran.code == Exit.INTERRUPTED
    assert "INTERRUPTED: Interrupted; the best point so far" in ran.out
    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {f"path-graph.{kind}" for kind in ("json", "csv", "svg")}


@pytest.mark.parametrize("solver", ["auto", "lowrank"])
def test_sdp_writes_the_point_and_its_multipliers(sdpdr, tmp_path, solver):
    (tmp_path / "tiny.dat-s").write_text(TINY)
    ran = sdpdr(f"sdp tiny.dat-s --solver {solver} --out tiny.json")
    assert "wrote tiny.json" in ran.err
    kept = json.loads((tmp_path / "tiny.json").read_text())
    (point,) = kept["point"].values()
    R = np.array(point["factor"]) if "factor" in point else None
    X = np.array(point) if R is None else R @ R.T
    assert np.trace(X) == pytest.approx(1.0)
    assert X[0, 0] + X[1, 1] / 2 == pytest.approx(kept["sdpa"]["value"])
    assert kept["multipliers"]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("SOLVED", Exit.OK),
        ("TIME_LIMIT", Exit.UNCERTIFIED),
        ("INFEASIBLE", Exit.NO_ANSWER),
        ("FAILED", Exit.NO_ANSWER),
        ("INTERRUPTED", Exit.INTERRUPTED),
    ],
)
def test_every_end_of_sdp_has_its_code_and_is_written(sdpdr, tmp_path, monkeypatch, status, code):
    (tmp_path / "tiny.dat-s").write_text(TINY)
    ended = replace(package.solve(read_sdpa("tiny.dat-s")), status=package.Status[status])
    monkeypatch.setattr("sdpdr.lab.cli.sdpa.solve", lambda *args, **options: ended)
    ran = sdpdr("sdp tiny.dat-s --out tiny.json")
    assert ran.code == code
    for name in ("status", "attained", "bound", "epsilon"):
        assert name in ran.out
    kept = json.loads((tmp_path / "tiny.json").read_text())
    assert kept["status"] == status
    assert kept["point"]
