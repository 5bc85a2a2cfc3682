r"""Bounds over the rationals, for small programs whose dual slack has no interior.

Where the optimal slack is singular and no feasible multipliers make it positive definite, no
factorization in floating point can tell a slack that is positive semidefinite from one that is
nearly so. Multipliers that are fractions of few digits make it one exactly if the program itself
is made of such numbers: then :math:`S = C + A^*(y)` is eliminated over the rationals.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.exact import Mask, Symmetric, Vector, add, matrix_row, range_of, vector_row
from sdpdr.program.certificate.free import Certificate, Duals
from sdpdr.program.rows import Expression
from sdpdr.program.sdp import SDP

# Largest order and number of rows for which fractions take no time to speak of.
_ORDER, _ROWS = 24, 200
# Denominators of multipliers that are tried, the plainest first; at last the doubles themselves.
_DENOMINATORS = (1, 64, 10_000, None)
# Multipliers beside the largest that are noise.
_NOISE = 1e-7

Fractions = dict[str, list[Fraction]]


def rational(sdp: SDP, y: Duals) -> Certificate | None:
    """The best bound that multipliers prove when rounded to fractions; None if there is none.

    Parameters
    ----------
    sdp : SDP
        Without matrix inequalities and quadratic costs; others are left alone.
    y : mapping from label to array
    """
    if not _is_small(sdp):
        return None
    best: tuple[Fraction, int | None, Fractions] | None = None
    for denominator in _DENOMINATORS:
        found = _fractions(sdp, y, denominator)
        value = _dual_value(sdp, found)
        if (best is None or value > best[0]) and _is_feasible(sdp, found):
            best = value, denominator, found
    if best is None:
        return None
    value, denominator, found = best
    words = "multipliers as they are"
    if denominator is not None:
        words = f"multipliers rounded to fractions with denominators up to {denominator}"
    bound = _below(value)
    if bound is None:
        return None
    duals = {label: np.array([float(v) for v in part]) for label, part in found.items()}
    words = f"{words}; the dual slack is positive semidefinite in exact arithmetic"
    return Certificate(sdp.report(bound), words, rigorous=True, duals=duals)


def _is_small(sdp: SDP) -> bool:
    if sdp.lmis or any(v.curvature is not None for v in sdp.vector_variables):
        return False
    order = sum(v.n for v in sdp.psd_variables)
    return order <= _ORDER and sum(r.m for r in sdp.rows) <= _ROWS


def _fractions(sdp: SDP, y: Duals, denominator: int | None) -> Fractions:
    largest = max((float(np.max(np.abs(y[r.label]), initial=0.0)) for r in sdp.rows), default=0.0)
    found: Fractions = {}
    for r in sdp.rows:
        part = [Fraction(float(v)) for v in y[r.label]]
        if denominator is not None:
            part = [
                v.limit_denominator(denominator) if abs(v) > _NOISE * largest else Fraction(0)
                for v in part
            ]
        found[r.label] = [max(v, Fraction(0)) for v in part] if r.relation == "<=" else part
    return found


def _dual_value(sdp: SDP, y: Fractions) -> Fraction:
    value = Fraction(sdp.constant)
    for r in sdp.rows:
        terms = zip(r.rhs.tolist(), y[r.label], strict=True)
        value -= sum((Fraction(b) * v for b, v in terms), Fraction(0))
    return value


def _is_feasible(sdp: SDP, y: Fractions) -> bool:
    """Whether every slack lies in its cone, exactly."""
    for v in sdp.psd_variables:
        slack = _matrix_slack(sdp, v.name, v.n, y)
        if slack is None or range_of(slack) is None:
            return False
    for w in sdp.vector_variables:
        left = _scalar_slack(sdp, w.name, y)
        if any(value < 0 or not w.nonnegative for value in left.values()):
            return False
    return True


def _matrix_slack(sdp: SDP, name: str, n: int, y: Fractions) -> Symmetric | None:
    """C + A*(y); None where numbers of the program are not known exactly."""
    keep: Mask = np.ones(n, dtype=bool)
    total: Symmetric = {}
    for expression, e, weight in _terms(sdp, y):
        linear_map = expression.get(name)
        if linear_map is None:
            continue
        assert isinstance(linear_map, LinearMap)
        row = matrix_row(linear_map, e, keep)
        if row is None:
            return None
        add(total, row, weight)
    return total


def _scalar_slack(sdp: SDP, name: str, y: Fractions) -> Vector:
    """The entries of c + B^T y that are not zero."""
    total: Vector = {}
    for expression, e, weight in _terms(sdp, y):
        linear_map = expression.get(name)
        if linear_map is not None:
            assert isinstance(linear_map, VectorMap)
            add(total, vector_row(linear_map, e), weight)
    return total


def _terms(sdp: SDP, y: Fractions) -> Iterator[tuple[Expression, int, Fraction]]:
    yield sdp.objective, 0, Fraction(1)
    for r in sdp.rows:
        yield from ((r.lhs, e, v) for e, v in enumerate(y[r.label]) if v)


def _below(value: Fraction) -> float | None:
    """The largest double that is no larger; None for numbers beyond all doubles."""
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if Fraction(found) <= value else float(np.nextafter(found, -np.inf))
