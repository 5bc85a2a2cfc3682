"""Sizes of a program, and which solver can take it in which form."""

from __future__ import annotations

from sdpdr.linalg.svec import svec_size
from sdpdr.linalg.walks import BROAD
from sdpdr.program.sdp import SDP
from sdpdr.reduce.chordal_pattern import find_trees, long_rows
from sdpdr.reduce.face import Face
from sdpdr.solvers.base import Solver

# Forms that decompose matrices along the cliques of their patterns.
CHORDAL = ("chordal", "chordal-lmi")
# Order of matrices, and rows for each of it, beyond which cliques take longer to find than to do
# without them.
_PATTERN, _CROWDED = 20_000, 50


def orders(sdp: SDP) -> list[int]:
    """Of all matrices."""
    return [*(v.n for v in sdp.psd_variables), *(lmi.order for lmi in sdp.lmis)]


def multipliers(sdp: SDP) -> int:
    """Unknowns of the dual."""
    return sdp.n_rows + sum(svec_size(lmi.order) for lmi in sdp.lmis)


def entries(sdp: SDP) -> int:
    """Unknowns of the program."""
    return sum(v.size for v in sdp.variables)


def unknowns(sdp: SDP) -> int:
    """Those of the program or of its dual, whichever are fewer."""
    return min(multipliers(sdp) or entries(sdp), entries(sdp) or multipliers(sdp))


def whole_work(sdp: SDP) -> float:
    """Multiplications of a step with one matrix for all unknowns."""
    u = float(unknowns(sdp))
    return u**3 / 3.0 + u * sum(float(n) ** 3 for n in orders(sdp))


def block_work(sdp: SDP) -> float:
    """Multiplications of a step with a dense block for every matrix, tied to the rows it is in."""
    total = 0.0
    for v in sdp.psd_variables:
        total += _of_block(v.n, sum(rows.m for rows in sdp.rows if v.name in rows.lhs))
    for lmi in sdp.lmis:
        total += _of_block(lmi.order, sum(sdp.variable(name).size for name in lmi.lhs))
    return total


def _of_block(order: int, tied: int) -> float:
    s, r = float(svec_size(order)), float(tied)
    return s**3 / 3.0 + s * s * r + s * r * r


def why_not(sdp: SDP | None, refusal: str, solver: type[Solver], form: str) -> str:
    """Why a solver cannot take a program in a form; empty if it can.

    Parameters
    ----------
    sdp : SDP or None
    refusal : str
        Why there is no standard form, where there is none.
    solver : class of Solver
    form : str
    """
    available = solver.availability()
    if not available.usable:
        return available.reason
    if sdp is None:
        return "" if form == "cvxpy" else refusal
    words = solver().accepts(sdp) or ""
    if words or form == "cvxpy":
        return words
    if form in ("lmi", "chordal-lmi") and not multipliers(sdp):
        return "the program has no rows, so its dual has no unknowns"
    return (sdp.remembered(_no_cliques) or "") if form in CHORDAL else ""


def _no_cliques(sdp: SDP) -> str | None:
    """Why the matrices are not decomposed along cliques, on their sparse face."""
    largest = max(orders(sdp), default=0)
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
