"""Two bases in closed form: from the covariances of rows and of columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.bilinear.bases import Bases
from sdpdr.bilinear.inputs import matrices, numbers_of_components
from sdpdr.bilinear.spectra import is_tied, leading
from sdpdr.errors import DataError
from sdpdr.graphs import validate


def two_d_svd(X: ArrayLike, n_components: int | Sequence[int] = 2, *, center: bool = True) -> Bases:
    r"""Two-dimensional singular value decomposition: leading eigenvectors of both covariances.

    .. math:: F = \sum_i (M_i - \bar M)(M_i - \bar M)^T, \qquad
              G = \sum_i (M_i - \bar M)^T (M_i - \bar M) .

    Parameters
    ----------
    X : array_like of shape (n, p, q)
    n_components : int or pair of int, default 2
        k, of both sides or of each.
    center : bool, default True
        Whether to subtract the mean :math:`\bar M`.

    Returns
    -------
    Bases
        ``value`` is the energy kept of the (centred) stack.

    Raises
    ------
    DataError, ShapeError
        As `matrices` and `numbers_of_components`.

    References
    ----------
    Ding and Ye, "2-dimensional singular value decomposition for 2D maps and images", SIAM
    International Conference on Data Mining, 2005. Tong thesis, section 4.1.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> two_d_svd(X).rows.shape
    (5, 2)
    """
    stack = matrices(X, center=center)
    ks = numbers_of_components(n_components, stack.shape)
    left = np.tensordot(stack, stack, axes=((0, 2), (0, 2)))
    right = np.tensordot(stack, stack, axes=((0, 1), (0, 1)))
    bases = Bases(leading(left, ks[0]), leading(right, ks[1]), 0.0)
    unique = not (is_tied(left, ks[0]) or is_tied(right, ks[1]))
    return Bases(bases.rows, bases.columns, bases.energy(stack), unique=unique)


def two_d_pca(X: ArrayLike, n_components: int = 2, *, center: bool = True) -> Bases:
    r"""Two-dimensional principal component analysis: columns only, rows as they are.

    B are the leading eigenvectors of G as in `two_d_svd`, the best for
    :math:`\max_B \sum_i |(M_i - \bar M) B|_F^2`; A is the identity.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
    n_components : int, default 2
        k, at most q.
    center : bool, default True

    Returns
    -------
    Bases
        With ``rows`` the identity of order p; ``value`` is the energy kept.

    Raises
    ------
    DataError, ShapeError
        As `matrices`, or k exceeds q.

    References
    ----------
    Yang, Zhang, Frangi, Yang, "Two-dimensional PCA: a new approach to appearance-based face
    representation and recognition", IEEE PAMI 26(1), 2004.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> two_d_pca(X, 3).transform(X).shape
    (4, 5, 3)
    """
    stack = matrices(X, center=center)
    k = validate.positive_integer("n_components", n_components)
    p, q = stack.shape[1:]
    if k > q:
        raise DataError(f"n_components={k} is out of range: the matrices have {q} columns.")
    right = np.tensordot(stack, stack, axes=((0, 1), (0, 1)))
    bases = Bases(np.eye(p), leading(right, k), 0.0)
    return Bases(bases.rows, bases.columns, bases.energy(stack), unique=not is_tied(right, k))
