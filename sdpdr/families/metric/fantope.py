r"""Ghodsi's program and its relatives in closed form, and what a metric is worth.

.. math::  \min_A\ \langle C, A\rangle + R(A) \quad\text{s.t.}\quad
           0 \preceq A \preceq t I,\ \operatorname{tr} A = 1,

with R nothing, :math:`\tfrac\mu2 |A|_F^2`, or :math:`\mu \operatorname{tr}(A \log A)`. All but the
first term depend on the eigenvalues of A only, and :math:`\langle C, A\rangle` is least for given
eigenvalues when A has the eigenvectors of C, its largest eigenvalue where C has its smallest (von
Neumann's trace inequality). So with eigenpairs :math:`(w_i, v_i)` of C, ascending,
:math:`A = \sum_i a_i v_i v_i^T` where a solves the same problem in R^n:

.. math::  \min_a\ w^T a + \textstyle\sum_i r(a_i) \quad\text{s.t.}\quad
           0 \le a_i \le t,\ \textstyle\sum_i a_i = 1 .

Any multiplier :math:`\nu` of the sum gives the bound :math:`\nu + \sum_i \min_{0 \le a \le t}
[(w_i - \nu) a + r(a)]`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.linalg.spectral import fix_signs

# Share of the trace, in whitened coordinates, up to which a direction is rounding. A pair along
# such a direction has at most the root of it as its distance, so leaving it out costs 1e-6 at most.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class MetricAnswer:
    r"""A metric with its objective and a bound on the least objective possible.

    Attributes
    ----------
    components : array of shape (k, n)
        L with :math:`A = L^T L`; rows by falling length, orthogonal, signs such that the entry of
        largest size is positive.
    value : float
        The objective of this metric, which is feasible.
    bound : float
        No feasible metric has a smaller objective.
    argument : str
        Why the bound holds.
    iterations : int
        0 for closed forms.
    unique : bool
        False where other metrics are known to be as good.
    scale : float
        Size beside which a value counts as zero in the gap.

    Examples
    --------
    >>> answer = MetricAnswer(np.array([[2.0, 0.0]]), 3.0, 2.0, "an example")
    >>> answer.matrix
    array([[4., 0.],
           [0., 0.]])
    >>> answer.gap
    0.5
    """

    components: Array
    value: float
    bound: float
    argument: str
    iterations: int = 0
    unique: bool = True
    scale: float = 0.0

    @property
    def matrix(self) -> Array:
        """The Mahalanobis matrix A."""
        return np.asarray(self.components.T @ self.components)

    @property
    def gap(self) -> float:
        """``(value - bound) / |bound|``, the largest relative suboptimality possible."""
        return (self.value - self.bound) / max(abs(self.bound), self.scale, 1e-300)


def components_of(factor: Array) -> Array:
    r"""Orthogonal components L, the longest first, with :math:`L^T L = F F^T`.

    Parameters
    ----------
    factor : array of shape (n, k)
        F, of full rank.

    Returns
    -------
    array of shape (k, n)
    """
    vectors, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    return fix_signs(vectors * sizes).T


def trimmed(factor: Array, share: float = RANK_TOLERANCE) -> Array:
    """F of full rank with F F^T unchanged but for eigenvalues below a share of the trace."""
    vectors, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    kept = np.square(sizes) > share * np.sum(np.square(sizes))
    return np.asarray(vectors[:, kept] * sizes[kept])


def factor_of(matrix: Array) -> Array:
    """F with A = F F^T for a symmetric matrix, negative eigenvalues left out."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(values.clip(0.0)))


# Eigenvalues of C closer than this, relative to its size, count as tied.
_TIED = 1e-10
_ARGUMENT = "eigenvalues of C and the multiplier of the trace (von Neumann's inequality)"


def closed_form(
    scatter: Array, *, cap: float = 1.0, ridge: float = 0.0, entropy: float = 0.0
) -> MetricAnswer:
    r"""The best metric of trace one in closed form.

    Parameters
    ----------
    scatter : array of shape (n, n)
        C, symmetric.
    cap : float, default 1
        t, the largest eigenvalue allowed. At 1, no limit: A is the projection onto the
        eigenvector of the smallest eigenvalue of C. At 1/k, A is 1/k times the projection onto
        those of the k smallest.
    ridge : float, default 0
        :math:`\mu` of the price on :math:`|A|_F^2 / 2`; a is then :math:`-w/\mu` projected onto
        the (capped) simplex.
    entropy : float, default 0
        :math:`\mu` of the price on :math:`\operatorname{tr} A \log A`; a is then proportional to
        :math:`e^{-w/\mu}`, as far as the cap allows.

    Returns
    -------
    MetricAnswer
        ``unique`` is False where a tie among eigenvalues leaves a choice.

    Raises
    ------
    InfeasibleError
        If n times the cap is less than one.
    DataError
        A price is negative, or both are given.

    References
    ----------
    Ghodsi, Wilkinson, Southey, "Improving embeddings by flexible exploitation of side
    information", IJCAI, 2007. Overton and Womersley, "On the sum of the largest eigenvalues of a
    symmetric matrix", SIAM J. Matrix Anal. Appl. 13(1), 1992, for the cap.

    Examples
    --------
    >>> C = np.diag([-2.0, 1.0, 3.0])
    >>> closed_form(C).value
    -2.0
    >>> closed_form(C, cap=0.5).value  # the mean of the two smallest
    -0.5
    >>> closed_form(C, ridge=10.0).matrix.diagonal().round(3)
    array([0.6, 0.3, 0.1])
    """
    require_room(len(scatter), cap)
    if min(ridge, entropy) < 0.0 or (ridge > 0.0 and entropy > 0.0):
        raise DataError(
            f"ridge and entropy must be >= 0, and one of them 0; they are {ridge:g} and "
            f"{entropy:g}."
        )
    w, vectors = np.linalg.eigh(scatter)
    if ridge > 0.0:
        a, bound = _ridge(w, cap, ridge)
    elif entropy > 0.0:
        a, bound = _entropy(w, cap, entropy)
    else:
        a, bound = _linear(w, cap)
    price = 0.5 * ridge * a @ a + entropy * np.sum(a * np.log(np.where(a > 0.0, a, 1.0)))
    kept = a > 0.0
    # The weights descend. A singular value decomposition would turn components of equal length.
    components = fix_signs(vectors[:, kept] * np.sqrt(a[kept])).T
    unique = ridge + entropy > 0.0 or _is_unique(w, a, cap)
    value, size = float(w @ a + price), float(np.max(np.abs(w)))
    return MetricAnswer(components, value, bound, _ARGUMENT, unique=unique, scale=size)


def require_room(n: int, cap: float) -> None:
    """Refuse a cap on n eigenvalues that leaves no room for trace one.

    Raises
    ------
    InfeasibleError
    """
    if not n * cap >= 1.0 - 1e-12:
        raise InfeasibleError(
            f"{n} eigenvalues of at most {cap:g} cannot add up to trace one; the cap must be at "
            f"least 1/{n}. For k dimensions use cap = 1/k with k <= {n}."
        )


def frobenius_form(scatter: Array) -> MetricAnswer:
    r"""The best metric of Frobenius norm at most one, in closed form.

    :math:`A = (-C)_+ / |(-C)_+|_F`, with :math:`(\cdot)_+` the positive part of the eigenvalues,
    of value :math:`-|(-C)_+|_F`; zero where C is positive semidefinite, which means that
    dissimilar pairs differ less than similar ones in every direction.

    Parameters
    ----------
    scatter : array of shape (n, n)

    Returns
    -------
    MetricAnswer

    Examples
    --------
    >>> frobenius_form(np.diag([-3.0, -4.0, 5.0])).value
    -5.0
    """
    w, vectors = np.linalg.eigh(scatter)
    wanted = w < 0.0
    size = float(np.linalg.norm(w[wanted]))
    factor = vectors[:, wanted] * np.sqrt(-w[wanted] / (size or 1.0))
    argument = "the negative part of C is all that a positive semidefinite matrix can gain"
    return MetricAnswer(fix_signs(factor).T, -size, -size, argument)


def _linear(w: Array, cap: float) -> tuple[Array, float]:
    """Weight ``cap`` on the smallest eigenvalues, the remainder on the next."""
    a = np.clip(1.0 - cap * np.arange(w.size), 0.0, cap)
    # Of a whole number 1/cap, rounding leaves a remainder that is none.
    a[a < 1e-14] = 0.0
    nu = float(w[np.flatnonzero(a)[-1]])
    return a, nu + cap * float(np.minimum(w - nu, 0.0).sum())


def _ridge(w: Array, cap: float, mu: float) -> tuple[Array, float]:
    """Projection of -w/mu onto the capped simplex."""

    def weights(nu: float) -> Array:
        return np.clip((nu - w) / mu, 0.0, cap)

    # The sum of the weights is piecewise linear in nu, with kinks at these.
    kinks = np.sort(np.concatenate([w, w + mu * cap]))
    nu = float(np.interp(1.0, [weights(kink).sum() for kink in kinks], kinks))
    a = weights(nu)
    inside = np.sum((a > 0.0) & (a < cap))
    if inside:  # what interpolation has rounded
        nu += mu * (1.0 - float(a.sum())) / float(inside)
        a = weights(nu)
    return a, nu + float(np.sum((w - nu) * a + 0.5 * mu * a * a))


def _entropy(w: Array, cap: float, mu: float) -> tuple[Array, float]:
    """Softmax of -w/mu, the largest weights cut down to the cap and the rest shared out."""
    for full in range(w.size):
        share = np.exp(-(w[full:] - w[full]) / mu)
        rest = (1.0 - full * cap) * share / share.sum()
        if rest[0] <= cap * (1.0 + 1e-12):
            break
    a = np.concatenate([np.full(full, cap), np.minimum(rest, cap)])
    nu = float(w[full] + mu * (np.log(a[full]) + 1.0)) if a[full] > 0.0 else float(w[full])
    best = np.minimum(np.exp(np.minimum((nu - w) / mu - 1.0, np.log(cap))), cap)
    log = np.log(np.where(best > 0.0, best, 1.0))
    return a, nu + float(np.sum((w - nu) * best + mu * best * log))


def _is_unique(w: Array, a: Array, cap: float) -> bool:
    last = w[np.flatnonzero(a)[-1]]
    tied = np.abs(w - last) <= _TIED * max(float(np.max(np.abs(w))), 1e-300)
    return bool(np.sum(tied) == 1 or np.all(a[tied] >= cap * (1.0 - 1e-12)))
