"""One function that measures any embedding, and one for several side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.unfold.quality.lengths import edge_errors, procrustes
from sdpdr.families.unfold.quality.neighbourhoods import (
    SAMPLE,
    checked_k,
    drawn,
    kept_neighbours,
    points_of,
)
from sdpdr.families.unfold.quality.record import Quality, QualityTable
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.graphs.space import Euclidean, make_space
from sdpdr.linalg.spectral import factor_spectrum, gram_spectrum
from sdpdr.program.point import Factor, Value

NEIGHBORS = 6


def quality(
    X: ArrayLike | NeighborGraph,
    embedding: ArrayLike,
    *,
    truth: ArrayLike | None = None,
    gram: Value | None = None,
    spectrum: ArrayLike | None = None,
    n_neighbors: int | None = None,
    metric: str = "euclidean",
    squared: bool = False,
    sample: int = SAMPLE,
    seed: int = 0,
) -> Quality:
    r"""Measure how good an embedding is, whatever method it comes from.

    - *Neighbourhoods*: trustworthiness (no strangers come near) and continuity (no neighbours are
      lost), see ``trustworthiness``. They see ranks alone, so no unit matters.
    - *Lengths*: relative error of the lengths of edges, see ``edge_errors``, at the
      embedding's own unit and after the best common factor, for methods that fix no unit.
    - *Truth*, where known: Procrustes distance, see ``procrustes``.
    - *Share* of the trace of the Gram matrix that the columns hold.

    Parameters
    ----------
    X : NeighborGraph, or array_like of shape (n, D), or (n, n) for precomputed distances
        Of data, the graph of ``n_neighbors`` is made for the lengths, connected or not.
    embedding : array_like of shape (n, d)
        A row for each point; of a graph, for each node or for each sample it was made from.
    truth : array_like of shape (n, q), optional
        Coordinates that the embedding should have, up to a motion.
    gram : array of shape (n, n) or Factor, optional
        The Gram matrix that the embedding is read off, for the share.
    spectrum : array_like of shape (r,), optional
        Its eigenvalues instead, ``solution.spectrum()``.
    n_neighbors : int, optional
        k, less than n/2; by default 6, or fewer for fewer than 13 points.
    metric, squared
        As for `sdpdr.graphs.knn`.
    sample : int, default 2000
        Of more points than this, so many are drawn for the measures of neighbourhoods. The result
        says so.
    seed : int, default 0
        Of the draw.

    Returns
    -------
    Quality

    Raises
    ------
    DataError, ShapeError
        What is given cannot be used or does not fit together.

    Notes
    -----
    ``sdpdr.quality`` is this function; the single measures come with
    ``from sdpdr.quality import trustworthiness, procrustes, align``.

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.swiss_roll(100, seed=0)
    >>> unfolding = sdpdr.MVU(n_neighbors=4).fit(X)
    >>> print(quality(X, unfolding.embedding_, spectrum=unfolding.eigenvalues_, n_neighbors=4))
    100 points, 249 edges, 4 neighbours
    trustworthiness                            0.9291
    continuity                                 0.9880
    edge lengths, rms relative error           0.2636
    edge lengths, worst relative error         0.8923
    edge lengths, rms after the best scale     0.2482
    share of the trace                         0.9738
    """
    graph = _graph(X, n_neighbors, metric, squared)
    k = _neighbours(n_neighbors, graph.n)
    Y = _on_nodes("the embedding", embedding, graph)
    rows = drawn(graph.n, sample, seed)
    space = graph.provenance.space
    trusted = continued = None
    if space is not None:
        trusted = kept_neighbours(space, Euclidean(Y), k, rows)
        continued = kept_neighbours(Euclidean(Y), space, k, rows)
    edges = edge_errors(graph, Y)
    known = None if truth is None else _on_nodes("truth", truth, graph)
    return Quality(
        n=graph.n,
        n_components=Y.shape[1],
        n_edges=graph.m,
        n_neighbors=k,
        trustworthiness=trusted,
        continuity=continued,
        edge_rms=edges.rms,
        edge_max=edges.max,
        edge_scale=edges.scale,
        edge_rms_scaled=edges.rms_scaled,
        procrustes=None if known is None else procrustes(known, Y),
        procrustes_rigid=None if known is None else procrustes(known, Y, scaling=False),
        share=_share(gram, spectrum, Y.shape[1]),
        sample=None if space is None or len(rows) == graph.n else len(rows),
        seed=seed,
    )


def quality_table(
    X: ArrayLike | NeighborGraph,
    embeddings: Mapping[str, ArrayLike],
    *,
    truth: ArrayLike | None = None,
    spectra: Mapping[str, ArrayLike] | None = None,
    n_neighbors: int | None = None,
    metric: str = "euclidean",
    squared: bool = False,
    sample: int = SAMPLE,
    seed: int = 0,
) -> QualityTable:
    """Measure several embeddings of the same points.

    Parameters
    ----------
    X, truth, n_neighbors, metric, squared, sample, seed
        As for `quality`.
    embeddings : mapping from name to array_like of shape (n, d)
    spectra : mapping from name to array_like, optional
        Eigenvalues, of those embeddings that have any.

    Returns
    -------
    QualityTable

    Raises
    ------
    DataError, ShapeError
        As for `quality`; or there is no embedding, or a spectrum of none.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> print(quality_table(X, {"itself": X, "doubled": 2 * X, "first axis": X[:, :1]}, truth=X))
    embedding      trust   contin.     edges     worst    scaled     truth     rigid
    itself        1.0000    1.0000    0.0000    0.0000    0.0000    0.0000    0.0000
    doubled       1.0000    1.0000    1.0000    1.0000    0.0000    0.0000    1.0000
    first axis    0.8341    0.9084    0.4789    0.9873    0.4395    0.5665    0.5700
    30 points, 120 edges, 6 neighbours
    """
    if not embeddings:
        raise DataError("there is no embedding to measure: pass a mapping from names to arrays.")
    spectra = spectra or {}
    strange = sorted(set(spectra) - set(embeddings))
    if strange:
        raise DataError(f"spectra are of {', '.join(strange)}, which are no embeddings given.")
    graph = _graph(X, n_neighbors, metric, squared)
    rows = {
        name: quality(
            graph,
            Y,
            truth=truth,
            spectrum=spectra.get(name),
            n_neighbors=_neighbours(n_neighbors, graph.n),
            sample=sample,
            seed=seed,
        )
        for name, Y in embeddings.items()
    }
    return QualityTable(rows)


def _neighbours(n_neighbors: int | None, n: int) -> int:
    return checked_k(
        max(1, min(NEIGHBORS, (n - 1) // 2)) if n_neighbors is None else n_neighbors, n
    )


def _graph(
    X: ArrayLike | NeighborGraph, n_neighbors: int | None, metric: str, squared: bool
) -> NeighborGraph:
    if isinstance(X, NeighborGraph):
        return X
    k = _neighbours(n_neighbors, make_space(X, metric, squared=squared).n)
    return knn(X, k, metric=metric, squared=squared, connect="none")


def _on_nodes(name: str, values: ArrayLike, graph: NeighborGraph) -> Array:
    """A row for each node, from a row for each node or for each sample."""
    rows = np.asarray(values, dtype=float)
    if rows.ndim == 2 and len(rows) not in (graph.n, graph.index.size):
        samples = "" if graph.index.size == graph.n else f" made from {graph.index.size} samples"
        raise ShapeError(
            f"{name} has {len(rows)} rows but there are {graph.n} points{samples}: pass one each."
        )
    if rows.ndim == 2 and len(rows) != graph.n:
        placed = np.flatnonzero(graph.index >= 0)
        _, first = np.unique(graph.index[placed], return_index=True)
        rows = rows[placed[first]]
    return points_of(name, rows)


def _share(gram: Value | None, spectrum: ArrayLike | None, d: int) -> float | None:
    if gram is not None and spectrum is not None:
        raise DataError("gram and spectrum say the same thing: pass one of them.")
    if gram is not None:
        found = factor_spectrum(gram.factor) if isinstance(gram, Factor) else gram_spectrum(gram)
        spectrum = found[0]
    if spectrum is None:
        return None
    values = np.sort(np.maximum(np.asarray(spectrum, dtype=float).ravel(), 0.0))[::-1]
    total = float(values.sum())
    if not np.isfinite(total) or total <= 0.0:
        raise DataError("a spectrum needs finite eigenvalues, at least one of them positive.")
    return float(values[:d].sum() / total)
