"""Coordinates of points from a kernel matrix, in which a metric is learned as in any others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError

# Relative to the largest eigenvalue: smaller ones are rounding, and more negative ones a fault.
_RANK = 1e-10
_INDEFINITE = 1e-8


class KernelCoordinates(NamedTuple):
    """Coordinates Z of the known points, and the matrix that places others."""

    coordinates: Array
    placing: Array


def kernel_coordinates(kernel: Array) -> KernelCoordinates:
    r"""Coordinates Z with :math:`Z Z^T = K`, and the map that gives those of new points.

    With :math:`K = U \Lambda U^T`, :math:`Z = U_+ \Lambda_+^{1/2}`, and a point x with kernel
    values :math:`k_x` to the known points has :math:`z = \Lambda_+^{-1/2} U_+^T k_x`. A metric A
    on Z is :math:`(k_x - k_y)^T W (k_x - k_y)` with :math:`W = U_+\Lambda_+^{-1/2} A
    \Lambda_+^{-1/2} U_+^T`; its trace is :math:`\operatorname{tr} A = \operatorname{tr} K W`, and
    not tr W.

    Parameters
    ----------
    kernel : array of shape (n, n)
        K, symmetric positive semidefinite.

    Returns
    -------
    coordinates : array of shape (n, r)
        Z.
    placing : array of shape (n, r)
        :math:`U_+ \Lambda_+^{-1/2}`, so that ``k_x @ placing`` are the coordinates of x.

    Raises
    ------
    DataError
        K is not symmetric, not positive semidefinite, or zero.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> found = kernel_coordinates(X @ X.T)
    >>> found.coordinates.shape
    (3, 2)
    >>> bool(np.allclose(X @ X.T @ found.placing, found.coordinates))
    True
    """
    values, vectors = np.linalg.eigh(validate.symmetric("kernel", kernel))
    if values[-1] <= 0.0 or values[0] < -_INDEFINITE * values[-1]:
        raise DataError(
            f"the kernel matrix is not positive semidefinite: its eigenvalues range over "
            f"{values[0]:.3g}..{values[-1]:.3g}. Pass similarities, not distances; for squared "
            "distances D, exp(-gamma * D) will do."
        )
    kept = np.flatnonzero(values > _RANK * values[-1])[::-1]
    root = np.sqrt(values[kept])
    return KernelCoordinates(vectors[:, kept] * root, vectors[:, kept] / root)
