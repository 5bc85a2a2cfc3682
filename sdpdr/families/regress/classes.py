"""Responses of classes, on all samples or carried along a graph, and the order of their columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.rows import listed
from sdpdr.families.regress.pencil import GraphEmbedding
from sdpdr.families.regress.weights import classes_of, samples_of, shares_of
from sdpdr.graphs import NeighborGraph, edge_weights
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.spectral import fix_signs, gram_spectrum
from sdpdr.linalg.walks import connected_components

# Directions with a smaller share of the largest spread have none.
_FLAT = 1e-12
# Shares of the spread between classes that are no further apart are equal.
_TIE = 1e-9


def class_responses(y: ArrayLike, sample_weight: Array | None = None) -> Array:
    r"""Orthonormal responses of classes, orthogonal to the constant; shape (n, classes - 1).

    They span what the indicators of the classes span beside the constant vector, so they solve
    `class_pencil` with eigenvalue one. Samples of one class have one response.

    Parameters
    ----------
    y : array_like of shape (n,)
        At least two classes.
    sample_weight : array of shape (n,), optional
        Positive; orthonormal is meant with these, :math:`\sum_i w_i y_i y_i^T = I`.

    References
    ----------
    Cai thesis, (3.9), by Gram-Schmidt; here from one decomposition of the order of the classes.

    Examples
    --------
    >>> class_responses(["a", "a", "b", "b"]).round(3)
    array([[ 0.5],
           [ 0.5],
           [-0.5],
           [-0.5]])
    """
    _, member, counts = classes_of(y, sample_weight=sample_weight)
    root = np.sqrt(counts)
    basis = _orthogonal_to(root)
    codes = basis / root[:, None]
    # Of the codes of equal size the first is made positive, whatever rounding says.
    leading = np.argmax(np.abs(codes).round(12), axis=0)
    codes *= np.sign(codes[leading, np.arange(codes.shape[1])])
    return np.asarray(codes[member])


def _components(W: sp.csr_array) -> Index:
    W.eliminate_zeros()
    return np.asarray(connected_components(W)[1], dtype=np.int64)


def _orthogonal_to(vector: Array) -> Array:
    """An orthonormal basis of what is orthogonal to a vector, columns."""
    n = vector.size
    return np.linalg.qr(np.column_stack([vector, np.eye(n)]))[0][:, 1:n]


def semisupervised_responses(
    graph: NeighborGraph,
    y: ArrayLike,
    alpha: float = 0.1,
    unlabelled: object = -1,
    *,
    weights: str = "binary",
    bandwidth: float | None = None,
    sample_weight: Array | None = None,
) -> GraphEmbedding:
    r"""Responses of labelled samples, carried to all others along a graph.

    The pencil of semi-supervised discriminant analysis has
    :math:`W = F F^T` on the labelled samples, with F as in `class_pencil`, and
    :math:`D = \tilde I + \alpha L`, where :math:`\tilde I` marks the labelled samples and L is the
    Laplacian of the graph. Its solutions are :math:`y = D^{-1} F q` with the solutions q of the
    small matrix :math:`F^T D^{-1} F`, so one sparse factorization serves all.

    Parameters
    ----------
    graph : NeighborGraph
        Every component has a labelled sample.
    y : array_like of shape (n,)
        ``unlabelled`` where not known.
    alpha : float, default 0.1
        Positive.
    unlabelled : default -1
    weights, bandwidth : optional
        Of L, as for `sdpdr.graphs.edge_weights`.
    sample_weight : array of shape (n,), optional
        Positive. How much labelled samples count; nodes of the graph are joined as they are.

    Returns
    -------
    GraphEmbedding
        classes - 1 vectors with :math:`y^T D y = 1`, D-orthogonal to the constant.

    Raises
    ------
    DataError
        A component of the graph has no label (D is singular then), fewer than two classes, or
        weights so small beside alpha that rounding hides the classes.

    References
    ----------
    Cai thesis, (2.20)-(2.25).
    """
    alpha = validate.positive_number("alpha", alpha)
    _, member, counts = classes_of(y, unlabelled, sample_weight)
    if member.size != graph.index.size or np.any(graph.index < 0):
        raise ShapeError(
            f"y has {member.size} labels; the graph was made of {graph.index.size} samples"
            f"{', and dropped some' if np.any(graph.index < 0) else ''}."
        )
    known = member >= 0
    weighed = edge_weights(graph, weights, bandwidth)
    # An edge may weigh nothing: two rows at a right angle have the cosine zero.
    parts = graph.components if weighed.all() else _components(graph.adjacency(weighed))
    bare = np.setdiff1d(parts, parts[graph.index[known]])
    if bare.size:
        lost = np.flatnonzero(np.isin(parts[graph.index], bare))
        raise DataError(
            f"{bare.size} of {parts.max() + 1} components of the graph have no labelled "
            f"sample: {listed(lost)}. Label one in each, take more neighbours, or leave "
            "them out."
        )
    nodes = graph.index
    each = np.ones(member.size) if sample_weight is None else sample_weight
    labelled = np.bincount(nodes[known], each[known], graph.n)
    D = sp.diags_array(labelled) + alpha * graph.laplacian(weighed)
    gathered = (samples_of(graph).T @ shares_of(member, counts, sample_weight)).toarray()
    # Diagonals of one, for pivots of one size whatever the weights are.
    unit = 1.0 / np.sqrt(D.diagonal())
    try:
        solve = LdlFactor(sp.csr_array(sp.diags_array(unit) @ D @ sp.diags_array(unit))).solve
    except ArithmeticError:
        raise DataError(_lost(alpha)) from None
    carried = np.column_stack([unit * solve(unit * f) for f in gathered.T])
    small = gathered.T @ carried
    # The constant is F sqrt(counts) solved, with the eigenvalue one; the rest is orthogonal to it.
    root = np.sqrt(counts) / np.sqrt(counts.sum())
    basis = _orthogonal_to(root)
    values, q = np.linalg.eigh(basis.T @ small @ basis)
    if values[-1] < _FLAT:
        raise DataError(_lost(alpha))
    vectors = carried @ (basis @ q[:, ::-1])
    norms = np.sqrt(np.maximum(values[::-1], np.finfo(float).tiny))
    return GraphEmbedding((vectors / norms)[nodes], values[::-1])


def _lost(alpha: float) -> str:
    return (
        f"labels are lost beside neighbours, with the smoothing {alpha:g} of their graph: rounding "
        "is larger. Lower the smoothing, or pass sample_weight, which has a unit here, with a mean "
        "of one."
    )


def _settled(values: Array, vectors: Array) -> Array:
    """Eigenvectors where those of equal values, which rounding chooses, follow the axes."""
    found = vectors.copy()
    groups = np.cumsum(np.concatenate([[0], np.diff(values) < -_TIE]))
    for group in range(int(groups[-1]) + 1):
        tied = np.flatnonzero(groups == group)
        if tied.size > 1:
            basis = vectors[:, tied]
            # The axes as far as they lie in the range, the first that are independent.
            found[:, tied] = basis @ np.linalg.qr(basis.T)[0]
    return found


def by_separation(
    responses: Array,
    fitted: Array,
    y: ArrayLike,
    unlabelled: object = None,
    sample_weight: Array | None = None,
) -> tuple[Array, Array]:
    r"""How well fitted responses separate classes, best first, and the turn to that order.

    With Y the responses and F what a ridge made of them, each direction q has the largest spread
    between classes for its spread in all and the ridge, :math:`q^T Y^T F q`, of what those before
    it leave. The turn is orthogonal, so that all columns together are as far apart as before.

    Parameters
    ----------
    responses : array of shape (n, d)
    fitted : array of shape (n, d)
    y : array_like of shape (n,)
        Labels.
    unlabelled : optional
        What y is where not known.
    sample_weight : array of shape (n,), optional
        How much samples count in all spreads and means.

    Returns
    -------
    shares : array of shape (d,)
        Spread between classes of what is in all, up to one.
    turn : array of shape (d, d)
    """
    _, member, counts = classes_of(y, unlabelled, sample_weight)
    known, each = member >= 0, np.ones(member.size) if sample_weight is None else sample_weight
    centre = np.average(fitted[known], axis=0, weights=each[known])
    means = shares_of(member, counts, sample_weight).T @ (fitted - centre)
    centred = responses - np.average(responses, axis=0, weights=each)
    product = (each[:, None] * centred).T @ fitted
    spread, basis = gram_spectrum(product)
    wide = spread > _FLAT * spread[0]
    if wide.all():
        # By a triangle, which has the order of the responses, and no directions of its own.
        white = np.linalg.inv(np.linalg.cholesky((product + product.T) / 2.0)).T
    else:
        white = basis[:, wide] / np.sqrt(spread[wide])
    between = means @ white
    shares, turn = gram_spectrum(between.T @ between)
    turn = _settled(shares, turn)
    ordered = np.hstack([white @ turn, basis[:, ~wide]])
    shares = np.concatenate([shares, np.zeros(int(np.sum(~wide)))])
    return shares, fix_signs(np.linalg.qr(ordered)[0])
