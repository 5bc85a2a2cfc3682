"""Programs that fall apart, and matrices whose rows no constraint joins."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Index
from sdpdr.base.rows import listed
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.subsets import Mask
from sdpdr.solving.diagnosis.view import Named, View, quoted

# Rows of a component that a sentence names, and components.
_ROWS, _COMPONENTS = 6, 4


def find_components(view: View) -> Iterator[Finding]:
    """Find parts that nothing joins: of the program, and of each matrix."""
    yield from _of_program(view.stated)
    for name, (i, j) in view.stated.entries.items():
        if name in view.stated.variables:
            yield from _of_matrix(view.stated, name, i, j)


def _of_program(named: Named) -> Iterator[Finding]:
    """Unknowns that share no constraint, not even by way of others."""
    rows, n = named.rows.tocoo(), named.program.c.size
    right = n + named.groups[rows.coords[0]]
    part = _components(rows.coords[1], right, n + named.groups.size)[:n]
    # A variable of which no entry is joined to any other is one group; single entries are none.
    alone = np.bincount(part)[part] == 1
    for at in (places for places in named.variables.values() if places.size):
        part[at[alone[at]]] = part[at[0]] if alone[at].all() else -1
    known = np.concatenate([np.arange(0), *named.variables.values()])
    numbers = np.unique(part[known[part[known] >= 0]])
    if numbers.size < 2:
        return
    parts = [_entries_of(named, part == number) for number in numbers[:_COMPONENTS]]
    shown = "; ".join(parts) + "; ..." * (numbers.size > _COMPONENTS)
    yield Finding(
        Kind.DISCONNECTED,
        Severity.NOTE,
        (),
        tuple(named.variables),
        f"No constraint joins {numbers.size} groups of variables: {shown}.",
        "Solve one program for each group, or add the constraint that joins them.",
        is_proved=True,
        data={"components": [named.variables_of(np.flatnonzero(part == k)) for k in numbers]},
    )


def _entries_of(named: Named, chosen: Mask) -> str:
    """Variables of which all or some entries are chosen."""
    said = []
    for name, at in named.variables.items():
        entries = np.flatnonzero(chosen[at])
        if entries.size == at.size:
            said.append(repr(name))
        elif entries.size:
            said.append(f"entries {listed(entries, _ROWS)} of {name!r}")
    return " and ".join(said)


def _of_matrix(named: Named, name: str, i: Index, j: Index) -> Iterator[Finding]:
    """Rows of a matrix, with entries (i, j), of which none that joins them is in any constraint."""
    places, order = named.variables[name], int(i[-1]) + 1
    if order < 2 or places.size != i.size:
        return
    at = np.full(named.program.c.size, -1)
    at[places] = np.arange(places.size)
    # Equations K u = 0 of all points move no two of them together.
    equations = {k: x for k, x in named.constraints.items() if np.all(x < named.program.f.size)}
    null = [k for k, x in equations.items() if _has_null_vector(named, x, at, i, j)]
    joins = ~named.signs
    joins[np.concatenate([np.arange(0), *(equations[k] for k in null)])] = False
    used = at[named.rows[joins].indices]
    used = np.append(used[used >= 0], np.flatnonzero(named.program.c[places]))
    part = _components(i[used], j[used], order)
    numbers = np.unique(part)
    if numbers.size < 2:
        return
    parts = [np.flatnonzero(part == number) for number in numbers]
    shown = "; ".join(f"row{'s' * (p.size > 1)} {listed(p, _ROWS)}" for p in parts[:_COMPONENTS])
    more = "; ..." if len(parts) > _COMPONENTS else ""
    which = f"No constraint{f' but {quoted(null)}' if null else ''} and no cost"
    says = f"{which} joins {len(parts)} components of {name!r}: {shown}{more}."
    if numbers.size == order:
        says = f"{which} has an entry of {name!r} off the diagonal."
    if null:
        says += f" All that {quoted(null)} says is that {name!r} has a null vector."
    instead = (
        "Add a constraint that joins them, such as an edge, or solve each component by itself."
        if null
        else "Write one matrix variable for each component: every answer has such a form."
    )
    yield Finding(
        Kind.DISCONNECTED,
        Severity.NOTE,
        (),
        (name,),
        says,
        instead,
        is_proved=True,
        data={"components": parts, "is_centred": bool(null)},
    )


def _has_null_vector(named: Named, rows: Index, at: Index, i: Index, j: Index) -> bool:
    """Whether equations are K u = 0, for the rows of a matrix in turn, or u^T K u = 0.

    The vector u has no zeros, and the matrix K has entries (i, j) at some of the unknowns.
    """
    sides, order = named.rows[rows], int(i[-1]) + 1
    entries, u = at[sides.indices], np.zeros((order, order))
    if np.any(entries < 0) or np.any(named.right[rows]):
        return False
    if rows.size == 1 and entries.size == i.size:
        i, j = i[entries], j[entries]
        u[i, j] = u[j, i] = np.where(i == j, sides.data, sides.data / 2.0)
        # The matrix is of rank one.
        return bool(np.all(u) and np.all(u * u[0, 0] == np.outer(u[0], u[0])))
    if rows.size != order or np.any(np.diff(sides.indptr) != order):
        return False
    ends, own = np.stack([i[entries], j[entries]]), np.repeat(np.arange(order), order)
    is_own = np.any(ends == own, axis=0)
    u[own[is_own], ends.sum(axis=0)[is_own] - own[is_own]] = sides.data[is_own]
    return bool(np.all(is_own) and np.all(u == u[0]) and np.all(u[0]))


def _components(left: Index, right: Index, count: int) -> Index:
    """A number for the component of each node."""
    graph = sp.coo_array((np.ones(left.size), (left, right)), (count, count))
    return np.asarray(sp.csgraph.connected_components(graph, directed=False)[1])
