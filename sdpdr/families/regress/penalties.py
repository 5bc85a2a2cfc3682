"""Penalties on linear maps: few nonzero coefficients, or smoothness over pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import lars_path_gram

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import as_numbers
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.regress.ridge import Centered, as_data


class SparsePath(NamedTuple):
    """Solutions ``coefs`` (m, p) for decreasing ``betas`` (p,); in between they are linear."""

    betas: Array
    coefs: Array

    def at(self, beta: float) -> Array:
        """The solution for a penalty, shape (m,)."""
        beta = validate.non_negative("beta", beta)
        rising = self.betas[::-1]
        return np.array([np.interp(beta, rising, row[::-1]) for row in self.coefs])

    def of_cardinality(self, count: int) -> Array:
        """The last solution with at most ``count`` coefficients that are not zero."""
        sizes = np.count_nonzero(self.coefs, axis=0)
        return np.asarray(self.coefs[:, np.flatnonzero(sizes <= count)[-1]])


@checks_keywords
def sparse_path(
    X: Matrix,
    y: Array,
    ridge: float = 0.0,
    max_features: int | None = None,
) -> SparsePath:
    r"""All solutions of the lasso, or of the elastic net, by least angle regression.

    .. math:: \min_{a, b}\ \sum_i (x_i^T a + b - y_i)^2 + \alpha |a|^2 + \beta |a|_1
              \quad\text{for every } \beta \ge 0

    (Cai thesis, (5.5) and (5.6); Efron, Hastie, Johnstone and Tibshirani, Annals of Statistics 32,
    2004).

    Parameters
    ----------
    X : array_like or sparse array of shape (n, m)
        Sparse data stay sparse; their m x m matrix of inner products is dense.
    y : array_like of shape (n,)
    ridge : float, default 0.0
        :math:`\alpha`. If it is 0, at most n coefficients are nonzero.
    max_features : int, optional
        Stop at the first solution with more features.

    Returns
    -------
    tuple of betas, (p,), and coefs, (m, p)
        Penalties where a coefficient enters or leaves, decreasing, and their solutions a.
        ``.at(beta)`` is the solution of a penalty in between, ``.of_cardinality(k)`` the last one
        with at most k nonzero coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import sparse_path
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> path = sparse_path(X, X @ [3.0, 1.0])
    >>> path.betas, path.at(4.0)
    (array([12.,  4.,  0.]), array([2., 0.]))
    """
    X, y = as_data(X), as_numbers("y", y)
    if y.shape != (X.shape[0],):
        raise ShapeError(f"X and y have shapes {X.shape} and {y.shape}; expected (n, m) and (n,).")
    data = Centered(X, np.asarray(X.mean(axis=0)).ravel())
    gram, cross = data.inner(of_rows=False), data.transposed_dot(y - y.mean())
    gram[np.diag_indices_from(gram)] += validate.non_negative("ridge", ridge)
    most = X.shape[1]
    if max_features is not None:
        most = validate.positive_integer("max_features", max_features)
    # The path may drop features again, so it has more steps than features. n_samples=1 makes the
    # penalties those of |Xa - y|^2 / 2.
    alphas, _, coefs = lars_path_gram(
        cross, gram, n_samples=1, method="lasso", max_iter=8 * most, copy_Gram=False
    )
    if max_features is not None:
        over = np.flatnonzero(np.count_nonzero(coefs, axis=0) > max_features)
        last = over[0] if over.size else alphas.size
        alphas, coefs = alphas[:last], coefs[:, :last]
    return SparsePath(2.0 * alphas, coefs)


@checks_keywords
def grid_laplacian(shape: Sequence[int], spacing: float | Sequence[float] = 1.0) -> sp.csr_array:
    r"""Second differences of an image, as a penalty on basis images; sparse (pixels, pixels).

    :math:`\Delta = D_1 \otimes I + I \otimes D_2` with :math:`D = h^{-2}` times the tridiagonal
    matrix (1, -2, 1) whose corner entries are -1, so that
    :math:`\operatorname{vec}(D_1 A + A D_2^T) = \Delta \operatorname{vec}(A)` for images stored row
    by row, as ``A.reshape(-1)`` does; (6.1)-(6.6) of the Cai thesis store them column by column,
    which swaps the factors. Only constant images have no penalty.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the images.
    spacing : float or (float, float), default 1.0
        h between rows and between columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import grid_laplacian
    >>> bool(np.allclose(grid_laplacian((2, 3)) @ np.ones(6), 0.0))
    True
    """
    if len(tuple(shape)) != 2:
        raise DataError(f"shape={tuple(shape)}: expected (rows, columns) of the images.")
    rows, columns = (validate.positive_integer("shape", k) for k in shape)
    spacings = np.broadcast_to(np.asarray(spacing, dtype=float), (2,)).tolist()
    steps = [validate.positive_number("spacing", h) for h in spacings]
    down, along = (_second_differences(m, h) for m, h in zip((rows, columns), steps, strict=True))
    return sp.csr_array(sp.kron(down, sp.eye_array(columns)) + sp.kron(sp.eye_array(rows), along))


def _second_differences(m: int, h: float) -> sp.csr_array:
    first = sp.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(m - 1, m))
    return sp.csr_array(-(first.T @ first) / h**2)
