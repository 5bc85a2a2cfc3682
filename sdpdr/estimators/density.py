"""Density preserving maps with scikit-learn's face."""

from __future__ import annotations

from typing import Any

from sdpdr.estimators.kernel import KernelEmbedding
from sdpdr.graphs import NeighborGraph
from sdpdr.methods.density_map import Objective, Variant, density_map, kernel_sums
from sdpdr.model import Model
from sdpdr.program import Solution


class DensityMap(KernelEmbedding):
    r"""Density preserving map: a kernel whose sums over neighbours are those of the data.

    Solves `sdpdr.methods.density_map` with the densities of a Gaussian kernel on the graph, and
    embeds by the leading components of the kernel found, centred.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    bandwidth : float, optional
        h of the kernel :math:`\exp(-d / 2h^2)`, a plain length. Default: the root of the mean of
        the squared edge lengths.
    variant : {"unit", "trace"}, default "unit"
        Points on the unit sphere, or as close to the origin as the densities allow.
    spread : {"most", "least"}, default "most"
        Of the unit form: whether the variance is maximised or minimised.
    metric, angles, connect, extension, solver, form, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    density_ : array of shape (nodes,)
        The sums prescribed.
    embedding_, gram_, eigenvalues_, graph_, solution_, n_features_in_, feature_names_in_
        As of `sdpdr.MVU`; the eigenvalues are those of the centred kernel.

    Raises
    ------
    DataError, ModelError
        From `fit`, naming what is wrong.

    References
    ----------
    Vasiloglou thesis, section 6.5, in a form that has an answer; see the method's page.

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(40, seed=0)
    >>> found = sdpdr.DensityMap(n_neighbors=4).fit(X)
    >>> found.embedding_.shape, found.solution_.certified()
    ((40, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 6,
        bandwidth: float | None = None,
        variant: Variant = "unit",
        spread: Objective = "most",
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
        self.bandwidth = bandwidth
        self.variant = variant
        self.spread = spread
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
        return density_map(
            graph, bandwidth=self.bandwidth, variant=self.variant, spread=self.spread
        )

    def _keep(self, graph: NeighborGraph, solution: Solution) -> None:
        super()._keep(graph, solution)
        self.density_ = kernel_sums(graph, self.bandwidth)
