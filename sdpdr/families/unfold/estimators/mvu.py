"""Unfolding with scikit-learn's face: of most variance, of furthest pairs, by leaving one out."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from sdpdr.base.errors import UnknownNameError
from sdpdr.families.unfold.estimators.gram import LengthEmbedding
from sdpdr.families.unfold.estimators.kernels import KernelEmbedding
from sdpdr.families.unfold.loocv import loocv
from sdpdr.families.unfold.mfnu import mfnu, mvu_apart
from sdpdr.families.unfold.mvu import mvu
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model
from sdpdr.model.blocks import OtherSums, Relation
from sdpdr.program import Factor, Solution


class MVU(LengthEmbedding):
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


_RECIPES = {"spread": mfnu, "variance": mvu_apart}


@dataclass(eq=False, repr=False)
class MFNU(LengthEmbedding):
    r"""Maximum Furthest Neighbour Unfolding: pull points away from those furthest from them.

    Solves :math:`\max \sum_i |y_i - y_{f(i)}|^2` over centred Gram matrices whose squared lengths
    between neighbours do not grow (or stay equal), f(i) the point furthest from i in the data;
    see `sdpdr.methods.mfnu`. With ``objective="variance"`` it maximises variance instead and
    keeps these pairs from coming closer (`sdpdr.methods.mvu_apart`).

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
        What becomes of the lengths of edges; see `sdpdr.blocks.Isometry`.
    objective : {"spread", "variance"}, default "spread"
    metric : {"euclidean", "precomputed"}, default "euclidean"
        With ``"precomputed"``, X holds (plain, not squared) distances.
    angles : bool, default False
        Also join the neighbours of a point with each other, so that angles are kept.
    connect : {"error", "mst", "largest"}, default "error"
        What to do about a disconnected graph: refuse, add the shortest joining edges, or keep
        the largest part (points left out get ``nan``).
    solver : str or Solver, default "auto"
    form : str, default "auto"
        See `sdpdr.solve`.
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
    solution_ : Solution
        With ``value``, ``bound``, ``gap``, multipliers and residuals.

    References
    ----------
    Vasiloglou thesis, section 3.3.

    Examples
    --------
    >>> import sdpdr
    >>> X, colour = sdpdr.datasets.swiss_roll(100, seed=0)
    >>> unfolding = sdpdr.MFNU(n_neighbors=5).fit(X)
    >>> unfolding.embedding_.shape, unfolding.solution_.certified()
    ((100, 2), True)
    """

    _: KW_ONLY
    objective: str = "spread"

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        if self.objective not in _RECIPES:
            raise UnknownNameError("objective", self.objective, _RECIPES)
        return _RECIPES[self.objective](graph, self.isometry)


@dataclass(eq=False, repr=False)
class LOOCVUnfolding(KernelEmbedding):
    r"""Maximum leave-one-out cross-validation: every point likely, given all others.

    Solves `sdpdr.methods.loocv` and embeds by the leading components of the kernel found,
    centred. The method folds points together rather than apart. Cost grows with the square of the
    number of points in rows alone: it is for tens of points.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    trace : float, optional
        Limit of the trace of the kernel. Default: twice the variance of the points.
    unit : bool, default False
        Kernel with unit diagonal instead of a limited trace, lengths scaled.
    minimum : float, optional
        Least trace with a geometric mean of at least this instead.
    isometry : {"equality"}, Band or Slack, default "equality"
    metric, angles, connect, extension, solver, form, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    likelihoods_ : array of shape (n,)
        :math:`f_j = \sum_{i \ne j} K_{ij}` of every sample, ``nan`` where it was left out.
    embedding_, gram_, eigenvalues_, graph_, solution_, n_features_in_, feature_names_in_
        As of `sdpdr.MVU`; the eigenvalues are those of the centred kernel.

    Raises
    ------
    DataError, DisconnectedGraphError, ModelError
        From `fit`, naming what is wrong.
    SolveFailedError
        From `fit`: no kernel has these lengths and so small a trace.

    References
    ----------
    Vasiloglou thesis, (2.13)-(2.15) and (6.32).

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(12, seed=0)
    >>> found = sdpdr.LOOCVUnfolding(n_neighbors=3).fit(X)
    >>> found.embedding_.shape, found.solution_.certified()
    ((12, 2), True)
    """

    _: KW_ONLY
    trace: float | None = None
    unit: bool = False
    minimum: float | None = None
    isometry: Relation = "equality"

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return loocv(graph, self.trace, self.unit, self.minimum, self.isometry)

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        gram, sums = solution.gram(), OtherSums(graph.n, graph.counts)
        nodes = sums.apply_factor(gram.factor) if isinstance(gram, Factor) else sums.apply(gram)
        self.likelihoods_ = np.where(graph.index >= 0, nodes[graph.index], np.nan)
