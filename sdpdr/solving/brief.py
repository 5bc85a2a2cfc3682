"""Small programs: who solves them at once, and in which form.

To compare all ways takes longer than any of them takes over a small program. Two interior-point
methods need milliseconds: `clarabel`, whose steps factor sparse matrices with a block for every
matrix of the program, and `dense`, whose steps factor one dense matrix for all unknowns. What a
step takes follows from sizes alone; all others are there where both fall short.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sdpdr.linalg import SvecMap
from sdpdr.linalg.svec import svec_size
from sdpdr.program.attain.arrows import arrow_labels
from sdpdr.program.face import stated_labels
from sdpdr.program.rows import Expression
from sdpdr.program.sdp import SDP
from sdpdr.reduce import Dedupe, Dual, Reduction
from sdpdr.solvers.base import Solver
from sdpdr.solvers.splitting import Milestone

CLARABEL, DENSE = "clarabel", "dense"
# SCS, which reads no less from a program than from its dual.
SPLIT = ("scs", "gram")
# Over the tolerance, what solvers are asked for, and the least: of squares multipliers are known to
# the root of the gap only. The dense method ends well inside all cones.
_SHARES, _OF_SQUARES, _FLOOR = {CLARABEL: 1e-3, DENSE: 3e-2, SPLIT[0]: 3e-2}, 1e-3, 1e-10
# The same where lengths are averaged.
_OF_AVERAGES = 0.4
# Multiplications of a step of Clarabel, those for one matrix, and numbers in its unknowns and rows;
# and in those of all others.
_STEP, _ONE_MATRIX, _NUMBERS, _MOST_NUMBERS = 2e8, 2e8, 5000, 15_000
# Up to which nobody needs to compare: seconds of a step of the dense method, the order of matrix
# variables, which may have a low rank, that of those whose rows are given entry by entry, and that
# of matrix inequalities.
_DENSE_STEP, _ORDER, _GIVEN, _LARGEST = 0.05, 40, 64, 100
# Seconds of a step of the dense method: at least, for every order that matrices have, for a cube of
# an order, and for a multiplication.
_START, _EACH, _CUBE, _FLOP = 3e-4, 4.5e-4, 1.5e-8, 1.2e-10
# Seconds of a step of Clarabel: at first for a multiplication in a block, which become fewer where
# there are many, but never less than the last, and for a row.
_SPARSE_FLOP, _MANY, _FEWER, _LAST, _SPARSE_ROW = 1.2e-9, 4e6, 0.75, 1.2e-10, 5e-7
# Share of a matrix up to which rows that see no more of it let Clarabel split it, and what is left.
_SEEN, _SPLIT = 0.6, 0.35
# What comes of the dense method lies well inside all cones, and takes less to prove.
_INSIDE = 0.8
# Seconds of an iteration of SCS: for every matrix, for a cube of an order, and for a number in its
# triangular systems.
_MATRIX, _SPECTRUM, _NUMBER = 1e-5, 4e-9, 1e-9
# Steps of the other methods, whose seconds SCS is given once it has come so far, but for few
# iterations, which lead nowhere, and where there is little to gain.
_STEPS, _FEWEST, _LITTLE = 12, 150, 0.035
_FAR = (Milestone(100, 1e-2),)
# Seconds that it takes to write the program in a form, over the number of steps.
_WRITTEN = {"gram": 0.0, "lmi": 5e-5}


@dataclass(frozen=True)
class Matrix:
    """What a program in a form has of one matrix.

    Attributes
    ----------
    order : int
    columns, seen, entries : int
        Unknowns that have to do with it, entries of it that they have to do with, and how often.
    coupled : float
        Rows that a factorization ties all its entries to; those that are tied to some count less.
    arrow : bool
    """

    order: int
    columns: int
    seen: int
    entries: int
    coupled: float
    arrow: bool = False

    @classmethod
    def variable(cls, order: int, coupled: float, *, arrow: bool = False) -> Matrix:
        """A matrix whose entries are unknowns."""
        size = order + 1 if arrow else svec_size(order)
        return cls(order, size, size, size, coupled, arrow)

    @classmethod
    def inequality(cls, order: int, columns: int, seen: int, entries: int, arrow: bool) -> Matrix:
        """A matrix that unknowns are in, which tie together few entries where each has few."""
        tied = min(float(columns), (entries - columns) / order)
        return cls(order, columns, seen, entries, tied, arrow)

    @property
    def size(self) -> int:
        """Entries of one triangle."""
        return svec_size(self.order)

    @property
    def rows(self) -> int:
        """Rows of a second-order cone where it is an arrow, else entries."""
        return self.order + 1 if self.arrow else self.size

    @property
    def work(self) -> float:
        """Multiplications of a factorization with a dense block for it."""
        size, others = float(self.size), float(self.coupled)
        return size**3 / 3.0 + size * size * others + size * others * others


@dataclass(frozen=True)
class Sizes:
    """A program in a form, as far as the cost of a step depends on it.

    Attributes
    ----------
    unknowns, equations, half_lines : int
    matrices : tuple of Matrix
    """

    unknowns: int
    equations: int
    half_lines: int
    matrices: tuple[Matrix, ...]

    def of_dense(self) -> float:
        """Seconds of a step of the dense method."""
        p, m = float(self.unknowns), float(self.equations)
        work = p**3 / 3.0 + 20.0 * p * p + 2.0 * m * p * p + m * m * p + 100.0 * self.half_lines
        cubes = 0.0
        for one in self.matrices:
            n, c, r = float(one.order), float(one.columns), float(one.seen)
            found = 12.0 * r * r + (4.0 * one.entries * (r + c) if one.entries != c else 0.0)
            work += min(5.0 * found, 6.0 * c * n**3 + c * c * n * n / 2.0)
            cubes += n**3
        orders = len({one.order for one in self.matrices})
        return _START + _EACH * orders + _CUBE * cubes + _FLOP * work

    def of_clarabel(self) -> float:
        """Seconds of a step of Clarabel."""
        rows, seconds = self.unknowns + self.equations + self.half_lines, 0.0
        for one in self.matrices:
            rows += one.rows
            if not one.arrow:
                share = _SPLIT if one.seen < _SEEN * one.size else 1.0
                at_first = _SPARSE_FLOP * one.work / (1.0 + (one.work / _MANY) ** _FEWER)
                seconds += share * (at_first + _LAST * max(0.0, one.work - _MANY))
        return seconds + _SPARSE_ROW * rows

    def of_scs(self) -> float:
        """Seconds of an iteration of SCS."""
        numbers = float(self.unknowns + self.equations + self.half_lines)
        seconds = 0.0
        for one in self.matrices:
            numbers += one.rows
            if not one.arrow:
                numbers += min(one.columns**2 / 2.0, 4.0 * one.entries)
                seconds += _MATRIX + _SPECTRUM * one.order**3
        return seconds + _NUMBER * numbers


def gram_sizes(sdp: SDP) -> Sizes:
    """Those of the program as it stands."""
    unknowns = sum(v.size for v in sdp.variables)
    equations = sum(r.m for r in sdp.rows if r.relation == "==")
    half_lines = sdp.n_rows - equations + _non_negative(sdp)
    own = [Matrix.variable(v.n, 0) for v in sdp.psd_variables]
    others, arrows = [], arrow_labels(sdp)
    for lmi in sdp.lmis:
        maps = [a.matrix() for a in lmi.lhs.values()]
        entries = sum(rows.nnz for rows in maps)
        if lmi.label in arrows:
            # Whoever knows arrows pays for their heads alone.
            columns = min(entries, unknowns)
            others.append(Matrix.inequality(lmi.order, columns, lmi.order, entries, arrow=True))
            continue
        seen = np.zeros(svec_size(lmi.order), dtype=bool)
        columns = 0
        for rows in maps:
            seen |= np.diff(rows.indptr) > 0
            columns += int(np.count_nonzero(np.bincount(rows.indices)))
        reach = int(seen.sum())
        others.append(Matrix.inequality(lmi.order, columns, reach, entries, arrow=False))
    return Sizes(unknowns, equations, half_lines, (*own, *others))


def lmi_sizes(sdp: SDP) -> Sizes:
    """Those of the dual, whose unknowns are multipliers."""
    arrows = arrow_labels(sdp)
    free = sum(v.size for v in sdp.vector_variables if not v.nonnegative)
    tied = free + _non_negative(sdp)
    own = [Matrix.variable(m.order, tied, arrow=m.label in arrows) for m in sdp.lmis]
    unknowns = sdp.n_rows + sum(one.rows for one in own)
    limits = sum(r.m for r in sdp.rows if r.relation == "<=")
    others = []
    for v in sdp.psd_variables:
        seen, columns, entries = np.zeros(v.size, dtype=bool), 0, 0
        for side in _sides(sdp):
            if v.name in side:
                rows = side[v.name].matrix()
                seen[rows.indices] = True
                columns += int(np.count_nonzero(np.diff(rows.indptr)))
                entries += rows.nnz
        others.append(Matrix.inequality(v.n, columns, int(seen.sum()), entries, arrow=False))
    return Sizes(unknowns, free, limits + _non_negative(sdp), (*own, *others))


def _sides(sdp: SDP) -> Iterator[Expression]:
    yield from (r.lhs for r in sdp.rows)
    yield from (lmi.lhs for lmi in sdp.lmis)


def _non_negative(sdp: SDP) -> int:
    return sum(v.size for v in sdp.vector_variables if v.nonnegative)


def brief_ways(sdp: SDP) -> list[tuple[str, str]]:
    """Pairs of solver and form for a small program, the quicker one first; none for others.

    Those whose rows state a face are none of them: they have no interior.

    Examples
    --------
    >>> from sdpdr.linalg import Trace
    >>> from sdpdr.program import PsdVariable, Rows
    >>> def least_trace(n):
    ...     one = Rows("one", "==", {"X": Trace(n)}, np.ones(1))
    ...     return SDP((PsdVariable("X", n),), {"X": Trace(n)}, (one,))
    >>> brief_ways(least_trace(3)), brief_ways(least_trace(25)), brief_ways(least_trace(100))
    ([('clarabel', 'gram'), ('dense', 'lmi')], [('dense', 'lmi'), ('clarabel', 'lmi')], [])
    """
    numbers = sum(v.size for v in sdp.variables) + sdp.n_rows
    orders = (lmi.order for lmi in sdp.lmis if lmi.label not in arrow_labels(sdp))
    if numbers > _MOST_NUMBERS or max(orders, default=0) > _LARGEST:
        return []
    gram, lmi = sdp.remembered(gram_sizes), sdp.remembered(lmi_sizes)
    if not min(gram.unknowns, lmi.unknowns) or stated_labels(sdp):
        return []
    curved = any(v.curvature is not None for v in sdp.vector_variables)
    sizes = {"gram": gram} if curved else {"gram": gram, "lmi": lmi}
    found = []
    if _suits_clarabel(gram):
        steps = {form: _WRITTEN[form] + one.of_clarabel() for form, one in sizes.items()}
        form = min(steps, key=lambda form: steps[form])
        found.append((sizes[form].of_clarabel(), CLARABEL, form))
    form = min(sizes, key=lambda form: sizes[form].of_dense())
    step = sizes[form].of_dense()
    # To the dense method arrows are matrices like others.
    if (
        not arrow_labels(sdp)
        and step <= _DENSE_STEP
        and max((v.n for v in sdp.psd_variables), default=0) <= _order(sdp)
    ):
        found.append((_INSIDE * step, DENSE, form))
    return [(solver, form) for _, solver, form in sorted(found)]


def splittings(sdp: SDP) -> tuple[int, tuple[Milestone, ...]]:
    """Iterations that SCS is given before others take their turn, and where it gives up.

    No iterations where it is not tried. How many it takes nobody can tell, a hundred or a hundred
    thousand, but its error after a hundred says something of that: of some 90 textbook programs,
    three sizes, those of more than 1e-2 took 1200 in the median, those of less than 1e-3 took 175,
    and both had exceptions.
    """
    gram, lmi = sdp.remembered(gram_sizes), sdp.remembered(lmi_sizes)
    others = _STEPS * min(f() for one in (gram, lmi) for f in (one.of_clarabel, one.of_dense))
    most = int(others / gram.of_scs())
    return (most, _FAR) if others >= _LITTLE and most >= _FEWEST else (0, ())


def _order(sdp: SDP) -> int:
    """The order of matrix variables up to which nobody needs to compare."""
    names = {v.name for v in sdp.psd_variables}
    maps = [a for side in sdp.expressions() for name, a in side.items() if name in names]
    return _GIVEN if all(isinstance(a, SvecMap) for a in maps) else _ORDER


def _suits_clarabel(sizes: Sizes) -> bool:
    """Whether its steps take milliseconds."""
    steps = [one.size**3 / 3.0 for one in sizes.matrices if not one.arrow]
    rows = sizes.equations + sizes.half_lines + sum(one.rows for one in sizes.matrices)
    if sum(steps) > _STEP or max(steps, default=0.0) > _ONE_MATRIX:
        return False
    return sizes.unknowns + rows <= _NUMBERS


def brief_reductions(form: str) -> tuple[Reduction, ...]:
    """What leads from a small program to its form, which need not be scaled."""
    return (Dedupe(), Dual()) if form == "lmi" else (Dedupe(),)


def brief_solver(solver: Solver, sdp: SDP) -> Solver:
    """The solver, asked for what small proofs need; what a person asks for wins.

    Steps are few and proofs take longer than one: no more of them are asked for than make sure that
    points and multipliers are known to a fraction of the tolerance.
    """
    curved = any(v.curvature is not None for v in sdp.vector_variables)
    share = _OF_SQUARES if curved else _SHARES[solver.name]
    asked = max(_FLOOR, share * solver.tol)
    return replace(solver, options=dict.fromkeys(solver.tolerances(), asked) | {**solver.options})


def well_inside(solver: Solver) -> Solver:
    """The solver, asked for no more than leaves a point inside its cones, and for an exact one.

    Averages move eigenvalues by what is left of the equations, which is to be less than the
    smallest.
    """
    asked = max(_FLOOR, _OF_AVERAGES * solver.tol)
    own = {**dict.fromkeys(solver.tolerances(), asked), "exact": True, **solver.options}
    return replace(solver, options=own)
