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
from sdpdr.families.factor.margin.bound import (
    MarginFactorization,
    factor_norm,
    margin_bound,
    margins_of,
    weights_of,
)
from sdpdr.families.factor.margin.factors import Program, complete
from sdpdr.families.factor.margin.losses import SignHinge
from sdpdr.families.factor.margin.recipe import Signs, asked_signs
from sdpdr.families.factor.margin.recipe import mmmf as recipe
from sdpdr.families.factor.margin.splitting import MaxSplitting, Step, TraceSplitting, steps
from sdpdr.linalg import BilinearForms
from sdpdr.model import Model, Var, soften
from sdpdr.model.blocks import Gram, LeastTrace, Margins
from sdpdr.program.point import Factor
from sdpdr.solvers.base import Solver, tolerance, unless_configured
from sdpdr.solving.solve import solve

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
    signs = asked_signs(X, c, norm)
    limit = validate.positive_integer("max_iter", max_iter)
    tol = validate.positive_number("tol", tolerance(solver, tol))
    what = f"maximum-margin factorization, {norm} norm"
    if isinstance(solver, str) and solver == "splitting":
        with show_progress(progress, what) as report:
            found = _split(signs, c, norm, tol, limit, Deadline(time_limit), report)
    elif isinstance(solver, str) and solver == "factors":
        found = _on_factors(signs, c, norm, tol, limit, Deadline(time_limit))
    else:
        found = _by_solver(signs, c, norm, solver, tol, time_limit, progress)
    if not found.gap <= tol:
        warn(
            f"value and bound differ by {found.gap:.1e}, not {tol:g}, after {found.iterations} "
            "iterations. Raise max_iter, or try another solver.",
            UncertifiedWarning,
        )
    return found


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
    bound = margin_bound(signs, weights, c=c)
    zero = replace(_zero(signs, c, "trace"), bound=bound, multipliers=weights)
    # Where slack is cheap, all weights are c and their norm is below one.
    if sizes[0] < 1.0 - tol and np.all(weights >= c * (1.0 - tol)):
        return zero
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
    return _scaled(replace(zero, U=U @ root, V=V @ root))


def _split(
    signs: Signs,
    c: float,
    norm: str,
    tol: float,
    max_iter: int,
    deadline: Deadline,
    report: Progress | None,
) -> MarginFactorization:
    """The splitting method until value and bound agree."""
    best = _zero(signs, c, norm)
    history: list[dict[str, Any]] = []
    splitting = TraceSplitting(signs, c) if norm == "trace" else MaxSplitting(signs, c)
    for step in steps(splitting, max_iter):
        best = _better(best, step)
        history.append(
            {
                "iteration": step.count,
                "value": best.value,
                "bound": best.bound,
                "gap": best.gap,
                "seconds": deadline.spent,
            }
        )
        if report is not None:
            report(history[-1])
        if best.gap <= tol or deadline.is_over():
            break
    return replace(best, iterations=step.count, history=tuple(history))


def _on_factors(
    signs: Signs, c: float, norm: str, tol: float, max_iter: int, deadline: Deadline
) -> MarginFactorization:
    """Descent on factors, with the bound that its multipliers prove."""
    if not np.isfinite(c):
        raise DataError(
            "solver='factors' needs a finite price c: a hard margin has no slope. Pass another "
            "solver, such as 'splitting'."
        )
    program = Program(signs, SignHinge(signs.values), norm, c, np.inf, 0)
    found = complete(program, tol=tol, max_iter=min(max_iter, _ROUNDS), deadline=deadline)
    weights = np.clip(found.weights * signs.values, 0.0, c)
    return replace(
        _scaled(replace(_zero(signs, c, norm), U=found.U, V=found.V)),
        bound=margin_bound(signs, weights, c=c, norm=norm, scales=found.scales),
        multipliers=weights,
        scales=found.scales,
        iterations=len(found.history),
        history=found.history,
    )


def _zero(signs: Signs, c: float, norm: str) -> MarginFactorization:
    """The matrix of zeros, with no more than the bound that needs no proof."""
    p, q = signs.shape
    nothing = np.zeros(len(signs.values))
    return MarginFactorization(
        np.zeros((p, 0)), np.zeros((q, 0)), _loss(c, nothing), 0.0, signs, nothing, c, norm
    )


def _better(best: MarginFactorization, step: Step) -> MarginFactorization:
    """The better value and the better bound of two."""
    new = _scaled(replace(best, U=step.U, V=step.V))
    if new.value < best.value:
        best = replace(best, U=new.U, V=new.V, value=new.value)
    bound = margin_bound(best.signs, step.multipliers, c=best.c, norm=best.norm, scales=step.scales)
    if bound > best.bound:
        best = replace(best, bound=bound, multipliers=step.multipliers, scales=step.scales)
    return best


def _scaled(found: MarginFactorization) -> MarginFactorization:
    """Factors of the best multiple of their product, and its value."""
    margins = margins_of(found.signs, found.U, found.V)
    size = factor_norm(found.U, found.V, found.norm)
    scale = _best_scale(margins, size, found.c)
    root = np.sqrt(scale)
    value = float(scale * size) + _loss(found.c, scale * margins)
    return replace(found, U=root * found.U, V=root * found.V, value=value)


def _best_scale(margins: Array, size: float, c: float) -> float:
    r"""The t >= 0 of least :math:`t |M| + c \sum \max(0, 1 - t m_e)`."""
    if not np.isfinite(c):
        least = float(np.min(margins))
        # A little more, or rounding undoes the margin.
        return (1.0 + 4.0 * np.finfo(float).eps) / least if least > 0.0 else 1.0
    # The slope jumps by c m_e at t = 1 / m_e, and is |M| - c sum of m at zero.
    rising = np.sort(margins[margins > 0.0])[::-1]
    slopes = size - c * (float(np.sum(margins)) - np.concatenate([[0.0], np.cumsum(rising)]))
    first = int(np.argmax(slopes >= 0.0))
    return 0.0 if first == 0 else 1.0 / float(rising[first - 1])


def _loss(c: float, margins: Array) -> float:
    slack = np.maximum(0.0, 1.0 - margins)
    if np.isfinite(c):
        return c * float(np.sum(slack))
    return float("inf") if np.any(slack > 0.0) else 0.0


def _by_solver(
    signs: Signs,
    c: float,
    norm: str,
    solver: str | Solver,
    tol: float,
    time_limit: float | None,
    progress: Progress | bool | None,
) -> MarginFactorization:
    """A semidefinite solver's matrix, and the better of two bounds from its multipliers."""
    model = recipe(signs, c=c, norm=norm)
    solution = solve(model, solver, tol=tol, time_limit=time_limit, progress=progress)
    if not solution.values:
        solution.raise_for_status()
    factor, p = Factor.of(solution.values["Z"]).factor, signs.shape[0]
    weights = solution.duals.get("margins", np.zeros(len(signs.values)))
    sides = solution.duals.get("max_norm.diagonal")
    scales = None if sides is None else (sides[:p], sides[p:])
    return replace(
        _scaled(replace(_zero(signs, c, norm), U=factor[:p], V=factor[p:])),
        bound=margin_bound(signs, weights, c=c, norm=norm, scales=scales),
        multipliers=weights,
        scales=scales,
        iterations=solution.claimed.iterations or 0,
    )
