"""Minimum volume embedding with scikit-learn's face."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sdpdr.base.errors import DataError, UncertifiedWarning
from sdpdr.families.unfold.estimators.gram import GramEmbedding
from sdpdr.families.unfold.mvu import mvu
from sdpdr.families.unfold.volume import minimum_volume
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.model import Model
from sdpdr.model.blocks import Relation
from sdpdr.solving.iterate.records import IterationStatus


@dataclass(eq=False, repr=False)
class MVE(GramEmbedding):
    r"""Minimum volume embedding: unfold into ``n_components`` dimensions and flatten the others.

    Lowers :math:`\kappa \sum_{i > r} \lambda_i(K) - \sum_{i \le r} \lambda_i(K)` over the Gram
    matrices of `MVU`, by a sequence of semidefinite programs; see `sdpdr.iterate.minimum_volume`.

    Parameters
    ----------
    n_components : int, default 2
        The dimensions r that keep their variance; at most the number of distinct points less one.
    kappa : float, default 1.0
        Price of variance outside them, at least -1.
    n_neighbors : int, default 6
    isometry : {"inequality", "equality"}, Band or Slack, default "inequality"
    metric : str, default "euclidean"
        With ``"precomputed"``, X holds (plain, not squared) distances.
    angles : bool, default False
    connect : {"error", "mst", "largest"}, default "error"
    solver, form : see `sdpdr.solve`
    tol : float, optional
        The objective has settled when an iteration lowers it by no more than this share, 1e-6 by
        default.
    max_iter : int, default 50
        Programs in each start.
    restarts : int, default 0
        Random starts that follow the first one.
    time_limit : float, optional
        Seconds, for all programs together.
    random_state : int, optional
        Seed of the starts and of a solver that is named; 0 by default.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    gram_ : array of shape (nodes, nodes) or Factor
    eigenvalues_ : array
    graph_ : NeighborGraph
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
        From `fit`, with the parts and what to do.

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
    >>> X, _ = sdpdr.datasets.swiss_roll(20, seed=0)
    >>> flat = sdpdr.MVE(n_neighbors=4).fit(X)
    >>> flat.embedding_.shape
    (20, 2)
    >>> bool(flat.eigenvalues_[:2].sum() > 0.999 * flat.eigenvalues_.sum())
    True
    """

    _: KW_ONLY
    kappa: float = 1.0
    isometry: Relation = "inequality"
    max_iter: int = 50
    restarts: int = 0

    def fit(self, X: Any, y: Any = None) -> MVE:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : ignored

        Returns
        -------
        self
        """
        graph = knn(
            self._checked(X),
            self.n_neighbors,
            metric=self.metric,
            angles=self.angles,
            connect=self.connect,
        )
        self._check_components(graph)
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
            time_limit=self.time_limit,
            seed=self.random_state or 0,
        )
        self._keep(graph, state.solution)
        if state.status is not IterationStatus.SETTLED:
            warnings.warn(
                f"{state.status.name}: {state.status.advice}", UncertifiedWarning, stacklevel=2
            )
        self.iteration_, self.n_iter_ = state, len(state.history)
        self._extend(X)
        return self

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return mvu(graph, self.isometry)
