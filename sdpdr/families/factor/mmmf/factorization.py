r"""Maximum-margin factorization of signs, with the bound that multipliers prove.

For any matrix M, any :math:`0 \le Q \le c` and :math:`P = Q \circ Y` with spectral norm at most
one,

.. math::

    |M| + c \sum_S \max(0, 1 - Y_{ia} M_{ia})
    \ \ge\ \langle P, M \rangle + \sum_S Q_{ia} (1 - Y_{ia} M_{ia}) \ =\ \sum_S Q_{ia} ,

since :math:`\langle P, M \rangle = \sum_S Q_{ia} Y_{ia} M_{ia}`. So any weights, scaled until they
fit, prove a bound on the optimum, wherever they come from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, ShapeError, UncertifiedWarning, warn
from sdpdr.families.factor.mmmf.descent import complete
from sdpdr.families.factor.mmmf.entries import Observed, observed_signs
from sdpdr.families.factor.mmmf.losses import Hinge
from sdpdr.families.factor.mmmf.program import MarginFactorization, Program
from sdpdr.families.factor.mmmf.recipe import require_penalties
from sdpdr.families.factor.mmmf.splitting import split
from sdpdr.linalg import BilinearForms
from sdpdr.model import Model, Var, soften
from sdpdr.model.blocks import Gram, LeastTrace, Margins
from sdpdr.program.point import Factor
from sdpdr.solving.solve import solve


def mmmf(
    X: Any,
    *,
    c: float = 1.0,
    ridge: float = np.inf,
    tol: float = 1e-6,
    max_iter: int = 5000,
    time_limit: float | None = None,
) -> MarginFactorization:
    r"""Matrix of least trace norm with the observed signs, and a proof of how good it is.

    .. math::

        \min_{M, b, d}\ |M| + c\,\Bigl(\sum_{(i,a) \in S} \max(0, 1 - X_{ia} f_{ia})
        + \tfrac{\kappa}{2} (|b|^2 + |d|^2)\Bigr), \qquad f_{ia} = M_{ia} + b_i + d_a .

    Without offsets it is the program of `sdpdr.methods.mmmf`, which any solver of `sdpdr.solve`
    takes as well. Here it is solved by splitting: proximal steps of the norm and of the loss in
    turns. Each step gives a matrix, which is scaled to its best size, and multipliers; the best of
    both are kept until they agree. A step takes an eigendecomposition of order min(p, q), and p q
    numbers of memory.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        1 and -1 where a sign was observed, 0 or NaN where not.
    c : float, default 1
        Penalty of a unit of slack; infinite for a hard margin.
    ridge : float, default inf
        :math:`\kappa`, penalty of offsets of rows and columns; infinite for none.
    tol : float, default 1e-6
        Relative gap at which to stop.
    max_iter : int, default 5000
    time_limit : float, optional
        Seconds.

    Returns
    -------
    MarginFactorization

    Raises
    ------
    DataError
        X has other entries or none observed; c or ridge is not positive, or the first infinite and
        the second not.

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
    >>> found.matrix.round(2)
    array([[ 1., -1., -1.,  1.],
           [ 1., -1., -1.,  1.],
           [-1.,  1.,  1., -1.]])
    """
    limit = validate.positive_integer("max_iter", max_iter)
    tol = validate.positive_number("tol", tol)
    require_penalties(c, ridge)
    deadline = Deadline(time_limit)
    program = program_of_signs(observed_signs(X), c, ridge)
    return factorized(program, tol=tol, max_iter=limit, deadline=deadline)


def mmmf_primal(X: Any, Q: ArrayLike, *, c: float = 1.0, tol: float = 1e-4) -> MarginFactorization:
    r"""Matrix that belongs to multipliers of the trace-norm program.

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

    Returns
    -------
    MarginFactorization
        With the bound that Q proves, so its gap shows whether Q was optimal.

    Raises
    ------
    DataError
        As `mmmf`; or no weight is positive.
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
    require_penalties(c)
    signs = observed_signs(X)
    weights = np.clip(_weights_of(signs, Q), 0.0, c)
    if not np.any(weights):
        raise DataError("no weight of Q is positive, so it says nothing about the matrix.")
    program = program_of_signs(signs, c)
    zero = replace(program.start(), bound=program.proof(weights).bound, multipliers=weights)
    left, sizes, right = np.linalg.svd(
        signs.spread(weights * signs.values).toarray(), full_matrices=False
    )
    # If slack is cheap, all weights are c and their norm is below one.
    if sizes[0] < 1.0 - tol and np.all(weights >= c * (1.0 - tol)):
        return program.valued(zero)
    k = int(np.sum(sizes >= sizes[0] * (1.0 - tol)))
    U, V = left[:, :k], right[:k].T
    margins = Margins(BilinearForms(U[signs.rows], V[signs.columns]) @ Var("S"), signs.values)
    loss = soften(margins, c) if np.isfinite(c) else margins
    model = Model((Gram(k, "S"), LeastTrace(k, gram="S"), loss), name="mmmf_primal", maximize=False)
    solution = solve(model, tol=1e-8)
    if not solution.values:
        solution.raise_for_status()
    root = Factor.of(solution.values["S"]).factor
    return program.scaled(replace(zero, U=U @ root, V=V @ root))


def margin_bound(
    X: Any, Q: ArrayLike, *, c: float = 1.0, ridge: float = np.inf, rigorous: bool = False
) -> float:
    r"""Lower bound on the optimum of `mmmf` that any weights prove.

    Weights are clipped between 0 and c and scaled until the largest singular value of
    :math:`P = Q \circ X` is one, or the largest of them is c; their sum is the bound. Offsets take
    :math:`(|P 1|^2 + |P^T 1|^2) / (2 c \kappa)` off it, and it may be largest for smaller weights.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        The signs.
    Q : array_like of shape (m,) or (p, q)
        Weights of the signs row by row, or as a matrix, of which only observed positions count.
    c : float, default 1
    ridge : float, default inf
        :math:`\kappa`.
    rigorous : bool, default False
        Account for all rounding by a verified factorization, rather than by a margin of
        8 (p + q) machine epsilons.

    Returns
    -------
    float

    Raises
    ------
    ShapeError
        Q has neither shape.
    DataError
        As `mmmf`.

    References
    ----------
    Tong thesis, (2.27), for the multipliers of an optimal matrix. Srebro, Rennie, Jaakkola,
    "Maximum-margin matrix factorization", NIPS, 2004.

    Examples
    --------
    >>> X = [[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]]
    >>> round(margin_bound(X, np.ones(9), c=0.5), 6)  # the optimum is 2 sqrt(3) = 3.464102
    3.40168
    """
    require_penalties(c, ridge)
    signs = observed_signs(X)
    program = program_of_signs(signs, c, ridge)
    return program.proof(_weights_of(signs, Q), rigorous=rigorous).bound


def program_of_signs(signs: Observed, c: float, ridge: float = np.inf) -> Program:
    """The program of `mmmf`."""
    return Program(signs, Hinge(signs.values[:, None]), c, ridge)


def factorized(
    program: Program, *, tol: float, max_iter: int, deadline: Deadline
) -> MarginFactorization:
    """The best matrix of a program, by splitting or descent; warn if its gap exceeds ``tol``."""
    method = split if isinstance(program.loss, Hinge) else complete
    found = method(program, tol=tol, max_iter=max_iter, deadline=deadline)
    if not found.gap <= tol:
        warn(
            f"value and bound differ by {found.gap:.1e}, not {tol:g}, after {found.iterations} "
            "iterations. Raise max_iter or time_limit (None for none).",
            UncertifiedWarning,
        )
    is_column = found.multipliers.shape[1:] == (1,)
    return replace(found, multipliers=found.multipliers[:, 0]) if is_column else found


def _weights_of(signs: Observed, Q: ArrayLike) -> Array:
    """Weights of the signs row by row, from these or from a matrix."""
    weights = np.asarray(Q, dtype=float)
    if weights.shape == signs.shape:
        return np.asarray(weights[signs.rows, signs.columns])
    if weights.shape != signs.values.shape:
        raise ShapeError(
            f"Q must hold {signs.values.size} weights, one for each sign, or be of shape "
            f"{signs.shape}; it has shape {weights.shape}."
        )
    return weights
