"""Penalties on maps: ridges chosen by leaving out, sparse paths, smoothness over pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import lars_path_gram

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.regress.ridge import CenteredData, as_columns, row_parts
from sdpdr.graphs import path

# The ridge where none is given or chosen.
ALPHA = 0.1
# Order up to which a decomposition for leaving out costs next to nothing, and entries, all of those
# of dense data.
DECOMPOSED = 2000
_ENTRIES = 10**7


def require_ridge(alpha: float | str) -> None:
    """Refuse a ridge that is neither a number, 0 or more, nor "loo" or "auto".

    Raises
    ------
    DataError, DataTypeError, UnknownNameError
    """
    if isinstance(alpha, str):
        validate.choice("alpha", alpha, ("auto", "loo"))
    else:
        validate.non_negative("alpha", alpha)


def is_quickly_left_out(X: Matrix) -> bool:
    """Whether `choose_ridge` costs next to nothing."""
    entries = X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]
    return bool(min(X.shape) <= DECOMPOSED and entries <= _ENTRIES)


# Powers of ten, relative to the largest squared singular value of the centred data; and that from
# which on squares of coefficients are not told from none.
_LOWEST, _UNSEEN = -8, -14
RIDGES = tuple(10.0**p for p in range(_LOWEST, 1))
# A squared singular value beside the largest that rounding may be all of.
_ROUNDED = 1e-28
# Of a sample that alone decides its own fit nothing is learned by leaving it out.
_LEAST = 1e-12
# Errors that differ by less are the same, and the first of their ridges is taken, the smallest by
# default: of points all equally far, rounding chose. What is left of a sample where there are as
# many columns is about the ridge, so that the smallest one leaves eight digits to its error.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class RidgeChoice:
    """The ridge of the least leave-one-out error.

    Attributes
    ----------
    alpha : float
    error : float
        Root of the mean squared leave-one-out residual.
    residuals : array of shape (n, d)
        At every sample, of the map fitted to all others.
    tried : tuple of (alpha, error)
    """

    alpha: float
    error: float
    residuals: Array
    tried: tuple[tuple[float, float], ...]


def choose_ridge(
    X: Matrix,
    Y: Array,
    alphas: Sequence[float] | None = None,
    sample_weight: Array | None = None,
) -> RidgeChoice:
    r"""Ridge of a linear map with an intercept, by exact leave-one-out.

    The residual of a sample left out is its residual over one less its own entry of the hat
    matrix, so one singular value decomposition serves all samples and all ridges. Of sparse data
    it is that of the smaller matrix of inner products.

    Parameters
    ----------
    X : array or sparse array of shape (n, m)
        Sparse data are never made dense; min(n, m) at most 4000 then.
    Y : array of shape (n, d)
    alphas : sequence of float, optional
        Positive; of those with equal errors the first is taken. By default nine powers of ten up
        to the largest squared singular value, and more below these where that is more than 1e8
        times the median.
    sample_weight : array of shape (n,), optional
        How much each sample counts, positive. Of one that counts for several, one is left out.

    Raises
    ------
    DataError
        An alpha is not positive, or sparse data have too many rows and columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> choose_ridge(X, X @ np.ones((3, 1)), [1e-6, 1.0, 100.0]).alpha
    1e-06
    """
    n = X.shape[0]
    Y = as_columns(Y, n)
    X = X if alphas is not None else validate.varying(X)
    data = CenteredData.of(X, Y, None, True, sample_weight)
    basis = _LeftVectors.of(data)
    grid = _grid(basis.squares) if alphas is None else np.asarray(alphas, dtype=float)
    if not grid.size or not np.all(np.isfinite(grid) & (grid > 0.0)):
        raise DataError(f"alphas must be positive numbers, at least one; they are {alphas}.")
    shrinks = basis.shrinks(grid)
    weights = np.square(data.roots)
    mean, share = weights / weights.sum(), share_left_out(weights)
    residuals = np.empty((grid.size, *Y.shape))
    for part in row_parts(n, basis.squares.size):
        Q = basis.rows(part)
        fitted = Q @ (shrinks[:, :, None] * basis.projected)
        own = mean[part] + shrinks @ np.square(Q).T
        left = data.roots[part] * np.maximum(1.0 - share[part] * own, _LEAST)
        residuals[:, part] = (data.Y[part] - fitted) / left[:, :, None]
    errors = np.sqrt(np.mean(mean @ np.square(residuals), axis=1))
    best = int(np.argmax(errors <= (1.0 + _SAME) * errors.min()))
    tried = tuple(zip(grid.tolist(), errors.tolist(), strict=True))
    return RidgeChoice(float(grid[best]), float(errors[best]), residuals[best], tried)


def share_left_out(weights: Array) -> Array:
    """How much of a sample is left out at a time: one of several, or all that it is.

    Examples
    --------
    >>> share_left_out(np.array([0.5, 1.0, 4.0]))
    array([1.  , 1.  , 0.25])
    """
    return np.asarray(1.0 / np.maximum(weights, 1.0))


def _grid(squares: Array) -> Array:
    """Ridges to try: nine powers of ten, and smaller ones where one column dwarfs all others.

    Its unit says nothing of them, and the least of nine would leave nothing of what they tell.
    """
    largest = float(squares.max())
    typical = float(np.median(squares[squares > _ROUNDED * largest])) / largest
    lowest = int(np.floor(np.log10(typical))) - 4 if typical < RIDGES[0] else _LOWEST
    return largest * np.array([10.0**p for p in range(max(lowest, _UNSEEN), 1)])


@dataclass(frozen=True, eq=False)
class _LeftVectors:
    """A basis of the rows, in which the hat matrix of every ridge is diagonal.

    Attributes
    ----------
    squares : array of shape (r,)
        Squared singular values s^2 of the centred data.
    projected : array of shape (r, d)
        The basis transposed times the responses.
    vectors : array of shape (n, r), or (m, r) for data
        Left singular vectors; or right ones, of which the data make left ones times s.
    data : CenteredData or None
        With right singular vectors.
    """

    squares: Array
    projected: Array
    vectors: Array
    data: CenteredData | None = None

    @classmethod
    def of(cls, data: CenteredData) -> _LeftVectors:
        if not sp.issparse(data.X):
            U, s, _ = np.linalg.svd(data.dense(), full_matrices=False)
            return cls(s**2, U.T @ data.Y, U)
        squares, vectors = data.eigenvectors()
        if data.is_wide:
            return cls(squares, vectors.T @ data.Y, vectors)
        return cls(squares, vectors.T @ data.transposed_times(data.Y), vectors, data)

    def rows(self, part: slice) -> Array:
        """Some rows of the basis."""
        if self.data is None:
            return self.vectors[part]
        return self.data.times(self.vectors, part)

    def shrinks(self, alphas: Array) -> Array:
        """Diagonals of the hat matrices in this basis, shape (a, r)."""
        top = self.squares if self.data is None else np.ones_like(self.squares)
        return np.asarray(top / (self.squares + alphas[:, None]))


@dataclass(frozen=True, eq=False)
class SparsePath:
    r"""Solutions of a lasso for all prices, of one response.

    Attributes
    ----------
    betas : array of shape (p,)
        Prices of :math:`|a|_1`, falling; between two of them the solution is linear.
    coefs : array of shape (m, p)
    """

    betas: Array
    coefs: Array

    def at(self, beta: float) -> Array:
        """The solution of a price, shape (m,)."""
        price = validate.non_negative("beta", beta)
        rising = self.betas[::-1]
        return np.array([np.interp(price, rising, row[::-1]) for row in self.coefs])

    def of_cardinality(self, count: int) -> Array:
        """The last solution with at most ``count`` coefficients that are not zero."""
        count = validate.positive_integer("cardinality", count)
        sizes = np.count_nonzero(self.coefs, axis=0)
        return np.asarray(self.coefs[:, np.flatnonzero(sizes <= count)[-1]])


def sparse_path(
    X: Matrix,
    y: Array,
    ridge: float = 0.0,
    max_features: int | None = None,
    *,
    intercept: bool = False,
    sample_weight: Array | None = None,
) -> SparsePath:
    r"""All solutions of the lasso, or of the elastic net, by least angles.

    .. math:: \min_a\ \sum_i w_i (x_i^T a - y_i)^2 + \alpha |a|^2 + \beta |a|_1
              \quad\text{for every } \beta \ge 0.

    Parameters
    ----------
    X : array or sparse array of shape (n, m)
        Sparse data are never made dense; the matrix of m x m inner products is dense.
    y : array of shape (n,)
    ridge : float, default 0.0
        :math:`\alpha`. With 0, at most n coefficients are ever used at once.
    max_features : int, optional
        Stop there.
    intercept : bool, default False
        Take the (weighted) means off X and y, for a constant that is not priced.
    sample_weight : array of shape (n,), optional
        w, 0 or more; ones by default.

    References
    ----------
    Cai thesis, (5.5) and (5.6); Efron, Hastie, Johnstone and Tibshirani, Annals of Statistics 32,
    2004.

    Examples
    --------
    >>> path = sparse_path(np.eye(2), np.array([3.0, 1.0]))
    >>> path.betas, path.at(2.0)
    (array([6., 2., 0.]), array([2., 0.]))
    """
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise ShapeError(f"X and y must have shapes (n, m) and (n,): {X.shape} and {y.shape}.")
    data = CenteredData.of(X, y[:, None], None, intercept, sample_weight).moved()
    gram, cross = data.form(sp.eye_array(len(y))), data.transposed_times(data.Y)[:, 0]
    gram[np.diag_indices_from(gram)] += validate.non_negative("ridge", ridge)
    most = X.shape[1]
    if max_features is not None:
        most = validate.positive_integer("max_features", max_features)
    # Steps may drop features again, so there are more of them than features.
    limit = 8 * most
    # With n_samples=1 its prices are those of |Xa - y|^2 / 2.
    alphas, _, coefs = lars_path_gram(
        cross, gram, n_samples=1, method="lasso", max_iter=limit, copy_Gram=False
    )
    if max_features is not None:
        over = np.flatnonzero(np.count_nonzero(coefs, axis=0) > max_features)
        last = over[0] if over.size else alphas.size
        alphas, coefs = alphas[:last], coefs[:, :last]
    return SparsePath(2.0 * alphas, coefs)


def grid_laplacian(shape: Sequence[int], spacing: float | Sequence[float] = 1.0) -> sp.csr_array:
    r"""Second differences of an image, as a penalty on basis images.

    :math:`\Delta = D_1 \otimes I + I \otimes D_2` with :math:`D = h^{-2}` times the tridiagonal
    matrix (1, -2, 1) whose corner entries are -1, so that
    :math:`\operatorname{vec}(D_1 A + A D_2^T) = \Delta \operatorname{vec}(A)` for images stored row
    by row, as ``A.reshape(-1)`` does. Constant images alone cost nothing.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the images.
    spacing : float or (float, float), default 1.0
        h between rows and between columns. With ``1 / m`` for m rows (the unit square) the penalty
        is larger by the fourth power of m.

    Returns
    -------
    csr_array of shape (pixels, pixels)

    References
    ----------
    Cai thesis, (6.1)-(6.6); there images are stored column by column, which swaps the factors.

    Examples
    --------
    >>> image = np.arange(6.0).reshape(2, 3) ** 2
    >>> bool(np.allclose(grid_laplacian((2, 3)) @ np.ones(6), 0.0))
    True
    """
    if len(tuple(shape)) != 2:
        raise DataError(f"shape must be (rows, columns) of the images; it is {tuple(shape)}.")
    rows, columns = (validate.positive_integer("shape", k) for k in shape)
    spacings = np.broadcast_to(np.asarray(spacing, dtype=float), (2,)).tolist()
    steps = [validate.positive_number("spacing", h) for h in spacings]
    # Second differences along a line are those of a path with its neighbours.
    down, along = (
        -path(np.ones(m - 1)).laplacian() / h**2
        for m, h in zip((rows, columns), steps, strict=True)
    )
    return sp.csr_array(sp.kron(down, sp.eye_array(columns)) + sp.kron(sp.eye_array(rows), along))
