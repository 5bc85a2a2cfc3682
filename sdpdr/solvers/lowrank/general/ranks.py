r"""How many columns the factors have: at first, and when to add or to drop some.

A point that is stationary at its rank is optimal when the dual slack S is positive semidefinite.
An eigenvector v of a negative eigenvalue is a direction of descent for K + t v v^T, so it becomes
a column. Columns that shrink to nothing are dropped after a rotation of the factor, which changes
neither K nor any value.

References
----------
Burer and Monteiro, Math. Program. 95, 2003; Boumal, Voroninski and Bandeira, NeurIPS 2016;
Barvinok, Discrete Comput. Geom. 13, 1995; Pataki, Math. Oper. Res. 23(2), 1998.
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.frame import Options, pataki
from sdpdr.solvers.lowrank.general.lagrangian import Layout, Local
from sdpdr.solvers.lowrank.general.problem import FactorBlock, FactorProblem
from sdpdr.solvers.lowrank.general.verdict import FactorVerdict

_LEAST_RANK = 3
_NOTHING = 1e-12  # squared size of a column that leaves no trace
_OUTGROWN = 0.1  # share of the squared length of a new column below which an old one gives way
_GAP = 1e-2  # squared size of a column over that of the one before, where a gap sets it apart
_FOLLOWED = 0.1  # share of the lowest eigenvalue from which on others are followed too


def first_ranks(problem: FactorProblem, options: Options, share: float = 2.0) -> tuple[int, ...]:
    """Columns to start with: about 2 log n, below the bound of Barvinok and Pataki.

    Parameters
    ----------
    problem : FactorProblem
    options : Options
    share : float, default 2.0
        In place of the 2.
    """
    return tuple(_first_rank(block, problem.m, options, share) for block in problem.blocks)


def _first_rank(block: FactorBlock, m: int, options: Options, share: float) -> int:
    wanted = options.rank
    if wanted is None:
        wanted = min(pataki(m), max(_LEAST_RANK, int(np.ceil(share * np.log(block.n + 1.0)))))
    return max(1, min(wanted, limit_of(block, options)))


def limit_of(block: FactorBlock, options: Options) -> int:
    """Most columns for a factor."""
    most = block.largest_rank
    return most if options.max_rank is None else min(most, options.max_rank)


def first_vector(problem: FactorProblem, ranks: tuple[int, ...], seed: int) -> Array:
    """Random factors, scaled as a whole to meet the rows as well as they can."""
    rng = np.random.default_rng(seed)
    layout = Layout(problem, ranks)
    factors = [rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in layout.shapes]
    vector = layout.project(layout.join(factors, np.zeros(problem.free.shape[1])))
    fit = problem.fit(layout.values(vector)[1:])
    return vector * np.sqrt(min(max(fit, 1e-3), 1e3))


def grown(
    local: Local, verdict: FactorVerdict, options: Options
) -> tuple[Layout, Array, str] | None:
    """The point with escape directions as new columns, and why; None where there are none."""
    layout = local.function.layout
    factors, free = layout.split(local.vector)
    wider, words = [], []
    floor = _NOTHING * max(1.0, sum(float(np.sum(np.square(f))) for f in factors))
    blocks = layout.problem.blocks
    for block, factor, (values, vectors) in zip(blocks, factors, verdict.lows, strict=True):
        added, low = factor, float(np.min(values, initial=0.0))
        if block.scalar and low < 0.0:
            added = _kicked(local, block, factor, values, vectors)
        elif low < 0.0:
            leap = float(np.sum(np.square(_step(local, block, values[0], vectors[:, [0]], 1))))
            base = present(factor, max(floor, _OUTGROWN * leap))
            room = max(0, limit_of(block, options) - base.shape[1])
            chosen = np.flatnonzero(values < _FOLLOWED * low)[:room]
            columns = [_step(local, block, values[k], vectors[:, [k]], chosen.size) for k in chosen]
            added = np.hstack([base, *columns]) if columns else factor
        if added.shape[1] > factor.shape[1]:
            words.append(
                f"rank of {block.name!r} grows from {factor.shape[1]} to {added.shape[1]}: its "
                f"dual slack has eigenvalue {low:.1e}, and the eigenvector is a way down."
            )
        wider.append(added)
    if all(new is old for new, old in zip(wider, factors, strict=True)):
        return None
    return (
        Layout(layout.problem, tuple(f.shape[1] for f in wider)),
        layout.join(wider, free),
        " ".join(words),
    )


def present(factor: Array, floor: float) -> Array:
    """The factor without columns that are nothing, so that others find room."""
    _, size, right = np.linalg.svd(factor, full_matrices=False)
    count = int(np.sum(np.square(size) > floor))
    return factor if count == factor.shape[1] else np.asarray(factor @ right[:count].T)


def _step(local: Local, block: FactorBlock, value: float, vector: Array, share: int) -> Array:
    """The column t v of least augmented Lagrangian, to first order in t^2."""
    bend = float(np.sum(np.square(block.forms.values(vector)[1:][local.active])))
    square = -value / (local.function.penalty * bend) if bend > 0.0 else 1.0
    return np.asarray(np.sqrt(min(square, 1e6) / share) * vector)


def _kicked(
    local: Local, block: FactorBlock, factor: Array, values: Array, vectors: Array
) -> Array:
    """Scalars that are zero but would rather grow."""
    changed = factor.copy()
    for k in np.flatnonzero(values < 0.0):
        step = _step(local, block, float(values[k]), vectors[:, [k]], 1)
        changed = np.where(np.abs(step) > np.abs(changed), step, changed)
    return changed if np.any(changed != factor) else factor


def shrunk(local: Local, share: float, apart: float = 0.0) -> tuple[Layout, Array, str] | None:
    """The point without columns whose part of the trace is below a share; None if all matter.

    Columns below ``apart`` go as well if they are set apart from the larger ones by a gap.
    """
    layout = local.function.layout
    factors, free = layout.split(local.vector)
    kept, words = [], []
    for block, factor in zip(layout.problem.blocks, factors, strict=True):
        if block.scalar or factor.shape[1] == 1:
            kept.append(factor)
            continue
        _, size, right = np.linalg.svd(factor, full_matrices=False)
        parts = np.square(size) / max(float(np.sum(np.square(size))), np.finfo(float).tiny)
        gaps = np.flatnonzero((parts[1:] < _GAP * parts[:-1]) & (parts[1:] <= apart))
        count = max(1, min([int(np.sum(parts > share)), *(gaps + 1)]))
        kept.append(factor if count == factor.shape[1] else factor @ right[:count].T)
        if count < factor.shape[1]:
            words.append(
                f"rank of {block.name!r} shrinks from {factor.shape[1]} to {count}: the other "
                f"columns hold less than {max(share, apart):.0e} of the trace each."
            )
    if not words:
        return None
    return (
        Layout(layout.problem, tuple(f.shape[1] for f in kept)),
        layout.join(kept, free),
        " ".join(words),
    )
