r"""Second-order cones as matrix inequalities, and their multipliers on the way back.

The cone :math:`\|v\| \le t` for v of length 2 is a matrix of order 2,

.. math::

    \begin{pmatrix} t + v_1 & v_2 \\ v_2 & t - v_1 \end{pmatrix} \succeq 0,

for longer v an arrow of order 1 + m, :math:`\begin{pmatrix} t & v^T \\ v & t I\end{pmatrix}`; and
if that would be large, v is split into parts, which is exact, with a scalar for each:

.. math::

    \begin{pmatrix} u_i & v_i^T \\ v_i & t I \end{pmatrix} \succeq 0, \qquad \sum_i u_i \le t.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import svec_index, svec_size
from sdpdr.linalg.svec import SQRT2, svec

# Length of v up to which the cone is one arrow, which small proofs and Clarabel recognize as a
# cone; and length of the parts of a longer v: with 200 and 600 values, all lengths from 8 to 30
# are about as good for other solvers.
LONGEST_ARROW, LONGEST_PART = 512, 16


def parts_of(length: int) -> list[Index]:
    """The positions of v in each arrow: all in one, or parts of nearly equal length.

    Examples
    --------
    >>> [len(part) for part in parts_of(512)], len(parts_of(513))
    ([512], 33)
    """
    count = 1 if length <= LONGEST_ARROW else -(-length // LONGEST_PART)
    return np.array_split(np.arange(length), count)


def merged(matrix: sp.csr_array, rhs: Array, rows: Index) -> sp.csr_array | None:
    """Weights that merge equal entries of v into one, and drop entries that are zero.

    Parameters
    ----------
    matrix : sparse array of shape (p, n)
        Without duplicate entries, and sorted.
    rhs : array of shape (p,)
    rows : array of shape (1 + m,)
        The rows of the cone, t first.

    Returns
    -------
    sparse array of shape (1 + k, 1 + m) or None
        Its rows are orthonormal, so that the length of v does not change. None if no entry is
        merged or dropped.

    Examples
    --------
    The length of (x, 0, x) is sqrt 2 times that of x:

    >>> matrix = sp.csr_array([[0.0], [1.0], [0.0], [1.0]])
    >>> merged(matrix, np.array([1.0, 2.0, 0.0, 2.0]), np.arange(4)).toarray().round(3)
    array([[1.   , 0.   , 0.   , 0.   ],
           [0.   , 0.707, 0.   , 0.707]])
    """
    places: dict[tuple[bytes, bytes, float], list[int]] = {}
    starts, stops = matrix.indptr[rows].tolist(), matrix.indptr[rows + 1].tolist()
    for i, side in enumerate(rhs[rows].tolist()):
        part = slice(starts[i], stops[i])
        if i and (part.start != part.stop or side != 0.0):
            key = matrix.indices[part].tobytes(), matrix.data[part].tobytes(), side
            places.setdefault(key, []).append(i)
    if len(places) == rows.size - 1:
        return None
    sizes = [1, *map(len, places.values())]
    column = np.concatenate([[0], *places.values()])
    values = 1.0 / np.sqrt(np.repeat(sizes, sizes))
    entries = (values, column, np.cumsum([0, *sizes]))
    return sp.csr_array(entries, shape=(len(sizes), rows.size))


def merging_weights(root: sp.csr_array, shift: Array) -> sp.csr_array:
    """Weights that merge equal squared expressions into one, and drop those that are zero."""
    # `merged` expects a second-order cone, whose bound comes first.
    below = sp.csr_array(sp.vstack([sp.csr_array((1, root.shape[1])), root], format="csr"))
    merge = merged(below, np.append(0.0, -shift), np.arange(below.shape[0]))
    if merge is None:
        return sp.eye_array(root.shape[0], format="csr")
    return sp.csr_array(merge[1:, 1:])


def disc(multiplier: Array) -> Array:
    """The multiplier of a cone of size 3, from the multiplier of its matrix of order 2.

    Examples
    --------
    >>> disc(np.array([[2.0, 0.5], [0.5, 1.0]]))
    array([3., 1., 1.])
    """
    return np.asarray(DISC.T @ svec(multiplier))


# Maps (t, v) of a cone of size 3 to its matrix of order 2, in the order of ``svec``.
DISC = sp.csr_array([[1.0, 1.0, 0.0], [0.0, 0.0, SQRT2], [1.0, -1.0, 0.0]])


@lru_cache(maxsize=32)
def arrow(size: int, *, headless: bool = False) -> sp.csr_array:
    """Maps (t, v) to the arrow of a cone, in the order of ``svec``; headless without its corner t.

    Examples
    --------
    >>> from sdpdr.linalg import smat
    >>> smat(arrow(4) @ [5.0, 1.0, 2.0, 3.0]).round(12)
    array([[5., 1., 2., 3.],
           [1., 5., 0., 0.],
           [2., 0., 5., 0.],
           [3., 0., 0., 5.]])
    """
    k = np.arange(1, size)
    place = np.concatenate([svec_index(k, k), svec_index(0, k), [] if headless else [0]])
    values = np.concatenate([np.ones(k.size), np.full(k.size, SQRT2), [] if headless else [1.0]])
    column = np.concatenate([0 * k, k, [] if headless else [0]])
    shape = (svec_size(size), size)
    return sp.csr_array((values, (place.astype(np.intp), column.astype(np.intp))), shape=shape)


@dataclass(frozen=True, eq=False)
class Arrows:
    """A cone as arrows, one or several with a scalar each.

    Attributes
    ----------
    label : str
    size : int
        Number of values of the cone: t and v.
    rename : callable
        Gives each name made of the label; an arrow alone has the label itself.
    """

    label: str
    size: int
    rename: Callable[[str], str] = str

    @cached_property
    def parts(self) -> list[Index]:
        """Positions in (t, v) of the parts of v."""
        return [1 + part for part in parts_of(self.size - 1)]

    @cached_property
    def scalars(self) -> str:
        """Name of the scalars u."""
        return self.rename(f"{self.label}.parts")

    @cached_property
    def names(self) -> list[str]:
        """Labels of the matrix inequalities."""
        several = [f"{self.label}.{i + 1}" for i in range(len(self.parts))]
        return [self.label] if len(several) == 1 else [self.rename(name) for name in several]

    def dual(self, duals: Mapping[str, Array]) -> Array:
        """The multiplier of the cone.

        Examples
        --------
        >>> multiplier = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 2.0]])
        >>> Arrows("c", 3).dual({"c": multiplier})
        array([4., 1., 0.])
        """
        z = np.zeros(self.size)
        for name, place in zip(self.names, self.parts, strict=True):
            part = duals[name]
            z[0] += np.trace(part[1:, 1:])
            z[place] = 2.0 * part[0, 1:]
        # With a single arrow its corner is t; with several, t is in the row of the sum.
        z[0] += duals[self.label][0, 0] if len(self.parts) == 1 else duals[self.label][0]
        return z
