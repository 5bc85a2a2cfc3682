"""How much of the data an embedding keeps: a sentence with a verdict and a next step."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sdpdr.base.arrays import Array
from sdpdr.base.rows import counted
from sdpdr.graphs import NeighborGraph
from sdpdr.program import Solution

# Shares of what is kept from which an embedding is good, and below which it is poor.
GOOD, POOR = 0.9, 0.5
# Share of the variance of axes on which nothing is seen: their spread is 3 % of that of the others.
_FLAT = 1e-3


def verdict(share: float) -> str:
    """A word for the share of something that an embedding keeps.

    Examples
    --------
    >>> verdict(0.95), verdict(0.7), verdict(0.42)
    ('good', 'fair', 'poor')
    """
    return "good" if share >= GOOD else "fair" if share >= POOR else "poor"


def variance_shown(eigenvalues: Array, n_components: int, what: str = "variance") -> str:
    """How much of the variance of a Gram matrix its first dimensions hold, in a sentence.

    Examples
    --------
    >>> variance_shown(np.array([6.0, 3.0, 1.0]), 2)
    '2 dimensions show 90% of the variance: good.'
    >>> variance_shown(np.array([6.0, 3.0, 1.0]), 1)
    '1 dimension shows 60% of the variance: fair. Take n_components=2, which shows 90%.'
    """
    shares = np.cumsum(eigenvalues) / np.sum(eigenvalues)
    shown = float(shares[min(n_components, len(shares)) - 1])
    show = "shows" if n_components == 1 else "show"
    said = f"{counted(n_components, 'dimension')} {show} {shown:.0%} of the {what}: "
    if shown >= GOOD:
        return f"{said}good."
    enough = int(np.argmax(shares >= GOOD))
    return (
        f"{said}{verdict(shown)}. Take n_components={enough + 1}, which shows {shares[enough]:.0%}."
    )


def flat(embedding: Array) -> str:
    """Say that points lie almost on fewer axes than they have coordinates; empty if they do not.

    Rows with nan have no position and are left out.

    Examples
    --------
    >>> flat(np.array([[-1.0, 0.0], [0.0, 0.01], [1.0, 0.0]]))
    '99.997% of the variance lies on one axis, so that a picture of the points is a line.'
    >>> flat(np.eye(3))
    '100.000% of the variance lies on 2 of 3 axes, so that the others show nothing.'
    """
    placed = embedding[np.isfinite(embedding).all(axis=1)].astype(float)
    squares = np.square(np.linalg.svd(placed - placed.mean(axis=0), compute_uv=False))
    if not squares.any():
        return ""
    shares = np.cumsum(squares) / np.sum(squares)
    needed, d = int(np.argmax(shares >= 1.0 - _FLAT)) + 1, embedding.shape[1]
    if needed == d:
        return ""
    where, so = f"{needed} of {d} axes", "the others show nothing"
    if needed == 1:
        where, so = "one axis", "a picture of the points is a line"
    return f"{shares[needed - 1]:.3%} of the variance lies on {where}, so that {so}."


class Reporting:
    """Mixin of embeddings that report how good they are, and whether that is proved optimal."""

    solution_: Solution
    embedding_: Array

    def report(self, *, details: bool = False) -> str:
        """Say how much of the data the embedding keeps, and whether it is proved optimal.

        Parameters
        ----------
        details : bool, default False
            Also report constraints, certificates, errors and seconds, see `sdpdr.Solution.report`.

        Returns
        -------
        str

        Examples
        --------
        >>> import sdpdr
        >>> X, _ = sdpdr.datasets.swiss_roll(40, seed=0)
        >>> print(sdpdr.MVU(n_neighbors=4).fit(X).report())
        2 dimensions keep ...% of the squared distances between neighbours...
        Optimisation: SOLVED: the maximum is ..., proved optimal to a relative gap of ...
        """
        check_is_fitted(self, "solution_")
        optimisation = self.solution_.report(details=True) if details else repr(self.solution_)
        said = f"{self._verdict()} {flat(self.embedding_)}".rstrip()
        return f"{said}\nOptimisation: {optimisation}"

    @abstractmethod
    def _verdict(self) -> str:
        """How much of the data the embedding keeps, with a next step where that is too little."""


@dataclass(frozen=True, eq=False)
class LengthsKept:
    """The share of the squared lengths of a graph's edges that an embedding keeps.

    ``shown`` is the share in its ``n_components`` dimensions, and ``by_dimension`` the share in
    the first dimensions of the whole unfolding: one, two, and so on to all.
    """

    n_components: int
    shown: float
    by_dimension: Array

    @property
    def in_all(self) -> float:
        """The share in all dimensions of the unfolding."""
        return float(self.by_dimension[-1])

    @property
    def is_unfolding_short(self) -> bool:
        """Whether more is lost in the unfolding than by leaving out dimensions."""
        return self.in_all - self.shown <= 1.0 - self.in_all

    @property
    def enough(self) -> int:
        """The fewest dimensions that are good, or next to all that the unfolding keeps."""
        wanted = GOOD if self.in_all >= GOOD else GOOD * self.in_all
        return int(np.argmax(self.by_dimension >= wanted)) + 1

    def __str__(self) -> str:
        keep = "keeps" if self.n_components == 1 else "keep"
        return (
            f"{counted(self.n_components, 'dimension')} {keep} {self.shown:.0%} of the squared "
            f"distances between neighbours: {verdict(self.shown)}."
        )

    def advice(self, has_ended: bool, isometry: object) -> str:
        """What to write to keep more of the lengths; empty if they are kept.

        Parameters
        ----------
        has_ended : bool
            Whether the program was solved to its end.
        isometry : object
            The relation of lengths for which it was solved.
        """
        if self.shown >= GOOD:
            return ""
        if self.is_unfolding_short and not has_ended:
            return "Let it end, with a larger `time_limit`."
        if self.is_unfolding_short:
            return (
                f"All dimensions of the unfolding keep {self.in_all:.0%}: its lengths shrank. "
                "With isometry='band:0.05' they do not, but then the variance is spread"
                " over more dimensions, and so few may keep less than now."
            )
        beside = "" if isometry == "inequality" else " as well"
        share = self.by_dimension[self.enough - 1]
        more = f"ake n_components={self.enough}{beside}, which keeps {share:.0%}."
        # The other dimensions hold most of a shape that was not yet unfolded.
        return f"T{more}" if has_ended else f"Let it end, with a larger `time_limit`, or t{more}"


def lengths_kept(graph: NeighborGraph, embedding: Array, unfolding: Array) -> LengthsKept:
    """Compare the lengths of edges in an embedding, and in all dimensions, with the data.

    Edges that ``connect`` added between components do not count.

    Parameters
    ----------
    graph : NeighborGraph
    embedding : array of shape (n, d)
        Coordinates of the nodes.
    unfolding : array of shape (n, r)
        Coordinates in all dimensions, on their principal axes.
    """
    # Edges between components are no neighbours, and may be longer than all others together.
    near = np.ones(graph.m, dtype=bool) if graph.joining.all() else ~graph.joining
    whole, (i, j) = float(graph.sqdist[near].sum()), graph.edges[near].T
    # Column by column, since differences along all edges at once may not fit into memory.
    squares = np.array([np.sum(np.square(axis[i] - axis[j])) for axis in unfolding.T])
    shown = float(np.sum(np.square(graph.lengths(embedding)[near]))) / whole
    return LengthsKept(embedding.shape[1], shown, np.cumsum(squares) / whole)
