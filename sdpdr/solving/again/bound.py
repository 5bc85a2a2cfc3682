r"""Bounds by multipliers, in the coordinates of the cone.

For any y the slack of a program over a cone (`sdpdr.program.attain.cone`),
:math:`s = c - A^T y`, that lies in the cone and vanishes on free scalars proves

.. math::  p^* \ge b^T y - \tfrac12 \sum_j s_j^2 / q_j + c_0,

the sum over scalars with a quadratic cost. Matrices of slack and the slack of scalars are shown to
lie in the cone whatever rounding did to them. The equations of free scalars, and the value, are
trusted up to rounding, where that is small.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.svec import smat
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.attain.cone import ConeProgram

WORDS = "slack verified whatever rounding did to it"
# Free scalars whose equations are solved with a dense matrix.
_MOST = 1000
_PASSES = 3
# Rounding of the slack of free scalars, beside the largest cost, that is trusted to be small.
_TRUSTED = 1e-8


class Bounds:
    """Checks multipliers of programs that have the same left sides.

    Parameters
    ----------
    program : ConeProgram
    """

    def __init__(self, program: ConeProgram) -> None:
        self._columns = sp.csr_array(program.A.T)
        terms = gamma(np.diff(self._columns.indptr) + 2)
        self._terms = terms
        self._sizes = sp.diags_array(terms) @ abs(self._columns) + program.radius.T.tocsr()
        curved = np.flatnonzero(program.curvature)
        self._free = np.setdiff1d(program.free, curved)
        self._of_free = self._columns[self._free]
        self._inverse: Array | None = None
        if 0 < self._free.size <= _MOST:
            product = (self._of_free @ self._of_free.T).toarray()
            # Some of the equations may depend on others.
            self._inverse = np.linalg.pinv(product, hermitian=True)

    def balanced(self, program: ConeProgram, y: Array) -> Array:
        """The nearest multipliers that satisfy the equations of free scalars."""
        if self._inverse is None:
            return y
        for _ in range(_PASSES):
            residual = program.c[self._free] - self._of_free @ y
            y = y + self._of_free.T @ (self._inverse @ residual)
        return y

    def value(self, program: ConeProgram, y: Array) -> float | None:
        """What multipliers prove of the minimisation; None where that is nothing."""
        s = program.c - self._columns @ y
        error = 1.01 * (self._sizes @ np.abs(y) + self._terms * np.abs(program.c))
        error += 1.01 * program.c_radius
        free, k = self._free, program.nonnegative
        if free.size:
            trusted = _TRUSTED * (float(np.max(np.abs(program.c))) or 1.0)
            if np.any(np.abs(s[free]) > error[free]) or np.any(error[free] > trusted):
                return None
        if not np.all(s[k] >= error[k]):
            return None
        for block in program.blocks:
            if not is_verified_positive(smat(s[block.part]), smat(error[block.part])):
                return None
        curved = np.flatnonzero(program.curvature)
        paid = 0.5 * float(np.sum(s[curved] ** 2 / program.curvature[curved]))
        return float(program.b @ y) - paid + program.sdp.constant
