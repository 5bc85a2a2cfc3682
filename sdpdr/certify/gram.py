r"""Products of sparse matrices by an inner product of symmetric matrices.

With :math:`M_{kl} = \langle A_k, S A_l S\rangle` and A_k of few rows that are not zero, no
congruence is needed: :math:`M_{kl} = \sum_{p, r} (A_k S)_{pr} (A_l S)_{rp}` over rows p of A_k and
r of A_l (Fujisawa, Kojima, Nakata, "Exploiting sparsity in primal-dual interior-point methods for
semidefinite programming", Math. Program. 79, 1997).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import svec_pairs

# Rows of all matrices together up to which their products are formed: 200 MB.
_MOST = 5000


# Multiplications of dense matrices that take the time of one product here, which moves numbers.
_MOVES = 5.0


class SparseMatrices:
    """Symmetric matrices, of which few rows hold numbers.

    Parameters
    ----------
    rows : sparse array of shape (m n, n)
        The matrices below each other.
    order : int
    """

    def __init__(self, rows: sp.csr_array, order: int) -> None:
        filled = np.flatnonzero(np.diff(rows.indptr))
        self._rows, self.count = sp.csr_array(rows[filled]), rows.shape[0] // order
        self._place = filled % order
        self._starts = np.searchsorted(filled, order * np.arange(self.count))
        self._is_empty = np.diff(np.append(self._starts, filled.size)) == 0

    @classmethod
    def of_triangles(cls, triangles: sp.csr_array, order: int) -> SparseMatrices | None:
        """Those of triangles, one in each column; None where dense products take less time."""
        entries = triangles.tocoo()
        place, column = entries.coords
        i, j = svec_pairs(place)
        off = i != j
        row = np.concatenate([column * order + i, (column * order + j)[off]])
        other = np.concatenate([j, i[off]])
        data = np.concatenate([entries.data, entries.data[off]])
        shape = (triangles.shape[1] * order, order)
        rows = sp.csr_array((data, (row, other)), shape=shape)
        count, filled = triangles.shape[1], np.count_nonzero(np.diff(rows.indptr))
        dense = 2.0 * count * order**3 + 0.5 * float(count * order) ** 2
        if filled > _MOST or _MOVES * float(filled) ** 2 > dense:
            return None
        return cls(rows, order)

    def gram(self, S: Array) -> Array:
        """M for a symmetric matrix S.

        Examples
        --------
        >>> one = SparseMatrices(sp.csr_array([[1.0, 2.0], [2.0, 3.0]]), 2)
        >>> one.gram(np.eye(2)).tolist()
        [[18.0]]
        """
        products = np.asarray(self._rows @ S)[:, self._place]
        products *= products.T.copy()
        if not products.size:
            return np.zeros((self.count, self.count))
        starts = np.minimum(self._starts, len(products) - 1)
        M = np.add.reduceat(np.add.reduceat(products, starts, axis=0), starts, axis=1)
        # Where there is nothing to add, a single number is left.
        M[self._is_empty] = 0.0
        M[:, self._is_empty] = 0.0
        return M
