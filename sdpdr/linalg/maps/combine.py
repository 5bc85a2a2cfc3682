"""Maps made of other maps: stacked, summed, or with their rows combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, Matrix, is_diagonal, own_rows, scaled
from sdpdr.base.errors import ShapeError
from sdpdr.linalg.letters import Letters, Words, closed, summed, times
from sdpdr.linalg.maps.linear import LinearMap

# A map keeps its matrix once formed if it has at most so many entries.
_KEPT_ENTRIES = 20_000


def _formed_once(form: Callable[[Any], sp.csr_array]) -> Callable[[Any], sp.csr_array]:
    """Keep the matrix of a map if it is small: maps never change, and callers ask many times."""

    @wraps(form)
    def matrix(self: Any) -> sp.csr_array:
        if "_formed" in self.__dict__:
            return self._formed
        found = form(self)
        if found.nnz <= _KEPT_ENTRIES:
            self._formed = found
        return found

    return matrix


def combined_rows(weights: sp.csr_array, rows: sp.csr_array) -> sp.csr_array:
    """The product of two sparse matrices, the second of which has more columns than entries."""
    if is_diagonal(weights):
        return scaled(rows, weights.data)
    present, place = np.unique(rows.indices, return_inverse=True)
    if present.size == 0:
        return sp.csr_array((weights.shape[0], rows.shape[1]))
    narrow = sp.csr_array((rows.data, place, rows.indptr), (rows.shape[0], present.size))
    product = sp.csr_array(weights @ narrow)
    # Sorted, because later sums and comparisons would otherwise need as much memory again.
    product.sum_duplicates()
    shape = (weights.shape[0], rows.shape[1])
    return sp.csr_array((product.data, present[product.indices], product.indptr), shape)


class Stacked(LinearMap):
    """Several maps below each other.

    Parameters
    ----------
    maps : sequence of LinearMap
        All on matrices of one order.
    """

    def __init__(self, maps: Sequence[LinearMap]) -> None:
        self.maps = tuple(maps)
        self.n = _common("order", [a.n for a in self.maps])
        self.m = sum(a.m for a in self.maps)

    def _split(self, values: Array) -> list[Array]:
        """The part of some multipliers or values that belongs to each map."""
        return np.split(values, np.cumsum([a.m for a in self.maps])[:-1])

    @property
    def n_entries(self) -> int:
        """Sum over all maps."""
        return sum(a.n_entries for a in self.maps)

    @_formed_once
    def matrix(self) -> sp.csr_array:
        """The matrices below each other."""
        return sp.vstack([a.matrix() for a in self.maps], format="csr")

    def apply(self, gram: Matrix) -> Array:
        """All values in turn."""
        return np.concatenate([a.apply(gram) for a in self.maps])

    def apply_factor(self, factor: Array) -> Array:
        """All values in turn."""
        return np.concatenate([a.apply_factor(factor) for a in self.maps])

    def adjoint(self, multipliers: Array) -> Matrix:
        """The sum of the adjoints."""
        parts = self._split(self._check_multipliers(multipliers))
        return _sum([a.adjoint(y) for a, y in zip(self.maps, parts, strict=True)])

    def congruence(self, basis: Matrix) -> LinearMap:
        """Each map in the new basis."""
        return Stacked([a.congruence(basis) for a in self.maps])

    def take(self, rows: Index) -> LinearMap:
        """Rows in ascending order come from each map in turn; others from the whole."""
        starts = np.cumsum([0, *(a.m for a in self.maps)])
        parts = np.split(rows, np.searchsorted(rows, starts[1:-1]))
        if rows.size == 0 or np.any(np.diff(rows) < 0):
            return super().take(rows)
        taken = zip(self.maps, parts, starts[:-1], strict=True)
        return Stacked([a.take(part - start) for a, part, start in taken if part.size])

    def null_vectors(self, rhs: Array) -> sp.csr_array:
        """Null vectors of all maps."""
        parts = zip(self.maps, self._split(np.asarray(rhs, dtype=float)), strict=True)
        return sp.hstack([a.null_vectors(b) for a, b in parts], format="csr")


class Summed(LinearMap):
    """The sum of maps with equally many rows.

    Parameters
    ----------
    maps : sequence of LinearMap
    """

    def __init__(self, maps: Sequence[LinearMap]) -> None:
        self.maps = tuple(maps)
        self.n = _common("order", [a.n for a in self.maps])
        self.m = _common("number of rows", [a.m for a in self.maps])

    @property
    def n_entries(self) -> int:
        """Sum over all maps."""
        return sum(a.n_entries for a in self.maps)

    @_formed_once
    def matrix(self) -> sp.csr_array:
        """The sum of the matrices."""
        identity = sp.eye_array(self.m, format="csr")
        side_by_side = sp.hstack([identity] * len(self.maps), format="csr")
        return combined_rows(side_by_side, sp.vstack([a.matrix() for a in self.maps], format="csr"))

    def apply(self, gram: Matrix) -> Array:
        """The sum of the values."""
        return np.asarray(_sum([a.apply(gram) for a in self.maps]))

    def apply_factor(self, factor: Array) -> Array:
        """The sum of the values."""
        return np.asarray(_sum([a.apply_factor(factor) for a in self.maps]))

    def adjoint(self, multipliers: Array) -> Matrix:
        """The sum of the adjoints."""
        return _sum([a.adjoint(multipliers) for a in self.maps])

    def congruence(self, basis: Matrix) -> LinearMap:
        """Each map in the new basis."""
        return Summed([a.congruence(basis) for a in self.maps])

    def take(self, rows: Index) -> LinearMap:
        """These rows of each map."""
        return Summed([a.take(rows) for a in self.maps])

    def formula(self, variable: str, letters: Letters) -> Words:
        """The rows in mathematics."""
        return summed([a.formula(variable, letters) for a in self.maps])


class Combined(LinearMap):
    """Combinations of rows, K -> T A(K), such as scalings, differences and selections.

    Parameters
    ----------
    weights : array or sparse array of shape (p, m)
        T.
    inner : LinearMap
        A, with m rows.
    """

    def __init__(self, weights: Any, inner: LinearMap) -> None:
        self.weights, self.inner = own_rows(weights), inner
        if isinstance(inner, Combined):
            self.weights, self.inner = self.weights @ inner.weights, inner.inner
            inner = self.inner
        if self.weights.shape[1] != inner.m:
            raise ShapeError(
                f"weights must have one column per row of the map ({inner.m}); "
                f"they have shape {self.weights.shape}."
            )
        self.n, self.m = inner.n, int(self.weights.shape[0])

    @property
    def n_entries(self) -> int:
        """Entries of A, each as often as its row is used."""
        used = int(np.max(np.bincount(self.weights.indices), initial=0))
        return used * self.inner.n_entries

    @_formed_once
    def matrix(self) -> sp.csr_array:
        """The product of T with the inner matrix."""
        return combined_rows(self.weights, self.inner.matrix())

    def apply(self, gram: Matrix) -> Array:
        """T A(K)."""
        return np.asarray(self.weights @ self.inner.apply(gram))

    def apply_factor(self, factor: Array) -> Array:
        """T A(R R^T)."""
        return np.asarray(self.weights @ self.inner.apply_factor(factor))

    def adjoint(self, multipliers: Array) -> Matrix:
        """A*(T^T y)."""
        return self.inner.adjoint(np.asarray(self.weights.T @ self._check_multipliers(multipliers)))

    def congruence(self, basis: Matrix) -> LinearMap:
        """The same combination of the inner map in the new basis."""
        return Combined(self.weights, self.inner.congruence(basis))

    def take(self, rows: Index) -> LinearMap:
        """Some of the combinations, with only the inner rows that they use."""
        weights = self.weights[rows]
        used = np.unique(weights.indices)
        return Combined(weights[:, used], self.inner.take(used))

    def pattern(self) -> Index:
        """Entries that the combined rows read."""
        used = np.unique(self.weights.indices)
        if used.size == self.inner.m:
            return self.inner.pattern()
        return super().pattern()

    def null_vectors(self, rhs: Array) -> sp.csr_array:
        """Null vectors of the inner map, if the right side determines all of its rows."""
        if self.determining is None:
            return sp.csr_array((self.n, 0))
        return self.inner.null_vectors(
            rhs[self.determining] / self.weights.data[self._first(self.determining)]
        )

    @cached_property
    def determining(self) -> Index | None:
        """For each row of A a row of T that is a multiple of it; None if some row of A has none.

        All rows of A vanish where all rows of T A do, then.
        """
        alone = np.flatnonzero(np.diff(self.weights.indptr) == 1)
        alone = alone[self.weights.data[self._first(alone)] != 0.0]
        inner, first = np.unique(self.weights.indices[self._first(alone)], return_index=True)
        return alone[first] if inner.size == self.inner.m else None

    def _first(self, rows: Index) -> Index:
        """Positions at which the entries of rows of T begin."""
        return np.asarray(self.weights.indptr[rows], dtype=np.intp)

    def outer_multipliers(self, inner: Array) -> Array:
        """Multipliers y with T^T y as given, which are zero outside the rows `determining`."""
        assert self.determining is not None
        y = np.zeros(self.m)
        y[self.determining] = inner / self.weights.data[self._first(self.determining)]
        return y

    def formula(self, variable: str, letters: Letters) -> Words:
        """Typical row in mathematics; a scaling is written c_e, and a single sum Σ_e."""
        if not self.weights.nnz:
            return "0", "0"
        if np.all(np.diff(self.weights.indptr) == 1):
            inner = self.inner.formula(variable, letters.at(self.weights.indices))
            return times(letters.numbers(self.weights.data), inner)
        if self.m == 1:
            weights = letters.inside().numbers(self.weights.data)
            summands = letters.inside().at(self.weights.indices)
            inner = self.inner.formula(variable, summands)
            alike = np.ptp(self.weights.data) == 0.0
            plain, latex = (closed(w) for w in (inner if alike else times(weights, inner)))
            total = f"Σ_e {plain}", rf"\sum_e {latex}"
            return times(weights, total) if alike else total
        matrix = letters.matrix_of_rows(self.weights)
        plain, latex = self.inner.formula(variable, letters.inside())
        return f"({matrix} ({plain}))_e", f"({matrix} ({latex}))_e"


def by_rows(
    linear_map: LinearMap,
    leaf: Callable[[LinearMap], NDArray[Any]],
    added: Callable[[list[NDArray[Any]]], NDArray[Any]] = lambda parts: np.asarray(sum(parts)),
    combined: Callable[[sp.csr_array, NDArray[Any]], NDArray[Any]] = lambda w, x: abs(w) @ x,
) -> NDArray[Any]:
    """A number for each row of a map, computed from the maps it is made of."""
    if isinstance(linear_map, (Stacked, Summed)):
        parts = [by_rows(part, leaf, added, combined) for part in linear_map.maps]
        return np.concatenate(parts) if isinstance(linear_map, Stacked) else added(parts)
    if isinstance(linear_map, Combined):
        inner = by_rows(linear_map.inner, leaf, added, combined)
        return np.asarray(combined(linear_map.weights, inner))
    return leaf(linear_map)


def some_of_rows(
    linear_map: LinearMap, leaf: Callable[[LinearMap], NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Whether each row has a property, or is a sum or combination that contains such a row."""
    return by_rows(linear_map, leaf, np.logical_or.reduce, lambda w, x: abs(w) @ x > 0.0)


def _common(what: str, sizes: list[int]) -> int:
    """The size that all maps share; an error if they differ."""
    if len(set(sizes)) != 1:
        raise ShapeError(f"maps joined together must share their {what}; they have {sizes}.")
    return sizes[0]


def _sum(parts: Sequence[Any]) -> Any:
    """The sum of at least one term, which need not be numbers."""
    return sum(parts[1:], start=parts[0])
