"""A direction that is known without a solver: all entries of a matrix grow alike.

The matrix 1 1^T moves all points together, so that lengths do not change; an objective that grows
with it is unbounded where nothing holds the points at a place.
"""

from __future__ import annotations

from math import fsum

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.flat import NONNEGATIVE, SEMIDEFINITE, FlatProgram


def constant_direction(program: FlatProgram, places: Index) -> Array | None:
    """The direction in which the given unknowns grow alike, if it improves the objective for ever.

    All sums are exact, so that it is proved. None if it leaves the cones or does not improve.

    Parameters
    ----------
    program : FlatProgram
    places : array of int
        The entries of a matrix among the unknowns.
    """
    direction = np.zeros(program.c.size)
    direction[places] = 1.0
    if not program.around.is_exact or fsum(program.c[places]) >= 0.0:
        return None
    moved = -_sums(program.A, direction)
    if _sums(program.E, direction).any():
        return None
    for part in program.parts:
        by = moved[part.rows]
        # A matrix that is constant is semidefinite if it is not negative.
        stays = part.kind == NONNEGATIVE or (part.kind == SEMIDEFINITE and not np.ptp(by))
        if np.any(by) and not (stays and np.all(by >= 0.0)):
            return None
    return direction


def holds_at_zero(program: FlatProgram) -> bool:
    """Whether zero is a feasible point, by the numbers of the program alone."""
    exact = program.around.is_exact and not program.f.any()
    return exact and all(
        np.all(program.b[part.rows] >= 0.0)
        if part.kind == NONNEGATIVE
        else not program.b[part.rows].any()
        for part in program.parts
    )


def _sums(rows: sp.csr_array, direction: Array) -> Array:
    """Products of rows with a vector of zeros and ones, rounded once: their signs are exact."""
    kept = sp.csr_array(rows @ sp.diags_array(direction))
    kept.eliminate_zeros()
    counts, found = np.diff(kept.indptr), np.zeros(rows.shape[0])
    found[counts == 1] = kept.data[kept.indptr[:-1][counts == 1]]
    for k in np.flatnonzero(counts > 1):
        found[k] = fsum(kept.data[kept.indptr[k] : kept.indptr[k + 1]])
    return found
