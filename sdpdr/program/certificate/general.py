r"""Programs of any kind: multipliers as they are, with limits, or moved until they are feasible.

The program is brought to equalities with PSD matrices, non-negative and free scalars, where the
multipliers of inequalities and of matrix inequalities are dual slack like any other. Multipliers
are first projected onto the equations of the free scalars. Then each of

- the dual point as it is,
- the dual point with what it lacks paid for by limits on traces and scalars
  (`sdpdr.program.limits`, `sdpdr.program.certificate.account`),
- the dual point moved (`sdpdr.program.certificate.moving`)

is tried, and the best bound is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sdpdr.base.deadline import Effort, EffortSpentError
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.program.boxes import dual_box, within
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Arithmetic
from sdpdr.program.certificate.free import Certificate, Duals, on_equations
from sdpdr.program.certificate.moving import Move, distance, moves, reach, size
from sdpdr.program.face import null_vectors
from sdpdr.program.limits import TraceLimit, VariableLimits
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import of_equations, of_program, with_equations

# A loss, relative to the dual value as it was, that no other argument needs to improve on.
_GOOD = 1e-9


def general(
    sdp: SDP,
    duals: Duals,
    arithmetic: Arithmetic,
    effort: Effort | None = None,
    goal: float | None = None,
) -> Certificate:
    """The best bound that one of these arguments proves in the time there is, or why none does.

    The first that is as good as the goal, in the sense of the person, will do.

    Raises
    ------
    EffortSpentError
        If there is no time at all.
    """
    effort = effort or Effort()
    effort.spend()
    given = sdp
    # Beyond the price of a scalar that is slack of one row, a multiplier proves nothing.
    plain = within(dual_box(sdp) or {}, {r.label: duals[r.label] for r in sdp.rows})
    sdp = sdp.remembered(with_equations)
    y = on_equations(sdp, {**of_equations(given, duals), **plain})
    limits = sdp.remembered(VariableLimits)
    account = Account(sdp, arithmetic, limits)
    claimed = sdp.dual_value(y)
    best: tuple[float, str, Duals] | None = None
    troubles: list[str] = []
    ended = "no strictly feasible dual point was found to move towards"
    try:
        for value, words, proving in _attempts(sdp, y, account, limits, effort):
            if value is None:
                troubles.append(account.trouble)
            elif best is None or value > best[0]:
                best = (value, words, proving)
            if best is None:
                continue
            if best[0] >= claimed - _GOOD * abs(claimed) or reaches(sdp, sdp.report(best[0]), goal):
                break
    except EffortSpentError as error:
        ended = str(error)
    if best is None:
        reasons = "; ".join(dict.fromkeys(t for t in troubles if t))
        return Certificate(None, f"{reasons}, and {ended}")
    value, words, proving = best
    words = f"{words}; {arithmetic.words}"
    kept = of_program(given, proving)
    return Certificate(sdp.report(value), words, arithmetic.rigorous, kept)


def reaches(sdp: SDP, bound: float, goal: float | None) -> bool:
    """Whether a bound is as good as one that is good enough; both in the sense of the person."""
    return goal is not None and (bound <= goal if sdp.maximize else bound >= goal)


def _attempts(
    sdp: SDP, y: Duals, account: Account, limits: VariableLimits, effort: Effort
) -> Iterator[tuple[float | None, str, Duals]]:
    yield account.value(y), "multipliers that satisfy all equations", y
    effort.spend()
    ends = _ends(sdp, y)
    for margin in account.arithmetic.margins(max((v.n for v in sdp.psd_variables), default=1)):
        effort.spend()
        lifts = {name: max(0.0, margin * largest - low) for name, (low, largest) in ends.items()}
        value = account.value(y, lifts)
        needed = {name: limits.trace(name) for name, t in lifts.items() if t > 0.0}
        yield value, _words_of_limits(needed), y
        if value is not None or None in needed.values():
            break
    for move in moves(sdp, effort):
        effort.spend()  # those that are known already come without a look at the clock
        value, moved = _moved(sdp, y, move, account)
        yield value, move.words, moved


def _ends(sdp: SDP, y: Duals) -> dict[str, tuple[float, float]]:
    """The least eigenvalue of every matrix of dual slack, and the size of the matrix."""
    ends = {}
    for v in sdp.psd_variables:
        slack = sdp.dual_slack(v.name, y)
        low = smallest_eigenvalue(slack, null_vectors(sdp, v.name))[0]
        ends[v.name] = (low, max(size(slack), abs(low)))
    return ends


def _words_of_limits(limits: Mapping[str, TraceLimit | None]) -> str:
    words = [
        f"tr {name} <= {limit.value:.6g} from {limit.source}"
        for name, limit in limits.items()
        if limit is not None
    ]
    if len(words) > 2:
        words = [*words[:2], f"{len(words) - 2} more"]
    return "dual slack made up for by limits on the variables" + (
        f" ({', '.join(words)})" if words else ""
    )


def _moved(sdp: SDP, y: Duals, move: Move, account: Account) -> tuple[float | None, Duals]:
    """What is proved by multipliers that were moved, and these."""
    needed = distance(sdp, y, move)
    if not np.isfinite(needed):
        return None, y
    unit = 1.0 if move.is_point else reach(sdp, y, move)
    n = max((v.n for v in sdp.psd_variables), default=1)
    for margin in account.arithmetic.margins(n):
        # Rounding led them away from the equations of free scalars.
        moved = on_equations(sdp, move.apply(y, needed * (1.0 + margin) + margin * unit))
        value = account.value(moved)
        if value is not None:
            return value, moved
    return None, y
