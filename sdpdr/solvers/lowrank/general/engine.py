"""The front door of the general low-rank engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.program.point import Factor, Point
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.descent.approach import descend, first_share
from sdpdr.solvers.lowrank.descent.spheres import reason
from sdpdr.solvers.lowrank.frame import MAX_FILL, Journal, Options, Result, ending
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.general.ranks import first_ranks, first_vector, present
from sdpdr.solvers.lowrank.general.search import FactorSearch
from sdpdr.solvers.lowrank.general.verdict import FactorVerdict, Unknowns, broken
from sdpdr.solvers.lowrank.interior.approach import approach
from sdpdr.solvers.lowrank.interior.matrix import suits
from sdpdr.solvers.lowrank.interior.penalties import has_penalties_alone, settle_penalties

# Share of the squared size of a start up to which its columns are rounding.
_NOTHING = 1e-12
# Order up to which the augmented Lagrangian goes on where penalties made smooth come no closer: it
# brought 10,000 sensors nowhere in minutes.
_CONTINUED = 3000
_STOPPED = ("stalled", "max_iter", "time_limit", "interrupted", "out_of_memory")


@dataclass(frozen=True, eq=False, kw_only=True)
class FactoredResult(Result):
    """What the augmented Lagrangian found.

    Attributes
    ----------
    point : Point
        Matrix variables as factors; multipliers of all rows.
    """

    point: Point


def solve_factored(
    sdp: SDP,
    options: Options | None = None,
    start: Point | None = None,
    interior: bool | None = None,
    descent: bool | None = None,
) -> FactoredResult:
    r"""Solve any program with sparse or low-rank data over factors :math:`X_k = R_k R_k^T`.

    Equations on matrices alone go to a descent (`sdpdr.solvers.lowrank.descent`), inequalities with
    sparse rows to an interior point (`sdpdr.solvers.lowrank.interior`), and programs whose rows are
    all penalized, and too many for it, to a descent on smoothed penalties. If these do not reach
    the tolerance, and for other programs, an augmented Lagrangian of the rows is minimised over the
    factors by Newton's method (see
    `sdpdr.solvers.lowrank.general.search.FactorSearch`). The rank starts small; it grows along
    eigenvectors of the dual slack with negative eigenvalues and shrinks where columns vanish, and
    every change is explained in the history. The multipliers prove a bound on the optimum,
    whatever happened on the way.

    Parameters
    ----------
    sdp : SDP
        Free and non-negative scalars, equalities and inequalities are welcome; small matrix
        inequalities get a matrix of slack.
    options : Options, optional
    start : Point, optional
        Values (matrices as `Factor` or dense) and multipliers to start from, for instance those
        of the solution of a neighbouring program. What is missing is filled in as usual.
    interior : bool, optional
        Whether the interior point of `sdpdr.solvers.lowrank.interior` is to be tried first. By
        default where there are inequalities and its factorizations stay sparse.
    descent : bool, optional
        Whether the descent of `sdpdr.solvers.lowrank.descent` is to be tried first. By default
        where there are matrices and equations alone.

    Returns
    -------
    FactoredResult

    Raises
    ------
    NotAcceptedError
        If the program has no form over factors; the message says why.
    ShapeError, DataError
        When ``start`` does not fit the program or is not finite.

    References
    ----------
    Burer and Monteiro, Math. Program. 95, 2003, and 103, 2005.

    Examples
    --------
    The bound of Goemans and Williamson for the largest cut of a triangle:

    >>> import numpy as np
    >>> from sdpdr.program import SDP
    >>> from sdpdr.solvers.lowrank import solve_factored
    >>> from sdpdr.linalg import Diagonal, InnerProduct
    >>> from sdpdr.program import PsdVariable, Rows
    >>> quarter = (3.0 * np.eye(3) - np.ones((3, 3))) / 4.0
    >>> unit = Rows("unit", "==", {"X": Diagonal(3)}, np.ones(3))
    >>> cut = SDP((PsdVariable("X", 3),), {"X": InnerProduct(-quarter)}, (unit,), maximize=True)
    >>> result = solve_factored(cut)
    >>> result.status, round(result.value, 6), round(result.bound, 6)
    ('converged', 2.25, 2.25)
    """
    options = options or Options()
    journal = Journal(options)
    problem = sdp.remembered(compile_problem)
    search = FactorSearch(problem, options, journal, start)
    why = ""
    if descent is None:
        why = "" if interior is not None else reason(problem)
        descent = bool(why)
    share = first_share(problem) if descent else 2.0
    at: Unknowns = _first_point(problem, options, start, share)
    search.offer(at.point().values)
    is_open = interior is None
    try:
        if descent and not journal.late():
            left = descend(search, at)
            if left is None:
                search.method = "descent"
                return _result(search, sdp, journal, why)
            at = left
        if interior is None:
            interior = not descent and not journal.late() and _suits(problem, options, journal)
        penalties = is_open and not descent and not interior and has_penalties_alone(problem)
        # To compile a program, and to look for the fill of its matrices, may take all the time.
        on_time = not journal.late()
        if interior and on_time and approach(search, at):
            search.method = "interior point"
        elif penalties and on_time:
            search.method = "smooth penalties"
            reached = settle_penalties(search, at)
            if reached is not None and max(b.n for b in problem.blocks) <= _CONTINUED:
                search.method = "augmented Lagrangian"
                search.run(reached)
        elif journal.late() or (search.best is not None and journal.exhausted):
            search.ending = journal.exhausted or "time_limit"
            if search.best is None:
                search.judge_current(at)
        else:
            search.run(at)
    except KeyboardInterrupt:
        search.ending = "interrupted"
        search.judge_current(at)
    except MemoryError:
        if search.best is None:
            raise
        search.ending = "out_of_memory"
    return _result(search, sdp, journal, why)


def _suits(problem: FactorProblem, options: Options, journal: Journal) -> bool:
    numbers = MAX_FILL if options.max_fill is None else options.max_fill
    return suits(problem, journal.deadline.ahead, numbers)


def _result(search: FactorSearch, sdp: SDP, journal: Journal, why: str) -> FactoredResult:
    verdict, bound = search.best, None
    if search.certified is not None:
        verdict, bound = search.certified[:2]
    assert verdict is not None
    point = verdict.point()
    if search.ending == "converged" and verdict is not search.best:
        point = _better_point(search, verdict, sdp)
    if search.ending in _STOPPED:
        # What was best of two moments is still a point and a proof.
        values = search.feasible[0] if search.feasible else point.values
        duals, bound = search.proved or (point.duals, bound)
        point = Point(values, duals)
    return FactoredResult(
        point=point,
        status=search.ending,
        value=sdp.report(sdp.primal_value(point.values)),
        bound=bound,
        message=f"{_message(search, journal)} {why}".strip(),
        **journal.totals(),
    )


def _better_point(search: FactorSearch, certified: FactorVerdict, sdp: SDP) -> Point:
    """The point of the best proof, or the last point if it violates the constraints by less.

    The last point may meet the tolerance although its multipliers gave no bound, while the earlier
    point with a bound violates constraints by more.
    """
    assert search.best is not None
    before, last = certified.point(), search.best.point()
    if broken(sdp, last.values) < broken(sdp, before.values):
        return Point(last.values, before.duals)
    return before


def _message(search: FactorSearch, journal: Journal) -> str:
    best, options = search.best, search.options
    assert best is not None
    proved = "the multipliers prove no bound"
    if search.certified is not None:
        gap = search.gap() if search.ending in _STOPPED else search.certified[2]
        proved = f"certified gap {abs(gap):.1e}"
    elif search.ending in _STOPPED and search.proved:
        proved = "a bound is proved, not near the point"
    errors = (
        f"violation {best.infeasibility:.0e}, stationarity {best.stationarity:.0e}, "
        f"negative curvature {best.negativity:.0e}"
    )
    ranks = ", ".join(str(r) for r in best.layout.ranks[:4])
    more = ", ..." if len(best.layout.ranks) > 4 else ""
    return (
        f"{search.method} over factors, rank {ranks}{more}: {proved}"
        f"{ending(search.ending, options)} ({errors}; "
        f"{journal.products} products, {journal.factorizations} factorizations)."
    )


def _first_point(
    problem: FactorProblem, options: Options, start: Point | None, share: float
) -> Unknowns:
    ranks = first_ranks(problem, options, share)
    layout, vector = Layout(problem, ranks), first_vector(problem, ranks, options.seed)
    if start is None:
        return Unknowns.without_multipliers(layout, vector)
    factors, free = layout.split(vector)
    given = [_given_factor(problem, start, k) for k in range(len(factors))]
    factors = [old if new is None else new for old, new in zip(factors, given, strict=True)]
    layout = Layout(problem, tuple(f.shape[1] for f in factors))
    free = problem.free_values(start, free)
    vector = layout.project(layout.join(factors, free))
    return Unknowns(layout, vector, problem.multipliers_of(start))


def _given_factor(problem: FactorProblem, start: Point, k: int) -> Array | None:
    """The k-th factor of a start in scaled units; None where the start has none."""
    block = problem.blocks[k]
    value = start.values.get(block.name)
    if value is None:
        return None
    root = np.sqrt(problem.units.unknown)
    array = value.factor if isinstance(value, Factor) else np.asarray(value, dtype=float)
    if not np.isfinite(array).all():
        raise DataError(f"start: the value of {block.name!r} is not finite.")
    if block.scalar:
        _require_shape(block.name, array.shape, (block.n,))
        return np.sqrt(np.maximum(array, 0.0))[:, None] / root
    if not isinstance(value, Factor):
        _require_shape(block.name, array.shape, (block.n, block.n))
        array = Factor.of(array, share=1e-12).factor
    if array.ndim != 2 or array.shape[0] != block.n:
        raise ShapeError(
            f"start: the factor of {block.name!r} must have shape ({block.n}, r); it has "
            f"{array.shape}."
        )
    # Columns that are nothing cost as much as any, and grow again where they are needed.
    array = present(array, _NOTHING * float(np.sum(np.square(array))))
    return np.asarray(array / root) if array.shape[1] else np.zeros((block.n, 1))


def _require_shape(name: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if found != wanted:
        raise ShapeError(f"start: the value of {name!r} must have shape {wanted}; it has {found}.")
