"""Programs without a point: by far, by a hair, and by less than any distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np

from sdpdr.lab.library.lies.truth import Lie, Truth
from sdpdr.lab.library.lies.writing import Row, Terms, over_one_matrix, over_scalars, symmetric
from sdpdr.linalg import InnerProduct, Stacked, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable


def beside_a_billion() -> SDP:
    """X22 = X33 = 1 and X23 = 5 do not go together; X11 = 1e9 has nothing to do with it."""
    rows: list[Row] = [
        ("large", {(1, 1): 1.0}, "==", 1e9),
        ("second", {(2, 2): 1.0}, "==", 1.0),
        ("third", {(3, 3): 1.0}, "==", 1.0),
        ("between", {(2, 3): 1.0}, "==", 5.0),
    ]
    return over_one_matrix(3, {(1, 1): 1.0}, rows, name="beside-a-billion")


def feasibility(n: int, *rows: tuple[Terms, float], name: str = "") -> SDP:
    """A point is asked for, nothing else."""
    listed: list[Row] = [(f"row{e}", terms, "==", b) for e, (terms, b) in enumerate(rows, start=1)]
    return over_one_matrix(n, {}, listed, name=name)


def ladder_to_nothing(steps: int) -> SDP:
    """X11 = 0, X_kk + 2 X_{k-1,k+1} = 0 for k < steps, and X_ss + 2 X_{s-1,s+1} = -1."""
    rows: list[tuple[Terms, float]] = [({(1, 1): 1.0}, 0.0)]
    for k in range(2, steps + 1):
        rows.append(({(k, k): 1.0, (k - 1, k + 1): 2.0}, -1.0 if k == steps else 0.0))
    return feasibility(steps + 1, *rows, name=f"ladder-to-nothing-{steps}")


def nothing_in_inequality() -> SDP:
    """[[x, 1], [1, 0]] psd for no x, and nearly for every large one."""
    inequality = (symmetric(2, {(1, 2): 2.0}), [np.diag([1.0, 0.0])])
    return over_scalars([0.0], [inequality], name="corner")


def nothing_on_both_sides() -> SDP:
    """Minimise -X22 with X11 = -1: neither the program nor its dual has a point."""
    rows: list[Row] = [("negative", {(1, 1): 1.0}, "==", -1.0)]
    return over_one_matrix(2, {(2, 2): -1.0}, rows, name="both-sides")


def correlation(excess: float) -> SDP:
    """Minimise X33 where unit vectors have the inner product 1 + excess, X13 = 1, X23 = -1."""
    rows: list[Row] = [
        ("first", {(1, 1): 1.0}, "==", 1.0),
        ("second", {(2, 2): 1.0}, "==", 1.0),
        ("cosine", {(1, 2): 1.0}, "==", 1.0 + excess),
        ("along", {(1, 3): 1.0}, "==", 1.0),
        ("against", {(2, 3): 1.0}, "==", -1.0),
    ]
    return over_one_matrix(3, {(3, 3): 1.0}, rows, name="correlation")


def contradiction(by: float) -> SDP:
    """Minimise X22, X12 = 1 with the row X11 = 1 twice, the second time X11 = 1 + by."""
    rows: list[Row] = [
        ("once", {(1, 1): 1.0}, "==", 1.0),
        ("twice", {(1, 1): 1.0}, "==", 1.0 + by),
        ("corner", {(1, 2): 1.0}, "==", 1.0),
    ]
    return over_one_matrix(2, {(2, 2): 1.0}, rows, name="twice")


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
        for i, j in places[power]:
            matrix[i, j] = 1.0
        maps.append(InnerProduct(matrix))
    right = np.array([wanted.get(power, 0.0) for power in powers])
    constant = np.array([[1.0 if power == (0, 0) else 0.0] for power in powers])
    rows = Rows("coefficients", "==", {"Q": Stacked(maps), "g": VectorMap(constant)}, right)
    return SDP(
        (PsdVariable("Q", n), VectorVariable("g", 1)),
        {"g": VectorMap([[-1.0]])},
        (rows,),
        maximize=True,
        name="motzkin",
    )


_HAIR: Mapping[str, float] = {"2^-20": 2.0**-20, "2^-40": 2.0**-40}


def impossible() -> Iterator[Lie]:
    """The programs of this chapter."""
    infeasible = Truth.infeasible()
    yield Lie(
        name="beside-a-billion",
        program="min X11,  X11 = 1e9,  X22 = X33 = 1,  X23 = 5",
        chapter="infeasible",
        build=beside_a_billion,
        truth=infeasible,
        proof="Unit vectors have inner products of at most one; (1, -1) proves it strongly.",
        why="errors are divided by 1 + the largest right side, and 4 / 1e9 counts as nothing",
        seen="1e9, called optimal by most; an earlier version certified it to 7e-9",
    )
    yield Lie(
        name="weakly",
        program="find X,  X11 = 0,  X12 = 1",
        chapter="infeasible",
        build=lambda: feasibility(2, ({(1, 1): 1.0}, 0.0), ({(1, 2): 1.0}, 1.0), name="weakly"),
        truth=infeasible,
        proof="X11 = 0 forces X12 = 0.",
        why="[[e, 1], [1, 1/e]] misses by any e > 0: no ray proves it, every residual looks fine",
        seen="feasible, from half a dozen",
        reference="Duffin, Infinite programs, 1956",
    )
    yield Lie(
        name="negative",
        program="find X (order 2),  X11 = -1e-7",
        chapter="infeasible",
        build=lambda: feasibility(2, ({(1, 1): 1.0}, -1e-7), name="negative"),
        truth=infeasible,
        proof="Diagonals of psd matrices are not negative.",
        why="zero misses by 1e-7 only, less than anybody's tolerance",
        seen="feasible, from three; certified, since there is no objective to be wrong about",
    )
    for steps in (2, 4):
        yield Lie(
            name=f"ladder-to-nothing-{steps}",
            program=f"find X,  X11 = 0,  X_kk + 2 X_(k-1)(k+1) = 0,  ... = -1 for k = {steps}",
            chapter="infeasible",
            build=partial(ladder_to_nothing, steps),
            truth=infeasible,
            proof="Each zero clears a row; the last says X_ss = -1.",
            why="infeasible by less than any distance, and only a chain of faces shows it",
            seen="feasible, from five (k = 2) and ten (k = 4)",
            reference="Liu and Pataki, Exact duals and short certificates of infeasibility, 2018",
        )
    yield Lie(
        name="corner",
        program="find x,  [[x, 1], [1, 0]] psd",
        chapter="infeasible",
        build=nothing_in_inequality,
        truth=infeasible,
        proof="A zero on the diagonal, and a one beside it.",
        why="the smallest eigenvalue is about -1/x: as good as zero for large x",
        seen="feasible, from some",
    )
    yield Lie(
        name="both-sides",
        program="min -X22,  X11 = -1",
        chapter="infeasible",
        build=nothing_on_both_sides,
        truth=infeasible,
        proof="X11 = -1 has no psd solution; the dual needs a -1 on a diagonal.",
        why="an improving direction is no proof of unboundedness while there is no point",
        seen="unbounded, by those that look for a direction first",
    )
    for words, hair in _HAIR.items():
        yield Lie(
            name=f"hair-inside-{words}",
            program=f"min X33,  X11 = X22 = 1,  X12 = 1 - {words},  X13 = 1,  X23 = -1",
            chapter="infeasible",
            build=partial(correlation, -hair),
            truth=Truth.exactly(Fraction(2) / Fraction(hair)),
            proof="(1, -1) is an eigenvector of the corner to the eigenvalue of the hair h: 2 / h.",
            why="the value is one over what is left of the interior",
            seen="5318, called optimal, or infeasible; two solvers come near 2^21",
        )
        yield Lie(
            name=f"hair-outside-{words}",
            program=f"min X33,  X11 = X22 = 1,  X12 = 1 + {words},  X13 = 1,  X23 = -1",
            chapter="infeasible",
            build=partial(correlation, hair),
            truth=infeasible,
            proof="Unit vectors have inner products of at most one.",
            why="infeasible by less than the tolerance is feasible for a solver",
            seen="5318 and 5e7, called optimal",
        )
    yield Lie(
        name="twice-and-not",
        program="min X22,  X12 = 1,  X11 = 1,  X11 = 1 + 2^-40",
        chapter="infeasible",
        build=partial(contradiction, 2.0**-40),
        truth=infeasible,
        proof="One row minus the other reads 0 = 2^-40.",
        why="the two rows agree to 12 digits, and reading them as one is what presolve is for",
        seen="1.0000, called optimal by all",
    )
    yield Lie(
        name="twice",
        program="min X22,  X12 = 1,  X11 = 1,  X11 = 1",
        chapter="infeasible",
        build=partial(contradiction, 0.0),
        truth=Truth.exactly(1),
        proof="X22 >= X12^2 / X11.",
        why="rows that depend on each other make the Schur complement singular",
        seen="1.0000 by most",
    )
    yield Lie(
        name="motzkin",
        program="max g,  x^4 y^2 + x^2 y^4 - 3 x^2 y^2 + 1 - g is a sum of squares",
        chapter="infeasible",
        build=motzkin,
        truth=Truth.infeasible(maximize=True),
        proof=(
            "In every sum of squares with that Newton polytope, x^2 y^2 is the square of x y, and "
            "its coefficient cannot be -3."
        ),
        why=(
            "with e (x^6 + y^6) added it is one for g = -1/e^2: infeasible by less than any "
            "distance, and rounding is that e"
        ),
        seen="-53 and -631, called optimal",
        reference="Motzkin, The arithmetic-geometric inequality, 1967; Henrion and Lasserre, 2005",
    )
