r"""What rows and the objective may be near a factor, with all rounding accounted for.

A matrix :math:`K = (R + D)(R + D)^T` is known by a factor R in doubles and a radius: with units
:math:`\omega_i` of its points, :math:`\sum_i |D_i|^2 / \omega_i^2 \le f^2`, so that
:math:`|D_i| \le \omega_i f`. With :math:`n_i = |R_i|` and :math:`f \le 1`,

.. math::  |\langle A, K - R R^T\rangle|
           \le \sum_{ij} |A_{ij}| (2 f n_i \omega_j + f^2 \omega_i \omega_j)
           \le f \sum_{ij} |A_{ij}| (n_i + \omega_i)(n_j + \omega_j) ,

and rounding of :math:`\langle A, R R^T\rangle` is at most
:math:`\gamma_k \sum_{ij} |A_{ij}| n_i n_j`. Lengths are computed from differences, which do not
cancel again: their rounding is relative to the length itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, largest
from sdpdr.certify.rounding import TINY, UP, longest_row, residual
from sdpdr.linalg import (
    BilinearForms,
    Combined,
    InnerProduct,
    LinearMap,
    Products,
    SquaredEdgeLengths,
    Stacked,
    Summed,
)
from sdpdr.linalg.magnitudes import OPERATIONS, of_sizes
from sdpdr.linalg.maps.combine import by_rows
from sdpdr.linalg.rounding import UNIT, gamma, near_powers
from sdpdr.linalg.svec import slopes
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# Units of points, over that of the largest, are no smaller: a point at zero moves as well.
_LEAST_UNIT = 2.0**-10


@dataclass(frozen=True, eq=False)
class Near:
    """All matrices near a factor: R, units of its points, and a radius in these units.

    Attributes
    ----------
    factor : array of shape (n, r)
    units : array of shape (n,)
        Powers of two.
    far : float
        At most one.
    """

    factor: Array
    units: Array
    far: float = 0.0

    @staticmethod
    def of(factor: Array) -> Near:
        """The factor itself, with units about as long as its points.

        Examples
        --------
        >>> Near.of(np.array([[4.0], [0.0]])).units.tolist()
        [4.0, 0.00390625]
        """
        norms = norms_of(factor)
        least = _LEAST_UNIT * (largest(norms) or 1.0)
        return Near(factor, near_powers(np.maximum(norms, least)))


def norms_of(factor: Array) -> Array:
    """Numbers no less than the lengths of the rows of a factor."""
    size = np.sqrt(np.einsum("ik,ik->i", factor, factor))
    return np.asarray(size * (1.0 + gamma(factor.shape[1] + 4)))


def terms_of(linear_map: LinearMap, rank: int) -> int:
    """No less than the rounded operations behind a row of ``apply_factor`` or a slope of it."""
    if isinstance(linear_map, Combined):
        return longest_row(linear_map.weights) + terms_of(linear_map.inner, rank)
    if isinstance(linear_map, (Stacked, Summed)):
        count = len(linear_map.maps) if isinstance(linear_map, Summed) else 0
        parts = [terms_of(part, rank) for part in linear_map.maps]
        return count + (sum(parts) if count else max(parts, default=0))
    if isinstance(linear_map, BilinearForms):
        longest = longest_row(linear_map.left) + longest_row(linear_map.right)
    elif isinstance(linear_map, (InnerProduct, Products)):
        longest = linear_map.n * (rank + 1)
    else:
        longest = longest_row(linear_map.matrix())
    return longest + rank + OPERATIONS


def size_of(linear_map: LinearMap, norms: Array) -> Array:
    """For every row the sum of ``|A_ij| n_i n_j``."""
    if isinstance(linear_map, InnerProduct):
        return np.array([norms @ (abs(linear_map.coefficients) @ norms)])
    return np.asarray(of_sizes(linear_map).apply_factor(norms[:, None]))


def error_of(linear_map: LinearMap, near: Near) -> Array:
    """By how much rows of ``apply_factor`` may differ from those of any matrix near the factor.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal
    >>> near = Near(np.array([[1.0]]), np.ones(1), 1e-3)
    >>> error_of(Diagonal(1), near) >= 1.001**2 - 1.0
    array([ True])
    """
    rounding = float(gamma(terms_of(linear_map, near.factor.shape[1])))
    norms = norms_of(near.factor)

    def leaf(part: LinearMap) -> Array:
        if isinstance(part, SquaredEdgeLengths):
            squares = part.apply_factor(near.factor)
            move = near.far * near.units[part.edges].sum(axis=1)
            return np.asarray(rounding * squares + UP * (2.0 * np.sqrt(squares) + move) * move)
        size = rounding * size_of(part, norms)
        return size + near.far * size_of(part, norms + near.units) if near.far else size

    return UP * by_rows(linear_map, leaf) * (1.0 + rounding) + TINY


def left_over(
    groups: Sequence[Rows],
    points: Mapping[str, Near],
    b: Array,
    B: sp.csr_array,
    z: Array,
    moves: Array | float = 0.0,
) -> tuple[Array, Array]:
    """What rows, group below group, leave of their right sides: a value and its radius.

    Parameters
    ----------
    groups : sequence of Rows
    points : mapping from name to Near
        The matrices.
    b, B : array of shape (m,), sparse array of shape (m, q)
        Right sides of all rows, and what they do to the scalars.
    z, moves : arrays of shape (q,)
        Scalars, and radii within which the exact ones are.
    """
    total = [np.zeros(rows.m) for rows in groups]
    error = [np.zeros(rows.m) for rows in groups]
    for k, rows in enumerate(groups):
        for name, linear_map in rows.lhs.items():
            if isinstance(linear_map, LinearMap):
                total[k] = total[k] + linear_map.apply_factor(points[name].factor)
                error[k] += error_of(linear_map, points[name]) + UNIT * np.abs(total[k])
    rest, around = residual(b, B, z, moves)
    left = rest - np.concatenate([np.zeros(0), *total])
    radius = np.concatenate([np.zeros(0), *error]) + around + UNIT * np.abs(left)
    return left, UP * radius


def objective_above(sdp: SDP, name: str, near: Near) -> float:
    """No less than the part of the objective on any matrix near a factor."""
    linear_map = sdp.objective.get(name)
    if not isinstance(linear_map, LinearMap):
        return 0.0
    value = float(linear_map.apply_factor(near.factor)[0])
    error = float(error_of(linear_map, Near(near.factor, near.units))[0])
    # By the slope, in which terms cancel.
    slope = near.units[:, None] * np.asarray(sdp.cost(name) @ near.factor)
    rounding = float(gamma(terms_of(linear_map, near.factor.shape[1]) + linear_map.n))
    blur = float(size_of(linear_map, norms_of(near.factor) + near.units)[0])
    square = float(size_of(linear_map, near.units)[0])
    linear = float(np.linalg.norm(slope)) + rounding * blur
    error += 1.01 * near.far * (2.0 * linear + near.far * square)
    return float(np.nextafter(value + UP * error, np.inf))


def jacobian(linear_map: LinearMap, factor: Array) -> sp.csr_array:
    """Derivative of rows on R R^T by the entries of R, row by row; shape (m, n r).

    Structured maps are not written out: forms of long vectors fill the square of their length.

    Examples
    --------
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> jacobian(SquaredEdgeLengths(2, [[0, 1]]), np.array([[3.0], [1.0]])).toarray().tolist()
    [[4.0, -4.0]]
    """
    if isinstance(linear_map, Combined):
        return sp.csr_array(linear_map.weights @ jacobian(linear_map.inner, factor))
    if isinstance(linear_map, Stacked):
        return sp.csr_array(sp.vstack([jacobian(part, factor) for part in linear_map.maps]))
    if isinstance(linear_map, Summed):
        parts = [jacobian(part, factor) for part in linear_map.maps]
        return sp.csr_array(sum(parts[1:], start=parts[0]))
    if isinstance(linear_map, BilinearForms):
        left, right = linear_map.left, linear_map.right
        return sp.csr_array(_outer(left, right @ factor) + _outer(right, left @ factor))
    return slopes(linear_map.matrix(), factor)


def _outer(rows: sp.csr_array, columns: Array) -> sp.csr_array:
    """Outer products of every row with a dense one, written as rows."""
    entries, r = sp.coo_array(rows), columns.shape[1]
    i, j = entries.coords
    place = (j.astype(np.intp)[:, None] * r + np.arange(r)).ravel()
    data = (entries.data[:, None] * columns[i]).ravel()
    return sp.csr_array((data, (np.repeat(i, r), place)), (rows.shape[0], rows.shape[1] * r))
