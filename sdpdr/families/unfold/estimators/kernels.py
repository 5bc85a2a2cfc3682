"""Estimators of colored and of leave-one-out unfolding, and of density preserving maps."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.distances import completing
from sdpdr.base.errors import DataError, NonUniqueWarning, warn
from sdpdr.families.unfold.colored_mvu import colored_mvu, side_information
from sdpdr.families.unfold.density_map import Variant, density_map, kernel_sums
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
# Bandwidth of a density map, in root mean squares of the lengths of edges.
_BANDWIDTH = 3.0
# Points at most unless requested: a program with a constraint for each point and each edge.
_LARGEST = 1000
# Share of the number of points by which a variance that reached it may fall short.
_REACHED = 1e-4


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
        if len(side) != samples:
            raise DataError(
                f"y describes {len(side)} points, but X has {samples}; give one label "
                "or row of numbers for each row of X."
            )
        # Averages over the samples that share a node.
        placed = graph.index >= 0
        total: Array = np.zeros((graph.n, side.shape[1]))
        np.add.at(total, graph.index[placed], side[placed])
        mean = total / np.bincount(graph.index[placed], minlength=graph.n)[:, None]
        return colored_mvu(graph, mean, self.isometry)

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
    isometry : {"auto", "equality"}, blocks.Band or blocks.Slack, default "auto"
        By default ``sdpdr.blocks.Band(0.05)``. Exact lengths leave next to no interior: the optimum
        is found, and proofs fail more often than not.
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
    >>> X, _ = sdpdr.datasets.swiss_roll(15, seed=0)
    >>> found = sdpdr.LOOCVUnfolding(n_neighbors=4).fit(X)
    >>> found.embedding_.shape, found.solution_.certified()
    ((15, 2), True)
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

    def _learn(self, X: Any, y: Any) -> Sampling:
        super()._learn(X, y)
        likelihoods = np.full(len(self.embedding_), np.nan)
        sums = OtherSums(self.graph_.n, self.graph_.counts) @ Var("K")
        likelihoods[self.sample_] = self.graph_.of_samples(evaluate(sums, self.solution_.values))
        self.likelihoods_ = likelihoods
        return self


@dataclass(eq=False, repr=False)
class DensityMap(Sampling):
    r"""Density preserving map: a kernel whose sums over neighbours are those of the data.

    Solves `sdpdr.methods.density_map` with the densities of a Gaussian kernel on the graph, and
    embeds by the leading components of the kernel found, centred.

    Parameters
    ----------
    bandwidth : float, optional
        h of the kernel :math:`\exp(-d / 2h^2)`, a plain length. Default: three times the square
        root of the mean of the squared edge lengths. Beside a small h the unit sphere is small,
        points lie all around it, and two dimensions hold little of them; of a large h only sums
        of distances are left.
    variant : {"unit", "trace"}, default "unit"
        Points on the unit sphere, or as close to the origin as the densities allow.
    n_components, n_neighbors, metric, angles, connect, extension, solver, form, tol, random_state
        As for `sdpdr.MVU`.
    sample, time_limit
        As for `sdpdr.MVU`; by default at most 1000 points.

    Attributes
    ----------
    bandwidth_ : float
        h, as used.
    density_ : array of shape (nodes,)
        The sums prescribed.
    embedding_, gram_, eigenvalues_, graph_, solution_, sample_
        As of `sdpdr.MVU`; the eigenvalues are those of the centred kernel.

    Raises
    ------
    DataError, ModelError
        From `fit`, naming what is wrong.

    Warns
    -----
    NonUniqueWarning
        The variance is the largest that points on a sphere can have, whatever the data: the kernel
        is one of many.
    UncertifiedWarning
        The optimum was not proved.

    References
    ----------
    Vasiloglou thesis, section 3.6.2, in a form that has an answer; see the method's page.

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(40, seed=0)
    >>> found = sdpdr.DensityMap(n_neighbors=4).fit(X)
    >>> found.embedding_.shape, found.solution_.certified()
    ((40, 2), True)
    """

    largest: ClassVar[int] = _LARGEST
    _is_centred: ClassVar[bool] = False

    _: KW_ONLY
    bandwidth: float | None = None
    variant: Variant = "unit"

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        _require_all_distances(graph)
        self.bandwidth_ = self.bandwidth
        if self.bandwidth is None:
            self.bandwidth_ = _BANDWIDTH * float(np.sqrt(np.mean(graph.sqdist)))
        return density_map(graph, bandwidth=self.bandwidth_, variant=self.variant)

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        self.density_ = kernel_sums(graph, self.bandwidth_)
        if self.variant == "unit":
            self._warn_if_saturated(float(graph.counts.sum()))

    def _warn_if_saturated(self, most: float) -> None:
        """Warn of a variance that no points on the unit sphere exceed."""
        if self.solution_.value < (1.0 - _REACHED) * most:
            return
        held = float(self.explained_variance_ratio_.sum())
        warn(
            f"the variance is {self.solution_.value:.6g}, the largest of {most:g} points on the "
            "unit sphere whatever the data, and many kernels attain it: the picture is one of "
            f"many, and its {self.n_components} dimensions hold {held:.0%} of the kernel. A larger "
            "bandwidth or more neighbours leave less choice.",
            NonUniqueWarning,
        )


def _require_all_distances(graph: NeighborGraph) -> None:
    """Refuse distances with gaps: a neighbour that is not known would count as none."""
    space = graph.provenance.space
    if space is not None and space.fewest < space.n - 1:
        raise DataError(
            "DensityMap needs all distances, and some are not known (NaN or inf): the density at a "
            "point is a sum over its neighbours, which would be less by those not known. "
            + completing()
        )
