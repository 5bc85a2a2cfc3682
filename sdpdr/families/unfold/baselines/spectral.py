"""Spectral embeddings of scikit-learn, on the graph of our methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.decomposition import KernelPCA
from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, DataTypeError
from sdpdr.families.unfold.completion import classically_scaled
from sdpdr.graphs import NeighborGraph, edge_weights, geodesics, knn
from sdpdr.graphs.space import Euclidean, Space, Sparse, make_space
from sdpdr.linalg.spectral import fix_signs
from sdpdr.linalg.walks import short_indices

VARIANTS = ("standard", "modified", "hessian", "ltsa")
KERNELS = ("rbf", "linear", "poly", "sigmoid", "cosine")
# Up to this many points LLE's eigenvectors are found by a dense method: the wanted eigenvalues are
# tiny beside the others, so an iteration often gives up.
DENSE = 1500


def classical_mds(X: Any, n_components: int = 2, *, metric: str = "euclidean") -> Array:
    r"""Classical multidimensional scaling: leading eigenvectors of :math:`-\tfrac12 P D P`.

    D holds the squared distances of all pairs and P centres. For points this is principal component
    analysis. It keeps large distances, along the manifold or across it.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    n_components : int, default 2
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds PLAIN distances.

    Returns
    -------
    ndarray of shape (n, n_components)
        Centred; the largest entry of each column is positive.

    Raises
    ------
    DataError
        X cannot be used, or there are too many components.

    References
    ----------
    Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17 (1952).

    Examples
    --------
    >>> classical_mds([[0.0], [1.0], [5.0]], 1).round(6)
    array([[-2.],
           [-1.],
           [ 3.]])
    """
    space = make_space(X, metric)
    _check_components(n_components, space.n)
    return classically_scaled(np.sqrt(space.sqdist_to_all()), n_components)


def isomap(
    X: Any,
    n_components: int = 2,
    *,
    n_neighbors: int = 6,
    metric: str = "euclidean",
    connect: str = "error",
) -> Array:
    """Isomap: classical scaling of the lengths of shortest paths.

    Exact for convex pieces of a plane, densely sampled; holes are stretched. As of
    ``sklearn.manifold.Isomap``, but for graphs that fall into parts.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
        Precomputed distances may be a sparse graph, or partly unknown.
    n_components, metric
        As for `classical_mds`.
    n_neighbors : int, default 6
    connect : {"error", "largest"}, default "error"
        What to do about a disconnected graph, as for `sdpdr.graphs.knn`; with ``"largest"`` the
        rows of points left out are NaN. (scikit-learn would join the parts by guesses.)

    Returns
    -------
    ndarray of shape (n, n_components)

    Raises
    ------
    DataError
        X cannot be used, or there are too many neighbours or components.
    DisconnectedGraphError

    References
    ----------
    Tenenbaum, de Silva and Langford, "A global geometric framework for nonlinear dimensionality
    reduction", Science 290 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import datasets
    >>> X, angle = datasets.spiral(80)
    >>> along = isomap(X, 1, n_neighbors=2)[:, 0]
    >>> bool(abs(np.corrcoef(along, angle**2)[0, 1]) > 0.99)
    True
    """
    graph, _ = _graph(X, n_components, n_neighbors, metric, connect)
    return graph.of_samples(classically_scaled(geodesics(graph), n_components))


def lle(
    X: ArrayLike,
    n_components: int = 2,
    *,
    n_neighbors: int = 6,
    variant: str = "standard",
    connect: str = "error",
    seed: int = 0,
) -> Array:
    """Locally linear embedding: each point the same mean of its neighbours as in the data.

    The unit is arbitrary: columns are orthonormal.

    Parameters
    ----------
    X : array_like of shape (n, D)
    n_components, n_neighbors, connect
        As for `isomap`.
    variant : {"standard", "modified", "hessian", "ltsa"}, default "standard"
        scikit-learn's ``method``; the last is local tangent space alignment.
    seed : int, default 0
        Of the start of the eigenvalue iteration.

    Returns
    -------
    ndarray of shape (n, n_components)

    Raises
    ------
    DataError
        X cannot be used, or there are too many neighbours or components, or too few neighbours for
        the variant.
    DisconnectedGraphError
    UnknownNameError
        For another variant.

    References
    ----------
    Roweis and Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290
    (2000); Donoho and Grimes, "Hessian eigenmaps", PNAS 100 (2003); Zhang and Zha, "Principal
    manifolds and nonlinear dimensionality reduction via tangent space alignment", SIAM Journal on
    Scientific Computing 26 (2004); Zhang and Wang, "MLLE: modified locally linear embedding using
    multiple weights", NIPS 19 (2006).

    Examples
    --------
    >>> from sdpdr import datasets
    >>> Y = lle(datasets.s_curve(200)[0], n_neighbors=8)
    >>> (Y.T @ Y).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    validate.choice("variant", variant, VARIANTS)
    graph, space = _graph(X, n_components, n_neighbors, "euclidean", connect)
    embedding = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        method=variant,
        eigen_solver="dense" if space.n <= DENSE else "auto",
        random_state=seed,
    )
    return graph.of_samples(_fitted("LLE", embedding, _points(space)))


def laplacian_eigenmaps(
    X: ArrayLike,
    n_components: int = 2,
    *,
    n_neighbors: int = 6,
    metric: str = "euclidean",
    weights: str = "binary",
    bandwidth: float | None = None,
    connect: str = "error",
    seed: int = 0,
) -> Array:
    """Laplacian eigenmaps: the slowest vibrations of the graph.

    The graph is exactly that of `sdpdr.graphs.knn`. The unit is arbitrary.

    Parameters
    ----------
    X, n_components, n_neighbors, metric, connect
        As for `isomap`.
    weights : {"binary", "heat", "cosine"}, default "binary"
    bandwidth : float, optional
        Of the edges, as for `sdpdr.graphs.edge_weights`.
    seed : int, default 0
        Of the start of the eigenvalue iteration.

    Returns
    -------
    ndarray of shape (n, n_components)

    Raises
    ------
    DataError
        X cannot be used, or there are too many neighbours or components.
    DisconnectedGraphError

    References
    ----------
    Belkin and Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation",
    Neural Computation 15 (2003).

    Examples
    --------
    >>> from sdpdr import datasets
    >>> laplacian_eigenmaps(datasets.s_curve(100)[0]).shape
    (100, 2)
    """
    graph, _ = _graph(X, n_components, n_neighbors, metric, connect)
    # scikit-learn takes indices of 32 bits only.
    near = short_indices(graph.adjacency(edge_weights(graph, weights, bandwidth)))
    embedding = SpectralEmbedding(n_components, affinity="precomputed", random_state=seed)
    return graph.of_samples(_fitted("Laplacian eigenmaps", embedding, near))


def kernel_pca(
    X: ArrayLike,
    n_components: int = 2,
    *,
    kernel: str = "rbf",
    gamma: float | None = None,
    metric: str = "euclidean",
    seed: int = 0,
) -> Array:
    r"""Kernel principal component analysis, with a kernel given in advance.

    Methods such as Maximum Variance Unfolding *learn* the kernel; this is what a fixed one does.

    Parameters
    ----------
    X, n_components, metric
        As for `classical_mds`; distances need ``kernel="rbf"``.
    kernel : {"rbf", "linear", "poly", "sigmoid", "cosine"}, default "rbf"
        The first is :math:`e^{-\gamma |x - x'|^2}`.
    gamma : float, optional
        By default 1 / (2 median of the squared distances) for ``"rbf"``, and scikit-learn's own
        1 / D for the others.
    seed : int, default 0
        Of the start of the eigenvalue iteration.

    Returns
    -------
    ndarray of shape (n, n_components)

    Raises
    ------
    DataError
        X cannot be used, or there are too many components.
    UnknownNameError
        For another kernel.

    References
    ----------
    Schölkopf, Smola and Müller, "Nonlinear component analysis as a kernel eigenvalue problem",
    Neural Computation 10 (1998).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import datasets
    >>> X, _ = datasets.gaussian(50, 3)
    >>> linear = kernel_pca(X, kernel="linear")
    >>> bool(np.allclose(linear, classical_mds(X)))
    True
    """
    validate.choice("kernel", kernel, KERNELS)
    if gamma is not None:
        gamma = validate.positive_number("gamma", gamma)
    space = make_space(X, metric)
    _check_components(n_components, space.n)
    if kernel != "rbf":
        if metric == "precomputed":
            raise DataError(f"kernel={kernel!r} needs points, not distances; 'rbf' takes both.")
        analysis = KernelPCA(n_components, kernel=kernel, gamma=gamma, random_state=seed)
        return _fitted("kernel PCA", analysis, _points(space))
    sqdist = space.sqdist_to_all()
    if gamma is None:
        gamma = 0.5 / float(np.median(sqdist[np.triu_indices(space.n, 1)]))
    analysis = KernelPCA(n_components, kernel="precomputed", random_state=seed)
    return _fitted("kernel PCA", analysis, np.exp(-gamma * sqdist))


def _check_components(n_components: object, n: int) -> None:
    why = f"of {n} distinct points"
    validate.positive_integer("n_components", n_components, at_most=n - 1, why=why)


def _graph(
    X: Any, n_components: int, n_neighbors: int, metric: str, connect: str
) -> tuple[NeighborGraph, Space]:
    """The graph of our methods and its points: duplicates merged, in one part."""
    validate.choice("connect", connect, ("error", "largest"))
    graph = knn(X, n_neighbors, metric=metric, connect=connect)
    _check_components(n_components, graph.n)
    space = graph.provenance.space
    assert space is not None
    return graph, space


def _fitted(name: str, estimator: Any, data: Any) -> Array:
    try:
        found = np.asarray(estimator.fit_transform(data), dtype=float)
    except ValueError as error:
        raise DataError(f"scikit-learn cannot compute {name}: {error}") from error
    return fix_signs(found)


def _points(space: Space) -> Array:
    if isinstance(space, Sparse):
        raise DataTypeError(
            "X is sparse, and this method takes coordinates of dense points. Reduce X first, with "
            "sklearn.decomposition.TruncatedSVD."
        )
    assert isinstance(space, Euclidean)
    return space.X
