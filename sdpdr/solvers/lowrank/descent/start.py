r"""Where to begin with rows at a price: the matrix that a first step from zero points to.

The slope of :math:`\tfrac12 |A(K) - b|^2` at K = 0 is :math:`-A^*(b)`. Its part on the lowest few
eigenvectors, :math:`\sum_k (-\lambda_k) v_k v_k^T`, scaled to meet the rows as well as it can, is
what spectral starts of matrix completion are.

References
----------
Keshavan, Montanari and Oh, "Matrix completion from a few entries", IEEE Trans. Inform. Theory
56(6), 2010.
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.low_end import low_end
from sdpdr.solvers.lowrank.descent.spheres import Spheres
from sdpdr.solvers.lowrank.general.lagrangian import Layout

# Of the random factor in the first one, so that no direction is missing.
_NOISE = 1e-2


def spectral(layout: Layout, vector: Array, spheres: Spheres, seed: int) -> Array:
    """First unknowns with factors along low eigenvectors; those that have none are left.

    Parameters
    ----------
    layout : Layout
    vector : array
        Random unknowns, some of which is kept as noise.
    spheres : Spheres
        Whose rows do not count.
    seed : int
    """
    problem = layout.problem
    factors, free = layout.split(vector)
    right = np.where(spheres.free, problem.rhs, 0.0)
    found = []
    for block, factor in zip(problem.blocks, factors, strict=True):
        added = factor
        if not block.scalar:
            slack = block.forms.slack(np.append(0.0, -right))
            values, vectors = low_end(slack, block.face, factor[:, :0], factor.shape[1], seed)
            columns = np.zeros_like(factor)
            columns[:, : values.size] = vectors * np.sqrt(np.maximum(-values, 0.0))
            size = float(np.linalg.norm(columns))
            noise = _NOISE * size / max(float(np.linalg.norm(factor)), 1e-300)
            added = columns + noise * factor if size > 0.0 else factor
        found.append(added)
    moved = layout.project(layout.join(found, free))
    left = layout.values(moved)[1:]
    square = float(left @ left)
    fit = float(left @ problem.rhs) / square if square > 0.0 else 1.0
    return moved * np.sqrt(min(max(fit, 1e-6), 1e6))
