r"""The labelling of least ratio: by one eigenproblem, and by the alternation of the thesis."""

from __future__ import annotations

from math import sqrt

import numpy as np
import scipy.optimize as so
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, IgnoredLabelsWarning, warn
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.propagate.graph import LabelledGraph
from sdpdr.families.propagate.labellings import Propagation, PropagationStatus, given_weight
from sdpdr.families.propagate.pencil import EnergyPencil
from sdpdr.linalg.inertia import LdlFactor

# Relative gap up to which a ratio counts as proved optimal.
_TOLERANCE = 1e-6
# Labels matter if they are spread at least this widely, relative to the values found, and if
# labellings that ignore them are worse by at least this.
_SPREAD, _GAP_UU = 0.1, 0.05


def eigen(graph: LabelledGraph) -> Propagation:
    r"""The labelling with the least ratio of energies, exactly and with a proof.

    .. math::  \min_y\ \frac{y^T L_+ y}{y^T L_- y} \quad\text{s.t.}\quad y_l \text{ given} .

    With :math:`y = P v` and :math:`v = (\beta, y_u)` the scale :math:`\beta` is free, so the ratio
    is one over the largest eigenvalue of :math:`B v = \mu A v`, and :math:`y = P v / v_0`. That
    :math:`A - \lambda B \succeq 0` for :math:`\lambda` a little below the ratio is proved by a
    factorization, rounding included.

    Parameters
    ----------
    graph : LabelledGraph
        Made by `labelled_graph`.

    Returns
    -------
    Propagation

    Raises
    ------
    DataError
        Labels are constant; all labellings have the same ratio; or the infimum is not attained.
    DisconnectedGraphError
        A connected component of the similar pairs has no label.

    Warns
    -----
    IgnoredLabelsWarning
        The values are spread ten times as widely as the labels, or labellings that vanish where
        labels are known are nearly as good (``gap_uu`` below 0.05); or there is no dissimilarity.

    References
    ----------
    Tong thesis, (3.4), where it is said to need an alternation.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.propagation import eigen
    >>> from sdpdr.propagation import labelled_graph
    >>> S = np.zeros((4, 4))
    >>> S[[0, 2, 3], [2, 3, 1]], S[0, 3] = 1.0, -1.0
    >>> found = eigen(labelled_graph(S + S.T, [1.0, -1.0, np.nan, np.nan]))
    >>> round(found.ratio, 9), abs(found.y.round(9)).tolist(), found.status
    (0.5, [1.0, 1.0, 0.0, 1.0], PropagationStatus.OPTIMAL)
    """
    special = _without_search(graph)
    if special is not None:
        return special
    lam, v = graph.pencil.least()
    if abs(v[0]) <= 1e-9 * np.linalg.norm(v):
        raise DataError(
            f"the least ratio, {lam:.6g}, is not attained: labellings come near it only as their "
            "values grow without limit. Use a weight below it (fixed_lam), or label more nodes."
        )
    return _proved(graph, graph.labelling(v[1:] / v[0]), lam)


@checks_keywords
def alternating(
    graph: LabelledGraph,
    *,
    beta_0: float | None = None,
    max_iter: int = 200,
    tol: float = 1e-7,
) -> Propagation:
    r"""Minimize :math:`E_+` subject to :math:`E_- \ge 1` by alternation, as the thesis does.

    .. math::  \min_{\beta \ge 0,\ y_u} E_+(\beta y_l, y_u) \quad\text{s.t.}\quad
               E_-(\beta y_l, y_u) \ge 1 .

    Both steps are solved exactly. The alternation nevertheless stops wherever the constraint first
    binds, since neither coordinate can move alone along it: the answer depends on ``beta_0`` and is
    rarely optimal, while that of `eigen` is. The status rests on the same proof as there.

    Parameters
    ----------
    graph : LabelledGraph
        Made by `labelled_graph`.
    beta_0 : float, optional
        First scale. By default ten times that at which the harmonic labelling has
        :math:`E_- = 1`: "start with a large value".
    max_iter : int, default 200
    tol : float, default 1e-7
        Relative change of the scale at which to stop.

    Returns
    -------
    Propagation
        Its ``lam`` is that of the last step in :math:`y_u`.

    Raises
    ------
    DataError, DisconnectedGraphError
        As `eigen`; or ``beta_0`` is not positive, or the harmonic labelling has
        :math:`E_- = 0`.

    Warns
    -----
    IgnoredLabelsWarning
        As `eigen`.

    References
    ----------
    Tong thesis, section 3.2.2, (3.5)-(3.10).
    """
    if beta_0 is not None:
        beta_0 = validate.positive_number("beta_0", beta_0)
    special = _without_search(graph)
    if special is not None:
        return special
    step = LabelStep(graph.pencil)
    apart = step.dissimilar(step.values(0.0))
    if not apart > 0.0:
        raise DataError(
            "the harmonic labelling has equal values at the ends of every dissimilar pair, from "
            "where the alternation scales labels to zero. Use eigen, fixed_lam or harmonic."
        )
    beta = 10.0 / sqrt(apart) if beta_0 is None else beta_0
    history: list[tuple[float, float, float]] = []
    for _ in range(max_iter):
        lam, spread = step(beta)
        y = graph.labelling(spread / beta)
        history.append((beta, lam, graph.ratio(y)))
        before, beta = beta, scale_step(graph.pencil, spread)
        if abs(beta - before) <= tol * before:
            break
    return _proved(graph, y, lam, tuple(history))


class LabelStep:
    r"""The exact step in :math:`y_u` at a fixed scale.

    At the weight :math:`\lambda` the values are :math:`\beta h(\lambda)`, where h minimises
    :math:`E_+ - \lambda E_-` at scale one, and :math:`E_-` is :math:`\beta^2 e(\lambda)` with e
    increasing. So :math:`\lambda = 0` if :math:`\beta^2 e(0) \ge 1`, and otherwise
    :math:`e(\lambda) = \beta^{-2}` is solved, through :math:`e^{-1/2}`, which is nearly linear.
    """

    def __init__(self, pencil: EnergyPencil) -> None:
        self._pencil, inner = pencil, pencil.unlabelled()
        self._loose, self.largest = np.zeros(inner.order), 0.0
        if inner.has_below:
            least, self._loose = inner.least()
            self.largest = least * (1.0 - 1e-10)  # up to which the equation is evaluated

    def __call__(self, beta: float) -> tuple[float, Array]:
        """The weight and the values at a scale."""
        at_zero = self.values(0.0)
        if beta**2 * self.dissimilar(at_zero) >= 1.0:
            return 0.0, beta * at_zero
        at_edge = self.values(self.largest)
        if beta**2 * self.dissimilar(at_edge) < 1.0:
            # The hard case: a multiple of the loose vector is added, with E_- = 1 at the scale.
            v, z = np.concatenate([[1.0], at_edge]), np.concatenate([[0.0], self._loose])
            r, s, t = _along(self._pencil.below, v, z)
            more = (-s + sqrt(s * s - r * (t - beta**-2))) / r if r > 0.0 else 0.0
            return self.largest, beta * (at_edge + more * self._loose)

        def excess(lam: float) -> float:
            return 1.0 / sqrt(self.dissimilar(self.values(lam))) - beta

        lam = float(so.brentq(excess, 0.0, self.largest, xtol=1e-15 * self.largest, rtol=1e-14))
        return lam, beta * self.values(lam)

    def values(self, lam: float) -> Array:
        """The minimizer of E_+ - lam E_- at scale one."""
        matrix, right = self._pencil.system(lam)
        if sp.issparse(matrix):
            return LdlFactor(matrix).solve(right)
        return np.asarray(np.linalg.solve(matrix, right))

    def dissimilar(self, values: Array) -> float:
        """E_- of some values at scale one."""
        v = np.concatenate([[1.0], values])
        return float(v @ (self._pencil.below @ v))


def scale_step(pencil: EnergyPencil, spread: Array) -> float:
    """The exact step in the scale at fixed values: least E_+ with E_- at least 1."""
    labels, values = np.eye(1, pencil.order)[0], np.concatenate([[0.0], spread])
    p, q, _ = _along(pencil.above, values, labels)
    r, s, t = _along(pencil.below, values, labels)
    candidates = [max(0.0, -q / p), *np.roots([r, 2.0 * s, t - 1.0]).real.tolist()]
    size = 1.0 + abs(t) + max(r * b * b + 2.0 * abs(s * b) for b in candidates)
    enough = 1.0 - 1e-12 * size
    allowed = [b for b in candidates if b >= 0.0 and r * b * b + 2.0 * s * b + t >= enough]
    if not allowed:
        raise DataError("no scale of the labels makes these values differ by E_- = 1.")
    return float(min(allowed, key=lambda b: p * b * b + 2.0 * q * b))


def _along(form: Matrix, start: Array, step: Array) -> tuple[float, float, float]:
    """Coefficients p, q, r of the form p b^2 + 2 q b + r at start + b step."""
    of_start = form @ start
    return float(step @ (form @ step)), float(step @ of_start), float(start @ of_start)


def _without_search(graph: LabelledGraph) -> Propagation | None:
    """The answer for labels that leave no ratio to minimise, after checks; None for others."""
    graph.require_two_values()
    graph.require_reached()
    if not graph.pencil.has_below:
        status = PropagationStatus.NO_DISSIMILARITY
        warn(status.advice, IgnoredLabelsWarning)
        return given_weight(graph, 0.0, status=status)
    if not graph.is_separated:
        return None
    # Every component of the similar pairs has one label, and repeating it costs nothing.
    values = np.zeros(graph.parts.max() + 1)
    values[graph.parts[graph.labelled]] = graph.labels[graph.labelled]
    y = values[graph.parts]
    if not graph.energies(y)[1] > 0.0:
        raise DataError(
            "similar pairs never join different labels and dissimilar ones never part them, so "
            "that the ratio of energies is 0/0 where each node has the label of its component. Use "
            "harmonic."
        )
    return Propagation(y, 0.0, graph.ratio(y), gap_uu=1.0, status=PropagationStatus.OPTIMAL)


def _proved(
    graph: LabelledGraph,
    y: Array,
    lam: float,
    history: tuple[tuple[float, float, float], ...] = (),
) -> Propagation:
    """The record of a labelling that claims the least ratio, with its distance from it proved."""
    ratio, status = graph.ratio(y), PropagationStatus.OPTIMAL
    bound, least = graph.pencil.bound(ratio, _TOLERANCE), ratio
    if not bound > 0.0:
        least = graph.pencil.least()[0]
        bound = graph.pencil.bound(least)
        stalled = least < ratio * (1.0 - _TOLERANCE)
        status = PropagationStatus.STALLED if stalled else PropagationStatus.UNPROVEN
    inner = graph.pencil.unlabelled()
    gap_uu = 1.0 - least / inner.least()[0] if inner.has_below else 1.0
    # The share of the labels in the eigenvector depends on their unit and mean; this does not.
    spread = np.std(y[graph.labelled]) / max(float(np.std(y[graph.unlabelled])), 1e-300)
    if spread < _SPREAD or gap_uu < _GAP_UU:
        warn(
            f"the labels hardly decide: the values found are spread {1.0 / spread:.3g} times as "
            "widely as the labels, and labellings that vanish where labels are known come within "
            f"{max(gap_uu, 0.0):.1e} of the least ratio (relatively). The optimum may predict "
            "badly; compare with harmonic, or a fixed weight well below lam.",
            IgnoredLabelsWarning,
        )
    return Propagation(y, lam, ratio, bound, gap_uu, status, history)
