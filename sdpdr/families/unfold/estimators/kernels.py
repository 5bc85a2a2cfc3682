"""Whose Gram matrix has no centre: colored unfolding, leave-one-out unfolding."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.families.unfold.colored_mvu import Side, colored_mvu, side_information
from sdpdr.families.unfold.estimators.gram import GramEmbedding, LengthEmbedding
from sdpdr.families.unfold.estimators.sampled import Sampling
from sdpdr.families.unfold.loocv import loocv, roomy_trace
from sdpdr.families.unfold.loocv_by_fold import solve_loocv
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model, Var
from sdpdr.model.affine import evaluate
from sdpdr.model.blocks import Band, OtherSums, Relation, Slack
from sdpdr.program import Factor, Solution, Status

# Relative change of squared lengths that leaves an interior, so that proofs succeed.
_WIDTH = 0.05
# Points at most unless requested. Folding 500 takes four seconds; the program as it is written has
# a constraint for every pair of points.
_FOLDED, _WRITTEN = 500, 30
# Seconds for a leave-one-out program where no limit, solver or form is requested: folding takes
# less, and the program as it is written seldom ends in more.
FEW_SECONDS = 20.0


class KernelEmbedding(GramEmbedding):
    """Base of embeddings from a Gram matrix that is not centred: centred kernel components.

    They have no landmark form, which writes points as means of landmarks: these programs do not
    allow for it.
    """

    def _places(self, graph: NeighborGraph, solution: Solution) -> Array:
        share = graph.counts / graph.counts.sum()
        gram = solution.gram()
        if isinstance(gram, Factor):
            gram = Factor(gram.factor - share @ gram.factor)
        else:
            centring = np.eye(graph.n) - share
            gram = centring @ gram @ centring.T
        return self._on_axes(graph, gram)


@dataclass(eq=False, repr=False)
class ColoredMVU(LengthEmbedding):
    r"""Unfold so that the embedding depends on labels or numbers as much as it can.

    Solves :math:`\max \langle H F F^T H, K\rangle` over centred Gram matrices whose squared
    lengths between neighbours do not grow (or stay equal); F comes from y, see
    `sdpdr.methods.colored_mvu` and `sdpdr.methods.side_information`.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
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
        See `sdpdr.solve`.
    landmarks : int, optional
        Of the landmark form: how many.
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
        Centred; column signs are such that the entry of largest size is positive.
    gram_ : array of shape (nodes, nodes) or Factor
        The Gram matrix of the distinct points.
    eigenvalues_ : array
        As of `MVU`.
    graph_ : NeighborGraph
    solution_ : Solution
        With ``value``, ``bound``, ``gap``, multipliers and residuals.
    hsic_ : float
        The Hilbert-Schmidt independence criterion of embedding and side information,
        :math:`\langle H F F^T H, K\rangle / (n - 1)^2`, n the number of points placed.

    References
    ----------
    Song, Smola, Borgwardt, Gretton, "Colored maximum variance unfolding", NIPS 20, 2007.

    Examples
    --------
    >>> import sdpdr
    >>> X, t = sdpdr.datasets.swiss_roll(100, seed=0)
    >>> unfolding = sdpdr.ColoredMVU(n_components=1, n_neighbors=5).fit(X, t > t.mean())
    >>> unfolding.embedding_.shape, unfolding.solution_.certified()
    ((100, 1), True)
    """

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        if y is None:
            raise DataError(
                "ColoredMVU requires y to be passed, but the target y is None: give labels or "
                "numbers of every point. Without any, sdpdr.MVU is the method."
            )
        return colored_mvu(graph, _by_node(graph, side_information(y)), self.isometry)

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        self.hsic_ = solution.value / (int(graph.counts.sum()) - 1) ** 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _by_node(graph: NeighborGraph, side: Side) -> Side:
    """Side information averaged over the samples that share a node."""
    samples = graph.index.size
    if side.factor.shape[0] != samples:
        raise DataError(
            f"y describes {side.factor.shape[0]} points, but X has {samples}; give one label or "
            "row of numbers for each row of X."
        )
    placed = graph.index >= 0
    total: Array = np.zeros((graph.n, side.factor.shape[1]))
    np.add.at(total, graph.index[placed], side.factor[placed])
    return Side(total / np.bincount(graph.index[placed], minlength=graph.n)[:, None], side.signs)


@dataclass(eq=False, repr=False)
class LOOCVUnfolding(Sampling, KernelEmbedding):
    r"""Maximum leave-one-out cross-validation: every point likely, given all others.

    Solves `sdpdr.methods.loocv` and embeds by the leading components of the kernel found,
    centred. The method folds points together rather than apart: where a trace limits the kernel and
    lengths have no penalty, it is solved by folding (`sdpdr.iterate.solve_loocv`), unless a solver
    or a form is named. The program as it is written has a constraint for every pair of points.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    trace : float, optional
        Limit of the trace of the kernel. Default: twice the variance of the points, or half as
        much again as they need, moved until no product is negative, where that is more.
    unit : bool, default False
        Kernel with unit diagonal instead of a limited trace, lengths scaled. Its points lie on a
        sphere, where exact lengths are impossible for more neighbours than a simplex has corners.
    minimum : float, optional
        Least trace with a geometric mean of at least this instead.
    isometry : {"auto", "equality"}, Band or Slack, default "auto"
        By default ``Band(0.05)``. Exact lengths leave next to no interior: the optimum is found,
        and proofs fail more often than not.
    time_limit : float, "auto" or None, default "auto"
        Seconds; None for no limit. By default 20, unless a solver or form is named. The point found
        by then is kept, with a warning.
    sample : int, "auto" or None, default "auto"
        How many points are unfolded; None for all. The others are placed among them, by the
        extension, or by means of neighbours (``"barycentric"``) where none is requested. By
        default at most 500, with a warning, where points are not given by distances and no solver
        or form is named; 30 with ``unit``, a ``minimum`` or `Slack`.
    metric, angles, connect, extension, solver, form, tol, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    likelihoods_ : array of shape (n,)
        :math:`f_j = \sum_{i \ne j} K_{ij}` of every sample that was unfolded, ``nan`` elsewhere.
    sample_ : array of int
        Rows of X that were unfolded.
    embedding_, gram_, eigenvalues_, graph_, solution_, n_features_in_, feature_names_in_
        As of `sdpdr.MVU`; the eigenvalues are those of the centred kernel.

    Raises
    ------
    DataError, DisconnectedGraphError, ModelError
        From `fit`, naming what is wrong.
    InfeasibleError
        From `fit`: no kernel of unit diagonal has these lengths.
    SolveFailedError
        From `fit`: no kernel has these lengths and so small a trace.

    References
    ----------
    Vasiloglou thesis, (2.13)-(2.15) and (6.32).

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(40, seed=0)
    >>> found = sdpdr.LOOCVUnfolding(n_neighbors=5).fit(X)
    >>> found.embedding_.shape, found.solution_.certified()
    ((40, 2), True)
    """

    _: KW_ONLY
    default_time_limit: ClassVar[float] = FEW_SECONDS
    trace: float | None = None
    unit: bool = False
    minimum: float | None = None
    isometry: Relation | Literal["auto"] = "auto"

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return loocv(graph, self._trace(graph), self.unit, self.minimum, self._relation())

    def _trace(self, graph: NeighborGraph) -> float | None:
        """Limit of the trace, if neither a unit diagonal nor a minimum limits the kernel."""
        if self.trace is not None or self.minimum is not None or self.unit:
            return self.trace
        return roomy_trace(graph)

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        if not self._folds():
            return super()._answer(graph, X, y)
        return solve_loocv(
            graph,
            self._trace(graph),
            self._relation(),
            tol=self.tol,
            time_limit=self._limit(),
            seed=validate.seed_or_none(self.random_state),
        )

    @property
    def largest(self) -> int:  # type: ignore[override]  # a constant of the class elsewhere
        """Points that are unfolded unless a number is requested."""
        return _FOLDED if self._folds() else _WRITTEN

    def _folds(self) -> bool:
        """Whether the points may be folded first: a trace alone limits K, and lengths are kept."""
        if self.unit or self.minimum is not None or not self._is_left_to_us():
            return False
        return not isinstance(self._relation(), Slack)

    def _relation(self) -> Relation:
        return Band(_WIDTH) if self.isometry == "auto" else self.isometry

    def _has_exact_lengths(self) -> bool:
        return self._relation() == "equality"

    def fit(self, X: Any, y: Any = None) -> LOOCVUnfolding:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : ignored

        Returns
        -------
        self
        """
        super().fit(X, y)
        likelihoods = np.full(len(self.embedding_), np.nan)
        likelihoods[self.sample_] = self._likelihoods
        self.likelihoods_ = likelihoods
        return self

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        if self.unit and solution.status is Status.INFEASIBLE:
            raise InfeasibleError(
                "no kernel of unit diagonal has these lengths: its points lie on a sphere, and "
                f"neighbours do not at lengths with isometry={self._relation()!r}. Pass a wider "
                "isometry=Band(...), fewer n_neighbors, or unit=False."
            )
        super()._keep(graph, solution)
        sums = OtherSums(graph.n, graph.counts) @ Var("K")
        self._likelihoods: Array = graph.of_samples(evaluate(sums, solution.values))
