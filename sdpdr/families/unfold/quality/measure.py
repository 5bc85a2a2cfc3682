"""One function that measures any embedding, and one for several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

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
from sdpdr.graphs import NeighborGraph, knn
from sdpdr.graphs.space import Euclidean, make_space
from sdpdr.program.point import Value, spectrum_of

NEIGHBORS = 6
# Field, heading, and words of every measure, in the order in which they are shown.
MEASURES = (
    ("trustworthiness", "trust", "trustworthiness"),
    ("continuity", "contin.", "continuity"),
    ("edge_rms", "edges", "edge lengths, rms relative error"),
    ("edge_max", "worst", "edge lengths, worst relative error"),
    ("edge_rms_scaled", "scaled", "edge lengths, rms after the best scale"),
    ("procrustes", "truth", "distance from the truth, scaled"),
    ("procrustes_rigid", "rigid", "distance from the truth, rigid"),
    ("share", "share", "share of the trace"),
)
# Smaller numbers are rounding errors, and written as zero.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Quality:
    """How good an embedding is; prints as a table.

    Attributes
    ----------
    n, n_components, n_edges : int
        Points (distinct ones), columns of the embedding, edges of the graph.
    n_neighbors : int
        Of trustworthiness and continuity.
    trustworthiness, continuity : float or None
        In [0, 1], 1 is best. ``None`` if the graph does not know its points.
    edge_rms, edge_max : float
        Relative error of the PLAIN lengths of edges, 0 is best.
    edge_scale, edge_rms_scaled : float
        The factor on the embedding that makes the rms least, and the rms then.
    procrustes, procrustes_rigid : float or None
        Relative distance from the truth after alignment, with and without scaling; ``None``
        without a truth.
    share : float or None
        Part of the trace of the Gram matrix that the columns hold; ``None`` without a spectrum.
    sample : int or None
        Over how many points trustworthiness and continuity were taken, if not over all.
    seed : int
        Of that sample.
    """

    n: int
    n_components: int
    n_edges: int
    n_neighbors: int
    trustworthiness: float | None
    continuity: float | None
    edge_rms: float
    edge_max: float
    edge_scale: float
    edge_rms_scaled: float
    procrustes: float | None = None
    procrustes_rigid: float | None = None
    share: float | None = None
    sample: int | None = None
    seed: int = 0

    def record(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)

    def facts(self) -> dict[str, str]:
        """What was measured, in words, to how much."""
        return {
            words: written(getattr(self, name))
            for name, _, words in MEASURES
            if getattr(self, name) is not None
        }

    def __str__(self) -> str:
        facts = self.facts()
        width = max(map(len, facts))
        rows = [f"{words:<{width}}  {number:>9}" for words, number in facts.items()]
        return "\n".join([_headline(self), *rows])


@dataclass(frozen=True, eq=False)
class QualityTable:
    """Several embeddings of the same points side by side; prints as a table.

    Attributes
    ----------
    rows : mapping from name to Quality
    """

    rows: Mapping[str, Quality]

    def __getitem__(self, name: str) -> Quality:
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def record(self) -> dict[str, dict[str, Any]]:
        """All of it, ready for JSON."""
        return {name: row.record() for name, row in self.rows.items()}

    def __str__(self) -> str:
        measured = [
            (name, head)
            for name, head, _ in MEASURES
            if any(getattr(row, name) is not None for row in self.rows.values())
        ]
        width = max(len("embedding"), *map(len, self.rows))
        head = f"{'embedding':<{width}}" + "".join(f"{head:>10}" for _, head in measured)
        lines = [
            f"{label:<{width}}"
            + "".join(f"{written(getattr(row, name)):>10}" for name, _ in measured)
            for label, row in self.rows.items()
        ]
        return "\n".join([head, *lines, _headline(next(iter(self.rows.values())))])


def written(value: float | None) -> str:
    """Four decimals of ordinary numbers, powers of ten of others, a dash for none."""
    if value is None:
        return "–"
    if abs(value) > ROUNDING and not 1e-4 <= abs(value) < 1e4:
        return f"{value:.1e}"
    return f"{value:.4f}"


def _headline(quality: Quality) -> str:
    line = f"{quality.n} points, {quality.n_edges} edges, {quality.n_neighbors} neighbours"
    if quality.sample is None:
        return line
    return f"{line}; neighbours of {quality.sample} points drawn with seed {quality.seed}"


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
        **{f"edge_{name}": value for name, value in asdict(edges).items()},
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
    with catch_warnings():
        simplefilter("ignore")  # the search that follows warns of the same data again
        n = make_space(X, metric, squared=squared).n
    k = _neighbours(n_neighbors, n)
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
        rows = rows[graph.first_samples]
    return points_of(name, rows)


def _share(gram: Value | None, spectrum: ArrayLike | None, d: int) -> float | None:
    if gram is not None and spectrum is not None:
        raise DataError("gram and spectrum say the same thing: pass one of them.")
    if gram is not None:
        spectrum = spectrum_of(gram)[0]
    if spectrum is None:
        return None
    values = np.sort(np.maximum(np.asarray(spectrum, dtype=float).ravel(), 0.0))[::-1]
    total = float(values.sum())
    if not np.isfinite(total) or total <= 0.0:
        raise DataError("a spectrum needs finite eigenvalues, at least one of them positive.")
    return float(values[:d].sum() / total)
