"""Between boxed rows and the whole problem: first factors, scalars and multipliers of all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.frame import Options, pataki
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.problem import FactorBlock
from sdpdr.solvers.lowrank.general.ranks import limit_of
from sdpdr.solvers.lowrank.general.search import FactorSearch
from sdpdr.solvers.lowrank.general.verdict import Unknowns
from sdpdr.solvers.lowrank.interior.boxes import Boxed
from sdpdr.solvers.lowrank.interior.matrix import INTERIOR_RANK
from sdpdr.solvers.lowrank.interior.start import (
    noisy,
    shape_among_known,
    shape_from_lengths,
    smoothed,
)

_SHRINK = 0.5  # of random factors: rows that break at full size hold at a smaller one
# First columns over log n, of what multipliers bend: sensors with noisy ranges, 200 and 500 points,
# three seeds each, took 7.7 s in all with 1.5 and 12 s with 2.
_BENT = 1.5


def first_factors(boxed: Boxed, search: FactorSearch, first: Unknowns) -> list[Array]:
    """The first factors of all matrix variables, given, shaped or random.

    Parameters
    ----------
    boxed : Boxed
    search : FactorSearch
    first : Unknowns
        Used for factors without a shape.
    """
    problem, options, start = boxed.problem, search.options, search.start
    given, _ = first.layout.split(first.vector)
    factors = []
    known = {v.name for v in problem.sdp.psd_variables}
    for block, factor in zip(problem.blocks, given, strict=True):
        if block.scalar:
            continue
        is_given = start is not None and block.name in start.values
        shape = None if is_given or block.name not in known else _shape(boxed, options, block)
        if shape is not None:
            factors.append(_filled(boxed, options, block, shape))
        elif start is not None:
            factors.append(factor)
        else:
            smooth = smoothed(problem, block, factor[:, :INTERIOR_RANK])
            factors.append(_SHRINK * factor if smooth is None else smooth)
    return [points.met(f) for points, f in zip(boxed.blocks, factors, strict=True)]


def _shape(boxed: Boxed, options: Options, block: FactorBlock) -> Array | None:
    """The shape that lengths tell, turned onto known points where there are some."""
    held, seed, problem = boxed.held, options.seed, boxed.problem
    found = None if held is None else shape_among_known(problem, block, held, seed)
    return shape_from_lengths(problem, block, seed) if found is None else found


def _filled(boxed: Boxed, options: Options, block: FactorBlock, shape: Array) -> Array:
    """A first factor from a shape, with a few more columns.

    Where the matrix has no cost of its own, what bends it are multipliers of both signs, and
    more columns than the answer needs spare it the saddles.
    """
    bent = 0 if block.has_cost else int(np.ceil(_BENT * np.log(block.n + 1.0)))
    columns = max(bent, INTERIOR_RANK)
    most = min(limit_of(block, options), pataki(boxed.problem.m))
    rank = min(options.rank or max(columns, shape.shape[1] + 2), most)
    return block.project(noisy(shape, max(rank, 1), options.seed))


def placed(boxed: Boxed, factors: Sequence[Array], scalars: Array) -> Unknowns:
    """The unknowns of the whole problem.

    Parameters
    ----------
    boxed : Boxed
    factors : sequence of arrays
        Factors of the matrix variables.
    scalars : array
        All of them, as `Boxed.all_scalars` gives them.
    """
    problem, rest, parts = boxed.problem, iter(factors), []
    place = problem.free.shape[1]
    free = scalars[:place]
    for block in problem.blocks:
        if block.scalar:
            part = np.maximum(scalars[place : place + block.n], 0.0)
            parts.append(np.sqrt(part)[:, None])
            place += block.n
        else:
            parts.append(next(rest))
    layout = Layout(problem, tuple(p.shape[1] for p in parts))
    return Unknowns.without_multipliers(layout, layout.join(parts, free))


def completed(boxed: Boxed, points: Sequence[Array], multipliers: Array) -> Array:
    """Multipliers of all rows, those that hold points among them.

    Parameters
    ----------
    boxed : Boxed
    points : sequence of arrays
        All points of every matrix variable.
    multipliers : array of shape (m,)
        Those of the rows that hold points do not matter.
    """
    y = multipliers.copy()
    for block, p in zip(boxed.blocks, points, strict=True):
        if block.held is not None:
            y[block.held.rows] = 0.0
            product = block.forms.slack(np.append(1.0, y)) @ p
            y[block.held.rows] = block.held.multipliers(block.gathered(product))
    return y
