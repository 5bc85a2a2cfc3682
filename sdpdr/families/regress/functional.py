"""Sampled functions as weights of a few smooth ones."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import Reconstructing, as_precise, checked


@dataclass(eq=False, repr=False)
class BasisExpansion(Reconstructing):
    r"""Functions sampled on a grid, by their weights on Gaussians.

    .. math:: f_i(z) = \sum_j w_{ij} \psi_j(z), \quad \psi_j(z) = e^{-(z - r_j)^2/s^2}, \qquad
              w_i = (\Psi^T \Psi + \lambda I)^{-1} \Psi^T x_i .

    The distance of two functions in :math:`L_2` is :math:`(w - w')^T \Phi (w - w')` with the
    inner products :math:`\Phi` of the basis, which have a closed form; `whitened` weights have it
    as their plain distance.

    Parameters
    ----------
    n_components : int, default 10
        Gaussians, with centres evenly on the grid.
    width : float, optional
        s; two and a half times the distance of centres by default.
    ridge : float, default 1e-9
        :math:`\lambda`, 0 or more, relative to the largest eigenvalue of :math:`\Psi^T\Psi`.
    grid : array_like of shape (m,), optional
        Where functions are sampled; 0, 1, ..., m - 1 by default.
    whiten : bool, default False
        Return :math:`\Phi^{1/2} w`, so that distances are those of functions.

    Attributes
    ----------
    centers_ : array of shape (n_components,)
    width_ : float
    basis_ : array of shape (m, n_components)
        :math:`\Psi`.
    inner_products_ : array of shape (n_components, n_components)
        :math:`\Phi`.
    n_features_in_ : int

    References
    ----------
    Tong thesis, (2.39)-(2.48). Centres and widths are not moved: the printed gradients for that
    lack a factor of four, and the problem is not convex in them.

    Examples
    --------
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

    def fit(self, X: Any, y: Any = None) -> BasisExpansion:
        """Lay out the basis.

        Parameters
        ----------
        X : array_like of shape (n, m)
            Functions as rows.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        DataError, ShapeError
            A grid of another length, or one that does not rise; a negative ridge.
        """
        X = np.asarray(checked(self, X))
        m = X.shape[1]
        z = np.arange(float(m)) if self.grid is None else np.asarray(self.grid, dtype=float)
        if z.shape != (m,):
            raise ShapeError(f"grid must have shape ({m},), one place a column; it is {z.shape}.")
        if m > 1 and not np.all(np.diff(z) > 0.0):
            raise DataError("grid must rise strictly.")
        ridge = validate.non_negative("ridge", self.ridge)
        r = validate.positive_integer("n_components", self.n_components)
        self.centers_ = np.linspace(z[0], z[-1], r) if r > 1 else np.array([z.mean()])
        apart = (z[-1] - z[0]) / max(r - 1, 1) or 1.0
        given = self.width
        self.width_ = 2.5 * apart if given is None else validate.positive_number("width", given)
        self.basis_ = np.exp(-(((z[:, None] - self.centers_) / self.width_) ** 2))
        away = (self.centers_[:, None] - self.centers_) ** 2
        size = self.width_ * np.sqrt(np.pi / 2.0)
        self.inner_products_ = size * np.exp(-away / (2.0 * self.width_**2))
        gram = self.basis_.T @ self.basis_
        values, vectors = np.linalg.eigh(gram)
        shrunk = 1.0 / (np.maximum(values, 0.0) + max(ridge, 1e-14) * values[-1])
        self._weights = self.basis_ @ (vectors * shrunk) @ vectors.T
        values, vectors = np.linalg.eigh(self.inner_products_)
        root = np.sqrt(np.maximum(values, 1e-14 * values[-1]))
        self._root = (vectors * root) @ vectors.T
        self._unroot = (vectors / root) @ vectors.T
        return self

    def transform(self, X: Any) -> Array:
        """Weights of functions, shape (n, n_components)."""
        check_is_fitted(self, "basis_")
        weights = checked(self, X, reset=False) @ self._weights
        return as_precise(weights @ self._root if self.whiten else weights, X)

    def inverse_transform(self, W: ArrayLike) -> Array:
        """Functions of weights, on the grid; shape (n, m)."""
        check_is_fitted(self, "basis_")
        weights = np.asarray(W, dtype=float)
        return np.asarray((weights @ self._unroot if self.whiten else weights) @ self.basis_.T)

    @property
    def _n_features_out(self) -> int:
        return int(self.centers_.size)
