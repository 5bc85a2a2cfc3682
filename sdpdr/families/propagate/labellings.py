r"""Labellings with a given weight of dissimilar pairs: harmonic, fixed, and by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Advised
from sdpdr.families.limits import QUICK
from sdpdr.families.propagate.graph import LabelledGraph
from sdpdr.linalg.inertia import LdlFactor

# A sparse Laplacian too large for dense work is solved by conjugate gradients first, since its
# factors may fill in; if so many steps are not enough, as on a long chain, the factors are thin.
_STEPS = 1000


class PropagationStatus(Advised):
    """How a search for the least ratio ended; the value of each member is advice."""

    OPTIMAL = "No labelling has a smaller ratio, but for a relative `gap`; that is proved."
    STALLED = (
        "A smaller ratio is possible: `bound` is that of the optimum. The alternation stopped at a "
        "point that neither of its steps improves."
    )
    UNPROVEN = "The ratio is at least `bound`; rounding prevents a larger bound."
    NO_DISSIMILARITY = (
        "No dissimilar pair has an end without a label or two different labels, so that there is "
        "no ratio to minimise; the harmonic labelling is returned."
    )
    NOT_SOUGHT = "The method does not minimise the ratio."


@dataclass(frozen=True, eq=False)
class Propagation:
    r"""A labelling of all nodes.

    Attributes
    ----------
    y : array of shape (n,)
        The given labels, and the values found for the other nodes.
    lam : float
        Weight :math:`\lambda` of dissimilar pairs: y minimises :math:`E_+ - \lambda E_-`. 0 for
        the harmonic labelling, nan where y has no such weight.
    ratio : float
        :math:`E_+(y)/E_-(y)`.
    bound : float
        No labelling with these labels has a smaller ratio: proved, rounding included. 0 where
        nothing was tried.
    gap_uu : float
        :math:`1 - \lambda^\ast/\lambda_{uu}`, where :math:`\lambda_{uu} \ge \lambda^\ast` is the
        least ratio of labellings that vanish where labels are known; small if the labels hardly
        decide. nan where it was not computed.
    status : PropagationStatus
    history : tuple of tuples
        Scale, weight and ratio, :math:`(\beta, \lambda, E_+/E_-)`, after each step of the
        alternation; empty for other methods.
    """

    y: Array
    lam: float
    ratio: float
    bound: float = 0.0
    gap_uu: float = float("nan")
    status: PropagationStatus = PropagationStatus.NOT_SOUGHT
    history: tuple[tuple[float, float, float], ...] = ()

    @property
    def gap(self) -> float:
        """The ratio less its bound, relative to the ratio; 0 if both are."""
        return (self.ratio - self.bound) / self.ratio if self.ratio > 0.0 else 0.0


def harmonic(graph: LabelledGraph) -> Propagation:
    r"""The labelling of least energy :math:`E_+`, which ignores dissimilar pairs.

    .. math::  y_u = -(L_+^{uu})^{-1} L_+^{ul} y_l .

    Every value is the mean of its neighbours' values, weighted by similarity, and lies between the
    labels.

    Parameters
    ----------
    graph : LabelledGraph
        Made by `labelled_graph`.

    Returns
    -------
    Propagation

    Raises
    ------
    DisconnectedGraphError
        A connected component of the similar pairs has no label.

    References
    ----------
    Tong thesis, (3.2) and (3.3); Zhu, Ghahramani and Lafferty, ICML, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.propagation import harmonic
    >>> from sdpdr.propagation import labelled_graph
    >>> path = np.diag([1.0, 1.0, 1.0], 1)
    >>> harmonic(labelled_graph(path + path.T, [1.0, np.nan, np.nan, -1.0])).y.round(6).tolist()
    [1.0, 0.333333, -0.333333, -1.0]
    """
    graph.require_reached()
    return given_weight(graph, 0.0)


@checks_keywords
def fixed_lam(graph: LabelledGraph, *, share: float = 0.5) -> Propagation:
    r"""The labelling of least :math:`E_+ - \lambda E_-` for a given weight.

    The weight is a share of the least ratio :math:`\lambda^\ast`, so that it means the same
    whatever the unit of the dissimilarities.

    Parameters
    ----------
    graph : LabelledGraph
        Made by `labelled_graph`.
    share : float, default 0.5
        :math:`\lambda / \lambda^\ast`, from 0, the harmonic labelling, to 1, that of least ratio.

    Returns
    -------
    Propagation

    Raises
    ------
    DataError
        The share is not between 0 and 1, or the least ratio is not attained and the share is 1.
    DisconnectedGraphError
        A connected component of the similar pairs has no label.

    References
    ----------
    Tong thesis, (3.7) and section 3.3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.propagation import fixed_lam
    >>> from sdpdr.propagation import labelled_graph
    >>> S = np.diag([1.0, 1.0, 1.0], 1)
    >>> S[0, 2] = -1.0
    >>> graph = labelled_graph(S + S.T, [1.0, np.nan, np.nan, -1.0])
    >>> [fixed_lam(graph, share=share).y[1:3].round(3).tolist() for share in (0.0, 0.5)]
    [[0.333, -0.333], [0.2, -0.6]]
    """
    graph.require_reached()
    least = 0.0
    # Where similar pairs never join different labels, the harmonic labelling has ratio zero.
    if validate.share("share", share) > 0.0 and graph.pencil.has_below and not graph.is_separated:
        least = graph.pencil.least()[0]
    return given_weight(graph, share * least)


@checks_keywords
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
        Made by `labelled_graph`.
    ridge : float, default 1e-3
        :math:`\lambda_1 > 0`.
    smoothness : float, default 1.0
        :math:`\lambda_2 \ge 0`.
    kernel : array_like of shape (n, n), optional
        K, positive semidefinite; the identity by default, which keeps a sparse graph sparse.

    Returns
    -------
    Propagation

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
    degrees = (graph.positive + graph.negative).sum(axis=1)
    M = smoothness * (sp.diags_array(degrees) - graph.positive + graph.negative)
    if kernel is None:
        matrix = sp.csr_array(sp.diags_array(known + ridge) + M)
        values = solve_positive(
            matrix.toarray() if graph.is_dense else matrix, np.nan_to_num(graph.labels)
        )
    else:
        K = np.asarray(kernel, dtype=float)
        if K.shape != (graph.n, graph.n):
            raise ShapeError(f"kernel has shape {K.shape}; the graph has {graph.n} nodes.")
        matrix = known[:, None] * K + ridge * np.eye(graph.n) + M @ K
        values = K @ np.linalg.solve(matrix, np.nan_to_num(graph.labels))
    return Propagation(values, float("nan"), graph.ratio(values))


def given_weight(graph: LabelledGraph, lam: float, **proof: Any) -> Propagation:
    """The minimizer of E_+ - lam E_- on a graph whose components all have labels."""
    matrix, right = graph.pencil.system(lam)
    try:
        y = graph.labelling(solve_positive(matrix, right, is_laplacian=lam == 0.0))
    except ArithmeticError:
        raise DataError(
            f"with lam={lam:g}, the least ratio, E_+ - lam E_- has no minimum: the ratio is not "
            "attained. Pass a smaller share."
        ) from None
    return Propagation(y, lam, graph.ratio(y), **proof)


def solve_positive(matrix: Matrix, right: Array, *, is_laplacian: bool = False) -> Array:
    """Solution of a positive definite system; ArithmeticError if it is none."""
    if not sp.issparse(matrix):
        try:
            return np.asarray(sl.cho_solve(sl.cho_factor(matrix), right))
        except np.linalg.LinAlgError as error:
            raise ArithmeticError(str(error)) from None
    if is_laplacian and matrix.shape[0] > QUICK:
        scaling = sp.diags_array(1.0 / matrix.diagonal())
        found, unfinished = spl.cg(matrix, right, rtol=1e-12, atol=0.0, maxiter=_STEPS, M=scaling)
        if not unfinished:
            return np.asarray(found)
    factor = LdlFactor(matrix)
    if factor.n_negative:
        raise ArithmeticError("not positive definite")
    return factor.solve(right)
