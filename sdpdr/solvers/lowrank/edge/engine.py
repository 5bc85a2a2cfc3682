"""Entry point of the edge engine, and exact lengths by the proximal method of multipliers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.errors import DataError, ShapeError
from sdpdr.linalg.rounding import UNIT
from sdpdr.solvers.lowrank.direction import Iterate
from sdpdr.solvers.lowrank.edge.certificate import EdgeVerdict, judge
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, EdgeResult, Matrix, Vector
from sdpdr.solvers.lowrank.edge.search import EdgeSearch
from sdpdr.solvers.lowrank.edge.start import (
    SHRINK,
    first_rank,
    isomap_start,
    relaxed,
    require_bounded,
)
from sdpdr.solvers.lowrank.frame import Journal, Options, ending

# Relative to the typical weight of an edge. Twelve bands on rolls, a spiral and digits are all
# certified from 1e6 on in steps of a thousand; from 1e4 in steps of ten one in six was not, and
# all twelve took twice as long. Starting at 1e7, or steps of a hundred, take as long as 1e6.
_FIRST_STIFFNESS = 1e6
_LAST_STIFFNESS = 1e14
# If exact lengths leave no interior there are no multipliers, and a stage ten times as stiff leaves
# 10^(-1/3) of the gap. From this stiffness on, a gap of _OF_ENOUGH of the requested one is enough.
_STIFF = 1e11
_OF_ENOUGH = 0.9
# From _STIFF on, no further stage begins if the last one took more than this share of all steps,
# because the next would take longer than all so far.
_LAST_STAGE_SHARE = 0.5
_GROWTH = 1000.0
_MAX_STAGES = 20
_FIRST_ACCURACY = 1e-3
_SHARPNESS = 1e-2  # accuracy of a stage, as a share of the violation left by the one before
_SHARPER = 0.1  # largest such share at stiffnesses from _STIFF on
_FINE = 1e-6  # accuracy from which eigenvalues below 1 mean rank and not noise
_LOW = 0.999
_PROGRESS = 0.7  # factor by which a stage at the last stiffness must reduce the error


def stiff_edges(program: EdgeProgram) -> NDArray[np.bool_]:
    """Edges with limits from below, which make the program nonconvex in R, and no stiffness.

    Examples
    --------
    >>> stiff_edges(EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=1.0)).tolist()
    [True]
    """
    return np.asarray(np.isinf(program.stiffness) & np.isfinite(program.lower))


def solve_by_multipliers(search: EdgeSearch, R: Matrix) -> None:
    r"""Approach hard lower limits and equalities through soft ones.

    An interior-point method cannot start inside an interval of width zero, and the multipliers
    of exact equalities may be unbounded. So the hard limits [l, u] of such edges are replaced,
    stage by stage, by soft ones around the last multipliers :math:`w_k`,

    .. math:: l - w_k / v_k \;\le\; q - w / v_k \;\le\; u - w_k / v_k ,

    which is an edge program with a finite stiffness :math:`v_k`, feasible at every R. As v grows
    the solution tends to that of the program, without v having to be infinite when multipliers
    exist. Verdicts are always taken on the original program.

    Parameters
    ----------
    search : EdgeSearch
        Its goal is the program to solve; afterwards it holds the best verdict.
    R : (n, r) array
        First point.

    References
    ----------
    Rockafellar (1976), augmented Lagrangians and the proximal point algorithm.
    """
    goal = search.goal
    edges = stiff_edges(goal)
    typical = goal.objective.value(R) / float(goal.sqdist.sum())
    weights = np.zeros(goal.m)
    point: Matrix | Iterate = R
    stiffness, error, accuracy, steps = _FIRST_STIFFNESS, np.inf, _FIRST_ACCURACY, 0
    for _ in range(_MAX_STAGES):
        soft = _soft(goal, edges, stiffness * typical, weights)
        point = search.approach(soft, point, accuracy, _LOW if accuracy <= _FINE else -np.inf)
        verdict = search.latest
        if search.finished or verdict is None:
            return
        is_long = search.steps - steps > _LAST_STAGE_SHARE * search.steps
        slow = verdict.error > _PROGRESS * error or is_long
        if stiffness >= _STIFF and (slow or search.has_enough(_OF_ENOUGH)):
            return
        error, weights, steps = verdict.error, verdict.weights, search.steps
        wanted = min(_FIRST_ACCURACY, _SHARPNESS * verdict.infeasibility)
        accuracy = max(search.options.tol / 4, wanted)
        if stiffness >= _STIFF:
            # A stage that allows the violation of the last one would change nothing.
            accuracy = min(accuracy, max(_SHARPER * verdict.infeasibility, UNIT))
        stiffness = min(_GROWTH * stiffness, _LAST_STIFFNESS)


def _soft(
    program: EdgeProgram, edges: NDArray[np.bool_], strength: float, weights: Vector
) -> EdgeProgram:
    stiffness = strength / program.sqdist
    shift = np.where(edges, weights / stiffness, 0.0)
    return replace(
        program,
        lower=program.lower - shift,
        upper=program.upper - shift,
        stiffness=np.where(edges, stiffness, program.stiffness),
    )


_CONTRADICTION = 1e-3  # violation that no longer looks like a matter of accuracy
_NOISE = 1e-2  # size of the columns added to a start of too low rank


def solve_edge_program(
    program: EdgeProgram,
    options: Options | None = None,
    start: Matrix | None = None,
    weights: Vector | None = None,
) -> EdgeResult:
    r"""Maximise variance under limits on squared edge lengths, with a proof of quality.

    A primal-dual interior-point method on the factor R (see `InteriorPoint`), whose rank grows
    until the multipliers w certify the answer: any w with :math:`\lambda_2(L(w)) > 0` bounds the
    optimum by :math:`\varphi^*(w / \lambda_2)`, so the relative gap holds whatever happened on
    the way. Hard lower limits and equalities go through `solve_by_multipliers`.

    Parameters
    ----------
    program : EdgeProgram
    options : Options, optional
    start : (n, r) array, optional
        First factor, for instance the data themselves. Default: landmark Isomap.
    weights : (m,) array, optional
        Multipliers of the squared lengths that belong to ``start``, for instance those of the
        answer to a nearby program; the iteration then begins near that answer.

    Returns
    -------
    EdgeResult

    Raises
    ------
    DisconnectedGraphError, ModelError
        When the variance is unbounded: the edges do not join all points, or penalties are too low.
    ShapeError, DataError
        When ``start`` or ``weights`` do not fit the program or are not finite.

    References
    ----------
    Vasiloglou thesis, sections 3.1 and 3.2; Weinberger and Saul (2006); Burer and Monteiro (2003).

    Examples
    --------
    A path unfolds to a straight line:

    >>> from sdpdr.solvers.lowrank import EdgeProgram, solve_edge_program
    >>> path = EdgeProgram(edges=[[0, 1], [1, 2], [2, 3]], n=4, sqdist=1.0)
    >>> result = solve_edge_program(path)
    >>> result.status, round(result.value, 6), result.weights.round(4).tolist()
    ('converged', 5.0, [1.5, 2.0, 1.5])
    """
    options = options or Options()
    require_bounded(program)
    units = _Units.of(program)
    scaled = units.scale(program)
    journal = Journal(options, units.value)
    search = EdgeSearch(scaled, options, journal, program)
    if options.keep is not None:
        keep = options.keep
        search.keep = lambda one: keep(one.R * units.length, one.weights * units.weight)
    R = _first_factor(scaled, options, None if start is None else np.asarray(start) / units.length)
    if weights is not None and (np.shape(weights) != (program.m,) or start is None):
        raise ShapeError(
            f"weights has shape {np.shape(weights)}; expected ({program.m},), with a start."
        )
    broken_off = ""
    try:
        if search.fits(R.shape[1]):
            if stiff_edges(scaled).any():
                solve_by_multipliers(search, R)
                search.restore()
            else:
                own = None if weights is None else np.asarray(weights) / units.weight
                search.solve_goal(R, own)
    except KeyboardInterrupt:
        broken_off = "interrupted"
        search.judge_current()
    except MemoryError:
        broken_off = "out_of_memory"
    best = search.best or judge(search.pencil, R, np.zeros(program.m), options.tol)
    reached = "converged" if best.error <= options.tol else journal.exhausted or "stalled"
    status = broken_off or reached
    if status == "converged":
        point = proof = best
    else:
        # The best point and the best bound may come from different steps.
        point, proof = search.feasible or best, search.proved or best
        best = replace(point, weights=proof.weights, bound=proof.bound)
    return EdgeResult(
        R=point.R * units.length,
        weights=proof.weights * units.weight,
        status=status,
        value=point.value * units.value,
        bound=proof.bound * units.value,
        infeasibility=point.infeasibility,
        message=_message(best, status, options, search.message),
        **journal.totals(),
    )


def _first_factor(program: EdgeProgram, options: Options, start: Matrix | None) -> Matrix:
    rank = options.rank
    if start is None:
        if rank is None and program.has_lower_limits:
            rank = first_rank(program)
        shape = SHRINK * isomap_start(program, rank, seed=options.seed)
        return relaxed(program, shape)
    if start.ndim != 2 or len(start) != program.n:
        raise ShapeError(f"start has shape {start.shape}; expected ({program.n}, r).")
    if not np.isfinite(start).all() or not start.any():
        raise DataError("start must be finite and not zero; leave it out to use Isomap.")
    start = program.centred(start)
    if start.shape[1] >= program.n:
        left, size, _ = np.linalg.svd(start, full_matrices=False)
        start = (left * size)[:, : program.n - 1]
    missing = max(0, min(rank or 0, program.n - 1) - start.shape[1])
    noise = np.random.default_rng(options.seed).standard_normal((program.n, missing))
    return np.hstack([start, program.centred(_NOISE * start.std() * noise)])


def _message(best: EdgeVerdict, status: str, options: Options, reason: str) -> str:
    proved = f"certified gap {best.gap:.1e}"
    if not np.isfinite(best.bound):
        proved = "the multipliers found prove no bound"
    if best.infeasibility > options.tol:
        proved += f", limits violated by up to {best.infeasibility:.1e} of sqdist"
    if not reason and status == "stalled" and best.infeasibility > _CONTRADICTION:
        reason = "The limits may contradict each other, or max_rank may be too small."
    return f"{proved}{ending(status, options)}. {reason}".strip()


@dataclass(frozen=True)
class _Units:
    """Factors that bring a program's lengths and masses near 1."""

    length: float
    weight: float
    mass: float

    @classmethod
    def of(cls, program: EdgeProgram) -> _Units:
        length = float(np.sqrt(program.sqdist.mean()))
        return cls(length, program.objective.size(), float(program.mass.mean()))

    @property
    def value(self) -> float:
        return self.length**2 * self.weight

    def scale(self, program: EdgeProgram) -> EdgeProgram:
        square = self.length**2
        sqdist = program.sqdist / square
        return EdgeProgram(
            edges=program.edges,
            n=program.n,
            # Much shorter edges are rounding of coordinates. In units of their own lengths, powers
            # of the other lengths would overflow.
            sqdist=np.maximum(sqdist, UNIT**2 * sqdist.max(initial=0.0)),
            lower=program.lower / square,
            upper=program.upper / square,
            penalty=program.penalty / self.weight,
            stiffness=program.stiffness * square / self.weight,
            mass=program.mass / self.mass,
            objective=program.objective.scaled(self.mass, self.weight),
        )
