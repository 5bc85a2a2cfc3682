"""Optimal values that no point attains, duals with another value, optima at zero."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.lab.library.lies.truth import Lie, Truth
from sdpdr.lab.library.lies.writing import Row, over_one_matrix, over_scalars, symmetric
from sdpdr.program import SDP


def without_least() -> SDP:
    """Minimise X11 where X12 = 1: as small as you like, never zero."""
    return over_one_matrix(2, {(1, 1): 1.0}, [("corner", {(1, 2): 1.0}, "==", 1.0)], name="unmet")


def only_zero() -> SDP:
    """Maximise x with [[1, x], [x, 0]] psd: the dual of `without_least`, up to a half."""
    x = symmetric(2, {(1, 2): 2.0})
    return over_scalars([1.0], [(np.diag([1.0, 0.0]), [x])], maximize=True, name="only-zero")


def gap(alpha: float = 1.0) -> SDP:
    """Minimise alpha X33 where X11 = 0 and X33 + 2 X12 = 1; its dual knows only 0."""
    rows: list[Row] = [
        ("zero", {(1, 1): 1.0}, "==", 0.0),
        ("sum", {(3, 3): 1.0, (1, 2): 2.0}, "==", 1.0),
    ]
    return over_one_matrix(3, {(3, 3): alpha}, rows, name="gap")


def gap_of_inequality() -> SDP:
    """Minimise x1 with [[0, x1, 0], [x1, x2, 0], [0, 0, x1 + 1]] psd; its dual has the value -1."""
    first = symmetric(3, {(1, 2): 2.0, (3, 3): 1.0})
    second = symmetric(3, {(2, 2): 1.0})
    corner = np.diag([0.0, 0.0, 1.0])
    return over_scalars([1.0, 0.0], [(corner, [first, second])], name="gap-of-inequality")


def tower(steps: int, last: float) -> SDP:
    """Maximise x_1 where x_k^2 <= x_(k+1) for k < steps, and x_steps is at most ``last``."""
    inequalities = []
    for k in range(steps - 1):
        matrices = [np.zeros((2, 2)) for _ in range(steps)]
        matrices[k] = symmetric(2, {(1, 2): 2.0})
        matrices[k + 1] = symmetric(2, {(1, 1): 1.0})
        inequalities.append((np.diag([0.0, 1.0]), matrices))
    top = [0.0] * (steps - 1) + [1.0]
    return over_scalars(
        [1.0] + [0.0] * (steps - 1),
        inequalities,
        [("top", top, "<=", last)],
        maximize=True,
        name=f"tower-{steps}",
    )


def growing_tower(steps: int) -> SDP:
    """Minimise x_steps where x_1 = 2 and x_(k+1) >= x_k^2: 2 to the power of 2^(steps - 1)."""
    inequalities = []
    for k in range(steps - 1):
        matrices = [np.zeros((2, 2)) for _ in range(steps)]
        matrices[k] = symmetric(2, {(1, 2): 2.0})
        matrices[k + 1] = symmetric(2, {(2, 2): 1.0})
        inequalities.append((np.diag([1.0, 0.0]), matrices))
    bottom = [1.0] + [0.0] * (steps - 1)
    return over_scalars(
        [0.0] * (steps - 1) + [1.0],
        inequalities,
        [("bottom", bottom, "==", 2.0)],
        name=f"growing-tower-{steps}",
    )


def half_line(order: int) -> SDP:
    """Lasserre's relaxation of: minimise x where x >= 0 and x^2 >= 1 (Waki's example).

    Over the moments y_1, ..., y_2r of a measure: the moment matrix, and those localized by x and
    by x^2 - 1, are psd.
    """
    moments = 2 * order

    def hankel(size: int, weights: dict[int, float]) -> tuple[Array, list[Array]]:
        """Constant and coefficients of sum_s w_s y_(i+j+s), where y_0 = 1."""
        matrices = [np.zeros((size, size)) for _ in range(moments + 1)]
        for shift, weight in weights.items():
            for i in range(size):
                for j in range(size):
                    matrices[i + j + shift][i, j] += weight
        return matrices[0], matrices[1:]

    inequalities = [
        hankel(order + 1, {0: 1.0}),
        hankel(order, {1: 1.0}),
        hankel(order, {2: 1.0, 0: -1.0}),
    ]
    cost = [1.0] + [0.0] * (moments - 1)
    return over_scalars(cost, inequalities, name=f"half-line-{order}")


def least_eigenvalue_zero(n: int) -> SDP:
    """Minimise <L, X> with tr X = 1 for the Laplacian L of the complete graph."""
    cost = {(i, i): n - 1.0 for i in range(1, n + 1)}
    cost |= {(i, j): -2.0 for i in range(1, n + 1) for j in range(i + 1, n + 1)}
    trace = {(i, i): 1.0 for i in range(1, n + 1)}
    return over_one_matrix(n, cost, [("trace", trace, "==", 1.0)], name=f"zero-{n}")


def growing_without_ray() -> SDP:
    """Maximise X12 where X22 = 1: unbounded, along a parabola and along no ray."""
    rows: list[Row] = [("one", {(2, 2): 1.0}, "==", 1.0)]
    return over_one_matrix(2, {(1, 2): 1.0}, rows, maximize=True, name="parabola")


def growing() -> SDP:
    """Maximise X11 where X22 = 1."""
    rows: list[Row] = [("one", {(2, 2): 1.0}, "==", 1.0)]
    return over_one_matrix(2, {(1, 1): 1.0}, rows, maximize=True, name="ray")


def attainment() -> Iterator[Lie]:
    """The programs of this chapter."""
    yield Lie(
        name="unmet",
        program="min X11,  X12 = 1",
        chapter="attainment",
        build=without_least,
        truth=Truth.exactly(0),
        proof="X = [[e, 1], [1, 1/e]] has the value e, and X11 = 0 would force X12 = 0.",
        why="the optimum lies at infinity: a solver stops where it tires, at a value too large",
        seen="9e-9 to 8e-5, called optimal",
        reference="Vandenberghe and Boyd, Semidefinite programming, 1996",
    )
    yield Lie(
        name="only-zero",
        program="max x,  [[1, x], [x, 0]] psd",
        chapter="attainment",
        build=only_zero,
        truth=Truth.exactly(0, maximize=True),
        proof="A zero on the diagonal of a psd matrix clears its row: x = 0 is the only point.",
        why="an error e in the zero makes x the root of e; the bound 0 needs infinite multipliers",
        seen="5e-9 to 2e-5, called optimal",
        reference="Pataki, Bad semidefinite programs: they all look the same, 2017",
    )
    for exponent in (0, 20, -20):
        alpha = 2.0**exponent
        yield Lie(
            name="gap" if exponent == 0 else f"gap-2^{exponent}",
            program=f"min 2^{exponent} X33,  X11 = 0,  X33 + 2 X12 = 1",
            chapter="attainment",
            build=partial(gap, alpha),
            truth=Truth.exactly(Fraction(alpha), dual=Fraction(0)),
            proof=(
                "X11 = 0 forces X12 = 0, so X33 = 1. In the dual the second row's multiplier "
                "stands beside a zero on the diagonal, so it vanishes, and with it the value."
            ),
            why="p - d stays at a positive gap, so no solver can close it without breaking a row",
            seen="the value itself from some, next to nothing from others, all called optimal",
            reference="Ramana, An exact duality theory for SDP and its complexity, 1997",
        )
    yield Lie(
        name="gap-of-inequality",
        program="min x1,  [[0, x1, 0], [x1, x2, 0], [0, 0, x1 + 1]] psd",
        chapter="attainment",
        build=gap_of_inequality,
        truth=Truth.exactly(0, dual=Fraction(-1)),
        proof="The zero in the corner clears its row, so x1 = 0; the dual's best is -1.",
        why="with multipliers of size 1/e the value is anything between -1 and 0",
        seen="-1 from some and 0 from others, all called optimal",
        reference="Vandenberghe and Boyd, Semidefinite programming, 1996",
    )
    yield Lie(
        name="tower-5-to-zero",
        program="max x1,  x1^2 <= x2,  ...,  x4^2 <= x5 <= 0",
        chapter="attainment",
        build=partial(tower, 5, 0.0),
        truth=Truth.exactly(0, maximize=True),
        proof="x5 = 0 forces x4 = 0, and so on down.",
        why="a tolerance e at the top is e to the power of 1/16 at the bottom: 1e-8 becomes 0.3",
        seen="0.21 to 0.24, called optimal",
        reference="Sturm, Error bounds for linear matrix inequalities, 2000",
    )
    yield Lie(
        name="tower-5",
        program="max x1,  x1^2 <= x2,  ...,  x4^2 <= x5 <= 2^-32",
        chapter="attainment",
        build=partial(tower, 5, 2.0**-32),
        truth=Truth.exactly(Fraction(1, 4), maximize=True),
        proof="Sixteenth root of 2^-32; there is an interior.",
        why="2^-32 is nothing beside the tolerance, and decides the value",
        seen="0.25 to 0.25045, called optimal",
        reference="Sturm, Error bounds for linear matrix inequalities, 2000",
    )
    for steps in (4, 6):
        yield Lie(
            name=f"growing-tower-{steps}",
            program=f"min x{steps},  x1 = 2,  x_(k+1) >= x_k^2",
            chapter="attainment",
            build=partial(growing_tower, steps),
            truth=Truth.about(Fraction(2 ** (2 ** (steps - 1)))),
            proof="Squaring 2 again and again.",
            why=(
                "solutions have as many digits as there are numbers to a power: doubly "
                "exponential in the size of the program"
            ),
            seen="256 where there are four numbers; failures and infeasibility where there are six",
            reference="Khachiyan's example, in Ramana 1997; Porkolab and Khachiyan, 1997",
        )
    for order in (3, 6):
        yield Lie(
            name=f"half-line-{order}",
            program=f"order {order} of Lasserre's relaxation of: min x, x >= 0, x^2 >= 1",
            chapter="attainment",
            build=partial(half_line, order),
            truth=Truth.exactly(0),
            proof=(
                "x - g = s0 + x s1 + (x^2 - 1) s2 with sums of squares: leading terms of even and "
                "of odd degree are positive and cannot cancel, so s0 and s1 are constants, "
                "s2 = 0 and g = -s0 <= 0. A uniform measure on [1, 2] is an interior point of the "
                "moment side, so there is no gap."
            ),
            why=(
                "moments of size 1e10 that a solver does not reach; rounding turns the relaxation "
                "into the polynomial problem itself, whose value is 1"
            ),
            seen="0.0001 to 0.26 in order 3; in order 6 all that call it optimal say 1.0000",
            reference=(
                "Waki, Nakata and Muramatsu, Strange behaviors of interior-point methods for "
                "solving semidefinite programming problems in polynomial optimization, 2012"
            ),
        )
    yield Lie(
        name="zero",
        program="min <L, X>,  tr X = 1,  L the Laplacian of the complete graph on 5 nodes",
        chapter="attainment",
        build=partial(least_eigenvalue_zero, 5),
        truth=Truth(Fraction(0), Fraction(0), magnitude=5.0),
        proof="The least eigenvalue of a Laplacian is zero; J / 5 attains it.",
        why="an error relative to zero is infinite; what counts as small must be said by somebody",
        seen="1e-9 or -1e-9, whichever side",
    )
    yield Lie(
        name="parabola",
        program="max X12,  X22 = 1",
        chapter="attainment",
        build=growing_without_ray,
        truth=Truth.unbounded(maximize=True),
        proof="X11 = t^2, X12 = t. A direction that improves has X22 = 0, hence X12 = 0: no ray.",
        why="there is no ray to find; iterates run along a parabola until a limit is met",
        seen="2e7 to 6e7, called optimal",
        reference="Luo, Sturm and Zhang, Duality results for conic convex programming, 1997",
    )
    yield Lie(
        name="ray",
        program="max X11,  X22 = 1",
        chapter="attainment",
        build=growing,
        truth=Truth.unbounded(maximize=True),
        proof="X11 is free to grow.",
        why="it does not: what is true here is what the one before looks like",
        seen="unbounded, by all",
    )
