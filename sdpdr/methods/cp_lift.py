"""Completely positive factorization as a matrix of low rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.blocks.copositive import Along
from sdpdr.blocks.entries import NonNegative
from sdpdr.blocks.lift import FactorLift, Known
from sdpdr.errors import DataError, ShapeError
from sdpdr.graphs import validate
from sdpdr.linalg.svec import Array
from sdpdr.model import Model
from sdpdr.nonnegative.symmetric import (
    is_doubly_nonnegative,
    symmetric_matrix,
    without_rounding,
)


def cp_lift(X: ArrayLike, n_components: int, direction: ArrayLike | None = None) -> Model:
    r"""Non-negative factors of a symmetric matrix, but for the rank.

    .. math::

        \max_{B \ge 0}\ \langle C, B\rangle \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I_k & B^T \\ B & A \end{pmatrix} \succeq 0,
        \quad\text{that is}\quad B B^T \preceq A .

    A has a non-negative factor with k columns exactly if some feasible Z has rank k, and exactly if
    :math:`|B|_F^2` reaches tr A. With C = B of the step before, convex iteration climbs
    :math:`|B|_F^2` (`sdpdr.factorize.completely_positive`). The trace of Z is constant, so it
    cannot serve as the first objective. With C = 1 the optimum is
    :math:`(k\, \mathbf 1^T A \mathbf 1)^{1/2}`, which a B of equal columns attains.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A: symmetric, without negative entries or eigenvalues.
    n_components : int
        k.
    direction : array_like of shape (n, k), optional
        C; ones by default.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        A is not symmetric, or is not doubly non-negative, and so no B will do.
    ShapeError
        The direction is not of shape (n, k).

    References
    ----------
    Vasiloglou thesis, (2.74)-(2.79), where that the lower right block is A is left unsaid: without
    it every B is feasible.

    Examples
    --------
    >>> import sdpdr
    >>> model = cp_lift([[2.0, 1.0], [1.0, 2.0]], 2)
    >>> model
    FactorLift + Known + NonNegative + Along
    >>> round(sdpdr.solve(model).value, 6), round(12**0.5, 6)
    (3.464102, 3.464102)
    """
    A = symmetric_matrix(X)
    k = validate.positive_integer("n_components", n_components)
    if not is_doubly_nonnegative(A):
        raise DataError(
            "X has a negative entry or eigenvalue, so it has no non-negative factor: it is not "
            "completely positive. `sdpdr.factorize.completely_positive` returns the certificate."
        )
    lift = FactorLift(k, len(A))
    i, j = np.triu_indices(len(A))
    known = Known(lift.order, k + np.column_stack([i, j]), without_rounding(A)[i, j], lift.gram)
    signs = NonNegative(lift.order, lift.left(), lift.gram)
    along = Along(lift, _direction(direction, len(A), k))
    return Model((lift, known, signs, along), name="cp_lift")


def _direction(direction: ArrayLike | None, n: int, k: int) -> Array:
    if direction is None:
        return np.ones((n, k))
    given = np.asarray(direction, dtype=float)
    if given.shape != (n, k) or not np.all(np.isfinite(given)):
        raise ShapeError(
            f"direction must have shape ({n}, {k}) and finite entries; its shape is {given.shape}."
        )
    return given
