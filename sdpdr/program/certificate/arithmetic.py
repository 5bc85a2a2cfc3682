r"""Two ways to check a proof: trusting rounding to be small, or accounting for all of it.

Every argument ends with multipliers, and with the same three questions: are the matrices of dual
slack positive semidefinite, what is the slack of the scalars, what is the dual value? `Plain`
answers by the inertia of a factorization and by sums in floating point. `Rigorous` answers for
the exact program whose data are the doubles stored:

- each entry of the computed slack carries the bound of `sdpdr.linalg.magnitudes` on its error,
  and `sdpdr.linalg.verified` proves the matrix positive semidefinite in spite of it;
- scalars' slack and the dual value are enclosed by sums of products without error, rounded
  outwards once at the end (`sdpdr.linalg.rounding`);
- where the equations of free scalars hold only up to rounding, all this is shown for every point
  of a small box that contains exact multipliers (`sdpdr.program.certificate.free`).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg.inertia import is_positive_on
from sdpdr.linalg.magnitudes import OPERATIONS, adjoint_magnitude, adjoint_terms
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import UNIT, diagonal_units, dot_enclosure, gamma, in_units, two_product
from sdpdr.linalg.spectral import complement
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.certificate.free import Duals, radius_of_exact
from sdpdr.program.face import null_vectors
from sdpdr.program.point import VectorVariable
from sdpdr.program.sdp import SDP

# The least eigenvalue, beside the largest diagonal entry, of a matrix that is clearly definite.
_CLEARLY = 1e-12
# Rounding of the slack of scalars, beside the largest cost, that is trusted to be small.
_TRUSTED = 1e-8
# Roundings of a sum of products, beside all its summands, and from which share of the value and of
# the largest cost on they are counted. Sums that cancel altogether, as of an optimum of zero, keep
# less than that.
_ROUNDINGS, _NOTICED = 8.0, 1e-10


class Plain:
    """How to check multipliers: rounding is trusted to be small, and inertia decides."""

    rigorous = False
    words = "verified by inertia"

    def margins(self, n: int) -> tuple[float, ...]:
        """Relative safety margins to try for matrices of order n, smallest first."""
        # The larger the matrix, the more its smallest eigenvalue is blurred.
        return tuple(m for m in 10.0 ** np.arange(-12.0, -5.0) if m >= 1e-15 * n)

    def around(self, sdp: SDP, y: Duals) -> Duals:
        """Nothing: equations that hold up to rounding count as satisfied."""
        return {}

    def is_positive(self, sdp: SDP, name: str, y: Duals, around: Duals, lift: float = 0.0) -> bool:
        """Whether the dual slack plus ``lift`` I is positive definite on the face."""
        return is_positive_matrix(_lifted(sdp, name, y, lift), null_vectors(sdp, name))

    def scalar_slack(
        self, sdp: SDP, v: VectorVariable, y: Duals, around: Duals
    ) -> tuple[Array, Array]:
        """The slack as computed; zero where it is no larger than rounding, if that is small."""
        s, error = np.asarray(sdp.dual_slack(v.name, y)), _scalar_error(sdp, v, y)
        # Multipliers that cancel may be so large that their rounding exceeds all costs.
        # Those of a ray, for which there are no costs, come in units where one is large.
        trusted = error <= _TRUSTED * (_largest_cost(sdp) or 1.0)
        s = np.where(trusted & (np.abs(s) <= error), 0.0, s)
        blur = np.where(trusted, 0.0, error)
        return s - blur, s + blur

    def dual_value(self, sdp: SDP, y: Duals, around: Duals) -> float:
        """The dual objective as computed, less what rounding may be of it where much cancels."""
        value = sdp.dual_value(y)
        return value - noticed_rounding(sdp, value, _summands(sdp, y))


class Rigorous:
    """How to check multipliers: all rounding is accounted for."""

    rigorous = True
    words = "proved with all rounding accounted for"

    def margins(self, n: int) -> tuple[float, ...]:
        """Relative safety margins to try for matrices of order n, smallest first."""
        first = max(1e-12, 3e-13 * n)
        return tuple(first * 10.0 ** np.arange(8.0))

    def around(self, sdp: SDP, y: Duals) -> Duals:
        """A box that contains multipliers that satisfy the equations of free scalars exactly."""
        return radius_of_exact(sdp, y)

    def is_positive(self, sdp: SDP, name: str, y: Duals, around: Duals, lift: float = 0.0) -> bool:
        """Whether the exact dual slack plus ``lift`` I is positive semidefinite on the face."""
        maps = list(sdp.column(name, y))
        size = lift * sp.eye_array(sdp.cost(name).shape[0])
        terms = OPERATIONS + len(maps)
        maps += [(sdp.objective[name], np.ones(1))] if name in sdp.objective else []
        for linear_map, multipliers in maps:
            size = size + adjoint_magnitude(linear_map, multipliers)
            terms += adjoint_terms(linear_map)
        # The sizes themselves are rounded, hence one per cent.
        radius = (1.01 * float(gamma(terms))) * size
        for linear_map, reach in sdp.column(name, around):
            if np.any(reach):
                radius = radius + 1.01 * adjoint_magnitude(linear_map, reach)
        radius = radius if sp.issparse(radius) else np.asarray(radius)
        null = null_vectors(sdp, name)
        # Map by map, since that is how the terms were counted.
        slack = sdp.cost(name)
        for linear_map, multipliers in sdp.column(name, y):
            slack = slack + linear_map.adjoint(multipliers)
        slack = slack if lift == 0.0 else _shifted(slack, lift)
        slack = slack.toarray() if isinstance(slack, Outer) else slack
        return is_verified_positive(slack, radius, null)

    def scalar_slack(
        self, sdp: SDP, v: VectorVariable, y: Duals, around: Duals
    ) -> tuple[Array, Array]:
        """An enclosure of the exact slack, as tight as needed to tell its sign."""
        if around and v.is_free:
            return np.zeros(v.size), np.zeros(v.size)
        s, error = np.asarray(sdp.dual_slack(v.name, y)), _scalar_error(sdp, v, y)
        low, high = s - 1.01 * error, s + 1.01 * error
        unclear = np.flatnonzero((low < 0.0) & (high > 0.0) | (error == 0.0))
        cost = np.asarray(sdp.cost(v.name))
        columns = [(a.matrix()[:, unclear].tocsc(), u) for a, u in sdp.column(v.name, y)]
        for k, j in enumerate(unclear):
            parts = [(a.data[a.indptr[k] : a.indptr[k + 1]], u[_rows(a, k)]) for a, u in columns]
            coefficients = np.concatenate([np.zeros(0), *(p for p, _ in parts)])
            multipliers = np.concatenate([np.zeros(0), *(u for _, u in parts)])
            low[j], high[j] = dot_enclosure(coefficients, multipliers, float(cost[j]))
        for linear_map, distance in sdp.column(v.name, around):
            if np.any(distance):
                reach = 1.01 * adjoint_magnitude(linear_map, distance)
                low, high = np.nextafter(low - reach, -np.inf), np.nextafter(high + reach, np.inf)
        return low, high

    def dual_value(self, sdp: SDP, y: Duals, around: Duals) -> float:
        """The exact dual objective, rounded downwards."""
        rows = [r for r in sdp.rows if r.label in y]
        rhs = np.concatenate([np.zeros(0), *(r.rhs for r in rows)])
        multipliers = np.concatenate([np.zeros(0), *(y[r.label] for r in rows)])
        parts = [np.array([sdp.constant]), *two_product(-rhs, multipliers)]
        parts += [-1.01 * np.abs(r.rhs) * around[r.label] for r in rows if r.label in around]
        for v in sdp.vector_variables:
            if v.curvature is not None:
                low, high = self.scalar_slack(sdp, v, y, around)
                size = np.maximum(np.abs(low), np.abs(high))
                parts.append(-0.5 * size * size / v.curvature * (1.0 + 8.0 * UNIT))
        total = math.fsum(np.concatenate(parts))
        return total if total == 0.0 else float(np.nextafter(total, -np.inf))


Arithmetic: TypeAlias = Plain | Rigorous


def noticed_rounding(sdp: SDP, value: float, summands: float) -> float:
    """What rounding may be of a sum of that size; zero where it is lost beside value and costs."""
    rounding = _ROUNDINGS * UNIT * summands
    if rounding <= _NOTICED * abs(value) or rounding <= _NOTICED * _largest_cost(sdp):
        return 0.0
    return rounding


def _summands(sdp: SDP, y: Duals) -> float:
    """The size of all summands of the dual objective together."""
    size = abs(sdp.constant)
    for r in sdp.rows:
        size += float(np.abs(r.rhs) @ np.abs(y[r.label])) if r.label in y else 0.0
    for v in sdp.vector_variables:
        if v.curvature is not None:
            slack, error = np.abs(sdp.dual_slack(v.name, y)), _scalar_error(sdp, v, y)
            size += float(np.sum((0.5 * slack + error / UNIT) * slack / v.curvature))
    return size


def _largest_cost(sdp: SDP) -> float:
    """The largest coefficient of the objective in size."""
    sizes = [0.0]
    for name in sdp.objective:
        cost = sdp.cost(name)
        if isinstance(cost, Outer):
            sizes.append(float(np.max(np.abs(cost.diagonal()), initial=0.0)))
        else:
            sizes.append(float(abs(cost).max()) if min(cost.shape) else 0.0)
    curvatures = [v.curvature for v in sdp.vector_variables if v.curvature is not None]
    return max([*sizes, *(float(np.max(c, initial=0.0)) for c in curvatures)])


def is_positive_matrix(matrix: Matrix, null: sp.csr_array) -> bool:
    """Whether a matrix is positive definite on a face, by inertia or a dense factorization."""
    # Of a matrix that is positive on a face alone, the diagonal says little.
    whole = null.shape[1] == 0 and not isinstance(matrix, Outer)
    units = diagonal_units(matrix) if whole else None
    if units is not None:
        return is_positive_matrix(in_units(matrix, units), null)
    if isinstance(matrix, Outer) and matrix.stays_apart:
        return is_positive_on(matrix, null)
    if sp.issparse(matrix):
        if matrix.nnz == matrix.shape[0] and np.all(matrix.diagonal() > 0.0):
            return True
        if matrix.nnz < 0.2 * matrix.shape[0] ** 2:
            return is_positive_on(matrix, null)
    basis = complement(null)
    reduced = basis.T @ (matrix @ basis)
    if not np.isfinite(reduced).all():
        return False
    try:
        pivots = np.diagonal(sl.cholesky(reduced)) ** 2
    except np.linalg.LinAlgError:
        return False
    rounding = reduced.shape[0] * np.finfo(float).eps * np.max(np.abs(reduced), initial=0.0)
    return bool(np.all(pivots > rounding))


def is_mass(matrix: Matrix, null: sp.csr_array) -> bool:
    r"""Whether a matrix is so clearly positive definite on a face that pencils may be over it.

    A singular matrix passes for positive definite when rounding happens to lift its least pivot,
    and the eigenvalues of a pencil over it are rounding or do not exist. What is asked here is

    .. math::  x^T M x > 10^{-12} \max_i |M_{ii}|\, x^T x

    on the face; a matrix that is diagonal needs no more than positive entries.

    Parameters
    ----------
    matrix : array, sparse array or Outer of shape (n, n)
        M, symmetric.
    null : sparse array of shape (n, p)
        Columns that span the directions left out.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian = sp.csr_array([[1.0, -1.0], [-1.0, 1.0]])
    >>> ones = sp.csr_array(np.ones((2, 1)))
    >>> is_mass(laplacian, sp.csr_array((2, 0))), is_mass(laplacian, ones)
    (False, True)
    """
    diagonal = np.asarray(matrix.diagonal())
    if null.shape[1] == 0 and sp.issparse(matrix) and matrix.nnz == np.count_nonzero(diagonal):
        return bool(np.all(diagonal > 0.0))
    floor = _CLEARLY * float(np.max(np.abs(diagonal), initial=0.0))
    return is_positive_matrix(_shifted(matrix, -floor), null)


def _shifted(matrix: Matrix, by: float) -> Matrix:
    n = matrix.shape[0]
    apart = sp.issparse(matrix) or isinstance(matrix, Outer)
    return matrix + by * (sp.eye_array(n, format="csr") if apart else np.eye(n))


def _lifted(sdp: SDP, name: str, y: Duals, lift: float) -> Matrix:
    slack = sdp.dual_slack(name, y)
    return slack if lift == 0.0 else _shifted(slack, lift)


def _scalar_error(sdp: SDP, v: VectorVariable, y: Duals) -> Array:
    """Bound on the rounding error of every scalar's computed slack."""
    size, terms = np.abs(np.asarray(sdp.cost(v.name))), OPERATIONS
    for linear_map, multipliers in sdp.column(v.name, y):
        size = size + adjoint_magnitude(linear_map, multipliers)
        terms += adjoint_terms(linear_map)
    return np.asarray(gamma(terms) * size)


def _rows(columns: sp.csc_array, k: int) -> Array:
    return columns.indices[columns.indptr[k] : columns.indptr[k + 1]]
