"""Labels of a cvxpy problem's own constraints, through cvxpy's reductions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sdpdr.model.labels import Labels

if TYPE_CHECKING:
    import cvxpy as cp

# Longer labels do not help a reader.
LONGEST_LABEL = 40


def final_labels(problem: cp.Problem, inverse: list[Any]) -> dict[int, str]:
    """Labels of constraints, by their identities after all reductions of cvxpy."""
    return {final_identity(c.id, inverse): label for c, label in labels_of(problem)}


def final_identity(identity: int, inverse: Iterable[Any]) -> int:
    """The identity of a constraint after all reductions of cvxpy, from their inverse data."""
    for step in inverse:
        # One of the reductions stores a tuple, whose last part holds the identities.
        known = step[-1] if isinstance(step, tuple) and step else step
        ids = getattr(known, "cons_id_map", known)
        identity = ids.get(identity, identity) if isinstance(ids, dict) else identity
    return identity


def labels_of(problem: cp.Problem) -> Iterator[tuple[Any, str]]:
    """Each constraint and its label: the given one, its text if that is short, or its place.

    No two have one label: the first one that was given it keeps it, and others are numbered.
    """
    given = [getattr(c, "label", None) for c in problem.constraints]
    # A number that is added makes no label that was given to another constraint.
    kept = {label: k for k, label in reversed(list(enumerate(given))) if label}
    seen = Labels(kept)
    known = set[int]()
    for k, (c, label) in enumerate(zip(problem.constraints, given, strict=True)):
        if c.id in known:
            continue
        known.add(c.id)
        own = label or _written(c) or f"constraints[{k}]"
        yield c, own if kept.get(label) == k else seen.take(own)


def names_of(problem: cp.Problem) -> dict[Any, str]:
    """The name of each variable, which no other one has: of those with one name the first keeps it.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x, y = cp.Variable(name="x"), cp.Variable(name="x")
    >>> list(names_of(cp.Problem(cp.Minimize(x + y))).values())
    ['x', 'x_2']
    """
    variables = problem.variables()
    kept = {v.name(): v for v in reversed(variables)}
    seen = Labels(kept)
    return {v: v.name() if kept[v.name()] is v else seen.take(v.name()) for v in variables}


def _written(constraint: Any) -> str | None:
    """The text of a constraint; None if it is long or has constant arrays."""
    if any(constant.size > 1 for constant in constraint.constants()):
        return None
    written = as_written(constraint)
    return written if len(written) <= LONGEST_LABEL and "\n" not in written else None


def as_written(thing: Any) -> str:
    """The text of an expression or a constraint of cvxpy, without what cvxpy adds of its own.

    Examples
    --------
    >>> as_written("Sum(K, None, False) == 0.0"), as_written("PnormApprox(x) <= Sum(y, 0, False)")
    ('Sum(K) == 0.0', 'Pnorm(x) <= Sum(y, axis=0)')
    """
    # cvxpy prints the arguments of a sum at their defaults, and how it will write powers as cones.
    written = str(thing).replace(", None, False)", ")")
    written = re.sub(r"\b(Pnorm|Power|GeoMean)Approx\(", r"\1(", written)
    return re.sub(r", (\d+), False\)", r", axis=\1)", written)


def stem(label: str) -> str:
    """A label without its numbers.

    Examples
    --------
    >>> stem("edge 12-7") == stem("edge 3-4"), stem("limit_2")
    (True, 'limit')
    """
    return re.sub(r"_?\d+", "", label)


def joint_label(labels: Sequence[str]) -> str:
    """One label for constraints with one `stem`.

    Examples
    --------
    >>> joint_label(["edge 1", "edge 2", "edge 3"]), joint_label(["limit", "limit_2", "limit_3"])
    ('edge 1 to edge 3', 'limit to limit_3')
    >>> joint_label(["edge 1", "edge 4"]), joint_label(["edge 1", "edge 4", "edge 5", "edge 7"])
    ('edge 1 and edge 4', 'edge 1, edge 4 and 2 more')
    >>> joint_label(["x[0] <= 1", "x[7] <= 2", "x[4] <= 3"])
    'x[0] <= 1, x[7] <= 2 and x[4] <= 3'
    """
    first, last = labels[0], labels[-1]
    parts = [_around_last_number(label) for label in labels]
    is_run = all(
        (before, after) == (parts[0][0], parts[0][2]) and int(number) == int(parts[0][1]) + k
        for k, (before, number, after) in enumerate(parts)
    )
    if len(labels) == 1:
        return first
    # `Labels` numbers those that were given one label, from 2 on.
    is_numbered = all(label == f"{first}_{k}" for k, label in enumerate(labels[1:], start=2))
    if len(labels) > 2 and (is_run or is_numbered):
        return f"{first} to {last}"
    *some, end = labels if len(labels) <= 3 else [*labels[:2], f"{len(labels) - 2} more"]
    return f"{', '.join(some)} and {end}"


def _around_last_number(label: str) -> tuple[str, str, str]:
    """What is before the last number in a label, the number, and what is after it."""
    found = re.fullmatch(r"(.*?)(\d+)(\D*)", label, re.DOTALL)
    return (label, "0", "") if found is None else (found[1], found[2], found[3])
