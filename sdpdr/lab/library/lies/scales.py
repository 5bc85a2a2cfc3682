"""Programs that are easy but for the size of their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np

from sdpdr import graphs
from sdpdr.families import methods
from sdpdr.lab.library.lies.truth import Lie, Truth
from sdpdr.lab.library.lies.writing import Row, over_one_matrix
from sdpdr.linalg import InnerProduct, VectorMap
from sdpdr.model import Model
from sdpdr.model.blocks import Relation
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable

BINADES = (16.0, 2048.0, 2.0**-11, 512.0, 0.125)


def straight(lengths: tuple[float, ...]) -> Fraction:
    """Variance of a line of edges, exactly: squared distances of all pairs, over n.

    Examples
    --------
    >>> straight((1.0, 1.0))
    Fraction(2, 1)
    """
    places = [sum(map(Fraction, lengths[:i]), Fraction(0)) for i in range(len(lengths) + 1)]
    return sum(((a - b) ** 2 for a, b in combinations(places, 2)), Fraction(0)) / len(places)


def path(lengths: tuple[float, ...], isometry: Relation = "inequality") -> Model:
    """Unfold a path."""
    return methods.mvu(graphs.path(np.array(lengths)), isometry)


def square(side: float) -> Model:
    """Unfold a ring of four edges."""
    edges = [[0, 1], [1, 2], [2, 3], [0, 3]]
    return methods.mvu(graphs.from_edges(4, edges, np.full(4, side * side)))


def beside_large() -> SDP:
    """Minimise X22 where X11 = 1e9, X12 = 1e4 and X33 = 1."""
    rows: list[Row] = [
        ("large", {(1, 1): 1.0}, "==", 1e9),
        ("between", {(1, 2): 1.0}, "==", 1e4),
        ("one", {(3, 3): 1.0}, "==", 1.0),
    ]
    return over_one_matrix(3, {(2, 2): 1.0}, rows, name="beside-large")


def hilbert(n: int) -> SDP:
    """Minimise tr X where the rows of an integer multiple of Hilbert's matrix fix its diagonal."""
    multiple = int(np.lcm.reduce(np.arange(1, 2 * n)))
    matrix = [[multiple // (i + j + 1) for j in range(n)] for i in range(n)]
    rows: list[Row] = [
        (
            f"row{i + 1}",
            {(j + 1, j + 1): float(matrix[i][j]) for j in range(n)},
            "==",
            float(sum(matrix[i])),
        )
        for i in range(n)
    ]
    return over_one_matrix(n, {(i, i): 1.0 for i in range(1, n + 1)}, rows, name=f"hilbert-{n}")


def split_scalar() -> SDP:
    """Minimise X11 + X22 + u - v where 2 X12 + u - v = 1; u and v are free, and unbounded."""
    rows = Rows(
        "balance",
        "==",
        {
            "X": InnerProduct(np.array([[0.0, 1.0], [1.0, 0.0]])),
            "z": VectorMap([[1.0, -1.0]]),
        },
        np.ones(1),
    )
    return SDP(
        (PsdVariable("X", 2), VectorVariable("z", 2)),
        {"X": InnerProduct(np.eye(2)), "z": VectorMap([[1.0, -1.0]])},
        (rows,),
        name="split-scalar",
    )


def scales() -> Iterator[Lie]:
    """The programs of this chapter."""
    yield Lie(
        name="beside-large",
        program="min X22,  X11 = 1e9,  X12 = 1e4,  X33 = 1",
        chapter="scales",
        build=beside_large,
        truth=Truth.exactly(Fraction(1, 10)),
        proof="X22 >= X12^2 / X11 = 1e8 / 1e9.",
        why="the objective is small beside every other number, and an absolute error hides it",
        seen="-0.95 to 1.23, called optimal",
    )
    for isometry in ("inequality", "equality"):
        yield Lie(
            name=f"path-of-binades-{isometry}",
            program=f"unfold the path with edges 16, 2048, 2^-11, 512, 1/8 ({isometry})",
            chapter="scales",
            build=partial(path, BINADES, isometry),
            truth=Truth.exactly(straight(BINADES), maximize=True),
            proof="The straight line; the triangle inequality allows nothing longer.",
            why="squared lengths span 2^44: one error for all rows forgives short edges anything",
            seen="a squared length of -57,700 times what it should be, K with an eigenvalue of "
            "-0.33, certified",
        )
    tiny = tuple(k * 2.0**-30 for k in (1.0, 2.0, 3.0, 4.0, 5.0))
    yield Lie(
        name="path-in-nanometres",
        program="unfold the path with edges 1, 2, 3, 4, 5 times 2^-30",
        chapter="scales",
        build=partial(path, tiny),
        truth=Truth.exactly(straight(tiny), maximize=True),
        proof="2^-60 times the value for 1, 2, 3, 4, 5.",
        why="the unit of length is anybody's choice; a floor of 1e-12 under a gap is not",
        seen="gaps 1e5 times too small",
    )
    yield Lie(
        name="square-in-nanometres",
        program="unfold a ring of four edges of length 2^-30",
        chapter="scales",
        build=partial(square, 2.0**-30),
        truth=Truth.exactly(Fraction(2) / 2**60, maximize=True),
        proof="The square, of variance 2.",
        why="the same, where the answer is not a line",
        seen="gaps 1e5 times too small",
    )
    for n in (5, 8):
        yield Lie(
            name=f"hilbert-{n}",
            program=f"min tr X,  H diag(X) = H 1,  H the Hilbert matrix of order {n} in integers",
            chapter="scales",
            build=partial(hilbert, n),
            truth=Truth.exactly(n),
            proof="H is regular, so diag(X) = 1.",
            why=f"the condition of H is {'5e5' if n == 5 else '2e10'}: rows met to 1e-9 say little",
            seen="5.0000 for n = 5; 7.9999 to 8.0005 for n = 8, called optimal",
        )
    yield Lie(
        name="split-scalar",
        program="min X11 + X22 + u - v,  2 X12 + u - v = 1,  u and v free",
        chapter="scales",
        build=split_scalar,
        truth=Truth.exactly(1),
        proof="X11 + X22 - 2 X12 + 1 >= 1.",
        why="u and v may grow together without end, and u - v loses its digits on the way",
        seen="right by most; u and v of 1e6",
    )
