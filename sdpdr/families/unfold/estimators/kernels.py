"""Estimators of colored unfolding and of leave-one-out unfolding."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.unfold.colored_mvu import Side, colored_mvu, side_information
from sdpdr.families.unfold.estimators.gram import LengthEmbedding
from sdpdr.families.unfold.estimators.sampled import Sampling
from sdpdr.families.unfold.loocv import loocv, roomy_trace
from sdpdr.families.unfold.loocv_by_fold import solve_loocv
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model, Var
from sdpdr.model.affine import evaluate
from sdpdr.model.blocks import Band, OtherSums, Relation, Slack
from sdpdr.program import Solution

# Relative change of squared lengths that leaves an interior, so that proofs succeed.
_WIDTH = 0.05
# Points at most unless requested. Folding 500 takes four seconds; the program as it is written,
# where lengths have a penalty, has a constraint for every pair of points.
_FOLDED, _WRITTEN = 500, 30
# Seconds for a leave-one-out program where no limit, solver or form is requested: folding takes
# less, and the program as it is written seldom ends in more.
FEW_SECONDS = 20.0


@dataclass(eq=False, repr=False)
class ColoredMVU(LengthEmbedding):
    r"""Unfold so that the embedding depends on labels or numbers as much as it can.

    Solves :math:`\max \langle H F F^T H, K\rangle` over centred Gram matrices whose squared
    lengths between neighbours do not grow (or stay equal); F comes from y, see
    `sdpdr.methods.colored_mvu` and `sdpdr.methods.side_information`.

    Parameters
    ----------
    n_components, n_neighbors, isometry, metric, angles, connect, extension
        As for `sdpdr.MVU`.
    solver, form, landmarks, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    hsic_ : float
        The Hilbert-Schmidt independence criterion of embedding and side information,
        :math:`\langle H F F^T H, K\rangle / (n - 1)^2`, n the number of points placed.
    embedding_, gram_, eigenvalues_, graph_, solution_, length_kept_
        As of `sdpdr.MVU`.

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
        side, samples = side_information(y), graph.index.size
        if side.factor.shape[0] != samples:
            raise DataError(
                f"y describes {side.factor.shape[0]} points, but X has {samples}; give one label "
                "or row of numbers for each row of X."
            )
        # Averages over the samples that share a node.
        placed = graph.index >= 0
        total: Array = np.zeros((graph.n, side.factor.shape[1]))
        np.add.at(total, graph.index[placed], side.factor[placed])
        mean = total / np.bincount(graph.index[placed], minlength=graph.n)[:, None]
        return colored_mvu(graph, Side(mean, side.signs), self.isometry)

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        self.hsic_ = solution.value / (int(graph.counts.sum()) - 1) ** 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@dataclass(eq=False, repr=False)
class LOOCVUnfolding(Sampling):
    r"""Maximum leave-one-out cross-validation: every point likely, given all others.

    Solves `sdpdr.methods.loocv` with a limited trace, and embeds by the leading components of the
    kernel found, centred. The method folds points together rather than apart: unless lengths have
    a penalty or a solver or form is named, it is solved by folding (`sdpdr.iterate.solve_loocv`).
    The program as it is written has a constraint for every pair of points.

    Parameters
    ----------
    trace : float, optional
        Limit of the trace of the kernel. Default: twice the variance of the points, or half as
        much again as they need, moved until no product is negative, where that is more.
    isometry : {"auto", "equality"}, Band or Slack, default "auto"
        By default ``Band(0.05)``. Exact lengths leave next to no interior: the optimum is found,
        and proofs fail more often than not.
    n_components, n_neighbors, metric, angles, connect, extension
        As for `sdpdr.MVU`.
    solver, form, tol, random_state
        As for `sdpdr.MVU`.
    sample, time_limit
        As for `sdpdr.MVU`; by default at most 500 points, or 30 where lengths have a penalty, and
        20 seconds.

    Attributes
    ----------
    likelihoods_ : array of shape (n,)
        :math:`f_j = \sum_{i \ne j} K_{ij}` of every sample that was unfolded, ``nan`` elsewhere.
    embedding_, gram_, eigenvalues_, graph_, solution_, sample_
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
    >>> X, _ = sdpdr.datasets.swiss_roll(40, seed=0)
    >>> found = sdpdr.LOOCVUnfolding(n_neighbors=5).fit(X)
    >>> found.embedding_.shape, found.solution_.certified()
    ((40, 2), True)
    """

    default_time_limit: ClassVar[float] = FEW_SECONDS
    _is_centred: ClassVar[bool] = False

    _: KW_ONLY
    trace: float | None = None
    isometry: Relation | Literal["auto"] = "auto"

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return loocv(graph, self._trace(graph), isometry=self._relation())

    def _trace(self, graph: NeighborGraph) -> float:
        return roomy_trace(graph) if self.trace is None else self.trace

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
        return self._is_left_to_us() and not isinstance(self._relation(), Slack)

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
        sums = OtherSums(self.graph_.n, self.graph_.counts) @ Var("K")
        likelihoods[self.sample_] = self.graph_.of_samples(evaluate(sums, self.solution_.values))
        self.likelihoods_ = likelihoods
        return self
