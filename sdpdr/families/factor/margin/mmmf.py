"""Maximum-margin matrix factorization with a proof, and the matrix that belongs to multipliers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, UncertifiedWarning, warn
from sdpdr.base.progress import Progress, show_progress
from sdpdr.families.factor.margin.bound import MarginFactorization, weights_of
from sdpdr.families.factor.margin.descent import complete
from sdpdr.families.factor.margin.factors import Completion, Program, Proof
from sdpdr.families.factor.margin.losses import SignHinge
from sdpdr.families.factor.margin.norms import factor_norm
from sdpdr.families.factor.margin.recipe import Signs, asked_signs, read_completed
from sdpdr.families.factor.margin.recipe import mmmf as recipe
from sdpdr.families.factor.margin.splitting import MaxSplitting, TraceSplitting, steps
from sdpdr.linalg import BilinearForms
from sdpdr.model import Model, Var, soften
from sdpdr.model.blocks import Gram, LeastTrace, Margins
from sdpdr.program.point import Factor
from sdpdr.solvers.base import Solver, tolerance, unless_configured
from sdpdr.solving.asked import require_solver
from sdpdr.solving.solve import solve
from sdpdr.solving.way import configure

# Rounds of descent on factors, of hundreds of steps each.
_ROUNDS = 50


def mmmf(
    X: Any,
    *,
    c: float = 1.0,
    norm: str = "trace",
    solver: str | Solver = "splitting",
    tol: float | None = None,
    max_iter: int = 5000,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
    ridge: float = np.inf,
) -> MarginFactorization:
    r"""The matrix of least norm with the signs observed, and a proof of how good it is.

    The program is that of `sdpdr.methods.mmmf`. The splitting method takes proximal steps of the
    norm and of the loss in turns (see ``splitting``); each gives a matrix and
    multipliers, the matrix is scaled to its best size, and the best of both are kept until they
    agree. A step takes an eigendecomposition of order min(p, q), or p + q for the max-norm.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        1 and -1 where a sign was observed, 0 or NaN where not.
    c : float, default 1
        Price of a unit of slack; infinite for a hard margin.
    norm : {"trace", "max"}, default "trace"
    solver : str or Solver, default "splitting"
        Or "factors": descent on factors from which the kink of the hinge is rounded off ever more
        closely. It took longer wherever both were tried: ten thousand signs come to a gap of 1e-2
        for the trace norm, and of 0.4 for the max-norm, in more time than splitting takes to 1e-2
        for either. Any other is one of `sdpdr.solve`, such as ``"lowrank"``, which needs no p q
        numbers of memory.
    tol : float, optional
        Of the relative gap; by default that of a configured solver, or 1e-6.
    max_iter : int, default 5000
    time_limit : float, optional
        Seconds.
    progress : bool or callable, optional
        As for `sdpdr.solve`.
    ridge : float, default inf
        Price of offsets of rows and columns, as for `sdpdr.methods.mmmf`; infinite for none.

    Returns
    -------
    MarginFactorization

    Raises
    ------
    DataError, UnknownNameError
        As `sdpdr.methods.mmmf`.

    Warns
    -----
    UncertifiedWarning
        The gap is larger than ``tol``.

    References
    ----------
    Tong thesis, section 2.3.4.

    Examples
    --------
    >>> found = mmmf([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]], c=0.5)
    >>> round(found.value, 5), found.gap <= 1e-6
    (3.4641, True)
    >>> found.matrix.round(4)
    array([[ 1., -1., -1.,  1.],
           [ 1., -1., -1.,  1.],
           [-1.,  1.,  1., -1.]])
    """
    limit = validate.positive_integer("max_iter", max_iter)
    tol = validate.positive_number("tol", tolerance(solver, tol))
    require_way(solver, c)
    signs, deadline = asked_signs(X, c, norm, ridge), Deadline(time_limit)
    program = _program(signs, c, norm, ridge)
    if isinstance(solver, str) and solver == "splitting":
        with show_progress(progress, f"maximum-margin factorization, {norm} norm") as report:
            found, count = _split(program, tol, limit, deadline, report)
    elif isinstance(solver, str) and solver == "factors":
        rounds = min(limit, _ROUNDS)
        found = _scaled(program, complete(program, tol=tol, max_iter=rounds, deadline=deadline))
        count = len(found.history)
    else:
        found, count = _by_solver(program, solver, tol, time_limit, progress)
    if not found.gap <= tol:
        warn(
            f"value and bound differ by {found.gap:.1e}, not {tol:g}, after {count} "
            "iterations. Raise max_iter or time_limit (None for none), or try another solver.",
            UncertifiedWarning,
        )
    return _result(program, found, count)


def require_way(solver: object, c: float | None) -> None:
    """Refuse what is no way to a factorization, or none at this price.

    Parameters
    ----------
    solver : object
    c : float or None
        None for a finite price that is to be chosen.

    Raises
    ------
    DataError
        Descent on factors is asked for a hard margin.
    DataTypeError, UnknownNameError
        There is no such solver.
    """
    if isinstance(solver, str) and solver == "factors":
        if c == np.inf:
            raise DataError(
                "solver='factors' needs a finite price c: a hard margin has no slope. Pass another "
                "solver, such as 'splitting'."
            )
    elif not (isinstance(solver, str) and solver in ("splitting", "auto")):
        require_solver(solver)
        configure(solver, {})  # type: ignore[arg-type]  # it is one, or has no such name


def mmmf_primal(
    X: Any,
    Q: ArrayLike,
    *,
    c: float = 1.0,
    tol: float = 1e-4,
    solver: str | Solver = "auto",
) -> MarginFactorization:
    r"""The matrix that belongs to multipliers of the trace-norm program.

    At an optimum :math:`\langle Q \circ Y, M \rangle = |M|_{\mathrm{tr}}` with
    :math:`|Q \circ Y|_2 \le 1`, so the singular vectors of M are among those of
    :math:`Q \circ Y = U \Sigma V^T` with singular value one, :math:`M = U_1 S V_1^T` with
    :math:`S \succeq 0`. What remains is the same program over S, whose order is small:

    .. math:: \min_{S \succeq 0} \operatorname{tr} S + c \sum \max(0, 1 - Y_{ia} u_i^T S v_a) .

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        The signs.
    Q : array_like of shape (m,) or (p, q)
        Multipliers, as `sdpdr.methods.mmmf_dual` has them.
    c : float, default 1
    tol : float, default 1e-4
        Singular values within this of the largest count as one.
    solver : str or Solver, default "auto"
        Of the small program.

    Returns
    -------
    MarginFactorization
        With the bound that Q proves, so its gap tells whether Q was optimal.

    Raises
    ------
    DataError
        As `sdpdr.methods.mmmf`; or no weight is positive.
    SolveFailedError
        The small program has no answer: with a hard margin, multipliers that are not optimal.

    Notes
    -----
    Tong thesis, after (2.27), calls this non-trivial, and possible for the hard margin. It needs
    no more than this program for either.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import methods
    >>> X = [[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]]
    >>> dual = sdpdr.solve(methods.mmmf_dual(X, c=0.5), "clarabel", tol=1e-8)
    >>> found = mmmf_primal(X, dual["Q"], c=0.5)
    >>> round(found.value, 5), found.gap < 1e-6
    (3.4641, True)
    """
    signs = asked_signs(X, c, "trace")
    weights = np.clip(weights_of(signs, Q), 0.0, c)
    if not np.any(weights):
        raise DataError("no weight of Q is positive, so it says nothing about the matrix.")
    left, sizes, right = np.linalg.svd(signs.matrix(weights).toarray(), full_matrices=False)
    program = _program(signs, c, "trace")
    zero = program.valued(program.start()).proved(_proof(program, weights, None))
    # Where slack is cheap, all weights are c and their norm is below one.
    if sizes[0] < 1.0 - tol and np.all(weights >= c * (1.0 - tol)):
        return _result(program, zero)
    k = int(np.sum(sizes >= sizes[0] * (1.0 - tol)))
    U, V = left[:, :k], right[:k].T
    i, a = signs.places.T
    margins = Margins(BilinearForms(U[i], V[a]) @ Var("S"), signs.values)
    loss = soften(margins, c) if np.isfinite(c) else margins
    model = Model((Gram(k, "S"), LeastTrace(k, gram="S"), loss), name="mmmf_primal", maximize=False)
    solution = solve(model, solver, tol=unless_configured(solver, 1e-8))
    if not solution.values:
        solution.raise_for_status()
    root = Factor.of(solution.values["S"]).factor
    return _result(program, _scaled(program, replace(zero, U=U @ root, V=V @ root)))


def _program(signs: Signs, c: float, norm: str, ridge: float = np.inf) -> Program:
    return Program(signs, SignHinge(signs.values), norm, c, ridge, 0)


def _signs_of(program: Program) -> Signs:
    assert isinstance(program.entries, Signs)
    return program.entries


def _result(program: Program, found: Completion, iterations: int = 0) -> MarginFactorization:
    """What was found, by any way."""
    signs = _signs_of(program)
    return MarginFactorization(
        U=found.U,
        V=found.V,
        value=found.value,
        bound=found.bound,
        signs=signs,
        multipliers=signs.values * found.weights,
        c=program.c,
        norm=program.factors.name,
        scales=found.scales,
        iterations=iterations,
        history=found.history,
        ridge=program.ridge,
        offsets=found.offsets,
    )


def _split(
    program: Program, tol: float, max_iter: int, deadline: Deadline, report: Progress | None
) -> tuple[Completion, int]:
    """The splitting method until value and bound agree, and the steps that it took."""
    best, history = program.valued(program.start()), []
    way = TraceSplitting if program.factors.name == "trace" else MaxSplitting
    for count, step in steps(way(_signs_of(program), program.c, program.ridge), max_iter):
        best = best.better(_scaled(program, step), _proof(program, step.weights, step.scales))
        history.append(best.record(deadline, iteration=count))
        if report is not None:
            report(history[-1])
        if best.gap <= tol or deadline.is_over():
            break
    return replace(best, history=tuple(history)), count


def _proof(program: Program, weights: Array, scales: tuple[Array, Array] | None) -> Proof:
    """What multipliers prove; they stay as they are, since those of c mark what is not met."""
    multipliers = program.entries.values * np.clip(weights, 0.0, program.c)
    return replace(program.weighed(weights, scales), weights=multipliers)


def _scaled(program: Program, at: Completion) -> Completion:
    """Factors of the best multiple of their product, and its value."""
    signs, offsets = program.entries.values, at.offsets
    met = signs * program.offsets.added(offsets)
    margins = signs * at.scores(program.i, program.a) - met
    size = factor_norm(at.U, at.V, program.factors.name)
    scale = _best_scale(margins, 1.0 - met, size, program.c)
    paid = program.paid(signs * (scale * margins + met), at.shared, offsets)
    root = np.sqrt(scale)
    return replace(at, U=root * at.U, V=root * at.V, value=float(scale * size) + paid)


def _best_scale(margins: Array, missed: Array, size: float, c: float) -> float:
    r"""The t >= 0 of least :math:`t |M| + c \sum \max(0, r_e - t m_e)`, with r what is missed."""
    if not np.isfinite(c):
        least = float(np.min(margins))
        # A little more, or rounding undoes the margin.
        return (1.0 + 4.0 * np.finfo(float).eps) / least if least > 0.0 else 1.0
    # The slope jumps by c |m_e| at t = r_e / m_e.
    falling = (missed > 0.0) | ((missed == 0.0) & (margins < 0.0))
    turning = missed * margins > 0.0
    kinks, jumps = missed[turning] / margins[turning], np.abs(margins[turning])
    order = np.argsort(kinks)
    first_slope = size - c * float(np.sum(margins[falling]))
    slopes = first_slope + c * np.concatenate([[0.0], np.cumsum(jumps[order])])
    first = int(np.argmax(slopes >= 0.0))
    return 0.0 if first == 0 else float(kinks[order[first - 1]])


def _by_solver(
    program: Program,
    solver: str | Solver,
    tol: float,
    time_limit: float | None,
    progress: Progress | bool | None,
) -> tuple[Completion, int]:
    """A semidefinite solver's matrix, with the bound of its multipliers, and its iterations."""
    signs, norm = _signs_of(program), program.factors.name
    model = recipe(signs, c=program.c, norm=norm, ridge=program.ridge)
    solution = solve(model, solver, tol=tol, time_limit=time_limit, progress=progress)
    if not solution.values:
        solution.raise_for_status()
    U, V, offsets, scales = read_completed(solution, signs.shape)
    rows, columns = program.offsets.sides(offsets)
    weights = solution.duals.get("margins", np.zeros(len(signs.values)))
    found = _scaled(program, replace(program.start(), U=U, V=V, rows=rows, columns=columns))
    return found.proved(_proof(program, weights, scales)), solution.claimed.iterations or 0
