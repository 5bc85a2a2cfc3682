"""What is proved of a program before anything is left out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.certify.attempts import Oracle
from sdpdr.certify.flat import FlatProgram
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, OPTIMAL, UNBOUNDED, VALUE, Knowledge
from sdpdr.certify.prove import prove
from sdpdr.certify.units import NOTHING, Units
from sdpdr.program.point import as_dense
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.summary import contradicting
from sdpdr.solving.solve import solve

# Share of the remaining time for a solve, or for a proof.
SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Facts:
    """What is proved of a program.

    Attributes
    ----------
    is_feasible, is_bounded : bool
        Whether a feasible point and a bound on the objective are proved.
    is_infeasible, is_unbounded, is_optimal : bool
        Whether it is proved that there is no feasible point, no bound, or an optimum.
    contradicting : tuple of str
        Labels of constraints that the proof of infeasibility combines; empty if it does not say.
    multipliers : array or None
        At the optimum, of all rows as they are stated; zero of matrix inequalities.
    direction : mapping from variable name to array
        Along which the objective is unbounded.
    """

    is_feasible: bool = False
    is_bounded: bool = False
    is_infeasible: bool = False
    is_unbounded: bool = False
    is_optimal: bool = False
    contradicting: tuple[str, ...] = ()
    multipliers: Array | None = None
    direction: Mapping[str, Array] = field(default_factory=dict)


def facts_of(sdp: SDP, rows: Mapping[str, Index], size: int, deadline: Deadline) -> Facts:
    """Solve a program in standard form, and return what is proved.

    ``rows`` has the positions of each label's multipliers in an array of ``size``.
    """
    limit = SHARE * deadline.ahead
    found = solve(sdp, time_limit=limit, isolate=False, progress=False)
    z, step = np.zeros(size), {} if found.ray is None else found.ray.values
    for label, y in found.duals.items():
        if y.ndim == 1:
            z[rows[label]] = y
    return Facts(
        is_feasible=found.attained is not None,
        is_bounded=found.bound is not None,
        is_infeasible=found.status is Status.INFEASIBLE,
        is_unbounded=found.status is Status.UNBOUNDED,
        is_optimal=found.status is Status.SOLVED,
        contradicting=contradicting(found),
        multipliers=z if found.duals else None,
        direction={name: as_dense(d) for name, d in step.items()},
    )


def facts_of_cones(
    program: FlatProgram,
    units: Units,
    variables: Mapping[str, Index],
    ask: Oracle,
    deadline: Deadline,
) -> Facts:
    """What is proved of a program over cones, scaled by ``units``."""
    known = proved(program, ask, deadline)
    z = known.z
    step = known.ray if known.status == UNBOUNDED else None
    return Facts(
        is_feasible=VALUE in known.how,
        is_bounded=BOUND in known.how,
        is_infeasible=known.status == INFEASIBLE,
        is_unbounded=known.status == UNBOUNDED,
        is_optimal=known.status == OPTIMAL,
        multipliers=None if z is None else units.given_multipliers(z),
        direction={}
        if step is None
        else {name: units.given_point(step)[at] for name, at in variables.items()},
    )


def proved(program: FlatProgram, ask: Oracle, deadline: Deadline) -> Knowledge:
    """What the kernel proves of a program in half of the time that is left."""
    found = Knowledge(nothing=NOTHING)
    try:
        answer = ask(program, deadline.ahead)
        prove(program, answer, ask, seconds=SHARE * deadline.ahead, known=found)
    except ArithmeticError as error:  # numbers beyond those whose rounding is accounted for
        found.notes.append(str(error))
    return found
