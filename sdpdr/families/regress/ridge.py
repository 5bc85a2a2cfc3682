"""Least squares with a quadratic penalty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import aslinearoperator, lsqr

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError

SOLVERS = ("auto", "cholesky", "dual", "lsqr", "svd")
# Up to this order a dense factorization is taken.
_LARGE = 4000
# Rows of a sparse or tall matrix made dense at a time.
_BLOCK = 65536
# A Cholesky factor with a smaller pivot, relative to its largest, solves nothing reliably.
_SINGULAR = 1e-7
# Share of a column's squares that are its mean's, beyond which few of its entries are zero.
_MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class LinearMapping:
    """x -> x @ coef + intercept.

    Attributes
    ----------
    coef : array of shape (m, d)
    intercept : array of shape (d,)
    solver : str
        Which way it was found.
    """

    coef: Array
    intercept: Array
    solver: str

    @classmethod
    def through_means(
        cls, X: Any, Y: Array, coef: Array, solver: str, sample_weight: Array | None = None
    ) -> LinearMapping:
        """With the intercept that takes the mean of X to the mean of Y."""
        weights = np.ones(len(Y)) if sample_weight is None else sample_weight
        share = weights / weights.sum()
        return cls(coef, share @ Y - np.asarray(X.T @ share).ravel() @ coef, solver)

    def turned(self, turn: Array) -> LinearMapping:
        """Fitted to the responses times a matrix."""
        return replace(self, coef=self.coef @ turn, intercept=self.intercept @ turn)

    def __call__(self, X: Any) -> Array:
        """Images of the rows of X, dense or sparse; shape (n, d)."""
        return np.asarray(X @ self.coef + self.intercept)


def ridge(
    X: Matrix,
    Y: Array,
    alpha: float = 0.1,
    *,
    penalty: Matrix | None = None,
    weights: Array | None = None,
    sample_weight: Array | None = None,
    intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-10,
    max_iter: int | None = None,
) -> LinearMapping:
    r"""Linear map that fits responses, with a quadratic penalty on its coefficients.

    .. math::

        \min_{A, b}\ \sum_i w_i\, |A^T x_i + b - y_i|^2 + \alpha |P A|_F^2 .

    Parameters
    ----------
    X : array or sparse array of shape (n, m)
        Sparse data are never made dense: the mean is taken off implicitly.
    Y : array of shape (n, d)
    alpha : float, default 0.1
        0 or more. At 0 with dependent columns, the A of least norm.
    penalty : array or sparse array of shape (p, m), optional
        P; the identity by default. `grid_laplacian` is one for images.
    weights : array of shape (n,), optional
        Which mean is taken off X and Y: that of weights c rather than of ``sample_weight``. The
        fit itself does not heed them.
    sample_weight : array of shape (n,), optional
        w, 0 or more; ones by default. Two is as if a row were there twice.
    intercept : bool, default True
        Whether there is a b; it is not penalised.
    solver : {"auto", "cholesky", "dual", "lsqr", "svd"}, default "auto"
        ``"cholesky"`` of the m x m matrix :math:`X^T X + \alpha P^T P`; ``"dual"``, of the n x n
        matrix :math:`X X^T + \alpha I`; ``"lsqr"``, iterations that touch X by products only;
        ``"svd"``, for :math:`\alpha = 0`. By default the smaller factorization, and iterations
        where both are large.
    tol : float, default 1e-10
        Of iterations, relative.
    max_iter : int, optional
        Of iterations.

    Raises
    ------
    DataError
        A negative alpha; ``"dual"`` with a penalty of one's own; a singular system.
    ShapeError

    References
    ----------
    Cai thesis, (3.4)-(3.6); LSQR: Paige and Saunders, ACM TOMS 8, 1982, whose damping is the root
    of alpha.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> fitted = ridge(X, 2.0 * X + 1.0, alpha=0.0)
    >>> fitted.coef.round(6), fitted.intercept.round(6)
    (array([[2.]]), array([1.]))
    """
    n, m = X.shape
    Y = as_columns(Y, n)
    alpha = validate.non_negative("alpha", alpha)
    if penalty is not None and np.shape(penalty)[1:] != (m,):
        said = f"its shape is {np.shape(penalty)}"
        raise ShapeError(f"penalty must be a matrix of {m} columns, one a feature; {said}.")
    data = CenteredData.of(X, Y, weights, intercept, sample_weight)
    chosen = _choose(solver, data, alpha, penalty)
    if chosen == "cholesky":
        coef = _cholesky(data, alpha, penalty)
    elif chosen == "dual":
        coef = _dual(data, alpha)
    elif chosen == "svd":
        coef = np.asarray(np.linalg.lstsq(data.dense(), data.Y, rcond=None)[0])
    else:
        coef = _iterated(data, alpha, penalty, tol, max_iter)
    return LinearMapping(coef, data.y_mean - data.x_mean @ coef, chosen)


def as_columns(Y: Array, n: int) -> Array:
    """Responses of n samples as columns; a vector is one."""
    Y = np.asarray(Y, dtype=float)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or len(Y) != n:
        raise ShapeError(f"responses must have {n} rows, one a sample; their shape is {Y.shape}.")
    return Y


@dataclass(frozen=True, eq=False)
class CenteredData:
    """Data less a mean, which is only taken off in products; rows times the roots of weights.

    Attributes
    ----------
    X : array or sparse array of shape (n, m)
        Rows times their roots, the mean not taken off.
    Y : array of shape (n, d)
        The same, the mean taken off.
    x_mean : array of shape (m,)
    y_mean : array of shape (d,)
    roots : array of shape (n,)
        Of the weights of samples.
    """

    X: Any
    Y: Array
    x_mean: Array
    y_mean: Array
    roots: Array

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Array,
        weights: Array | None,
        intercept: bool,
        sample_weight: Array | None = None,
    ) -> CenteredData:
        """With the weighted mean if there is an intercept, as for `ridge`."""
        n, m = X.shape
        x_mean, y_mean = np.zeros(m), np.zeros(Y.shape[1])
        if intercept:
            means = weights if weights is not None else sample_weight
            c = np.asarray(np.ones(n) if means is None else means, dtype=float)
            if c.shape != (n,) or not np.all(c >= 0.0) or not c.sum() > 0.0:
                raise DataError(f"weights must be {n} numbers of 0 or more, not all 0.")
            share = c / c.sum()
            x_mean, y_mean = np.asarray(X.T @ share).ravel(), Y.T @ share
        if sample_weight is None:
            return cls(X, Y - y_mean, x_mean, y_mean, np.ones(n))
        roots = np.sqrt(sample_weight)
        scaled = sp.diags_array(roots) @ X if sp.issparse(X) else roots[:, None] * X
        return cls(scaled, roots[:, None] * (Y - y_mean), x_mean, y_mean, roots)

    @classmethod
    def about(cls, X: Any, x_mean: Array) -> CenteredData:
        """Data without responses, less a mean that is given."""
        n = X.shape[0]
        return cls(X, np.zeros((n, 0)), x_mean, np.zeros(0), np.ones(n))

    def moved(self) -> CenteredData:
        """The same; of dense data the mean is taken off at once, which loses fewer digits."""
        if sp.issparse(self.X):
            return self
        return replace(self, X=self.dense(), x_mean=np.zeros(self.X.shape[1]))

    def dense(self, rows: slice | None = None) -> Array:
        """The centred data, or some rows of them."""
        part = self.X if rows is None else self.X[rows]
        roots = self.roots if rows is None else self.roots[rows]
        part = part.toarray() if sp.issparse(part) else part
        return np.asarray(part - np.multiply.outer(roots, self.x_mean))

    def times(self, B: Array, rows: slice) -> Array:
        """Some rows of the centred data, times B."""
        return np.asarray(self.X[rows] @ B - np.multiply.outer(self.roots[rows], self.x_mean @ B))

    def transposed_times(self, B: Array) -> Array:
        """X^T B of the centred data."""
        return np.asarray(self.X.T @ B) - np.multiply.outer(self.x_mean, self.roots @ B)

    def form(self, M: Matrix) -> Array:
        """X^T M X of the centred data, for a symmetric matrix M; of those far from zero `moved`."""
        inner = self.X.T @ (M @ self.X)
        inner = inner.toarray() if sp.issparse(inner) else np.asarray(inner)
        sums = M @ self.roots
        side = np.outer(self.X.T @ sums, self.x_mean)
        total = float(self.roots @ sums)
        return np.asarray(inner - side - side.T + total * np.outer(self.x_mean, self.x_mean))

    def outer(self) -> Array:
        """X X^T of the centred data; of columns far from zero without what would cancel."""
        far = self._far
        X, mean = self.X[:, ~far], self.x_mean[~far]
        along = np.multiply.outer(X @ mean, self.roots)
        inner = X @ X.T
        inner = inner.toarray() if sp.issparse(inner) else np.asarray(inner)
        inner = inner - along - along.T + mean @ mean * np.multiply.outer(self.roots, self.roots)
        if far.any():
            columns = replace(self, X=self.X[:, far], x_mean=self.x_mean[far]).dense()
            inner += columns @ columns.T
        return np.asarray(inner)

    @cached_property
    def _far(self) -> NDArray[np.bool_]:
        """Columns whose mean is large beside their spread, of which few entries are zero."""
        squares = self.X.multiply(self.X) if sp.issparse(self.X) else np.square(self.X)
        whole = np.asarray(squares.sum(axis=0)).ravel()
        return np.asarray(np.square(self.x_mean) * np.sum(np.square(self.roots)) > _MOSTLY * whole)

    def gram(self) -> Array:
        """X^T X of the centred data; a block of rows at a time, so that nothing cancels."""
        n, m = self.X.shape
        total = np.zeros((m, m))
        for part in row_parts(n, m):
            block = self.dense(part)
            total += block.T @ block
        return total

    @property
    def is_wide(self) -> bool:
        """Whether there are no fewer columns than rows."""
        return bool(self.X.shape[0] <= self.X.shape[1])

    def eigenvectors(self) -> tuple[Array, Array]:
        """Of `outer` if the data are wide, else of `gram`: squared singular values, and vectors.

        Values that rounding may be all of are zero.

        Raises
        ------
        DataError
            The order of both is too large for a dense decomposition.
        """
        order = min(self.X.shape)
        if order > _LARGE:
            raise DataError(
                f"sparse data of shape {self.X.shape} take a dense eigendecomposition of order "
                f"{order} here, above {_LARGE}. Pass a number alpha (and way='regression'), or "
                "reduce X first, with sklearn.decomposition.TruncatedSVD."
            )
        values, vectors = np.linalg.eigh(self.outer() if self.is_wide else self.gram())
        # The mean of sparse rows is taken off their products, which are as large as the rows are.
        rounding = order * np.finfo(float).eps * float(values[-1]) / (1.0 - _MOSTLY)
        return np.where(values > rounding, values, 0.0), vectors


def _choose(solver: str, data: CenteredData, alpha: float, penalty: Matrix | None) -> str:
    validate.choice("solver", solver, SOLVERS)
    n, m = data.X.shape
    if solver == "dual" and (penalty is not None or alpha == 0.0):
        raise DataError("solver='dual' needs alpha > 0 and the plain penalty; leave solver out.")
    if solver == "svd" and alpha > 0.0:
        raise DataError("solver='svd' is for alpha=0; leave solver out.")
    if solver != "auto":
        return solver
    if alpha == 0.0:
        return "svd" if min(n, m) <= _LARGE and n * m <= _LARGE * _LARGE else "lsqr"
    if n < m and n <= _LARGE and penalty is None:
        return "dual"
    # A sparse matrix with few entries a row is cheaper to multiply by than to square.
    return "cholesky" if m <= _LARGE else "lsqr"


def _cholesky(data: CenteredData, alpha: float, penalty: Matrix | None) -> Array:
    gram = data.gram()
    if penalty is None:
        gram[np.diag_indices_from(gram)] += alpha
    else:
        square = penalty.T @ penalty
        gram += alpha * (square.toarray() if sp.issparse(square) else square)
    return np.asarray(_solve_definite(gram, data.transposed_times(data.Y)))


def _dual(data: CenteredData, alpha: float) -> Array:
    data = data.moved()
    gram = data.outer()
    gram[np.diag_indices_from(gram)] += alpha
    return data.transposed_times(_solve_definite(gram, data.Y))


def _solve_definite(gram: Array, right: Array) -> Array:
    words = (
        "the least-squares system is singular: features depend on each other and the penalty "
        "does not tell them apart. Raise alpha, or use solver='lsqr'."
    )
    return np.asarray(sl.cho_solve((upper_factor(gram, _SINGULAR, words), False), right))


def upper_factor(matrix: Array, least: float, words: str) -> Array:
    """Upper triangular R with R^T R = M, in which the least pivot is not too small.

    Otherwise a `DataError` with these words.
    """
    try:
        factor = np.asarray(sl.cholesky(matrix, check_finite=False))
    except np.linalg.LinAlgError:
        raise DataError(words) from None
    pivots = np.diag(factor)
    if not pivots.min(initial=np.inf) > least * pivots.max(initial=0.0):
        raise DataError(words)
    return factor


def _iterated(
    data: CenteredData, alpha: float, penalty: Matrix | None, tol: float, max_iter: int | None
) -> Array:
    X, Y, roots, damp = data.X, data.Y, data.roots, float(np.sqrt(alpha))
    if penalty is not None:
        X = sp.vstack([sp.csr_array(X), damp * sp.csr_array(penalty)], format="csr")
        Y = np.vstack([Y, np.zeros((penalty.shape[0], Y.shape[1]))])
        roots, damp = np.append(roots, np.zeros(penalty.shape[0])), 0.0
    mean = aslinearoperator(roots[:, None]) @ aslinearoperator(data.x_mean[None])
    operator, limit = aslinearoperator(X) - mean, max_iter or 10 * min(X.shape) + 100
    columns = [lsqr(operator, y, damp, tol, tol, iter_lim=limit)[0] for y in Y.T]
    return np.column_stack(columns)


def row_parts(n: int, width: int) -> Iterator[slice]:
    """Rows of a tall matrix of some width, not too many at a time."""
    step = max(1, _BLOCK * 64 // max(width, 1))
    return (slice(start, start + step) for start in range(0, n, step))
