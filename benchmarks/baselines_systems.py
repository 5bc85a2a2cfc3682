"""Rows of a baseline for the systems of the documents that are neither cards nor estimators.

``docs/guide/documents.rst`` lists them. Each row calls one public function on small fixed data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from baselines_digests import gram_spectrum, listed, numbers, spread
from baselines_programs import number, of_solution
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import NMF

import sdpdr
from sdpdr import (
    baselines,
    bilinear,
    datasets,
    density,
    extend,
    factorize,
    graphs,
    iterate,
    methods,
    metric,
    nonnegative,
    propagation,
    reduce,
)

Found = dict[str, Any]
Make = Callable[[], Found]

# As for estimators: closed forms leave rounding, programs the square root of their gap, and local
# searches may end elsewhere.
CLOSED, PROGRAM, SEARCH = 1e-6, 2e-3, 5e-2
COLUMNS = (
    "status", "sense", "value", "attained", "bound", "gap", "certified", "clock", "by", "tol",
)  # fmt: skip
SYSTEMS: dict[str, tuple[Make, float]] = {}


def _system(
    name: str, rtol: float = CLOSED
) -> Callable[[Callable[[], Found]], Callable[[], Found]]:
    """List a function under the name of what it calls."""

    def listing(make: Make) -> Make:
        SYSTEMS[name] = make, rtol
        return make

    return listing


def system_names() -> list[str]:
    """List the rows."""
    return list(SYSTEMS)


def system(name: str) -> dict[str, Any]:
    """Call the function of a row; what it finds are digests, but for columns of the row."""
    make, rtol = SYSTEMS[name]
    found = make()
    columns = (
        "status",
        "sense",
        "value",
        "attained",
        "bound",
        "gap",
        "certified",
        "clock",
        "by",
        "tol",
    )
    row = {key: found.pop(key) for key in columns if key in found}
    return {"status": "OK", **row, "digest": found, "rtol": rtol}


def _between(value: float | None, bound: float | None, sense: str = "min") -> Found:
    """Columns of a value that is attained and a bound that is proved."""
    return {
        "sense": sense, "value": number(value), "attained": number(value), "bound": number(bound)
    }  # fmt: skip


# -- data ------------------------------------------------------------------------------------------


def _curve(n: int = 60) -> Any:
    return datasets.s_curve(n)[0]


def _iris() -> tuple[Any, Any]:
    """Return the iris without repeated rows, which graphs would join."""
    X, y = load_iris(return_X_y=True)
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    return X[first], y[first]


def _apart(X: Any) -> Any:
    """Return the distances of points."""
    return np.linalg.norm(X[:, None] - X[None], axis=2)


def _digits(n: int = 90) -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    step = len(X) // n
    return X[::step][:n], y[::step][:n]


def _partly(y: Any) -> Any:
    return np.where(np.arange(len(y)) % 4 == 0, y, -1)


def _arc() -> tuple[Any, Any]:
    """Points of an arc with a few known places."""
    t = np.linspace(0.0, 3.0, 31)
    known = np.where(np.arange(31) % 10 == 0, t, np.nan)
    return graphs.knn(np.column_stack([np.cos(t), np.sin(t)]), 4), known


def _nonnegative() -> Any:
    return np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])


def _horn() -> Any:
    return np.asarray(nonnegative.horn_matrix())


# -- graphs ----------------------------------------------------------------------------------------


def _of_graph(graph: Any) -> Found:
    return {"edges": int(graph.m), "sqdist": numbers([graph.sqdist.sum(), graph.sqdist.max()])}


@_system("graphs.knn")
def _knn() -> Found:
    return _of_graph(graphs.knn(_curve(300), 6))


@_system("graphs.knn with angles")
def _angles() -> Found:
    return _of_graph(graphs.knn(_curve(100), 4, angles=True))


@_system("graphs.knn connected by a tree")
def _connected() -> Found:
    return _of_graph(graphs.knn(_iris()[0], 3, connect="mst"))


@_system("graphs.furthest_pairs")
def _furthest() -> Found:
    found = graphs.furthest_pairs(_curve(300))
    return {"edges": listed(found.edges), "multiplicity": int(np.sum(found.multiplicity))}


# -- embeddings without a program ------------------------------------------------------------------


def _embedded(name: str, *given: Any, **options: Any) -> Found:
    return {"embedding": spread(getattr(baselines, name)(*given, **options))}


for _name, _rtol, _options in (
    ("classical_mds", CLOSED, {}),
    ("isomap", CLOSED, {}),
    ("lle", CLOSED, {"n_neighbors": 8}),
    ("kernel_pca", CLOSED, {}),
    ("laplacian_eigenmaps", CLOSED, {}),
):
    _system(f"baselines.{_name}", _rtol)(
        lambda name=_name, options=_options: _embedded(name, _curve(100), **options)
    )


@_system("baselines.metric_mds", 1e-3)
def _metric_mds() -> Found:
    X = _curve()
    Y = baselines.metric_mds(X)
    return {"stress": number(baselines.stress(_apart(X), Y), 9), "embedding": spread(Y)}


@_system("baselines.nonmetric_mds", SEARCH)
def _nonmetric_mds() -> Found:
    X = _curve()
    Y = baselines.nonmetric_mds(X)
    return {"stress": number(baselines.kruskal_stress(_apart(X), Y), 9)}


@_system("baselines.sammon", 1e-3)
def _sammon() -> Found:
    X = _curve()
    Y = baselines.embed("sammon", X)
    return {"stress": number(baselines.spe_stress(_apart(X), Y), 9), "embedding": spread(Y)}


@_system("baselines.gplvm", SEARCH)
def _gplvm() -> Found:
    Y = baselines.embed("gplvm", _curve(25), 1)
    return {"embedding": spread(Y)}


@_system("baselines.spe", SEARCH)
def _spe() -> Found:
    X = np.random.default_rng(0).standard_normal((30, 2))
    return {"embedding": spread(baselines.embed("spe", X, cycles=200))}


@_system("baselines.ncmvu", 1e-3)
def _ncmvu() -> Found:
    found = baselines.ncmvu(graphs.knn(datasets.swiss_roll(40, seed=0)[0], 4), rank=3)
    return {"value": number(found.value), "sense": "max", "converged": bool(found.converged)}


# -- programs with drivers of their own ------------------------------------------------------------


@_system("density.minimum_ellipsoid", 1e-5)
def _ellipsoid() -> Found:
    found = density.minimum_ellipsoid(np.random.default_rng(0).standard_normal((40, 3)))
    return {"volume": number(found.volume, 9), "shape": gram_spectrum(found.shape)}


@_system("iterate.rank_constrained", PROGRAM)
def _rank() -> Found:
    found = iterate.rank_constrained(graphs.path([1.0] * 4), rank=1, share=0.95)
    held = bool(found.purified.held())
    return {"ended": found.status.name, "held": held, "embedding": spread(found.embedding_)}


@_system("iterate.minimum_volume", PROGRAM)
def _volume() -> Found:
    found = iterate.minimum_volume(graphs.cycle(6), rank=2)
    row = _between(found.objective, found.bound)
    return {**row, "ended": found.status.name}


@_system("iterate.solve_loocv", PROGRAM)
def _loocv() -> Found:
    found = iterate.solve_loocv(graphs.cycle(6), trace=60.0, tol=1e-5)
    return of_solution(found, 1e-5)


@_system("methods.fold", PROGRAM)
def _fold() -> Found:
    return of_solution(sdpdr.solve(methods.fold(graphs.cycle(8))), 1e-6)


@_system("methods.refine", PROGRAM)
def _refine() -> Found:
    graph = graphs.knn(_curve(40), 5)
    places = baselines.classical_mds(_curve(40))
    return {"embedding": spread(methods.refine(graph, places))}


@_system("landmark form", PROGRAM)
def _landmarks() -> Found:
    model = methods.mvu(graphs.knn(datasets.swiss_roll(60, seed=0)[0], 6))
    found = sdpdr.solve(model, form="landmark", landmarks=12, progress=False)
    return of_solution(found, 1e-6)


@_system("reduce.Landmark", PROGRAM)
def _landmark() -> Found:
    model = methods.mvu(graphs.path([1.0, 1.0, 1.0]))
    basis = np.array([[0.0], [1.0], [2.0], [3.0]])
    found = sdpdr.solve(model, via=[reduce.Landmark(basis)], progress=False)
    return of_solution(found, 1e-6)


# -- non-negative factors --------------------------------------------------------------------------


@_system("nmf_bound", PROGRAM)
def _nmf_bound() -> Found:
    X = _nonnegative()
    model = NMF(2, init="nndsvda", tol=1e-10, max_iter=10_000)
    W = model.fit_transform(X)
    found = sdpdr.nmf_bound(X, W, model.components_)
    return {
        "sense": "min", "bound": number(found.lower), "gap": number(found.gap, 3),
        "relative": numbers(found.relative),
        "eckart_young": number(found.parts["eckart_young"], 9),
    }  # fmt: skip


@_system("nonnegative.cone_search", 1e-2)
def _cone_search() -> Found:
    found = nonnegative.cone_search(_nonnegative(), 2, tol=0.02)
    return {**_between(found.upper, found.lower), "ended": found.status.name}


@_system("nonnegative.box_search", 5e-2)
def _box_search() -> Found:
    found = nonnegative.box_search([[1.0, 2.0], [3.0, 4.0]], 1, 1.0, 4.0, tol=0.05)
    return {**_between(found.upper, found.lower), "ended": found.status.name}


@_system("nonnegative.clipped_svd")
def _clipped() -> Found:
    X = np.random.default_rng(4).random((8, 6))
    W, H = nonnegative.clipped_svd(X, 3)
    return {"error": number(np.linalg.norm(X - W @ H), 9), "product": gram_spectrum(W @ H)}


@_system("nonnegative.isometric_factors", SEARCH)
def _isometric() -> Found:
    t = np.linspace(0.0, 1.0, 30)
    W = np.column_stack([1.0 + np.cos(3 * t), 1.0 + np.sin(3 * t), t])
    X = W @ np.random.default_rng(1).random((3, 8))
    found = nonnegative.isometric_factors(X, graphs.knn(X, 3), 3, tol=1e-3)
    return {"ended": found.status.name, "kept": bool(found.dist < 1e-3)}


@_system("nonnegative.symmetric_nmf", 1e-3)
def _symmetric() -> Found:
    A = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.0], [0.1, 0.0, 1.0]])
    return {"residual": number(sdpdr.CompletelyPositive(2).fit(A).residual_, 6)}


@_system("nonnegative.copositivity")
def _copositive() -> Found:
    found = nonnegative.copositivity(_horn())
    other = nonnegative.copositivity([[1.0, -2.0], [-2.0, 1.0]])
    return {
        "Horn's matrix": found.holds, "a matrix that is not": other.holds,
        "witness": other.witness is not None,
    }  # fmt: skip


@_system("factorize.completely_positive", SEARCH)
def _completely_positive() -> Found:
    B = np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]])
    found = factorize.completely_positive(B @ B.T, 3)
    refuted = factorize.completely_positive([[1.0, 2.0], [2.0, 1.0]])
    return {
        "ended": found.status.name, "exact": bool(found.residual < 1e-10),
        "refuted": refuted.status.name,
    }  # fmt: skip


@_system("factorize.completely_positive, not", SEARCH)
def _not_completely_positive() -> Found:
    # Doubly non-negative of order five, and not completely positive (Berman and Shaked-Monderer).
    A = np.array(
        [[1, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 1, 0], [0, 0, 1, 1, 1], [1, 0, 0, 1, 3]],
        dtype=float,
    )
    return {"ended": factorize.completely_positive(A).status.name}


@_system("factorize.nonnegative_rank_bound")
def _rank_bound() -> Found:
    found = factorize.nonnegative_rank_bound(
        [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]
    )
    return {"said": repr(found)}


@_system("factorize.nmf", PROGRAM)
def _nmf() -> Found:
    X, _ = datasets.random_nonnegative(5, 4, rank=2)
    found = factorize.nmf(X, 2)
    return {"ended": found.status.name, "exact": bool(found.error < 1e-8)}


@_system("factorize.mmmf", PROGRAM)
def _mmmf() -> Found:
    found = factorize.mmmf([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]], c=0.5)
    return {**_between(found.value, found.bound), "matrix": gram_spectrum(found.matrix)}


@_system("factorize.polynomial", PROGRAM)
def _polynomial() -> Found:
    t = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
    found = factorize.polynomial(t + t**2 / 2, [1.0, 0.5])
    return {
        "ended": found.status.name, "exact": bool(found.error < 1e-10),
        "product": gram_spectrum(found.W @ found.H),
    }  # fmt: skip


# -- graph embeddings and regressions --------------------------------------------------------------


def _pencils() -> dict[str, Callable[[], tuple[Any, Any]]]:
    """Pencils by name, each with the data that they are about."""
    X, y = _iris()
    digits, digit = _digits()

    def graph(points: Any, k: int = 6) -> Any:
        return graphs.knn(points, k, connect="mst")

    return {
        "class_pencil": lambda: (X, extend.class_pencil(y)),
        "semisupervised_pencil": lambda: (X, extend.semisupervised_pencil(graph(X), _partly(y))),
        "contrast_pencil": lambda: (X, extend.contrast_pencil(graph(X, 12), y)),
        "laplacian_pencil": lambda: (X, extend.laplacian_pencil(graph(X))),
        "reconstruction_pencil": lambda: (X, extend.reconstruction_pencil(graph(X))),
        "geodesic_pencil": lambda: (digits, extend.geodesic_pencil(graph(digits))),
        "class_pencil of digits": lambda: (digits, extend.class_pencil(digit)),
    }


def _pencil(name: str, direct: bool) -> Found:
    X, pencil = _pencils()[name]()
    # All responses of classes have the eigenvalue one: a part of them would be arbitrary.
    d = 9 if name == "class_pencil of digits" else 2
    if direct:
        found = extend.linear_embedding(X, pencil, d, gamma=0.1)
        return {"eigenvalues": numbers(found.eigenvalues), "mapped": spread(found(X))}
    # By regression: responses of the graph alone, then one ridge regression.
    found = extend.graph_embedding(pencil, d)
    fitted = extend.ridge(X, found.vectors, alpha=0.1)
    return {"eigenvalues": numbers(found.eigenvalues), "mapped": spread(X @ fitted.coef)}


for _name in (
    "class_pencil", "semisupervised_pencil", "contrast_pencil", "laplacian_pencil",
    "reconstruction_pencil", "geodesic_pencil", "class_pencil of digits",
):  # fmt: skip
    _system(f"extend.linear_embedding, {_name}")(partial(_pencil, _name, True))
    _system(f"extend.graph_embedding and ridge, {_name}")(partial(_pencil, _name, False))


@_system("extend.trace_ratio")
def _trace_ratio() -> Found:
    rng = np.random.default_rng(7)
    A, B = (M.T @ M for M in (rng.standard_normal((9, 5)), rng.standard_normal((9, 5))))
    found = extend.trace_ratio(A, B, 2)
    return _between(found.value, found.bound, "max")


@_system("extend.fit_kernel")
def _fit_kernel() -> Found:
    X, y = _digits()
    kernel = np.exp(-np.square(X[:, None] - X[None]).sum(axis=-1) / 2000.0)
    fitted = extend.fit_kernel(kernel, np.eye(10)[y])
    return {"fitted": gram_spectrum(fitted(kernel))}


@_system("extend.extended")
def _extended() -> Found:
    X, y = _digits()
    kernel = np.exp(-np.square(X[:, None] - X[None]).sum(axis=-1) / 2000.0)
    Y = np.eye(10)[y]
    part = extend.fit_kernel(kernel[:60, :60], Y[:60])
    fitted = extend.extended(part, kernel[:60, 60:], kernel[60:, 60:], Y)
    return {"fitted": gram_spectrum(fitted(kernel))}


@_system("extend.sparse_path")
def _sparse_path() -> Found:
    X, y = _iris()
    path = extend.sparse_path(X - X.mean(axis=0), y - y.mean(), ridge=0.1)
    return {"betas": numbers(path.betas), "at 5": numbers(path.at(5.0))}


@_system("extend.grid_laplacian")
def _grid_laplacian() -> Found:
    return {"spectrum": gram_spectrum(extend.grid_laplacian((4, 5)))}


@_system("extend.semisupervised_lle")
def _semisupervised_lle() -> Found:
    return {"places": numbers(extend.semisupervised_lle(*_arc())[:, 0])}


@_system("extend.semisupervised_isomap")
def _semisupervised_isomap() -> Found:
    return {"places": numbers(extend.semisupervised_isomap(*_arc())[:, 0])}


@_system("extend.basis_misfit")
def _basis_misfit() -> Found:
    z = np.linspace(0.0, 1.0, 30)
    waves = np.sin(np.outer([1.0, 2.0, 3.0], z))
    centers, widths = np.array([0.2, 0.6]), np.array([0.3, 0.4])
    value, by_center, by_width = extend.basis_misfit(waves, z, centers, widths, 1e-6)
    return {"misfit": number(value, 9), "slopes": numbers([*by_center, *by_width])}


@_system("extend.mixture_weights", 1e-4)
def _mixture() -> Found:
    kernel = np.random.default_rng(8).random((30, 5))
    found = extend.mixture_weights(kernel)
    return {**_between(found.value, found.bound, "max"), "weights": numbers(found.weights)}


@_system("extend.BagIndex")
def _bags() -> Found:
    rng = np.random.default_rng(0)
    bags = [rng.standard_normal((30, 2)) + 3.0 * k for k in range(5)]
    index = extend.BagIndex(50, seed=0).fit(bags)
    return {"order": listed(index.query(rng.standard_normal((10, 2)) + 6.0, 5)[0])}


@_system("extend.RelevanceFeedback", 2e-2)
def _feedback() -> Found:
    X, digit = _digits(300)
    relevant = digit[1:] == digit[0]
    search = extend.RelevanceFeedback().fit(X[1:]).ask(X[0])
    precision = [relevant[search.ranking_[:20]].mean()]
    while not search.is_over:
        shown = search.shown()
        search = search.label(shown, relevant[shown])
        precision.append(relevant[search.ranking_[:20]].mean())
    return {"precision": numbers(precision)}


# -- metrics, labels, stacks -----------------------------------------------------------------------


@_system("metric.closed_form")
def _closed_form() -> Found:
    rng = np.random.default_rng(9)
    C = rng.standard_normal((5, 5))
    values = [metric.closed_form(C + C.T, **given).value for given in ({}, {"cap": 0.5})]
    return {
        "values": numbers(values),
        "ridge": number(metric.closed_form(C + C.T, ridge=10.0).value, 9),
    }


@_system("metric.solve_xing", 1e-4)
def _xing() -> Found:
    X, y = _iris()
    found = metric.solve_xing(metric.pairs_from_labels(X[::3], y[::3]))
    return {**_between(found.value, found.bound), "metric": gram_spectrum(found.matrix)}


def _labelled() -> Any:
    """A mixed graph of the iris: neighbours are similar, a few pairs are not."""
    X, y = _iris()
    X, y = X[:100], y[:100]
    S = graphs.knn(X, 5, connect="mst").adjacency().toarray()
    apart = np.random.default_rng(0).permutation(100)[:20].reshape(-1, 2)
    for i, j in apart:
        if y[i] != y[j]:
            S[i, j] = S[j, i] = -1.0
    known = np.where(np.arange(100) % 10 == 0, np.where(y == 0, 1.0, -1.0), np.nan)
    return propagation.labelled_graph(S, known)


def _propagated(function: str) -> Found:
    found = getattr(propagation, function)(_labelled())
    return {"ended": found.status.name, "y": numbers(np.sort(np.abs(found.y))[::-1])}


for _name, _rtol in (
    ("eigen", CLOSED),
    ("alternating", 1e-3),
    ("harmonic", CLOSED),
    ("mixed_graph", CLOSED),
):
    _system(f"propagation.{_name}", _rtol)(partial(_propagated, _name))


@_system("bilinear.glram", 1e-4)
def _glram() -> Found:
    X = np.random.default_rng(0).standard_normal((4, 5, 4))
    return {"value": number(bilinear.glram(X, n_starts=10, max_iter=1000).value), "sense": "max"}


@_system("bilinear.two_d_svd")
def _two_d_svd() -> Found:
    X = np.random.default_rng(0).standard_normal((4, 5, 4))
    found = bilinear.two_d_svd(X)
    projected = np.einsum("ia,nij,jb->nab", found.rows, X - X.mean(axis=0), found.columns)
    return {"projected": gram_spectrum(projected.reshape(4, -1))}
