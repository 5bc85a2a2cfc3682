r"""Xing's program as a model, and solved by a monotone iteration, certified by one eigenvalue.

In coordinates in which similar pairs have the scatter I (`whiten`) the program is

.. math::  g^\star = \max\ g(A) = \sum_p \sqrt{\delta_p^T A\, \delta_p}
           \quad\text{s.t.}\quad A \succeq 0,\ \operatorname{tr} A \le 1 .

*Bound.* For any weights s > 0, :math:`g(A)^2 \le \sum_p s_p \cdot \lambda_{\max}(\sum_p
\delta_p\delta_p^T / s_p)`, by Cauchy and Schwarz. At the optimum the distances themselves as
weights make this equal.

*Iteration.* Write :math:`A = L L^T` with :math:`|L|_F = 1`. Then :math:`g = \sum_p v_p \cdot L^T
\delta_p` with the unit vectors :math:`v_p` along :math:`L^T\delta_p`. With these fixed, the best L
is :math:`G L` with :math:`G = \sum_p \delta_p\delta_p^T / |L^T\delta_p|`, made to length one; g
never falls. A direction that A has lost exactly does not come back, so the start is a multiple of
the identity, and the bound says whether the end is the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.limits import NEGLIGIBLE
from sdpdr.families.metric.pairs import MetricAnswer, Pairs, chosen_pairs
from sdpdr.linalg import Trace
from sdpdr.linalg.spectral import fix_signs
from sdpdr.model import Model
from sdpdr.model.blocks.lift import crossed
from sdpdr.model.language import maximize, psd

_EPS = float(np.finfo(float).eps)
# Rounding of sums, in units of the last place times the square root of the number of columns. The
# factor was checked against exact fractions on badly scaled programs.
_UNITS = 8.0
# Pairs factorized at a time. The time hardly depends on it between 1024 and 16384.
_BLOCK = 4096


@checks_keywords
def xing(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    similar: ArrayLike | None = None,
    dissimilar: ArrayLike | None = None,
    n_pairs: int | None = None,
    seed: int = 0,
    diagonal: bool = False,
    ridge: float = 0.0,
) -> Model:
    r"""Xing's program for a Mahalanobis metric, in the form that solvers can solve.

    .. math::

        \min_{A \succeq 0}\ \langle M_S, A\rangle \quad\text{s.t.}\quad
        \sum_{D} \sqrt{\delta^T A\, \delta} \ge 1, \qquad
        M_S = \sum_{S} \delta\delta^T, \quad \delta = x_i - x_j .

    The same A, up to scale, maximizes the sum of distances g subject to
    :math:`\langle M_S, A\rangle \le 1`, and the least objective is :math:`1 / g^2`. That form is
    solved, in coordinates in which :math:`M_S = I` (`sdpdr.metric.whiten`), with unit vectors in
    place of square roots:

    .. math::

        \max_{Z \succeq 0}\ \sum_p \delta_p'^T b_p \quad\text{s.t.}\quad
        Z = \begin{pmatrix} A' & B \\ B^T & U \end{pmatrix},\quad U_{pp} = 1,\quad
        \operatorname{tr} A' \le 1 .

    The matrix has one row for every feature and every dissimilar pair. For thousands of pairs use
    `sdpdr.metric.solve_xing`, which certifies its answer as well.

    Parameters
    ----------
    X : array_like of shape (n, D)
    y : array_like of shape (n,), optional
        Labels: pairs of one class are similar, all others dissimilar.
    similar, dissimilar : array_like of shape (p, 2), optional
        Indices of points, instead of labels.
    n_pairs : int, optional
        With labels: that many random pairs of each kind instead of all.
    seed : int, default 0
        Seed of the random pairs.
    diagonal : bool, default False
        A diagonal: weights of the features.
    ridge : float, default 0
        See `sdpdr.metric.whiten`.

    Returns
    -------
    Model
        Unsolved; its value is g, and :math:`A = W A' W^T / g^2` with the basis W of
        `sdpdr.metric.whiten`.

    Raises
    ------
    DataError, InfeasibleError
        As `sdpdr.metric.pairs_from_labels` and `sdpdr.metric.whiten`; or neither labels nor pairs
        are given, or both.

    References
    ----------
    Xing, Ng, Jordan, Russell, "Distance metric learning, with application to clustering with
    side-information", NIPS 15, 2002. Course notes *stat946f10*, on metric learning.

    Examples
    --------
    >>> from sdpdr.methods import xing
    >>> model = xing([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    >>> print(model.describe())
    maximise    ⟨C, Z⟩
    over        Z ∈ S^3, Z ⪰ 0
    subject to  Z_ii = 1                unit, 2 rows
                Σ_i c_i Z_ii ≤ 1        trace, 1 row
    """
    pairs = chosen_pairs(X, y, similar, dissimilar, n_pairs, seed)
    white = whiten(pairs, diagonal=diagonal, ridge=ridge)
    q, r = white.differences.shape
    Z = psd("Z", r + q)
    # Z = (L, V)(L, V)^T: at best the unit vector v_p points along L^T delta_p and gives its length.
    lengths = crossed(white.differences.T) @ Z
    unit = (Z.diagonal()[r:] == 1.0).named("unit")
    leading = (np.arange(r + q) < r).astype(float)
    trace = (Trace(r + q, leading) @ Z <= 1.0).named("trace")
    model = Model((maximize(lengths), unit, trace), name="xing")
    if diagonal and r > 1:
        model = model + (Z[np.triu_indices(r, 1)] == 0.0).named("diagonal")
    return model


@checks_keywords
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
        A diagonal: weights of the features.
    ridge : float, default 0
        See `whiten`; it is part of the objective reported.
    tol : float, default 1e-6
        Relative gap between value and bound to stop at.
    max_iter : int, default 10000

    Returns
    -------
    MetricAnswer
        ``matrix``, ``components``, ``value``, ``bound``, ``gap``, ``argument``, ``iterations``. Its
        gap may exceed ``tol`` if ``max_iter`` was reached.

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
    >>> import numpy as np
    >>> from sdpdr.metric import Pairs, solve_xing
    >>> pairs = Pairs(np.array([[0.0], [1.0], [3.0]]), [[0, 1]], [[0, 2], [1, 2]])
    >>> round(solve_xing(pairs).value, 6)  # 1 / (3 + 2)**2
    0.04
    """
    white = whiten(pairs, diagonal=diagonal, ridge=ridge)
    # The objective is 1 / g^2, so its relative gap is twice that of g.
    factor, history, bound = ascend(white.differences, diagonal, tol / 2.1, max_iter)
    return answer_of(white, factor, bound, len(history) - 1)


def ascend(
    differences: Array, diagonal: bool, tol: float, max_iter: int
) -> tuple[Array, list[float], float]:
    """L of norm one whose g is within ``tol`` of a bound if possible, g at all steps, the bound."""
    max_iter = validate.positive_integer("max_iter", max_iter, at_least=0)
    factor = np.eye(differences.shape[1]) / np.sqrt(differences.shape[1])
    bound, history = np.inf, []
    while True:
        lengths = np.linalg.norm(differences @ factor, axis=1)
        gradient = _gradient(differences, lengths, diagonal)
        history.append(float(lengths.sum()))
        bound = min(bound, _bound(lengths, gradient))
        if bound <= (1.0 + tol) * history[-1] or len(history) > max_iter:
            return factor, history, bound
        factor = gradient[:, None] * factor if diagonal else gradient @ factor
        factor /= np.linalg.norm(factor)


def _gradient(differences: Array, weights: Array, diagonal: bool) -> Array:
    r"""The matrix :math:`\sum_p \delta_p\delta_p^T / s_p`, or its diagonal."""
    if diagonal:
        return np.asarray((1.0 / weights) @ np.square(differences))
    return np.asarray((differences / weights[:, None]).T @ differences)


def _bound(weights: Array, gradient: Array) -> float:
    """Upper bound of g over all metrics of trace one, from any positive weights."""
    largest = np.max(gradient) if gradient.ndim == 1 else np.linalg.eigvalsh(gradient)[-1]
    return float(np.sqrt(weights.sum() * largest))


def answer_of(white: Whitened, factor: Array, bound: float, iterations: int = 0) -> MetricAnswer:
    """The metric in the original coordinates, scaled to be feasible, from L in whitened ones."""
    vectors, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    kept = np.square(sizes) > NEGLIGIBLE * np.sum(np.square(sizes))
    factor = vectors[:, kept] * sizes[kept]
    distances = float(np.linalg.norm(white.differences @ factor, axis=1).sum())
    image = white.basis @ (factor / distances)
    if white.diagonal:
        image = np.diag(np.linalg.norm(image, axis=1))[:, np.any(image != 0.0, axis=1)]
    vectors, sizes, _ = np.linalg.svd(image, full_matrices=False)
    value = float(np.sum(np.square(factor))) / distances**2
    least, argument = (
        0.0,
        "none: directions left out as rounding of the points may lower the optimum",
    )
    if white.share < 1.0:
        least = 1.0 / ((bound + white.stray) / (1.0 - white.share)) ** 2
        argument = "weights of the dissimilar pairs and one eigenvalue (Cauchy-Schwarz)"
    components = fix_signs(vectors * sizes).T
    return MetricAnswer(components, value, least, argument, iterations, scale=value)


# -- coordinates in which similar pairs have the scatter I ----------------------------------------


@dataclass(frozen=True, eq=False)
class Whitened:
    r"""Dissimilar pairs as rows :math:`B^T \delta_p` of length more than zero, and B, (D, r).

    In exact numbers similar pairs are shorter by at most the ``share``, and the lengths of
    dissimilar pairs add up to at most ``stray`` more.
    """

    differences: Array
    basis: Array
    diagonal: bool = False
    share: float = 0.0
    stray: float = 0.0


@checks_keywords
def whiten(pairs: Pairs, *, diagonal: bool = False, ridge: float = 0.0) -> Whitened:
    r"""Coordinates in which the scatter of similar pairs is the identity.

    With B such that :math:`B^T M_S B = I`, the metric :math:`A = B A' B^T` has :math:`\langle M_S,
    A\rangle = \operatorname{tr} A'`, and a difference :math:`\delta` the length of
    :math:`B^T \delta` under A'. An optimum lies in the span of the whitened dissimilar differences.
    With fewer points than coordinates the basis is one of that span, unless A is diagonal, which a
    rotation would not preserve. Directions in which pairs differ by rounding only are left out.

    Parameters
    ----------
    pairs : Pairs
    diagonal : bool, default False
        Scale the features only.
    ridge : float, default 0
        :math:`\rho`; adds :math:`\rho \operatorname{tr}(M_S)/D\; I` to :math:`M_S`.

    Returns
    -------
    Whitened
        ``differences`` of dissimilar pairs as rows, and the ``basis`` B.

    Raises
    ------
    InfeasibleError
        Every dissimilar pair has distance zero.
    DataError
        Pairs are of one kind only; or dissimilar ones differ in a direction in which no similar
        pair does: a metric that stretches only this direction costs nothing, so the least cost is
        zero and not attained.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.metric import Pairs, whiten
    >>> pairs = Pairs(np.array([[0.0], [2.0], [6.0]]), [[0, 1]], [[1, 2]])
    >>> whiten(pairs).differences
    array([[-2.]])
    """
    white, reason = whitened(pairs, diagonal, validate.non_negative("ridge", ridge))
    if reason:
        raise DataError(reason)
    return white


def whitened(pairs: Pairs, diagonal: bool, ridge: float) -> tuple[Whitened, str]:
    """The coordinates, and why no metric attains the least cost, or nothing if one does."""
    for kind in ("similar", "dissimilar"):
        if not pairs.count(kind):
            raise DataError(
                f"there are no {kind} pairs (of points that differ). Xing's program needs both "
                "kinds: similar pairs say what to shrink, dissimilar pairs what must stay "
                "apart. GhodsiMetric takes either."
            )
    steps = pairs.differences("dissimilar")
    differ = np.any(steps != 0.0, axis=1)
    steps = steps[differ]
    if not len(steps):
        raise InfeasibleError(
            "in every dissimilar pair the two points are equal, so no metric can hold them "
            "apart. Check the pairs, and whether an earlier step merged the points."
        )
    root, n = _similar_root(pairs), pairs.n_features
    if ridge > 0.0:
        root = np.vstack([root, np.sqrt(ridge / n) * np.linalg.norm(root) * np.eye(n)])
    # Features in units of their own, so that the rank does not depend on units.
    units = np.hypot(np.linalg.norm(root, axis=0), np.linalg.norm(steps, axis=0))
    units[units == 0.0] = 1.0
    root, steps, points = root / units, steps / units, np.abs(pairs.points / units)
    unit = _UNITS * _EPS
    rounding = unit * np.sqrt(n)
    degree = np.bincount(pairs.similar.ravel(), minlength=len(points))
    if diagonal:
        sizes, axes = np.linalg.norm(root, axis=0), np.eye(n)
        coarse = unit * np.sqrt(2.0 * degree @ np.square(points))
    else:
        _, sizes, rotation = np.linalg.svd(np.linalg.qr(root, mode="r"), full_matrices=False)
        axes, coarse = rotation.T, unit * np.sqrt(2.0 * degree @ np.square(points).sum(axis=1))
        coarse = np.maximum(coarse, rounding)
    kept = sizes > coarse
    least = float(np.min(sizes, where=sizes > rounding, initial=np.inf))
    sizes, axes = sizes[kept], axes[:, kept]
    inside, basis = steps @ axes, axes / sizes
    rest = steps - inside @ axes.T
    left, lengths = np.linalg.norm(rest, axis=1), np.linalg.norm(steps, axis=1)
    # Lengths outside the axes that rounding of the sums, and of the points, may leave.
    white = np.linalg.norm(inside / sizes, axis=1)
    of_sums = np.zeros(len(steps)) if diagonal else rounding * (lengths + white)
    i, j = pairs.dissimilar[differ].T
    of_points = of_sums + unit * np.linalg.norm(points[i] + points[j], axis=1)
    # A pair that lies mostly outside the axes could not be held apart within them.
    beyond = left > np.minimum(of_points, 0.5 * lengths)
    reason = _unattained(rest[beyond] / left[beyond, None], diagonal) if beyond.any() else ""
    if diagonal:  # columns are not mixed, so nothing cancels
        share, stray = rounding, rounding * float(white.sum())
    else:
        share, stray = rounding / least, float(np.sum(rounding * lengths + left)) / least
        ends = pairs.points[np.unique(pairs.dissimilar)]
        if len(ends) <= basis.shape[1]:
            basis = basis @ np.linalg.qr(((ends[1:] - ends[0]) / units @ basis).T)[0]
    # A direction left out beyond the rounding of sums may contribute anything in exact numbers.
    if np.any(left > of_sums):
        share = 1.0
    return Whitened(steps @ basis, basis / units[:, None], diagonal, float(share), stray), reason


def _similar_root(pairs: Pairs) -> Array:
    """R with R^T R the scatter of similar pairs, which itself has lost half of the digits."""
    root: Array = np.zeros((0, pairs.n_features))
    block = max(_BLOCK, 4 * pairs.n_features)
    for start in range(0, len(pairs.similar), block):
        i, j = pairs.similar[start : start + block].T
        rows = np.vstack([root, pairs.points[i] - pairs.points[j]])
        root = np.asarray(np.linalg.qr(rows, mode="r"))
    return root


def _unattained(rest: Array, diagonal: bool) -> str:
    """Explain that dissimilar pairs leave the axes by more than rounding, along unit vectors."""
    rank = int(np.linalg.matrix_rank(rest, np.sqrt(_EPS)))
    where = f"{rank} direction{'s' if rank > 1 else ''}"
    if diagonal:
        named = [str(k) for k in np.flatnonzero(np.any(rest != 0.0, axis=0))[:5]]
        where = f"feature{'s' if len(named) > 1 else ''} {', '.join(named)}"
    return (
        f"no similar pair differs along {where} in which {len(rest)} dissimilar pairs do. "
        "Stretching only there keeps those apart at no cost, so the least cost is 0 and no metric "
        "attains it. Add similar pairs (more than there are features), reduce the data first "
        "(PCA), or pass ridge=1e-3."
    )
