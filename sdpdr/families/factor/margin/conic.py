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
from sdpdr.families.factor.margin.recipe import priced_offsets
from sdpdr.model import Block, Model
from sdpdr.model.blocks import MaxNorm, ProductLift, TraceNorm
from sdpdr.model.language import pos, scalar
from sdpdr.program import Solution
from sdpdr.program.point import Factor
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
    loss, start = _hinge_of(program), program.start()
    sharp = _SHARPER * tol
    # The bound is proved below, by the multipliers of the margins: no other proof is needed.
    solution = solve_step(
        _model(program).to_sdp(), "clarabel", "auto", tol=sharp, time_limit=deadline.left()
    )
    if not solution.values:
        return start
    read = _read(program, start, solution)
    valued = program.valued(read)
    zero = program.valued(replace(read, U=start.U, V=start.V, size=0.0))
    if zero.value <= valued.value * (1.0 + sharp):
        valued = zero
    weights = np.clip(solution.duals["margins"].reshape(loss.signs.shape), 0.0, program.c)
    sides, p = solution.duals.get("max_norm.diagonal"), len(start.rows)
    scales = None if sides is None else (sides[:p], sides[p:])
    proof = program.proved(loss.weighted(weights, program.c), scales)
    ended = replace(valued, bound=proof.bound, weights=proof.weights, scales=proof.scales)
    return replace(ended, history=(ended.record(0.0, deadline),))


def _hinge_of(program: Program) -> Hinge:
    assert isinstance(program.loss, Hinge)
    return program.loss


def _model(program: Program) -> Model:
    """The program of ``factors`` over the matrix of all products, with its kinks."""
    entries, loss = program.entries, _hinge_of(program)
    lift = ProductLift(entries.shape)
    norm = TraceNorm if program.factors.name == "trace" else MaxNorm
    each, level = np.indices(loss.signs.shape).reshape(2, -1)
    scores = lift.entries(entries.places[each])
    blocks: list[Block] = [lift, norm("Z", entries.shape)]
    if np.isfinite(program.ridge):
        price = program.c * program.ridge
        offsets, costs = priced_offsets(entries.places[each], entries.shape, price)
        scores = scores + offsets
        blocks += costs
    if loss.n_shared:
        scores = scores - scalar("theta", loss.n_shared)[level]
    hinge = pos(1.0 - loss.signs.ravel() * scores) * program.c
    return Model((*blocks, hinge.named("margins")), name="ratings", maximize=False)


def _read(program: Program, start: Completion, solution: Solution) -> Completion:
    """Factors, offsets and thresholds of an answer."""
    factor, p = Factor.of(solution.values["Z"]).factor, len(start.rows)
    U, V, size = principal(factor[:p], factor[p:], program.factors.name)
    rows, columns = (
        np.asarray(solution.values.get(name, zero))
        for name, zero in (("b", start.rows), ("d", start.columns))
    )
    return replace(start, U=U, V=V, rows=rows, columns=columns, size=size)
