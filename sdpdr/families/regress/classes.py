"""Responses of classes in closed form, and the order of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.rows import listed
from sdpdr.families.regress.pencil import GraphEmbedding
from sdpdr.families.regress.pencils import classes_of, indicators, samples_of
from sdpdr.graphs import NeighborGraph, edge_weights
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.spectral import fix_signs, gram_spectrum

# Spreads below this share of the largest are rounding; shares of separation this close are equal.
_FLAT, _TIE = 1e-12, 1e-9


def class_responses(y: ArrayLike, sample_weight: Array | None = None) -> Array:
    r"""Orthonormal responses of classes, orthogonal to the constant; shape (n, classes - 1).

    Together with the constant vector they span the indicators of the classes, so they solve
    `class_pencil` with eigenvalue one. Samples of one class have one response.

    Parameters
    ----------
    y : array_like of shape (n,)
        At least two classes.
    sample_weight : array of shape (n,), optional
        Positive weights of the inner products, :math:`\sum_i w_i y_i y_i^T = I`.

    References
    ----------
    Cai thesis, (3.9).

    Examples
    --------
    >>> class_responses(["a", "a", "b", "b"]).round(3)
    array([[ 0.5],
           [ 0.5],
           [-0.5],
           [-0.5]])
    """
    _, member, counts = classes_of(y, sample_weight)
    root = np.sqrt(counts)
    codes = _complement(root) / root[:, None]
    # The first of the largest codes is positive; rounding decides nothing.
    leading = np.argmax(np.abs(codes).round(12), axis=0)
    codes *= np.sign(codes[leading, np.arange(codes.shape[1])])
    return np.asarray(codes[member])


def semisupervised_responses(
    graph: NeighborGraph,
    y: ArrayLike,
    alpha: float = 0.1,
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
    small matrix :math:`F^T D^{-1} F`, so one sparse factorization finds all.

    Every component of the graph has a labelled sample; labels are -1 if not known. The result has
    classes - 1 vectors with :math:`y^T D y = 1`, D-orthogonal to the constant. Edges of the graph
    are not weighted by ``sample_weight``.

    Raises
    ------
    DataError
        A component of the graph has no label, so that D is singular; there are fewer than two
        classes; or rounding hides the classes because their weights are so small beside alpha.

    References
    ----------
    Cai thesis, (2.20)-(2.25).
    """
    alpha = validate.positive_number("alpha", alpha)
    _, member, counts = classes_of(y, sample_weight, partly=True)
    nodes, known = graph.index, member >= 0
    if member.size != nodes.size or np.any(nodes < 0):
        dropped = ", and dropped some" if np.any(nodes < 0) else ""
        raise ShapeError(
            f"y has {member.size} labels; the graph was made of {nodes.size} samples{dropped}."
        )
    lengths = edge_weights(graph, weights, bandwidth)
    _require_labels(graph.adjacency(lengths), nodes, known)
    each = np.ones(member.size) if sample_weight is None else sample_weight
    labelled = np.bincount(nodes[known], each[known], graph.n)
    D = sp.csr_array(sp.diags_array(labelled) + alpha * graph.laplacian(lengths))
    F = (samples_of(graph).T @ indicators(member, counts, sample_weight)).toarray()
    # In units in which the diagonal of D is one, so that the sizes of weights do not matter.
    unit = 1.0 / np.sqrt(D.diagonal())
    try:
        solve = LdlFactor(sp.csr_array(sp.diags_array(unit) @ D @ sp.diags_array(unit))).solve
    except ArithmeticError:
        raise _hidden(alpha) from None
    carried = np.column_stack([unit * solve(unit * f) for f in F.T])
    # The constant is D^-1 F sqrt(counts); the other solutions are orthogonal to it.
    basis = _complement(np.sqrt(counts))
    values, q = np.linalg.eigh(basis.T @ F.T @ carried @ basis)
    if values[-1] < _FLAT:
        raise _hidden(alpha)
    vectors = carried @ (basis @ q[:, ::-1])
    norms = np.sqrt(np.maximum(values[::-1], np.finfo(float).tiny))
    return GraphEmbedding((vectors / norms)[nodes], values[::-1])


def _require_labels(W: Any, nodes: np.ndarray, known: np.ndarray) -> None:
    """Refuse components without a labelled sample; edges of weight zero join nothing."""
    W = sp.csr_array(W)
    W.eliminate_zeros()
    count, parts = connected_components(W, directed=False)
    bare = np.setdiff1d(parts, parts[nodes[known]])
    if bare.size:
        lost = np.flatnonzero(np.isin(parts[nodes], bare))
        raise DataError(
            f"{bare.size} of {count} components of the graph have no labelled sample: "
            f"{listed(lost)}. Label one in each, use more neighbours, or leave them out."
        )


def _hidden(alpha: float) -> DataError:
    return DataError(
        f"labels are lost to rounding beside the smoothing {alpha:g}. Lower the smoothing, or pass "
        "sample_weight with a mean of one."
    )


def _complement(vector: Array) -> Array:
    """An orthonormal basis of what is orthogonal to a vector, columns."""
    n = vector.size
    return np.linalg.qr(np.column_stack([vector, np.eye(n)]))[0][:, 1:n]


def by_separation(
    responses: Array,
    fitted: Array,
    y: ArrayLike,
    sample_weight: Array | None = None,
    *,
    partly: bool = False,
) -> tuple[Array, Array]:
    r"""Rotation of class responses to columns that separate best, and how well they separate.

    With Y the responses and F their fitted values, each direction q has the largest spread between
    classes relative to its total spread and ridge, :math:`q^T Y^T F q`, of what the directions
    before it leave. The rotation is orthogonal, so all columns together keep their distances.

    Returns the shares of the spread between classes in the total, at most one, and the rotation
    (d, d). If y is known ``partly``, the label -1 is unknown.
    """
    _, member, counts = classes_of(y, sample_weight, partly=partly)
    known, each = member >= 0, np.ones(member.size) if sample_weight is None else sample_weight
    centre = np.average(fitted[known], axis=0, weights=each[known])
    means = indicators(member, counts, sample_weight).T @ (fitted - centre)
    centred = responses - np.average(responses, axis=0, weights=each)
    product = (each[:, None] * centred).T @ fitted
    spread, basis = gram_spectrum(product)
    wide = spread > _FLAT * spread[0]
    if wide.all():
        # A triangular factor keeps the order of the responses if directions are equally good.
        white = np.linalg.inv(np.linalg.cholesky((product + product.T) / 2.0)).T
    else:
        white = basis[:, wide] / np.sqrt(spread[wide])
    between = means @ white
    shares, turn = gram_spectrum(between.T @ between)
    group = np.cumsum(np.append(0, np.diff(shares) < -_TIE))
    for tied in (group == k for k in range(group[-1] + 1)):
        # Of equally good directions, those nearest to the axes; rounding decides nothing.
        turn[:, tied] = turn[:, tied] @ np.linalg.qr(turn[:, tied].T)[0]
    ordered = np.hstack([white @ turn, basis[:, ~wide]])
    shares = np.append(shares, np.zeros(int(np.sum(~wide))))
    return shares, fix_signs(np.linalg.qr(ordered)[0])
