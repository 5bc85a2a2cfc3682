"""Which solver is asked, and in which form: the way of least predicted cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError, NotAcceptedError, UnknownNameError
from sdpdr.program.attain.corrected import even_lengths
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import require_admissible
from sdpdr.program.standard import equality_rows
from sdpdr.reduce import Composed, Reduction
from sdpdr.solvers.base import FORMS, Solver, tolerance
from sdpdr.solvers.cvxpy_solvers import Scs
from sdpdr.solvers.dense.solver import Dense
from sdpdr.solvers.nearest.solver import Nearest
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solvers.tolerance import check_options
from sdpdr.solving.asked import Asked
from sdpdr.solving.brief import (
    SPLIT,
    brief_reductions,
    brief_solver,
    brief_ways,
    splittings,
    well_inside,
)
from sdpdr.solving.costs.candidates import POSSIBLE, Candidate, Candidates
from sdpdr.solving.costs.prediction import method_of, posed
from sdpdr.solving.costs.structure import Structure
from sdpdr.solving.way import CHORDAL, Way, configure, reductions_for

_FILLS_IN = "goes to conjugate gradients, as factorizations would fill in"
_BRIEF = "the program is so small that comparing ways would take longer"
_NEAREST = "the cost is the distance of a matrix, which Newton's method on multipliers is made for"
NEAREST = (Nearest.name, "gram")
_EVEN = "its rows make lengths alike, of which steps of the dense method take little"
EVEN = (Dense.name, "lmi")
# Rows up to which they do: a step of 3144 takes half a second of a processor, and one of 5400 two;
# fifteen prove noisy walks of 150 and of 200 states to 5e-7. Of 8000 a step takes six, in 1.5 GB.
_EVEN_ROWS = 8000
# Candidates that take turns, at most.
LONGEST = 6
# Order and rows of programs that hundreds of bits take seconds for.
SMALL_ORDER, SMALL_ROWS = 30, 100


def choose(
    sdp: SDP | None, asked: Asked, refusal: str = "", deadline: Deadline | None = None
) -> Way:
    """Choose a solver and a form for a program, after the reductions of ``via``.

    Candidates are ranked by predicted seconds over the squared share of the problem library that
    they solved to the tolerance; those that solved less than half of it, or do not fit into
    memory, come after all others. Nothing of
    size n^2 is formed, and cliques and fill are looked for only where they can change the choice.

    Parameters
    ----------
    sdp : SDP or None
        As `standard_form` finds it.
    asked : Asked
        A solver, a form, options of solvers (None for those that were not given), first steps
        whatever comes after them, and names that "auto" does not consider.
    refusal : str
        Why there is no standard form, where there is none.
    deadline : Deadline, optional
        Candidates are compared no longer; by default that of the options, from now on.

    Raises
    ------
    UnknownNameError, SolverMissingError, SolverLicenceError
    NotAcceptedError
        If the solver cannot take the program in that form; the message says why.
    ModelError
        If a number is beyond the range that is computed with.
    """
    if asked.form not in ("auto", *FORMS):
        raise UnknownNameError("form", asked.form, ("auto", *FORMS, "landmark"))
    check_options({name: value for name, value in asked.options.items() if value is not None})
    deadline = Deadline(asked.options.get("time_limit")) if deadline is None else deadline
    if not asked.via:
        return _chosen(sdp, asked, refusal, deadline)
    if sdp is None:
        raise NotAcceptedError(f"reductions need a standard form: {refusal}")
    try:
        reduced = Composed(asked.via).apply(sdp).sdp
    except InfeasibleError:  # The run will see it, too, and say so.
        reduced = sdp
    return _after(asked.via, sdp, _chosen(reduced, asked, "", deadline))


def _after(via: tuple[Reduction, ...], sdp: SDP, way: Way) -> Way:
    """A way to solve what reductions lead to, as one to solve the program itself."""
    return replace(
        way,
        reductions=(*via, *way.reductions),
        sdp=sdp,
        priced=way.sdp,
        further=lambda deadline: tuple(_after(via, sdp, one) for one in way.further(deadline)),
    )


def _chosen(sdp: SDP | None, asked: Asked, refusal: str, deadline: Deadline) -> Way:
    solver, options = asked.solver, asked.options
    if sdp is not None:
        require_admissible(sdp)
    named = isinstance(solver, Solver) or solver != "auto"
    wanted = configure(solver, options) if named else None
    classes = dict(SOLVERS)
    if wanted is not None:
        wanted.require()
        classes[wanted.name] = type(wanted)
    tol = tolerance(wanted, options.get("tol"))
    known = Candidates(sdp, refusal, classes, tol, deadline.ahead)
    choice = _Choice(known, asked, wanted)
    brief = choice.brief() if asked.form == "auto" and not named else None
    return choice.best(deadline) if brief is None else brief


@dataclass(frozen=True, eq=False)
class _Choice:
    """What there is to choose from, and how the one chosen is configured."""

    known: Candidates
    asked: Asked
    wanted: Solver | None

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of solver and form that nobody left out."""
        classes, wanted = self.known.classes, self.wanted
        return [
            (name, one)
            for name, one in self.known.pairs()
            if (_is_free(name, classes, self.asked.skip) if wanted is None else name == wanted.name)
            and self.asked.form in ("auto", one)
            # What reductions lead to is not as it was written.
            and not (self.asked.via and one == "cvxpy")
        ]

    def brief(self) -> Way | None:
        """The way of small and special programs, with no comparison unless it falls short."""
        sdp = self.known.sdp
        found = [] if sdp is None else brief_ways(sdp)
        if sdp is not None and Nearest().accepts(sdp) is None:
            found.insert(0, NEAREST)
        # The smallest are proved as they are.
        if sdp is not None and not found and _is_even(sdp):
            found.append(EVEN)
        pairs = [pair for pair in found if self._may_be_brief(*pair)]
        if not pairs:
            return None

        def further(deadline: Deadline) -> tuple[Way, ...]:
            others = (self._brief(*pair) for pair in pairs[1:])
            return (*others, *self.best(deadline).in_turn(deadline))

        return replace(self._brief(*pairs[0]), trial=self._trial(), further=further)

    def _may_be_brief(self, solver: str, form: str) -> bool:
        """Whether a pair can run, and nobody wants it left out."""
        left_out = solver in self.asked.skip or solver not in self.known.classes
        return not left_out and not self.known.refusal(solver, form)

    def _brief(self, solver: str, form: str) -> Way:
        sdp = self.known.sdp
        assert sdp is not None
        if (solver, form) == EVEN and _is_even(sdp):
            way = self.way(Candidate(*EVEN), _EVEN)
            return replace(way, solver=well_inside(way.solver))
        asked = brief_solver(configure(solver, self.asked.options), sdp)
        # Of no known cost: to predict it would take as long as a step.
        if (solver, form) == NEAREST:
            return Way((), asked, form, _NEAREST, sdp, self.known.no_sdp)
        return Way(brief_reductions(form), asked, form, _BRIEF, sdp, self.known.no_sdp)

    def _trial(self) -> Way | None:
        """SCS, where it may end long before the others do, and nobody set limits."""
        sdp, given = self.known.sdp, self.asked.options
        if sdp is None or any(given.get(k) is not None for k in ("time_limit", "max_iter")):
            return None
        special = Nearest().accepts(sdp) is None or _is_even(sdp)
        if special or not self._may_be_brief(*SPLIT):
            return None
        most, milestones = splittings(sdp)
        if not most:
            return None
        way = self._brief(*SPLIT)
        assert isinstance(way.solver, Scs)
        limited = replace(way.solver, max_iter=most, milestones=milestones)
        return replace(way, solver=limited, tentative=True)

    def best(self, deadline: Deadline) -> Way:
        """The way of least cost, or the one that was asked for."""
        found = next(self.known.ranked(self.pairs, deadline), None)
        if found is None:
            tried = {pair: self.known.candidate(*pair).refusal for pair in self.pairs}
            raise NotAcceptedError(_no_way(self.wanted, self.asked.form, tried))
        if self.wanted is not None:
            return self.way(found, "it was asked for")
        first = self.way(found, _reason(found, self.known.structure))
        return replace(first, further=partial(self.further, found))

    def way(self, one: Candidate, why: str) -> Way:
        """A candidate, configured."""
        sdp = self.known.sdp
        solver = self.wanted or configure(one.solver, self.asked.options)
        steps = () if sdp is None or solver.as_stored else reductions_for(one.form, sdp)
        return Way(steps, solver, one.form, why, sdp, self.known.no_sdp, one.cost)

    def further(self, first: Candidate, deadline: Deadline) -> tuple[Way, ...]:
        """Who takes turns after the first: other methods, then other forms of the same."""
        words = f"{first.solver} ({first.form} form) fell short"
        others, again = list[Candidate](), list[Candidate]()
        methods, problems = {method_of(first.solver)}, {posed(first.solver, first.form)}
        for one in self.known.ranked(self.pairs, deadline):
            problem = posed(one.solver, one.form)
            if problem in problems or one.verdict != POSSIBLE or self._is_late(one):
                continue
            method = method_of(one.solver)
            (again if method in methods else others).append(one)
            methods.add(method)
            problems.add(problem)
        found = [self.way(one, words) for one in [*others, *again][: LONGEST - 1]]
        return (*found, *self._last_resorts())

    def _last_resorts(self) -> Iterator[Way]:
        """Who is too slow to be asked unless all others fell short, of small programs."""
        sdp = self.known.sdp
        if sdp is None or not _is_small(sdp):
            return
        for name, cls in SOLVERS.items():
            if name in self.asked.skip or not cls.is_last_resort or not cls.availability().usable:
                continue
            solver = configure(name, self.asked.options)
            if solver.accepts(sdp) is None:
                words = "all others fell short, and the program is small"
                yield Way((), solver, solver.forms[0], words, sdp)

    def _is_late(self, one: Candidate) -> bool:
        """Whether it would have nothing to show when the time is up."""
        if one.cost is None or one.cost.keeps_point:
            return False
        return one.cost.seconds > self.known.seconds


def _is_even(sdp: SDP) -> bool:
    """Whether rows make lengths alike, and the dense method is there for as many."""
    return sdp.n_rows <= _EVEN_ROWS and sdp.remembered(even_lengths) is not None


def _is_small(sdp: SDP) -> bool:
    orders = [*(v.n for v in sdp.psd_variables), *(lmi.order for lmi in sdp.lmis)]
    return max(orders, default=0) <= SMALL_ORDER and equality_rows(sdp) <= SMALL_ROWS


def _is_free(name: str, classes: Mapping[str, type[Solver]], skip: Collection[str]) -> bool:
    """Whether "auto" may choose a solver."""
    return name not in skip and not classes[name].by_name_only


def _reason(found: Candidate, structure: Structure | None) -> str:
    if structure is None:
        return (
            f"a block is written in cvxpy directly, and {found.solver} is the first cvxpy solver "
            "here"
        )
    least = "no other is possible and fits into memory"
    if found.cost is not None:
        least = f"predicted to take {found.cost}"
    why = _why_form(found, structure)
    return f"{why} ({least})" if why else least


def _why_form(found: Candidate, structure: Structure) -> str:
    form = found.form
    if form == "factor":
        if structure.is_edge_program:
            # Where the cost is not known, nothing but these words would ask for the fill.
            words = ""
            if found.cost:
                words = _FILLS_IN if structure.engine == "products" else "is sparse"
                words = f"its low-rank form {words}, and "
            return (
                "the program is variance under limits on edge lengths; "
                f"{words}the multipliers certify the answer"
            )
        if structure.engine == "interior":
            return "its rows are sparse, and so is what a low-rank interior point factors for them"
        if structure.engine == "descent":
            return "its rows are equations, for which a descent over factors factors nothing"
        return "as factors of low rank the matrices stay small"
    shape = structure.shape(form)
    if form in CHORDAL:
        return f"the pattern has {len(shape.orders)} cliques of order up to {max(shape.orders)}"
    if form == "lmi" and shape.unknowns < shape.entries:
        return (
            f"there are fewer rows ({shape.unknowns}) than matrix entries ({shape.entries}), so "
            "the multipliers are the smaller unknown"
        )
    if form == "gram" and shape.entries <= structure.rows:
        return f"the matrix has fewer entries ({shape.entries}) than there are rows"
    return ""


def _no_way(wanted: Solver | None, form: str, tried: Mapping[tuple[str, str], str]) -> str:
    if wanted is not None and not tried:
        return (
            f"solver {wanted.name!r} does not take the {form!r} form; it takes "
            f"{', '.join(wanted.forms)}."
        )
    reasons = "; ".join(f"{name} ({form} form): {words}" for (name, form), words in tried.items())
    return f"no way to solve this program as asked. {reasons}. solver='auto' finds one that can."
