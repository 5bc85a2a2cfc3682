"""Everyday programs: cuts of random graphs, clusters, unfoldings in a basis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp

from sdpdr import graphs
from sdpdr.base.arrays import Array
from sdpdr.families import methods
from sdpdr.lab.library.lies.truth import Lie, Truth
from sdpdr.linalg import Diagonal, InnerProduct, Products, Trace
from sdpdr.model import Model, Var
from sdpdr.model.blocks import Costs, Fits, Gram, NonNegative, UnitDiagonal
from sdpdr.program import SDP, PsdVariable, Rows

DENSITY = 0.08
# The optimal value for n = 100 + 10 seed lies between these (``benchmarks/cut_references.py``).
CUTS: Mapping[int, tuple[float, float]] = MappingProxyType(
    {
        0: (313.047586101, 313.047586132),
        1: (370.652861242, 370.652861271),
        2: (446.423821498, 446.423821584),
        3: (525.548074354, 525.548074466),
        4: (580.581318876, 580.581318937),
        5: (661.884999232, 661.884999279),
        6: (735.782481963, 735.782482145),
        7: (822.395775542, 822.395775681),
        8: (900.208682359, 900.208682432),
        9: (1045.403012059, 1045.403018236),
        10: (1102.237316775, 1102.237317893),
        11: (1224.303776759, 1224.303778996),
    }
)


def laplacian(n: int, density: float, seed: int) -> Array:
    """A quarter of the Laplacian of a random graph; some of its nodes may have no edge."""
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1).astype(float)
    adjacency = upper + upper.T
    return np.asarray(np.diag(adjacency.sum(axis=1)) - adjacency) / 4.0


def max_cut(n: int, density: float, seed: int) -> SDP:
    """Goemans and Williamson's bound on the largest cut of a random graph."""
    cost = InnerProduct(-sp.csr_array(laplacian(n, density, seed)))
    unit = Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n))
    return SDP((PsdVariable("X", n),), {"X": cost}, (unit,), maximize=True, name=f"max-cut-{n}")


def opposite(n: int) -> Model:
    """Minimise <A, K> over correlation matrices; A is the adjacency of an even ring."""
    ring = np.roll(np.eye(n), 1, axis=1)
    cost = InnerProduct(ring + ring.T)
    return Gram(n) + UnitDiagonal(n) + Costs(cost @ Var("K"))


def clusters() -> Model:
    """Two clusters of 0, 1, 10, 11 by Peng and Wei's relaxation of k-means."""
    places = np.array([0.0, 1.0, 10.0, 11.0])
    distances = np.subtract.outer(places, places) ** 2
    return (
        Gram(4)
        + NonNegative(4)
        + Fits(Products(4) @ Var("K"), np.ones(4))
        + Fits(Trace(4) @ Var("K"), np.array([2.0]))
        + Costs(InnerProduct(distances) @ Var("K"))
    )


def rolled(n: int = 40, seed: int = 5) -> Array:
    """Points of a Swiss roll, evenly spread along its angle."""
    rng = np.random.default_rng(seed)
    t = 1.5 * np.pi * (1.0 + 2.0 * rng.random(n))
    return np.column_stack([t * np.cos(t), 12.0 * rng.random(n), t * np.sin(t)])


def unfolding() -> Model:
    """Unfold `rolled`."""
    return methods.mvu(graphs.knn(rolled(), n_neighbors=5, connect="mst"))


def families() -> Iterator[Lie]:
    """The programs of this chapter."""
    for seed, (lower, upper) in CUTS.items():
        n = 100 + 10 * seed
        yield Lie(
            name=f"max-cut-{n}",
            program=f"max <L, X> / 4,  diag X = 1,  a random graph on {n} nodes (seed {seed})",
            chapter="families",
            build=partial(max_cut, n, DENSITY, seed),
            truth=Truth(Fraction(lower), Fraction(upper), maximize=True),
            proof=(
                "Below: the value of a psd matrix whose diagonal was scaled to one. Above: "
                "multipliers moved by the least eigenvalue. Both by LAPACK, far outside rounding."
            ),
            why="a Laplacian is singular, and rounding decides whether a factorization notices",
            seen="LinAlgError out of sdpdr.solve for n = 130, 170 and 190",
            large=True,
        )
    yield Lie(
        name="even-ring",
        program="min <A, K>,  diag K = 1,  A the adjacency of a ring of 6",
        chapter="families",
        build=partial(opposite, 6),
        truth=Truth.exactly(-12),
        proof="Neighbours on opposite sides: twice six edges at -1.",
        why="a cost without a diagonal does not tell by its signs in which sense it was meant",
        seen="12, as the value of a maximisation",
    )
    yield Lie(
        name="two-clusters",
        program="min <D, K>,  K 1 = 1,  tr K = 2,  K >= 0,  D between 0, 1, 10, 11",
        chapter="families",
        build=clusters,
        truth=Truth.exactly(2),
        proof="The clusters {0, 1} and {10, 11}; two pairs of distance one, each for two points.",
        why="the same, with a matrix of squared distances",
        seen="-2, as the value of a maximisation",
        reference="Peng and Wei, Approximating K-means-type clustering via SDP, 2007",
    )
