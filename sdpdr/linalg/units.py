"""Units of rows and columns in which a symmetric matrix has a diagonal of about one."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.svec import Array, Matrix

# Ratio of diagonal entries from which units are worth their while.
_WIDE = 2.0**20


def diagonal_units(matrix: Matrix) -> Array | None:
    """Powers of two d with ``d_i^2 A_ii`` between 1/2 and 2; None where A needs no other units.

    Whether D A D is positive definite is whether A is, and powers of two round nothing; but small
    rows of A would drown in the rounding of large ones.

    Examples
    --------
    >>> import numpy as np
    >>> diagonal_units(np.diag([4.0**20, 1.0])).tolist()
    [9.5367431640625e-07, 1.0]
    >>> diagonal_units(np.eye(2)) is None
    True
    """
    diagonal = np.asarray(matrix.diagonal(), dtype=float)
    if diagonal.size == 0 or not np.all(np.isfinite(diagonal) & (diagonal > 0.0)):
        return None
    if np.max(diagonal) <= _WIDE * np.min(diagonal):
        return None
    return np.asarray(np.exp2(-np.round(0.5 * np.log2(diagonal))))


def in_units(matrix: Matrix, units: Array) -> Matrix:
    """The matrix D A D, sparse where A is."""
    if sp.issparse(matrix):
        scale = sp.diags_array(units, format="csr")
        return sp.csr_array(scale @ matrix @ scale)
    return np.asarray(matrix) * units[:, None] * units[None, :]
