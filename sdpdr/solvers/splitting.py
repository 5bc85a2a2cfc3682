"""SCS without a modelling language between: the rows of `ConicForm`, in SCS's order.

SCS takes equations, half-lines, second-order cones and matrices in this order, and of a matrix the
lower triangle column by column, where ours is the upper one (`sdpdr.linalg.svec`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from sdpdr.base.arrays import Index
from sdpdr.base.deadline import Deadline
from sdpdr.linalg.svec import svec_index, svec_size
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.conic import ConicForm, as_claimed

# SCS's numbers for how it ended, in our words and in those of cvxpy, whose users know them. One
# that was cut short before it could tell still has a point, which is graded like any other.
_SAID = {
    1: (Verdict.SOLVED, "optimal"),
    2: (Verdict.INACCURATE, "optimal_inaccurate"),
    -1: (Verdict.UNBOUNDED, "unbounded"),
    -2: (Verdict.INFEASIBLE, "infeasible"),
    -3: (Verdict.INACCURATE, "optimal_inaccurate"),
    -6: (Verdict.UNBOUNDED, "unbounded_inaccurate"),
    -7: (Verdict.INFEASIBLE, "infeasible_inaccurate"),
}
# SCS's tolerances under cvxpy's defaults.
_OWN = {"eps_abs": 1e-5, "eps_rel": 1e-5}


def split(
    sdp: SDP,
    options: Callable[[], dict[str, Any]],
    *,
    verbose: bool,
) -> Outcome:
    """Have SCS solve a program.

    Parameters
    ----------
    sdp : SDP
    options : callable without arguments
        Returns options of SCS, by its own names; called after the program is compiled, which takes
        time.
    verbose : bool
    """
    import scs  # a tenth of a second, which a solve by others need not pay

    form = ConicForm(sdp)
    curvature, cost, matrix, right, _ = form.handed_over()
    order, cones = _order(form)
    data = {"A": matrix[order], "b": right[order], "c": cost}
    if curvature.nnz:
        data["P"] = curvature
    watch = Deadline()
    found = scs.SCS(data, cones, **{**_OWN, **options()}, verbose=verbose).solve()
    seconds = {"solve": watch.spent}
    info = found["info"]
    verdict, words = _SAID.get(info["status_val"], (Verdict.FAILED, "solver_error"))
    value = float(info["pobj"]) + sdp.constant
    claim = Claim(words, value if np.isfinite(value) else None, int(info["iter"]))
    return Outcome(_point(form, found, order, verdict), verdict, claim, seconds)


def _point(form: ConicForm, found: Mapping[str, Any], order: Index, verdict: Verdict) -> Point:
    """Values and multipliers in our order; none where SCS broke down."""
    x, y = np.asarray(found["x"], dtype=float), np.asarray(found["y"], dtype=float)
    if verdict is Verdict.FAILED or not np.isfinite(x).all():
        return Point({}, {})
    z = np.empty(y.size)
    z[order] = y
    m = form.equations
    return as_claimed(form.point(x, z[:m], z[m:]), verdict)


def _order(form: ConicForm) -> tuple[Index, dict[str, Any]]:
    """Our row at each of SCS's, and its cones."""
    begin = form.equations + form.half_lines
    linear, arrows, matrices = np.arange(begin), list[Index](), list[Index]()
    cones: dict[str, Any] = {"z": form.equations, "l": form.half_lines, "q": [], "s": []}
    for order, arrow in form.matrices:
        if arrow:
            arrows.append(begin + np.arange(order + 1))
            cones["q"].append(order + 1)
        else:
            matrices.append(begin + _lower(order))
            cones["s"].append(order)
        begin += order + 1 if arrow else svec_size(order)
    return np.concatenate([linear, *arrows, *matrices]), cones


@lru_cache(maxsize=32)
def _lower(order: int) -> Index:
    """Our places of the lower triangle, column by column.

    Examples
    --------
    >>> _lower(3).tolist()
    [0, 1, 3, 2, 4, 5]
    """
    column, row = np.triu_indices(order)
    return svec_index(row, column)
