"""Eigenvalues and eigenvectors with fixed signs, roots, and intrinsic dimension."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, UnknownNameError
from sdpdr.base.keywords import checks_keywords

# Relative size of rounding errors in eigenvalues, per row of the matrix.
_EIGENVALUE_ROUNDING = 10.0 * np.finfo(float).eps


def fix_signs(vectors: Array) -> Array:
    """Columns with signs that make the entry of largest absolute value positive (first on ties)."""
    size = np.abs(vectors)
    first = np.argmax(size >= (1.0 - 1e-9) * size.max(axis=0, initial=0.0), axis=0)
    signs = np.sign(vectors[first, np.arange(vectors.shape[1])])
    return np.asarray(vectors * np.where(signs == 0, 1.0, signs))


def on_principal_axes(points: Array) -> Array:
    """Points of shape (n, r), centred and rotated to uncorrelated columns of falling variance."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    turned = centred @ axes.T
    missing = points.shape[1] - turned.shape[1]
    return fix_signs(np.pad(turned, ((0, 0), (0, missing))))


def gram_spectrum(gram: Array) -> tuple[Array, Array]:
    """Eigenvalues (descending) and eigenvectors (signs fixed) of a symmetric matrix."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2.0)
    return values[::-1].copy(), fix_signs(vectors[:, ::-1])


def factor_spectrum(factor: Array) -> tuple[Array, Array]:
    """Nonzero part of the spectrum of R R^T, from R: values (r,) and vectors (n, r)."""
    left, singular, _ = np.linalg.svd(factor, full_matrices=False)
    return singular**2, fix_signs(left)


def project_psd(matrix: Array) -> Array:
    """Nearest positive semidefinite matrix in the Frobenius norm."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def form_root(matrix: Array) -> tuple[Array, float]:
    """A matrix R with R^T R = P for a positive semidefinite P, and its least eigenvalue, scaled."""
    units = np.sqrt(np.abs(np.diag(matrix)))
    units[units == 0.0] = 1.0
    scaled = (matrix + matrix.T) / 2.0 / np.outer(units, units)
    size = max(len(scaled) * float(np.max(np.abs(scaled), initial=0.0)), np.finfo(float).tiny)
    spectrum, vectors = np.linalg.eigh(scaled)
    kept = spectrum > _EIGENVALUE_ROUNDING * size
    root = np.sqrt(spectrum[kept])[:, None] * vectors[:, kept].T * units
    return root, float(np.min(spectrum, initial=0.0)) / size


def complement(null: Matrix) -> Array:
    """Orthonormal basis (n, n - p) of the vectors orthogonal to the columns of ``null``."""
    dense = null.toarray() if sp.issparse(null) else np.asarray(null)
    if dense.shape[1] == 0:
        return np.eye(dense.shape[0])
    return np.asarray(sl.null_space(dense.T))


# Eigenvalues below this share of the largest are errors of a solver.
RANK_TOL = 1e-6
RULES = ("share", "gap", "rank")


@checks_keywords
def intrinsic_dimension(eigenvalues: ArrayLike, share: float = 0.90, *, rule: str = "share") -> int:
    r"""Number of leading eigenvalues that matter.

    With :math:`\lambda_1 \ge \lambda_2 \ge \dots` the eigenvalues of a centred Gram matrix:

    - ``"share"``: the smallest r with :math:`\lambda_1 + \dots + \lambda_r \ge
      \text{share} \cdot \operatorname{tr} K`;
    - ``"gap"``: the r with the largest :math:`\lambda_r / \lambda_{r+1}` among the eigenvalues that
      are not zero (1 if there is only one);
    - ``"rank"``: how many are above :math:`10^{-6} \lambda_1`.

    The rules answer different questions, and noise makes them disagree: the share counts
    directions until enough is explained, the gap looks for a cliff, the rank for the first zero.

    Parameters
    ----------
    eigenvalues : array_like of shape (r,)
        In any order; those below zero count as zero.
    share : float, default 0.90
        In (0, 1]; read by ``"share"`` alone. Other common values are 0.95 and 0.99.
    rule : {"share", "gap", "rank"}, default "share"

    Returns
    -------
    int

    Raises
    ------
    DataError
        No eigenvalue is positive, one is not finite, or the share is outside (0, 1].
    UnknownNameError
        For another rule.

    References
    ----------
    Weinberger and Saul, "Unsupervised learning of image manifolds by semidefinite programming",
    IJCV 70 (2006), who read the dimension off the gap.

    Examples
    --------
    >>> from sdpdr.linalg import intrinsic_dimension
    >>> eigenvalues = [60.0, 26.0, 10.0, 4.0, 1e-9]
    >>> intrinsic_dimension(eigenvalues), intrinsic_dimension(eigenvalues, share=0.95)
    (3, 3)
    >>> intrinsic_dimension(eigenvalues, 0.99), intrinsic_dimension(eigenvalues, rule="rank")
    (4, 4)
    >>> intrinsic_dimension([60.0, 35.0, 3.0, 2.0], rule="gap")
    2
    """
    values = np.sort(np.asarray(eigenvalues, dtype=float).ravel())[::-1]
    if not values.size or not np.isfinite(values).all() or values[0] <= 0.0:
        raise DataError(
            "the dimension of a spectrum needs finite eigenvalues, at least one of them positive."
        )
    if not 0.0 < share <= 1.0:
        raise DataError(f"share={share} is out of range: pass a part of the whole, in (0, 1].")
    if rule == "share":
        total = np.cumsum(np.maximum(values, 0.0))
        # Sums of all eigenvalues in two orders differ by rounding, so a share of 1 needs room.
        return int(np.argmax(total >= share * total[-1] * (1.0 - 1e-12))) + 1
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES)
    rank = int(np.count_nonzero(values > RANK_TOL * values[0]))
    if rule == "rank" or rank == 1:
        return rank
    return int(np.argmax(values[: rank - 1] / values[1:rank])) + 1
