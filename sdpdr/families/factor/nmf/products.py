"""Factorization by small cones: the products majorised, from one start after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.nmf.recipes import nmf_products
from sdpdr.families.factor.nmf.search import Factorization, ProgramSearch
from sdpdr.families.factor.nonnegative.polish import random_factors
from sdpdr.program import SDP, Solution
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.choice import choose
from sdpdr.solving.iterate.convex import POINTLESS
from sdpdr.solving.iterate.records import IterationStatus, Record, has_stalled
from sdpdr.solving.solve import solve_step


def search_products(
    search: ProgramSearch,
    init: tuple[ArrayLike, ArrayLike] | None,
    *,
    solver: str | Solver = "auto",
    form: str = "auto",
    accuracy: float = 1e-7,
    patience: int = 6,
    stall: float = 1e-4,
    time_limit: float | None = None,
) -> Factorization:
    r"""Lower :math:`\sum (T - W^2) + \sum (S - H^2)` by weights :math:`2W_t, 2H_t`.

    The starts of an earlier result, ``search.best``, are not made again.
    """
    program = nmf_products(search.known.values, search.k).to_sdp()
    resume = search.best
    history = list(resume.history) if resume is not None else []
    deadline = Deadline(time_limit)
    status = IterationStatus.STALLED if resume is None else resume.status
    for start in range(resume.n_starts if resume is not None else 0, search.starts):
        W, H = random_factors(search.known, search.k, [search.seed, start])
        if init is not None and not start:
            W, H = map(np.asarray, init)
        for step in range(search.max_iter):
            if deadline.is_over():
                return search.found(IterationStatus.TIME_LIMIT, history)
            begin = deadline.spent
            solution = _solved(program, W, H, solver, form, accuracy, deadline.left())
            if not solution.values:
                status = POINTLESS.get(solution.status, IterationStatus.FAILED)
                return search.found(status, history)
            W, H = _read(solution, search)
            seconds = deadline.spent - begin
            history.append(_record(solution, W, H, len(history), start, seconds))
            status = IterationStatus.RUNNING
            if has_stalled([r for r in history if r.start == start], patience, stall):
                status = IterationStatus.STALLED
            elif step == search.max_iter - 1:
                status = IterationStatus.ITERATION_LIMIT
            if search.accept(W, H, status is not IterationStatus.RUNNING):
                return search.found(IterationStatus.RANK_REACHED, history)
            if status is not IterationStatus.RUNNING:
                break
    return search.found(status, history)


def _solved(
    program: SDP,
    W: Array,
    H: Array,
    solver: str | Solver,
    form: str,
    accuracy: float,
    left: float | None,
) -> Solution:
    program = program.with_cost("W", -2.0 * W.ravel()).with_cost("H", -2.0 * H.T.ravel())
    if solver == "auto":
        chosen = choose(program, solver, form, {"tol": accuracy})
        solver, form = chosen.solver.name, chosen.form
    tol = unless_configured(solver, accuracy)
    return solve_step(program, solver, form, tol=tol, time_limit=left)


def _read(solution: Solution, search: ProgramSearch) -> tuple[Array, Array]:
    n, m = search.known.shape
    W, H = (np.asarray(solution.values[name]) for name in ("W", "H"))
    return W.reshape(n, search.k), H.reshape(m, search.k).T


def _record(
    solution: Solution, W: Array, H: Array, number: int, start: int, seconds: float
) -> Record:
    trace = sum(float(np.sum(np.asarray(solution.values[name]))) for name in ("T", "S"))
    excess = trace - float(np.sum(W**2) + np.sum(H**2))
    return Record(
        iteration=number,
        start=start,
        objective=excess,
        excess=excess,
        share=excess / trace,
        trace=trace,
        infeasibility=solution.residuals.primal(),
        value=solution.value,
        gap=solution.apparent_gap,
        status=solution.status.name,
        seconds=seconds,
    )
