"""Nonnegative matrix factorization by convex iteration on semidefinite programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nmf.recipes import nmf_lift, nmf_products
from sdpdr.families.factor.nmf.search import Factorization, ProgramSearch, search_lift
from sdpdr.families.factor.nonnegative.inputs import (
    factor_pair,
    number_of_components,
    partial_matrix,
)
from sdpdr.families.factor.nonnegative.polish import random_factors
from sdpdr.program import Solution
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.asked import Asked
from sdpdr.solving.choice import choose
from sdpdr.solving.iterate.directions import Direction, Schur
from sdpdr.solving.iterate.records import POINTLESS, IterationStatus, Record, has_stalled
from sdpdr.solving.solve import solve_step

METHODS = ("lift", "scalarised")


def nmf(
    X: ArrayLike,
    n_components: int,
    method: str = "lift",
    *,
    observed: ArrayLike | None = None,
    error: float | None = None,
    sparsity: float | None = None,
    dnn: bool = False,
    direction: str | Direction = "schur",
    init: tuple[ArrayLike, ArrayLike] | None = None,
    starts: int = 5,
    seed: int = 0,
    polish: bool = True,
    tol: float = 1e-6,
    max_iter: int = 40,
    retries: int = 0,
    grow: float = 2.0,
    resume: Factorization | None = None,
    **options: Any,
) -> Factorization:
    r"""Nonnegative factors of a given rank, by convex iteration and a polish.

    .. math:: X = W H,\qquad W \in R_+^{n \times k},\ H \in R_+^{k \times m}.

    `sdpdr.methods.nmf_lift` states it as a matrix of rank k, and `ConvexIteration` drives its
    solutions towards that rank: under ``"schur"`` every program lowers
    :math:`\operatorname{tr}(\mathcal W - WW^T) + \operatorname{tr}(\mathcal H - H^TH)`, whose least
    value for given W and H is :math:`2 |X - WH|_*`. Factors that come near are polished on the
    equations X = W H themselves, and only factors that multiply to X are reported as a
    factorization.

    The method is local, and a start can stall, so several are made. A stall proves nothing about
    the nonnegative rank. If X has no factorization of rank k, the iteration ends ``STALLED`` near a
    factorization of least trace norm :math:`|X - WH|_*`, and the polish ends in one whose Frobenius
    norm is a local minimum. To look for a given error instead, pass ``error``.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Non-negative; ``nan`` where an entry is not known.
    n_components : int
        k, from 1 to min(n, m).
    method : {"lift", "scalarised"}, default "lift"
        ``"scalarised"`` iterates `sdpdr.methods.nmf_products`, n m k small cones in place of one
        large one.
    observed : array_like of bool, shape (n, m), optional
        False where an entry is not known.
    error : float, optional
        Look for :math:`|X - WH|_F \le \epsilon` (over known entries) instead of equality.
    sparsity : float, optional
        Hoyer's measure of the whole W. Such factors are not polished, which would change it, and
        W has Frobenius norm one.
    dnn : bool, default False
        See `sdpdr.methods.nmf_lift`.
    direction : {"schur", "trailing", "logdet"} or Direction, default "schur"
    init : pair of arrays (W, H), optional
        Factors at which the first start begins. By default, and in all other starts, they are
        random, with norm :math:`|X|_2^{1/2}`.
    starts : int, default 5
        At most.
    seed : int, default 0
    polish : bool, default True
        Whether factors are polished by `polish_factors`: those within one per cent of X, and the
        last ones of a start. Otherwise they are those of a program, clipped at zero.
    tol : float, default 1e-6
        Relative error at which the factorization counts as exact.
    max_iter : int, default 40
        Programs in a start.
    retries : int, default 0
        With ``error``: how often it may be increased after a stall.
    grow : float, default 2.0
        The factor by which it is increased.
    resume : Factorization, optional
        Continue this one, of the same X and with the same options; limits may differ.
    **options
        Of `ConvexIteration`: ``solver`` (here ``"clarabel"`` by default), ``form``, ``accuracy``,
        ``time_limit``, ``patience``, ``stall``, ``progress``.

    Returns
    -------
    Factorization
        Failures are statuses, not exceptions.

    Raises
    ------
    DataError, ModelError
        As `sdpdr.methods.nmf_lift`.
    UnknownNameError

    References
    ----------
    Vasiloglou thesis, section 4.2.7, (2.71)-(2.73), where the first direction is the identity, from
    which all columns of W stay alike; (2.111).

    Examples
    --------
    >>> from sdpdr.datasets import random_nonnegative
    >>> X, _ = random_nonnegative(5, 4, rank=2)
    >>> found = nmf(X, 2)
    >>> found.status, found.error < 1e-12, bool(found.W.min() >= 0.0)
    (IterationStatus.RANK_REACHED, True, True)
    """
    validate.choice("method", method, METHODS)
    known = partial_matrix(X, observed)
    k = number_of_components(n_components, known.shape)
    for name, number in (("starts", starts), ("max_iter", max_iter)):
        validate.positive_integer(name, number)
    polish = polish and sparsity is None
    search = ProgramSearch(known, k, tol, polish, starts, seed, max_iter, best=resume)
    if method == "scalarised":
        if error is not None or sparsity is not None or not known.is_complete:
            raise DataError(
                "method='scalarised' takes complete matrices and exact products only; use "
                "method='lift'."
            )
        return search_products(search, init, **options)
    if direction == "schur":
        size = float(np.sqrt(np.linalg.norm(known.values, 2)))
        direction = Schur(k, size if sparsity is None else 1.0, known.shape)
    options = {"solver": "clarabel", **options}
    options |= {"direction": direction, "start": search.start(init)}
    for radius in _radii(error, retries, grow):
        model = nmf_lift(known.with_gaps(), k, error=radius, sparsity=sparsity, dnn=dnn)
        found = search_lift(replace(search, radius=radius), model, **options)
        if found.status is not IterationStatus.STALLED:
            break
        search = replace(search, best=None)
    return found


def _radii(error: float | None, retries: int, grow: float) -> list[float | None]:
    """The errors to allow, in turn."""
    validate.positive_integer("retries", retries, at_least=0)
    if error is None:
        if retries:
            raise DataError("retries increase the error that is allowed: pass one (error=...).")
        return [None]
    if not grow > 1.0:
        raise DataError(f"grow must exceed 1; it is {grow}.")
    return [error * grow**step for step in range(retries + 1)]


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

    The starts of an earlier result, ``search.best``, are not repeated.
    """
    program = nmf_products(search.known.values, search.k).to_sdp()
    if solver == "auto":
        chosen = choose(program, Asked(solver, form, options={"tol": accuracy}))
        solver, form = chosen.solver.name, chosen.form
    tol = unless_configured(solver, accuracy)
    resume = search.best
    history = list(resume.history) if resume is not None else []
    deadline = Deadline(time_limit)
    status = IterationStatus.STALLED if resume is None else resume.status
    for start in range(resume.n_starts if resume is not None else 0, search.starts):
        W, H = random_factors(search.known, search.k, [search.seed, start])
        if init is not None and not start:
            W, H = factor_pair("init", *init, search.known.shape, search.k)
        for step in range(search.max_iter):
            if deadline.is_over():
                return search.found(IterationStatus.TIME_LIMIT, history)
            begin, left = deadline.spent, deadline.left()
            weighted = program.with_cost("W", -2.0 * W.ravel()).with_cost("H", -2.0 * H.T.ravel())
            solution = solve_step(weighted, solver, form, tol=tol, time_limit=left)
            if not solution.values:
                status = POINTLESS.get(solution.status, IterationStatus.FAILED)
                return search.found(status, history)
            W = np.reshape(solution.values["W"], W.shape)
            H = np.reshape(solution.values["H"], H.T.shape).T
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
