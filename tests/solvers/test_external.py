"""Solvers that are programs: real ones where they are installed, and fakes that misbehave."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.errors import FileFormatError, SolverMissingError
from sdpdr.linalg import InnerProduct, Trace, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable, as_dense
from sdpdr.program.run import Verdict
from sdpdr.program.sdpa.solutions import read_csdp_solution, read_sdpa_result
from sdpdr.reduce import Dual
from sdpdr.solvers import Csdp, Dsdp, SdpaProgram
from sdpdr.solvers.external_files import filed
from sdpdr.solvers.processes.isolate import wait_for_server

from ..processes import is_gone

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fakes are POSIX scripts")

PROGRAMS = [Csdp, SdpaProgram, Dsdp]
REAL = [
    pytest.param(
        cls,
        marks=pytest.mark.skipif(
            not cls.availability().usable, reason=f"{cls.package} is not installed"
        ),
        id=cls.name,
    )
    for cls in PROGRAMS
]
OPTIMUM = 5 / (4 * np.sin(np.pi / 5) ** 2)  # a ring of five unit edges unfolds to a pentagon
# Without site packages, which the fakes do not need, it starts in no time.
PYTHON = f"{sys.executable} -IS"


@pytest.fixture
def eigenvalue():
    """Minimise <diag(1, 2, 3), X> with tr X = 1."""
    trace = Rows("trace", "==", {"X": Trace(3)}, np.ones(1))
    return SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag([1.0, 2.0, 3.0]))}, (trace,))


@pytest.fixture
def fake(fake_programs):
    """Let a script play each program."""
    return partial(fake_programs, PROGRAMS)


# -- the real ones --------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.usefixtures("installed_programs")
@pytest.mark.parametrize("cls", REAL)
@pytest.mark.parametrize(
    "relation", ["equality", Slack(30.0), Slack(300.0, "absolute", True)], ids=repr
)
def test_every_kind_of_variable_finds_its_way_back(cls, relation):
    model = methods.mvu(graphs.path([1.0, 2.0, 1.5]), relation)
    best = sdpdr.solve(model, tol=1e-8)
    for form in ("gram", "lmi"):
        solution = sdpdr.solve(model, cls(), form)
        if cls is Dsdp and solution.status is Status.INACCURATE:
            # Free scalars leave the multipliers that it keeps feasible without interior.
            assert relation == Slack(30.0)
            continue
        assert solution.value == pytest.approx(best.value, rel=2e-5)
        assert solution.residuals.worst() < 2e-5


@pytest.mark.usefixtures("installed_programs")
@pytest.mark.parametrize("cls", REAL)
def test_infeasible_and_unbounded_are_not_confused_by_the_dual(cls, eigenvalue):
    too_small = SDP(
        eigenvalue.variables,
        eigenvalue.objective,
        (Rows("trace", "==", {"X": Trace(3)}, -np.ones(1)),),
    )
    for form in ("gram", "lmi"):
        solution = sdpdr.solve(too_small, cls(), form)
        assert solution.status in (Status.INFEASIBLE, Status.FAILED)
        assert solution.bound is None
    if cls is Csdp:
        assert solution.status is Status.INFEASIBLE


@pytest.mark.daily(1)
@pytest.mark.usefixtures("installed_programs")
@pytest.mark.parametrize("cls", REAL)
def test_limits_and_own_options_reach_the_program(cls, ring):
    limit = {Csdp: "maxiter", SdpaProgram: "maxIteration", Dsdp: "maxit"}[cls]
    few = cls(options={limit: 3})
    assert sdpdr.solve(ring, few, "gram").claimed.iterations <= 3
    assert sdpdr.solve(ring, cls(max_iter=3), "gram").claimed.iterations <= 3


# -- the layout of the file -----------------------------------------------------------------------


def test_a_program_and_its_dual_become_the_same_file(ring):
    sdp = ring.to_sdp()
    plan = sdpdr.plan(ring, "clarabel", "gram")
    for step in plan.reductions:
        sdp = step.apply(sdp).sdp
    direct, mirrored = filed(sdp), filed(Dual().apply(sdp).sdp)
    assert (direct.is_dual, mirrored.is_dual) == (False, True)
    assert direct.n_rows == mirrored.n_rows == 5


def csdp_file(lines, x="1.0"):
    return "\n".join([x, *lines]) + "\n"


WHOLE = [f"{side} 1 {i} {i} {i}.0" for side in (1, 2) for i in (1, 2, 3)]


def test_a_whole_solution_of_csdp_is_read(tmp_path, eigenvalue):
    path = tmp_path / "solution"
    path.write_text(csdp_file([*WHOLE, "2 1 1 3 0.5"]))
    answer = read_csdp_solution(path, filed(eigenvalue).written)
    expected = np.diag([1.0, 2.0, 3.0])
    expected[0, 2] = expected[2, 0] = 0.5
    np.testing.assert_array_equal(answer.blocks[0], expected)
    np.testing.assert_array_equal(answer.x, [1.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "x: expected 1 numbers, found 0"),
        (csdp_file(WHOLE, x="1.0 2.0"), "x: expected 1 numbers, found 2"),
        (csdp_file(WHOLE)[:-1], "last line"),
        (csdp_file(WHOLE[:-1]), "diagonals are not all there"),
        (csdp_file([*WHOLE[:-1], "2 1 3"]), "lines of five"),
        (csdp_file([*WHOLE, "2 1 1 4 1.0"]), "outside"),
        (csdp_file([*WHOLE, "2 2 1 1 1.0"]), "outside"),
        (csdp_file([*WHOLE, "2 1 1 x 1.0"]), "could not convert"),
    ],
)
def test_a_solution_of_csdp_that_is_not_whole_is_refused(tmp_path, eigenvalue, text, words):
    path = tmp_path / "solution"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=words):
        read_csdp_solution(path, filed(eigenvalue).written)


MATRIX = "{+1.0,0,0.5},{0,2,0},{0.5,0,3e0}"
RESULT = f"xVec = \n{{+1.0}}\nyMat = \n{{\n{{ {MATRIX} }}\n}}\n    main loop time = 1"


def test_a_whole_result_of_sdpa_is_read(eigenvalue):
    answer = read_sdpa_result(RESULT, filed(eigenvalue).written)
    np.testing.assert_array_equal(answer.blocks[0], [[1, 0, 0.5], [0, 2, 0], [0.5, 0, 3]])


@pytest.mark.parametrize("cut", [0, 8, 20, 40, 60, 70, 75])
def test_a_result_of_sdpa_that_is_cut_off_is_refused(eigenvalue, cut):
    with pytest.raises(FileFormatError):
        read_sdpa_result(RESULT[:cut], filed(eigenvalue).written)


def test_scalars_of_every_kind_are_put_together():
    free, curved = VectorVariable("f", 2), VectorVariable("c", 1, curvature=np.array([2.0]))
    row = Rows("r", "==", {"f": VectorMap(np.eye(2)), "c": VectorMap(np.ones((2, 1)))}, np.ones(2))
    cost = {"f": VectorMap(np.ones((1, 2)))}
    sdp = SDP((PsdVariable("X", 9), free, curved), {**cost, "X": InnerProduct(np.eye(9))}, (row,))
    program = filed(sdp)
    assert not program.is_dual
    blocks = [np.eye(9), np.array([[1, 7], [7, 50.0]]), np.array([3.0, 1.0, 1.0, 4.0])]
    point = program.point(type("A", (), {"x": np.arange(3.0), "blocks": tuple(blocks)})())
    np.testing.assert_array_equal(point.values["f"], [2.0, -3.0])
    np.testing.assert_array_equal(point.values["c"], [7.0])
    np.testing.assert_array_equal(point.duals["r"], [0.0, 1.0])
    np.testing.assert_array_equal(as_dense(point.values["X"]), np.eye(9))


# -- missing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", PROGRAMS)
def test_a_missing_program_says_what_to_install(cls, ring, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not cls.availability().usable
    with pytest.raises(SolverMissingError, match=f"apt-get install {cls.package}"):
        sdpdr.solve(ring, cls.name)
    # Called behind the back of `solve`, it still only fails.
    outcome = cls().run(ring.to_sdp())
    assert outcome.verdict is Verdict.FAILED
    assert "could not be started" in outcome.claim.message


def test_programs_run_only_if_they_are_requested(fake, eigenvalue):
    """What is installed changes what is possible, and not what is chosen."""
    fake("exit 1")
    assert all(cls.availability().usable for cls in PROGRAMS)
    planned = sdpdr.plan(eigenvalue)
    assert not {cls.name for cls in PROGRAMS} & {one.solver.name for one in planned.sequence}
    listed = {name for (name, _), why in planned.others.items() if why == "possible"}
    assert {cls.name for cls in PROGRAMS} <= listed


# -- fakes ----------------------------------------------------------------------------------------


@pytest.mark.daily(10)
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo nonsense; exit 0", ""),
        ("exit 0", ""),
        ("echo 'Iter: many'; exit 42", "exit status 42"),
        ("exit 139", "SIGSEGV"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("kill -KILL $$", "SIGKILL"),
        ("echo 'terminate: std::bad_alloc'; kill -ABRT $$", "did not fit into memory"),
        ("head -c 300000 /dev/urandom > solution; cat solution; exit 0", ""),
        ("printf '1 2' > solution; exit 0", ""),
        ("mkdir solution; exit 0", ""),
    ],
)
@pytest.mark.parametrize("cls", PROGRAMS)
def test_whatever_a_program_does_is_a_failure_in_words(cls, body, words, ring, fake, tmp_path):
    fake(body)
    solution = sdpdr.solve(ring, cls(), "gram")
    assert solution.status is Status.FAILED
    assert solution.claimed.message.startswith(cls.name)
    assert words in solution.claimed.message
    assert solution.bound is None
    assert not solution.values
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


@pytest.mark.parametrize("cls", PROGRAMS)
def test_what_is_no_program_is_a_failure_too(cls, ring, fake):
    fake("", shell="/no/such/interpreter")
    outcome = cls().run(ring.to_sdp())
    assert outcome.verdict is Verdict.FAILED
    assert "could not be started" in outcome.claim.message


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc")
@pytest.mark.integration
def test_a_program_that_hangs_is_ended_with_its_children(ring, fake, tmp_path):
    pids = tmp_path / "bin" / "pids"
    fake(f"trap '' TERM\nsleep 3600 &\necho $$ $! >> {pids}\nwait")
    wait_for_server()  # the first takes as long as imports do
    solution = sdpdr.solve(ring, Csdp(), "gram", time_limit=5.0)
    assert solution.status is Status.TIME_LIMIT
    assert "was stopped after " in solution.claimed.message
    assert all(is_gone(int(pid)) for pid in pids.read_text().split())
    # The fork server has a socket of its own.
    assert [path.name for path in tmp_path.glob("[!p]*")] == ["bin"]


def test_a_thread_may_call_a_program(ring, fake):
    fake("exit 139")
    found = []
    worker = threading.Thread(target=lambda: found.append(sdpdr.solve(ring, Csdp(), "gram")))
    worker.start()
    worker.join()
    assert found[0].status is Status.FAILED


def test_an_undecided_program_says_how_to_go_on(ring, fake):
    fake("echo 'phase.value = pdINF' > solution")
    solution = sdpdr.solve(ring, SdpaProgram(), "gram")
    assert solution.status is Status.FAILED
    assert "cannot tell which" in solution.claimed.message
    assert "lambdaStar" in solution.claimed.message


# -- lies -----------------------------------------------------------------------------------------

LIAR = """import sys
lines = [line for line in open("problem.dat-s") if not line.startswith("*")]
m, sizes = int(lines[0]), [int(s) for s in lines[2].split()]
scale = {scale}
if {csdp}:
    with open("solution", "w") as file:
        print(*[{x}] * m, file=file)
        for side in (1, 2):
            for b, size in enumerate(sizes, 1):
                for i in range(1, abs(size) + 1):
                    print(side, b, i, i, scale, file=file)
    print("Primal objective value: 1.0e+00", "DSDP Converged.", sep="\\n")
else:
    rows = []
    for n in sizes:
        square = [[scale * (i == j) for j in range(n)] for i in range(n)]
        rows.append(square if n > 0 else [scale] * -n)
    with open("solution", "w") as file:
        print("phase.value = pdOPT", "xVec =", [{x}] * m, "xMat =", file=file)
        print("yMat =", rows, "main loop time", file=file)
"""


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("cls", "scale", "x"),
    [
        (SdpaProgram, 1.0, 0.0),
        (SdpaProgram, 1.0, 1e9),
        (SdpaProgram, 1e-3, 0.3),
        (Csdp, 1e6, 1e9),
        (Dsdp, 1.0, -1.0),
    ],
)
def test_a_program_that_lies_is_found_out(cls, scale, x, ring, fake):
    fake(LIAR.format(scale=scale, x=x, csdp=cls is not SdpaProgram), shell=PYTHON)
    solution = sdpdr.solve(ring, cls(), "gram")
    assert solution.claimed.status in ("solved", "pdOPT", "Converged")
    assert solution.status in (Status.SOLVED, Status.INACCURATE)
    if x == 1e9:
        # Equal multipliers prove the optimum of a symmetric ring once they are scaled.
        assert solution.bound == pytest.approx(OPTIMUM, rel=1e-9)
    assert solution.certified() == (solution.status is Status.SOLVED)
    assert solution.values
    if solution.certified():
        assert solution.value == pytest.approx(OPTIMUM, rel=1e-6)
    assert solution.value <= OPTIMUM * (1.0 + 1e-9)  # the point was repaired before it was measured
    assert solution.bound is None or solution.bound >= OPTIMUM * (1.0 - 1e-9)


@pytest.mark.parametrize("code", [1, 2])
@pytest.mark.parametrize("relation", ["inequality", "equality"])
def test_a_program_that_cries_infeasible_has_to_prove_it(code, relation, fake):
    lie = LIAR.format(scale=1.0, x=0.3, csdp=True)
    fake(f"{lie}\nsys.exit({code})", shell=PYTHON)
    solution = sdpdr.solve(methods.mvu(graphs.cycle(5), isometry=relation), Csdp(), "gram")
    assert solution.status is Status.FAILED
    assert "does not prove it" in solution.claimed.message


def test_a_program_that_cries_infeasible_without_a_file_has_failed(ring, fake):
    fake("exit 1")
    solution = sdpdr.solve(ring, Csdp(), "gram")
    assert solution.status is Status.FAILED
    assert "no solution that can be read" in solution.claimed.message


def test_a_point_without_numbers_is_dropped(ring, fake):
    fake(LIAR.format(scale="float('nan')", x="float('nan')", csdp=True), shell=PYTHON)
    solution = sdpdr.solve(ring, Csdp(), "gram")
    assert solution.status is Status.FAILED
    assert solution.bound is None
    assert "not finite" in solution.claimed.message
