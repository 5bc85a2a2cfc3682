"""Constraints that repeat or imply each other, and equations that disagree by a rounding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.dependent import Sums, nearly_dependent
from sdpdr.certify.flat import NONNEGATIVE
from sdpdr.reduce.parallel import first_parallel, scales
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.subsets import Mask, split
from sdpdr.solving.diagnosis.view import Named, View, quoted

# Numbers of a dense matrix of equations, of which a factorization takes about a second.
_DENSE = 4_000_000
# Weights that count in a sum of rows of size one.
_COUNTS = 1e-9
# Relative differences that may be due to rounding: of coefficients, and of right-hand sides, which
# were computed from data of some nine digits.
_COEFFICIENTS, _SIDES = 2.0**-40, 1e-9
# Rounding of sums of rows here, with which no disagreement is shown.
_OWN_ROUNDING = 1e-14


class _Implied(NamedTuple):
    """A row that follows from others, and whether that is shown without rounding."""

    row: int
    others: Index
    is_exact: bool


def find_repeated(view: View) -> Iterator[Finding]:
    """Find constraints that follow from others, and equations that nearly do."""
    label_of, implied = view.stated.label_of, defaultdict[str, list[_Implied]](list)
    for found in (*_of_equations(view), *_of_inequalities(view.stated)):
        if isinstance(found, Finding):
            yield found
        elif found.row in label_of:
            label = label_of[found.row]
            if not (label in view.mirrored and _sources(label_of, found) == {label}):
                implied[label].append(found)
    for label, rows in implied.items():
        yield _repeated(view.stated, label, rows)


def _sources(label_of: Mapping[int, str], *implied: _Implied) -> set[str]:
    """Constraints that some rows follow from."""
    return {label_of[k] for one in implied for k in one.others.tolist() if k in label_of}


def _of_equations(view: View) -> Iterator[_Implied | Finding]:
    """Equations that are sums of others, exactly or but for a rounding."""
    program, nothing = view.balanced, np.arange(0)
    f, counts = view.stated.program.f, np.diff(view.stated.rows.indptr)
    some = np.flatnonzero(counts[: f.size])
    for row in np.flatnonzero((counts[: f.size] == 0) & (f == 0.0)).tolist():
        yield _Implied(row, nothing, True)
    if some.size < 2 or some.size * program.c.size > _DENSE:
        return
    sums = nearly_dependent(program.E[some], program.f[some], np.ones(program.c.size))
    is_sum, decided = sums.follow(np.ones(some.size, dtype=bool))
    is_shown = decided & ~is_sum & sums.coefficients_follow() & (program.around.E is None)
    weights, off, is_near = _misfits(sums)
    shared = np.diff(sp.csc_array(weights).indptr)
    for k, row in enumerate(some[sums.rest].tolist()):
        named = weights[[k]].indices
        others = some[sums.basis[named]]
        if is_sum[k]:
            # Each row of the sum follows from the others; the last one is likely the superfluous
            # one. Those that are in other sums as well have to stay.
            rows = np.append(others, row)
            last = max(rows[np.append(shared[named] == 1, True)].tolist())
            # Where others with tiny weights have a part in it, no sentence names them.
            yield _Implied(last, rows[rows != last], sums.follows_from(k, named))
        elif is_near[k]:
            # Left sides are equal, and right-hand sides are not.
            is_proved = bool(is_shown[k]) and sums.follows_from(k, named, sides=False)
            if is_proved or off[k] > _OWN_ROUNDING:
                yield _disagreement(view.stated, np.append(others, row), float(off[k]), is_proved)


def _misfits(sums: Sums) -> tuple[sp.csr_array, Array, Mask]:
    """Weights of sums, by how much right-hand sides miss them, and which rows miss by little."""
    weights = sp.csr_array(np.where(np.abs(sums.weights) > _COUNTS, sums.weights, 0.0))
    left = abs(sums.rows[sums.rest] - weights @ sums.rows[sums.basis]).toarray()
    size = abs(sums.rows[sums.rest]) + abs(weights) @ abs(sums.rows[sums.basis])
    side, missed = size[:, [-1]].toarray().ravel(), left[:, -1]
    # Right-hand sides of zero have no size, and those of other equations are computed beside
    # coefficients of size one.
    is_near = missed <= np.maximum(_SIDES * side, _COEFFICIENTS)
    is_same = left[:, :-1].max(axis=1) <= _COEFFICIENTS
    return weights, missed / np.maximum(side, 1.0), is_same & is_near


def _of_inequalities(named: Named) -> Iterator[_Implied]:
    """Inequalities that are multiples of others, or of equations, which are as tight."""
    m, nothing = named.program.f.size, np.arange(0)
    bounds = [m + part.rows for part in named.program.parts if part.kind == NONNEGATIVE]
    at = np.concatenate([np.arange(m), np.arange(m), *bounds]).astype(np.intp)
    signs = np.concatenate([np.ones(m), -np.ones(m), np.ones(at.size - 2 * m)])
    matrix = sp.csr_array(sp.diags_array(signs) @ named.rows[at])
    matrix.eliminate_zeros()
    matrix.sort_indices()
    counts, unit = np.diff(matrix.indptr), scales(matrix, False)
    sides = signs * named.right[at] / unit
    matrix.data /= np.repeat(unit, counts)
    is_bound = np.arange(at.size) >= 2 * m
    for row in at[(counts == 0) & is_bound & (sides >= 0.0)].tolist():
        yield _Implied(row, nothing, True)
    full = np.flatnonzero(counts)
    for group in split(full, first_parallel(matrix, full)):
        # Equations first, then the tightest; what comes later follows where it is no tighter.
        head, *rest = group[np.lexsort((group, sides[group], is_bound[group]))]
        for k in rest:
            if is_bound[k] and sides[k] >= sides[head]:
                # Rows of size one, which quotients are, are compared up to rounding.
                yield _Implied(int(at[k]), at[[head]], False)


def _disagreement(named: Named, rows: Index, off: float, is_proved: bool) -> Finding:
    """The finding about equations that contradict each other by a rounding."""
    labels = tuple(dict.fromkeys(named.label_of[k] for k in rows.tolist() if k in named.label_of))
    return Finding(
        Kind.DISAGREEMENT,
        Severity.ERROR if is_proved else Severity.WARNING,
        labels,
        named.variables_in(rows),
        f"Equations of {quoted(labels)} depend on each other, and disagree by "
        f"{max(off, _OWN_ROUNDING):.0e} of their size, which looks like rounding.",
        "Remove one of them, or compute its right-hand side from those of the others.",
        is_proved=is_proved,
        data={"rows": named.labels_of(rows), "difference": off},
    )


def _repeated(named: Named, label: str, implied: Sequence[_Implied]) -> Finding:
    """The finding about rows of one constraint that follow from others."""
    rows, others = np.array([one.row for one in implied]), _sources(named.label_of, *implied)
    sources, at = sorted(others - {label}), named.labels_of(rows)
    is_whole = rows.size == named.constraints[label].size
    which = repr(label) if is_whole else f"R{named.rows_in_words(at)[1:]}"
    s = "s" if is_whole or rows.size == 1 else ""
    if sources:
        cause = f"follow{s} from {quoted(sources)}"
    elif others:
        cause = f"repeat{s} other rows of {label!r}"
    else:
        cause = f"hold{s} whatever the variables are"
    return Finding(
        Kind.REPEATED,
        Severity.NOTE,
        (label, *sources),
        named.variables_in(rows),
        f"{which} {cause}.",
        f"Remove {'it' if s else 'them'}: no answer changes.",
        is_proved=all(one.is_exact for one in implied),
        data={"rows": at},
    )
