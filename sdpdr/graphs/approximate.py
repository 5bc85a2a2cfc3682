"""Approximate nearest neighbours, with the share of the true ones that were found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Index
from sdpdr.base.errors import DataError, PackageMissingError
from sdpdr.base.progress import Count
from sdpdr.graphs.search import BLOCK, Located, Neighbors, blocks, closest
from sdpdr.graphs.space import Euclidean, Space

# Share of the true neighbours at which the search stops looking into more cells.
WANTED = 0.99
# Points for which the true neighbours are found as well: half to tune, half to report.
SAMPLE = 1000
# Points from which the centre of each cell is learnt; fewer make the library warn.
PER_CELL = 39
# Candidates beyond those asked for, because the library compares in single precision.
SPARE = 4


def approximate_nearest(
    space: Space, k: int, seed: int = 0, count: Count | None = None
) -> tuple[Index, float]:
    """Nearest points among those in nearby cells.

    The points are divided into cells around some centres (k-means on a sample drawn with the
    seed), and for each point the cells with the nearest centres are searched. Their number is
    doubled until, on a sample searched exactly, at least 99 % of the true neighbours are found.
    The result depends on data and seed only, not on the number of threads.

    Parameters
    ----------
    space : Space
        Points with coordinates.
    k : int
    seed : int, default 0
    count : callable, optional
        Told how many points are done.

    Returns
    -------
    table : ndarray of shape (n, k)
        Nearest first, by exact lengths; of points equally far the smaller index first.
    recall : float
        Share of the true neighbours found, for points drawn at random that had no part in tuning.

    Raises
    ------
    DataError
        The space is a matrix of distances.
    PackageMissingError
        faiss is not installed.

    References
    ----------
    Johnson, Douze and Jégou, "Billion-scale similarity search with GPUs", IEEE Transactions on
    Big Data 7 (2021); Jégou, Douze and Schmid, "Product quantization for nearest neighbor
    search", IEEE TPAMI 33 (2011), for the inverted file.
    """
    if not isinstance(space, Euclidean):
        raise DataError(
            "algorithm='approximate' needs points that are dense; distances and sparse data are "
            "searched in full anyway. Leave algorithm out."
        )
    cells = _Cells(space, seed)
    drawn = np.random.default_rng(seed).permutation(space.n)[:SAMPLE]
    everyone = np.arange(space.n)
    exact = Neighbors(space, everyone, tree=False)
    truth = exact.table(drawn, k, others=True)
    tuning, reporting = np.arange(0, len(drawn), 2), np.arange(1, len(drawn), 2)
    while cells.probes < cells.number and (
        shared(cells.table(drawn[tuning], k, exact), truth[tuning]) < WANTED
    ):
        cells.probes = min(2 * cells.probes, cells.number)
    table = np.empty((space.n, k), dtype=np.int64)
    for part in blocks(everyone, max(1, BLOCK // (8 * (k + SPARE))), count):
        table[part] = cells.table(part, k, exact)
    return table, shared(table[drawn[reporting]], truth[reporting])


def shared(found: Index, truth: Index) -> float:
    """Share of the entries of the rows of one table that the same rows of the other have.

    Examples
    --------
    >>> shared(np.array([[1, 2], [3, 4]]), np.array([[2, 1], [4, 5]]))
    0.75
    """
    return float((found[:, :, None] == truth[:, None, :]).any(axis=1).mean())


class _Cells:
    """The library's inverted file, and exact lengths for what it finds."""

    def __init__(self, coordinates: Located, seed: int) -> None:
        faiss = _library()
        self._coordinates = coordinates
        points = coordinates.centered
        n, features = points.shape
        # Squares of single-precision numbers overflow early.
        self._scale = max(points.max(), -points.min())
        self.number = max(1, min(int(2.0 * np.sqrt(n)), n // PER_CELL))
        self._index: Any = faiss.IndexIVFFlat(faiss.IndexFlatL2(features), features, self.number)
        self._index.cp.seed = seed
        drawn = np.random.default_rng(seed).permutation(n)[: 2 * PER_CELL * self.number]
        self._index.train(self._single(np.sort(drawn)))
        for part in blocks(np.arange(n), max(1, BLOCK // features)):
            self._index.add(self._single(part))
        self.probes = 1

    def table(self, rows: Index, k: int, exact: Neighbors) -> Index:
        """The k nearest others found for some of the points; all, where too few are found."""
        self._index.nprobe = self.probes
        width = min(k + 1 + SPARE, self._index.ntotal)
        _, found = self._index.search(self._single(rows), width)
        found = np.sort(found.astype(np.int64), axis=1)
        missing = (found < 0) | (found == rows[:, None])
        short = missing.sum(axis=1) > width - k
        # A point is never its own neighbour, so its own number marks places to pass over.
        found = np.where(missing, rows[:, None], found)
        table, _ = closest(self._coordinates, rows, np.sort(found, axis=1), k, others=True)
        if short.any():
            table[short] = exact.table(rows[short], k, others=True)
        return table

    def _single(self, rows: Index) -> NDArray[np.float32]:
        return (self._coordinates.centered[rows] / self._scale).astype(np.float32)


def _library() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise PackageMissingError(
            "algorithm='approximate' needs the package faiss: pip install 'sdpdr[approximate]'. "
            "The exact search, algorithm='auto', needs nothing more."
        ) from error
    return faiss
