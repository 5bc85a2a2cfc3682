"""Programs with a known optimum, built from a complementary pair of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg import Combined, InnerProduct, QuadraticForms, SvecMap, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable


@dataclass(frozen=True)
class Known:
    """A program, its optimal value and its multipliers."""

    sdp: SDP
    value: float
    duals: dict[str, np.ndarray]


def random_rows(rng, n, m, density=0.3):
    """Random sparse symmetric matrices as the rows of a map."""
    shape = (m, n * (n + 1) // 2)
    entries = sp.random_array(
        shape, density=density, random_state=rng, data_sampler=rng.standard_normal
    )
    return SvecMap(n, entries)


def known_program(
    seed, orders=(8, 5), m=7, inequalities=4, ranks=(2, 1), scalars=0, free=0, curved=0
):
    """Choose X, z and y, S with X S = 0 first, and data that make them optimal.

    Rows with an even number among the inequalities are tight with a positive multiplier; the
    others are slack. Every second non-negative scalar is positive.
    """
    rng = np.random.default_rng(seed)
    total = m + inequalities
    y = rng.standard_normal(total)
    tight = np.arange(inequalities) % 2 == 0
    y[m:] = np.where(tight, 0.5 + rng.random(inequalities), 0.0)
    variables, lhs, objective = [], {}, {}
    left, value = np.zeros(total), 0.0
    for k, (n, rank) in enumerate(zip(orders, ranks, strict=True)):
        name = f"X{k}"
        basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
        x = basis[:, :rank] * (1.0 + rng.random(rank)) @ basis[:, :rank].T
        slack = basis[:, rank:] * (1.0 + rng.random(n - rank)) @ basis[:, rank:].T
        rows = random_rows(rng, n, total)
        cost = slack - rows.adjoint(y)
        variables.append(PsdVariable(name, n))
        lhs[name], objective[name] = rows, InnerProduct(cost)
        left += rows.apply(x)
        value += float(np.sum(cost * x))
    for name, size, nonnegative, curvature in (
        ("p", scalars, True, None),
        ("f", free, False, None),
        ("q", curved, False, 1.0 + rng.random(curved)),
    ):
        if not size:
            continue
        matrix = rng.standard_normal((total, size))
        z = rng.standard_normal(size)
        s = -curvature * z if curvature is not None else np.zeros(size)
        if nonnegative:
            z = np.where(np.arange(size) % 2 == 0, np.abs(z) + 0.5, 0.0)
            s = np.where(z == 0.0, 0.5 + rng.random(size), 0.0)
        cost = s - matrix.T @ y
        variables.append(VectorVariable(name, size, nonnegative, curvature))
        lhs[name], objective[name] = VectorMap(matrix), VectorMap(cost[None, :])
        left += matrix @ z
        value += float(cost @ z)
        if curvature is not None:
            value += 0.5 * float(curvature @ z**2)
    rhs = left.copy()
    rhs[m:] += np.where(tight, 0.0, 0.3 + rng.random(inequalities))
    rows = [Rows("equal", "==", _some(lhs, slice(0, m)), rhs[:m])]
    if inequalities:
        rows.append(Rows("most", "<=", _some(lhs, slice(m, None)), rhs[m:]))
    sdp = SDP(tuple(variables), objective, tuple(rows))
    return Known(sdp, value, {"equal": y[:m], "most": y[m:]})


def _some(lhs, rows):
    chosen = {}
    for name, linear_map in lhs.items():
        matrix = linear_map.matrix()[rows]
        is_vector = isinstance(linear_map, VectorMap)
        chosen[name] = VectorMap(matrix) if is_vector else SvecMap(linear_map.n, matrix)
    return chosen


def dependence(n, rank, seed):
    """Most dependent unfolding: maximise |U^T X|^2 over correlation matrices X, U of low rank.

    The objective is tr(U^T X U) with U dense, so its matrix has n^2 entries.
    """
    rng = np.random.default_rng(seed)
    forms = QuadraticForms(rng.standard_normal((rank, n)))
    objective = Combined(np.full((1, rank), -1.0 / n), forms)
    unit = Rows("unit", "==", {"X": QuadraticForms(sp.eye_array(n))}, np.ones(n))
    return SDP((PsdVariable("X", n),), {"X": objective}, (unit,), maximize=True)
