r"""Factors through a polynomial without a program: the best fit near the entries' inverse image.

Where g is increasing, :math:`\theta = g^{-1}(V)` is what the products should be. The best factors
of :math:`\theta` that can be had at once, by singular vectors or coordinate descent, are where the
least squares begin. For one component and :math:`g(t) = c t` they are an optimum, which
`misfit_bound` proves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.nmf.estimator import nonnegative_factors
from sdpdr.families.factor.nonnegative.inputs import number_of_components, partial_matrix
from sdpdr.families.factor.polynomial.factorize import ARGUMENT, PolynomialFactors, result_of
from sdpdr.families.factor.polynomial.fit import (
    Fit,
    Misfit,
    inverse_image,
    misfit_bound,
)
from sdpdr.families.factor.polynomial.recipe import check_signs, checked_coefficients, known_entries
from sdpdr.solving.iterate.records import IterationStatus

# Entries of the matrix of slopes up to which the least squares, which are dense, are solved.
_SLOPES = 10**6
# Misfits above the bound by less than this share of the entries are proved least.
_PROVED = 1e-9
# Starts of the factors of the inverse image, and the steps of each.
_STARTS, _STEPS = 5, 1000


def without_programs(
    X: Array,
    coefficients: Sequence[float],
    n_components: int = 1,
    nonnegative: bool = True,
    tol: float = 1e-9,
    deadline: Deadline = ENDLESS,
) -> PolynomialFactors | None:
    """Factors near those of the inverse image, with the bound on all; None where there is none.

    RANK_REACHED where the entries are met up to a relative ``tol``, SETTLED where the bound proves
    that nothing fits better, and STALLED otherwise. None where g is not increasing, or entries are
    unknown. The deadline ends the descent, which begins from factors of the inverse image.

    Examples
    --------
    >>> t = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
    >>> without_programs(t + t**2 / 2, [1.0, 0.5]).status
    IterationStatus.RANK_REACHED
    >>> without_programs(np.array([[1.0, 2.0], [3.0, 4.0]]), [1.0]).status
    IterationStatus.SETTLED
    """
    V, c = known_entries(X), checked_coefficients(coefficients)
    number_of_components(n_components, V.shape)
    check_signs(V, c, nonnegative)
    bound = misfit_bound(V, c, n_components, nonnegative)
    theta = inverse_image(V, c, nonnegative)
    if bound is None or theta is None or not np.any(theta):
        return None
    fit = _scaled(_nearby(V, theta, c, n_components, nonnegative, deadline), V, nonnegative)
    size = float(np.linalg.norm(V))
    status = IterationStatus.STALLED
    if fit.misfit <= tol * size:
        status = IterationStatus.RANK_REACHED
    elif fit.misfit <= bound + _PROVED * size:
        status = IterationStatus.SETTLED
    return result_of(
        fit, status, size, objective=fit.misfit, bound=bound, argument=ARGUMENT, trivial=size,
        programs=0,
    )  # fmt: skip


def _nearby(V: Array, theta: Array, c: Array, k: int, nonnegative: bool, deadline: Deadline) -> Fit:
    W, H = _factors(theta, k, nonnegative)
    squares = Misfit(V, nonnegative, deadline=deadline)
    of_singular_vectors = c.size == 1 and (k == 1 or not nonnegative)
    if of_singular_vectors or V.size * (W.size + H.size) > _SLOPES:
        return squares.at(W, H, c)
    return squares.descend(W, H, c)


def _scaled(fit: Fit, V: Array, nonnegative: bool) -> Fit:
    """With an entry of W that is 1, or columns of mean one, as those of the programs."""
    W, H = fit.W, fit.H
    if W.shape[1] == 1:
        scale = W[[np.argmax(np.sum(V**2, axis=1))]]
    elif nonnegative:
        scale = np.mean(W, axis=0, keepdims=True)
    else:
        return fit
    scale = np.where(scale == 0.0, 1.0, scale)
    return Fit(W / scale, H * scale, fit.coefficients, fit.misfit, fit.objective)


def _factors(theta: Array, k: int, nonnegative: bool) -> tuple[Array, Array]:
    """W of shape (N, k) and H of shape (m, k)."""
    if nonnegative and k > 1:
        _, H = nonnegative_factors(partial_matrix(theta), k, _STARTS, 0.0, _STEPS, 0)
        W = Misfit(theta, True).rows(H.T, np.ones(1))
        return W, H.T
    left, sizes, right = np.linalg.svd(theta, full_matrices=False)
    W, H = left[:, :k] * sizes[:k], right[:k].T
    # Those of one component are of one sign where no entry is negative, up to rounding.
    return (np.abs(W), np.abs(H)) if nonnegative else (W, H)
