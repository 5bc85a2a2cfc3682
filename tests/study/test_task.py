"""One run: the record of an answer, and of there being none."""

import getpass
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sdpdr.lab.study.problem import Problem
from sdpdr.lab.study.schema import COLUMNS, FINDINGS, converted, digest, environment
from sdpdr.lab.study.task import Contestant, RunLimits, Task, run_task
from sdpdr.library import find_card
from sdpdr.program import SDP, write_sdpa
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome

LIMITS = RunLimits(time_limit=100.0, warmup=False)


@dataclass(frozen=True)
class Altered(Clarabel):
    """Clarabel with another claim or another pace."""

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
    """Clarabel that refuses everything."""

    def accepts(self, sdp: SDP) -> str | None:
        return "it is Sunday"


def run(card, contestant, limits=LIMITS, tol=1e-6):
    problem = card if isinstance(card, Problem) else Problem.of_card(find_card(card))
    return run_task(Task(problem, contestant, tol, limits))


def altered(**options):
    return Contestant(f"{__name__}:Altered", "lmi", options)


def test_a_record_has_the_columns_of_the_schema_and_plain_values():
    record = run("path-graph", Contestant("clarabel", "lmi"))
    columns = {column.name for column in FINDINGS}
    assert columns <= set(record)
    assert set(record) - columns == {"build", "compile", "solve", "certify"}
    kept = converted(record)
    assert list(kept) == [column.name for column in COLUMNS]
    assert {type(value) for value in kept.values()} <= {str, float, int, bool, type(None)}
    assert (record["outcome"], record["claim_accuracy"]) == ("SOLVED", "true")
    assert record["solved"]
    assert record["certified"]
    assert record["relative_error"] <= 1e-6


def test_a_right_point_is_a_right_point_whatever_is_claimed():
    for verdict, accuracy in {"SOLVED": "true", "ITERATION_LIMIT": "understated"}.items():
        record = run("path-graph", altered(verdict=verdict))
        assert (record["outcome"], record["claim_accuracy"]) == ("SOLVED", accuracy)


@pytest.mark.integration
def test_a_claim_that_there_is_no_answer_is_not_believed(tmp_path, monkeypatch):
    """Not where an answer is known, and not where none is."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "errors"))
    write_sdpa(find_card("path-graph").build().to_sdp(), tmp_path / "path.dat-s")
    unknown = Problem.of_file(tmp_path / "path.dat-s")
    for problem in ("path-graph", unknown):
        record = run(problem, Contestant("faulty_solvers:CriesInfeasibleAlone", "gram"))
        assert record["claim_accuracy"] == "overstated"
        assert record["outcome"] != "INFEASIBLE"


def test_a_proof_that_there_is_no_answer_solves_a_program_of_which_nothing_is_known(tmp_path):
    write_sdpa(find_card("impossible-triangle").build().to_sdp(), tmp_path / "triangle.dat-s")
    for problem in ("impossible-triangle", Problem.of_file(tmp_path / "triangle.dat-s")):
        record = run(problem, Contestant("clarabel", "gram"))
        assert (record["outcome"], record["claim_accuracy"]) == ("INFEASIBLE", "true")
        assert record["solved"]


def test_a_late_answer_is_late(monkeypatch):
    monkeypatch.setattr("sdpdr.lab.study.task.LATE_SECONDS", 0.0)
    record = run("path-graph", altered(sleep=0.1), replace(LIMITS, time_limit=0.05))
    assert (record["outcome"], record["solved"]) == ("TIME_LIMIT", False)


def test_seconds_are_measured_by_us():
    record = run("path-graph", altered(sleep=0.1, seconds={"compile": 1e9, "solve": -5.0}))
    assert 0.1 <= record["solve"] < 120.0
    assert 0.0 <= record["compile"] < 120.0


def test_refusals_and_missing_solvers_have_reasons():
    refused = run("path-graph", Contestant(f"{__name__}:Refusing", "lmi"))
    assert refused["outcome"] == "REFUSED"
    assert "it is Sunday" in refused["message"]
    assert run("path-graph", Contestant("mosek", "lmi"))["outcome"] == "MISSING"


def test_a_problem_that_cannot_be_built_is_a_record():
    card = find_card("swiss-roll-100")
    wrong = Problem.of_card(replace(card, size=replace(card.size, edges=3)))
    record = run(wrong, Contestant("clarabel", "lmi"))
    assert record["outcome"] == "NOT_BUILT"
    assert "edges = 3" in record["message"]


def test_a_reference_can_contradict_an_answer(tmp_path):
    path = tmp_path / "path.dat-s"
    write_sdpa(find_card("path-graph").build().to_sdp(), path)
    for optimal, solved in (("8.5360000e+01", True), ("80.0", False)):
        record = run(Problem.of_file(path, optimal), Contestant("clarabel", "gram"))
        assert (record["outcome"], record["solved"]) == ("SOLVED", solved)
        assert record["reference"] == pytest.approx(float(optimal))


def test_an_environment_names_versions_and_nobody():
    found = environment(1)
    assert found["versions"]["sdpdr"]
    assert socket.gethostname() not in str(found)
    assert getpass.getuser() not in str(found).split()
    assert digest(found) != digest(environment(2))
