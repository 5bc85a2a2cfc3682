"""Distance completion with scikit-learn's face: some distances in, points and all distances out."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, own_rows
from sdpdr.base.distances import ROUNDING
from sdpdr.base.errors import DataError, DataTypeError, ShapeError, SquaredDistancesWarning
from sdpdr.base.estimators import Embedding, as_numbers, as_precise, note_columns
from sdpdr.base.progress import Progress
from sdpdr.base.rows import numbered
from sdpdr.families.unfold.anchored import KnownPoints, known_points, place
from sdpdr.families.unfold.completion import Misfit, distance_completion, refine
from sdpdr.families.unfold.estimators.anchored import known_nodes
from sdpdr.families.unfold.estimators.gram import (
    EXACT_LENGTHS,
    seconds_of,
    warn_of_missing_proof,
)
from sdpdr.graphs import NeighborGraph, complete, from_edges
from sdpdr.program import Solution
from sdpdr.program.point import as_dense
from sdpdr.solving.solve import solve

# Extents of anchors beside the largest that are none.
_FLAT = 1e-9


@dataclass(eq=False, repr=False)
class DistanceCompletion(Embedding):
    r"""Points, and all their distances, from some distances that may be noisy.

    Two steps. The semidefinite program `sdpdr.methods.distance_completion` finds points in any
    number of dimensions, from nowhere, and its answer is certified. These are projected to
    ``n_components`` dimensions, and moved to a local minimum of raw stress, `sdpdr.methods.refine`,
    of which nothing is proved. Without anchors places are found up to rotation, reflection and
    shift, see `scipy.spatial.procrustes`.

    Parameters
    ----------
    n_components : int, default 2
        Dimension, if no coordinates are known; else they say it.
    misfit : {"auto", "square", "absolute", "equality", "inequality"}, Band or Slack
        How a distance that changes is charged for: by the square of the relative change of its
        square, the default without anchors; by its size, the default with anchors, which changes
        none at all where that is possible, but takes longer where it is not; or what else
        `sdpdr.methods.distance_completion` takes.
    price : float, optional
        Of ``"square"`` and ``"absolute"``, without a unit; by default 1000 and 100.
    refined : bool, default True
        Whether to take the second step.
    squared : bool, default False
        Whether the distances given are squared.
    solver : str or Solver, default "auto"
    tol : float, optional
    time_limit : float, "auto" or None, default "auto"
        Seconds, of the first step; None for no limit. What has been found by then is kept, with a
        warning. By default 60, unless a solver is named.
    random_state : int, RandomState or Generator, optional
    progress : bool or callable, optional
        See `sdpdr.solve`.

    Attributes
    ----------
    embedding_ : array of shape (n, r)
        Places after both steps; anchors where they were said to be.
    relaxed_ : array of shape (n, r)
        Places after the first.
    rmse_, relaxed_rmse_ : float
        Root mean square difference of known distances from those between the places.
    distances_ : array of shape (n, n)
        Those known, and those between the places where none was known. Not squared.
    gram_ : array or Factor
        The matrix K of the program; with anchors Z, bordered by their coordinates.
    eigenvalues_ : array
        Its spectrum. More than r that matter: the distances are noisy, or fit in no r dimensions.
    trust_ : array of shape (n,)
        With anchors: squared distance of each point of the program from the space of coordinates.
        Zero where the place is exact, if the anchors span that space.
    anchors_ : array of int
        Samples of known coordinates.
    graph_ : NeighborGraph
        Its edges are the distances that are known.
    solution_ : Solution
        Of the program, with its certificate.
    unit_ : float
        The length that is one in the program and its matrix: with anchors, whose matrix is bordered
        by coordinates, and a price, the root mean square of the known distances; else 1.
    n_features_in_ : int

    Raises
    ------
    DataError
        From `fit`: contradicting distances, a point of which none is known, or coordinates that do
        not fit the distances.
    DisconnectedGraphError
        Parts between which no distance is known, of which one has no anchor.

    Warns
    -----
    UncertifiedWarning
        The program was not solved, or not proved to be.

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

    n_components: int = 2
    _: KW_ONLY
    misfit: Misfit = "auto"
    price: float | None = None
    refined: bool = True
    squared: bool = False
    solver: Any = "auto"
    tol: float | None = None
    time_limit: float | str | None = "auto"
    random_state: int | None = None
    progress: Progress | bool | None = None

    def fit(self, X: Any, y: Any = None) -> DistanceCompletion:
        """Find the points.

        Parameters
        ----------
        X : array_like of shape (n, n), sparse matrix, or triples (i, j, distance), shape (m, 3)
            The distances. Of a dense matrix those that are not known are NaN or inf, of a sparse
            one those that have no entry; either triangle will do. Three triples are told from a
            matrix by its diagonal of zeros.
        y : array_like of shape (n, r), or tuple (indices, positions), optional
            Anchors: coordinates, with rows of nan where they are not known; or the points that
            have known coordinates, and these.

        Returns
        -------
        self
        """
        graph = known_distances(X, squared=self.squared)
        if getattr(X, "shape", ()) == (graph.index.size,) * 2:
            note_columns(self, X)
        else:
            self.n_features_in_ = graph.index.size
        anchors, nodes, coordinates = known_nodes(graph, _in_rows(y, graph.index.size))
        if nodes.size == graph.n:
            raise DataError("all points are anchors, so that there is nothing to find.")
        if not nodes.size:
            graph.require_connected("give distances between them, or an anchor in each")
            validate.positive_integer("n_components", self.n_components, at_most=graph.n)
        self.unit_ = _unit(graph, nodes, self.misfit)
        scaled = replace(graph, sqdist=graph.sqdist / self.unit_**2)
        coordinates = coordinates / self.unit_
        solution = solve(
            distance_completion(scaled, nodes, coordinates, self.misfit, self.price),
            self.solver,
            tol=self.tol,
            time_limit=seconds_of(self.time_limit, self.solver, "auto"),
            seed=validate.seed_or_none(self.random_state),
            progress=self.progress,
        )
        exact = self.misfit == "equality"
        way_out = EXACT_LENGTHS.format("misfit") if exact else ""
        warn_of_missing_proof(solution, way_out, asked=self.time_limit != "auto")
        self.graph_, self.solution_, self.anchors_ = graph, solution, anchors
        self.gram_, self.eigenvalues_ = solution.gram(), solution.spectrum()
        relaxed = self.unit_ * self._relaxed(scaled, nodes, coordinates)
        places = refine(graph, relaxed, nodes) if self.refined else relaxed
        self.relaxed_ = graph.of_samples(relaxed)
        self.embedding_ = as_precise(graph.of_samples(places), X)
        self.relaxed_rmse_, self.rmse_ = _rmse(graph, relaxed), _rmse(graph, places)
        return self

    @property
    def distances_(self) -> Array:
        """Those known, and those between the places elsewhere; shape (n, n)."""
        check_is_fitted(self)
        graph, places = self.graph_, self.embedding_[self.graph_.first_samples]
        found = squareform(pdist(places))
        i, j = graph.edges.T
        found[i, j] = found[j, i] = np.sqrt(graph.sqdist)
        return np.asarray(found[np.ix_(graph.index, graph.index)])

    def _relaxed(self, graph: NeighborGraph, nodes: Index, coordinates: Array) -> Array:
        """Places of the nodes as the program has them, in as many dimensions as are asked for."""
        solution = self.solution_
        if not nodes.size:
            return solution.embedding(self.n_components)
        placed = place(solution, graph, nodes, coordinates)
        self.trust_ = self.unit_**2 * graph.of_samples(placed.trust)
        return placed.coordinates + _beside_anchors(
            solution, known_points(graph, nodes, coordinates)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        return tags


def _unit(graph: NeighborGraph, nodes: Index, misfit: Misfit) -> float:
    """The length that is to be one in a program with such anchors."""
    if not nodes.size or misfit not in ("auto", "square", "absolute"):
        return 1.0
    return float(np.sqrt(np.mean(graph.sqdist)))


def _beside_anchors(solution: Solution, known: KnownPoints) -> Array:
    """What the program says of the directions that anchors in special position do not span.

    Along these all points stand still in its coordinates, and are apart in the rest of its matrix.
    """
    r = known.centred.shape[1]
    moved = np.zeros((known.nodes.size + known.unknown.size, r))
    _, sizes, directions = np.linalg.svd(known.centred)
    rank = int(np.sum(sizes > _FLAT * np.max(sizes, initial=0.0)))
    if rank == r:
        return moved
    bordered = as_dense(solution.gram("Z"))
    shadows = bordered[r:, :r]
    values, vectors = np.linalg.eigh(bordered[r:, r:] - shadows @ shadows.T)
    free = min(r - rank, values.size)
    beside = vectors[:, -free:] * np.sqrt(np.maximum(values[-free:], 0.0))
    moved[known.unknown] = beside @ directions[r - free :]
    return moved


def known_distances(D: Any, *, squared: bool = False) -> NeighborGraph:
    """Graph of all distances that are known, in any of the forms of `DistanceCompletion.fit`.

    Raises
    ------
    DataError, DataTypeError, ShapeError
        The distances cannot be used.

    Examples
    --------
    >>> known_distances([[0, 1, 3.0], [2, 1, 1.0], [3, 0, 2.0], [3, 1, 2.0]]).edges.tolist()
    [[0, 1], [0, 3], [1, 2], [1, 3]]
    """
    if sp.issparse(D):
        entries = sp.coo_array(own_rows(D))
        if entries.shape[0] != entries.shape[1]:
            raise ShapeError(f"distances must be a square matrix; their shape is {entries.shape}.")
        apart = entries.row != entries.col
        own = entries.row[~apart & (entries.data != 0.0)]
        if own.size:
            raise DataError(
                f"points {numbered(np.unique(own))} have a distance to themselves that is "
                "not zero. Pass distances, not similarities."
            )
        pairs = np.column_stack([entries.row, entries.col])[apart]
        return _listed(entries.shape[0], pairs, entries.data[apart], squared)
    try:
        array = as_numbers("distances", D)
    except DataError as error:
        raise DataTypeError(
            "the distances are not all numbers; nan stands for those that are not known, and "
            f"columns of names have to be dropped (or read as index: index_col=0). {error}"
        ) from None
    if array.ndim == 2 and array.shape[1] == 3 and not (len(array) == 3 and _hollow(array)):
        ends, whole = array[:, :2], np.rint(np.nan_to_num(array[:, :2])).astype(np.int64)
        if (ends != whole).any() or (whole < 0).any():
            raise DataError(
                "rows of three columns are triples (i, j, distance), but not all of the first two "
                "columns are numbers of points, 0 and up. Pass a square matrix of distances, or "
                "such triples."
            )
        if whole.size and whole.min() == 1:
            raise DataError(
                f"points of triples (i, j, distance) are counted from 0, and these run from 1 to "
                f"{whole.max()}: of {whole.max() + 1} points no distance is known of point 0. If "
                "they are counted from 1, subtract 1 from the first two columns."
            )
        return _listed(int(whole.max(initial=-1)) + 1, whole, array[:, 2], squared)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        # scikit-learn's words, which other libraries look for.
        none = array.ndim == 2 and not array.shape[1]
        found = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required; "
        raise ShapeError(
            f"{found if none else ''}distances must be a square matrix or triples (i, j, "
            f"distance); their shape is {array.shape}."
        )
    if np.any((array > 0.0) & (np.square(array) == 0.0)):
        raise DataError("some distances have squares too small for a number. Take another unit.")
    with warnings.catch_warnings():
        # Noisy distances break the triangle inequality, squared or not.
        warnings.simplefilter("ignore", SquaredDistancesWarning)
        return complete(array, metric="precomputed", squared=squared)


def _listed(n: int, pairs: Index, lengths: Array, squared: bool) -> NeighborGraph:
    """Graph of pairs and their lengths, those that are not known left out."""
    known = np.isfinite(lengths)
    pairs, lengths = pairs[known], np.asarray(lengths, dtype=float)[known]
    wrong = np.flatnonzero(lengths <= 0.0)
    if wrong.size:
        raise DataError(
            f"the distance of points {numbered(pairs[wrong[0]])} is "
            f"{lengths[wrong[0]]:g}; it must be positive. Points that coincide are to be one, and "
            "what is not known is to be left out, or nan."
        )
    _refuse_loops_and_twins(pairs, lengths)
    lost = np.setdiff1d(np.arange(n), pairs)
    if lost.size or not n:
        raise DataError(
            f"no distance is known of {lost.size} of {n} points: {numbered(lost)}. Leave "
            "these points out, or give one distance of each."
        )
    return from_edges(n, pairs, lengths if squared else np.square(lengths))


def _refuse_loops_and_twins(pairs: Index, lengths: Array) -> None:
    """Refuse distances of a point to itself, and two that differ of one pair."""
    own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if own.size:
        point, length = pairs[own[0], 0], lengths[own[0]]
        raise DataError(
            f"point {numbered(point)} has the distance {length:g} to itself. Leave that triple out."
        )
    _, which = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    apart = np.abs(np.diff(lengths[order])) > ROUNDING * lengths[order][1:]
    twice = np.flatnonzero((np.diff(which.ravel()[order]) == 0) & apart)
    if twice.size:
        a, b = order[twice[0]], order[twice[0] + 1]
        raise DataError(
            f"points {numbered(pairs[a])} have two distances, {lengths[a]:g} and {lengths[b]:g}. "
            "Keep one of them, or their mean."
        )


def _hollow(square: Array) -> bool:
    return not np.nan_to_num(np.diag(square)).any()


def _in_rows(y: Any, n: int) -> Any:
    """Anchors as rows of coordinates, nan where there are none."""
    if not isinstance(y, tuple):
        return y
    if len(y) != 2:
        raise ShapeError(f"anchors are a tuple (indices, positions); this one has {len(y)} parts.")
    nodes = validate.numbers("anchors", y[0], n, "numbers of points")
    positions = np.asarray(y[1], dtype=float)
    positions = positions[:, None] if positions.ndim == 1 else positions
    if positions.ndim != 2 or len(positions) != nodes.size or not np.isfinite(positions).all():
        raise ShapeError(
            f"{nodes.size} anchors need positions of shape ({nodes.size}, r), all finite; these "
            f"have shape {positions.shape}."
        )
    twice = np.flatnonzero(np.bincount(nodes, minlength=n) > 1)
    if twice.size:
        raise DataError(
            f"points {numbered(twice)} are anchors more than once. Give each one position."
        )
    rows = np.full((n, positions.shape[1]), np.nan)
    rows[nodes] = positions
    return rows


def _rmse(graph: NeighborGraph, places: Array) -> float:
    i, j = graph.edges.T
    found = np.linalg.norm(places[i] - places[j], axis=1)
    return float(np.sqrt(np.mean(np.square(found - np.sqrt(graph.sqdist)))))
