"""Furthest-neighbour unfolding with scikit-learn's face."""

from __future__ import annotations

from typing import Any

from sdpdr.blocks import Relation
from sdpdr.errors import UnknownNameError
from sdpdr.estimators.gram import GramEmbedding
from sdpdr.graphs import NeighborGraph
from sdpdr.methods import mfnu, mvu_apart
from sdpdr.model import Model

_RECIPES = {"spread": mfnu, "variance": mvu_apart}


class MFNU(GramEmbedding):
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

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 6,
        isometry: Relation = "inequality",
        objective: str = "spread",
        metric: str = "euclidean",
        angles: bool = False,
        connect: str = "error",
        extension: str | None = None,
        solver: Any = "auto",
        form: str = "auto",
        landmarks: int | None = None,
        tol: float | None = None,
        time_limit: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.isometry = isometry
        self.objective = objective
        self.metric = metric
        self.angles = angles
        self.connect = connect
        self.extension = extension
        self.solver = solver
        self.form = form
        self.landmarks = landmarks
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        if self.objective not in _RECIPES:
            raise UnknownNameError("objective", self.objective, _RECIPES)
        return _RECIPES[self.objective](graph, self.isometry)
