"""Baselines by name, most of them from scikit-learn, on the graph that our methods use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.decomposition import KernelPCA
from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, DataTypeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.limits import QUICK
from sdpdr.families.unfold.baselines.gplvm import GPLVM
from sdpdr.families.unfold.baselines.stress import SPE, Sammon, metric_mds, nonmetric_mds
from sdpdr.families.unfold.completion import classically_scaled
from sdpdr.graphs import NeighborGraph, geodesics, knn
from sdpdr.graphs.data import make_space
from sdpdr.graphs.points import Points
from sdpdr.graphs.space import Space
from sdpdr.linalg.spectral import fix_signs
from sdpdr.linalg.walks import short_indices

KERNELS = ("rbf", "linear", "poly", "sigmoid", "cosine")


@checks_keywords
def classical_mds(X: Any, n_components: int = 2, *, metric: str = "euclidean") -> Array:
    r"""Classical scaling: leading eigenvectors of :math:`-\tfrac12 P D P`, columns centred.

    D holds the squared distances of all pairs and P centres; for points this is principal component
    analysis [Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952].

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    n_components : int, default 2
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds PLAIN distances.

    Examples
    --------
    >>> from sdpdr.baselines import classical_mds
    >>> classical_mds([[0.0], [1.0], [5.0]], 1).round(6)
    array([[-2.],
           [-1.],
           [ 3.]])
    """
    space = make_space(X, metric)
    _check_components(n_components, space.n)
    return classically_scaled(np.sqrt(space.sqdist_to_all()), n_components)


@checks_keywords
def isomap(
    X: Any, n_components: int = 2, *, n_neighbors: int = 6, metric: str = "euclidean"
) -> Array:
    """Isomap: classical scaling of the lengths of shortest paths.

    As ``sklearn.manifold.Isomap``, but a disconnected graph raises a `DisconnectedGraphError`. It
    is exact for densely sampled convex pieces of a plane; holes are stretched [Tenenbaum, de Silva
    and Langford, Science 290, 2000].

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
        Precomputed distances may be a sparse graph, or partly unknown.
    n_components, metric
        As for `classical_mds`.
    n_neighbors : int, default 6

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.baselines import isomap
    >>> from sdpdr import datasets
    >>> X, angle = datasets.spiral(80)
    >>> along = isomap(X, 1, n_neighbors=2)[:, 0]
    >>> bool(abs(np.corrcoef(along, angle**2)[0, 1]) > 0.99)
    True
    """
    graph, _ = _graph(X, n_components, n_neighbors, metric)
    return graph.of_samples(classically_scaled(geodesics(graph), n_components))


@checks_keywords
def lle(X: ArrayLike, n_components: int = 2, *, n_neighbors: int = 6) -> Array:
    """Locally linear embedding: points are the same weighted means of neighbours as in the data.

    ``sklearn.manifold.LocallyLinearEmbedding``, whose columns are orthonormal [Roweis and Saul,
    Science 290, 2000].

    Parameters
    ----------
    X : array_like of shape (n, D)
    n_components, n_neighbors
        As for `isomap`.

    Examples
    --------
    >>> from sdpdr.baselines import lle
    >>> from sdpdr import datasets
    >>> Y = lle(datasets.s_curve(200)[0], n_neighbors=8)
    >>> (Y.T @ Y).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    graph, space = _graph(X, n_components, n_neighbors, "euclidean")
    embedding = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        # The wanted eigenvalues are tiny beside the others, so an iteration often gives up.
        eigen_solver="dense" if space.n <= QUICK else "auto",
        random_state=0,
    )
    return graph.of_samples(_fitted("LLE", embedding, _points(space)))


@checks_keywords
def laplacian_eigenmaps(
    X: ArrayLike,
    n_components: int = 2,
    *,
    n_neighbors: int = 6,
    metric: str = "euclidean",
) -> Array:
    """Laplacian eigenmaps: the lowest eigenvectors of the graph of `sdpdr.graphs.knn`.

    ``sklearn.manifold.SpectralEmbedding``; the unit is arbitrary [Belkin and Niyogi, Neural
    Computation 15, 2003].

    Parameters
    ----------
    X, n_components, n_neighbors, metric
        As for `isomap`.

    Examples
    --------
    >>> from sdpdr.baselines import laplacian_eigenmaps
    >>> from sdpdr import datasets
    >>> laplacian_eigenmaps(datasets.s_curve(100)[0]).shape
    (100, 2)
    """
    graph, _ = _graph(X, n_components, n_neighbors, metric)
    near = short_indices(graph.adjacency())  # scikit-learn takes indices of 32 bits only
    embedding = SpectralEmbedding(n_components, affinity="precomputed", random_state=0)
    return graph.of_samples(_fitted("Laplacian eigenmaps", embedding, near))


@checks_keywords
def kernel_pca(
    X: ArrayLike,
    n_components: int = 2,
    *,
    kernel: str = "rbf",
    gamma: float | None = None,
    metric: str = "euclidean",
) -> Array:
    r"""Principal component analysis with a fixed kernel, ``sklearn``'s `KernelPCA`.

    Maximum Variance Unfolding *learns* the kernel; this is the result of a fixed one [Schölkopf,
    Smola and Müller, Neural Computation 10, 1998].

    Parameters
    ----------
    X, n_components, metric
        As for `classical_mds`; distances need ``kernel="rbf"``.
    kernel : {"rbf", "linear", "poly", "sigmoid", "cosine"}, default "rbf"
        The first is :math:`e^{-\gamma |x - x'|^2}`.
    gamma : float, optional
        By default 1 / (2 median of the squared distances) for ``"rbf"``, and scikit-learn's own
        1 / D for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.baselines import classical_mds, kernel_pca
    >>> from sdpdr import datasets
    >>> X, _ = datasets.gaussian(50, 3)
    >>> bool(np.allclose(kernel_pca(X, kernel="linear"), classical_mds(X)))
    True
    """
    validate.choice("kernel", kernel, KERNELS)
    if gamma is not None:
        gamma = validate.positive_number("gamma", gamma)
    space = make_space(X, metric)
    _check_components(n_components, space.n)
    if kernel == "rbf":
        sqdist = space.sqdist_to_all()
        if gamma is None:
            gamma = 0.5 / float(np.median(sqdist[np.triu_indices(space.n, 1)]))
        kernel, data = "precomputed", np.exp(-gamma * sqdist)
    elif metric == "precomputed":
        raise DataError(f"kernel={kernel!r} needs points, not distances; 'rbf' takes both.")
    else:
        data = _points(space)
    analysis = KernelPCA(n_components, kernel=kernel, gamma=gamma, random_state=0)
    return _fitted("kernel PCA", analysis, data)


def _check_components(n_components: object, n: int) -> None:
    """Raise an error unless the number of components is between 1 and n - 1."""
    why = f"of {n} distinct points"
    validate.positive_integer("n_components", n_components, at_most=n - 1, why=why)


def _graph(X: Any, n_components: int, n_neighbors: int, metric: str) -> tuple[NeighborGraph, Space]:
    """The connected graph of our methods and its points, with duplicates merged."""
    graph = knn(X, n_neighbors, metric=metric)
    _check_components(n_components, graph.n)
    space = graph.provenance.space
    assert space is not None
    return graph, space


def _fitted(name: str, estimator: Any, data: Any) -> Array:
    """The embedding by an estimator of scikit-learn, with fixed signs."""
    try:
        found = np.asarray(estimator.fit_transform(data), dtype=float)
    except ValueError as error:
        raise DataError(f"scikit-learn cannot compute {name}: {error}") from error
    return fix_signs(found)


def _points(space: Space) -> Array:
    """The dense coordinates of the points."""
    if not isinstance(space, Points) or space.is_sparse:
        raise DataTypeError(
            "X is sparse, and this method takes coordinates of dense points. Reduce X first, with "
            "sklearn.decomposition.TruncatedSVD."
        )
    return space.X


# -- the table -------------------------------------------------------------------------------------


BASELINES: Mapping[str, Callable[..., Any]] = {
    "classical_mds": classical_mds,
    "isomap": isomap,
    "lle": lle,
    "laplacian_eigenmaps": laplacian_eigenmaps,
    "kernel_pca": kernel_pca,
    "spe": SPE,
    "metric_mds": metric_mds,
    "nonmetric_mds": nonmetric_mds,
    "sammon": Sammon,
    "gplvm": GPLVM,
}


def names() -> tuple[str, ...]:
    """Names that `embed` accepts.

    Examples
    --------
    >>> from sdpdr.baselines import names
    >>> "isomap" in names()
    True
    """
    return tuple(BASELINES)


def embed(
    name: str,
    X: ArrayLike,
    n_components: int = 2,
    *,
    n_neighbors: int = 6,
    seed: int = 0,
    **options: Any,
) -> Array:
    """Embed by a method's name; shape (n, n_components).

    Parameters
    ----------
    name : str
        One of `names`; an `UnknownNameError` offers the nearest name.
    X : array_like of shape (n, D)
    n_components : int, default 2
    n_neighbors, seed : int
        Passed to the methods that have them, the latter as ``random_state``.
    **options
        Further options of that method.

    Examples
    --------
    >>> from sdpdr.baselines import embed
    >>> from sdpdr import datasets
    >>> X, _ = datasets.s_curve(60)
    >>> {name: embed(name, X).shape for name in ("isomap", "lle")}
    {'isomap': (60, 2), 'lle': (60, 2)}
    """
    validate.choice("baseline", name, BASELINES)
    method = BASELINES[name]
    known = signature(method).parameters
    shared = {"n_neighbors": n_neighbors, "random_state": seed}
    options |= {name: value for name, value in shared.items() if name in known}
    if isinstance(method, type):
        return np.asarray(method(n_components, **options).fit(X).embedding_)
    return np.asarray(method(X, n_components, **options))
