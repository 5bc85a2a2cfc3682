"""Linear least squares with a quadratic penalty, of dense or sparse data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, lsqr
from sklearn.utils import check_array

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import as_numbers, refused
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.rows import listed
from sdpdr.families.limits import DENSE, QUICK
from sdpdr.graphs.blocks import BLOCK, blocks

# The ridge if none is given or chosen.
ALPHA = 0.1
# Up to so many entries, leave-one-out takes about a second.
_QUICK_ENTRIES = 10**7
# Sparse columns whose mean holds a larger share of their squares are centred as dense columns, so
# that inner products of the others lose one digit at most to cancellation.
_MOSTLY = 0.9
# Leave-one-out errors that agree to this share are equal.
_SAME = 1e-6
_EPS = float(np.finfo(float).eps)

Rows: TypeAlias = "Index | slice"


@dataclass(frozen=True, eq=False)
class LinearMapping:
    """The function x -> x @ coef + intercept.

    Attributes
    ----------
    coef : array of shape (m, d)
    intercept : array of shape (d,)
    eigenvalues : array of shape (d,), optional
        Eigenvalues of the pencil that the map solves.
    """

    coef: Array
    intercept: Array
    eigenvalues: Array | None = None

    def rotated(self, rotation: Array) -> LinearMapping:
        """The map fitted to the responses times a matrix."""
        return replace(self, coef=self.coef @ rotation, intercept=self.intercept @ rotation)

    def __call__(self, X: Any) -> Array:
        """Images of the rows of X, dense or sparse; shape (n, d)."""
        return np.asarray(X @ self.coef + self.intercept)


class Centered:
    """Rows of data from which a mean is subtracted: ``rows - outer(marks, mean)``.

    Dense data are a centred copy with ``mean`` zero; sparse data stay sparse. ``marks`` is one
    where a mean is subtracted.
    """

    def __init__(self, X: Any, mean: Array) -> None:
        self.marks = np.ones(X.shape[0])
        if not sp.issparse(X):
            self.rows, self.mean = X - mean, np.zeros_like(mean)
            return
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
        far = len(self.marks) * mean**2 > _MOSTLY * squares
        shift = sp.csr_array(self.marks[:, None]) @ sp.csr_array((mean * far)[None, :])
        self.rows, self.mean = sp.csr_array(sp.csr_array(X) - shift), np.where(far, 0.0, mean)

    def append(self, extra: Matrix) -> None:
        """Add rows of which no mean is subtracted."""
        if sp.issparse(self.rows):
            self.rows = sp.vstack([self.rows, sp.csr_array(extra)], format="csr")
        else:
            dense = extra.toarray() if sp.issparse(extra) else extra
            self.rows = np.vstack([self.rows, dense])
        self.marks = np.append(self.marks, np.zeros(extra.shape[0]))

    def dot(self, B: Array, part: Rows = slice(None)) -> Array:
        """Some of the rows times B."""
        return np.asarray(self.rows[part] @ B - np.multiply.outer(self.marks[part], self.mean @ B))

    def transposed_dot(self, B: Array) -> Array:
        """Transposed rows times B."""
        return np.asarray(self.rows.T @ B - np.multiply.outer(self.mean, self.marks @ B))

    def inner(self, of_rows: bool) -> Array:
        """Inner products of the rows, or of the columns."""
        A = self.rows if of_rows else self.rows.T
        if not sp.issparse(A):
            return np.asarray(A @ A.T)
        a, b = (self.marks, self.mean) if of_rows else (self.mean, self.marks)
        along = np.multiply.outer(A @ b, a)
        return np.asarray((A @ A.T).toarray() - along - along.T + b @ b * np.multiply.outer(a, a))


class Spectrum:
    """Singular value decomposition U diag(s) V^T of centred data.

    Dense data have both U and V. For sparse data, and more than ten million numbers, the smaller
    factor comes from inner products, and products with the data replace the other one. Squared
    singular values below ``resolution`` times the largest are rounding and left out.
    """

    def __init__(self, data: Centered) -> None:
        self.data = data
        self.left: Array | None = None
        self.right: Array | None = None
        n, m = data.rows.shape
        order = min(n, m)
        if order > DENSE:
            raise DataError(
                f"data of shape {(n, m)} need a dense eigendecomposition of order {order} here, "
                f"above {DENSE}. Pass a number alpha (and way='regression'), or reduce X first, "
                "with sklearn.decomposition.TruncatedSVD."
            )
        if not sp.issparse(data.rows) and n * m <= _QUICK_ENTRIES:
            left, s, right = np.linalg.svd(data.rows, full_matrices=False)
            self.resolution = (max(n, m) * _EPS) ** 2
            kept = s**2 > self.resolution * s[0] ** 2
            self.left, self.right = left[:, kept], right[kept].T
        else:
            squares, vectors = np.linalg.eigh(data.inner(of_rows=n <= m))
            self.resolution = order * _EPS / (1.0 - _MOSTLY)
            kept = squares > self.resolution * squares[-1]
            s = np.sqrt(np.maximum(squares, 0.0))
            if n <= m:
                self.left = vectors[:, kept]
            else:
                self.right = vectors[:, kept]
        self.s = s[kept]

    def left_rows(self, part: Rows = slice(None)) -> Array:
        """Some rows of U."""
        if self.left is not None:
            return self.left[part]
        assert self.right is not None
        return self.data.dot(self.right / self.s, part)

    def left_transposed(self, B: Array) -> Array:
        """U^T B."""
        if self.left is not None:
            return self.left.T @ B
        assert self.right is not None
        return self.right.T @ self.data.transposed_dot(B) / self.s[:, None]

    def right_dot(self, B: Array) -> Array:
        """V B."""
        if self.right is not None:
            return self.right @ B
        assert self.left is not None
        return self.data.transposed_dot(self.left @ (B / self.s[:, None]))

    def ridge(self, projected: Array, alpha: float) -> Array:
        """Coefficients of a ridge, of responses Y with the projection U^T Y."""
        return self.right_dot((self.s / (self.s**2 + alpha))[:, None] * projected)


def as_data(X: Any, name: str = "X", *, sparse: bool = True) -> Matrix:
    """A table of finite numbers as a float array or csr_array; no copy of one."""
    try:
        found = check_array(
            X, accept_sparse="csr" if sparse else False, dtype=np.float64, input_name=name
        )
    except (TypeError, ValueError) as error:
        raise refused(X, error, name) from None
    return sp.csr_array(found) if sp.issparse(found) else found


@checks_keywords
def ridge(
    X: Matrix,
    Y: Array,
    alpha: float = ALPHA,
    *,
    penalty: Matrix | None = None,
    weights: Array | None = None,
) -> LinearMapping:
    r"""Linear map that fits responses, with a quadratic penalty on its coefficients.

    .. math::

        \min_{A, b}\ \sum_i |A^T x_i + b - y_i|^2 + \alpha |P A|_F^2 .

    A singular value decomposition solves it or, for sparse data, an eigendecomposition of the
    smaller matrix of inner products. With more than 4000 rows and columns, LSQR uses products only
    (Cai thesis, (3.4)-(3.6); Paige and Saunders, ACM TOMS 8, 1982, whose damping is the square root
    of alpha).

    Parameters
    ----------
    X : array_like or sparse array of shape (n, m)
        Sparse data stay sparse: the mean is subtracted in products.
    Y : array_like of shape (n, d)
    alpha : float, default 0.1
        Nonnegative. If it is 0 and columns depend on each other, A has the least norm.
    penalty : array_like or sparse array of shape (p, m), optional
        P; the identity by default. `grid_laplacian` is one for images.
    weights : array of shape (n,), optional
        Weights of the mean that is subtracted from X and Y, nonnegative; ones by default. D 1 of a
        pencil maps its constant vector to zero.

    Returns
    -------
    LinearMapping
        With ``coef`` (m, d) and ``intercept`` (d,), and callable.

    Raises
    ------
    DataError, ShapeError

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import ridge
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> fitted = ridge(X, 2.0 * X + 1.0, alpha=0.0)
    >>> fitted.coef.round(6), fitted.intercept.round(6)
    (array([[2.]]), array([1.]))
    """
    X = as_data(X)
    n, m = X.shape
    Y = as_columns(Y, n)
    alpha = validate.non_negative("alpha", alpha)
    if penalty is not None:
        penalty = as_data(penalty, "penalty")
        if penalty.shape[1] != m:
            raise ShapeError(
                f"penalty has shape {penalty.shape}; expected {m} columns, one for each feature."
            )
    x_mean, y_mean = _means(X, Y, np.ones(n) if weights is None else weights)
    data, right = Centered(X, x_mean), Y - y_mean
    if penalty is not None:
        data.append(np.sqrt(alpha) * penalty)
        right = np.vstack([right, np.zeros((penalty.shape[0], Y.shape[1]))])
        alpha = 0.0
    if min(data.rows.shape) <= DENSE:
        spectrum = Spectrum(data)
        coef = spectrum.ridge(spectrum.left_transposed(right), alpha)
    else:
        operator = LinearOperator(
            data.rows.shape, matvec=data.dot, rmatvec=data.transposed_dot, dtype=float
        )
        options: dict[str, Any] = {"damp": np.sqrt(alpha), "atol": 1e-10, "btol": 1e-10}
        options["iter_lim"] = 10 * min(data.rows.shape) + 100
        columns = [lsqr(operator, column, **options)[0] for column in right.T]
        coef = np.column_stack(columns)
    return LinearMapping(coef, y_mean - x_mean @ coef)


def _means(X: Matrix, Y: Array, weights: Array) -> tuple[Array, Array]:
    if np.shape(weights) != (len(Y),) or not np.all(weights >= 0.0) or not np.any(weights):
        raise DataError(f"weights must be {len(Y)} nonnegative numbers, not all 0.")
    share = weights / weights.sum()
    return np.asarray(X.T @ share).ravel(), Y.T @ share


def as_columns(Y: Array, n: int) -> Array:
    """Responses of n samples as columns; a vector is one column."""
    Y = as_numbers("responses", Y)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or len(Y) != n:
        raise ShapeError(f"responses have shape {Y.shape}; expected {n} rows, one for each sample.")
    gone = ~np.isfinite(Y).all(axis=1)
    if gone.any():
        rows = listed(np.flatnonzero(gone))
        raise DataError(f"responses of samples {rows} are nan or infinite. Leave these out.")
    return Y


# -- choosing the ridge ----------------------------------------------------------------------------


class RidgeChoice(NamedTuple):
    """The ridge with the least leave-one-out error, and the map fitted with it to all samples.

    ``residuals`` (n, d) are those at every sample of the map fitted to all others.
    """

    alpha: float
    error: float
    residuals: Array
    mapping: LinearMapping


def choose_ridge(X: Matrix, Y: Array, alphas: Sequence[float] | None = None) -> RidgeChoice:
    """Ridge of a linear map with an intercept, by exact leave-one-out.

    A left-out residual is the residual over one less the diagonal entry of the hat matrix, so one
    decomposition serves all samples and ridges. If errors are equal, the first ridge is chosen.
    """
    n = X.shape[0]
    Y = as_columns(Y, n)
    X = validate.varying(X)
    x_mean, y_mean = _means(X, Y, np.ones(n))
    spectrum, right = Spectrum(Centered(X, x_mean)), Y - y_mean
    projected, squares = spectrum.left_transposed(right), spectrum.s**2
    grid = np.array(_grid(spectrum) if alphas is None else alphas, dtype=float)
    hat = squares / (squares + grid[:, None])
    residuals = np.empty((grid.size, *Y.shape))
    for part in blocks(np.arange(n), max(1, BLOCK // squares.size)):
        U = spectrum.left_rows(part)
        # A sample that determines its own fit teaches nothing when it is left out.
        rest = np.maximum(1.0 - 1.0 / n - hat @ np.square(U).T, 1e-12)
        residuals[:, part] = (right[part] - U @ (hat[:, :, None] * projected)) / rest[:, :, None]
    errors = np.sqrt(np.mean(np.square(residuals), axis=(1, 2)))
    best = int(np.argmax(errors <= (1.0 + _SAME) * errors.min()))
    coef = spectrum.ridge(projected, grid[best])
    mapping = LinearMapping(coef, y_mean - x_mean @ coef)
    return RidgeChoice(float(grid[best]), float(errors[best]), residuals[best], mapping)


def _grid(spectrum: Spectrum) -> Array:
    """Nine powers of ten up to the largest squared singular value; more if one column dominates."""
    squares = spectrum.s**2
    typical = float(np.median(squares)) / squares.max()
    lowest = int(np.floor(np.log10(typical))) - 4 if typical < 1e-8 else -8
    lowest = max(lowest, int(np.ceil(np.log10(spectrum.resolution))))
    return np.asarray(squares.max() * np.array([10.0**p for p in range(lowest, 1)]))


def is_quick(X: Matrix) -> bool:
    """Whether `choose_ridge` takes about a second at most."""
    entries = X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]
    return bool(min(X.shape) <= QUICK and entries <= _QUICK_ENTRIES)


def fixed_ridge(alpha: float | str, may_choose: bool) -> float | None:
    """The ridge of an option; None if leave-one-out chooses it."""
    if not isinstance(alpha, str):
        return float(alpha)
    return None if alpha == "loo" or may_choose else ALPHA


def require_ridge(alpha: float | str) -> None:
    """Refuse a ridge that is neither a nonnegative number nor "loo" or "auto"."""
    if isinstance(alpha, str):
        validate.choice("alpha", alpha, ("auto", "loo"))
    else:
        validate.non_negative("alpha", alpha)
