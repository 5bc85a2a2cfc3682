"""Distance completion as an estimator: from some distances to points and all distances."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import (
    MissedLengthsWarning,
    SquaredDistancesWarning,
    warn,
)
from sdpdr.base.estimators import Embedding, as_precise, note_columns
from sdpdr.base.parameters import require_kinds
from sdpdr.base.rows import counted, numbered, rows_like
from sdpdr.families.unfold.anchored import missed_lengths, place
from sdpdr.families.unfold.completion import distance_completion, refine_from_both
from sdpdr.families.unfold.estimators.anchored import known_nodes
from sdpdr.families.unfold.estimators.time_limit import DefaultTimeLimit
from sdpdr.families.unfold.verdict import Reporting
from sdpdr.graphs import complete
from sdpdr.model.blocks import Relation
from sdpdr.solving.solve import solve

# Root mean square and largest error, relative to the root mean square of the given lengths, beyond
# which noise is not the reason. With Gaussian noise of 10 % they are 0.06 to 0.1, and up to 0.54
# for 1770 pairs. For points of a cube in the plane the first is 0.07 to 0.19. If one length among
# 66 to 538 is ten times too long, they are 0.1 to 0.7, and 1.3 to 12.
_NOISE, _WORST = 0.125, 1.0


@dataclass(eq=False, repr=False)
class DistanceCompletion(Reporting, DefaultTimeLimit, Embedding):
    """Points, and all their distances, from some distances that may be noisy.

    There are two steps. The semidefinite program `sdpdr.methods.distance_completion` finds points
    in any number of dimensions, without initial positions, and its answer is certified. The points
    are then projected to ``n_components`` dimensions, and moved to a local minimum of raw stress by
    `sdpdr.methods.refine`, which is not certified. Without anchors, positions are found up to
    rotation, reflection and translation, see `scipy.spatial.procrustes`.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the positions; with anchors, their number of coordinates instead.
    misfit : {"auto", "square", "absolute"} or a relation of lengths, default "auto"
        Penalty of a changed distance: the square of the relative change of its square (the
        default without anchors), or the absolute value (the default with anchors), with which no
        distance changes if that is possible, but which takes longer if it is not; or another
        relation of `sdpdr.methods.distance_completion`.
    penalty : float, optional
        Weight of ``"square"`` and ``"absolute"``, without a unit; by default 1000 and 100.
    time_limit : float, "auto" or None, default "auto"
        Seconds for the first step; None for no limit. The point found by then is kept, with a
        warning. By default 45, so that a fit takes about a minute, unless a solver is named.
    solver, tol, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    embedding_, relaxed_ : array of shape (n, r)
        Positions after both steps, and after the first. The first step stretches lengths: that of
        two points by 1 / (2 penalty) for ``"square"``. Anchors have the given coordinates.
    start_ : {"program", "paths"}
        The initial positions of the second step with the smaller stress: those of the program, or
        classical scaling of shortest paths. Paths are not tried if the program's positions already
        have the distances, nor for more than 4000 points: for 6000 they took 20 seconds and 1.3 GB.
    rmse_, relaxed_rmse_ : float
        Root mean square difference between known distances and those of the positions.
    distances_ : array of shape (n, n)
        Known distances, and distances of the positions for other pairs. Not squared.
    gram_ : array or Factor
        The matrix K of the program; with anchors Z, bordered by their coordinates.
    eigenvalues_ : array
        Its spectrum. More than r large ones mean that the distances are noisy, or do not fit in r
        dimensions.
    trust_ : array of shape (n,)
        With anchors: squared distance of each point of the program from the space of coordinates.
        If it is zero, the positions have the program's lengths; other positions may have them, too.
    anchors_ : array of int
        Samples of known coordinates.
    graph_ : NeighborGraph
        Its edges are the known distances.
    solution_ : Solution
        The solution of the program, with its certificate.

    Raises
    ------
    DataError
        From `fit`: contradicting distances, a point without any known distance, or coordinates
        that contradict the distances.
    DisconnectedGraphError
        The known distances are disconnected, and a component has no anchor.

    Warns
    -----
    FewAnchorsWarning
        The anchors span too few dimensions, so that mirror images of other points fit as well.
    MissedLengthsWarning
        After both steps, positions miss the distances by more than an eighth of their root mean
        square, or one of them by all of it: more than with noise of 10 %.
    UncertifiedWarning

    References
    ----------
    Biswas, Liang, Toh, Wang and Ye, IEEE Trans. Autom. Sci. Eng. 3 (2006); Alfakih, Khandani and
    Wolkowicz, "Solving Euclidean distance matrix completion problems via semidefinite
    programming", Comput. Optim. Appl. 12 (1999).

    Examples
    --------
    >>> import numpy as np, sdpdr
    >>> from scipy.spatial.distance import pdist, squareform
    >>> D = squareform(pdist(np.random.default_rng(0).uniform(size=(30, 2))))
    >>> partial = np.where(np.random.default_rng(1).uniform(size=D.shape) < 0.7, np.nan, D)
    >>> completed = sdpdr.DistanceCompletion().fit(partial)
    >>> completed.graph_.m, bool(np.abs(completed.distances_ - D).max() < 1e-5)
    (230, True)
    """

    # For 1000 points, proofs and the second step take up to 14 seconds more.
    default_time_limit: ClassVar[float] = 45.0
    _lengths: ClassVar[str] = "misfit"

    n_components: int = 2
    _: KW_ONLY
    misfit: Relation = "auto"
    penalty: float | None = None
    solver: Any = "auto"
    tol: float | None = None
    time_limit: float | str | None = "auto"
    random_state: int | None = None

    def fit(self, X: Any, y: Any = None) -> DistanceCompletion:
        """Find the points.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, n)
            The distances. Unknown ones are NaN or inf in a dense matrix, and have no entry in a
            sparse one; either triangle is enough. Triples (i, j, distance) are the sparse array
            ``scipy.sparse.coo_array((distance, (i, j)), shape=(n, n))``. Messages name points of a
            frame by its index.
        y : array_like of shape (n, r), optional
            Coordinates of the anchors, and rows of nan for other points.

        Returns
        -------
        self
        """
        require_kinds(self)
        with rows_like(X):
            return self._learn(X, y)

    def _learn(self, X: Any, y: Any) -> DistanceCompletion:
        """`fit`, inside a context in which messages name points as the data do."""
        with warnings.catch_warnings():
            # Noisy distances break the triangle inequality.
            warnings.simplefilter("ignore", SquaredDistancesWarning)
            graph = complete(X, metric="precomputed")
        note_columns(self, X)
        anchors, nodes, coordinates = known_nodes(graph, y)
        if not nodes.size:
            graph.require_connected("give distances between them, or an anchor in each")
            validate.positive_integer("n_components", self.n_components, at_most=graph.n)
        solution = solve(
            distance_completion(graph, nodes, coordinates, self.misfit, self.penalty),
            self.solver,
            tol=self.tol,
            time_limit=self._limit(),
            seed=validate.seed_or_none(self.random_state),
        )
        self._require_point(solution)
        self.graph_, self.solution_, self.anchors_ = graph, solution, anchors
        self.gram_, self.eigenvalues_ = solution.gram(), solution.spectrum()
        if nodes.size:
            placed = place(solution, graph, nodes, coordinates)
            relaxed, self.trust_ = placed.coordinates, graph.of_samples(placed.trust)
        else:
            relaxed = solution.embedding(self.n_components)
        places, self.start_ = refine_from_both(graph, relaxed, nodes, coordinates)
        size, self._missed = float(np.sqrt(np.mean(graph.sqdist))), missed_lengths(graph, places)
        self.relaxed_rmse_ = size * missed_lengths(graph, relaxed).share
        self.rmse_ = size * self._missed.share
        self.relaxed_ = graph.of_samples(relaxed)
        self.embedding_ = as_precise(graph.of_samples(places), X)
        self._warn_of_missed_lengths()
        return self

    @property
    def distances_(self) -> Array:
        """Known distances, and those between the positions elsewhere; shape (n, n)."""
        check_is_fitted(self)
        graph, places = self.graph_, self.embedding_[self.graph_.first_samples]
        found = squareform(pdist(places))
        i, j = graph.edges.T
        found[i, j] = found[j, i] = np.sqrt(graph.sqdist)
        return np.asarray(found[np.ix_(graph.index, graph.index)])

    def _is_noise(self) -> bool:
        """Whether noise explains how far the positions miss the distances."""
        return self._missed.share <= _NOISE and self._missed.most <= _WORST

    def _verdict(self) -> str:
        r = self.embedding_.shape[1]
        return (
            f"Positions in {counted(r, 'dimension')} miss the given distances by "
            f"{self._missed.share:.1%} of their root mean square: "
            + ("good." if self._is_noise() else f"poor. Try n_components={r + 1}, or check them.")
        )

    def _warn_of_missed_lengths(self) -> None:
        """Warn of lengths missed by more than noise explains."""
        missed = self._missed
        if not self._is_noise():
            warn(
                f"positions in {self.embedding_.shape[1]} dimensions do not have the given "
                f"distances: they miss them by {self.rmse_:.3g} (rmse_), {missed.share:.0%} of "
                f"their root mean square. Worst are points {numbered(missed.samples)}: "
                f"{missed.given:.4g} given, {missed.found:.4g} found. Check that distance, that "
                "anchors and distances have one unit, and whether the points need more dimensions "
                "(n_components).",
                MissedLengthsWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        return tags
