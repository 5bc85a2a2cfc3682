"""Unfolding as an estimator: of most variance, of furthest pairs, least volume."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, UncertifiedWarning, warn
from sdpdr.families.unfold.estimators.complete_graph import classical_optimum
from sdpdr.families.unfold.estimators.gram import MORE_TIME
from sdpdr.families.unfold.estimators.sampled import SampledEmbedding, WeightedSampling
from sdpdr.families.unfold.iterated import minimum_volume
from sdpdr.families.unfold.mvu import mfnu, mvu, mvu_apart
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model
from sdpdr.model.blocks import Relation
from sdpdr.program import Solution
from sdpdr.solving.asked import require_solver
from sdpdr.solving.iterate.records import IterationStatus


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
        Two points are joined if either is among the other's nearest. With ``"auto"`` as many as
        `sdpdr.graphs.choose_k` chooses.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
        What becomes of the lengths of edges; see `sdpdr.blocks.Isometry`.
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"``, X holds (plain, not squared) distances.
    angles : bool, default False
        Also join the neighbours of a point with each other, so that angles are kept.
    connect : {"bridges", "mst", "largest", "error"}, default "bridges"
        What to do about a disconnected graph: join every two parts by several edges, with a
        warning; add the shortest joining edges only, on which parts turn as on hinges; keep the
        largest part (points left out get ``nan``); or refuse. See `sdpdr.graphs.knn`.
    extension : {"kernel", "linear", "sparse", "barycentric", "landmark"}, optional
        Also learn a map of all points, which gives ``transform``, ``trust`` and ``score``; see
        `sdpdr.extend.fit_extension`.
    solver : str or Solver, default "auto"
    form : str, default "auto"
        See `sdpdr.solve`; ``"landmark"`` for a million points.
    landmarks : int, optional
        Of the landmark form: how many.
    sample : int, "auto" or None, default "auto"
        How many points are unfolded; None for all. The others are placed among them, by the
        extension, or by means of neighbours (``"barycentric"``) where none is requested. By
        default at most 10000, with a warning, where points are not given by distances and no solver
        or form is named.
    tol : float, optional
        Relative certified gap aimed at; by default that of a configured solver, or 1e-6.
    time_limit : float, "auto" or None, default "auto"
        Seconds; None for no limit. What has been found by then is kept, with a warning. By default
        60, unless a solver or form is named.
    random_state : int, RandomState or Generator, optional
        Seed; by default that of a configured solver, or 0.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Of those unfolded, centred, on their principal axes; column signs are such that the entry of
        largest size is positive.
    sample_ : array of int
        The rows that were unfolded, of which alone ``gram_``, ``graph_`` and ``solution_`` speak.
    gram_ : array of shape (nodes, nodes) or Factor
        The Gram matrix of the distinct points.
    eigenvalues_ : array
        The spectrum of the Gram matrix of all samples unfolded, which is that of ``gram_`` where
        none repeat, descending (of a factor, as many as it has columns): sums of squares of the
        columns of the embedding, weighted where samples have weights. Of the sum,
        ``explained_variance_ratio_`` has the share of each column.
    length_kept_ : float
        Squared lengths of edges in the embedding over those in the data, sums of both: 1 where
        all are kept.
    graph_ : NeighborGraph
    n_neighbors_ : int
        As used; less than asked for where there are fewer points.
    extension_ : Extension
        The map of all points, if one was asked for or a sample was taken; ``extension_.error`` is
        what it misses.
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
        From `fit` with ``connect="error"``, with the parts and what to do.

    Warns
    -----
    AddedEdgesWarning
        The graph fell into parts, which were joined.
    LostLengthsWarning
        The embedding keeps less than half of the squared length of edges.
    FewPointsWarning
        There are no more than ``n_neighbors`` distinct points.
    SampledWarning
        Not all points were unfolded.
    DuplicatePointsWarning, UncertifiedWarning

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

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        is_free = self._is_left_to_us() and self.landmarks is None
        if is_free and self.isometry == "inequality":
            optimum = classical_optimum(graph)
            if optimum is not None:
                return self._solved(self._model(graph, X, y), start=optimum)
        return super()._answer(graph, X, y)

    def _compare(self, places: Array) -> None:
        super()._compare(places)
        self._warn_of_lost_lengths()


_RECIPES = {"spread": mfnu, "variance": mvu_apart}
# Points of a sequence of programs, each of which takes as long as one of `MVU` or longer.
_LARGEST = 2000


@dataclass(eq=False, repr=False)
class MFNU(SampledEmbedding):
    r"""Maximum Furthest Neighbour Unfolding: pull points away from those furthest from them.

    Solves :math:`\max \sum_i |y_i - y_{f(i)}|^2` over centred Gram matrices whose squared lengths
    between neighbours do not grow (or stay equal), f(i) the point furthest from i in the data;
    see `sdpdr.methods.mfnu`. With ``objective="variance"`` it maximises variance instead and
    keeps these pairs from coming closer (`sdpdr.methods.mvu_apart`).

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int or "auto", default 6
        Two points are joined if either is among the other's nearest. With ``"auto"`` as many as
        `sdpdr.graphs.choose_k` chooses.
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
        What becomes of the lengths of edges; see `sdpdr.blocks.Isometry`.
    objective : {"spread", "variance"}, default "spread"
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"``, X holds (plain, not squared) distances.
    angles : bool, default False
        Also join the neighbours of a point with each other, so that angles are kept.
    connect : {"bridges", "mst", "largest", "error"}, default "bridges"
        What to do about a disconnected graph: join every two parts by several edges, with a
        warning; add the shortest joining edges only, on which parts turn as on hinges; keep the
        largest part (points left out get ``nan``); or refuse. See `sdpdr.graphs.knn`.
    extension : {"kernel", "linear", "sparse", "barycentric", "landmark"}, optional
        Also learn a map of all points, which gives ``transform``, ``trust`` and ``score``; see
        `sdpdr.extend.fit_extension`.
    solver : str or Solver, default "auto"
    form : str, default "auto"
        See `sdpdr.solve`.
    landmarks : int, optional
        Of the landmark form: how many.
    sample : int, "auto" or None, default "auto"
        How many points are unfolded; None for all. The others are placed among them, by the
        extension, or by means of neighbours (``"barycentric"``) where none is requested. By
        default at most 10000, with a warning, where points are not given by distances and no solver
        or form is named.
    tol : float, optional
        Relative certified gap aimed at; by default that of a configured solver, or 1e-6.
    time_limit : float, "auto" or None, default "auto"
        Seconds; None for no limit. What has been found by then is kept, with a warning. By default
        60, unless a solver or form is named.
    random_state : int, RandomState or Generator, optional
        Seed; by default that of a configured solver, or 0.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        As of `MVU`.
    gram_ : array of shape (nodes, nodes) or Factor
        The Gram matrix of the distinct points.
    eigenvalues_ : array
        As of `MVU`.
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
        validate.choice("objective", self.objective, _RECIPES)
        return _RECIPES[self.objective](graph, self.isometry)


@dataclass(eq=False, repr=False)
class MVE(WeightedSampling):
    r"""Minimum volume embedding: unfold into ``n_components`` dimensions and flatten the others.

    Lowers :math:`\kappa \sum_{i > r} \lambda_i(K) - \sum_{i \le r} \lambda_i(K)` over the Gram
    matrices of `MVU`, by a sequence of semidefinite programs; see `sdpdr.iterate.minimum_volume`.

    Parameters
    ----------
    n_components : int, default 2
        The dimensions r that keep their variance; at most the number of distinct points less one.
    kappa : float, default 1.0
        Price of variance outside them, at least -1.
    n_neighbors : int or "auto", default 6
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
    metric : str, default "euclidean"
        With ``"precomputed"``, X holds (plain, not squared) distances.
    angles : bool, default False
    connect : {"bridges", "mst", "largest", "error"}, default "bridges"
        As of `MVU`.
    extension : {"kernel", "linear", "sparse", "barycentric", "landmark"}, optional
        As of `MVU`.
    solver : str or Solver, default "auto"
    form : str, default "auto"
        See `sdpdr.solve`.
    tol : float, optional
        The objective has settled when an iteration lowers it by no more than this share, 1e-6 by
        default.
    max_iter : int, default 50
        Programs in each start.
    restarts : int, default 0
        Random starts that follow the first one.
    sample : int, "auto" or None, default "auto"
        How many points are unfolded; None for all. The others are placed among them, by the
        extension, or by means of neighbours (``"barycentric"``) where none is requested. By
        default at most 2000, with a warning, where points are not given by distances and no solver
        or form is named.
    time_limit : float, "auto" or None, default "auto"
        Seconds, for all programs together; None for no limit. What has been found by then is
        kept, with a warning. By default 60, unless a solver or form is named.
    random_state : int, RandomState or Generator, optional
        Seed of the starts and of a solver that is named; 0 by default.

    Attributes
    ----------
    embedding_, gram_, eigenvalues_, graph_
        As of `MVU`.
    iteration_ : State
        With ``history``, ``status``, ``objective`` and ``bound``.
    solution_ : Solution
        Of the last program that lowered the objective.
    n_iter_ : int
        Programs solved.
    n_features_in_ : int
    feature_names_in_ : array of str
        If X has column names.

    Raises
    ------
    DataError
        From `fit`, naming what is wrong with the data.
    DisconnectedGraphError
        From `fit` with ``connect="error"``, with the parts and what to do.

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
    >>> flat.embedding_.shape
    (12, 2)
    >>> bool(flat.eigenvalues_[:2].sum() > 0.999 * flat.eigenvalues_.sum())
    True
    """

    largest: ClassVar[int] = _LARGEST

    _: KW_ONLY
    kappa: float = 1.0
    isometry: Relation = "inequality"
    max_iter: int = 50
    restarts: int = 0

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        """The first program."""
        return mvu(graph, self.isometry)

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        require_solver(self.solver)
        if self.n_components > graph.n - 1:
            raise DataError(
                f"n_components must be a whole number in 1..{graph.n - 1}, the dimension of "
                f"{graph.n} centred points; it is {self.n_components}."
            )
        state = minimum_volume(
            graph,
            self.n_components,
            self.kappa,
            self.isometry,
            tol=1e-6 if self.tol is None else self.tol,
            max_iter=self.max_iter,
            restarts=self.restarts,
            solver=self.solver,
            form=self.form,
            time_limit=self._limit(),
            seed=validate.seed_or_none(self.random_state) or 0,
        )
        if state.status is not IterationStatus.SETTLED:
            over = state.status is IterationStatus.TIME_LIMIT and self._is_limit_ours()
            way_out = f" {MORE_TIME}" if over else ""
            warn(f"{state.status.name}: {state.status.advice}{way_out}", UncertifiedWarning)
        self.iteration_, self.n_iter_ = state, len(state.history)
        return state.solution
