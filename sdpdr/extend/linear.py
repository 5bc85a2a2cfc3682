"""The pencil restricted to linear functions: the direct way, which regression replaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl

from sdpdr.errors import DataError, ShapeError
from sdpdr.extend.pencil import Pencil
from sdpdr.graphs import validate
from sdpdr.linalg.spectral import fix_signs
from sdpdr.linalg.svec import Array

# Singular values below this share of the largest span no direction of the data.
_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class LinearEmbedding:
    r"""Linear functions that solve a pencil best among linear functions.

    Attributes
    ----------
    coef : array of shape (m, d)
        Columns a with :math:`a^T (X^T D X + \gamma I) a = 1`.
    mean : array of shape (m,)
        Taken off the samples first.
    eigenvalues : array of shape (d,)
    """

    coef: Array
    mean: Array
    eigenvalues: Array

    def __call__(self, X: Array) -> Array:
        """Images of the rows of X."""
        return np.asarray((X - self.mean) @ self.coef)


def linear_embedding(
    X: Array, pencil: Pencil, n_components: int, gamma: float = 0.0
) -> LinearEmbedding:
    r"""Solve :math:`X^T W X a = \lambda (X^T D X + \gamma I) a` for samples as rows of X.

    Without :math:`\gamma` the samples are first written in the coordinates of their singular value
    decomposition, which makes the right side definite. The D-weighted mean is taken off, so that
    the constant function is left out.

    Parameters
    ----------
    X : array of shape (n, m)
    pencil : Pencil
        Of the n samples.
    n_components : int
        At most the rank of the centred X.
    gamma : float, default 0.0
        0 or more.

    Raises
    ------
    DataError, ShapeError

    References
    ----------
    Cai thesis, (2.9), (2.34)-(2.41).
    """
    if X.shape[0] != pencil.n:
        raise ShapeError(f"X has {X.shape[0]} samples, the pencil {pencil.n}.")
    if not gamma >= 0.0:
        raise DataError(f"gamma must be 0 or more; it is {gamma}.")
    d = validate.positive_integer("n_components", n_components)
    mean = pencil.totals @ X / pencil.totals.sum()
    centred = X - mean
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    kept = s > _RANK * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    if d > s.size:
        raise DataError(f"n_components must lie in 1..{s.size}, the rank of X; it is {d}.")
    scale = np.ones(s.size) if gamma == 0.0 else s
    B = U * scale
    left = B.T @ (pencil.weights @ B)
    right = B.T @ pencil.mass(B) + gamma * np.eye(s.size)
    top = (s.size - d, s.size - 1)
    values, b = sl.eigh((left + left.T) / 2.0, (right + right.T) / 2.0, subset_by_index=top)
    coef = Vt.T @ (b / (s / scale)[:, None])
    return LinearEmbedding(fix_signs(coef[:, ::-1]), mean, values[::-1])
