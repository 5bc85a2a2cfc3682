"""A direction along which the objective improves without limit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdpdr.certify.constants import constant_direction, holds_at_zero
from sdpdr.program.run import Status
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.view import UndecidedError, View, quoted


def find_constant(view: View) -> Iterator[Finding]:
    """Find a matrix of which all entries can grow alike; no solver is asked.

    An error where zero is feasible; elsewhere constraints may contradict each other.
    """
    is_error = holds_at_zero(view.stated.program)
    named, grows = view.stated, "grows" if view.maximize else "falls"
    where = "" if is_error else ", from any feasible point,"
    for name, (i, _) in named.entries.items():
        places = named.variables.get(name, np.zeros(0, dtype=np.intp))
        # With fewer unknowns than entries, some are known to be equal or zero.
        if places.size < max(i.size, 1) or constant_direction(named.program, places) is None:
            continue
        order = int(i[-1]) + 1
        yield Finding(
            Kind.UNBOUNDED,
            Severity.ERROR if is_error else Severity.WARNING,
            (),
            (name,),
            f"The objective {grows} without limit{where} along the direction 1 1^T, in which all "
            f"entries of {name!r} grow alike: no constraint limits that.",
            f"If {name!r} holds inner products of points, centre them, by the constraint that "
            "every row has the sum zero, and limit their distances. Otherwise bound its entries, "
            "or check the sign of the objective.",
            is_proved=True,
            data={"direction": {name: np.ones((order, order))}},
        )


def find_unbounded(view: View) -> Iterator[Finding]:
    """Find a direction that improves the objective and breaks no constraint."""
    (solution, _, direction), named = view.answered, view.stated
    if solution.status is not Status.UNBOUNDED:
        if solution.bound is None:
            raise UndecidedError(
                "neither a bound on the objective was proved nor that there is none"
            )
        return
    names = tuple(name for name in named.variables if np.any(direction.get(name, 0.0)))
    if not direction:
        names = named.variables_of(np.flatnonzero(named.program.c)) or tuple(named.variables)
    grows = "grows" if view.maximize else "falls"
    where = (
        f" along a direction in which only {quoted(names)} change{'s' * (len(names) == 1)}"
        if direction
        else f", though along no single direction; its variables are {quoted(names)}"
    )
    yield Finding(
        Kind.UNBOUNDED,
        Severity.ERROR,
        (),
        names,
        f"The objective {grows} without limit{where}.",
        f"Add a constraint that bounds {quoted(names)}, or check the sign of the objective.",
        is_proved=True,
        data={"direction": {name: direction[name] for name in names if direction}},
    )
