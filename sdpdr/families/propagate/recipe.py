"""Mixed label propagation as semidefinite programs: the least ratio, its dual, and both steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.propagate.graph import LabelledGraph, labelled_graph
from sdpdr.families.propagate.pencil import EnergyPencil
from sdpdr.model import Model
from sdpdr.model.language import maximize, minimize, psd, scalar
from sdpdr.program import Solution
from sdpdr.program.point import spectrum_of


@checks_keywords
def mixed_label_propagation(X: Any, y: ArrayLike) -> Model:
    r"""Labels that make similar nodes agree and dissimilar ones differ, as a program.

    .. math::

        \min_{K \succeq 0}\ \langle A, K\rangle \quad\text{s.t.}\quad \langle B, K\rangle = 1,
        \qquad A = P^T L_+ P,\ B = P^T L_- P,\ P = \begin{pmatrix} y_l & 0 \\ 0 & I\end{pmatrix} .

    With one row there is an optimum of rank one, :math:`K = v v^T`, and it is the only one if the
    least eigenvalue of the pencil is simple: the relaxation of
    :math:`\min_y y^T L_+ y / y^T L_- y` with :math:`y_l` given, where y = P v / v_0, is exact.
    `sdpdr.propagation.eigen` solves the same as an eigenproblem; as a model it can be combined
    with further blocks. On a sparse graph it takes the chordal form.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, n)
        S, signed similarities; symmetric.
    y : array_like of shape (n,)
        Labels, nan where not known.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError
        As `sdpdr.propagation.labelled_graph`; the labels are constant, a part of the similar pairs
        has no label, or there is no dissimilarity.

    References
    ----------
    Tong thesis, (3.4).

    Examples
    --------
    >>> from sdpdr.methods import mixed_label_propagation
    >>> nan = float("nan")
    >>> S = [[0, 1, -1], [1, 0, 1], [-1, 1, 0]]
    >>> print(mixed_label_propagation(S, [1, nan, -1]).describe())
    minimise    ⟨C, K⟩
    over        K ∈ S^2, K ⪰ 0
    subject to  ⟨C, K⟩ = 1             unit_energy, 1 row
    """
    pencil = _checked(X, y).pencil
    K = psd("K", pencil.order)
    unit = (K.inner(pencil.below) == 1.0).named("unit_energy")
    return Model((minimize(K.inner(pencil.above)), unit), name="mixed_label_propagation")


@checks_keywords
def mixed_label_bound(X: Any, y: ArrayLike) -> Model:
    r"""The dual of `mixed_label_propagation`, with one scalar.

    .. math::  \max\ \lambda \quad\text{s.t.}\quad A - \lambda B \succeq 0 .

    Every feasible :math:`\lambda` is a lower bound on the ratio of every labelling.

    Parameters
    ----------
    X, y
        As for `mixed_label_propagation`.

    Returns
    -------
    Model

    References
    ----------
    Tong thesis, (3.4), whose Lagrangian dual this is.
    """
    pencil = _checked(X, y).pencil
    lam = scalar("lam")
    definite = (pencil.above - lam * pencil.below >> 0.0).named("definite")
    return Model((maximize(lam), definite), name="mixed_label_bound")


@checks_keywords
def mixed_label_step(X: Any, y: ArrayLike, *, beta: float) -> Model:
    r"""The step in the values at a fixed scale of the labels, as its dual.

    .. math::

        \min_{y_u}\ E_+(\beta y_l, y_u) \ \text{s.t.}\ E_-(\beta y_l, y_u) \ge 1
        \quad=\quad \max_{\lambda \ge 0,\ \gamma}\ \gamma \ \text{s.t.}\
        D (A - \lambda B) D \succeq (\gamma - \lambda)\, e_0 e_0^T,

    with :math:`D = \operatorname{diag}(\beta, 1, \dots, 1)`. The values are
    :math:`y_u = -\beta a_{11}^{-1} a_{12}` with :math:`a_{11}, a_{12}` the blocks of
    :math:`A - \lambda B`.

    Parameters
    ----------
    X, y
        As for `mixed_label_propagation`.
    beta : float
        Scale of the labels.

    Returns
    -------
    Model

    References
    ----------
    Tong thesis, (3.8), whose value lacks the constant :math:`\beta^2 y_l^T L_+^{ll} y_l`.
    """
    pencil = _checked(X, y).pencil
    scale = np.ones(pencil.order)
    scale[0] = validate.positive_number("beta", beta)
    return _fixed_scale(pencil, np.diag(scale), "mixed_label_step")


@checks_keywords
def mixed_scale_step(X: Any, y: ArrayLike, *, spread: ArrayLike) -> Model:
    r"""The step in the scale of the labels at fixed values, as its dual: two scalars, order two.

    .. math::

        \min_\beta\ E_+(\beta y_l, y_u) \quad\text{s.t.}\quad E_-(\beta y_l, y_u) \ge 1 .

    The sign of :math:`\beta` is free, which it is not in the alternation
    (`sdpdr.propagation.alternating`).

    Parameters
    ----------
    X, y
        As for `mixed_label_propagation`.
    spread : array_like of shape (n_u,)
        :math:`y_u`, the values of the nodes without a label, in their order.

    Returns
    -------
    Model

    References
    ----------
    Tong thesis, (3.9), where :math:`b_{22}` lacks :math:`y_u^T L_+^{uu} y_u`.
    """
    pencil = _checked(X, y).pencil
    values = np.asarray(spread, dtype=float)
    if values.shape != (pencil.order - 1,):
        raise ShapeError(f"spread has shape {values.shape}; {pencil.order - 1} labels are unknown.")
    basis = np.zeros((pencil.order, 2))
    basis[1:, 0], basis[0, 1] = values, 1.0
    return _fixed_scale(pencil, basis, "mixed_scale_step")


@checks_keywords
def labelling_of(solution: Solution, X: Any, y: ArrayLike) -> Array:
    """The labelling that a solution of `mixed_label_propagation` found, shape (n,).

    With v the leading eigenvector of K: the labels, and v / v_0 elsewhere.

    Parameters
    ----------
    solution : Solution
    X, y
        As for the model.

    Returns
    -------
    array of shape (n,)

    Raises
    ------
    DataError
        The labels have no share in the eigenvector.
    """
    v = spectrum_of(solution.gram("K"))[1][:, 0]
    if abs(v[0]) <= 1e-9:
        raise DataError("the matrix found has no share of the labels: the ratio is not attained.")
    return _checked(X, y).labelling(v[1:] / v[0])


def _checked(X: Any, y: ArrayLike) -> LabelledGraph:
    """The graph, whose least ratio is a question."""
    graph = labelled_graph(X, y)
    graph.require_two_values()
    graph.require_reached()
    if not graph.pencil.has_below:
        raise DataError(
            "no dissimilar pair has an end without a label or two different labels: there is no "
            "ratio to minimise. sdpdr.propagation.harmonic needs none."
        )
    return graph


def _fixed_scale(pencil: EnergyPencil, basis: Array, name: str) -> Model:
    r"""The dual of a step in the span of some columns, the first of which has weight one.

    By the S-lemma, the least :math:`v^T A v` over all v with :math:`v_0 = 1` and
    :math:`v^T B v \ge 1` is the largest :math:`\gamma` with
    :math:`A - \lambda B + (\lambda - \gamma) e_0 e_0^T \succeq 0`, :math:`\lambda \ge 0`, if some
    v has :math:`v^T B v > 1`.
    """
    above, below = (basis.T @ (form @ basis) for form in (pencil.above, pencil.below))
    lam, gamma = scalar("lam", nonnegative=True), scalar("gamma")
    corner = np.zeros(above.shape)
    corner[0, 0] = 1.0
    definite = (above - lam * below + (lam - gamma) * corner >> 0.0).named("definite")
    return Model((maximize(gamma), definite), name=name)
