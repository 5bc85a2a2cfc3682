"""Hard instances that are not a line of text: families by order, and models of blocks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import scipy.sparse as sp

from sdpdr import graphs
from sdpdr.base.arrays import Array
from sdpdr.families import methods
from sdpdr.lab.datasets import swiss_roll
from sdpdr.linalg import Diagonal, InnerProduct, Products, Stacked, Trace, VectorMap
from sdpdr.model import Equal, Minimize, Model, Var
from sdpdr.model.blocks import Gram, NonNegative, Relation, Stated, UnitDiagonal
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable
from sdpdr.testing.notation import parse_program

# Share of pairs of nodes of random graphs that are edges.
DENSITY = 0.08


def half_line(order: int) -> SDP:
    """Lasserre's relaxation of: minimise x where x >= 0 and x^2 >= 1 (Waki's example)."""

    def moment(power: int) -> str:
        return f"x{power}" if power else "1"

    def hankel(size: int, localized: Callable[[int], str]) -> str:
        rows = (", ".join(localized(i + j) for j in range(size)) for i in range(size))
        return f"[[{'], ['.join(rows)}]] psd"

    inequalities = (
        hankel(order + 1, moment),
        hankel(order, lambda power: moment(power + 1)),
        hankel(order, lambda power: f"{moment(power + 2)} - {moment(power)}"),
    )
    return parse_program(",  ".join(("min x1", *inequalities)), f"half-line-{order}")


def hilbert(n: int) -> SDP:
    """Minimise tr X where the rows of an integer multiple of Hilbert's matrix fix its diagonal."""
    multiple = int(np.lcm.reduce(np.arange(1, 2 * n)))
    matrix = [[multiple // (i + j + 1) for j in range(n)] for i in range(n)]
    rows = (
        " + ".join(f"{entry} X{j}{j}" for j, entry in enumerate(row, start=1)) + f" = {sum(row)}"
        for row in matrix
    )
    return parse_program(",  ".join(("min tr X", *rows)), f"hilbert-{n}")


def motzkin() -> SDP:
    """Maximise g where x^4 y^2 + x^2 y^4 - 3 x^2 y^2 + 1 - g is a sum of squares."""
    monomials = [(a, b) for a in range(4) for b in range(4 - a)]
    wanted = {(4, 2): 1.0, (2, 4): 1.0, (2, 2): -3.0, (0, 0): 1.0}
    places: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for (i, p), (j, q) in product(enumerate(monomials), repeat=2):
        places.setdefault((p[0] + q[0], p[1] + q[1]), []).append((i, j))
    n, powers = len(monomials), sorted(places)
    maps = []
    for power in powers:
        matrix = np.zeros((n, n))
        matrix[tuple(np.transpose(places[power]))] = 1.0
        maps.append(InnerProduct(matrix))
    right = np.array([wanted.get(power, 0.0) for power in powers])
    constant = np.array([[float(power == (0, 0))] for power in powers])
    rows = Rows("coefficients", "==", {"Q": Stacked(maps), "g": VectorMap(constant)}, right)
    return SDP(
        (PsdVariable("Q", n), VectorVariable("g", 1)),
        {"g": VectorMap([[-1.0]])},
        (rows,),
        maximize=True,
        name="motzkin",
    )


def path(lengths: list[float], isometry: Relation = "inequality") -> Model:
    """Unfold a path."""
    return methods.mvu(graphs.path(np.array(lengths)), isometry)


def square(side: float) -> Model:
    """Unfold a ring of four edges."""
    edges = [[0, 1], [1, 2], [2, 3], [0, 3]]
    return methods.mvu(graphs.from_edges(4, edges, np.full(4, side * side)))


def laplacian(n: int, seed: int) -> Array:
    """A quarter of the Laplacian of a random graph; some of its nodes may have no edge."""
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < DENSITY, 1).astype(float)
    adjacency = upper + upper.T
    return np.asarray(np.diag(adjacency.sum(axis=1)) - adjacency) / 4.0


def max_cut(n: int, seed: int) -> SDP:
    """Goemans and Williamson's bound on the largest cut of a random graph."""
    cost = InnerProduct(-sp.csr_array(laplacian(n, seed)))
    unit = Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n))
    return SDP((PsdVariable("X", n),), {"X": cost}, (unit,), maximize=True, name=f"max-cut-{n}")


def opposite(n: int) -> Model:
    """Minimise <A, K> over correlation matrices; A is the adjacency of an even ring."""
    ring = np.roll(np.eye(n), 1, axis=1)
    cost = InnerProduct(ring + ring.T)
    return Gram(n) + UnitDiagonal(n) + Stated("costs", [Minimize(cost @ Var("K"))])


def clusters() -> Model:
    """Two clusters of 0, 1, 10, 11 by Peng and Wei's relaxation of k-means."""
    places = np.array([0.0, 1.0, 10.0, 11.0])
    distances = np.subtract.outer(places, places) ** 2
    return (
        Gram(4)
        + NonNegative(4)
        + Stated("fits", [Equal(Products(4) @ Var("K"), 1.0), Equal(Trace(4) @ Var("K"), 2.0)])
        + Stated("costs", [Minimize(InnerProduct(distances) @ Var("K"))])
    )


def unfolding() -> Model:
    """Unfold forty points of a Swiss roll, evenly spread along its angle."""
    points, _ = swiss_roll(40, seed=5, height=12.0)
    return methods.mvu(graphs.knn(points, n_neighbors=5, connect="mst"))
