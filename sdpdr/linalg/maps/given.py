"""Maps given by their matrices: on symmetric matrices, and on vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix, as_real, as_whole, own_rows, scaled
from sdpdr.base.errors import ShapeError
from sdpdr.linalg.letters import Letters, Words, subscripted, times
from sdpdr.linalg.maps.linear import LinearMap
from sdpdr.linalg.svec import SQRT2, selected, svec, svec_index, svec_pairs, svec_size, unscaled


class SvecMap(LinearMap):
    """A map given by its matrix on ``svec(K)``.

    Parameters
    ----------
    n : int
        Order of the symmetric matrices.
    matrix : sparse array of shape (m, n(n+1)/2)
        One row per value.
    """

    def __init__(self, n: int, matrix: Any) -> None:
        n = as_whole("the order of a matrix", n)
        self._matrix = own_rows(matrix)
        self._natural: sp.csr_array | None = None
        self._derived: sp.csr_array | None = None
        if self._matrix.shape[1] != svec_size(n):
            raise ShapeError(
                f"a map on symmetric matrices of order {n} needs {svec_size(n)} columns; "
                f"the matrix has {self._matrix.shape[1]}."
            )
        self.n, self.m = n, int(self._matrix.shape[0])

    @classmethod
    def from_entries(cls, n: int, m: int, row: Index, i: Index, j: Index, value: Array) -> SvecMap:
        """Rows from symmetric matrices: ``value`` is entry (i, j) and (j, i) of matrix ``row``."""
        entries = (as_real(value), (row, svec_index(i, j)))
        return cls.from_natural(n, sp.csr_array(entries, shape=(m, svec_size(n))))

    @classmethod
    def from_natural(cls, n: int, entries: Any) -> SvecMap:
        """Rows from entries of symmetric matrices, in the order of ``svec`` but not scaled."""
        made = cls(n, entries)
        made._natural = made._matrix
        i, j = svec_pairs(made._matrix.indices)
        made._matrix = made._matrix.copy()
        made._matrix.data[i != j] *= SQRT2
        return made

    def at(self, n: int, places: Index) -> SvecMap:
        """The map on matrices of order n that reads the entries at the given positions of ``svec``.

        Diagonal entries must stay on the diagonal, and others off it.
        """
        made = SvecMap(n, self._matrix[:, places])
        if self._natural is not None:
            made._natural = self._natural[:, places]
        return made

    def take(self, rows: Index) -> SvecMap:
        """Some of the rows, with their natural entries if these are known."""
        made = SvecMap(self.n, self._matrix[rows])
        if self._natural is not None:
            made._natural = self._natural[rows]
        return made

    def natural(self) -> sp.csr_array:
        r"""Entries A_ij of the rows' matrices, at their positions in ``svec`` but not scaled.

        Rows that were made from entries, such as those of a file, keep them. If only scaled entries
        are known, an entry off the diagonal is the double a with fewest digits whose product with
        :math:`\sqrt 2` rounds to the stored number, as in files of programs; it is nan if there is
        none.
        """
        if self._natural is not None:
            return self._natural
        if self._derived is None:
            natural = self._matrix.copy()
            i, j = svec_pairs(natural.indices)
            off = i != j
            natural.data[off] = unscaled(natural.data[off])
            self._derived = natural
        return self._derived

    @property
    def keeps_entries(self) -> bool:
        """Whether the map was made from `natural` entries, and not from scaled ones."""
        return self._natural is not None

    def congruence(self, basis: Matrix) -> LinearMap:
        """Map in the new basis; exact if the basis selects points or scales by powers of two."""
        units = _powers_of_two(basis)
        if units is not None:
            return self._in_units(units)
        kept = _kept(basis)
        if kept is not None:
            column, row = np.tril_indices(kept.size)
            return self.at(kept.size, svec_index(kept[row], kept[column]))
        none = sp.csr_array((0, svec_size(basis.shape[1])))
        changed = [
            sp.csr_array(svec(basis.T @ (_row_matrix(self._matrix, e, self.n) @ basis))[None, :])
            for e in range(self.m)
        ]
        return SvecMap(basis.shape[1], sp.vstack([none, *changed], format="csr"))

    def _in_units(self, units: Array) -> SvecMap:
        """The map with the entries (i, j) multiplied by the units of i and j."""
        made = SvecMap(self.n, _in_units(self._matrix, units))
        if self._natural is not None:
            made._natural = _in_units(self._natural, units)
        else:
            made._derived = _in_units(self.natural(), units)
        return made

    def matrix(self) -> sp.csr_array:
        """Sparse (m, n(n+1)/2) matrix that acts on ``svec(K)``."""
        return self._matrix


def _powers_of_two(basis: Matrix) -> Array | None:
    """The diagonal of a sparse diagonal matrix of powers of two; None for any other."""
    if not sp.issparse(basis) or basis.shape[0] != basis.shape[1]:
        return None
    units = np.asarray(basis.diagonal(), dtype=float)
    if basis.count_nonzero() != np.count_nonzero(units):
        return None
    return units if np.all(np.frexp(units)[0] == 0.5) else None


def _kept(basis: Matrix) -> Index | None:
    """The point that each column of a basis selects; None for any other basis."""
    places = selected(basis)
    if places is None:
        return None
    kept = np.flatnonzero(places >= 0)
    kept = kept[np.argsort(places[kept])]
    return kept if np.array_equal(places[kept], np.arange(basis.shape[1])) else None


def _in_units(rows: sp.csr_array, units: Array) -> sp.csr_array:
    """Rows on ``svec`` with the entries (i, j) multiplied by the units of i and j."""
    changed = rows.copy()
    i, j = svec_pairs(changed.indices)
    changed.data = changed.data * (units[i] * units[j])
    return changed


class VectorMap:
    """A linear map on vectors, z -> B z, with the methods of `LinearMap` that apply to it.

    Parameters
    ----------
    matrix : array or sparse array of shape (m, q)
    """

    def __init__(self, matrix: Any) -> None:
        self._matrix = own_rows(matrix)
        self.m, self.n = (int(k) for k in self._matrix.shape)

    def matrix(self) -> sp.csr_array:
        """Sparse matrix B of shape (m, q)."""
        return self._matrix

    def apply(self, vector: Array) -> Array:
        """Values B z, shape (m,)."""
        return np.asarray(self._matrix @ vector)

    def adjoint(self, multipliers: Array) -> Array:
        """Vector B^T y, shape (q,)."""
        return np.asarray(self._matrix.T @ multipliers)

    def take(self, rows: Index) -> VectorMap:
        """Some of the rows, in the order given."""
        return VectorMap(self._matrix[rows])

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics, (plain text, LaTeX)."""
        if np.all(np.diff(self._matrix.indptr) == 1):
            places = () if self.n == 1 else (letters.places(self._matrix.indices),)
            return times(letters.numbers(self._matrix.data), subscripted(variable, *places))
        if self._matrix.nnz == 0:
            return "0", "0"
        if self.m == 1 and np.all(self._matrix.toarray() == 1.0):
            return f"1ᵀ {variable}", rf"\mathbf{{1}}^\top {variable}"
        if self.m == 1:
            row = letters.data(self._matrix.toarray().ravel())
            return f"{row}ᵀ {variable}", rf"{row}^\top {variable}"
        row = letters.matrix_of_rows(self._matrix)
        return f"({row} {variable})_e", f"({row} {variable})_e"

    def __getitem__(self, rows: Any) -> VectorMap:
        """The rows chosen, by anything that indexes a NumPy vector."""
        return self.take(np.atleast_1d(np.arange(self.m)[rows]))

    def __neg__(self) -> VectorMap:
        return VectorMap(-self._matrix)

    def __rmul__(self, scale: float | Array) -> VectorMap:
        scales = np.broadcast_to(as_real(scale), (self.m,))
        return VectorMap(scaled(self._matrix, scales))

    def __rmatmul__(self, weights: Any) -> VectorMap:
        return VectorMap(own_rows(weights) @ self._matrix)

    __array_ufunc__ = None


def _row_matrix(rows: sp.csr_array, e: int, n: int) -> sp.csr_array:
    """Symmetric matrix of row ``e``."""
    unit = np.zeros(rows.shape[0])
    unit[e] = 1.0
    return sp.csr_array(SvecMap(n, rows).adjoint(unit))
