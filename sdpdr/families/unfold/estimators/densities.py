"""Density preserving maps as an estimator, with a second stage towards a compact spectrum."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, NonUniqueWarning, UncertifiedWarning, warn
from sdpdr.families.unfold.density_map import Variant, density_map, kernel_sums
from sdpdr.families.unfold.estimators.gram import MORE_TIME
from sdpdr.families.unfold.estimators.sampled import WeightedSampling
from sdpdr.families.unfold.iterated import compact
from sdpdr.graphs import NeighborGraph
from sdpdr.model import Model
from sdpdr.program import Solution
from sdpdr.solving.iterate.directions import Trailing
from sdpdr.solving.iterate.programs import TOLERATED
from sdpdr.solving.iterate.records import IterationStatus, State

# Bandwidth of a density map, in root mean squares of the lengths of edges.
_WIDTH = 3.0
# Points at most unless requested: a program with a constraint for each point and each edge.
_LARGEST = 1000
# Share of the number of points by which a variance that reached it may fall short.
_REACHED = 1e-4
# Relative gap of the programs of the second stage.
_ACCURACY = 1e-6
_ENDED = (IterationStatus.RANK_REACHED, IterationStatus.STALLED)


@dataclass(eq=False, repr=False)
class DensityMap(WeightedSampling):
    r"""Density preserving map: a kernel whose sums over neighbours are those of the data.

    Solves `sdpdr.methods.density_map` with the densities of a Gaussian kernel on the graph, and
    embeds by the leading components of the kernel found, centred.

    Parameters
    ----------
    bandwidth : float, optional
        h of the kernel :math:`\exp(-d / 2h^2)`, a plain length. Default: three times the root of
        the mean of the squared edge lengths. Beside a small h the unit sphere is small, points lie
        all around it, and two dimensions hold little of them; of a large h only sums of distances
        are left.
    variant : {"unit", "trace"}, default "unit"
        Points on the unit sphere, or as close to the origin as the densities allow.
    compact : bool, default False
        Whether a second stage looks for a kernel of compact spectrum: among those whose value is
        within 0.1 % of the optimum it lowers the trace beyond ``n_components``,

        .. math:: \min\ \langle P - U U^T, K\rangle,

        with P the projector off the mean and U the leading eigenvectors of PKP, found in turn with
        K. The dimensions shown hold more of the kernel, and do not show the data better for it; see
        the method's page.
    n_components, n_neighbors, metric, angles, connect, extension
        As for `sdpdr.MVU`.
    solver, form, tol, random_state
        As for `sdpdr.MVU`.
    sample, time_limit
        As for `sdpdr.MVU`; by default at most 1000 points, and seconds for both stages together.

    Attributes
    ----------
    bandwidth_ : float
        h, as used.
    density_ : array of shape (nodes,)
        The sums prescribed.
    solution_ : Solution
        Of the program, with its optimal value and bound; of the first stage, where there are two.
    second_stage_ : State or None
        The second stage, with ``history``, ``status`` and ``excess``, the trace beyond
        ``n_components``; None without one.
    embedding_, gram_, eigenvalues_, graph_, sample_
        As of `sdpdr.MVU`, of the last stage; the eigenvalues are those of the centred kernel.

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
        The optimum was not proved, or the second stage did not end.

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
    compact: bool = False

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        _require_all_distances(graph)
        self.bandwidth_ = self.bandwidth
        if self.bandwidth is None:
            self.bandwidth_ = _WIDTH * float(np.sqrt(np.mean(graph.sqdist)))
        return density_map(graph, bandwidth=self.bandwidth_, variant=self.variant)

    def _answer(self, graph: NeighborGraph, X: Any, y: Any) -> Solution:
        deadline = Deadline(self._limit())
        model = self._model(graph, X, y)
        found = self._solved(model)
        self.second_stage_ = None
        # Centred points have no more than n - 1 dimensions, beyond which nothing is left.
        if self.compact and self.n_components < graph.n - 1 and found.values:
            self.second_stage_ = compact(
                model.to_sdp(),
                found,
                self.n_components,
                graph.masses,
                solver=self.solver,
                form=self.form,
                accuracy=self._accuracy,
                time_limit=deadline.left(),
                seed=validate.seed_or_none(self.random_state) or 0,
            )
            self._warn_of_stage(self.second_stage_)
        return found

    def _warn_of_stage(self, state: State) -> None:
        if state.status in _ENDED:
            return
        over = state.status is IterationStatus.TIME_LIMIT and self._is_limit_ours()
        advice = MORE_TIME if over else state.status.advice
        warn(
            f"second stage, {state.status.name}: of the kernels so far that have the value and "
            f"the densities, the most compact one is kept. {advice}",
            UncertifiedWarning,
        )

    @property
    def _accuracy(self) -> float:
        """Of the programs of the second stage."""
        return _ACCURACY if self.tol is None else self.tol

    def _places(self, graph: NeighborGraph, solution: Solution) -> Array:
        chosen = self._most_compact(graph, solution)
        self.gram_ = chosen.gram()
        return super()._places(graph, chosen)

    def _most_compact(self, graph: NeighborGraph, solution: Solution) -> Solution:
        """The second stage, unless it ran out of time and lost value or densities."""
        state = self.second_stage_
        if state is None or state.best is None:
            return solution
        before = Trailing(self.n_components, graph.masses, centred=True).excess(solution.gram())
        holds = state.record.infeasibility <= TOLERATED * self._accuracy
        return state.best if holds and state.excess <= before else solution

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        self.density_ = kernel_sums(graph, self.bandwidth_)
        if self.second_stage_ is None and self.variant == "unit":
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
            "bandwidth or more neighbours leave less choice; compact=True looks for a kernel of "
            "which they hold more.",
            NonUniqueWarning,
        )


def _require_all_distances(graph: NeighborGraph) -> None:
    """Refuse distances with gaps: a neighbour that is not known would count as none."""
    space = graph.provenance.space
    if space is not None and space.fewest < space.n - 1:
        raise DataError(
            "DensityMap needs all distances, and some are not known (NaN or inf): the density at a "
            "point is a sum over its neighbours, which would be less by those not known. Complete "
            "the distances first, with sdpdr.DistanceCompletion().fit(D).distances_."
        )
