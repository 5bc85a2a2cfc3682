"""Colored Maximum Variance Unfolding, and the side information that colours it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, DisconnectedGraphError, SdpdrWarning, ShapeError, warn
from sdpdr.base.labels import distinct, unknown, warn_of_signs
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model
from sdpdr.model.blocks import Centered, Dependence, Gram, Isometry, Relation

_ROUNDING = 1e-9


def colored_mvu(graph: NeighborGraph, y: Any, isometry: Relation = "inequality") -> Model:
    r"""Unfold so that the embedding depends on side information as much as it can.

    .. math::

        \max_{K \succeq 0}\ \langle H T H, K \rangle \quad\text{s.t.}\quad
        K \mathbf 1 = 0,\quad K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij}
        \text{ for every edge } ij,

    with :math:`T = F F^T` a kernel of the side information and H the centring matrix. The
    objective is :math:`(n-1)^2` times the Hilbert-Schmidt independence criterion. Any weights w
    give the bound :math:`d^T w\, \lambda_{\max}(F^T H L(w)^+ H F)`. With lengths that may
    shrink, an optimum of rank q exists, q the number of columns of F. With
    :math:`T = I` this is Maximum Variance Unfolding.

    Parameters
    ----------
    graph : NeighborGraph
        Connected; or in parts over each of which F has its overall mean.
    y : array_like, NeighborGraph or Side
        Side information of every node, see `sdpdr.methods.side_information`: labels, numbers of
        shape (n,) or (n, q), or a graph on the same nodes. A kernel matrix goes through
        ``side_information(kernel=T)``.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"

    Returns
    -------
    Model
        Unsolved; give it to `sdpdr.solve`.

    Raises
    ------
    DataError
        The side information is constant, not finite, or of other than n nodes.
    DisconnectedGraphError
        A part of the graph has another mean of F than the rest, and would drift away.

    References
    ----------
    Song, Smola, Borgwardt, Gretton, "Colored maximum variance unfolding", NIPS 20, 2007.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> X, t = sdpdr.datasets.swiss_roll(60, seed=0)
    >>> model = colored_mvu(graphs.knn(X, n_neighbors=5), t > t.mean())
    >>> solution = sdpdr.solve(model)
    >>> solution.certified()
    True
    """
    side = side_information(y)
    if side.factor.shape[0] != graph.n:
        raise DataError(
            f"the side information has {side.factor.shape[0]} rows, but the graph has {graph.n} "
            "nodes; give one row per node (graph.index tells the node of each sample)."
        )
    counts = np.asarray(graph.counts, dtype=float)
    factor = counts[:, None] * (side.factor - counts @ side.factor / counts.sum())
    if not np.abs(factor).max() > _ROUNDING * np.abs(side.factor).max():
        raise DataError(
            "the side information is the same for all points, so nothing can depend on it. Give "
            "at least two different labels or numbers."
        )
    _require_balance(graph, factor)
    blocks = (
        Gram(graph.n),
        *_centred(graph, counts),
        Isometry(graph, isometry),
        Dependence(factor, side.signs),
    )
    return Model(blocks, name="colored_mvu", maximize=True)


def _centred(graph: NeighborGraph, counts: Array) -> list[Centered]:
    """Every part of the graph at the origin, since nothing says where it is to be."""
    if graph.is_connected:
        return [Centered(graph.n, graph.masses)]
    parts = range(graph.n_components)
    return [Centered(graph.n, np.where(graph.components == part, counts, 0.0)) for part in parts]


def _require_balance(graph: NeighborGraph, factor: Array) -> None:
    if graph.is_connected:
        return
    parts = graph.components
    for number in range(graph.n_components):
        inside = parts == number
        pull = np.abs(factor[inside].sum(axis=0))
        if np.any(pull > _ROUNDING * np.abs(factor).sum(axis=0)):
            raise DisconnectedGraphError(
                f"part {number} of the graph ({np.count_nonzero(inside)} nodes) has other side "
                "information on average than the rest, so it would drift away for ever. Use more "
                "neighbours, or connect='mst'.",
                [np.flatnonzero(parts == k) for k in range(graph.n_components)],
            )


# Eigenvalues of a kernel below this share of the largest are dropped.
_NEGLIGIBLE = 1e-12
_NEGATIVE = 1e-9


@dataclass(frozen=True, eq=False)
class Side:
    r"""Side information as a kernel :math:`T = F \operatorname{diag}(s) F^T`.

    Attributes
    ----------
    factor : array of shape (n, q)
        F.
    signs : array of shape (q,)
        s, each 1 or -1; a kernel has only the former.
    """

    factor: Array
    signs: Array


def side_information(
    y: ArrayLike | NeighborGraph | Side | None = None, *, kernel: ArrayLike | None = None
) -> Side:
    r"""Read side information.

    Parameters
    ----------
    y : array_like, NeighborGraph or Side, optional
        Numbers (floating point) of shape (n,) or (n, q) are F itself. Labels (texts, whole
        numbers, truth values) of shape (n,) give one column per class, so that
        :math:`T_{ij} = 1` where labels agree; points whose label is not known (None, nan among
        words, or -1 beside two classes) have no say. A graph gives :math:`T = (I + L)^{-1}`, L its
        Laplacian.
    kernel : array_like of shape (n, n), optional
        T itself, symmetric. Give either this or y.

    Returns
    -------
    Side

    Raises
    ------
    DataError
        Neither or both are given; entries are not finite; the kernel is not symmetric.
    ShapeError
        An array has another shape than these.

    Warns
    -----
    SdpdrWarning
        A kernel has negative eigenvalues: the program is as well defined, but measures no
        dependence.

    Examples
    --------
    >>> side_information(["red", "blue", "red"]).factor
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    >>> side_information([0.5, 1.5]).factor.shape
    (2, 1)
    """
    if (y is None) == (kernel is None):
        raise DataError("give side information either as y or as kernel, and not as both.")
    if kernel is not None:
        return _of_kernel(kernel)
    if isinstance(y, Side):
        return y
    if isinstance(y, NeighborGraph):
        return _of_kernel(np.linalg.inv(np.eye(y.n) + y.laplacian().toarray()))
    values = np.asarray(y)
    if values.dtype.kind == "f":
        return _of_numbers(values)
    if values.ndim != 1:
        raise ShapeError(f"labels must have shape (n,); they have {values.shape}.")
    warn_of_signs(values, "pass None in its place, in an array of objects")
    known = ~unknown(values)
    if not known.any():
        raise DataError("y holds no label that is known. Label some points.")
    classes, code = distinct(values[known])
    shares = np.eye(len(classes))[code]
    # Centred, the mean is zero, so that these bear on nothing.
    factor = np.tile(shares.mean(axis=0), (values.size, 1))
    factor[known] = shares
    return _plain(factor)


def _of_numbers(values: Array) -> Side:
    if values.ndim not in (1, 2) or values.size == 0:
        raise ShapeError(f"numbers must have shape (n,) or (n, q); they have {values.shape}.")
    if not np.isfinite(values).all():
        raise DataError("the side information holds nan or infinite numbers; drop those points.")
    return _plain(values.reshape(len(values), -1).astype(float))


def _of_kernel(T: ArrayLike) -> Side:
    values, vectors = np.linalg.eigh(validate.symmetric("kernel", T))
    size = np.abs(values).max()
    if values[0] < -_NEGATIVE * size:
        warn(
            f"the kernel has negative eigenvalues (the lowest is {values[0]:.3g}, the largest "
            f"{values[-1]:.3g}), so its objective measures no dependence.",
            SdpdrWarning,
        )
    kept = np.abs(values) > _NEGLIGIBLE * size
    signs = np.where(values[kept] > 0.0, 1.0, -1.0)
    return Side(vectors[:, kept] * np.sqrt(np.abs(values[kept])), signs)


def _plain(factor: Array) -> Side:
    return Side(factor, np.ones(factor.shape[1]))
