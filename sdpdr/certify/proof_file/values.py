"""Points next to one that is given, of which the checker proves that a feasible one is near."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.certify.check_proof import (
    EXPONENTIAL,
    POWER,
    SECOND_ORDER,
    NotProvedError,
    Program,
    System,
    are_singular_values_above,
    power_of_two,
)
from sdpdr.certify.proof_file.program import Witness, cleaned, with_scalars

# Steps of Newton's method, whose last one begins at rounding.
_STEPS = 12
# Rows of J J' from which it is factorized as a sparse matrix: if few entries are set, or always.
_FEW, _SPARSE, _DENSE = 500, 0.1, 3000
# Eigenvalues of J J' beside the largest that count as zero.
_ZERO = 1e-13
# Room that inequalities and cones get, so that they need not hold exactly, in units of their right
# sides; right sides beside the largest that are as good as zero.
_ROOMS, _SMALL = (1e-12, 1e-10, 1e-8), 1e-3
# Rows of cones that may be larger.
_HEADS = {SECOND_ORDER: [0], EXPONENTIAL: [2], POWER: [0, 1]}
# The first bound on singular values that is tried is this share of an estimate; each next one is
# half as large, down to this number.
_SHARE, _LEAST = 0.8, 1e-8
# Steps of inverse iteration, after which what is twice as large is gone.
_POWER_STEPS = 12
# A value as near to the one aimed at needs no other witness.
_NEAR = 1e-12


class Found(NamedTuple):
    """A number that the checker proves, its witness, and the number without rounding."""

    number: float
    witness: Any
    plain: float


def find_value(
    P: Program, forms: Iterable[Witness], goal: float | None = None, *, ray: bool = False
) -> Found | str:
    """The best value that is proved next to a point, or why there is none.

    Parameters
    ----------
    P : Program
    forms : iterable of dict
        The point, or the direction, in the arrays of the file, in forms that are tried in turn.
    goal : float, optional
        A value of the minimisation that is good enough.
    ray : bool, default False
        Whether it is a direction.
    """
    found: Found | str = ""
    for w in forms:
        found = _found(P, w, goal, ray)
        if isinstance(found, Found):
            break
    return found


def _found(P: Program, w: Witness, goal: float | None, ray: bool) -> Found | str:
    """The best of some points nearby, or why there is none."""
    try:
        System(P, w, ray=ray)
    except NotProvedError as why:
        return str(why)
    best: Found | None = None
    troubles = []
    for words, moved in _moves(P, w, ray):
        try:
            at = System(P, moved, ray=ray)
            value = value_at(at)
        except NotProvedError as why:
            troubles.append(f"{words}: {why}")
            continue
        if best is None or value < best.number:
            moved = with_sigma(moved, at)
            best = Found(value, moved, float(at.miss[0]))
        if goal is None or best.number - goal <= _NEAR * abs(goal):
            break
    return best or "; ".join(troubles)


def value_at(at: System) -> float:
    """The value that is proved at a point, for which a bound on singular values is looked for.

    Raises
    ------
    NotProvedError
    """
    if np.any(at.miss[at.solved]):
        J = at.scaled()[0]
        at.sigma = _SHARE * _least_singular_value(J)
        while at.sigma > _LEAST and not are_singular_values_above(at.sigma, J):
            at.sigma /= 2.0
    return at.value()


def _least_singular_value(J: sp.csr_array) -> float:
    """About the least singular value of a matrix, by inverse iteration; or a number above it."""
    M = sp.csr_array(J @ J.T)
    found, step = float(M.diagonal().min()), _solver(M)
    if step is None:
        return math.sqrt(found)
    v = np.random.default_rng(0).standard_normal(M.shape[0])
    for _ in range(_POWER_STEPS):
        v = step(v)
        size = float(np.linalg.norm(v))
        if not 0.0 < size < np.inf:
            break
        v = v / size
        found = min(found, float(v @ (M @ v)))
    return math.sqrt(max(found, 0.0))


def with_sigma(w: Witness, at: System) -> Witness:
    """The witness with the bound on singular values that was found."""
    return {**w, "sigma": np.array([at.sigma])} if at.sigma else w


def _moves(P: Program, w: Witness, ray: bool) -> Iterator[tuple[str, Witness]]:
    """The point, and others next to it, with words for each."""
    yield "as it is", w
    yield "moved onto the equations", _polished(P, w, ray)
    for moved in _inside(P, w, ray):
        yield "moved inside", moved


def _inside(P: Program, w: Witness, ray: bool) -> Iterator[Witness]:
    """The point with room in the inequalities and cones that it is next to leaving."""
    at = System(P, w, ray=ray)
    miss, b = at.miss[: P.m + 1], np.zeros(P.m + 1) if ray else P.b
    size = np.maximum(np.abs(b), _SMALL * (float(np.max(np.abs(b), initial=0.0)) or 1.0))
    is_open = P.inequality & ~P.equation & ~P.dropped
    for room in _ROOMS:
        more = np.zeros(at.miss.size)
        more[: P.m + 1] = np.where(is_open, np.maximum(room * size + miss, 0.0), 0.0)
        for kind, _, rows in P.cones:
            heads = rows[_HEADS[kind]]
            more[heads] = room * np.maximum(np.abs(at.miss[heads]), room)
        rows = at.solved | (more > 0.0)
        J = at.J[rows]
        step = _solver(sp.csr_array(J @ J.T)) if np.any(more) else None
        if step is not None:
            # Slack is minus what is missed.
            yield _polished(P, _moved(P, w, -(J.T @ step(more[rows])) * at.units), ray)


def _polished(P: Program, w: Witness, ray: bool) -> Witness:
    """The point after Newton steps of least length onto its equations, in its own units."""
    best: tuple[float, Witness] | None = None
    for _ in range(_STEPS):
        try:
            at = System(P, w, ray=ray)
        except NotProvedError:
            break
        if not np.any(at.solved):
            return w
        J = at.J
        lengths = np.sqrt(J.power(2).sum(axis=1))
        rows = at.solved & (lengths > 0.0)
        J, miss, h = J[rows], at.miss[rows], 1.0 / power_of_two(lengths[rows])
        J, miss = sp.csr_array(sp.diags_array(h) @ J), h * miss
        size = float(np.linalg.norm(miss))
        if best is not None and not size < 0.5 * best[0]:
            break
        best = size, w
        if size == 0.0:
            break
        step = _solver(sp.csr_array(J @ J.T))
        if step is None:
            break
        w = _moved(P, w, -(J.T @ step(miss)) * at.units)
    return w if best is None else best[1]


def _solver(M: sp.csr_array) -> Callable[[Array], Array] | None:
    """What solves with a semidefinite matrix in the range where it is not singular."""
    m = M.shape[0]
    if m > _DENSE or (m > _FEW and M.nnz <= _SPARSE * m * m):
        try:
            return spl.splu(sp.csc_array(M), permc_spec="MMD_AT_PLUS_A").solve
        except RuntimeError:
            return None
    values, Q = np.linalg.eigh(M.toarray())
    keep = values > _ZERO * values[-1]
    return lambda r: Q[:, keep] @ ((Q[:, keep].T @ r) / values[keep])


def _moved(P: Program, w: Witness, step: Array) -> Witness:
    """The point after a step; signs stay."""
    size = len(w["R"])
    z = w["z"] + step[size:]
    z = cleaned(np.where(P.sign, np.maximum(z, 0.0), z))
    return with_scalars(P, {**w, "R": cleaned(w["R"] + step[:size])}, z)
