"""Estimators of colored unfolding, leave-one-out unfolding, and density preserving maps."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.distances import completing
from sdpdr.base.errors import DataError, NonUniqueWarning, warn
from sdpdr.base.labels import require_target
from sdpdr.families.unfold.colored_mvu import colored_mvu, side_information
from sdpdr.families.unfold.density_map import Variant, density_map, kernel_sums
from sdpdr.families.unfold.estimators.gram import LengthEmbedding
from sdpdr.families.unfold.estimators.sampled import Sampling
from sdpdr.families.unfold.loocv import loocv, roomy_trace
from sdpdr.families.unfold.loocv_by_fold import solve_loocv
from sdpdr.families.unfold.verdict import variance_shown
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model, Var
from sdpdr.model.affine import evaluate
from sdpdr.model.blocks import Band, OtherSums, Relation, Slack
from sdpdr.model.blocks.isometry import as_relation
from sdpdr.program import Solution

# Relative change of squared lengths with which there is an interior, so that proofs succeed.
_WIDTH = 0.05
# Default largest number of points of leave-one-out unfolding if lengths are penalized: then the
# program is solved as written, with a constraint for every pair of points.
_WRITTEN = 30
# Bandwidth of a density map, as a multiple of the root mean square length of edges.
_BANDWIDTH = 3.0
# Default largest number of points. A density map has a constraint for each point and each edge;
# folding 1000 points of a roll takes 16 seconds.
_LARGEST = 1000
# Relative difference up to which the variance counts as equal to the number of points.
_REACHED = 1e-4


@dataclass(eq=False, repr=False)
class ColoredMVU(LengthEmbedding):
    r"""Unfold so that the embedding depends on labels or numbers as much as possible.

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
        :math:`\langle H F F^T H, K\rangle / (n - 1)^2` for the n points of the embedding.
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
        require_target(self, y, "Pass labels or numbers for every point; sdpdr.MVU needs none.")
        side, samples = side_information(y), graph.index.size
        if len(side) != samples:
            raise DataError(
                f"y describes {len(side)} points, but X has {samples}; give one label "
                "or row of numbers for each row of X."
            )
        # Average over the samples that share a node.
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
    r"""Maximum leave-one-out cross-validation: every point is likely, given all others.

    Solves `sdpdr.methods.loocv` with a bounded trace, and embeds by the leading components of the
    centred kernel. The method folds points together rather than apart. It is solved by folding
    (`sdpdr.iterate.solve_loocv`) unless lengths are penalized or a solver or form is named. The
    program as written has a constraint for every pair of points.

    Parameters
    ----------
    trace : float, optional
        Bound of the trace of the kernel. Default: twice the variance of the points, or if that is
        more, 1.5 times the trace of the points after moving them until no product is negative.
    isometry : {"auto", "equality", "band:0.05", ...}, Band or Slack, default "auto"
        By default ``"band:0.05"``. With exact lengths there is hardly an interior, so
        the optimum is found, but most proofs fail.
    n_components, n_neighbors, metric, angles, connect, extension
        As for `sdpdr.MVU`.
    solver, form, tol, random_state
        As for `sdpdr.MVU`.
    sample, time_limit
        As for `sdpdr.MVU`; by default at most 1000 points, or 30 if lengths are penalized.

    Attributes
    ----------
    likelihoods_ : array of shape (n,)
        :math:`f_j = \sum_{i \ne j} K_{ij}` of every unfolded sample, ``nan`` for others.
    embedding_, gram_, eigenvalues_, graph_, solution_, sample_
        As of `sdpdr.MVU`; the eigenvalues are those of the centred kernel.

    Raises
    ------
    DataError, DisconnectedGraphError, ModelError
        From `fit`, naming what is wrong.
    SolveFailedError
        From `fit`: no kernel has these lengths and a trace within the bound.

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

    _is_centred: ClassVar[bool] = False

    _: KW_ONLY
    trace: float | None = None
    isometry: Relation = "auto"

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return loocv(graph, self._trace(graph), isometry=self._relation())

    def _trace(self, graph: NeighborGraph) -> float:
        """The bound on the trace."""
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
        """The default largest number of points."""
        return _LARGEST if self._folds() else _WRITTEN

    def _folds(self) -> bool:
        """Whether the program is solved by folding."""
        return self._is_left_to_us() and not isinstance(self._relation(), Slack)

    def _relation(self) -> Relation:
        return Band(_WIDTH) if self.isometry == "auto" else as_relation(self.isometry)

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
    embeds by the leading components of the centred kernel.

    Parameters
    ----------
    bandwidth : float, optional
        h of the kernel :math:`\exp(-d / 2h^2)`, a plain length. Default: three times the square
        root of the mean of the squared edge lengths. For a small h the unit sphere is small, points
        lie all around it, and two dimensions hold little of the variance; for a large h only sums
        of distances matter.
    variant : {"unit", "trace"}, default "unit"
        Points on the unit sphere, or as close to the origin as the densities allow.
    n_components, n_neighbors, metric, angles, connect, extension, solver, form, tol, random_state
        As for `sdpdr.MVU`.
    sample, time_limit
        As for `sdpdr.MVU`; by default at most 1000 points.

    Attributes
    ----------
    bandwidth_ : float
        The value of h that was used.
    density_ : array of shape (nodes,)
        The prescribed sums.
    embedding_, gram_, eigenvalues_, graph_, solution_, sample_
        As of `sdpdr.MVU`; the eigenvalues are those of the centred kernel.

    Raises
    ------
    DataError, ModelError
        From `fit`, naming what is wrong.

    Warns
    -----
    NonUniqueWarning
        The variance is the largest of any points on a sphere, for any data, so the kernel is one
        of many.
    UncertifiedWarning
        The optimum was not proved.

    References
    ----------
    Vasiloglou thesis, section 3.6.2, in a form that has a solution; see the method's page.

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

    def _verdict(self) -> str:
        return variance_shown(self.eigenvalues_, self.n_components, "variance of the kernel")

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        self.density_ = kernel_sums(graph, self.bandwidth_)
        if self.variant == "unit":
            self._warn_if_saturated(float(graph.counts.sum()))

    def _warn_if_saturated(self, most: float) -> None:
        """Warn if the variance is the largest of any points on the unit sphere."""
        if self.solution_.value < (1.0 - _REACHED) * most:
            return
        held = float(self.explained_variance_ratio_.sum())
        warn(
            f"the variance is {self.solution_.value:.6g}, the largest of any {most:g} points on "
            "the unit sphere, and many kernels attain it: the embedding is one of many, and its "
            f"{self.n_components} dimensions hold {held:.0%} of the kernel. Take a larger "
            "bandwidth or more neighbours, for which fewer kernels are optimal.",
            NonUniqueWarning,
        )


def _require_all_distances(graph: NeighborGraph) -> None:
    """Raise an error if distances are missing: an unknown neighbour would not be counted."""
    space = graph.provenance.space
    if space is not None and space.fewest < space.n - 1:
        raise DataError(
            "DensityMap needs all distances, and some are unknown (NaN or inf): the density at a "
            "point is a sum over its neighbours, and would be too small without the unknown ones. "
            + completing()
        )
