"""How large the terms of rows are at a factor, and what rounding may make of their sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg import LinearMap, SquaredEdgeLengths, VectorMap, lengths_of
from sdpdr.linalg.magnitudes import of_sizes, row_terms
from sdpdr.linalg.maps import InnerProduct
from sdpdr.linalg.maps.combine import by_rows
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.program.point import Factor, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_norms

# How many times the bound on its rounding a row may miss its limit by, before it is shrunk.
ROUNDINGS = 16.0


def magnitudes(linear_map: LinearMap, factor: Array) -> Array:
    """For every row the sum of ``|A_ij| |r_i| |r_j|``, shape (m,)."""
    norms = np.sqrt(np.sum(np.square(factor), axis=1)) * (1.0 + 1e-12)
    lengths = lengths_of(linear_map)
    if lengths is not None:
        edges, scale = lengths
        return np.asarray(np.abs(scale) * np.square(norms[edges[:, 0]] + norms[edges[:, 1]]))
    if isinstance(linear_map, InnerProduct):
        return np.array([_inner_magnitude(linear_map.coefficients, norms)])
    # Rows of long vectors have too many entries to be written down.
    return np.asarray(of_sizes(linear_map).apply_factor(norms[:, None]))


def _inner_magnitude(coefficients: Matrix, norms: Array) -> float:
    if isinstance(coefficients, Outer):
        # Of an outer product, the factors' sizes: its entries are too many to be written down.
        sizes = np.square(np.abs(coefficients.columns).T @ norms) @ np.abs(coefficients.weights)
        return float(sizes) + float(norms @ (abs(coefficients.sparse) @ norms))
    return float(norms @ (abs(coefficients) @ norms))


def total_size(linear_map: LinearMap | VectorMap | None, factor: Array) -> float:
    """The sum of all ``|C_ij| |r_i| |r_j|`` of a map with one row."""
    if linear_map is None:
        return 0.0
    assert isinstance(linear_map, LinearMap)
    return float(magnitudes(linear_map, factor)[0])


def objective_at(sdp: SDP, name: str, factor: Array) -> tuple[float, float]:
    """The part of the objective on a factor, and a bound on its rounding error."""
    if name not in sdp.objective:
        return 0.0, 0.0
    linear_map = sdp.objective[name]
    assert isinstance(linear_map, LinearMap)
    value = float(linear_map.apply_factor(factor)[0])
    terms = factor.size + linear_map.n + row_terms(linear_map) + 16
    return value, float(gamma(terms)) * total_size(linear_map, factor)


def objective_around(sdp: SDP, name: str, factor: Array, roots: Array, far: float) -> float:
    r"""No less than the part of the objective on any factor near one, all rounding counted.

    With the cost C on the matrix of :math:`B (R + D)`, where B holds the units and D is as long as
    ``far``, it is at most
    :math:`\langle C, B R R^T B\rangle + 2 |B C B R| |D| + |B C B| |D|^2`.

    Parameters
    ----------
    sdp : SDP
    name : str
        Of the matrix.
    factor : array of shape (n, r)
        R.
    roots : array of shape (n,)
        The diagonal of B, powers of two.
    far : float
    """
    if name not in sdp.objective:
        return 0.0
    points = factor * roots[:, None]
    value, error = objective_at(sdp, name, points)
    linear_map = sdp.objective[name]
    assert isinstance(linear_map, LinearMap)
    size = float(_norms_above(linear_map)[0])
    largest = float(np.max(roots, initial=0.0))
    slope = roots[:, None] * np.asarray(sdp.cost(name) @ points)
    blur = float(gamma(linear_map.n + row_terms(linear_map) + 16))
    blur *= largest * size * float(np.linalg.norm(points))
    linear = 2.0 * (float(np.linalg.norm(slope)) + blur)
    return value + 1.02 * (error + linear * far + largest**2 * size * far**2)


def _norms_above(linear_map: LinearMap) -> Array:
    """For every row no less than the Frobenius norm of its matrix, or of the sizes it is made of.

    Sums are not multiplied out, as long vectors would fill them.
    """
    return by_rows(linear_map, lambda part: (1.0 + 1e-9) * row_norms(of_sizes(part)))


def rounding_of(
    rows: Rows, point: Mapping[str, Value], sizes: Callable[[LinearMap, Array], Array] | None = None
) -> Array:
    """What rounding may amount to in the rows of a group, amply."""
    size = np.abs(rows.rhs)
    for key, linear_map in rows.lhs.items():
        value = point[key]
        if isinstance(linear_map, LinearMap):
            assert isinstance(value, Factor)
            terms = row_terms(linear_map) + value.factor.shape[1] + 8
            size = size + terms * (sizes or _added)(linear_map, value.factor)
        else:
            size = size + abs(linear_map.matrix()) @ np.abs(np.asarray(value))
    return np.asarray(ROUNDINGS * UNIT * size)


def _added(linear_map: LinearMap, factor: Array) -> Array:
    """For every row the sum of the sizes of what is added up.

    Of lengths differences come first, and their squares do not cancel.
    """

    def sizes(part: LinearMap) -> Array:
        lengths = isinstance(part, SquaredEdgeLengths)
        return part.apply_factor(factor) if lengths else magnitudes(part, factor)

    return by_rows(linear_map, sizes)
