r"""The labelling of least ratio: by one eigenproblem, and by the alternation of the thesis."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import scipy.optimize as so
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, IgnoredLabelsWarning, warn
from sdpdr.families.propagate.graph import LabelledGraph
from sdpdr.families.propagate.harmonic import given_weight, recorded
from sdpdr.families.propagate.pencil import EnergyPencil, Propagation, PropagationStatus
from sdpdr.linalg.inertia import LdlFactor

# Relative gap up to which a ratio counts as proved optimal.
TOLERANCE = 1e-6
# The share of the labels in the eigenvector counts as zero below this.
_NONE = 1e-9
# Labels matter if they are spread at least this widely, relative to the values found, and if
# labellings that ignore them are worse by at least this.
_SPREAD, _GAP_UU = 0.1, 0.05


def eigen(graph: LabelledGraph) -> Propagation:
    r"""The labelling with the least ratio of energies, exactly and with a proof.

    .. math::  \min_y\ \frac{y^T L_+ y}{y^T L_- y} \quad\text{s.t.}\quad y_l \text{ given} .

    With :math:`y = P v`, :math:`v = (\beta, y_u)`, the ratio does not depend on the size or sign
    of v, so :math:`\beta` is free and the problem is :math:`\min v^T A v / v^T B v`: the largest
    eigenvalue of :math:`B v = \mu A v`, one over which is the ratio. Then
    :math:`y = P v / v_0`. That :math:`A - \lambda B \succeq 0` for :math:`\lambda` a little below
    the ratio is proved by a factorization, rounding included.

    Parameters
    ----------
    graph : LabelledGraph

    Returns
    -------
    Propagation

    Raises
    ------
    DataError
        Labels are constant; nothing tells labellings apart; or the infimum is not attained.
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
    >>> from sdpdr.propagation import labelled_graph
    >>> S = np.zeros((4, 4))
    >>> S[[0, 2, 3], [2, 3, 1]], S[0, 3] = 1.0, -1.0
    >>> found = eigen(labelled_graph(S + S.T, [1.0, -1.0, np.nan, np.nan]))
    >>> round(found.ratio, 9), abs(found.y.round(9)).tolist(), found.status
    (0.5, [1.0, 1.0, 0.0, 1.0], PropagationStatus.OPTIMAL)
    """
    graph.require_two_values()
    graph.require_reached()
    if not graph.pencil.has_below:
        return _without_dissimilarity(graph)
    if graph.is_separated:
        return _separated(graph)
    lam, v = graph.pencil.least()
    weight = float(abs(v[0]) / np.linalg.norm(v))
    if weight <= _NONE:
        raise DataError(
            f"the least ratio, {lam:.6g}, is not attained: labellings come near it only as their "
            "values grow without limit. Use a weight below it (fixed_lam), or label more nodes."
        )
    return proved(graph, graph.labelling(v[1:] / v[0]), lam, "eigen")


def ratio_bound(graph: LabelledGraph, y: Array | None = None) -> float:
    """A proven lower bound on the ratio of every labelling with these labels.

    The optimality test: if the ratio of ``y`` is the least one, the bound comes from it with a
    single factorization and equals it but for a relative 1e-6; if not, it is the bound of the
    optimum, and lies below.

    Parameters
    ----------
    graph : LabelledGraph
    y : array of shape (n,), optional
        A labelling that may be optimal.

    Raises
    ------
    DataError, DisconnectedGraphError
        As `eigen`.
    """
    near = 0.0 if y is None else graph.pencil.bound(graph.ratio(y), TOLERANCE)
    return near if near > 0.0 else _bound_of_optimum(graph)[0]


def _bound_of_optimum(graph: LabelledGraph) -> tuple[float, float]:
    """The bound, and the least ratio as computed."""
    graph.require_reached()
    if graph.is_separated or not graph.pencil.has_below:
        return 0.0, 0.0
    least = graph.pencil.least()[0]
    return graph.pencil.bound(least), least


def proved(
    graph: LabelledGraph,
    y: Array,
    lam: float,
    method: str,
    history: tuple[tuple[float, float, float], ...] = (),
) -> Propagation:
    """The record of a labelling that claims the least ratio, with its distance from it proved."""
    ratio, status = graph.ratio(y), PropagationStatus.OPTIMAL
    bound, least = graph.pencil.bound(ratio, TOLERANCE), ratio
    if not bound > 0.0:
        bound, least = _bound_of_optimum(graph)
        stalled = least < ratio * (1.0 - TOLERANCE)
        status = PropagationStatus.STALLED if stalled else PropagationStatus.UNPROVEN
    inner = graph.pencil.unlabelled()
    gap_uu = 1.0 - least / inner.least()[0] if inner.has_below else 1.0
    proof = {"bound": bound, "gap_uu": gap_uu, "status": status, "history": history}
    found = recorded(graph, y, lam, method, **proof)
    _warn_if_ignored(graph, found)
    return found


def _warn_if_ignored(graph: LabelledGraph, found: Propagation) -> None:
    # The share of the labels in the eigenvector depends on their unit and mean; this does not.
    spread = np.std(found.y[graph.labelled]) / max(np.std(found.y[graph.unlabelled]), 1e-300)
    if spread >= _SPREAD and found.gap_uu >= _GAP_UU:
        return
    warn(
        f"the labels hardly decide: the values found are spread {1.0 / spread:.3g} times as widely "
        f"as the labels, and labellings that vanish where labels are known come within "
        f"{max(found.gap_uu, 0.0):.1e} of the least ratio (relatively). The optimum may predict "
        "badly; compare with harmonic, or a fixed weight well below lam.",
        IgnoredLabelsWarning,
    )


def _without_dissimilarity(graph: LabelledGraph) -> Propagation:
    status = PropagationStatus.NO_DISSIMILARITY
    warn(status.advice, IgnoredLabelsWarning)
    return replace(given_weight(graph, 0.0, "harmonic"), status=status)


def _separated(graph: LabelledGraph) -> Propagation:
    """Every component of the similar pairs has one label, and repeating it costs nothing."""
    values = np.zeros(graph.parts.max() + 1)
    values[graph.parts[graph.labelled]] = graph.labels[graph.labelled]
    y = values[graph.parts]
    if not graph.energies(y)[1] > 0.0:
        raise DataError(
            "similar pairs never join different labels and dissimilar ones never part them, so "
            "that the ratio of energies is 0/0 where each node has the label of its component. Use "
            "harmonic."
        )
    return recorded(graph, y, 0.0, "eigen", gap_uu=1.0, status=PropagationStatus.OPTIMAL)


# The first scale, as a multiple of the one at which the harmonic labelling has E_- = 1.
_LARGE = 10.0
# Relative distance from the largest weight at which the secular equation is still evaluated.
_EDGE = 1e-10


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

    Both steps are solved exactly: that in :math:`y_u` through its dual, one equation in
    :math:`\lambda`; that in :math:`\beta` by hand. The alternation nevertheless stops wherever
    the constraint first binds, since neither coordinate can move alone along it: the answer
    depends on ``beta_0`` and is rarely optimal, while that of `eigen` is. The status of the record
    rests on the same proof as there.

    Parameters
    ----------
    graph : LabelledGraph
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
        As `eigen`, or ``beta_0`` is not positive.

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
    graph.require_two_values()
    graph.require_reached()
    if graph.is_separated or not graph.pencil.has_below:
        return eigen(graph)
    step = LabelStep(graph.pencil)
    beta = _LARGE / sqrt(step.dissimilar(0.0)) if beta_0 is None else beta_0
    history: list[tuple[float, float, float]] = []
    for _ in range(max_iter):
        lam, spread = step(beta)
        history.append((beta, lam, graph.ratio(graph.labelling(spread / beta))))
        scale = scale_step(graph.pencil, spread)
        if abs(scale - beta) <= tol * beta:
            break
        beta = scale
    y = graph.labelling(spread / history[-1][0])
    return proved(graph, y, lam, "alternating", tuple(history))


class LabelStep:
    r"""The exact step in :math:`y_u` at a fixed scale.

    At the weight :math:`\lambda` the values are :math:`\beta h(\lambda)`, where h minimises
    :math:`E_+ - \lambda E_-` at scale one, and :math:`E_-` is :math:`\beta^2 e(\lambda)` with e
    increasing. So :math:`\lambda = 0` if :math:`\beta^2 e(0) \ge 1`, and otherwise
    :math:`e(\lambda) = \beta^{-2}` is solved, through :math:`e^{-1/2}`, which is nearly linear.
    Where e stays below that up to the largest weight possible, the vector that turns singular
    there is added until :math:`E_- = 1`.

    Parameters
    ----------
    pencil : EnergyPencil
    """

    def __init__(self, pencil: EnergyPencil) -> None:
        self._pencil = pencil
        inner = pencil.unlabelled()
        if inner.has_below:
            least, self._loose = inner.least()
            self.largest = least * (1.0 - _EDGE)
        else:
            self._loose, self.largest = np.zeros(inner.order), 0.0

    def dissimilar(self, lam: float) -> float:
        r"""The energy :math:`e(\lambda)`."""
        return self._dissimilar(self._values(lam))

    def __call__(self, beta: float) -> tuple[float, Array]:
        """The weight and the values at a scale."""
        at_zero = self._values(0.0)
        if beta**2 * self._dissimilar(at_zero) >= 1.0:
            return 0.0, beta * at_zero
        at_edge = self._values(self.largest)
        if beta**2 * self._dissimilar(at_edge) < 1.0:
            return self.largest, beta * self._completed(at_edge, beta)

        def excess(lam: float) -> float:
            return 1.0 / sqrt(self.dissimilar(lam)) - beta

        lam = float(so.brentq(excess, 0.0, self.largest, xtol=1e-15 * self.largest, rtol=1e-14))
        return lam, beta * self._values(lam)

    def _values(self, lam: float) -> Array:
        """The minimizer of E_+ - lam E_- at scale one."""
        matrix, right = self._pencil.system(lam)
        if sp.issparse(matrix):
            return LdlFactor(matrix).solve(right)
        return np.asarray(np.linalg.solve(matrix, right))

    def _dissimilar(self, values: Array) -> float:
        v = np.concatenate([[1.0], values])
        return float(v @ (self._pencil.below @ v))

    def _completed(self, values: Array, beta: float) -> Array:
        """Values plus a multiple of the loose vector, with E_- = 1 at the scale."""
        v, z = np.concatenate([[1.0], values]), np.concatenate([[0.0], self._loose])
        r, s, t = _along(self._pencil.below, v, z)
        if not r > 0.0:
            return values
        return np.asarray(values + (-s + sqrt(s * s - r * (t - beta**-2))) / r * self._loose)


def scale_step(pencil: EnergyPencil, spread: Array) -> float:
    """The exact step in the scale at fixed values: least E_+ with E_- at least 1."""
    labels, values = np.eye(1, pencil.order)[0], np.concatenate([[0.0], spread])
    p, q, _ = _along(pencil.above, values, labels)
    r, s, t = _along(pencil.below, values, labels)
    candidates = [max(0.0, -q / p)]
    if r > 0.0:
        root = s * s - r * (t - 1.0)
        if root >= 0.0:
            candidates += [(-s + sqrt(root)) / r, (-s - sqrt(root)) / r]
    elif s != 0.0:
        candidates.append((1.0 - t) / (2.0 * s))
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
