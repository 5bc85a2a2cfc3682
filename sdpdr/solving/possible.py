"""Which solver can take a program in which form, and the work of a step of `lowrank`."""

from __future__ import annotations

import importlib.util
from math import inf

from sdpdr.linalg.walks import BROAD
from sdpdr.program.sdp import SDP, remembered
from sdpdr.program.work import sizes
from sdpdr.reduce.chordal_pattern import find_trees, long_rows
from sdpdr.reduce.face import Face
from sdpdr.solvers.base import Solver
from sdpdr.solvers.lowrank.frame import pataki
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.compile import why_not as why_not_lowrank
from sdpdr.solvers.lowrank.interior.matrix import INTERIOR_RANK, work_at
from sdpdr.solvers.lowrank.interior.start import lengths_of

# Forms that decompose matrices along the cliques of their patterns.
CHORDAL = ("chordal", "chordal-lmi")
# Order of matrices, and rows for each of it, beyond which cliques take longer to find than to do
# without them.
_PATTERN, _CROWDED = 20_000, 50
# Multiplications in the time that the calls in a step of `lowrank` take, and its sparse
# factorizations in the place of one step of a dense method.
_FACTOR_STEP_CALLS, _FACTORIZATIONS_PER_STEP = 5e7, 5.0


@remembered
def factor_work(sdp: SDP) -> float:
    """Multiplications of `lowrank` in place of a step of a dense method; infinite if not known.

    Its interior point factors one sparse matrix for all factors. It begins at a shape that lengths
    give it, without which it takes longer than dense methods for programs that these can take, and
    so it does where their steps take less than its calls. All rows but lengths may raise the rank.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> programs = [methods.mvu(graphs.path([1.0] * n)).to_sdp() for n in (50, 150)]
    >>> [factor_work(sdp) < sizes(sdp).whole_work for sdp in programs]
    [False, True]
    """
    if sizes(sdp).whole_work <= _FACTOR_STEP_CALLS or why_not_lowrank(sdp):
        return inf
    problem = sdp.remembered(compile_problem)
    found = [lengths_of(problem, b) for b in problem.blocks if not b.scalar and b.has_cost]
    lengths = [program.m for program in found if program is not None]
    if not lengths:
        return inf
    rank = max(INTERIOR_RANK, pataki(problem.m - sum(lengths)))
    return _FACTOR_STEP_CALLS + _FACTORIZATIONS_PER_STEP * work_at(problem, rank).multiplications


def why_not(sdp: SDP, solver: type[Solver], form: str) -> str:
    """Why a solver cannot take a program in a form; empty if it can.

    Parameters
    ----------
    sdp : SDP
    solver : class of Solver
    form : str
    """
    if form not in solver.forms:
        return f"it does not take the {form} form"
    available = solver.availability()
    if available.reason:
        return available.reason
    if form == "cvxpy" and importlib.util.find_spec("cvxpy") is None:
        return "package 'cvxpy' is missing: pip install cvxpy"
    words = solver().accepts(sdp) or ""
    if words or form == "cvxpy":
        return words
    if form in ("lmi", "chordal-lmi") and not sizes(sdp).multipliers:
        return "the program has no rows, so its dual has no unknowns"
    return (sdp.remembered(_no_cliques) or "") if form in CHORDAL else ""


def _no_cliques(sdp: SDP) -> str | None:
    """Why the matrices are not decomposed along cliques, on their sparse face."""
    largest = max(sizes(sdp).orders, default=0)
    if largest > _PATTERN:
        return f"cliques are not looked for in matrices of order above {_PATTERN}"
    if sdp.n_rows > max(_PATTERN, _CROWDED * largest):
        return f"{sdp.n_rows} rows on matrices of order {largest} leave no small cliques"
    # What is long would be written out in search of a basis of the face.
    long = long_rows(sdp, BROAD)
    if long:
        return "; ".join(f"{name!r}: {why}" for name, why in long.items())
    face = Face("sparse")
    return find_trees(sdp if face.accepts(sdp) else face.apply(sdp).sdp, broadest=BROAD).refusal()
