"""Estimators of unfolding: maximum variance, furthest neighbours, and minimum volume."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import UncertifiedWarning, warn
from sdpdr.families.limits import ROUNDING
from sdpdr.families.unfold.estimators.sampled import SampledEmbedding, Sampling
from sdpdr.families.unfold.iterated import minimum_volume
from sdpdr.families.unfold.mvu import mfnu, mvu, mvu_apart
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg.distances import about_centre
from sdpdr.model import Model
from sdpdr.model.blocks import Relation
from sdpdr.program import Factor, Solution
from sdpdr.program.point import Point
from sdpdr.solving.iterate.records import IterationStatus
from sdpdr.solving.options import require_solver

_RECIPES = {"spread": mfnu, "variance": mvu_apart}
# Default largest number of points for a sequence of programs, each at least as slow as `MVU`.
_LARGEST = 2000


@dataclass(eq=False, repr=False)
class MVU(SampledEmbedding):
    r"""Maximum Variance Unfolding: pull points apart while neighbours keep their distance.

    Solves :math:`\max \operatorname{tr} K` over centred Gram matrices whose squared lengths
    between neighbours do not grow (or stay equal), see `sdpdr.methods.mvu`, and reads the
    embedding off the leading eigenvectors of K.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int or "auto", default 6
        Two points are joined if either is among the other's nearest. ``"auto"`` uses
        `sdpdr.graphs.choose_k`.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"
        Bounds on the lengths of edges, or their penalty; see `sdpdr.blocks.Isometry`.
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"``, X holds (plain, not squared) distances.
    angles : bool, default False
        Also join the neighbours of a point with each other, so that angles are preserved.
    connect : {"bridges", "mst", "largest", "error"}, default "bridges"
        What to do with a disconnected graph: join every two components by several edges, with a
        warning; add the shortest joining edges only, about which components can rotate as about
        hinges; keep the largest component (other points get ``nan``); or raise an error. See
        `sdpdr.graphs.knn`.
    extension : {"kernel", "linear", "barycentric"}, optional
        Also learn a map of all points, which gives ``transform``, ``trust`` and ``score``; see
        `sdpdr.extend.fit_extension`.
    solver : str or Solver, default "auto"
    form : str, default "auto"
        See `sdpdr.solve`.
    landmarks : int, optional
        Number of landmarks; the form is then that of landmarks, see `sdpdr.solve`.
    sample : int, "auto" or None, default "auto"
        Number of points that are unfolded; None for all. The others are placed among them, by the
        extension, or by means of neighbours (``"barycentric"``) if none is requested. The default
        is at most 10000, with a warning, if points are not given by distances and no solver or form
        is named.
    tol : float, optional
        Requested relative gap; by default that of a configured solver, or 1e-6.
    time_limit : float, "auto" or None, default "auto"
        Seconds; None for no limit. The point found by then is kept, with a warning. By default
        60, unless a solver or form is named.
    random_state : int, RandomState or Generator, optional
        Seed; by default that of a configured solver, or 0.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Coordinates of the unfolded samples, centred, on their principal axes; column signs are such
        that the entry of largest absolute value is positive.
    sample_ : array of int
        The unfolded rows; ``gram_``, ``graph_`` and ``solution_`` are about these rows only.
    gram_ : array of shape (nodes, nodes) or Factor
        The Gram matrix of the distinct points.
    eigenvalues_ : array
        The spectrum of the Gram matrix of all unfolded samples, descending: sums of squares of the
        columns of the embedding. ``explained_variance_ratio_`` holds each column's share of their
        sum.
    length_kept_ : float
        Sum of squared lengths of edges in the embedding, divided by that in the data.
    graph_ : NeighborGraph
    n_neighbors_ : int
        The number used; less than requested if there are too few points.
    extension_ : Extension
        The map of all points, if one was requested or a sample was taken.
    solution_ : Solution
        With ``value``, ``bound``, ``gap``, multipliers and residuals.

    Raises
    ------
    DataError
        From `fit`, with the fault in the data.
    DisconnectedGraphError
        From `fit` with ``connect="error"``, with the components and advice.

    Warns
    -----
    AddedEdgesWarning
        The graph was disconnected, and its components were joined.
    LostLengthsWarning
        The embedding has less than half of the squared length of edges.
    FewPointsWarning, SampledWarning, DuplicatePointsWarning, UncertifiedWarning

    References
    ----------
    Weinberger and Saul, CVPR 2004; Vasiloglou thesis, section 3.1.

    Examples
    --------
    >>> import sdpdr
    >>> X, colour = sdpdr.datasets.swiss_roll(100, seed=0)
    >>> unfolding = sdpdr.MVU(n_neighbors=4).fit(X)
    >>> unfolding.embedding_.shape, round(float(unfolding.solution_.value), 1)
    ((100, 2), 26004.9)
    """

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return mvu(graph, self.isometry)

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        start = None
        if self._is_left_to_us() and self.isometry == "inequality":
            start = classical_optimum(graph)
        return self._solved(self._model(graph, X, y), start=start)

    def _compare(self, places: Array) -> None:
        super()._compare(places)
        self._warn_of_lost_lengths(places)


def classical_optimum(graph: NeighborGraph) -> Point | None:
    r"""The optimal point and multipliers of `MVU` for a complete graph, by classical scaling.

    The variance of points with weights c is :math:`\sum_{i<j} c_i c_j |y_i - y_j|^2 / N`. So the
    multipliers :math:`w_{ij} = c_i c_j / N` bound it if lengths may not grow, and points with the
    given lengths attain the bound. None if an edge is missing, or if no points have the lengths.
    """
    if graph.m < graph.n * (graph.n - 1) // 2:
        return None
    i, j = graph.edges.T
    counts = np.asarray(graph.counts, dtype=float)
    lengths = np.zeros((graph.n, graph.n))
    lengths[i, j] = lengths[j, i] = graph.sqdist
    values, vectors = np.linalg.eigh(about_centre(lengths, counts))
    rounding = ROUNDING * values[-1]
    if values[0] < -rounding:
        return None
    kept = values > rounding
    factor = Factor(vectors[:, kept] * np.sqrt(values[kept]))
    weights = counts[i] * counts[j] / counts.sum()
    return Point({"K": factor}, {"centered": np.zeros(graph.n), "isometry": weights})


@dataclass(eq=False, repr=False)
class MFNU(SampledEmbedding):
    r"""Maximum Furthest Neighbour Unfolding: pull every point away from its furthest point.

    Solves :math:`\max \sum_i |y_i - y_{f(i)}|^2` over centred Gram matrices whose squared lengths
    between neighbours do not grow (or stay equal), where f(i) is the point furthest from i in the
    data; see `sdpdr.methods.mfnu`. With ``objective="variance"`` it maximises the variance, and
    these pairs may not come closer (`sdpdr.methods.mvu_apart`).

    Parameters
    ----------
    objective : {"spread", "variance"}, default "spread"
    n_components, n_neighbors, isometry, metric, angles, connect, extension, sample
        As for `sdpdr.MVU`.
    solver, form, landmarks, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    embedding_, gram_, eigenvalues_, graph_, solution_, sample_, length_kept_
        As of `sdpdr.MVU`.

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
        validate.choice("objective", self.objective, _RECIPES)
        return _RECIPES[self.objective](graph, self.isometry)


@dataclass(eq=False, repr=False)
class MVE(Sampling):
    r"""Minimum volume embedding: unfold into ``n_components`` dimensions and flatten the others.

    Minimises :math:`\kappa \sum_{i > r} \lambda_i(K) - \sum_{i \le r} \lambda_i(K)` over the Gram
    matrices of `MVU`, by a sequence of semidefinite programs; see `sdpdr.iterate.minimum_volume`.

    Parameters
    ----------
    n_components : int, default 2
        The number r of dimensions that keep their variance, less than that of distinct points.
    kappa : float, default 1.0
        Penalty of variance in other dimensions, at least -1.
    max_iter : int, default 50
        Largest number of programs.
    tol : float, optional
        Stop if an iteration lowers the objective by no more than this share; by default 1e-6.
    n_neighbors, isometry, metric, angles, connect, extension, solver, form, random_state
        As for `sdpdr.MVU`.
    sample, time_limit
        As for `sdpdr.MVU`; by default at most 2000 points, and 60 seconds for all programs.

    Attributes
    ----------
    embedding_, gram_, eigenvalues_, graph_, sample_
        As of `sdpdr.MVU`.
    iteration_ : State
        With ``history``, ``status``, ``objective`` and ``bound``.
    solution_ : Solution
        The solution of the last program that lowered the objective.
    n_iter_ : int
        Number of programs solved.

    Warns
    -----
    UncertifiedWarning
        The objective had not settled when the iteration ended.

    References
    ----------
    B. Shaw and T. Jebara, "Minimum volume embedding", AISTATS 2007; Vasiloglou thesis, section 6.2.

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(12, seed=0)
    >>> flat = sdpdr.MVE(n_neighbors=4).fit(X)
    >>> bool(flat.eigenvalues_[:2].sum() > 0.999 * flat.eigenvalues_.sum())
    True
    """

    largest: ClassVar[int] = _LARGEST

    _: KW_ONLY
    kappa: float = 1.0
    isometry: Relation = "inequality"
    max_iter: int = 50

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        """The first program."""
        return mvu(graph, self.isometry)

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        require_solver(self.solver)
        why = f"the dimension of {graph.n} centred points"
        r = self.n_components
        validate.positive_integer("n_components", r, at_most=graph.n - 1, why=why)
        state = minimum_volume(
            graph,
            r,
            self.kappa,
            self.isometry,
            tol=1e-6 if self.tol is None else self.tol,
            max_iter=self.max_iter,
            solver=self.solver,
            form=self.form,
            time_limit=self._limit(),
            seed=validate.seed_or_none(self.random_state) or 0,
        )
        if state.status is not IterationStatus.SETTLED:
            is_over = state.status is IterationStatus.TIME_LIMIT
            more = f" {self._more_time()}" if is_over else ""
            warn(f"{state.status.name}: {state.status.advice}{more}".rstrip(), UncertifiedWarning)
        self.iteration_, self.n_iter_ = state, len(state.history)
        return state.solution
