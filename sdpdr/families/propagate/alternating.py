r"""The alternation of the thesis: values at a fixed scale, then the scale at fixed values."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import scipy.linalg as sl
import scipy.optimize as so
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.propagate.eigen import eigen, proved
from sdpdr.families.propagate.graph import LabelledGraph
from sdpdr.families.propagate.pencil import Pencil, Propagation
from sdpdr.linalg.inertia import Factorization

# The first scale, as a multiple of the one at which the harmonic labelling has E_- = 1.
_LARGE = 10.0
# How close to the largest weight the secular equation is looked at, relatively.
_EDGE = 1e-10


def alternating(
    graph: LabelledGraph,
    *,
    beta_0: float | None = None,
    max_iter: int = 200,
    tol: float = 1e-7,
) -> Propagation:
    r"""Minimise :math:`E_+` subject to :math:`E_- \ge 1` by turns; kept for fidelity.

    .. math::  \min_{\beta \ge 0,\ y_u} E_+(\beta y_l, y_u) \quad\text{s.t.}\quad
               E_-(\beta y_l, y_u) \ge 1 .

    Both steps are solved exactly: that in :math:`y_u` through its dual, one equation in
    :math:`\lambda`; that in :math:`\beta` by hand. The alternation nevertheless stops wherever
    the constraint first binds with neither coordinate free to move alone along it: the answer
    depends on ``beta_0`` and is hardly ever optimal. `eigen` is. The record says which: its
    status rests on the same proof.

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
    if beta_0 is not None and not 0.0 < beta_0 < np.inf:
        raise DataError(f"beta_0 must be positive and finite; it is {beta_0!r}.")
    graph.require_two_values()
    graph.require_reached()
    if graph.is_separated or not graph.pencil.has_below:
        return eigen(graph)
    step = LabelStep(graph.pencil)
    beta = _LARGE / sqrt(step.dissimilar(0.0)) if beta_0 is None else float(beta_0)
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
    pencil : Pencil
    """

    def __init__(self, pencil: Pencil) -> None:
        self._pencil = pencil
        self._values = _values_at(pencil)
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

    def _dissimilar(self, values: Array) -> float:
        v = np.concatenate([[1.0], values])
        return float(v @ (self._pencil.below @ v))

    def _completed(self, values: Array, beta: float) -> Array:
        """Values plus a multiple of the loose vector, with E_- = 1 at the scale."""
        below = self._pencil.below
        v, z = np.concatenate([[1.0], values]), np.concatenate([[0.0], self._loose])
        r, s, t = float(z @ (below @ z)), float(z @ (below @ v)), float(v @ (below @ v))
        if not r > 0.0:
            return values
        return np.asarray(values + (-s + sqrt(s * s - r * (t - beta**-2))) / r * self._loose)


def scale_step(pencil: Pencil, spread: Array) -> float:
    r"""The exact step in :math:`\beta` at fixed values: least :math:`E_+` with :math:`E_- \ge 1`.

    Parameters
    ----------
    pencil : Pencil
    spread : array of shape (n_u,)

    Raises
    ------
    DataError
        No scale reaches it; for values of `LabelStep` one does.
    """
    p, q, _ = _quadratic(pencil.above, spread)
    r, s, t = _quadratic(pencil.below, spread)
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


def _quadratic(form: Array, spread: Array) -> tuple[float, float, float]:
    """Coefficients p, q, r of the form p b^2 + 2 q b + r along (b, spread)."""
    labels = np.zeros(spread.size + 1)
    labels[0] = 1.0
    values = np.concatenate([[0.0], spread])
    of_labels, of_values = form @ labels, form @ values
    return float(of_labels[0]), float(of_values[0]), float(values @ of_values)


def _values_at(pencil: Pencil) -> Callable[[float], Array]:
    """The minimiser of E_+ - lam E_- at scale one, as a function of lam."""
    if sp.issparse(pencil.above):

        def solved(lam: float) -> Array:
            shifted = sp.csr_array(pencil.shifted(lam))
            return -Factorization(shifted[1:][:, 1:]).solve(shifted[1:][:, [0]].toarray().ravel())

        return solved
    mu, vectors = sl.eigh(pencil.below[1:, 1:], pencil.above[1:, 1:])
    above, below = vectors.T @ pencil.above[1:, 0], vectors.T @ pencil.below[1:, 0]

    def turned(lam: float) -> Array:
        return np.asarray(-vectors @ ((above - lam * below) / (1.0 - lam * mu)))

    return turned
