"""Constraints that repeat or imply each other, and equations that disagree by a rounding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.dependent import Sums, nearly_dependent
from sdpdr.certify.flat import NONNEGATIVE
from sdpdr.reduce.parallel import first_parallel, scales
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.subsets import Mask, split
from sdpdr.solving.diagnosis.view import View, quoted

# Numbers of a dense matrix of equations, of which a factorization takes about a second.
_DENSE = 4_000_000
# Weights that count in a sum of rows of size one.
_COUNTS = 1e-9
# Relative differences that may be due to rounding: of coefficients, and of right-hand sides, which
# were computed from data of some nine digits.
_COEFFICIENTS, _SIDES = 2.0**-40, 1e-9
# Rounding of sums of rows here, with which no disagreement is shown.
_OWN_ROUNDING = 1e-14


def find_repeated(view: View) -> Iterator[Finding]:
    """Find constraints that follow from others, and equations that nearly do."""
    sources = _Follows(view)
    sources.read_equations()
    sources.read_inequalities()
    for label, (rows, others) in sources.implied.items():
        yield _repeated(view, label, rows, others, is_proved=label not in sources.rounded)
    yield from sources.disagreeing


class _Follows:
    """Which rows follow from which constraints."""

    def __init__(self, view: View) -> None:
        self._view, self._named = view, view.stated
        self._label = dict[int, str]()
        for label, rows in view.stated.constraints.items():
            self._label.update(dict.fromkeys(map(int, rows), label))
        self.implied: dict[str, tuple[list[int], set[str]]] = defaultdict(lambda: ([], set()))
        self.rounded = set[str]()
        self.disagreeing = list[Finding]()

    def _add(self, row: int, others: Index) -> None:
        """Note that a row follows from others."""
        label = self._label.get(row)
        if label is None:
            return
        sources = {self._label.get(int(k), "") for k in others} - {""}
        if sources == {label} and label in self._view.mirrored:
            return
        rows, known = self.implied[label]
        rows.append(row)
        known |= sources

    def read_equations(self) -> None:
        """Equations that are sums of others, exactly or but for a rounding."""
        f = self._named.program.f
        counts = np.diff(self._named.rows.indptr)[: f.size]
        some = np.flatnonzero(counts)
        for row in np.flatnonzero((counts == 0) & (f == 0.0)):
            self._add(int(row), np.arange(0))
        if some.size < 2 or some.size * self._named.program.c.size > _DENSE:
            return
        program = self._view.balanced
        sums = nearly_dependent(program.E[some], program.f[some], np.ones(program.c.size))
        is_sum, decided = sums.follow(np.ones(some.size, dtype=bool))
        is_shown = decided & ~is_sum & sums.coefficients_follow()
        weights, off, is_near = _misfits(sums)
        for k, row in enumerate(sums.rest):
            others = some[sums.basis[weights[[k]].indices]]
            if is_sum[k]:
                self._add(int(some[row]), others)
                if not sums.follows_from(k, weights[[k]].indices):
                    # Others with tiny weights have a part in it, which no sentence names.
                    self.rounded.add(self._label.get(int(some[row]), ""))
            elif is_near[k]:
                # Where left sides are equal, and right-hand sides are not.
                named = weights[[k]].indices
                is_proved = bool(is_shown[k]) and sums.follows_from(k, named, sides=False)
                is_proved = is_proved and program.around.E is None
                if is_proved or off[k] > _OWN_ROUNDING:
                    self._disagree(int(some[row]), others, float(off[k]), is_proved=is_proved)

    def _disagree(self, row: int, others: Index, off: float, *, is_proved: bool) -> None:
        """Note that equations are contradictory by a rounding."""
        rows = np.append(others, row)
        labels = tuple(dict.fromkeys(self._label[int(k)] for k in rows if int(k) in self._label))
        self.disagreeing.append(
            Finding(
                Kind.DISAGREEMENT,
                Severity.ERROR if is_proved else Severity.WARNING,
                labels,
                self._named.variables_in(rows),
                f"Equations of {quoted(labels)} depend on each other, and disagree by "
                f"{max(off, _OWN_ROUNDING):.0e} of their size, which looks like rounding.",
                "Remove one of them, or compute its right-hand side from those of the others.",
                is_proved=is_proved,
                data={"rows": self._named.labels_of(rows), "difference": off},
            )
        )

    def read_inequalities(self) -> None:
        """Inequalities that are multiples of others, or of equations, which are as tight."""
        program, named = self._named.program, self._named
        m = program.f.size
        bounds = [m + part.rows for part in program.parts if part.kind == NONNEGATIVE]
        at = np.concatenate([np.arange(m), np.arange(m), *bounds]).astype(np.intp)
        signs = np.concatenate([np.ones(m), -np.ones(m), np.ones(at.size - 2 * m)])
        matrix = sp.csr_array(sp.diags_array(signs) @ named.rows[at])
        matrix.eliminate_zeros()
        matrix.sort_indices()
        full = np.flatnonzero(np.diff(matrix.indptr))
        unit = scales(matrix, False)
        sides = signs * named.right[at] / unit
        matrix.data /= np.repeat(unit, np.diff(matrix.indptr))
        is_bound = np.arange(at.size) >= 2 * m
        for row in np.flatnonzero((np.diff(matrix.indptr) == 0) & is_bound & (sides >= 0.0)):
            self._add(int(at[row]), np.arange(0))
        for group in split(full, first_parallel(matrix, full)):
            # Equations first, then the tightest; what comes later follows where it is no tighter.
            order = group[np.lexsort((group, sides[group], is_bound[group]))]
            head = order[0]
            for k in order[1:]:
                if is_bound[k] and sides[k] >= sides[head]:
                    self._add(int(at[k]), at[[head]])
                    # Rows of size one, which quotients are, are compared up to rounding.
                    self.rounded.add(self._label.get(int(at[k]), ""))


def _misfits(sums: Sums) -> tuple[sp.csr_array, Array, Mask]:
    """Weights of sums, by how much right-hand sides miss them, and which rows miss by little."""
    weights = sp.csr_array(np.where(np.abs(sums.weights) > _COUNTS, sums.weights, 0.0))
    left = abs(sums.rows[sums.rest] - weights @ sums.rows[sums.basis]).toarray()
    size = abs(sums.rows[sums.rest]) + abs(weights) @ abs(sums.rows[sums.basis])
    off = left[:, -1] / np.maximum(size[:, [-1]].toarray().ravel(), _COUNTS)
    return weights, off, (left[:, :-1].max(axis=1) <= _COEFFICIENTS) & (off <= _SIDES)


def _repeated(
    view: View, label: str, rows: list[int], others: set[str], *, is_proved: bool
) -> Finding:
    """The finding about rows of one constraint."""
    named = view.stated
    sources, at = sorted(others - {label}), named.labels_of(np.array(rows))
    is_whole = len(rows) == named.constraints[label].size
    which = repr(label) if is_whole else f"R{named.rows_in_words(at)[1:]}"
    s = "s" if is_whole or len(rows) == 1 else ""
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
        named.variables_in(np.array(rows)),
        f"{which} {cause}.",
        f"Remove {'it' if s else 'them'}: no answer changes.",
        is_proved=is_proved,
        data={"rows": at},
    )
