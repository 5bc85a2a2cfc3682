r"""Linear maps taken apart: entries of the matrix, and forms in vectors kept as vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import NotAcceptedError
from sdpdr.linalg import BilinearForms, Combined, LinearMap, Products, Stacked, Summed
from sdpdr.linalg.spectral import gram_spectrum
from sdpdr.linalg.svec import svec_size

# Entries of the matrix that dense rows may read together.
_MOST_ENTRIES = 40_000_000
# A form with more products than this stays a form, because its matrix would fill in, unless both
# its vectors are short: rows for all points about the mean of 12 neighbours are certified in 3 s of
# a processor as entries at 1000 points, and as forms not in 60.
_MOST_PRODUCTS, _SHORT = 144, 32
# Orders at which a dense matrix is searched for low rank, and the share of it that is low.
_SEARCHED, _LOW = (20, 1500), 0.1


@dataclass(frozen=True, eq=False)
class Part:
    r"""The rows :math:`E\,svec(K)_P + T (f_q^T K g_q)_q` of a map.

    Only the entries P that some row reads have a column: matrices with n(n+1)/2 columns, however
    empty, make SciPy reserve memory for each of them.

    Attributes
    ----------
    places : array of int, shape (p,)
        P, positions in ``svec``, ascending.
    entries : sparse array of shape (m, p)
        E.
    weights : sparse array of shape (m, q)
        T.
    left, right : sparse arrays of shape (q, n)
        The vectors f_q and g_q as rows.
    """

    places: Index
    entries: sp.csr_array
    weights: sp.csr_array
    left: sp.csr_array
    right: sp.csr_array

    @classmethod
    def of_matrix(cls, n: int, rows: sp.csr_array) -> Part:
        """Rows given on all of ``svec(K)``."""
        places = np.unique(rows.indices).astype(np.intp)
        none = sp.csr_array((0, n))
        weights = sp.csr_array((rows.shape[0], 0))
        found = np.searchsorted(places, rows.indices)
        return cls(places, _renamed(rows, found, places.size), weights, none, none)

    @classmethod
    def nothing(cls, n: int, m: int) -> Part:
        """Rows of zeros."""
        none = np.zeros(0, dtype=np.intp), sp.csr_array((m, 0)), sp.csr_array((m, 0))
        return cls(*none, sp.csr_array((0, n)), sp.csr_array((0, n)))

    @classmethod
    def stacked(cls, parts: list[Part]) -> Part:
        """Several parts below each other."""
        return _joined(parts, sp.vstack, sp.block_diag)

    def mixed(self, rows: Matrix) -> Part:
        """Rows combined by a matrix."""
        entries, weights = sp.csr_array(rows @ self.entries), sp.csr_array(rows @ self.weights)
        return Part(self.places, entries, weights, self.left, self.right)

    def spread(self, places: Index) -> sp.csr_array:
        """The entries E with columns for more places."""
        column = np.searchsorted(places, self.places)
        return _renamed(self.entries, column[self.entries.indices], places.size)

    def squared_norms(self) -> Array:
        """Squared Frobenius norms of the rows' matrices; those of several forms only estimated."""
        square = self.entries.multiply(self.entries).sum(axis=1)
        f, g = (v.multiply(v).sum(axis=1) for v in (self.left, self.right))
        forms = self.weights.multiply(self.weights) @ (np.asarray(f) * np.asarray(g))
        return np.asarray(square) + np.asarray(forms)


def _renamed(rows: sp.csr_array, columns: Index, count: int) -> sp.csr_array:
    return sp.csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], count))


def part_of(linear_map: LinearMap) -> Part:
    """Take a map apart without squaring its long vectors.

    Parameters
    ----------
    linear_map : LinearMap

    Returns
    -------
    Part

    Raises
    ------
    NotAcceptedError
        If its rows are dense by nature, and the matrix is large.

    Examples
    --------
    >>> from sdpdr.linalg import QuadraticForms
    >>> part = part_of(QuadraticForms(np.ones((2, 40))))
    >>> part.entries.nnz, part.left.shape
    (0, (2, 40))
    """
    if isinstance(linear_map, Combined):
        return part_of(linear_map.inner).mixed(linear_map.weights)
    if isinstance(linear_map, Stacked):
        return Part.stacked([part_of(a) for a in linear_map.maps])
    if isinstance(linear_map, Summed):
        return _joined([part_of(a) for a in linear_map.maps], _total, sp.hstack)
    if isinstance(linear_map, BilinearForms) and (stay := stay_forms(linear_map)).any():
        return _split(linear_map, stay)
    if isinstance(linear_map, Products) and linear_map.n**2 > _MOST_ENTRIES:
        raise NotAcceptedError(
            f"rows K u with a right side other than zero read all {linear_map.n**2} entries of "
            "their matrix, too many to keep"
        )
    rows = linear_map.matrix()
    return _low_rank(linear_map, rows) or Part.of_matrix(linear_map.n, rows)


def stay_forms(forms: BilinearForms) -> NDArray[np.bool_]:
    """Which forms are kept as their vectors, since these are too long to be multiplied out.

    Examples
    --------
    >>> from sdpdr.linalg import QuadraticForms
    >>> stay_forms(QuadraticForms(np.ones((1, 32)))), stay_forms(QuadraticForms(np.ones((1, 33))))
    (array([False]), array([ True]))
    """
    left, right = (np.diff(v.indptr).astype(np.intp) for v in (forms.left, forms.right))
    return np.asarray((left * right > _MOST_PRODUCTS) & (np.maximum(left, right) > _SHORT))


def _split(forms: BilinearForms, stay: NDArray[np.bool_]) -> Part:
    """Forms in long vectors beside rows of entries, in the order that they came in."""
    long = _forms(forms.left[stay], forms.right[stay])
    if stay.all():
        return long
    short = BilinearForms(forms.left[~stay], forms.right[~stay])
    parts = [Part.of_matrix(forms.n, short.matrix()), long]
    order = np.argsort(np.argsort(stay, kind="stable"))
    return Part.stacked(parts).mixed(sp.eye_array(forms.m, format="csr")[order])


def _forms(left: sp.csr_array, right: sp.csr_array) -> Part:
    m = int(left.shape[0])
    none, weights = np.zeros(0, dtype=np.intp), sp.eye_array(m, format="csr")
    return Part(none, sp.csr_array((m, 0)), weights, left, right)


def _low_rank(linear_map: LinearMap, rows: sp.csr_array) -> Part | None:
    """A single dense row as forms in eigenvectors, where few of them matter; else None."""
    n = linear_map.n
    if linear_map.m != 1 or not _SEARCHED[0] < n <= _SEARCHED[1]:
        return None
    if rows.nnz < 0.3 * svec_size(n):
        return None
    matrix = linear_map.adjoint(np.ones(1))
    values, vectors = gram_spectrum(matrix.toarray() if sp.issparse(matrix) else matrix)
    kept = np.abs(values) > 1e-13 * np.abs(values).max(initial=0.0)
    if np.sum(kept) > _LOW * n:
        return None
    columns = sp.csr_array(vectors[:, kept].T)
    return _forms(columns, columns).mixed(sp.csr_array(values[kept][None, :]))


def _joined(parts: list[Part], entries: Callable[..., Any], weights: Callable[..., Any]) -> Part:
    places = np.unique(np.concatenate([p.places for p in parts]))
    return Part(
        places,
        sp.csr_array(entries([p.spread(places) for p in parts], format="csr")),
        sp.csr_array(weights([p.weights for p in parts], format="csr")),
        sp.vstack([p.left for p in parts], format="csr"),
        sp.vstack([p.right for p in parts], format="csr"),
    )


def _total(matrices: list[Any], format: str) -> Any:
    return sum(matrices[1:], start=matrices[0]).asformat(format)
