r"""Steps onto the equations that are shortest in the local norm, by orthogonal factorization.

With :math:`X = R R^T` the shortest step is :math:`R V R^T`, where V has least norm among those with
:math:`A(R V R^T) = r`. Near the boundary of the cone the normal equations of this problem square a
condition that is large already: a point with eigenvalues of 1e-10 misses them by as much. Solved by
a complete orthogonal factorization it does not, at a price that is small for small programs.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from sdpdr.linalg.svec import Array, smat, svec
from sdpdr.program.attain.cone import ConeProgram, Scaled
from sdpdr.program.attain.newton import SHARE, finite, longest_step

# Operations of a factorization that takes a second or less.
_OPERATIONS = 5e8
_STEPS = 4
# Rows of this size beside the largest, after scaling, depend on others.
_DEPENDENT = 1e-14


def onto_equations(program: ConeProgram, scaled: Scaled, y: Array) -> Array:
    """The point moved as near to the equations as rounding lets it, within the cone.

    Parameters
    ----------
    program : ConeProgram
    scaled : Scaled
        Its equations in the units of the point.
    y : array of shape (N,)
        In the interior of the cone. Returned as it is where the program is too large.
    """
    operations = scaled.b.size**2 * float(y.size)
    if operations > _OPERATIONS:
        return y
    missed = np.inf
    for _ in range(_STEPS):
        residual = scaled.b - scaled.A @ y
        before, missed = missed, float(np.max(np.abs(residual), initial=0.0))
        if not 0.0 < missed < 0.5 * before:
            return y
        program.effort.spend(operations)
        step = _shortest(program, scaled, y, residual)
        y = y + min(1.0, SHARE * longest_step(program, y, step)) * step
    return y


def _shortest(program: ConeProgram, scaled: Scaled, y: Array, residual: Array) -> Array:
    rows = np.array(scaled.A.toarray())
    rows[:, program.nonnegative] *= y[program.nonnegative]
    roots = [sl.cholesky(smat(finite(y[block.part])), lower=True) for block in program.blocks]
    for block, root in zip(program.blocks, roots, strict=True):
        rows[:, block.part] = [svec(root.T @ smat(row) @ root) for row in rows[:, block.part]]
    sizes = np.linalg.norm(rows, axis=1)
    sizes[sizes == 0.0] = 1.0
    rows, right = finite(rows / sizes[:, None]), finite(residual / sizes)
    step = sl.lstsq(rows, right, cond=_DEPENDENT, lapack_driver="gelsy")[0]
    step[program.nonnegative] *= y[program.nonnegative]
    for block, root in zip(program.blocks, roots, strict=True):
        step[block.part] = svec(root @ smat(step[block.part]) @ root.T)
    return np.asarray(step)
