"""Maximum-margin factorization of signs, with the bound that multipliers prove."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ShapeError, UncertifiedWarning, warn
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.mmmf.entries import Observed, observed_signs
from sdpdr.families.factor.mmmf.program import HingeProgram, MarginFactorization, Program
from sdpdr.families.factor.mmmf.recipe import require_penalties
from sdpdr.families.factor.mmmf.splitting import split


@checks_keywords
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
    >>> from sdpdr.factorize import mmmf
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
    program = HingeProgram(observed_signs(X), c, ridge)
    return factorized(program, tol=tol, max_iter=limit, deadline=deadline)


@checks_keywords
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
    Tong thesis, (2.27), for the multipliers of an optimal matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.factorize import margin_bound
    >>> X = [[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]]
    >>> round(margin_bound(X, np.ones(9), c=0.5), 6)  # the optimum is 2 sqrt(3) = 3.464102
    3.40168
    """
    require_penalties(c, ridge)
    signs = observed_signs(X)
    return HingeProgram(signs, c, ridge).bound(_weights_of(signs, Q), rigorous=rigorous)


def factorized(
    program: Program, *, tol: float, max_iter: int, deadline: Deadline
) -> MarginFactorization:
    """The best matrix of a program; warn if its gap exceeds ``tol``."""
    found = split(program, tol, max_iter, deadline)
    if not found.gap <= tol:
        warn(
            f"value and bound differ by {found.gap:.1e}, not {tol:g}, after {found.iterations} "
            "iterations. Raise max_iter or time_limit (None for none).",
            UncertifiedWarning,
        )
    return found


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
