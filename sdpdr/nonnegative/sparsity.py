"""How few entries carry a vector."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError
from sdpdr.linalg.svec import Array


def hoyer(X: ArrayLike, axis: int | None = 0) -> Array:
    r"""Hoyer's measure of sparsity, :math:`(\sqrt p - |x|_1/|x|_2)/(\sqrt p - 1)` of p numbers.

    One for a single entry that is not zero, zero where all entries are equal in size; the scale of
    x does not matter.

    Parameters
    ----------
    X : array_like of shape (n, m), or (p,)
    axis : int or None, default 0
        Along which vectors lie: 0 for columns, 1 for rows, None for all entries as one vector.

    Returns
    -------
    ndarray of shape (m,), (n,) or ()
        nan for vectors of zeros, and for vectors of one entry.

    Raises
    ------
    DataError
        X has no entries, or some that are not finite.

    References
    ----------
    P. O. Hoyer, "Non-negative matrix factorization with sparseness constraints", Journal of Machine
    Learning Research 5, 2004; Vasiloglou thesis, (2.61), where the text has the ends of the scale
    exchanged.

    Examples
    --------
    >>> hoyer([[0.0, 1.0], [3.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    array([1., 0.])
    """
    values = np.asarray(X, dtype=float)
    if not values.size or not np.isfinite(values).all():
        raise DataError("sparsity is measured of finite numbers, at least one of them.")
    root = np.sqrt(values.size if axis is None else values.shape[axis])
    size = np.sqrt(np.sum(np.square(values), axis=axis))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (root - np.sum(np.abs(values), axis=axis) / size) / (root - 1.0)
    # Rounding may leave the scale, nan may not.
    return np.asarray(np.clip(found, 0.0, 1.0))
