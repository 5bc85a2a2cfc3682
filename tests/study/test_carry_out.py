"""One run: what it tells of an answer, and of there being none."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sdpdr.lab.library.expectation import KnownAnswer
from sdpdr.lab.library.problem import Problem
from sdpdr.lab.study.carry_out import carry_out
from sdpdr.lab.study.rows import digest, environment
from sdpdr.lab.study.schema import COLUMNS, FINDINGS, HONESTY, OUTCOMES, fitted
from sdpdr.lab.study.task import Contestant, RunLimits, Task
from sdpdr.library import find_card
from sdpdr.program import SDP, Status, write_sdpa
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome

LIMITS = RunLimits(time_limit=100.0, warmup=False)


@dataclass(frozen=True)
class Altered(Clarabel):
    """Clarabel, whose word or whose pace is changed."""

    verdict: str = "SOLVED"
    sleep: float = 0.0
    seconds: Mapping[str, float] | None = None

    def run(self, sdp: SDP, progress: Any = None) -> Outcome:
        outcome = super().run(sdp)
        time.sleep(self.sleep)
        seconds = outcome.seconds if self.seconds is None else self.seconds
        return replace(outcome, verdict=Verdict[self.verdict], seconds=seconds)


@dataclass(frozen=True)
class Refusing(Clarabel):
    """Clarabel, which takes nothing."""

    def accepts(self, sdp: SDP) -> str | None:
        return "it is Sunday"


def run(card, contestant, limits=LIMITS, tol=1e-6):
    problem = card if isinstance(card, Problem) else Problem.of_card(find_card(card))
    return carry_out(Task(problem, contestant, tol, limits))


def altered(**options):
    return Contestant(f"{__name__}:Altered", "lmi", options)


def test_a_row_has_the_columns_of_the_schema_and_plain_values():
    row = run("path-graph", Contestant("clarabel", "lmi"))
    columns = {column.name for column in FINDINGS}
    assert columns <= set(row)
    assert set(row) - columns == {"build", "compile", "solve", "certify"}
    kept = fitted(row)
    assert list(kept) == [column.name for column in COLUMNS]
    assert {type(value) for value in kept.values()} <= {str, float, int, bool, type(None)}
    assert (row["outcome"], row["honesty"]) == ("SOLVED", "true")
    assert row["solved"]
    assert row["certified"]
    assert row["used"] == "clarabel, lmi"
    assert row["off"] <= 1e-6
    assert abs(row["gap"]) <= 1e-6


@pytest.mark.parametrize(
    ("verdict", "honesty"),
    [
        ("SOLVED", "true"),
        ("INACCURATE", "understated"),
        ("ITERATION_LIMIT", "understated"),
    ],
)
def test_a_right_point_is_a_right_point_whatever_is_said_of_it(verdict, honesty):
    row = run("path-graph", altered(verdict=verdict))
    assert (row["outcome"], row["honesty"], row["solved"]) == ("SOLVED", honesty, True)


@pytest.mark.parametrize("verdict", ["UNBOUNDED", "INFEASIBLE"])
def test_that_there_is_no_answer_is_believed_of_nobody(verdict, tmp_path, monkeypatch):
    """Not where an answer is known, and not where nobody knows."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    liar = Contestant("doubles:Liar", "gram", {"lie": verdict.lower()})
    write_sdpa(find_card("path-graph").build().to_sdp(), tmp_path / "path.dat-s")
    for problem in ("path-graph", Problem.of_file(tmp_path / "path.dat-s")):
        row = run(problem, liar)
        assert (row["honesty"], row["solved"]) == ("overstated", False)


def test_an_answer_that_comes_late_is_late(monkeypatch):
    monkeypatch.setattr("sdpdr.lab.study.carry_out.LATE_SECONDS", 0.0)
    limits = replace(LIMITS, time_limit=0.05)
    row = run("path-graph", altered(sleep=0.1), limits)
    assert (row["outcome"], row["solved"]) == ("TIME_LIMIT", False)
    assert run("path-graph", altered(sleep=0.1), LIMITS)["solved"]


@pytest.mark.parametrize(
    "told",
    [{"solve": -5.0}, {"solve": 1e-9}, {}, {"solve": float("nan")}, {"compile": 1e9, "solve": 0.0}],
)
def test_the_clock_is_ours(told):
    """A solver that says it was fast is not: the seconds that rank it are measured by us."""
    row = run("path-graph", altered(sleep=0.1, seconds=told))
    assert 0.1 <= row["solve"] < 120.0
    assert 0.0 <= row["compile"] < 120.0


def test_a_claim_that_misses_by_little_is_near_and_by_much_overstated():
    rough = Contestant("clarabel", "lmi", {"max_iter": 8})
    row = run("swiss-roll-60-angles", rough)
    claim = run("swiss-roll-60-angles", Contestant("clarabel", "lmi"))
    assert row["honesty"] == "silent"
    assert claim["honesty"] in {"true", "near"}


def test_an_infeasible_program_is_solved_by_saying_so():
    row = run("impossible-triangle", Contestant("clarabel", "lmi"))
    assert (row["outcome"], row["honesty"], row["solved"]) == ("INFEASIBLE", "true", True)


def test_refusals_are_told_apart():
    refused = run("path-graph", Contestant(f"{__name__}:Refusing", "lmi"))
    assert refused["outcome"] == "REFUSED"
    assert "it is Sunday" in refused["words"]
    assert run("path-graph", Contestant("mosek", "lmi"))["outcome"] == "MISSING"
    hopeless = run("swiss-roll-1000", Contestant("clarabel", "gram"), replace(LIMITS, hopeless=1.0))
    assert hopeless["outcome"] == "NOT_TRIED"
    assert hopeless["n"] == 1000


def test_a_problem_that_cannot_be_built_is_a_row():
    card = find_card("swiss-roll-100")
    wrong = Problem.of_card(replace(card, size=replace(card.size, edges=3)))
    row = run(wrong, Contestant("clarabel", "lmi"))
    assert row["outcome"] == "NOT_BUILT"
    assert "edges = 3" in row["words"]


@pytest.mark.parametrize(("optimal", "solved"), [("8.5360000e+01", True), ("80.0", False)])
def test_a_reference_can_contradict_an_answer(tmp_path, optimal, solved):
    write_sdpa(find_card("path-graph").build().to_sdp(), tmp_path / "path.dat-s")
    problem = Problem.of_file(tmp_path / "path.dat-s", optimal)
    row = run(problem, Contestant("clarabel", "gram"))
    assert (row["outcome"], row["honesty"], row["solved"]) == ("SOLVED", "true", solved)
    assert row["reference"] == pytest.approx(float(optimal))


def test_bounds_are_references_too():
    known = KnownAnswer(Status.SOLVED, lower=1.0, upper=2.0)
    assert known.value is None
    assert known.off(1.5) == 0.0
    assert known.off(2.2) == pytest.approx(0.1)
    assert known.off(0.5) == pytest.approx(0.5)
    assert KnownAnswer(lower=0.0, upper=2.0).off(-1e-9) == pytest.approx(5e-10)
    assert KnownAnswer().off(3.0) is None


def test_words_are_those_of_the_schema():
    rows = [run("path-graph", altered(verdict=verdict.name)) for verdict in Verdict]
    assert {row["outcome"] for row in rows} <= set(OUTCOMES)
    assert {row["honesty"] for row in rows} <= set(HONESTY)


def test_an_environment_names_versions_and_nobody():
    import getpass
    import socket

    found = environment(1)
    text = str(found)
    assert found["versions"]["sdpdr"]
    assert found["threads"] == 1
    assert socket.gethostname() not in text
    assert getpass.getuser() not in text.split()
    assert digest(found) == digest(dict(found))
    assert digest(found) != digest(environment(2))
