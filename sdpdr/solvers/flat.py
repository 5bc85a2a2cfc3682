"""Interior-point methods on flat programs, as oracles of proofs, which do not trust them.

Clarabel supports all cones, and factorizes a block with a row for each entry of a matrix. Our dense
method factorizes one matrix for all unknowns. It takes the place of Clarabel if multipliers are so
few that it is faster (`sdpdr.solvers.multiplier_form`) and, without exponential and power cones, if
Clarabel is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.certify.flat import (
    EXPONENTIAL,
    NONNEGATIVE,
    POWER,
    SECOND_ORDER,
    SEMIDEFINITE,
    Answer,
    FlatProgram,
    Part,
)
from sdpdr.linalg.svec import SQRT2, svec_index, svec_size
from sdpdr.program.run import Verdict
from sdpdr.solvers.dense.method import minimized
from sdpdr.solvers.dense.normal import Data
from sdpdr.solvers.dense.scaling import Cones
from sdpdr.solvers.multiplier_form import MultiplierForm, multiplier_form

# Type name of the error that Clarabel raises if a check of its own fails; it is not an Exception.
PANIC = "PanicException"
_SOLVED = ("Solved", "AlmostSolved")
# Statuses of Clarabel, as verdicts of ours and as statuses of cvxpy.
SAID = {
    "Solved": (Verdict.SOLVED, "optimal"),
    "AlmostSolved": (Verdict.INACCURATE, "optimal_inaccurate"),
    "NumericalError": (Verdict.INACCURATE, "optimal_inaccurate"),
    "InsufficientProgress": (Verdict.INACCURATE, "optimal_inaccurate"),
    "PrimalInfeasible": (Verdict.INFEASIBLE, "infeasible"),
    "AlmostPrimalInfeasible": (Verdict.INFEASIBLE, "infeasible_inaccurate"),
    "DualInfeasible": (Verdict.UNBOUNDED, "unbounded"),
    "AlmostDualInfeasible": (Verdict.UNBOUNDED, "unbounded_inaccurate"),
    "MaxIterations": (Verdict.ITERATION_LIMIT, "user_limit"),
    "MaxTime": (Verdict.TIME_LIMIT, "user_limit"),
    "CallbackTerminated": (Verdict.TIME_LIMIT, "user_limit"),
}
# Multiplications by Clarabel in the time of the calls for one step of our own method.
_STEP_CALLS = 1e8
# Seconds of an interior-point solve over the cubed order of its matrix, on a slow machine.
_SECONDS_PER_CUBED_ORDER = 2e-10
# Seconds by which a solver may be late unnoticed: it stops at its limit by itself.
_NO_DELAY = 0.01
# Largest gap and iterations of our dense method.
_GAP, _ITERATIONS = 1e-8, 60


def ask_solver(program: FlatProgram, seconds: float = inf) -> Answer:
    """The answer of the solver that suits a program: `ask_dense` in its multipliers if faster.

    Otherwise it is `ask_clarabel`, or `ask_dense` if Clarabel is not installed.

    Parameters
    ----------
    program : FlatProgram
    seconds : float, optional
        CPU seconds after which the solver is to end.
    """
    end, form = process_time() + seconds, _short_form(program)
    if form is not None:
        found = ask_dense(form.program, seconds)
        if found.is_solved:
            return form.lift(found)
    try:
        import clarabel  # noqa: F401
    except ModuleNotFoundError:
        return ask_dense(program, end - process_time())
    return ask_clarabel(program, end - process_time())


def _short_form(program: FlatProgram) -> MultiplierForm | None:
    """The program in its multipliers, if our steps on it are faster than those of Clarabel."""
    orders = np.array([part.size for part in program.parts if part.kind == SEMIDEFINITE])
    work = float(np.sum((orders * (orders + 1.0) / 2.0) ** 3))
    others = any(part.kind in (EXPONENTIAL, POWER) for part in program.parts)
    if others or work < _STEP_CALLS:
        return None
    form = multiplier_form(program)
    if form is None:
        return None
    p = float(form.program.c.size)
    dense = p**3 / 3.0 + float(np.sum(4.0 * p * orders**3 + p**2 * orders**2 / 2.0))
    return form if dense + _STEP_CALLS < work else None


def ask_clarabel(program: FlatProgram, seconds: float = inf) -> Answer:
    """The answer of Clarabel to a program.

    Parameters
    ----------
    program : FlatProgram
    seconds : float, optional
        CPU seconds after which Clarabel is to end, so that a busy machine changes no answer. If its
        first steps, with matrices of high order, would take longer, it is not run: it checks the
        clock between steps only.

    Returns
    -------
    Answer
        The last iterate, even if it did not converge.

    Examples
    --------
    >>> from sdpdr.certify.flat import Piece, build
    >>> above = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), np.array([-2.0]))
    >>> found = ask_clarabel(build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above]))
    >>> found.is_solved, found.x.round(6).tolist(), found.z.round(6).tolist()
    (True, [2.0], [1.0])
    """
    return told_by_clarabel(program, seconds)[0]


def told_by_clarabel(program: FlatProgram, seconds: float = inf) -> tuple[Answer, Verdict, str]:
    """The answer of `ask_clarabel`, how Clarabel says that it ended, and why it was not run."""
    cubes = sum(part.rows.size**3 for part in program.parts if part.kind == SEMIDEFINITE)
    first = _SECONDS_PER_CUBED_ORDER * cubes
    if first > max(seconds, _NO_DELAY):
        words = (
            f"a step of Clarabel's may take {first:.2g} s, and {seconds:.2g} s are there: name "
            "solver='scs', or set a larger time limit"
        )
        return _nothing(program), Verdict.TIME_LIMIT, words
    try:
        found = run_clarabel(program, {"verbose": False}, seconds)
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        return _nothing(program), Verdict.FAILED, "a check of Clarabel's own failed"
    verdict, _ = SAID.get(str(found.status), (Verdict.FAILED, ""))
    return read_answer(program, found), verdict, ""


def ask_dense(program: FlatProgram, seconds: float = inf) -> Answer:
    """The answer of `sdpdr.solvers.dense`; nan for programs with exponential or power cones.

    Parameters
    ----------
    program : FlatProgram
    seconds : float, optional
        CPU seconds after which it is to end, so that a busy machine changes no answer. If its
        first steps would take longer, it is not run.

    Examples
    --------
    >>> from sdpdr.certify.flat import Piece, build
    >>> disc = Piece(SECOND_ORDER, 3, -sp.csr_array(np.eye(3)[:, 1:]), np.array([1.0, 0.0, 0.0]))
    >>> found = ask_dense(build(np.array([3.0, 4.0]), sp.csr_array((0, 2)), np.zeros(0), [disc]))
    >>> found.is_solved, found.x.round(6).tolist(), found.z.round(6).tolist()
    (True, [-0.6, -0.8], [5.0, 3.0, 4.0])
    """
    others = any(part.kind in (EXPONENTIAL, POWER) for part in program.parts)
    if others or _SECONDS_PER_CUBED_ORDER * program.c.size**3 > seconds:
        return _nothing(program)
    scale, lift = _scale(program), _lift(program.parts)
    A, b = lift @ sp.diags_array(scale) @ program.A, lift @ (scale * program.b)
    linear = sum(part.rows.size for part in program.parts if part.kind == NONNEGATIVE)
    orders = tuple(int(part.size) for part in program.parts if part.kind != NONNEGATIVE)
    curvature, E = np.zeros(program.c.size), program.E.toarray()
    cones = Cones(linear, orders)
    data = Data(program.c, curvature, E, program.f, -sp.csr_array(A), b, cones)
    ending = minimized(data, _GAP, _ITERATIONS, _CpuDeadline(None if seconds == inf else seconds))
    last = ending.last
    s = (lift.T @ last.s) / (lift * lift).sum(axis=0) / scale
    z = np.concatenate([last.y, (lift.T @ last.z) * scale])
    return Answer(last.v, s, z, ending.verdict is Verdict.SOLVED)


class _CpuDeadline(Deadline):
    """A limit of CPU seconds."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(seconds)
        self._begin = process_time()

    @property
    def spent(self) -> float:
        return process_time() - self._begin


def _lift(parts: Sequence[Part]) -> sp.csr_array:
    """The map from all cones to half-lines and matrices; second-order cones become arrows."""
    blocks = [sp.eye_array(0)]
    for part in parts:
        if part.kind == SECOND_ORDER:
            order = int(part.size)
            k, neck = np.arange(order), np.arange(1, order)
            place = np.concatenate([svec_index(k, k), svec_index(0, neck)])
            column = np.concatenate([np.zeros(order, dtype=int), neck])
            data = np.concatenate([np.ones(order), np.full(neck.size, SQRT2)])
            blocks.append(sp.csr_array((data, (place, column)), shape=(svec_size(order), order)))
        else:
            blocks.append(sp.eye_array(part.rows.size))
    return sp.csr_array(sp.block_diag(blocks))


def run_clarabel(program: FlatProgram, options: Mapping[str, Any], seconds: float = inf) -> Any:
    """Solve a program with Clarabel, and return its own solution object.

    Parameters
    ----------
    program : FlatProgram
    options : mapping
        By Clarabel's own names.
    seconds : float, optional
        CPU seconds after which it ends.
    """
    import clarabel

    m, n, scale = program.f.size, program.c.size, _scale(program)
    cones = [clarabel.ZeroConeT(m)] if m else []
    cones += [_cone(part) for part in program.parts]
    A = sp.csc_matrix(sp.vstack([program.E, sp.diags_array(scale) @ program.A]))
    b = np.concatenate([program.f, scale * program.b])
    return call_clarabel((sp.csc_matrix((n, n)), program.c, A, b, cones), options, seconds)


def call_clarabel(program: Sequence[Any], options: Mapping[str, Any], seconds: float = inf) -> Any:
    """The solution object of Clarabel for a program in its form: P, q, A, b and cones."""
    import clarabel

    settings = clarabel.DefaultSettings()
    for name, value in options.items():
        setattr(settings, name, value)
    solver = clarabel.DefaultSolver(*program, settings)
    if seconds < inf:
        # Clarabel's own limit counts wall-clock seconds, in which other programs run. The callback
        # is no Python function, because Ctrl-C would be raised in it, where Clarabel drops it.
        end = process_time() + seconds
        solver.set_termination_callback(partial(next, map(end.__lt__, iter(process_time, None))))
    return solver.solve()


def read_answer(program: FlatProgram, found: Any) -> Answer:
    """The answer in a solution object of Clarabel."""
    m, scale = program.f.size, _scale(program)
    x, s, z = (np.array(v, dtype=float) for v in (found.x, found.s, found.z))
    z = np.concatenate([z[:m], z[m:] * scale])
    return Answer(x, s[m:] / scale, z, str(found.status) in _SOLVED)


def _scale(program: FlatProgram) -> Array:
    """The units of Clarabel's rows: off-diagonal entries are multiplied by the root of 2."""
    return np.sqrt(program.weights)


def _nothing(program: FlatProgram) -> Answer:
    """An answer of nan."""
    x, s, w = (np.full(v.size, np.nan) for v in (program.c, program.b, program.f))
    return Answer(x, s, np.concatenate([w, s]), False)


def _cone(part: Part) -> Any:
    import clarabel

    if part.kind == EXPONENTIAL:
        return clarabel.ExponentialConeT()
    if part.kind == POWER:
        return clarabel.PowerConeT(part.size)
    kinds = {
        NONNEGATIVE: clarabel.NonnegativeConeT,
        SECOND_ORDER: clarabel.SecondOrderConeT,
        SEMIDEFINITE: clarabel.PSDTriangleConeT,
    }
    return kinds[part.kind](part.rows.size if part.kind == NONNEGATIVE else int(part.size))
