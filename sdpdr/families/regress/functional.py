"""Sampled functions as combinations of a few Gaussians."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import Reconstructing, as_precise, checked

# Bounds of widths relative to the length of the grid: narrower Gaussians fall between two grid
# points, and wider ones are constant.
_WIDTHS = (1e-3, 10.0)
_RIDGE = 1e-14


def gaussian_basis(grid: Array, centers: Array, widths: Array) -> Array:
    r""":math:`\Psi_{lj} = e^{-(z_l - r_j)^2/s_j^2}`, shape (m, r)."""
    return np.exp(-(((grid[:, None] - centers) / widths) ** 2))


def basis_misfit(
    X: Array, grid: Array, centers: Array, widths: Array, ridge: float
) -> tuple[float, Array, Array]:
    r"""Least squared error of functions on a basis, and its slopes in centres and widths.

    .. math:: \min_W\ |X - W \Psi^T|_F^2 + \lambda |W|_F^2

    The best weights are stationary, so with :math:`E = W \Psi^T - X` the slope in
    :math:`r_j` is :math:`2 \sum_i w_{ij} \sum_l E_{il}\, 2 (z_l - r_j)/s_j^2\, \Psi_{lj}`, and that
    in :math:`s_j` has :math:`2 (z_l - r_j)^2/s_j^3` in its place.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    grid : ndarray of shape (m,)
    centers, widths : ndarray of shape (r,)
    ridge : float
        :math:`\lambda`, positive.

    Returns
    -------
    value : float
    by_center, by_width : ndarray of shape (r,)

    References
    ----------
    Tong thesis, (2.42)-(2.48), which print a quarter of these slopes: a factor 2 is missing
    from :math:`\partial \psi`, and another one from the square.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import basis_misfit
    >>> from sdpdr.families.regress.functional import gaussian_basis
    >>> z = np.linspace(0.0, 1.0, 5)
    >>> one = gaussian_basis(z, np.array([0.4]), np.array([0.5])).T
    >>> value, by_center, by_width = basis_misfit(one, z, np.array([0.4]), np.array([0.5]), 1e-12)
    >>> bool(value < 1e-10), bool(abs(by_center[0]) < 1e-10)
    (True, True)
    """
    X, grid, centers, widths = (np.asarray(each, float) for each in (X, grid, centers, widths))
    basis = gaussian_basis(grid, centers, widths)
    weights = X @ _ridge_solution(basis, ridge)
    left = weights @ basis.T - X
    pull = (left.T @ weights) * basis
    away = grid[:, None] - centers
    value = float(np.sum(left**2) + ridge * np.sum(weights**2))
    by_center = 4.0 * np.sum(pull * away, axis=0) / widths**2
    by_width = 4.0 * np.sum(pull * away**2, axis=0) / widths**3
    return value, by_center, by_width


def _ridge_solution(basis: Array, ridge: float) -> Array:
    r""":math:`\Psi (\Psi^T \Psi + \lambda I)^{-1}`, by the singular values of :math:`\Psi`."""
    left, singular, right = np.linalg.svd(basis, full_matrices=False)
    return (left * (singular / (singular**2 + ridge))) @ right


@dataclass(eq=False, repr=False)
class BasisExpansion(Reconstructing):
    r"""Functions sampled on a grid, as weights of Gaussians.

    .. math:: f_i(z) = \sum_j w_{ij} \psi_j(z), \quad \psi_j(z) = e^{-(z - r_j)^2/s_j^2}, \qquad
              w_i = (\Psi^T \Psi + \lambda I)^{-1} \Psi^T x_i .

    The distance of two functions in :math:`L_2` is :math:`(w - w')^T \Phi (w - w')` with the
    inner products :math:`\Phi` of the basis, in closed form; with ``whiten``, it is the distance of
    the weights.

    Parameters
    ----------
    n_components : int, default 10
        Number of Gaussians, whose centres are evenly spaced, or start so.
    width : float, optional
        s; 2.5 times the distance of centres by default.
    ridge : float, default 1e-9
        :math:`\lambda`, nonnegative, relative to the largest eigenvalue of :math:`\Psi^T\Psi` with
        evenly spaced centres.
    grid : array_like of shape (m,), optional
        Sample positions; 0, 1, ..., m - 1 by default.
    whiten : bool, default False
        Return :math:`\Phi^{1/2} w`, so that distances are those of functions.
    max_moves : int, default 0
        Largest number of L-BFGS steps that minimize `basis_misfit` over centres and widths. A few
        hundred reach a stationary point; the problem is not convex.

    Attributes
    ----------
    centers_, widths_ : array of shape (n_components,)
    misfit_ : float
        Squared error on the functions of the fit.
    basis_ : array of shape (m, n_components)
        :math:`\Psi`.
    n_features_in_ : int

    References
    ----------
    Tong thesis, (2.39)-(2.48).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import BasisExpansion
    >>> z = np.linspace(0.0, 1.0, 50)
    >>> waves = np.sin(np.outer([1.0, 2.0, 3.0], z))
    >>> expansion = BasisExpansion(8, grid=z).fit(waves)
    >>> weights = expansion.transform(waves)
    >>> weights.shape, bool(np.abs(expansion.inverse_transform(weights) - waves).max() < 0.01)
    ((3, 8), True)
    """

    n_components: int = 10
    _: KW_ONLY
    width: float | None = None
    ridge: float = 1e-9
    grid: Any = None
    whiten: bool = False
    max_moves: int = 0

    def fit(self, X: Any, y: Any = None) -> BasisExpansion:
        """Choose the basis for functions as rows of X, shape (n, m); y is ignored."""
        X = np.asarray(checked(self, X))
        m = X.shape[1]
        z = np.arange(float(m)) if self.grid is None else np.asarray(self.grid, dtype=float)
        if z.shape != (m,):
            raise ShapeError(
                f"grid has shape {z.shape}; expected ({m},), one position for each column."
            )
        if m > 1 and not np.all(np.diff(z) > 0.0):
            raise DataError("grid must be strictly increasing.")
        ridge = validate.non_negative("ridge", self.ridge)
        r = validate.positive_integer("n_components", self.n_components)
        self.centers_ = np.linspace(z[0], z[-1], r) if r > 1 else np.array([z.mean()])
        width = self.width
        if width is None:
            width = 2.5 * ((z[-1] - z[0]) / max(r - 1, 1) or 1.0)
        self.widths_ = np.full(r, validate.positive_number("width", float(width)))
        even = gaussian_basis(z, self.centers_, self.widths_)
        penalty = max(ridge, _RIDGE) * float(np.linalg.norm(even, 2)) ** 2
        if validate.positive_integer("max_moves", self.max_moves, at_least=0):
            self._move(X, z, penalty)
        self.basis_ = gaussian_basis(z, self.centers_, self.widths_)
        self._weights = _ridge_solution(self.basis_, penalty)
        self.misfit_ = float(np.sum((X @ self._weights @ self.basis_.T - X) ** 2))
        self._root = self._unroot = np.eye(r)
        if self.whiten:
            values, vectors = np.linalg.eigh(_inner_products(self.centers_, self.widths_))
            root = np.sqrt(np.maximum(values, 1e-14 * values[-1]))
            self._root, self._unroot = ((vectors * s) @ vectors.T for s in (root, 1.0 / root))
        return self

    def _move(self, X: Array, z: Array, penalty: float) -> None:
        """Minimize over centres and log-widths, in units of the grid and the data."""
        length = float(z[-1] - z[0]) or 1.0
        size = float(np.sum(X**2)) or 1.0
        r = self.centers_.size

        def objective(point: Array) -> tuple[float, Array]:
            widths = length * np.exp(point[r:])
            value, by_center, by_width = basis_misfit(X, z, length * point[:r], widths, penalty)
            slope = np.concatenate([length * by_center, widths * by_width])
            return value / size, slope / size

        start = np.concatenate([self.centers_ / length, np.log(self.widths_ / length)])
        limits = [(z[0] / length, z[-1] / length)] * r + [tuple(np.log(_WIDTHS))] * r
        moves = self.max_moves
        options = {"maxiter": moves, "maxfun": 20 * moves, "gtol": 1e-9, "ftol": 1e-14}
        found = minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=limits, options=options
        )
        order = np.argsort(found.x[:r], kind="stable")
        self.centers_ = length * found.x[:r][order]
        self.widths_ = length * np.exp(found.x[r:][order])

    def transform(self, X: Any) -> Array:
        """Weights of functions, shape (n, n_components)."""
        check_is_fitted(self, "basis_")
        return as_precise(checked(self, X, reset=False) @ self._weights @ self._root, X)

    def inverse_transform(self, W: ArrayLike) -> Array:
        """Functions of weights, on the grid; shape (n, m)."""
        check_is_fitted(self, "basis_")
        return np.asarray(np.asarray(W, dtype=float) @ self._unroot @ self.basis_.T)

    @property
    def _n_features_out(self) -> int:
        return int(self.centers_.size)


def _inner_products(centers: Array, widths: Array) -> Array:
    """Integrals over the line of products of Gaussians, two at a time."""
    squares = widths[:, None] ** 2 + widths**2
    away = (centers[:, None] - centers) ** 2
    sizes = np.sqrt(np.pi) * np.outer(widths, widths) / np.sqrt(squares)
    return np.asarray(sizes * np.exp(-away / squares))
