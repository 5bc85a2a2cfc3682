"""The front door of the general low-rank engine."""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.program.point import Factor, Point
from sdpdr.program.sdp import SDP
from sdpdr.solvers.factored.compile import compile_problem
from sdpdr.solvers.factored.lagrangian import Layout
from sdpdr.solvers.factored.options import Journal, Options, Result
from sdpdr.solvers.factored.problem import Problem
from sdpdr.solvers.factored.ranks import first_ranks, first_vector
from sdpdr.solvers.factored.search import Search
from sdpdr.solvers.factored.verdict import Verdict, broken, point_of

_STOPPED = ("stalled", "max_iter", "time_limit", "interrupted", "out_of_memory")


def solve_factored(sdp: SDP, options: Options | None = None, start: Point | None = None) -> Result:
    r"""Solve any program with sparse or low-rank data over factors :math:`X_k = R_k R_k^T`.

    An augmented Lagrangian of the rows is minimised over the factors by Newton's method (see
    `sdpdr.solvers.factored.search.Search`). The rank starts small; it grows along eigenvectors of
    the dual slack with negative eigenvalues and shrinks where columns vanish, and every change is
    explained in the history. The multipliers prove a bound on the optimum, whatever happened on
    the way.

    Parameters
    ----------
    sdp : SDP
        Free and non-negative scalars, equalities and inequalities are welcome; small matrix
        inequalities get a matrix of slack.
    options : Options, optional
    start : Point, optional
        Values (matrices as `Factor` or dense) and multipliers to start from, for instance those
        of the solution of a neighbouring program. What is missing is filled in as usual.

    Returns
    -------
    Result

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
    problem = compile_problem(sdp)
    journal = Journal(options)
    search = Search(problem, options, journal)
    layout, vector, multipliers = _first_point(problem, options, start)
    search.offer(point_of(layout, vector, multipliers).values)
    try:
        search.run(layout, vector, multipliers)
    except KeyboardInterrupt:
        search.ending = "interrupted"
        search.judge_current(layout, vector, multipliers)
    except MemoryError:
        if search.best is None:
            raise
        search.ending = "out_of_memory"
    return _result(search, sdp, journal)


def _result(search: Search, sdp: SDP, journal: Journal) -> Result:
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
    return Result(
        point=point,
        status=search.ending,
        value=sdp.report(sdp.primal_value(point.values)),
        bound=bound,
        iterations=len(journal.records),
        products=journal.products,
        factorizations=journal.factorizations,
        message=_message(search, journal),
        history=tuple(journal.records),
    )


def _better_point(search: Search, certified: Verdict, sdp: SDP) -> Point:
    """Of the point of the best proof and the last one, which proves nothing, the more exact.

    Where the last point met the tolerance but no bound came of its multipliers, an earlier point
    that had one may break rows by more.
    """
    assert search.best is not None
    before, last = certified.point(), search.best.point()
    if broken(sdp, last.values) < broken(sdp, before.values):
        return Point(last.values, before.duals)
    return before


def _message(search: Search, journal: Journal) -> str:
    best, options = search.best, search.options
    assert best is not None
    proved = "the multipliers prove no bound"
    if search.certified is not None:
        gap = search.gap() if search.ending in _STOPPED else search.certified[2]
        proved = f"certified gap {abs(gap):.1e}"
    ending = {
        "converged": "",
        "stalled": f"; no further progress towards tol = {options.tol:.0e} was possible",
        "infeasible": "; the rows contradict each other",
        "unbounded": "; the objective improves for ever along a ray",
        "max_iter": f"; stopped after max_iter = {options.max_iter} steps",
        "time_limit": f"; stopped after {options.time_limit} seconds",
        "interrupted": "; stopped by the user",
        "out_of_memory": "; the next step did not fit into memory",
    }[search.ending]
    errors = (
        f"violation {best.infeasibility:.0e}, stationarity {best.stationarity:.0e}, "
        f"negative curvature {best.negativity:.0e}"
    )
    ranks = ", ".join(str(r) for r in best.layout.ranks[:4])
    more = ", ..." if len(best.layout.ranks) > 4 else ""
    return (
        f"augmented Lagrangian over factors, rank {ranks}{more}: {proved}{ending} ({errors}; "
        f"{journal.products} products, {journal.factorizations} factorizations)."
    )


def _first_point(
    problem: Problem, options: Options, start: Point | None
) -> tuple[Layout, Array, Array]:
    ranks = first_ranks(problem, options)
    layout, vector = Layout(problem, ranks), first_vector(problem, ranks, options.seed)
    if start is None:
        return layout, vector, np.zeros(problem.m)
    factors, free = layout.split(vector)
    given = [_given_factor(problem, start, k) for k in range(len(factors))]
    factors = [old if new is None else new for old, new in zip(factors, given, strict=True)]
    layout = Layout(problem, tuple(f.shape[1] for f in factors))
    free = problem.free_values(start, free)
    return layout, layout.project(layout.join(factors, free)), problem.multipliers_of(start)


def _given_factor(problem: Problem, start: Point, k: int) -> Array | None:
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
        values, vectors = np.linalg.eigh((array + array.T) / 2.0)
        kept = values > 1e-12 * max(float(values[-1]), 0.0)
        array = vectors[:, kept] * np.sqrt(values[kept])
    if array.ndim != 2 or array.shape[0] != block.n:
        raise ShapeError(
            f"start: the factor of {block.name!r} must have shape ({block.n}, r); it has "
            f"{array.shape}."
        )
    return np.asarray(array / root) if array.shape[1] else np.zeros((block.n, 1))


def _require_shape(name: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if found != wanted:
        raise ShapeError(f"start: the value of {name!r} must have shape {wanted}; it has {found}.")
