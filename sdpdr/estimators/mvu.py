"""Maximum Variance Unfolding with scikit-learn's face."""

from __future__ import annotations

from typing import Any

from sdpdr.estimators.gram import GramEmbedding
from sdpdr.graphs import NeighborGraph
from sdpdr.methods import mvu
from sdpdr.model import Model


class MVU(GramEmbedding):
    r"""Maximum Variance Unfolding: pull points apart while neighbours keep their distance.

    Solves :math:`\max \operatorname{tr} K` over centred Gram matrices whose squared lengths
    between neighbours do not grow (or stay equal), see `sdpdr.methods.mvu`, and reads the
    embedding off the leading eigenvectors of K.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
        What becomes of the lengths of edges; see `sdpdr.blocks.Isometry`.
    metric : {"euclidean", "precomputed"}, default "euclidean"
        With ``"precomputed"``, X holds (plain, not squared) distances.
    angles : bool, default False
        Also join the neighbours of a point with each other, so that angles are kept.
    connect : {"error", "mst", "largest"}, default "error"
        What to do about a disconnected graph: refuse, add the shortest joining edges, or keep
        the largest part (points left out get ``nan``).
    extension : {"kernel", "linear", "sparse", "barycentric", "landmark"}, optional
        Also learn a map of all points, which gives ``transform``, ``trust`` and ``score``; see
        `sdpdr.extend.fit_extension`.
    solver : str or Solver, default "auto"
    form : str, default "auto"
        See `sdpdr.solve`; ``"landmark"`` for a million points.
    landmarks : int, optional
        Of the landmark form: how many.
    tol : float, optional
        Relative certified gap aimed at; by default that of a configured solver, or 1e-6.
    time_limit : float, optional
        Seconds.
    random_state : int, optional
        Seed; by default that of a configured solver, or 0.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Centred; column signs are such that the entry of largest size is positive.
    gram_ : array of shape (nodes, nodes) or Factor
        The Gram matrix of the distinct points.
    eigenvalues_ : array
        Its spectrum, descending (of a factor, as many as it has columns).
    graph_ : NeighborGraph
    extension_ : Extension
        The map of all points, if one was asked for; ``extension_.error`` is what it misses.
    solution_ : Solution
        With ``value``, ``bound``, ``gap``, multipliers and residuals.
    n_features_in_ : int
    feature_names_in_ : array of str
        If X has column names.

    Raises
    ------
    DataError
        From `fit`, naming what is wrong with the data.
    DisconnectedGraphError
        From `fit`, with the parts and what to do.

    References
    ----------
    Weinberger and Saul, CVPR 2004; Vasiloglou thesis, section 3.1.

    Examples
    --------
    >>> import sdpdr
    >>> X, colour = sdpdr.datasets.swiss_roll(100, seed=0)
    >>> unfolding = sdpdr.MVU(n_neighbors=4).fit(X)
    >>> unfolding.embedding_.shape, unfolding.solution_.certified()
    ((100, 2), True)
    >>> round(float(unfolding.solution_.value), 1)
    26004.9
    """

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return mvu(graph, self.isometry)
