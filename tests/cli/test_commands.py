"""The commands about problems and solvers."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sdpdr as package
from sdpdr.lab.cli.app import Exit
from sdpdr.lab.library.problem import families, library
from sdpdr.program import read_sdpa
from sdpdr.solvers import Clarabel, table
from sdpdr.solvers.base import Availability

PROBLEMS = Path(__file__).parents[2] / "problems"
COMMANDS = (
    "doctor",
    "list",
    "show",
    "solve",
    "embed",
    "transform",
    "export",
    "sdp",
    "verify",
    "diagnose",
    "check",
    "demo",
)


def test_help_lists_the_commands_and_every_exit_code(sdpdr):
    ran = sdpdr("--help")
    assert ran.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in ran.out
        assert f"examples:\n    sdpdr {command}" in sdpdr(f"{command} --help").out
    for code in Exit:
        assert f"\n    {int(code):<5}" in ran.out
    assert sdpdr("--version").out == f"sdpdr {package.__version__}\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "Missing command"),
        ("solv circle", "Did you mean 'solve'"),
        ("run quick", "Did you mean 'study run'"),
        ("solve", "Missing argument 'CARD'"),
        ("solve circle --tol -1", "-1.0 is not in the range x>0"),
        ("study", "Missing command"),
        ("study sho quick", "Did you mean 'show'"),
    ],
)
def test_a_command_line_not_understood_is_one_line_and_2(sdpdr, line, words):
    ran = sdpdr(line)
    assert (ran.code, ran.err.count("\n")) == (Exit.USAGE, 1)
    assert ran.err.startswith("error: ")
    assert words in ran.err


# -- doctor ----------------------------------------------------------------------------------------


@pytest.mark.integration
def test_doctor_in_json_grades_every_usable_solver(sdpdr, monkeypatch):
    few = [found for found in table() if found.name in ("lowrank", "nearest") or not found.usable]
    monkeypatch.setattr("sdpdr.lab.cli.problems.solver_table", lambda: few)
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
    monkeypatch.setattr("sdpdr.lab.cli.problems.solver_table", tuple)
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
    shown = sdpdr("list --families --tag swiss-roll").out
    assert "50, 100, 200" in shown
    assert "ring" not in shown


def test_members_of_families_are_shown_solved_and_exported(sdpdr):
    shown = sdpdr("show swiss-roll@37").out
    assert "Nothing is known of this size" in shown
    assert "n = 37" in shown
    assert sdpdr("solve ring@12").code == Exit.OK
    assert sdpdr("export ring@12 --to ring.dat-s").code == Exit.OK
    ran = sdpdr("solve ring")
    assert ran.code == Exit.BAD_INPUT
    assert "choose a size, as in ring@10" in ran.err


def test_show_tells_the_mathematics_the_expectation_and_the_plan(sdpdr):
    out = sdpdr("show path-graph").out
    assert "maximise    tr K" in out
    assert "85.36, analytic" in out
    assert "solver      lowrank" in out


def test_an_encoding_without_symbols_prints_their_names(sdpdr, monkeypatch):
    shown = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\n")
    monkeypatch.setattr("sys.stdout", shown)
    assert sdpdr("show path-graph").code == Exit.OK
    assert rb"K_ij \N{LESS-THAN OR EQUAL TO} d_ij" in shown.buffer.getvalue()


def test_show_of_a_card_without_a_model_says_why(sdpdr):
    ran = sdpdr("show two-clusters")
    assert ran.code == Exit.OK
    assert "There is no model, as expected" in ran.out
    assert "2 components" in ran.out


# -- solve -----------------------------------------------------------------------------------------


def test_solve_grades_and_compares(sdpdr):
    ran = sdpdr("solve path-graph --verbose")
    assert (ran.code, ran.err) == (Exit.OK, "")
    for word in ("\nSOLVED: the maximum", "DIMACS errors", "85.36 within 1e-06", "seconds"):
        assert word in ran.out
    ran = sdpdr("solve path-graph --solver clarabel --form gram --tol 1e-7 --seed 3 --json")
    record = json.loads(ran.out)
    assert (record["solver"], record["form"], record["tol"]) == ("clarabel", "gram", 1e-7)
    assert (record["seed"], record["card"]) == (3, "path-graph")
    assert all(finding["holds"] for finding in record["findings"])


@pytest.mark.parametrize("name", ["two-clusters", "impossible-triangle"])
def test_an_expected_failure_is_no_error(sdpdr, name):
    ran = sdpdr(f"solve {name}")
    assert ran.code == Exit.OK
    assert "NO" not in ran.out.split()


def test_answers_that_are_not_as_expected_are_1_and_5(sdpdr, tmp_path):
    (tmp_path / "wrong.toml").write_text(
        '[about]\ntitle = "Wrong"\nreference = "none"\ntags = []\n'
        '[graph]\nkind = "path"\nlengths = [1.0, 2.0]\n[method]\nname = "mvu"\n'
        '[expect]\nvalue = 5.0\nprovenance = "paper"\nsource = "a misprint"\n'
        "[size]\nn = 3\nedges = 2\n"
    )
    ran = sdpdr("solve wrong.toml")
    assert ran.code == Exit.UNCERTIFIED
    assert "NO" in ran.out.split()
    text = (PROBLEMS / "impossible-triangle.toml").read_text().replace('"INFEASIBLE"', '"SOLVED"')
    (tmp_path / "hope.toml").write_text(text)
    assert sdpdr("solve hope.toml").code == Exit.NO_ANSWER


# -- solvers that cannot ---------------------------------------------------------------------------


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


# -- export and sdp --------------------------------------------------------------------------------

# max y11 + y22 / 2 with y11 + y22 = 1 and y >= 0: the optimum is 1.
TINY = "1\n1\n2\n1.0\n0 1 1 1 1.0\n0 1 2 2 0.5\n1 1 1 1 1.0\n1 1 2 2 1.0\n"


@pytest.mark.parametrize(("form", "name"), [("gram", "p.dat-s"), ("lmi", "p.dat-s.gz")])
def test_an_exported_program_has_the_same_optimum(sdpdr, form, name):
    assert sdpdr(f"export path-graph --form {form} --to {name}").code == Exit.OK
    record = json.loads(sdpdr(f"sdp {name} --solver clarabel --json").out)
    assert abs(record["value"] - 85.36) < 1e-3
    sign = -1.0 if form == "lmi" else 1.0
    assert abs(record["sdpa"]["value"] - sign * 85.36) < 1e-3


def test_export_refuses_before_it_builds(sdpdr, tmp_path):
    assert "Choose one of .dat-s" in sdpdr("export path-graph --to path.txt").err
    assert "Make it first" in sdpdr("export path-graph --to nowhere/path.dat-s").err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "text", "words"),
    [
        ("sdp bad.dat-s", None, "there is no such file"),
        ("sdp bad.dat-s", "hello\n", "line 1: expected"),
        ("sdp bad.cbf", "VER\n3\n", "with which SDPA sparse files begin"),
        ("solve truss1.dat-s", None, "sdpdr sdp"),
    ],
)
def test_files_of_another_kind_are_named(sdpdr, tmp_path, line, text, words):
    if text is not None:
        (tmp_path / line.split()[1]).write_text(text)
    ran = sdpdr(line)
    assert (ran.code, ran.err.count("\n")) == (Exit.BAD_INPUT, 1)
    assert words in ran.err


def test_a_relaxation_is_warned_of_in_one_line(sdpdr, tmp_path):
    (tmp_path / "mixed.dat-s").write_text(f"{TINY}*INTEGER\n*1\n")
    ran = sdpdr("sdp mixed.dat-s")
    assert ran.code == Exit.OK
    (line,) = ran.err.splitlines()
    assert line.startswith("warning: mixed.dat-s has a section *INTEGER, which is ignored")


@pytest.mark.parametrize("solver", ["auto", "lowrank"])
def test_sdp_writes_the_point_and_its_multipliers(sdpdr, tmp_path, solver):
    (tmp_path / "tiny.dat-s").write_text(TINY)
    ran = sdpdr(f"sdp tiny.dat-s --solver {solver} --out tiny.json --verbose")
    assert (ran.code, ran.err) == (Exit.OK, "wrote tiny.json\n")
    for name in ("in SDPA's convention", "primal rows", "dual cone", "duality gap"):
        assert name in ran.out
    kept = json.loads((tmp_path / "tiny.json").read_text())
    (point,) = kept["point"].values()
    R = np.array(point["factor"]) if "factor" in point else None
    X = np.array(point) if R is None else R @ R.T
    assert np.trace(X) == pytest.approx(1.0)
    assert X[0, 0] + X[1, 1] / 2 == pytest.approx(kept["sdpa"]["value"])
    assert kept["sdpa"]["bound"] >= 1.0 - 1e-9
    assert kept["multipliers"]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("TIME_LIMIT", Exit.UNCERTIFIED),
        ("INFEASIBLE", Exit.NO_ANSWER),
        ("FAILED", Exit.NO_ANSWER),
        ("INTERRUPTED", Exit.INTERRUPTED),
    ],
)
def test_every_end_of_sdp_has_its_code_and_is_written(sdpdr, tmp_path, monkeypatch, status, code):
    (tmp_path / "tiny.dat-s").write_text(TINY)
    ended = replace(package.solve(read_sdpa("tiny.dat-s")), status=package.Status[status])
    monkeypatch.setattr("sdpdr.lab.cli.problems.solve", lambda *args, **options: ended)
    ran = sdpdr("sdp tiny.dat-s --out tiny.json")
    assert (ran.code, ran.out.split(":")[0]) == (code, status)
    kept = json.loads((tmp_path / "tiny.json").read_text())
    assert kept["status"] == status
    assert kept["point"]
