r"""The derivative of the rows with respect to a factor, as one vector for each row and point.

Row e changes by :math:`\sum_i g_{ei}^T dR_i` with :math:`g_{ei} = 2 (A_e R)_i`. Rows on entries
give a sparse matrix. Rows that are forms in long vectors touch every point, so they are applied.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.linalg.svec import Array
from sdpdr.solvers.factored.forms import Forms


class Jacobian:
    """Pairs (row, point) of the sparse part of some forms, the objective left out.

    Parameters
    ----------
    forms : Forms

    Attributes
    ----------
    row, point : arrays of int, shape (q,)
        Row and point of each pair, sorted.

    Examples
    --------
    >>> from sdpdr.linalg import Entries, Stacked, Trace
    >>> from sdpdr.solvers.factored.parts import part_of
    >>> jacobian = Jacobian(Forms(part_of(Stacked([Trace(2), Entries(2, [[0, 1]])]))))
    >>> jacobian.matrix(np.array([[3.0], [4.0]])).toarray()
    array([[4., 3.]])
    """

    def __init__(self, forms: Forms) -> None:
        rows = forms.matrix[1:].tocoo()
        i, j = forms.i[rows.col], forms.j[rows.col]
        row = np.concatenate([rows.row, rows.row]).astype(np.int64)
        point, other = np.concatenate([i, j]), np.concatenate([j, i])
        keys, pair = np.unique(row * forms.n + point, return_inverse=True)
        self.row, self.point = keys // forms.n, keys % forms.n
        self.m, self.n, self.forms = forms.m - 1, forms.n, forms
        values = np.concatenate([rows.data, rows.data])
        self._mix = sp.csr_array((values, (pair, other)), shape=(keys.size, forms.n))
        self._starts = np.searchsorted(self.row, np.arange(self.m + 1))
        self.has_forms = bool(forms.weights[1:].nnz)

    def vectors(self, factor: Array) -> Array:
        """The vectors g of all pairs; shape (q, r)."""
        return np.asarray(self._mix @ factor)

    def matrix(self, factor: Array, kept: NDArray[np.bool_] | None = None) -> sp.csr_array:
        """Derivative of the rows on entries, as a sparse (m, n r) matrix.

        Parameters
        ----------
        factor : array of shape (n, r)
        kept : array of bool, shape (m,), optional
            Rows to keep; the others are filled with zeros.
        """
        r = factor.shape[1]
        values = self.vectors(factor)
        if kept is not None and not kept.all():
            values = values * kept[self.row][:, None]
        columns = (self.point[:, None] * r + np.arange(r)).ravel()
        shape = (self.m, self.n * r)
        return sp.csr_array((values.ravel(), columns, self._starts * r), shape=shape)
