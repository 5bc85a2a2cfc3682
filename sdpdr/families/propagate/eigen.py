r"""The labelling of least ratio, by one eigenproblem."""

from __future__ import annotations

import warnings

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, IgnoredLabelsWarning
from sdpdr.families.propagate.graph import LabelledGraph
from sdpdr.families.propagate.harmonic import given_weight
from sdpdr.families.propagate.pencil import Propagation, PropagationStatus

# Relative gap up to which a ratio counts as proved.
TOLERANCE = 1e-6
# Share of the labels in the eigenvector below which it counts as zero.
_NONE = 1e-9
# From which on labels count as heeded.
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
        A connected part of the similar pairs has no label.

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
    """The record of a labelling that claims the least ratio, with the proof of how far it is.

    Warns
    -----
    IgnoredLabelsWarning
    """
    ratio, status = graph.ratio(y), PropagationStatus.OPTIMAL
    bound, least = graph.pencil.bound(ratio, TOLERANCE), ratio
    if not bound > 0.0:
        bound, least = _bound_of_optimum(graph)
        stalled = least < ratio * (1.0 - TOLERANCE)
        status = PropagationStatus.STALLED if stalled else PropagationStatus.UNPROVEN
    gap_uu = _gap_uu(graph, least)
    weight = float(1.0 / np.sqrt(1.0 + np.sum(np.square(y[graph.unlabelled]))))
    steps = len(history)
    found = Propagation(y, lam, ratio, bound, weight, gap_uu, status, method, steps, history)
    _warn_if_ignored(graph, found)
    return found


def _gap_uu(graph: LabelledGraph, least: float) -> float:
    inner = graph.pencil.unlabelled()
    if not inner.has_below:
        return 1.0
    return 1.0 - least / inner.least()[0]


def _warn_if_ignored(graph: LabelledGraph, found: Propagation) -> None:
    # Labels and values in the same units, and apart from a common shift: the share of the labels
    # in the eigenvector would change with both.
    spread = np.std(found.y[graph.labelled]) / max(np.std(found.y[graph.unlabelled]), 1e-300)
    if spread >= _SPREAD and found.gap_uu >= _GAP_UU:
        return
    warnings.warn(
        f"the labels hardly decide: the values found are spread {1.0 / spread:.3g} times as widely "
        f"as the labels, and labellings that vanish where labels are known come within "
        f"{max(found.gap_uu, 0.0):.1e} of the least ratio (relatively). The optimum may predict "
        "badly; compare with harmonic, or a fixed weight well below lam.",
        IgnoredLabelsWarning,
        stacklevel=4,
    )


def _without_dissimilarity(graph: LabelledGraph) -> Propagation:
    warnings.warn(
        "no dissimilar pair has an end without a label or two different labels, so that there is "
        "no ratio to minimise; the harmonic labelling is returned.",
        IgnoredLabelsWarning,
        stacklevel=3,
    )
    found = given_weight(graph, 0.0, "harmonic")
    status = PropagationStatus.NO_DISSIMILARITY
    return Propagation(
        found.y, 0.0, found.ratio, 0.0, found.label_weight, float("nan"), status, "harmonic"
    )


def _separated(graph: LabelledGraph) -> Propagation:
    """Every part by similar pairs has one label: repeating it costs nothing."""
    values = np.zeros(graph.parts.max() + 1)
    values[graph.parts[graph.labelled]] = graph.labels[graph.labelled]
    y = values[graph.parts]
    if not graph.energies(y)[1] > 0.0:
        raise DataError(
            "similar pairs never join different labels and dissimilar ones never part them, so "
            "that the ratio of energies is 0/0 where each node has the label of its part. Use "
            "harmonic."
        )
    weight = float(1.0 / np.sqrt(1.0 + np.sum(np.square(y[graph.unlabelled]))))
    return Propagation(y, 0.0, 0.0, 0.0, weight, 1.0, PropagationStatus.OPTIMAL, "eigen")
