"""Isometric nonnegative factorization as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import warn
from sdpdr.base.estimators import as_precise, note_columns
from sdpdr.base.parameters import seconds_for
from sdpdr.base.progress import Progress
from sdpdr.families.factor.isometric.factorize import IsometricStatus, isometric_factors
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix
from sdpdr.families.factor.nonnegative.projection import FactorTransformer, hoyer, project
from sdpdr.graphs import knn


@dataclass(eq=False, repr=False)
class IsoNMF(FactorTransformer):
    r"""Isometric nonnegative factors: parts of the data, in which neighbours keep their distance.

    .. math:: \min_{W, H \ge 0} |X - W H|_F^2 \quad\text{s.t.}\quad |w_i - w_j| = |x_i - x_j|
              \text{ for neighbours } i, j,

    by `sdpdr.nonnegative.isometric_factors`: a local optimum.

    Parameters
    ----------
    n_components : int, default 2
        k, columns of W.
    n_neighbors : int, default 3
        Two points are neighbours if either is among the other's nearest. If there are fewer other
        points, all are taken, with a ``FewPointsWarning``.
    objective : {"none", "furthest"}, default "none"
        Whether points are pulled away from those furthest from them; needs a connected graph.
    pull : float, default 1e-3
        Weight of the pull, see `sdpdr.nonnegative.isometric_factors`.
    connect : {"none", "error", "mst", "largest"}, default "none"
        What to do with a disconnected graph, see `sdpdr.graphs.knn`. Points outside the largest
        component are placed as new ones.
    tol : float, default 1e-4
    max_iter : int, default 50
    time_limit : float or None, default None
        Seconds; "auto" is the default.
    progress : bool or callable, optional
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    components_ : array of shape (k, n_features)
        H.
    reconstruction_err_ : float
        :math:`|X - WH|_F`, as in scikit-learn's NMF.
    edge_error_ : float
        :math:`|\hat d - d|_2 / |d|_2` with the squared distances of neighbours before and after.
    sparsity_ : dict
        Mean of Hoyer's measure: of the columns of ``"W"``, and of the rows of ``"H"``.
    bound_ : float
        No factors of k columns have a smaller reconstruction error, isometric or not.
    result_ : IsometricFactors
        On the nodes of the graph.
    status_ : IsometricStatus
    history_ : list of dict
        One mapping for each round.
    n_iter_ : int
        Rounds.
    graph_ : NeighborGraph
    n_neighbors_ : int
        The number used.
    n_features_in_ : int
    feature_names_in_ : array of str
        If X has names.

    Raises
    ------
    DataError, DisconnectedGraphError
        From `fit`.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        The search did not settle.

    References
    ----------
    Vasiloglou thesis, section 4.4.

    Examples
    --------
    >>> from sdpdr import IsoNMF
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.random_nonnegative(20, 6, rank=3)
    >>> iso = IsoNMF(n_components=3)
    >>> W = iso.fit_transform(X)
    >>> W.shape, bool((W >= 0).all()), iso.edge_error_ < 1e-4
    ((20, 3), True, True)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 3
    objective: Literal["none", "furthest"] = "none"
    pull: float = 1e-3
    connect: str = "none"
    tol: float = 1e-4
    max_iter: int = 50
    time_limit: float | str | None = None
    progress: Progress | bool | None = None
    random_state: int = 0

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the factors of X and return W, shape (n, k)."""
        points = nonnegative_matrix(X)
        note_columns(self, X)
        search = partial(knn, points, connect=self.connect)
        graph, self.n_neighbors_ = validate.all_if_few(self.n_neighbors, search)
        here = graph.index >= 0
        _, nodes = np.unique(np.where(here, graph.index, graph.n), return_index=True)
        found = isometric_factors(
            points[nodes[: graph.n]],
            graph,
            self.n_components,
            objective=self.objective,
            pull=self.pull,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=validate.seed(self.random_state),
            time_limit=seconds_for(self),
            progress=self.progress,
        )
        self.result_, self.graph_, self.components_ = found, graph, found.H
        W = np.empty((len(points), len(found.H)))
        W[here] = found.W[graph.index[here]]
        if not here.all():
            W[~here] = project(found.H.T, points[~here].T).T
        self.status_, self.n_iter_ = found.status, len(found.history)
        self.history_, self.edge_error_ = found.history, found.dist
        self.reconstruction_err_ = float(np.linalg.norm(points - W @ found.H))
        self.bound_ = found.rec_bound * float(np.linalg.norm(points[here]))
        self.sparsity_ = {
            "W": float(np.nanmean(hoyer(W, axis=0))),
            "H": float(np.nanmean(hoyer(found.H, axis=1))),
        }
        if found.status is not IsometricStatus.SETTLED:
            warn(f"{found.status.name}: {found.status.advice}", ConvergenceWarning)
        self._found = dict(zip(map(bytes, points), W, strict=True))
        return as_precise(W, X)

    def transform(self, X: Any) -> Array:
        """The rows of W, shape (n, k): those found for points of the fit, the best for new ones.

        New points are fitted one by one, without regard to distances from others.
        """
        check_is_fitted(self)
        points = nonnegative_matrix(X)
        note_columns(self, X, reset=False)
        W = project(self.components_.T, points.T).T
        for row, point in zip(W, map(bytes, points), strict=True):
            row[:] = self._found.get(point, row)
        return as_precise(W, X)
