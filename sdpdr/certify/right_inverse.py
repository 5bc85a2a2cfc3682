r"""Exact solutions of equations near a point, by an approximate right inverse.

With :math:`M = E D^{1/2}` and any R for which :math:`|I - M R| \le \epsilon < 1` is proved,
:math:`E y = f` has the solution :math:`y + D^{1/2} R (M R)^{-1} (f - E y)`, hence one within

.. math::  |\Delta_j| \le D_j^{1/2}\, |R_{j \cdot}|_2\, \frac{|f - E y|_2}{1 - \epsilon} .

R comes from an orthogonal factorization of M; the Gram matrix :math:`M M^T` squares its condition.

References
----------
Rump, "Verification methods: rigorous results using floating-point arithmetic", Acta Numerica 19,
2010.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.rounding import TINY, residual
from sdpdr.linalg.rounding import gamma, near_powers

# Corrections of a point.
_CORRECTIONS = 4
# Multiplications for which dense matrices are formed: about a second.
_MOST = 1e10


class RightInverse:
    """R for the equations E y = f, in units that suit their rows.

    Parameters
    ----------
    E : sparse array of shape (m, n)
    D : array of shape (n,)
        Squared sizes by which entries may move.
    data : sparse array of shape (m, n + 1), optional
        Radii of the numbers of E and, last, of f.

    Attributes
    ----------
    shows : bool
        Whether M R is proved to be near the identity.

    Examples
    --------
    >>> E = sp.csr_array([[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    >>> near = RightInverse(E, np.ones(2))
    >>> near.shows, bool(near.radius(np.zeros(2), np.zeros(2)).max() == 0.0)
    (True, True)
    """

    def __init__(self, E: sp.csr_array, D: Array, data: sp.csr_array | None = None) -> None:
        m, n = E.shape
        self.shows = False
        if m > n or float(m) * m * n > _MOST:
            return
        self._root = np.sqrt(D)
        sizes = np.asarray(E.multiply(E) @ D).ravel()
        self._units = 1.0 / near_powers(np.sqrt(np.maximum(sizes, 1e-280)))
        self._E = sp.csr_array(sp.diags_array(self._units) @ E)
        self._data = None if data is None else sp.csr_array(sp.diags_array(self._units) @ data)
        M = self._E.toarray() * self._root
        try:
            Q, T = sl.qr(M.T, mode="economic", check_finite=False)
            self._R = np.array(sl.solve_triangular(T, Q.T, check_finite=False).T)
        except np.linalg.LinAlgError:
            return
        # What no equation sees stays where it is.
        self._R[~np.any(M, axis=0)] = 0.0
        size = np.abs(M) @ np.abs(self._R)
        # Products, their sum, and the rounding of M itself.
        far = np.abs(np.eye(m) - M @ self._R) + float(gamma(n + 6)) * (size + np.eye(m))
        if self._data is not None:
            far = far + 1.01 * ((self._data[:, :-1] * self._root) @ np.abs(self._R))
        epsilon = 1.01 * np.sqrt(far.sum(axis=0).max() * far.sum(axis=1).max())
        self.shows = bool(epsilon < 1.0)
        self._rows = _lengths(self._R) / (1.0 - epsilon)

    def nearest(self, y: Array, f: Array) -> Array:
        """The solution next to y, up to rounding."""
        for _ in range(_CORRECTIONS):
            missed = residual(self._units * f, self._E, y)[0]
            y = y + self._root * (self._R @ missed)
        return y

    def radius(self, y: Array, f: Array) -> Array:
        """Within this of y, entry by entry, lies an exact solution."""
        missed, around = residual(self._units * f, self._E, y, data=self._data)
        apart = _lengths((np.abs(missed) + around)[None])[0]
        moves = (self._rows > 0.0) & (apart > 0.0)
        # Products may underflow.
        return np.asarray(1.01 * self._root * self._rows * apart + TINY * moves)


def _lengths(rows: Array) -> Array:
    """Lengths of rows, in units in which squares do not underflow, and a little more."""
    largest = np.max(np.abs(rows), axis=1, initial=0.0)
    unit = np.where(largest > 0.0, near_powers(np.where(largest > 0.0, largest, 1.0)), 1.0)
    return np.asarray(1.001 * unit * np.linalg.norm(rows / unit[:, None], axis=1))
