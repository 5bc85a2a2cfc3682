"""Penalties on linear maps: sparse ones along their path, and smoothness over pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import lars_path_gram

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.regress.ridge import Centered


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
        if not beta >= 0.0:
            raise DataError(f"beta must be 0 or more; it is {beta}.")
        rising = self.betas[::-1]
        return np.array([np.interp(beta, rising, row[::-1]) for row in self.coefs])

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
    gram, cross = _products(X, y, intercept, sample_weight)
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


def _products(
    X: Any, y: Array, intercept: bool, sample_weight: Array | None
) -> tuple[Array, Array]:
    """Inner products of the columns with each other and with y, means taken off if asked."""
    data = Centered.of(X, y[:, None], None, intercept, sample_weight)
    if not sp.issparse(X):
        centred = data.dense()
        return centred.T @ centred, np.asarray(centred.T @ data.Y[:, 0])
    scaled = data.X
    total = float(np.sum(np.square(data.roots)))
    gram = (scaled.T @ scaled).toarray() - total * np.outer(data.x_mean, data.x_mean)
    return gram, data.transposed_times(data.Y)[:, 0]


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
    steps = np.broadcast_to(np.asarray(spacing, dtype=float), (2,))
    for h in steps:
        validate.positive_number("spacing", float(h))
    first = _second_differences(rows) / steps[0] ** 2
    second = _second_differences(columns) / steps[1] ** 2
    whole = sp.kron(first, sp.eye_array(columns)) + sp.kron(sp.eye_array(rows), second)
    return sp.csr_array(whole)


def _second_differences(m: int) -> sp.csr_array:
    if m == 1:
        return sp.csr_array((1, 1))
    middle = np.full(m, -2.0)
    middle[[0, -1]] = -1.0
    ones = np.ones(m - 1)
    return sp.csr_array(sp.diags_array([ones, middle, ones], offsets=[-1, 0, 1]))
