r"""Second-order cones as matrix inequalities, and their multipliers on the way back.

The cone :math:`\|v\| \le t` for v of length 2 is a matrix of order 2,

.. math::

    \begin{pmatrix} t + v_1 & v_2 \\ v_2 & t - v_1 \end{pmatrix} \succeq 0,

for longer v an arrow of order 1 + m, :math:`\begin{pmatrix} t & v^T \\ v & t I\end{pmatrix}`; and
where that would be large, v is split into parts, exactly, with a scalar for each:

.. math::

    \begin{pmatrix} u_i & v_i^T \\ v_i & t I \end{pmatrix} \succeq 0, \qquad \sum_i u_i \le t.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import svec_index, svec_size
from sdpdr.linalg.svec import SQRT2, svec

# Length of v, or of a part of it, up to which an arrow costs less than more of them: at 200 and 600
# values, lengths of 8 to 30 take about as long, and more of them longer to prove.
LONGEST_ARROW = 16


def merged(matrix: sp.csr_array, rhs: Array) -> sp.csr_array:
    """Weights that make one entry of those of v that are the same, and none of those that vanish.

    Parameters
    ----------
    matrix : sparse array of shape (1 + m, n)
        Rows of the cone, t first.
    rhs : array of shape (1 + m,)

    Returns
    -------
    sparse array of shape (1 + k, 1 + m)
        Of orthogonal rows, so that it leaves the length of v as it is.

    Examples
    --------
    The length of (x, 0, x) is the root of two times that of x:

    >>> rows = sp.csr_array([[0.0], [1.0], [0.0], [1.0]])
    >>> merged(rows, np.array([1.0, 2.0, 0.0, 2.0])).toarray().round(3)
    array([[1.   , 0.   , 0.   , 0.   ],
           [0.   , 0.707, 0.   , 0.707]])
    """
    places: dict[tuple[bytes, bytes, float], list[int]] = {}
    for i in range(1, rhs.size):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        if part.start != part.stop or rhs[i] != 0.0:
            key = matrix.indices[part].tobytes(), matrix.data[part].tobytes(), float(rhs[i])
            places.setdefault(key, []).append(i)
    groups = [[0], *places.values()]
    row = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    values = np.repeat([1.0 / np.sqrt(len(group)) for group in groups], np.bincount(row))
    return sp.csr_array((values, (row, np.concatenate(groups))), shape=(len(groups), rhs.size))


def disc(multiplier: Array) -> Array:
    """The multiplier of a cone of size 3 from that of its matrix of order 2.

    Examples
    --------
    >>> disc(np.array([[2.0, 0.5], [0.5, 1.0]]))
    array([3., 1., 1.])
    """
    return np.asarray(DISC.T @ svec(multiplier))


# The matrix of order 2 of a cone of size 3, in the order of ``svec``, by (t, v).
DISC = sp.csr_array([[1.0, 1.0, 0.0], [0.0, 0.0, SQRT2], [1.0, -1.0, 0.0]])


def arrow(size: int) -> tuple[sp.csr_array, Array]:
    """The arrow of a cone, in the order of ``svec``: by (t, v), and by its first entry.

    Examples
    --------
    >>> from sdpdr.linalg import smat
    >>> body, head = arrow(4)
    >>> smat(body @ [5.0, 1.0, 2.0, 3.0] + 7.0 * head).round(12)
    array([[7., 1., 2., 3.],
           [1., 5., 0., 0.],
           [2., 0., 5., 0.],
           [3., 0., 0., 5.]])
    """
    k = np.arange(1, size)
    place = np.concatenate([svec_index(k, k), svec_index(0, k)])
    values = np.repeat([1.0, SQRT2], size - 1)
    column = np.concatenate([0 * k, k])
    head = np.zeros(svec_size(size))
    head[0] = 1.0
    return sp.csr_array((values, (place, column)), shape=(head.size, size)), head


@dataclass(frozen=True, eq=False)
class Arrows:
    """A cone as arrows, one or several with a scalar each.

    Attributes
    ----------
    label : str
    size : int
        Of the cone, t and v.
    """

    label: str
    size: int

    @cached_property
    def parts(self) -> list[Index]:
        """Places of v in parts of like length."""
        count = -(-(self.size - 1) // LONGEST_ARROW)
        return np.array_split(np.arange(1, self.size), count)

    @property
    def scalars(self) -> str:
        """Name of the scalars u."""
        return f"{self.label}.parts"

    def part(self, i: int) -> str:
        """Label of one matrix inequality."""
        return self.label if len(self.parts) == 1 else f"{self.label}.{i + 1}"

    def dual(self, duals: Mapping[str, Array]) -> Array:
        """The multiplier of the cone.

        Examples
        --------
        >>> multiplier = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 2.0]])
        >>> Arrows("c", 3).dual({"c": multiplier})
        array([4., 1., 0.])
        """
        z = np.zeros(self.size)
        for i, place in enumerate(self.parts):
            part = duals[self.part(i)]
            z[0] += np.trace(part[1:, 1:])
            z[place] = 2.0 * part[0, 1:]
        # A single arrow begins with t; of several, the row of the sum does.
        z[0] += duals[self.label][0, 0] if len(self.parts) == 1 else duals[self.label][0]
        return z
