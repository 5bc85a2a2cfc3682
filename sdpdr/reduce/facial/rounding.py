"""From multipliers in floating point to fractions that prove something, or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg.exact import Vector, add
from sdpdr.program.echelon import Echelon
from sdpdr.program.rays.unseen import with_identity
from sdpdr.reduce.facial.faces import Faces, Line, Multiplier
from sdpdr.reduce.facial.scan import Found, Place

# Multipliers below these shares of the largest are taken for zero, in turn.
_NOISE = (1e-2, 1e-4, 1e-6)
_DENOMINATORS = (1, 2, 6, 12, 60)
# Eigenvalues below this share of the largest are taken for zero; entries of their vectors are
# whole or simple fractions up to the accuracy after it.
_SINGULAR, _SIMPLE = 1e-4, 1e-3


def rounded(faces: Faces, y: Mapping[Place, float]) -> Found | None:
    """Fractions near some multipliers that prove a new face, or None.

    They are simple fractions; or else exact solutions of the equations that the multipliers
    nearly solve, W u = 0 for simple vectors u and r = 0, nearest in the unknowns left free.
    """
    size = max(map(abs, y.values()), default=0.0)
    if not size or not np.isfinite(size):
        return None
    for noise in _NOISE:
        kept = {place: t / size for place, t in y.items() if abs(t) > noise * size}
        for candidate in (*_simple(kept), *_solved(faces, kept)):
            proved = faces.consequences(candidate)
            if proved:
                return tuple(candidate), proved
    return None


def _simple(y: Mapping[Place, float]) -> Iterator[list[Multiplier]]:
    units = {1.0, min(map(abs, y.values())), float(np.median(np.abs([*y.values()])))}
    for unit in sorted(units, reverse=True):
        for d in _DENOMINATORS:
            values = {p: Fraction(round(t / unit * d), d) for p, t in y.items()}
            yield [(*p, t) for p, t in values.items() if t]


def _solved(faces: Faces, y: Mapping[Place, float]) -> Iterator[list[Multiplier]]:
    """Exact solutions of the equations that the multipliers seem to satisfy."""
    places = list(y)
    lines = [faces.line(*place) for place in places]
    known = [(p, line) for p, line in zip(places, lines, strict=True) if line is not None]
    places, exact = [p for p, _ in known], [line for _, line in known]
    t = np.array([y[p] for p in places])
    equations = Echelon()
    side = {e: line.side for e, line in enumerate(exact) if line.side}
    if abs(sum(float(b) * t[e] for e, b in side.items())) < _SINGULAR:
        equations.insert(side)
    for equation in (*_of_scalars(faces, exact, t), *_of_matrices(exact, t)):
        equations.insert(equation)
    free = [e for e in range(len(places)) if e not in equations.vectors]
    for d in (12, 5040):
        chosen = {e: Fraction(t[e]).limit_denominator(d) for e in free}
        values = dict(chosen)
        for pivot in equations.vectors:
            values[pivot] = sum(
                (a * chosen[e] for e, a in equations.row(pivot).items()), Fraction(0)
            )
        yield [(*places[e], values[e]) for e in range(len(places)) if values[e]]


def _of_scalars(faces: Faces, lines: list[Line], t: Array) -> Iterator[Vector]:
    columns: dict[tuple[str, int], Vector] = {}
    for e, line in enumerate(lines):
        for name, row in line.scalars.items():
            for k, b in row.items():
                columns.setdefault((name, k), {})[e] = b
    for (name, _), column in columns.items():
        value = sum(float(b) * t[e] for e, b in column.items())
        if not faces.sdp.variable(name).is_signed or abs(value) < _SINGULAR:
            yield column


def _of_matrices(lines: list[Line], t: Array) -> Iterator[Vector]:
    """Equations W u = 0 for the simple null vectors of each W."""
    for name in dict.fromkeys(name for line in lines for name in line.matrices):
        parts = [line.matrices.get(name, {}) for line in lines]
        support = sorted({k for matrix in parts for place in matrix for k in place})
        new = {i: k for k, i in enumerate(support)}
        w = np.zeros((len(support),) * 2)
        for matrix, weight in zip(parts, t, strict=True):
            for (i, j), a in matrix.items():
                w[new[i], new[j]] += weight * float(a)
                w[new[j], new[i]] = w[new[i], new[j]]
        for u in _null_vectors(w):
            for i in support:
                equation: Vector = {}
                for e, matrix in enumerate(parts):
                    for k, weight in u.items():
                        place = min(i, support[k]), max(i, support[k])
                        add(equation, {e: matrix.get(place, Fraction(0))}, weight)
                if equation:
                    yield equation


def _null_vectors(w: Array) -> Iterator[Vector]:
    """Simple fractions near a reduced basis of the null space."""
    if not w.size:
        return
    values, vectors = np.linalg.eigh(w)
    null = vectors[:, np.abs(values) <= _SINGULAR * max(np.abs(values).max(), 1e-300)]
    if not null.shape[1]:
        return
    for column in with_identity(null).T:
        simple = {k: Fraction(a).limit_denominator(12) for k, a in enumerate(column.tolist())}
        if all(abs(float(a) - column[k]) < _SIMPLE for k, a in simple.items()):
            yield {k: a for k, a in simple.items() if a}
