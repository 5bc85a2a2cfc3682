"""Variables, positive semidefinite matrices and vectors of scalars, and points: their values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, as_real
from sdpdr.base.errors import DataError, ModelError
from sdpdr.linalg.maps import SvecMap, VectorMap
from sdpdr.linalg.spectral import factor_spectrum, fix_signs, gram_spectrum
from sdpdr.linalg.svec import svec, svec_index, svec_pairs, svec_size
from sdpdr.program.factor import Factor as Factor


@dataclass(frozen=True)
class PsdVariable:
    """A symmetric positive semidefinite n x n matrix.

    Parameters
    ----------
    name : str
    n : int
    """

    name: str
    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", _size(self.name, "order", self.n))

    is_signed, is_free, curvature = True, False, None

    @property
    def size(self) -> int:
        """Number of free entries, n (n + 1) / 2."""
        return svec_size(self.n)

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of its values."""
        return (self.n, self.n)

    def coordinates(self, value: Matrix) -> Array:
        """A value, or a cost, as a vector of `size` numbers."""
        return svec(value)

    def rows(self, matrix: Any) -> SvecMap:
        """The map with a matrix in these coordinates."""
        return SvecMap(self.n, matrix)


@dataclass(frozen=True, eq=False)
class VectorVariable:
    """A vector of scalars, free or non-negative, with an optional quadratic cost.

    Parameters
    ----------
    name : str
    size : int
    nonnegative : bool, default False
    curvature : array of shape (size,), optional
        The objective (in its minimisation sense) contains ``sum(curvature * z**2) / 2``. All
        entries positive. Only for free vectors.
    """

    name: str
    size: int
    nonnegative: bool = False
    curvature: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _size(self.name, "size", self.size))
        if self.curvature is None:
            return
        if self.nonnegative:
            raise ModelError(f"variable {self.name!r}: a quadratic cost needs a free vector.")
        curvature = as_real(self.curvature, copy=True)
        if curvature.shape != (self.size,) or not np.all(curvature > 0):
            raise ModelError(f"variable {self.name!r}: curvature must be {self.size} positives.")
        object.__setattr__(self, "curvature", curvature)

    @property
    def is_free(self) -> bool:
        """Whether its costs are linear and its signs free, so that its dual slack must vanish."""
        return not self.nonnegative and self.curvature is None

    @property
    def is_signed(self) -> bool:
        """Whether it is in a cone of its own, as matrices are."""
        return self.nonnegative

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of its values."""
        return (self.size,)

    def coordinates(self, value: Matrix) -> Array:
        """A value, or a cost, as a vector of `size` numbers."""
        return np.asarray(value)

    def rows(self, matrix: Any) -> VectorMap:
        """The map with a matrix in these coordinates."""
        return VectorMap(matrix)


@dataclass(frozen=True, eq=False)
class ShapedVariable(VectorVariable):
    """A vector of scalars that users see as an array.

    Parameters
    ----------
    shape : tuple of int
        The scalars fill it row by row; of a symmetric matrix, they are its upper triangle by
        columns.
    """

    shape: tuple[int, ...] = ()


def arranged(values: Value, shape: tuple[int, ...]) -> Any:
    """The values of a `ShapedVariable` in its shape.

    Examples
    --------
    >>> arranged(np.array([1.0, 2.0, 3.0]), (2, 2))
    array([[1., 2.],
           [2., 3.]])
    >>> arranged(np.array([4.0]), ())
    array(4.)
    """
    given = np.asarray(values)
    if given.size == math.prod(shape):
        return given.reshape(shape)
    return given[svec_index(*np.indices(shape))]


def as_row(value: Any, variable: PsdVariable | VectorVariable) -> Any:
    """A value in the shape of a `ShapedVariable` as a row, and any other value as it is.

    Raises
    ------
    DataError
        If the variable is a symmetric matrix and the value is not symmetric.

    Examples
    --------
    >>> as_row(np.array([[1.0, 2.0], [2.0, 3.0]]), ShapedVariable("S", 3, shape=(2, 2)))
    array([1., 2., 3.])
    """
    if not isinstance(variable, ShapedVariable) or np.shape(value) != variable.shape:
        return value
    given = np.asarray(value)
    if given.size == variable.size:
        return given.ravel()
    if not np.array_equal(given, given.T):
        name = variable.name
        raise DataError(f"{name!r} is not symmetric: pass ({name} + {name}.T) / 2.")
    return given[svec_pairs(np.arange(variable.size))]


def _size(name: str, what: str, size: int) -> int:
    # Zero is allowed: facial reduction leaves a matrix of order zero where one must vanish.
    if not isinstance(size, Integral) or size < 0:
        raise ModelError(f"variable {name!r}: its {what} must be a whole number; it is {size!r}.")
    return int(size)


Variable: TypeAlias = PsdVariable | VectorVariable


def side_by_side(variables: Iterable[Variable]) -> dict[str, slice]:
    """Slices of the coordinates of variables in one long vector, in their order.

    Examples
    --------
    >>> side_by_side([PsdVariable("X", 2), VectorVariable("z", 1)])
    {'X': slice(0, 3, None), 'z': slice(3, 4, None)}
    """
    found, end = dict[str, slice](), 0
    for v in variables:
        found[v.name] = slice(end, end := end + v.size)
    return found


Value: TypeAlias = Array | Factor


def as_dense(value: Value) -> Array:
    """The matrix itself, whether given dense or as a factor."""
    return np.asarray(as_real(value))


def congruent(value: Value, basis: Matrix) -> Value:
    """The matrix V X V^T, as a factor where X is given as one.

    Examples
    --------
    >>> congruent(np.ones((1, 1)), np.array([[1.0], [2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    if isinstance(value, Factor):
        return Factor(np.asarray(basis @ value.factor))
    return np.asarray(basis @ (basis @ np.asarray(value)).T)


def spectrum_of(value: Value) -> tuple[Array, Array]:
    """Eigenvalues, descending, and eigenvectors; of a factor with r columns, only r of them."""
    return factor_spectrum(value.factor) if isinstance(value, Factor) else gram_spectrum(value)


def leading_factor(values: Array, vectors: Array, rank: int) -> Array:
    """Eigenvectors times the square roots of their eigenvalues, padded with zero columns.

    Parameters
    ----------
    values, vectors : array of shape (r,) and (n, r)
        As `spectrum_of` gives them.
    rank : int

    Returns
    -------
    array of shape (n, rank)
    """
    factor = np.zeros((len(vectors), rank))
    kept = min(rank, values.size)
    factor[:, :kept] = vectors[:, :kept] * np.sqrt(np.maximum(values[:kept], 0.0))
    return factor


def weighed(value: Value, weights: Array | None) -> Value:
    """The matrix W^(1/2) K W^(1/2), whose spectrum is that of K with each point's row repeated.

    Examples
    --------
    >>> weighed(np.ones((2, 2)), np.array([1.0, 4.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    return value if weights is None else congruent(value, sp.diags_array(np.sqrt(weights)))


def principal_places(value: Value, weights: Array | None, rank: int) -> tuple[Array, Array]:
    r"""Points of a Gram matrix on the axes of most weighted variance, and the variance along all.

    With :math:`K = F F^T` and :math:`F^T W F = V \Lambda V^T` these are :math:`F V`, whose
    columns have the weighted sums of squares :math:`\lambda_k`: about a weighted mean at the
    origin, principal components of points that occur as often as they weigh.

    Parameters
    ----------
    value : array of shape (n, n) or Factor
        K.
    weights : array of shape (n,), optional
        Positive; ones by default.
    rank : int
        How many columns.

    Returns
    -------
    values : array
        Eigenvalues of :math:`W^{1/2} K W^{1/2}`, descending; of a factor with r columns, only r.
    places : array of shape (n, rank)
        The entry of largest absolute value in each column is positive.

    Examples
    --------
    >>> K = Factor(np.array([[3.0, 0.0], [-1.0, -1.0], [-1.0, 1.0]]))
    >>> values, places = principal_places(K, np.array([2.0, 3.0, 3.0]), 1)
    >>> values.round(9), places.round(9) + 0.0
    (array([24.,  6.]), array([[ 3.],
           [-1.],
           [-1.]]))
    """
    values, vectors = spectrum_of(weighed(value, weights))
    if weights is None:
        return values, leading_factor(values, vectors, rank)
    # K is multiplied, because dividing by small square roots of weights would amplify rounding.
    some = np.flatnonzero(values[:rank] > len(vectors) * np.finfo(float).eps * values[0])
    places = np.zeros((len(vectors), rank))
    back = value @ (np.sqrt(weights)[:, None] * vectors[:, some])
    places[:, some] = back / np.sqrt(values[some])
    return values, fix_signs(places)


@dataclass(frozen=True, eq=False)
class Point:
    """What a solver returns: values by variable, multipliers by row label.

    Parameters
    ----------
    values : mapping from variable name to array or Factor
        Empty when the solver had nothing to offer.
    duals : mapping from label to array
        Shape (m,) for rows, (order, order) for matrix inequalities. Multipliers of the
        minimisation's Lagrangian ``f + y.(lhs - rhs) - <Z, LMI>``, so y >= 0 on ``<=`` rows.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    duals: Mapping[str, Array] = field(default_factory=dict)
