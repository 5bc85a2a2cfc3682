"""Colored Maximum Variance Unfolding, and its side information."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, DisconnectedGraphError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.labels import distinct, unknown, warn_of_signs
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.model import Model
from sdpdr.model.blocks import Centered, Dependence, Gram, Isometry, Relation


@takes_graph
def colored_mvu(graph: NeighborGraph, y: Any, isometry: Relation = "inequality") -> Model:
    r"""Unfold so that the embedding depends on side information as much as possible.

    .. math::

        \max_{K \succeq 0}\ \langle H T H, K \rangle \quad\text{s.t.}\quad
        K \mathbf 1 = 0,\quad K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij}
        \text{ for every edge } ij,

    with :math:`T = F F^T` a kernel of the side information and H the centring matrix. The
    objective is :math:`(n-1)^2` times the Hilbert-Schmidt independence criterion. Any weights w
    give the bound :math:`d^T w\, \lambda_{\max}(F^T H L(w)^+ H F)`. If lengths may shrink, there
    is an optimum whose rank is at most the number of columns of F. With
    :math:`T = I` this is Maximum Variance Unfolding.

    Parameters
    ----------
    graph : NeighborGraph
        Connected, or such that F has the same mean over every connected component.
    y : array_like or NeighborGraph
        Side information of every node, see `sdpdr.methods.side_information`.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"

    Returns
    -------
    Model

    Raises
    ------
    DataError
        The side information is constant, not finite, or of other than n nodes.
    DisconnectedGraphError
        A component of the graph has another mean of F than the rest, so the program is unbounded.

    References
    ----------
    Song, Smola, Borgwardt, Gretton, "Colored maximum variance unfolding", NIPS 20, 2007.

    Examples
    --------
    >>> from sdpdr.methods import colored_mvu
    >>> from sdpdr import graphs
    >>> colored_mvu(graphs.path([1.0, 2.0]), ["red", "blue", "red"])
    Gram + Centered + Lengths + Dependence
    """
    side = side_information(y)
    if len(side) != graph.n:
        raise DataError(
            f"the side information has {len(side)} rows, but the graph has {graph.n} "
            "nodes; give one row per node (graph.index has the node of each sample)."
        )
    counts = np.asarray(graph.counts, dtype=float)
    factor = counts[:, None] * (side - counts @ side / counts.sum())
    if not np.abs(factor).max() > ROUNDING * np.abs(side).max():
        raise DataError(
            "the side information is the same for all points, so nothing can depend on it. Give "
            "at least two different labels or numbers."
        )
    _require_balance(graph, factor)
    blocks = (
        Gram(graph.n),
        *_centred(graph, counts),
        Isometry(graph, isometry),
        Dependence(factor),
    )
    return Model(blocks, name="colored_mvu", maximize=True)


def _centred(graph: NeighborGraph, counts: Array) -> list[Centered]:
    """Centre every connected component, whose position nothing else determines."""
    if graph.is_connected:
        return [Centered(graph.n, graph.masses)]
    parts = range(graph.n_components)
    return [Centered(graph.n, np.where(graph.components == part, counts, 0.0)) for part in parts]


def _require_balance(graph: NeighborGraph, factor: Array) -> None:
    """Raise an error if a component has another mean of the side information than the rest."""
    if graph.is_connected:
        return
    parts = graph.components
    for number in range(graph.n_components):
        inside = parts == number
        pull = np.abs(factor[inside].sum(axis=0))
        if np.any(pull > ROUNDING * np.abs(factor).sum(axis=0)):
            raise DisconnectedGraphError(
                f"part {number} of the graph ({np.count_nonzero(inside)} nodes) has other side "
                "information on average than the rest, so it would drift away for ever. Use more "
                "neighbours, or connect='mst'.",
                [np.flatnonzero(parts == k) for k in range(graph.n_components)],
            )


@checks_keywords
def side_information(
    y: ArrayLike | NeighborGraph | None = None, *, kernel: ArrayLike | None = None
) -> Array:
    r"""Read side information as a factor F of its kernel :math:`T = F F^T`.

    Parameters
    ----------
    y : array_like or NeighborGraph, optional
        Numbers (floating point) of shape (n,) or (n, q) are F itself. Labels (strings, integers,
        booleans) of shape (n,) give one column per class, so that :math:`T_{ij} = 1` if labels
        agree; points with an unknown label (None, nan among strings, or -1 with two classes) are
        ignored. A graph with the Laplacian L gives :math:`T = (I + L)^{-1}`.
    kernel : array_like of shape (n, n), optional
        T itself, positive semidefinite, in place of y.

    Returns
    -------
    array of shape (n, q)

    Raises
    ------
    DataError, ShapeError
        Neither or both are given, entries are not finite, an array has another shape, or a kernel
        has negative eigenvalues.

    Examples
    --------
    >>> from sdpdr.methods import side_information
    >>> side_information(["red", "blue", "red"])
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """
    if (y is None) == (kernel is None):
        raise DataError("give side information either as y or as kernel, and not as both.")
    if isinstance(y, NeighborGraph):
        kernel = np.linalg.inv(np.eye(y.n) + y.laplacian().toarray())
    if kernel is not None:
        values, vectors = np.linalg.eigh(validate.symmetric("kernel", kernel))
        size = np.abs(values).max()
        if values[0] < -ROUNDING * size:
            raise DataError(
                f"kernel has negative eigenvalues, the lowest {values[0]:.3g} beside {size:.3g}, "
                "and measures no dependence: pass a positive semidefinite one."
            )
        kept = values > NEGLIGIBLE * size
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
    values = np.asarray(y)
    if values.dtype.kind == "f":
        if values.ndim not in (1, 2) or values.size == 0:
            raise ShapeError(f"numbers must have shape (n,) or (n, q); they have {values.shape}.")
        if not np.isfinite(values).all():
            raise DataError("side information holds nan or infinite numbers; drop those points.")
        return values.reshape(len(values), -1).astype(float)
    if values.ndim != 1:
        raise ShapeError(f"labels must have shape (n,); they have {values.shape}.")
    warn_of_signs(values, "pass None in its place, in an array of objects")
    known = ~unknown(values)
    if not known.any():
        raise DataError("y has no known label. Label some points.")
    classes, code = distinct(values[known])
    shares = np.eye(len(classes))[code]
    # Unknown labels get the mean, which centring turns into zero.
    factor = np.tile(shares.mean(axis=0), (values.size, 1))
    factor[known] = shares
    return factor
