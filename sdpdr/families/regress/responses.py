"""Responses to regress on: what an embedding should be, sample by sample."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.regress.pencil import GraphEmbedding
from sdpdr.families.regress.weights import classes_of
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.inertia import Factorization


def class_responses(y: ArrayLike) -> Array:
    """Orthonormal responses of classes, orthogonal to the constant; shape (n, classes - 1).

    They span what the indicators of the classes span beside the constant vector, so they solve
    `class_pencil` with eigenvalue one. Samples of one class have one response.

    Parameters
    ----------
    y : array_like of shape (n,)
        At least two classes.

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
    _, member, counts = classes_of(y)
    root = np.sqrt(counts)
    basis = np.linalg.qr(np.column_stack([root, np.eye(counts.size)]))[0][:, 1 : counts.size]
    codes = basis / root[:, None]
    # Of the codes of equal size the first is made positive, whatever rounding says.
    leading = np.argmax(np.abs(codes).round(12), axis=0)
    codes *= np.sign(codes[leading, np.arange(codes.shape[1])])
    return np.asarray(codes[member])


def semisupervised_responses(
    graph: NeighborGraph, y: ArrayLike, alpha: float = 0.1, unlabelled: object = -1
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

    Returns
    -------
    GraphEmbedding
        classes - 1 vectors with :math:`y^T D y = 1`, D-orthogonal to the constant.

    Raises
    ------
    DataError
        A component of the graph has no label (D is singular then), or fewer than two classes.

    References
    ----------
    Cai thesis, (2.20)-(2.25).
    """
    alpha = validate.positive_number("alpha", alpha)
    labels, member, counts = classes_of(y, unlabelled)
    if member.size != graph.index.size or np.any(graph.index < 0):
        raise ShapeError(
            f"y has {member.size} labels; the graph was made of {graph.index.size} samples"
            f"{', and dropped some' if np.any(graph.index < 0) else ''}."
        )
    known = member >= 0
    bare = np.setdiff1d(graph.components, graph.components[graph.index[known]])
    if bare.size:
        lost = np.flatnonzero(np.isin(graph.components[graph.index], bare))
        raise DataError(
            f"{bare.size} of {graph.n_components} components of the graph have no labelled "
            f"sample: {validate.listed(lost)}. Label one in each, take more neighbours, or leave "
            "them out."
        )
    n, nodes = member.size, graph.index
    spread = sp.csr_array((np.ones(n), (np.arange(n), nodes)), shape=(n, graph.n))
    labelled = np.bincount(nodes[known], minlength=graph.n).astype(float)
    D = sp.diags_array(labelled) + alpha * graph.laplacian()
    F = np.zeros((n, labels.size))
    F[known, member[known]] = 1.0 / np.sqrt(counts[member[known]])
    gathered = spread.T @ F
    solve = Factorization(sp.csr_array(D)).solve
    carried = np.column_stack([solve(f) for f in gathered.T])
    small = gathered.T @ carried
    # The constant is F sqrt(counts) solved, with the eigenvalue one; the rest is orthogonal to it.
    root = np.sqrt(counts) / np.sqrt(counts.sum())
    basis = np.linalg.qr(np.column_stack([root, np.eye(labels.size)]))[0][:, 1 : labels.size]
    values, q = np.linalg.eigh(basis.T @ small @ basis)
    vectors = carried @ (basis @ q[:, ::-1])
    norms = np.sqrt(np.maximum(values[::-1], np.finfo(float).tiny))
    return GraphEmbedding((vectors / norms)[nodes], values[::-1])
