r"""Second-order cones as matrix inequalities, and their multipliers on the way back.

The cone :math:`\|v\| \le t` for v of length 2 is a matrix of order 2,

.. math::

    \begin{pmatrix} t + v_1 & v_2 \\ v_2 & t - v_1 \end{pmatrix} \succeq 0,

for longer v an arrow of order 1 + m, :math:`\begin{pmatrix} t & v^T \\ v & t I\end{pmatrix}`; and
where that would be large, it is split exactly into matrices of order 2, with a scalar for each:

.. math::

    \begin{pmatrix} u_i & v_i \\ v_i & t \end{pmatrix} \succeq 0, \qquad \sum_i u_i \le t.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg import svec_index, svec_size
from sdpdr.linalg.svec import SQRT2, svec

# Length of v up to which an arrow costs less than splitting it.
LONGEST_ARROW = 5


@dataclass(frozen=True, eq=False)
class Shape:
    """A matrix inequality that a cone becomes: ``svec`` of the matrix is ``weights @ (t, v)``."""

    order: int
    weights: sp.csr_array

    def dual(self, multiplier: Array) -> Array:
        """The multiplier of the cone."""
        return np.asarray(self.weights.T @ svec(multiplier))


def shape_of(size: int) -> Shape | None:
    """The matrix of a cone of some size; None where it is to be split.

    Examples
    --------
    >>> from sdpdr.linalg import smat
    >>> smat(shape_of(3).weights @ [5.0, 3.0, 4.0]).round(12)
    array([[8., 4.],
           [4., 2.]])
    >>> smat(shape_of(4).weights @ [5.0, 1.0, 2.0, 3.0]).round(12)
    array([[5., 1., 2., 3.],
           [1., 5., 0., 0.],
           [2., 0., 5., 0.],
           [3., 0., 0., 5.]])
    """
    if size == 3:
        entries = [(0, 0, 1.0), (2, 0, 1.0), (0, 1, 1.0), (2, 1, -1.0), (1, 2, SQRT2)]
        return Shape(2, _matrix(entries, 3, 3))
    if size > LONGEST_ARROW + 1:
        return None
    k = np.arange(size)
    diagonal = [(int(e), 0, 1.0) for e in svec_index(k, k)]
    border = [(int(svec_index(0, i)), int(i), SQRT2) for i in k[1:]]
    return Shape(size, _matrix([*diagonal, *border], svec_size(size), size))


def _matrix(entries: list[tuple[int, int, float]], rows: int, columns: int) -> sp.csr_array:
    i, j, value = (np.array(part) for part in zip(*entries, strict=True))
    return sp.csr_array((value, (i, j)), shape=(rows, columns))


@dataclass(frozen=True, eq=False)
class Split:
    """A long cone in parts; the names are those of the scalars u and of the row of their sum."""

    label: str
    size: int

    @property
    def parts(self) -> str:
        """Name of the scalars u."""
        return f"{self.label}.parts"

    def part(self, i: int) -> str:
        """Label of one matrix inequality."""
        return f"{self.label}.{i}"

    def dual(self, duals: Mapping[str, Array]) -> Array:
        """The multiplier of the cone."""
        z = np.zeros(self.size)
        z[0] = duals[self.label][0]
        for i in range(1, self.size):
            part = duals[self.part(i)]
            z[0] += part[1, 1]
            z[i] = 2.0 * part[0, 1]
        return z


# Matrix of a part by (t, v_i), and by u_i, in the order of ``svec``.
PART_BY_ROWS = sp.csr_array([[0.0, 0.0], [0.0, SQRT2], [1.0, 0.0]])
PART_BY_SCALAR = np.array([1.0, 0.0, 0.0])
