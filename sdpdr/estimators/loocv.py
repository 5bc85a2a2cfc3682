"""Maximum leave-one-out cross-validation unfolding with scikit-learn's face."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpdr.blocks import OtherSums, Relation
from sdpdr.estimators.kernel import KernelEmbedding
from sdpdr.graphs import NeighborGraph
from sdpdr.methods.loocv import loocv
from sdpdr.model import Model
from sdpdr.program import Factor, Solution


class LOOCVUnfolding(KernelEmbedding):
    r"""Maximum leave-one-out cross-validation: every point likely, given all others.

    Solves `sdpdr.methods.loocv` and embeds by the leading components of the kernel found,
    centred. The method folds points together rather than apart. Cost grows with the square of the
    number of points in rows alone: it is for tens of points.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    trace : float, optional
        Limit of the trace of the kernel. Default: twice the variance of the points.
    unit : bool, default False
        Kernel with unit diagonal instead of a limited trace, lengths scaled.
    minimum : float, optional
        Least trace with a geometric mean of at least this instead.
    isometry : {"equality"}, Band or Slack, default "equality"
    metric, angles, connect, extension, solver, form, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    likelihoods_ : array of shape (n,)
        :math:`f_j = \sum_{i \ne j} K_{ij}` of every sample, ``nan`` where it was left out.
    embedding_, gram_, eigenvalues_, graph_, solution_, n_features_in_, feature_names_in_
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
    >>> X, _ = sdpdr.datasets.swiss_roll(12, seed=0)
    >>> found = sdpdr.LOOCVUnfolding(n_neighbors=3).fit(X)
    >>> found.embedding_.shape, found.solution_.certified()
    ((12, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 6,
        trace: float | None = None,
        unit: bool = False,
        minimum: float | None = None,
        isometry: Relation = "equality",
        metric: str = "euclidean",
        angles: bool = False,
        connect: str = "error",
        extension: str | None = None,
        solver: Any = "auto",
        form: str = "auto",
        tol: float | None = None,
        time_limit: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.trace = trace
        self.unit = unit
        self.minimum = minimum
        self.isometry = isometry
        self.metric = metric
        self.angles = angles
        self.connect = connect
        self.extension = extension
        self.solver = solver
        self.form = form
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        return loocv(graph, self.trace, self.unit, self.minimum, self.isometry)

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        gram, sums = solution.gram(), OtherSums(graph.n, graph.counts)
        nodes = sums.apply_factor(gram.factor) if isinstance(gram, Factor) else sums.apply(gram)
        self.likelihoods_ = np.where(graph.index >= 0, nodes[graph.index], np.nan)
