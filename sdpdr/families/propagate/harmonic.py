r"""Label propagation by similar pairs alone, and with a given weight of dissimilar ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import cg

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.propagate.graph import LabelledGraph
from sdpdr.families.propagate.pencil import Propagation
from sdpdr.linalg.inertia import LdlFactor

# From this order on a sparse Laplacian is solved by conjugate gradients first, since its factors
# may fill in; if that many steps are not enough, as on a long chain, the factors are thin.
_LARGE, _STEPS = 3000, 1000
# Relative residual, near what a factorization leaves.
_PRECISION = 1e-12


def harmonic(graph: LabelledGraph) -> Propagation:
    r"""The labelling of least energy :math:`E_+`, which ignores dissimilar pairs.

    .. math::  y_u = -(L_+^{uu})^{-1} L_+^{ul} y_l .

    Every value is the mean of its neighbours' values, weighted by similarity, and lies between the
    labels.

    Parameters
    ----------
    graph : LabelledGraph

    Raises
    ------
    DisconnectedGraphError
        A connected component of the similar pairs has no label.

    References
    ----------
    Tong thesis, (3.2) and (3.3); Zhu, Ghahramani and Lafferty, ICML, 2003.

    Examples
    --------
    >>> from sdpdr.propagation import labelled_graph
    >>> path = np.diag([1.0, 1.0, 1.0], 1)
    >>> harmonic(labelled_graph(path + path.T, [1.0, np.nan, np.nan, -1.0])).y.round(6).tolist()
    [1.0, 0.333333, -0.333333, -1.0]
    """
    graph.require_reached()
    return given_weight(graph, 0.0, "harmonic")


def fixed_lam(
    graph: LabelledGraph, lam: float | None = None, *, share: float | None = None
) -> Propagation:
    r"""The labelling of least :math:`E_+ - \lambda E_-` for a given weight.

    It exists, and is unique, for :math:`0 \le \lambda < \lambda_{uu}`, the least ratio of
    labellings that vanish where labels are known. The labelling of least ratio is one of them, at
    the least ratio :math:`\lambda^\ast \le \lambda_{uu}`; larger weights go past it.

    Parameters
    ----------
    graph : LabelledGraph
    lam : float, optional
    share : float, optional
        The weight as a share of :math:`\lambda^\ast`, from 0, the harmonic labelling, to 1, that
        of least ratio; it means the same whatever the unit of the dissimilarities. 0.5 if neither
        is given.

    Raises
    ------
    DataError
        The weight is negative, or not below :math:`\lambda_{uu}`, which the message gives.
    DisconnectedGraphError
        A connected component of the similar pairs has no label.

    References
    ----------
    Tong thesis, (3.7) and section 3.3.2.

    Examples
    --------
    >>> from sdpdr.propagation import labelled_graph
    >>> S = [[0.0, 1.0, 0.0], [1.0, 0.0, -0.5], [0.0, -0.5, 0.0]]
    >>> graph = labelled_graph(S, [1.0, np.nan, -1.0])
    >>> [round(float(fixed_lam(graph, lam).y[1]), 6) for lam in (0.0, 0.5, 1.0)]
    [1.0, 1.666667, 3.0]
    """
    if lam is not None and share is not None:
        raise DataError("pass lam or share, not both.")
    graph.require_reached()
    if lam is not None:
        return given_weight(graph, validate.non_negative("lam", lam), "fixed_lam")
    part = 0.5 if share is None else validate.share("share", share)
    # Where similar pairs never join different labels, the harmonic labelling has ratio zero.
    least = 0.0
    if part > 0.0 and graph.pencil.has_below and not graph.is_separated:
        least = graph.pencil.least()[0]
    return given_weight(graph, part * least, "fixed_lam")


def mixed_graph(
    graph: LabelledGraph,
    *,
    ridge: float = 1e-3,
    smoothness: float = 1.0,
    kernel: ArrayLike | None = None,
) -> Propagation:
    r"""Least squares on a mixed graph, where dissimilar neighbours should have opposite values.

    .. math::

        \min_f\ \sum_{i \text{ labelled}} (f_i - y_i)^2 + \lambda_1 |f|_K^2
        + \lambda_2 f^T M f, \qquad
        f^T M f = \tfrac12 \sum_{ij} |S_{ij}| (f_i - \operatorname{sgn}(S_{ij}) f_j)^2 ,

    :math:`M = L + (\mathbf 1 \mathbf 1^T - s) \circ W` with :math:`W = |S|`, L its Laplacian and
    s the signs. The labels are met approximately; y holds f.

    Parameters
    ----------
    graph : LabelledGraph
    ridge : float, default 1e-3
        :math:`\lambda_1 > 0`.
    smoothness : float, default 1.0
        :math:`\lambda_2 \ge 0`.
    kernel : array_like of shape (n, n), optional
        K, positive semidefinite; the identity by default, which keeps a sparse graph sparse.

    Raises
    ------
    DataError, ShapeError

    References
    ----------
    Goldberg, Zhu and Wright, "Dissimilarity in graph-based semi-supervised classification",
    AISTATS, 2007; Tong thesis, (3.13).
    """
    ridge = validate.positive_number("ridge", ridge)
    smoothness = validate.non_negative("smoothness", smoothness)
    known = (~np.isnan(graph.labels)).astype(float)
    target = np.where(known > 0.0, graph.labels, 0.0)
    degrees = np.asarray((graph.positive + graph.negative).sum(axis=1)).ravel()
    signed = _diagonal(degrees, graph.positive) - graph.positive + graph.negative
    if kernel is None:
        matrix = _diagonal(known + ridge, graph.positive) + smoothness * signed
        values = _solve(matrix, target)
    else:
        K = np.asarray(kernel, dtype=float)
        if K.shape != (graph.n, graph.n):
            raise ShapeError(f"kernel has shape {K.shape}; the graph has {graph.n} nodes.")
        matrix = known[:, None] * K + ridge * np.eye(graph.n) + smoothness * (signed @ K)
        values = K @ np.linalg.solve(matrix, target)
    return recorded(graph, np.asarray(values), float("nan"), "mixed_graph")


def given_weight(graph: LabelledGraph, lam: float, method: str) -> Propagation:
    """The minimizer of E_+ - lam E_- on a graph whose components all have labels."""
    matrix, right = graph.pencil.system(lam)
    try:
        spread = _by_conjugate_gradients(matrix, right) if lam == 0.0 else None
        spread = _solve(matrix, right) if spread is None else spread
    except ArithmeticError:
        limit = graph.pencil.unlabelled().least()[0]
        raise DataError(
            f"lam={lam:g} is too large: from {limit:.6g} on, E_+ - lam E_- is not bounded below. "
            "Pass a smaller one."
        ) from None
    return recorded(graph, graph.labelling(spread), lam, method)


def recorded(graph: LabelledGraph, y: Array, lam: float, method: str, **proof: Any) -> Propagation:
    """The record of a labelling, with its proof if it claims the least ratio."""
    weight = float(1.0 / np.sqrt(1.0 + np.sum(np.square(y[graph.unlabelled]))))
    return Propagation(y, lam, graph.ratio(y), weight, method, **proof)


def _by_conjugate_gradients(matrix: Matrix, right: Array) -> Array | None:
    """The solution of a large sparse Laplacian system; None of others, or if steps run out."""
    if not sp.issparse(matrix) or matrix.shape[0] < _LARGE:
        return None
    scaling = sp.diags_array(1.0 / matrix.diagonal())
    options = {"rtol": _PRECISION, "atol": 0.0, "maxiter": _STEPS}
    found, unfinished = cg(matrix, right, M=scaling, **options)
    return None if unfinished else np.asarray(found)


def _solve(matrix: Matrix, right: Array) -> Array:
    """Solution of a positive definite system; ArithmeticError if it is none."""
    if sp.issparse(matrix):
        factor = LdlFactor(matrix)
        if factor.n_negative:
            raise ArithmeticError("not positive definite")
        return factor.solve(right)
    try:
        return np.asarray(sl.cho_solve(sl.cho_factor(matrix), right))
    except np.linalg.LinAlgError as error:
        raise ArithmeticError(str(error)) from None


def _diagonal(values: Array, like: Matrix) -> Any:
    return sp.diags_array(values, format="csr") if sp.issparse(like) else np.diag(values)
