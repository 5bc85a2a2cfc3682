"""Programs without an interior: zero diagonals, ladders of them, and graphs that leave no room."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from sdpdr.lab.library.lies.truth import Lie, Truth
from sdpdr.lab.library.lies.writing import Row, over_one_matrix
from sdpdr.program import SDP


def hidden_face(limit: float) -> SDP:
    """Minimise X33 + X44 with X11 = 0, X33 + 2 X12 = 1, X44 = 1 and tr X at most ``limit``."""
    rows: list[Row] = [
        ("zero", {(1, 1): 1.0}, "==", 0.0),
        ("sum", {(3, 3): 1.0, (1, 2): 2.0}, "==", 1.0),
        ("one", {(4, 4): 1.0}, "==", 1.0),
        ("trace", {(i, i): 1.0 for i in range(1, 5)}, "<=", limit),
    ]
    return over_one_matrix(4, {(3, 3): 1.0, (4, 4): 1.0}, rows, name=f"hidden-face-{limit:.0e}")


def ladder(steps: int) -> SDP:
    """Minimise the last diagonal entry that a chain of zero diagonals leaves.

    X11 = 0 and, for k = 2, ..., steps, X_kk + 2 X_{k-1,k+1} = 0: each face hides the next. The
    last row says X_nn + 2 X_{n-2,n} = 1 for n = steps + 2.
    """
    n = steps + 2
    rows: list[Row] = [("step1", {(1, 1): 1.0}, "==", 0.0)]
    for k in range(2, steps + 1):
        rows.append((f"step{k}", {(k, k): 1.0, (k - 1, k + 1): 2.0}, "==", 0.0))
    rows.append(("last", {(n, n): 1.0, (steps, n): 2.0}, "==", 1.0))
    return over_one_matrix(n, {(n, n): 1.0}, rows, name=f"ladder-{steps}")


def single_point() -> SDP:
    """Maximise X13 where X11 = X22 = X12 = 1 and X33 = 4: the first two vectors are one."""
    rows: list[Row] = [
        ("first", {(1, 1): 1.0}, "==", 1.0),
        ("second", {(2, 2): 1.0}, "==", 1.0),
        ("together", {(1, 2): 1.0}, "==", 1.0),
        ("third", {(3, 3): 1.0}, "==", 4.0),
        ("against", {(2, 3): 1.0}, "==", -1.0),
    ]
    return over_one_matrix(3, {(1, 3): 1.0}, rows, maximize=True, name="twins")


def zero_sums(n: int) -> SDP:
    """Minimise X11 + ... with the Laplacian row <n I - J, X> = 0 and X11 = 1: only J is left."""
    laplacian = {(i, i): n - 1.0 for i in range(1, n + 1)}
    off = {(i, j): -2.0 for i in range(1, n + 1) for j in range(i + 1, n + 1)}
    cost = {(i, i): float(i) for i in range(1, n + 1)}
    rows: list[Row] = [
        ("stress", {**laplacian, **off}, "==", 0.0),
        ("corner", {(1, 1): 1.0}, "==", 1.0),
    ]
    return over_one_matrix(n, cost, rows, name=f"stress-{n}")


def faces() -> Iterator[Lie]:
    """The programs of this chapter."""
    seen = {
        1e3: "1.9997 to 2, called optimal; the first digits are right, the rest is not",
        1e4: "1.998 to 2, called optimal; an earlier version of this package certified 1.9966",
        1e5: "1, 1.98 or 2, called optimal; an earlier version of this package certified 1.9037",
        1e6: "1, 1.8 or 2, called optimal; an earlier version certified 1.0000, rigorously",
    }
    for limit, words in seen.items():
        yield Lie(
            name=f"hidden-face-1e{int(np.log10(limit))}",
            program=f"min X33 + X44,  X11 = 0,  X33 + 2 X12 = 1,  X44 = 1,  tr X <= {limit:.0e}",
            chapter="faces",
            build=partial(hidden_face, limit),
            truth=Truth.exactly(2),
            proof="X11 = 0 and X psd force X12 = 0, hence X33 = 1.",
            why=(
                "a residual of e in X11 = 0 lets X12 be as large as the root of e times the trace: "
                "with tr X up to 1e6 an error of 1e-7 frees X33 entirely"
            ),
            seen=words,
        )
    for steps, words in (
        (2, "0.33 and 0.16, called optimal"),
        (4, "0.001 and 0.00004, called optimal"),
    ):
        yield Lie(
            name=f"ladder-{steps}",
            program=(
                f"min X_nn,  X11 = 0,  X_kk + 2 X_(k-1)(k+1) = 0 (k = 2..{steps}),  "
                f"X_nn + 2 X_(n-2)n = 1,  n = {steps + 2}"
            ),
            chapter="faces",
            build=partial(ladder, steps),
            truth=Truth.exactly(1, dual=Fraction(0)),
            proof=(
                "X11 = 0 makes the first row vanish, so that X22 = 0, and so on along the ladder; "
                "the last row is left as X_nn = 1."
            ),
            why=(
                "every rung takes a root: an error e in the first zero is e to the power of "
                f"2^-{steps} in the last row, and no residual shows it"
            ),
            seen=words,
            reference="Drusvyatskiy and Wolkowicz, The many faces of degeneracy, 2017",
        )
    yield Lie(
        name="twins",
        program="max X13,  X11 = X22 = X12 = 1,  X33 = 4,  X23 = -1",
        chapter="faces",
        build=single_point,
        truth=Truth.exactly(-1, maximize=True),
        proof="Vectors of length one and inner product one are the same, hence X13 = X23.",
        why=(
            "vectors at an angle of the root of e have an inner product within e of one, so X13 "
            "moves by the root of the tolerance"
        ),
        seen="-0.99983 to -1, called optimal; an earlier version certified the former to 1e-8",
    )
    yield Lie(
        name="stress-6",
        program="min sum_i i X_ii,  <6 I - J, X> = 0,  X11 = 1  (order 6)",
        chapter="faces",
        build=partial(zero_sums, 6),
        truth=Truth.exactly(21),
        proof="6 I - J is psd with kernel 1, so X = t J; X11 = 1 makes t = 1, the cost 1 + .. + 6.",
        why="one psd row leaves a ray of the cone; there is no interior, and multipliers run off",
        seen="20.98, which an earlier version of this package certified to 1e-10",
        reference="Borwein and Wolkowicz, Facial reduction for a cone-convex problem, 1981",
    )
