"""Side information: labels, numbers, graphs or kernels, as a factor of their kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError, SdpdrWarning, ShapeError
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.svec import Array

# Eigenvalues of a kernel below this share of the largest are dropped.
_NEGLIGIBLE = 1e-12
_NEGATIVE = 1e-9


@dataclass(frozen=True, eq=False)
class Side:
    r"""Side information as a kernel :math:`T = F \operatorname{diag}(s) F^T`.

    Attributes
    ----------
    factor : array of shape (n, q)
        F.
    signs : array of shape (q,)
        s, each 1 or -1; a kernel has only the former.
    """

    factor: Array
    signs: Array


def side_information(
    y: ArrayLike | NeighborGraph | Side | None = None, *, kernel: ArrayLike | None = None
) -> Side:
    r"""Read side information.

    Parameters
    ----------
    y : array_like, NeighborGraph or Side, optional
        Numbers (floating point) of shape (n,) or (n, q) are F itself. Labels (texts, whole
        numbers, truth values) of shape (n,) give one column per class, so that
        :math:`T_{ij} = 1` where labels agree. A graph gives :math:`T = (I + L)^{-1}`, L its
        Laplacian.
    kernel : array_like of shape (n, n), optional
        T itself, symmetric. Give either this or y.

    Returns
    -------
    Side

    Raises
    ------
    DataError
        Neither or both are given; entries are not finite; the kernel is not symmetric.
    ShapeError
        An array has another shape than these.

    Warns
    -----
    SdpdrWarning
        A kernel has negative eigenvalues: the program is as well defined, but measures no
        dependence.

    Examples
    --------
    >>> side_information(["red", "blue", "red"]).factor
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    >>> side_information([0.5, 1.5]).factor.shape
    (2, 1)
    """
    if (y is None) == (kernel is None):
        raise DataError("give side information either as y or as kernel, and not as both.")
    if kernel is not None:
        return _of_kernel(np.asarray(kernel, dtype=float))
    if isinstance(y, Side):
        return y
    if isinstance(y, NeighborGraph):
        return _of_kernel(np.linalg.inv(np.eye(y.n) + y.laplacian().toarray()))
    values = np.asarray(y)
    if values.dtype.kind == "f":
        return _of_numbers(values)
    if values.ndim != 1:
        raise ShapeError(f"labels must have shape (n,); they have {values.shape}.")
    classes, code = np.unique(values, return_inverse=True)
    return _plain(np.eye(len(classes))[code])


def _of_numbers(values: Array) -> Side:
    if values.ndim not in (1, 2) or values.size == 0:
        raise ShapeError(f"numbers must have shape (n,) or (n, q); they have {values.shape}.")
    if not np.isfinite(values).all():
        raise DataError("the side information holds nan or infinite numbers; drop those points.")
    return _plain(values.reshape(len(values), -1).astype(float))


def _of_kernel(T: Array) -> Side:
    if T.ndim != 2 or T.shape[0] != T.shape[1] or T.size == 0:
        raise ShapeError(f"a kernel must have shape (n, n); it has {T.shape}.")
    if not np.isfinite(T).all():
        raise DataError("the kernel holds nan or infinite numbers.")
    if np.abs(T - T.T).max() > _NEGATIVE * np.abs(T).max():
        raise DataError("the kernel is not symmetric; use (T + T.T) / 2 if that is what you mean.")
    values, vectors = np.linalg.eigh((T + T.T) / 2.0)
    size = np.abs(values).max()
    if values[0] < -_NEGATIVE * size:
        warnings.warn(
            f"the kernel has negative eigenvalues (the lowest is {values[0]:.3g}, the largest "
            f"{values[-1]:.3g}), so its objective measures no dependence.",
            SdpdrWarning,
            stacklevel=3,
        )
    kept = np.abs(values) > _NEGLIGIBLE * size
    signs = np.where(values[kept] > 0.0, 1.0, -1.0)
    return Side(vectors[:, kept] * np.sqrt(np.abs(values[kept])), signs)


def _plain(factor: Array) -> Side:
    return Side(factor, np.ones(factor.shape[1]))
