r"""Small tables under the hinge as a conic program, which interior points solve to many digits.

Descent on factors rounds the kinks of the hinge off, and multipliers are as good as the slopes of
what is left. Of few ratings nearly every margin lies on its kink, and such multipliers stay some
percent below the best. The multipliers of the conic program are those of the kinks themselves; they
prove a bound by the same inequality as any others (``factors``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.margin.factors import Completion, Program
from sdpdr.families.factor.margin.losses import Hinge
from sdpdr.families.factor.margin.norms import principal
from sdpdr.families.factor.margin.recipe import completed, read_completed
from sdpdr.model import Model
from sdpdr.solving.solve import solve_step

# Users and items in all, and margins, up to which an interior point takes a second or two.
_SMALL, _FEW = 45, 1200
# The same under the max-norm, where descent ends up to eighty percent above its bound: as many as
# memory holds the factorization of; seconds at a hundred users and items with 4832 margins (15 were
# measured), which grow as the sixth power; and how many times these must fit into the time left.
_MEDIUM, _MANY, _SECONDS, _SPARE = 150, 12_000, 15.0, 2.0
# Of the gap that is asked for: what interior points aim at, and what is not worth a matrix.
_SHARPER = 0.01


def is_small(program: Program, deadline: Deadline) -> bool:
    """Whether a program has kinks, and few enough of them for an interior point in time."""
    loss = program.loss
    if not isinstance(loss, Hinge):
        return False
    if sum(program.entries.shape) <= _SMALL and loss.signs.size <= _FEW:
        return True
    return seconds_of(program) < deadline.ahead


def seconds_of(program: Program) -> float:
    """A time limit under which a hinge with the max-norm goes to an interior point.

    Infinite for all else, and for programs that are too large.
    """
    loss, n = program.loss, sum(program.entries.shape)
    if not isinstance(loss, Hinge) or program.factors.name != "max":
        return np.inf
    if n > _MEDIUM or loss.signs.size > _MANY:
        return np.inf
    return _SPARE * _SECONDS * max((n / 100) ** 6, loss.signs.size / 5000, 1.0 / 3.0)


def what_helps(program: Program, is_price_chosen: bool) -> str:
    """Advice where the gap is too large; the choice of a price has half of the time."""
    if not isinstance(program.loss, Hinge) or program.factors.name != "max":
        return "Raise max_iter or time_limit (None for none)."
    others = 'norm="trace" or loss="squared"'
    seconds = seconds_of(program)
    if np.isfinite(seconds):
        limit = np.ceil((2.2 if is_price_chosen else 1.1) * seconds)
        return (
            f"With time_limit={limit:g} or more (None for none) an interior point solves it; or "
            f"pass {others}."
        )
    return (
        "Descent ends early for a hinge with the max-norm, and more rounds help little; this one "
        f"is too large for an interior point. Pass {others}."
    )


def complete_by_cones(program: Program, tol: float, deadline: Deadline) -> Completion:
    """The completion that a conic solver finds, with the bound that its multipliers prove.

    Parameters
    ----------
    program : Program
        For which `is_small` holds.
    tol : float
        Of the relative gap.
    deadline : Deadline

    Returns
    -------
    Completion
        The first guess of the descent, with no bound, where the solver has no answer.
    """
    loss, start = program.loss, program.start()
    assert isinstance(loss, Hinge)
    sharp, norm = _SHARPER * tol, program.factors.name
    blocks = completed(program.entries, loss.signs, program.c, norm, program.ridge, loss.n_shared)
    model = Model(tuple(blocks), name="ratings", maximize=False)
    # The bound is proved below, by the multipliers of the margins: no other proof is needed.
    solution = solve_step(model.to_sdp(), "clarabel", "auto", tol=sharp, time_limit=deadline.left())
    if not solution.values:
        return start
    U, V, offsets, scales = read_completed(solution, program.entries.shape)
    U, V, size = principal(U, V, norm)
    rows, columns = program.offsets.sides(offsets)
    read = replace(start, U=U, V=V, rows=rows, columns=columns, size=size)
    valued = program.valued(read)
    zero = program.valued(replace(read, U=start.U, V=start.V, size=0.0))
    if zero.value <= valued.value * (1.0 + sharp):
        valued = zero
    ended = valued.proved(program.weighed(solution.duals["margins"], scales))
    return replace(ended, history=(ended.record(deadline, width=0.0),))
