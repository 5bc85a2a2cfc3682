r"""The low end of the spectrum of a dual slack that nearly vanishes on a known factor; a start.

At a stationary point S R = 0, so that the lowest eigenvalues of an optimal S are as many zeros as
R has columns, and Lanczos iterations do not tell such a cluster apart. On the complement of the
range of R the lowest eigenvalue has a distance from zero, or is negative; either is seen after a
hundred products. With an orthonormal basis Q of the range, they run on
:math:`(I - Q Q^T) S (I - Q Q^T)`, and the Ritz vectors together with Q give the estimate. Proofs
are left to a factorization.

References
----------
Parlett, The Symmetric Eigenvalue Problem, 1998, chapter 13.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.spheres import Spheres
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.lowest import lowest

# Order up to which all eigenvalues are computed.
_DENSE = 250
# Products, numbers that all Lanczos vectors together may hold, and how often it is seen whether
# the lowest Ritz value is known to within a share of itself.
_MAX_PRODUCTS, _MOST_NUMBERS, _CHECKED_EVERY, _ACCURACY = 240, 40_000_000, 40, 0.1
# Singular values of the factor below this share of the largest belong to the complement.
_NOTHING = 1e-6
_BREAKDOWN = 1e-12


def low_end(
    slack: DualSlack, face: Array, factor: Array, count: int, seed: int
) -> tuple[Array, Array]:
    """Lowest eigenvalues of a dual slack, ascending, and their vectors, roughly.

    Parameters
    ----------
    slack : DualSlack
    face : array of shape (n, p)
        Orthonormal columns to leave out.
    factor : array of shape (n, r)
        On which the slack nearly vanishes, orthogonal to those.
    count : int
        How many are wanted.
    seed : int

    Returns
    -------
    values : array of shape (k,)
        Ritz values, hence not below the true ones.
    vectors : array of shape (n, k)
        Orthonormal.

    Examples
    --------
    >>> none = np.zeros((0, 2))
    >>> slack = DualSlack(np.diag([0.0, -2.0]), np.zeros(0), none, none)
    >>> low_end(slack, np.zeros((2, 0)), np.eye(2)[:, :1], 1, 0)[0]
    array([-2.])
    """
    n = slack.n
    if n <= _DENSE:
        return lowest(slack, face, count, seed)
    left, size, _ = np.linalg.svd(factor, full_matrices=False)
    own = left[:, size > _NOTHING * max(float(size.max(initial=0.0)), np.finfo(float).tiny)]
    beside = _beside(slack, np.hstack([face, own]), count, seed)
    space = np.linalg.qr(np.hstack([own, beside]))[0]
    small = space.T @ (slack @ space)
    values, vectors = sl.eigh((small + small.T) / 2.0)
    return values[:count], space @ vectors[:, :count]


def _beside(slack: DualSlack, basis: Array, count: int, seed: int) -> Array:
    """Ritz vectors of the lowest Ritz values on the complement of a basis."""
    n, steps = slack.n, min(_MAX_PRODUCTS, slack.n - basis.shape[1] - 1, _MOST_NUMBERS // slack.n)
    vectors = np.zeros((max(steps, 2), n))
    vector = np.random.default_rng(seed).standard_normal(n)
    alphas: list[float] = []
    betas: list[float] = []
    for k in range(len(vectors)):
        # Orthogonal to all before, twice, so that no eigenvalue comes twice.
        for _ in range(2):
            vector = vector - basis @ (basis.T @ vector)
            vector = vector - vectors[:k].T @ (vectors[:k] @ vector)
        size = float(np.linalg.norm(vector))
        if k > 0:
            if size <= _BREAKDOWN * abs(alphas[0]):
                vectors = vectors[:k]
                break
            betas.append(size)
        vectors[k] = vector / size
        vector = np.asarray((slack @ vectors[k][:, None])[:, 0])
        alphas.append(float(vectors[k] @ vector))
        if k % _CHECKED_EVERY == _CHECKED_EVERY - 1 and _is_known(alphas, betas):
            break
    values, mixed = sl.eigh_tridiagonal(alphas, betas[: len(alphas) - 1])
    return np.asarray(vectors[: values.size].T @ mixed[:, :count])


def _is_known(alphas: list[float], betas: list[float]) -> bool:
    """Whether the residual of the lowest Ritz value is small beside it."""
    values, mixed = sl.eigh_tridiagonal(alphas, betas)
    residual = abs(float(mixed[-1, 0])) * max(betas[-1], 0.0)
    return residual <= _ACCURACY * abs(float(values[0]))


# Share of a random factor in the first one, so that no direction is missing.
_NOISE = 1e-2


def spectral(layout: Layout, vector: Array, spheres: Spheres, seed: int) -> Array:
    r"""First unknowns with factors along low eigenvectors; those that have none are left.

    The slope of :math:`\tfrac12 |A(K) - b|^2` at K = 0 is :math:`-A^*(b)`. Its part on the lowest
    few eigenvectors, :math:`\sum_k (-\lambda_k) v_k v_k^T`, scaled to meet the rows as well as it
    can, is what spectral starts of matrix completion are.

    Parameters
    ----------
    layout : Layout
    vector : array
        Random unknowns, some of which is kept as noise.
    spheres : Spheres
        Whose rows do not count.
    seed : int

    References
    ----------
    Keshavan, Montanari and Oh, "Matrix completion from a few entries", IEEE Trans. Inform. Theory
    56(6), 2010.
    """
    problem = layout.problem
    factors, free = layout.split(vector)
    right = np.where(spheres.free, problem.rhs, 0.0)
    found = []
    for block, factor in zip(problem.blocks, factors, strict=True):
        added = factor
        if not block.scalar:
            slack = block.forms.slack(np.append(0.0, -right))
            values, vectors = low_end(slack, block.face, factor[:, :0], factor.shape[1], seed)
            columns = np.zeros_like(factor)
            columns[:, : values.size] = vectors * np.sqrt(np.maximum(-values, 0.0))
            size = float(np.linalg.norm(columns))
            noise = _NOISE * size / max(float(np.linalg.norm(factor)), 1e-300)
            added = columns + noise * factor if size > 0.0 else factor
        found.append(added)
    moved = layout.project(layout.join(found, free))
    fit = problem.fit(layout.values(moved)[1:])
    return moved * np.sqrt(min(max(fit, 1e-6), 1e6))
