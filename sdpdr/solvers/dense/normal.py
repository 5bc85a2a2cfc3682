r"""The linear system of a step: a positive definite matrix, and equations.

With :math:`s = M v + t` and the scaling R of every cone, a step of v solves

.. math::

    \begin{pmatrix} Q + M^T W M & E^T \\ E & 0 \end{pmatrix}
    \begin{pmatrix} dv \\ dy \end{pmatrix} = \begin{pmatrix} r \\ q \end{pmatrix},
    \quad W = (R R^T)^{-1} \otimes (R R^T)^{-1}.

`sdpdr.linalg.congruent` computes the product for one matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, chosen_rows, light, row_of_each, scaled, transposed
from sdpdr.linalg.congruent import BlockColumns
from sdpdr.solvers.dense.scaling import Cones, OrderGroup, Scaling

# Multiplications in the time of the calls for the product of one small matrix.
_PRODUCT_CALLS = 2e5
# Number of unknowns over those in each matrix, from which tables are faster.
_FEW = 2
# Shifts of a matrix with unit diagonal that may be singular, tried in turn.
_SHIFTS = (1e-14, 1e-12, 1e-10)
# Share of nonzero entries up to which a matrix is kept sparse.
_FILLED = 0.1


@dataclass(frozen=True, eq=False)
class Data:
    """A program over cones: min c v + v Q v / 2 with E v = e and s = M v + t inside the cones.

    Attributes
    ----------
    cost, curvature : arrays of shape (p,)
    E, e : array of shape (m, p), array of shape (m,)
    M, t : sparse array of shape (k, p), array of shape (k,)
    cones : Cones
    """

    cost: Array
    curvature: Array
    E: Array
    e: Array
    M: sp.csr_array
    t: Array
    cones: Cones

    @cached_property
    def slack(self) -> Array | sp.csr_array:
        """M, with all entries of the matrices (`Cones.entries`)."""
        found = sp.csr_array(self.cones.entries @ self.M)
        is_filled = found.nnz > _FILLED * found.shape[0] * found.shape[1]
        return found.toarray() if is_filled else light(found)

    @cached_property
    def adjoint(self) -> Array | sp.csr_array:
        """The transpose of `slack`."""
        return self.slack.T if isinstance(self.slack, np.ndarray) else sp.csr_array(self.slack.T)

    @cached_property
    def offset(self) -> Array:
        """t, with all entries of the matrices."""
        return np.asarray(self.cones.entries @ self.t)

    @cached_property
    def is_curved(self) -> bool:
        """Whether the cost has squares."""
        return bool(np.any(self.curvature))

    @cached_property
    def sizes(self) -> tuple[float, float, float]:
        """One plus the norms of c, e and t, to which residuals are relative."""
        c, e, t = (1.0 + float(np.linalg.norm(x)) for x in (self.cost, self.e, self.t))
        return c, e, t


class Normal:
    """The matrices of all steps.

    Parameters
    ----------
    data : Data
    """

    def __init__(self, data: Data) -> None:
        self._data, cones = data, data.cones
        self._products = [_product_of(group, data) for group in cones.groups]
        # Matrices of order 1 are stored next to the half-lines.
        self._half_lines(sp.csr_array(cones.entries[: cones.half_lines] @ data.M))

    def _half_lines(self, part: sp.csr_array) -> None:
        """Store products of half-lines on few unknowns, and the rows of the others."""
        p, count = part.shape[1], np.diff(part.indptr)
        is_short = count**2 <= p
        self._short, self._more = np.flatnonzero(is_short), np.flatnonzero(~is_short)
        short = chosen_rows(part, self._short)
        # Pairs of entries of the same row.
        line, count = row_of_each(short), count[self._short]
        one = np.repeat(np.arange(short.nnz), count[line])
        first = np.repeat(np.cumsum(count[line]) - count[line], count[line])
        other = short.indptr[line[one]] + np.arange(one.size) - first
        self._line, self._products_of_lines = line[one], short.data[one] * short.data[other]
        self._into = short.indices[one] * np.intp(p) + short.indices[other]
        self._rows = transposed(chosen_rows(part, self._more))
        size = self._rows.shape[0] * self._rows.shape[1]
        is_filled = self._rows.nnz > _FILLED * size or p * size <= _PRODUCT_CALLS
        self._dense = self._rows.toarray() if is_filled else None

    def matrix(self, scaling: Scaling | None) -> Array:
        """Q + M^T W M; without a scaling, with the identity in place of W."""
        data, p = self._data, self._data.cost.size
        found = np.zeros((p, p))
        groups = data.cones.groups
        roots = [_identities(g) for g in groups] if scaling is None else scaling.roots
        for add, root in zip(self._products, roots, strict=True):
            add(found, root)
        ones = np.ones(data.cones.half_lines)
        weights = ones if scaling is None else 1.0 / scaling.weights**2
        found[np.arange(p), np.arange(p)] += data.curvature
        products = weights[self._short][self._line] * self._products_of_lines
        found += np.bincount(self._into, products, p * p).reshape(p, p)
        if self._dense is not None:
            half = self._dense * np.sqrt(weights[self._more])
            found += half @ half.T
        elif self._more.size:
            weighed = scaled(self._rows, columns=weights[self._more])
            found += (weighed @ self._rows.T).toarray()
        return found

    def factored(self, scaling: Scaling | None) -> Factored:
        """The system of a scaling, ready to be solved.

        Raises
        ------
        numpy.linalg.LinAlgError
        """
        return Factored(self.matrix(scaling), self._data.E)


def _identities(group: OrderGroup) -> Array:
    return np.tile(np.eye(group.order), (len(group.places), 1, 1))


def _product_of(group: OrderGroup, data: Data) -> Callable[[Array, Array], None]:
    """A function that adds the products of matrices of one order, given their roots."""
    n, count, p = group.order, len(group.places), data.cost.size
    rows = sp.csr_array(data.slack[group.part])
    seen = sp.csr_array((rows.data, rows.indices, rows.indptr[:: n * n]), (count, p), copy=True)
    seen.sum_duplicates()
    k = int(np.max(np.diff(seen.indptr), initial=1))
    # Small matrices are multiplied as dense ones.
    if k * n * n * (4.0 * n + k / 2.0) > _PRODUCT_CALLS:
        return partial(_add_blocks, [BlockColumns.of(n, data.M[place]) for place in group.places])
    if _FEW * k > p:
        stack = np.ascontiguousarray(rows.toarray().T).reshape(p, count, n, n)
        return partial(_add_stack, stack)
    return _apart(rows, seen, n, k)


def _apart(
    rows: sp.csr_array, seen: sp.csr_array, n: int, k: int
) -> Callable[[Array, Array], None]:
    """`_product_of` for matrices with at most k unknowns each.

    The unknowns of each matrix have places of their own in a table, so all are multiplied at once.
    """
    count, p = seen.shape
    block = row_of_each(seen)
    place = np.arange(seen.nnz) - seen.indptr[block]
    place_of = np.zeros((count, p), dtype=np.intp)
    place_of[block, seen.indices] = place
    # Unused places hold zeros, so it does not matter where they are added.
    at = np.zeros((count, k), dtype=np.intp)
    at[block, place] = seen.indices
    matrix, entry = np.divmod(row_of_each(rows), n * n)
    table = np.zeros((count, n * n, k))
    table[matrix, entry, place_of[matrix, rows.indices]] = rows.data
    into = (at[:, :, None] * p + at[:, None, :]).ravel()
    return partial(_add_apart, table.reshape(count, n, n * k), into)


def _add_apart(table: Array, into: Index, found: Array, roots: Array) -> None:
    count, n = roots.shape[:2]
    half = (roots @ table).reshape(count, n, n, -1)
    scaled = (roots[:, None] @ half).reshape(count, n * n, -1)
    products = scaled.transpose(0, 2, 1) @ scaled
    found += np.bincount(into, products.ravel(), found.size).reshape(found.shape)


def _add_stack(stack: Array, found: Array, roots: Array) -> None:
    scaled = (roots @ stack @ roots.transpose(0, 2, 1)).reshape(len(found), -1)
    found += scaled @ scaled.T


def _add_blocks(blocks: list[BlockColumns], found: Array, roots: Array) -> None:
    for block, root in zip(blocks, roots, strict=True):
        at, product = block.at, block.product(root)
        if len(at) and at[-1] - at[0] == len(at) - 1:  # Large parts are not copied.
            found[at[0] : at[-1] + 1, at[0] : at[-1] + 1] += product
        else:
            found[np.ix_(at, at)] += product


class Factored:
    """A positive definite matrix and equations, factored.

    Parameters
    ----------
    matrix : array of shape (p, p)
    E : array of shape (m, p)

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular, or equations are dependent, in spite of the shifts.
    """

    def __init__(self, matrix: Array, E: Array) -> None:
        diagonal = np.diagonal(matrix)
        self._units = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        self._matrix, self._E = matrix, E
        self._lower = _cholesky(matrix, self._units)
        if E.size:
            scaled = (E * self._units).T
            self._halves = sl.lapack.dtrtrs(self._lower, scaled, lower=1)[0]
            products = self._halves.T @ self._halves
            sizes = np.diagonal(products)
            self._units_of_rows = 1.0 / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))
            self._corner = _cholesky(products, self._units_of_rows)

    def solve(self, right: Array, missed: Array, *, refine: bool = True) -> tuple[Array, Array]:
        """Dv and dy, by default with one step of refinement."""
        dv, dy = self._solved(right, missed)
        if not refine:
            return dv, dy
        more, further = self._solved(
            right - self._matrix @ dv - self._E.T @ dy, missed - self._E @ dv
        )
        return dv + more, dy + further

    def _solved(self, right: Array, missed: Array) -> tuple[Array, Array]:
        if not right.size:  # LAPACK refuses empty arrays
            return right, np.zeros(missed.size)
        half = sl.lapack.dtrtrs(self._lower, (self._units * right)[:, None], lower=1)[0][:, 0]
        dy = np.zeros(0)
        if missed.size:
            left = (self._units_of_rows * (self._halves.T @ half - missed))[:, None]
            dy = self._units_of_rows * sl.lapack.dpotrs(self._corner, left, lower=1)[0][:, 0]
            half = half - self._halves @ dy
        dv = sl.lapack.dtrtrs(self._lower, half[:, None], lower=1, trans=1)[0][:, 0]
        return self._units * dv, dy


def _cholesky(matrix: Array, units: Array) -> Array:
    """The Cholesky factor of a symmetric matrix, in units that make its diagonal one."""
    if not np.isfinite(np.sum(matrix)):
        raise np.linalg.LinAlgError("numbers became too large")
    places = np.arange(len(matrix))
    for shift in _SHIFTS:
        scaled = matrix * units
        scaled *= units[:, None]
        scaled[places, places] += shift
        # LAPACK expects columns, and would copy an array that is stored by rows.
        lower, broken = sl.lapack.dpotrf(scaled.T, lower=1, overwrite_a=1)
        if not broken:
            return np.asarray(lower)
    raise np.linalg.LinAlgError("the matrix of a step is singular")
