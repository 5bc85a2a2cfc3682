r"""The dual of a program with equations alone, with all multipliers in one vector y.

.. math::  S_k = C_k + A_k^*(y) \succeq 0, \qquad s = c + B^T y, \qquad d(y) = c_0 - b^T y

Multipliers are known to the radius of a box around y; what is said holds for all of the box.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, largest
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.rounding import UP, residual
from sdpdr.certify.slack import Scalars
from sdpdr.linalg import Combined, LinearMap, QuadraticForms, VectorMap
from sdpdr.linalg.magnitudes import OPERATIONS, adjoint_magnitude, adjoint_terms
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import exact_sum, gamma, two_product
from sdpdr.linalg.svec import svec_pairs
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.face import null_vectors, visible_rows
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import of_equations, of_program, with_equations

# Multipliers this much smaller than the largest are noise, whose products only underflow.
_NOISE = 1e-100
# The least size, beside the largest multiplier, by which one may move onto the equations.
_LEAST = 1e-9


class DualForm:
    """A program's dual, remembered with the program: ``sdp.remembered(DualForm)``.

    Parameters
    ----------
    sdp : SDP
        A program of any kind; inequalities become equations with slack.

    Attributes
    ----------
    sdp : SDP
        With equations alone.
    rows : list of Rows
        All but those that merely state a face.
    b, c : arrays
        Right sides, and costs of scalars.
    free, nonnegative : arrays of bool
        Which scalars are so; all others have a quadratic cost.
    """

    def __init__(self, sdp: SDP) -> None:
        self.given, self.sdp = sdp, with_equations(sdp)
        self.rows = visible_rows(self.sdp)
        found = Scalars.of(self.sdp, self.rows)
        self.b, self.c, self.places = found.b, found.cost, found.places
        self.curvature, self.nonnegative = found.curvature, found.signed
        self.columns = sp.csr_array(found.B.T)
        self._ends = np.cumsum([r.m for r in self.rows])[:-1]
        self.free = ~self.nonnegative & (self.curvature == 0.0)

    @cached_property
    def has_objective(self) -> bool:
        """Whether any cost is stored that is not zero."""
        costs = (self.sdp.cost(v.name) for v in self.sdp.psd_variables)
        return bool(np.any(self.c) or np.any(self.curvature) or any(map(has_entries, costs)))

    # -- multipliers as one vector ----------------------------------------------------------------

    def stack(self, duals: Mapping[str, Array]) -> Array:
        """Multipliers of the given program as one vector."""
        found = of_equations(self.given, duals)
        y = np.concatenate([np.zeros(0), *(np.ravel(found[r.label]) for r in self.rows)])
        return np.where(np.abs(y) < _NOISE, 0.0, y)

    def named(self, y: Array) -> dict[str, Array]:
        """Multipliers of the equations by label."""
        parts = np.split(y, self._ends) if self.rows else []
        return {r.label: part for r, part in zip(self.rows, parts, strict=True)}

    def duals(self, y: Array) -> dict[str, Array]:
        """Multipliers of the given program by label, but of rows that state a face."""
        return of_program(self.given, self.named(y))

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Limits on multipliers by scalars that a single row has: c + a y >= 0."""
        lower, upper = np.full(self.b.size, -np.inf), np.full(self.b.size, np.inf)
        alone = np.flatnonzero(self.nonnegative & (np.diff(self.columns.indptr) == 1))
        entry = self.columns.indptr[alone]
        row, a = self.columns.indices[entry], self.columns.data[entry]
        limit = -self.c[alone] / a
        # The quotient is rounded; one step inwards the sign is right.
        inwards = np.where(a > 0.0, np.inf, -np.inf)
        limit = np.where(limit == 0.0, 0.0, np.nextafter(limit, inwards))
        np.maximum.at(lower, row[a > 0.0], limit[a > 0.0])
        np.minimum.at(upper, row[a < 0.0], limit[a < 0.0])
        return lower, np.maximum(lower, upper)

    # -- slack and value, with all rounding -------------------------------------------------------

    def scalar_slack(self, y: Array, radius: Array | float = 0.0) -> tuple[Array, Array]:
        """Numbers below and above s, as sharp as it takes to know the sign."""
        value, around = residual(self.c, -self.columns, y, radius)
        low, high = value - UP * around, value + UP * around
        if np.any(radius):
            return low, high
        unclear = np.flatnonzero((low < 0.0) & (high > 0.0))
        part = self.columns[unclear]
        product, error = two_product(part.data, y[part.indices])
        for j, (start, end) in zip(unclear, pairwise(part.indptr.tolist()), strict=True):
            terms = [*product[start:end].tolist(), *error[start:end].tolist(), self.c[j]]
            low[j], high[j] = exact_sum(np.array(terms))
        return low, high

    def matrix_slack(
        self, name: str, y: Array, radius: Array | float = 0.0
    ) -> tuple[Matrix, Matrix]:
        """S of a matrix as computed, and how far every entry may be from the exact one."""
        slack = cost = self.sdp.cost(name)
        size, terms = self._sizes_of_costs[name]
        maps = list(self.sdp.column(name, self.named(y)))
        for linear_map, multipliers in maps:
            slack = slack + linear_map.adjoint(multipliers)
            size = size + adjoint_magnitude(linear_map, multipliers)
            terms += 1 + adjoint_terms(linear_map)
        if isinstance(cost, Outer) and not isinstance(slack, Outer):
            columns = np.abs(cost.columns)
            size = size + (columns * np.abs(cost.weights)) @ columns.T
            terms += columns.shape[1] + 2
        # The sizes themselves are rounded, hence one per cent.
        around = (1.01 * float(gamma(terms))) * size
        if np.any(radius):
            for linear_map, far in self.sdp.column(name, self.named(radius + 0.0 * y)):
                around = around + 1.01 * adjoint_magnitude(linear_map, far)
        return slack, around

    @cached_property
    def _sizes_of_costs(self) -> dict[str, tuple[Matrix, int]]:
        return {v.name: self._size_of_cost(v.name) for v in self.sdp.psd_variables}

    def _size_of_cost(self, name: str) -> tuple[Matrix, int]:
        """The size of the terms behind a cost, and how many are added up for an entry."""
        linear_map, cost = self.sdp.objective.get(name), self.sdp.cost(name)
        if linear_map is None:
            return cost, OPERATIONS
        if isinstance(cost, Outer) and _stays_exact(linear_map):
            return abs(cost.sparse), OPERATIONS
        return adjoint_magnitude(linear_map, np.ones(1)), OPERATIONS + adjoint_terms(linear_map)

    def value(self, y: Array, radius: Array | float = 0.0) -> float:
        """A number below the exact dual value."""
        curved = np.flatnonzero(self.curvature)
        met = self.b * y
        if not (np.any(met) or np.any(radius) or curved.size):
            return self.sdp.constant
        constant, right = np.array([self.sdp.constant]), sp.csr_array(self.b[None])
        value, around = residual(constant, right, y, radius)
        found = np.nextafter(value[0] - UP * around[0], -np.inf)
        if curved.size:
            low, high = self.scalar_slack(y, radius)
            size = np.maximum(np.abs(low), np.abs(high))[curved]
            # In this order no square underflows, which the quotient may not.
            paid = float(np.sum(0.5 * size * (size / self.curvature[curved])))
            paid *= 1.0 + float(gamma(curved.size + 8))
            found = np.nextafter(found - paid, -np.inf)
        return float(found)

    def bound(self, y: Array, radius: Array | float = 0.0) -> float:
        """A number that the minimum is proved not to be below.

        Parameters
        ----------
        y : array
            Multipliers of all equations but those that merely state a face.
        radius : array or float, default 0
            Within it lie multipliers for which the slack of free scalars is exactly zero.

        Raises
        ------
        UnprovedError
            If slack may be negative, or the number is not finite.
        """
        low, high = self.scalar_slack(y, radius)
        missed = self.free & ((low != 0.0) | (high != 0.0)) & (not np.any(radius))
        if np.any(missed | (self.nonnegative & (low < 0.0))):
            raise UnprovedError("the dual slack of a scalar has the wrong sign")
        for v in self.sdp.psd_variables:
            slack, around = self.matrix_slack(v.name, y, radius)
            # No factorization confirms a slack of zero.
            is_zero = not has_entries(slack) and not has_entries(around)
            if not is_zero and not is_verified_positive(
                slack, around, null_vectors(self.sdp, v.name)
            ):
                raise UnprovedError(f"the dual slack of {v.name!r} is not positive semidefinite")
        value = self.value(y, radius)
        if not np.isfinite(value):
            raise UnprovedError("the dual value is not finite")
        return value

    # -- equations of free scalars ----------------------------------------------------------------

    def onto_equations(self, y: Array) -> tuple[Array, Array | float]:
        """Multipliers nearby, and a radius within which some make the slack of free scalars zero.

        Raises
        ------
        UnprovedError
            If it is not shown that there are any.
        """
        if not self.free.any():
            return y, 0.0
        E, f = self.columns[self.free], -self.c[self.free]
        return Equations(E, f, self._squared_sizes(y)).near(y)

    def _squared_sizes(self, y: Array) -> Array:
        """By how much multipliers may move, squared: those of cones no farther than to the rim."""
        top = largest(y) or 1.0
        lower, upper = self.box
        sizes = self.named(np.minimum(np.minimum(y - lower, upper - y), top))
        for lmi in self.given.lmis:
            i, j = svec_pairs(np.arange(sizes[lmi.label].size))
            d = np.sqrt(np.abs(self.named(y)[lmi.label][i == j]))
            sizes[lmi.label] = d[i] * d[j]
        size = np.concatenate([np.zeros(0), *sizes.values()])
        return np.maximum(size, _LEAST * top) * top


def _stays_exact(linear_map: LinearMap | VectorMap) -> bool:
    """Whether an `Outer` that is a cost stores the very numbers of its map."""
    if isinstance(linear_map, Combined):
        alone = np.unique(linear_map.weights.indices).size == linear_map.weights.nnz
        return alone and isinstance(linear_map.inner, QuadraticForms)
    return isinstance(linear_map, QuadraticForms)


def has_entries(matrix: Matrix) -> bool:
    """Whether any number that a matrix stores is not zero."""
    if isinstance(matrix, Outer):
        return has_entries(matrix.sparse) or bool(np.any(matrix.columns * matrix.weights))
    return bool(np.any(matrix.data if sp.issparse(matrix) else matrix))
