r"""Xing's program, solved by a monotone iteration and certified by one eigenvalue.

In whitened coordinates (`sdpdr.metric.whiten`) the program is

.. math::  g^\star = \max\ g(A) = \sum_p \sqrt{\delta_p^T A\, \delta_p}
           \quad\text{s.t.}\quad A \succeq 0,\ \operatorname{tr} A \le 1 .

*Bound.* For any weights s > 0, by Cauchy and Schwarz,

.. math::  g(A)^2 = \Big(\sum_p \sqrt{s_p}\, \sqrt{\delta_p^T A \delta_p / s_p}\Big)^2
           \le \sum_p s_p \cdot \Big\langle \sum_p \tfrac1{s_p} \delta_p\delta_p^T, A\Big\rangle
           \le \sum_p s_p \cdot \lambda_{\max}\Big(\sum_p \tfrac1{s_p}\delta_p\delta_p^T\Big) .

At the optimum the distances themselves, :math:`s_p = \sqrt{\delta_p^T A \delta_p}`, make all of
this equal: there :math:`G = \sum_p \delta_p\delta_p^T / s_p` has :math:`G A = \lambda_{\max} A`.

*Iteration.* Write :math:`A = L L^T` with :math:`|L|_F = 1`. Then :math:`g = \sum_p
|L^T\delta_p| = \sum_p v_p \cdot L^T \delta_p` with the unit vectors :math:`v_p` along
:math:`L^T\delta_p`. With these fixed, the best L is :math:`\sum_p \delta_p v_p^T = G L`, made to
length one. Alternating between directions and L never lowers g. A direction that A has lost exactly
does not come back, so the start is a multiple of the identity, and the bound says whether the end
is the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.metric.answer import MetricAnswer, trimmed
from sdpdr.families.metric.pairs import Pairs
from sdpdr.families.metric.whiten import Whitened, whiten
from sdpdr.linalg.spectral import fix_signs

_ARGUMENT = "weights of the dissimilar pairs and one eigenvalue (Cauchy-Schwarz)"


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where the iteration ended: L of norm one, g there, its bound, and g after each step."""

    factor: Array
    value: float
    bound: float
    iterations: int
    history: Array


def root_bound(differences: Array, weights: Array, *, diagonal: bool = False) -> float:
    r"""Upper bound of the sum of distances over all metrics of trace one, from any weights.

    Parameters
    ----------
    differences : array of shape (q, r)
        The :math:`\delta_p` as rows, in whitened coordinates.
    weights : array of shape (q,)
        s, positive.
    diagonal : bool, default False
        For diagonal metrics only; the eigenvalue is then the largest diagonal entry.

    Returns
    -------
    float
        :math:`\sqrt{\sum_p s_p \cdot \lambda_{\max}(\sum_p \delta_p\delta_p^T / s_p)}`.

    Raises
    ------
    DataError
        If a weight is not positive.

    Examples
    --------
    One pair: the bound is its length, and exact.

    >>> root_bound(np.array([[3.0, 4.0]]), np.array([7.0]))
    5.0
    """
    if not np.all(weights > 0.0):
        raise DataError("the weights of a bound must be positive.")
    return float(np.sqrt(weights.sum() * _largest(_gradient(differences, weights, diagonal))))


def ascend(
    differences: Array, *, diagonal: bool = False, tol: float = 1e-6, max_iter: int = 10_000
) -> Ascent:
    """Raise the sum of distances until the bound is within ``tol``, relatively.

    Parameters
    ----------
    differences : array of shape (q, r)
        In whitened coordinates, none of them zero.
    diagonal : bool, default False
    tol : float, default 1e-6
    max_iter : int, default 10000

    Returns
    -------
    Ascent
        Even if the tolerance was not reached; compare its value and bound.

    Examples
    --------
    >>> found = ascend(np.array([[3.0, 0.0], [0.0, 4.0]]))
    >>> round(found.value, 6), round(found.bound, 6)
    (5.0, 5.0)
    """
    max_iter = validate.positive_integer("max_iter", max_iter, at_least=0)
    r = differences.shape[1]
    factor = np.eye(r) / np.sqrt(r)
    bound, history = np.inf, []
    for k in range(max_iter + 1):
        lengths = np.linalg.norm(differences @ factor, axis=1)
        gradient = _gradient(differences, lengths, diagonal)
        value = float(lengths.sum())
        history.append(value)
        bound = min(bound, float(np.sqrt(value * _largest(gradient))))
        if bound <= (1.0 + tol) * value or k == max_iter:
            break
        factor = gradient[:, None] * factor if diagonal else gradient @ factor
        factor /= np.linalg.norm(factor)
    return Ascent(factor, value, bound, k, np.array(history))


def solve_xing(
    pairs: Pairs,
    *,
    diagonal: bool = False,
    ridge: float = 0.0,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> MetricAnswer:
    r"""Xing's program: the least sum of squares of similar pairs, dissimilar ones held apart.

    .. math::  \min_{A \succeq 0} \sum_{S} \delta^T A\, \delta \quad\text{s.t.}\quad
               \sum_{D} \sqrt{\delta^T A\, \delta} \ge 1 .

    Parameters
    ----------
    pairs : Pairs
    diagonal : bool, default False
    ridge : float, default 0
        See `whiten`; it is part of the objective reported.
    tol : float, default 1e-6
        Relative gap between value and bound to stop at.
    max_iter : int, default 10000

    Returns
    -------
    MetricAnswer
        Its gap may exceed ``tol`` if ``max_iter`` was reached.

    Raises
    ------
    InfeasibleError, DataError
        As `whiten`.

    References
    ----------
    Xing, Ng, Jordan, Russell, "Distance metric learning, with application to clustering with
    side-information", NIPS 15, 2002.

    Examples
    --------
    >>> pairs = Pairs(np.array([[0.0], [1.0], [3.0]]), [[0, 1]], [[0, 2], [1, 2]])
    >>> round(solve_xing(pairs).value, 6)  # 1 / (3 + 2)**2
    0.04
    """
    white = whiten(pairs, diagonal=diagonal, ridge=ridge)
    # The objective is 1 / g^2, so its relative gap is twice that of g.
    found = ascend(white.differences, diagonal=diagonal, tol=tol / 2.1, max_iter=max_iter)
    return answer_of(white, found.factor, found.bound, _ARGUMENT, found.iterations)


def answer_of(
    white: Whitened, factor: Array, bound: float, argument: str, iterations: int = 0
) -> MetricAnswer:
    """The metric in the original coordinates, scaled to be feasible, from one in whitened ones.

    Parameters
    ----------
    white : Whitened
    factor : array of shape (r, k)
        L with A' = L L^T, of any length.
    bound : float
        Upper bound of the sum of distances at trace one.
    argument : str
    iterations : int, default 0
    """
    factor = trimmed(factor)
    distances = float(np.linalg.norm(white.differences @ factor, axis=1).sum())
    image = white.basis @ (factor / distances)
    if white.diagonal:
        image = np.diag(np.linalg.norm(image, axis=1))[:, np.any(image != 0.0, axis=1)]
    vectors, sizes, _ = np.linalg.svd(image, full_matrices=False)
    components = fix_signs(vectors * sizes).T
    value = float(np.sum(np.square(factor))) / distances**2
    least = 1.0 / white.exceeded_by_none(bound) ** 2
    if not least:
        argument = "none: directions left out as rounding of the points may lower the optimum"
    return MetricAnswer(components, value, least, argument, iterations, scale=value)


def _gradient(differences: Array, weights: Array, diagonal: bool) -> Array:
    r"""The matrix :math:`\sum_p \delta_p\delta_p^T / s_p`, or its diagonal."""
    if diagonal:
        return np.asarray((1.0 / weights) @ np.square(differences))
    return np.asarray((differences / weights[:, None]).T @ differences)


def _largest(gradient: Array) -> float:
    """The largest eigenvalue of a matrix, or of a diagonal one given by its diagonal."""
    return float(np.max(gradient) if gradient.ndim == 1 else np.linalg.eigvalsh(gradient)[-1])
