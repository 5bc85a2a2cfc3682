"""Factorization by small cones: the products majorised, from one start after the other."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.families.factor.nmf.recipes import nmf_products
from sdpdr.families.factor.nmf.search import Factorization, Judge, Search
from sdpdr.program import SDP, Solution
from sdpdr.solvers.base import unless_configured
from sdpdr.solving.choice import choose
from sdpdr.solving.iterate.records import IterationStatus, Record
from sdpdr.solving.solve import solve_step

_ENDS = {
    "INFEASIBLE": IterationStatus.INFEASIBLE,
    "TIME_LIMIT": IterationStatus.TIME_LIMIT,
    "INTERRUPTED": IterationStatus.INTERRUPTED,
}


@dataclass(frozen=True)
class _Options:
    solver: Any = "auto"
    form: str = "auto"
    accuracy: float = 1e-7
    patience: int = 6
    stall: float = 1e-4
    time_limit: float | None = None


def search_products(
    search: Search,
    resume: Factorization | None,
    init: tuple[ArrayLike, ArrayLike] | None,
    **options: Any,
) -> Factorization:
    r"""Lower :math:`\sum (T - W^2) + \sum (S - H^2)` by weights :math:`2W_t, 2H_t`.

    Parameters
    ----------
    search : Search
    resume : Factorization, optional
        Its starts are not made again.
    init : pair of arrays, optional
        The first start.
    **options
        ``solver``, ``form``, ``accuracy``, ``patience``, ``stall`` and ``time_limit``.

    Returns
    -------
    Factorization
    """
    asked = _Options(**options)
    program = nmf_products(search.known.values, search.k).to_sdp()
    judge = Judge.of(search, resume)
    history = list(resume.history) if resume is not None else []
    end = None if asked.time_limit is None else time.perf_counter() + asked.time_limit
    status = IterationStatus.STALLED if resume is None else resume.status
    for start in range(resume.n_starts if resume is not None else 0, search.starts):
        W, H = search.drawn(start) if start or init is None else map(np.asarray, init)
        for step in range(search.max_iter):
            left = None if end is None else end - time.perf_counter()
            if left is not None and left <= 0.0:
                return judge.found(IterationStatus.TIME_LIMIT, tuple(history))
            begin = time.perf_counter()
            solution = _solved(program, W, H, asked, left)
            if not solution.values:
                status = _ENDS.get(solution.status.name, IterationStatus.FAILED)
                return judge.found(status, tuple(history))
            W, H = _read(solution, search)
            history.append(_record(solution, W, H, len(history), start, begin))
            status = _verdict([r for r in history if r.start == start], asked)
            if step == search.max_iter - 1 and status is IterationStatus.RUNNING:
                status = IterationStatus.ITERATION_LIMIT
            if judge.accept(W, H, status is not IterationStatus.RUNNING):
                return judge.found(IterationStatus.RANK_REACHED, tuple(history))
            if status is not IterationStatus.RUNNING:
                break
    return judge.found(status, tuple(history))


def _solved(program: SDP, W: Array, H: Array, asked: _Options, left: float | None) -> Solution:
    program = program.with_cost("W", -2.0 * W.ravel()).with_cost("H", -2.0 * H.T.ravel())
    solver, form = asked.solver, asked.form
    if solver == "auto":
        chosen = choose(program, solver, form, {"tol": asked.accuracy})
        solver, form = chosen.solver.name, chosen.form
    accuracy = unless_configured(solver, asked.accuracy)
    return solve_step(program, solver, form, tol=accuracy, time_limit=left)


def _read(solution: Solution, search: Search) -> tuple[Array, Array]:
    n, m = search.known.shape
    W, H = (np.asarray(solution.values[name]) for name in ("W", "H"))
    return W.reshape(n, search.k), H.reshape(m, search.k).T


def _record(
    solution: Solution, W: Array, H: Array, number: int, start: int, begin: float
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
        seconds=time.perf_counter() - begin,
    )


def _verdict(descent: list[Record], asked: _Options) -> IterationStatus:
    if len(descent) <= asked.patience:
        return IterationStatus.RUNNING
    before = min(r.share for r in descent[: -asked.patience])
    lately = min(r.share for r in descent[-asked.patience :])
    stalled = before - lately <= asked.stall * before
    return IterationStatus.STALLED if stalled else IterationStatus.RUNNING
