"""Which solvers are candidates for a program, and in which forms: one rule.

Clarabel solves tiny programs, except unfoldings and distances of a matrix, in the form in which
they will be proved. For all others there are three interior-point methods: Clarabel factors a dense
block for every matrix of the program, `dense` one matrix for all unknowns of the program or of its
dual, and `lowrank` a sparse one for factors, if lengths suggest their shape. Those whose steps take
less than a second come first, the fastest one before the others. If there are none, and factors of
low rank have fewer numbers than the matrices, `lowrank` comes first, as it does for edge programs
and programs that fix a diagonal; the methods with slower steps follow. SCS is a candidate if blocks
would not fit into memory, and solvers that a user has registered come last. All others are
candidates if they, or their form, are requested.
The rule depends on the program and the options, never on load, free memory, a clock, or on which
other solvers are installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf
from operator import itemgetter
from typing import TypeAlias

from sdpdr.base.errors import InfeasibleError, NotAcceptedError, UnknownNameError
from sdpdr.linalg.svec import svec_size
from sdpdr.program.sdp import SDP, remembered
from sdpdr.program.sizes import require_admissible
from sdpdr.program.standard import equality_rows
from sdpdr.program.work import Sizes, is_tiny, sizes
from sdpdr.reduce import Composed, Dedupe
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.lowrank.descent.spheres import Spheres
from sdpdr.solvers.lowrank.edge import form as edge_form
from sdpdr.solvers.lowrank.frame import pataki
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.compile import why_not as why_not_lowrank
from sdpdr.solvers.nearest.solver import Nearest
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.candidate import Candidate, configure, reductions_for
from sdpdr.solving.options import PlanOptions
from sdpdr.solving.possible import CHORDAL, factor_work, why_not

# Multiplications of an interior-point step up to which the method comes before `lowrank` (less than
# a second), and up to which it is a candidate at all.
_FAST_STEP, _SLOWEST_STEP = 2e9, 1e11
# Order of solvers for a form that was requested; solvers that are not listed come last.
_PREFERENCE = ("lowrank", "clarabel", "mosek", "sdpa", "cvxopt", "scs", "ipopt")
# Order of a matrix that SCS decomposes in about a second.
_SPLIT_ORDER = 2000
# Order and rows up to which the multi-precision solver takes seconds.
SMALL_ORDER, SMALL_ROWS = 30, 100

POSSIBLE = "possible"
_REQUESTED = "it was requested"
_NEAREST = "the cost is the distance of a matrix, which Newton's method on multipliers is made for"
_EDGES = (
    "the program is variance under limits on edge lengths, which this solver is made for; the "
    "multipliers certify the answer"
)
_SPHERES = "its rows fix the lengths of points, which a factor of low rank keeps exactly"
_LARGE = "as factors of low rank the matrices stay small, and others would factor large ones"
_TINY = "it is so small that it is solved in the form in which it will be proved"
_BLOCKS = "its matrices are so small that steps with a dense block for each take little"
_SPARSE = "steps with a sparse matrix for factors of low rank take least"
_WHOLE = "its {} unknowns are so few that steps with one matrix for all take little"


def choose(sdp: SDP, requested: PlanOptions) -> Choice:
    """Choose solvers and forms for a program, after the reductions of ``via``.

    Parameters
    ----------
    sdp : SDP
    requested : PlanOptions
        A solver, a form, options of solvers (None for those that were not given), and first steps
        whatever comes after them.

    Raises
    ------
    UnknownNameError, SolverMissingError, SolverLicenceError
    NotAcceptedError
        If the solver cannot take the program in that form; the message says why.
    ModelError
        If a number is beyond the range that is computed with.
    """
    if requested.form not in ("auto", *FORMS):
        raise UnknownNameError("form", requested.form, ("auto", *FORMS, "landmark"))
    if requested.via:
        with suppress(InfeasibleError):  # The run reports it.
            sdp = require_admissible(Composed(requested.via).apply(sdp).sdp)
    wanted = None if requested.is_auto else configure(requested.solver, requested.options)
    if wanted is not None:
        wanted.require()
    return Choice(sdp, requested, wanted)


# A solver that may be a candidate: the name, forms, the best first, and why. Without forms,
# whichever the solver takes.
_Proposal: TypeAlias = "tuple[str, tuple[str, ...], str]"


def _is_of_spheres(sdp: SDP) -> bool:
    """Whether the rows of a program are those that fix every diagonal entry of one matrix."""
    if len(sdp.variables) != 1 or sdp.lmis or sdp.n_rows != sum(v.n for v in sdp.psd_variables):
        return False
    return not why_not_lowrank(sdp) and not Spheres(compile_problem(sdp)).free.any()


@remembered
def _is_of_edges(sdp: SDP) -> bool:
    """Whether a program is an edge program, once rows that repeat others are dropped."""
    words = edge_form.why_not(sdp)
    if words is None or edge_form.MERGES not in words:
        return words is None
    with suppress(InfeasibleError):  # The run reports it.
        return edge_form.why_not(Dedupe().apply(sdp).sdp) is None
    return False


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidates for a program, in order.

    Attributes
    ----------
    sdp : SDP
        What the reductions of ``via`` lead to.
    requested : PlanOptions
    wanted : Solver or None
        The solver that was requested, which is then the only candidate.
    """

    sdp: SDP
    requested: PlanOptions
    wanted: Solver | None

    @cached_property
    def first(self) -> Candidate:
        """The first candidate.

        Raises
        ------
        NotAcceptedError
            If there is none; the message says why.
        """
        first = next(self.candidates(), None)
        if first is None:
            wanted = self.wanted
            raise NotAcceptedError(
                self._no_way(SOLVERS if wanted is None else {wanted.name: type(wanted)})
            )
        return first

    def candidates(self) -> Iterator[Candidate]:
        """All in turn, each solver once, configured as they are needed."""
        seen = set[str]()
        proposals: Iterable[_Proposal] = self._by_rule(seen)
        if self.wanted is not None:
            proposals = [(self.wanted.name, (), _REQUESTED)]
        for name, forms, why in proposals:
            solver = SOLVERS.get(name) if self.wanted is None else type(self.wanted)
            if solver is None or name in seen:
                continue
            usable = forms if self.requested.form == "auto" else ()
            possible = (
                form
                for form in usable or self._forms(solver)
                if not why_not(self.sdp, solver, form)
            )
            form = next(possible, None)
            if form is not None:
                seen.add(name)
                yield self._made(solver, form, why)

    def reasons(self) -> dict[tuple[str, str], str]:
        """Every pair of solver and form: ``"possible"``, or why not."""
        return {
            (name, form): why_not(self.sdp, solver, form) or POSSIBLE
            for name, solver in SOLVERS.items()
            for form in solver.forms
        }

    def _forms(self, solver: type[Solver]) -> list[str]:
        """Forms in which a solver is a candidate, the best first."""
        if self.requested.form != "auto":
            return [self.requested.form] if self.requested.form in solver.forms else []
        # After reductions the program is no longer the one written in cvxpy.
        last = (*CHORDAL, *(() if self.requested.via else ("cvxpy",)))
        forms = ("factor", *_sides(self.sdp), *last)
        return [form for form in forms if form in solver.forms]

    def _by_rule(self, seen: Set[str]) -> Iterator[_Proposal]:
        """Solvers in order; ``seen`` grows as they become candidates."""
        sdp = self.sdp
        # Optimal unfoldings are seldom unique, and `lowrank` finds one in few dimensions.
        of_edges = _is_of_edges(sdp)
        has_squares = any(v.curvature is not None for v in sdp.vector_variables)
        if of_edges:
            yield "lowrank", ("factor",), _EDGES
        elif has_squares and Nearest().accepts(sdp) is None:
            yield Nearest.name, ("gram",), _NEAREST
        elif is_tiny(sdp):
            yield "clarabel", ("gram",), _TINY
        elif _is_of_spheres(sdp):
            yield "lowrank", ("factor",), _SPHERES
        found = sizes(sdp)
        kinds: list[tuple[float, _Proposal]] = [
            (found.block_work, ("clarabel", ("lmi", "gram"), _BLOCKS)),
            (found.whole_work, ("dense", _sides(sdp), _WHOLE.format(found.unknowns))),
            (factor_work(sdp), ("lowrank", ("factor",), _SPARSE)),
        ]
        kinds.sort(key=itemgetter(0))
        light = [] if of_edges else [kind for work, kind in kinds if work <= _FAST_STEP]
        yield from light
        # `lowrank` rarely proves what dense methods do not, and may run for long.
        if not seen and _is_thin(found):
            yield "lowrank", ("factor",), _LARGE
        yield from (kind for work, kind in kinds if work <= _SLOWEST_STEP and kind not in light)
        if not seen:
            yield "lowrank", ("factor",), _LARGE
        # If interior-point steps take too long, SCS finds a few digits.
        if found.block_work > _SLOWEST_STEP and max(found.orders) <= _SPLIT_ORDER:
            yield "scs", ("gram",), "its steps take least where many digits are not needed"
        if self.requested.form != "auto":
            words = f"it takes the {self.requested.form} form"
            yield from ((name, (), words) for name in _PREFERENCE)
        yield from self._others()

    def _others(self) -> Iterator[_Proposal]:
        """Solvers that were registered, and last resorts for small programs."""
        for name, solver in SOLVERS.items():
            if name not in _PREFERENCE and not solver.by_name_only:
                yield name, (), "it is there"
        if self.requested.form != "auto":
            return
        largest = max(sizes(self.sdp).orders, default=0)
        if largest <= SMALL_ORDER and equality_rows(self.sdp) <= SMALL_ROWS:
            for name, solver in SOLVERS.items():
                if solver.is_last_resort:
                    words = "all others fell short, and the program is small"
                    yield name, solver.forms[:1], words

    def _made(self, kind: type[Solver], form: str, why: str) -> Candidate:
        """A candidate with the requested options and reductions."""
        sdp, requested = self.sdp, self.requested
        solver = self.wanted or configure(kind.name, requested.options)
        if kind.as_stored:
            return Candidate(requested.via, solver, form, why)
        is_small, is_clarabel = is_tiny(sdp), kind.name == "clarabel"
        step = sizes(sdp).block_work / _FAST_STEP if is_clarabel else inf
        if is_small and kind.name == "lowrank":
            step = 0.0
        # Clarabel solves a tiny program as it will be proved, on its face and in its units.
        is_free = self.wanted is None and requested.form == "auto"
        as_proved = is_free and is_clarabel and form == "gram" and is_small
        steps = (Dedupe(),) if as_proved else reductions_for(form, sdp)
        return Candidate((*requested.via, *steps), solver, form, why, step)

    def _no_way(self, solvers: Mapping[str, type[Solver]]) -> str:
        form, wanted = self.requested.form, self.wanted
        if wanted is not None and form not in ("auto", *wanted.forms):
            return (
                f"solver {wanted.name!r} does not take the {form!r} form; it takes "
                f"{', '.join(wanted.forms)}."
            )
        reasons = "; ".join(
            f"{name} ({one} form): {words}"
            for name, solver in solvers.items()
            if wanted is not None or not solver.by_name_only
            for one in self._forms(solver)
            if (words := why_not(self.sdp, solver, one))
        )
        reasons = reasons or "none takes it as it is written"
        return f"no solver accepts this program as requested: {reasons}. solver='auto' finds one."


def _is_thin(found: Sizes) -> bool:
    """Whether factors of a rank that some optimal point has are smaller than their matrices."""
    rank = pataki(found.multipliers)
    numbers = sum(n * min(n, rank) for n in found.orders)
    return numbers < sum(svec_size(n) for n in found.orders)


def _sides(sdp: SDP) -> tuple[str, str]:
    """The forms that solve the program or its dual, the one of fewer unknowns first."""
    found = sizes(sdp)
    return ("lmi", "gram") if found.multipliers <= found.entries else ("gram", "lmi")
