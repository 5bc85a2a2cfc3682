"""A solver to lend to facial reduction, for combinations of rows that expose a face."""

from __future__ import annotations

from functools import partial

from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.solvers.cvxpy_solvers import Clarabel
from sdpdr.solvers.running import run_solver
from sdpdr.solvers.screen import screen


def lend(sdp: SDP, time_limit: float | None = None) -> Point:
    """Solve an auxiliary program of `sdpdr.reduce.facial_reduction`.

    Parameters
    ----------
    sdp : SDP
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Point
        Empty if the solver gave up.

    Examples
    --------
    Neither of two rows is positive semidefinite, but their sum is:

    >>> import numpy as np
    >>> from sdpdr.linalg import Diagonal
    >>> from sdpdr.program import SDP, PsdVariable, Rows
    >>> from sdpdr.reduce import facial_reduction
    >>> lhs = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 1.0]]) @ Diagonal(3)
    >>> rows = Rows("rows", "==", {"X": lhs}, np.array([1.0, -1.0]))
    >>> sdp = SDP((PsdVariable("X", 3),), {}, (rows,))
    >>> facial_reduction(sdp).exposures
    ()
    >>> found = facial_reduction(sdp, lend=lend)
    >>> found.exposures[0].multipliers
    (('rows', 0, Fraction(1, 1)), ('rows', 1, Fraction(1, 1)))
    >>> found.exposures[0].null_vectors("X")
    ({2: Fraction(1, 1)},)
    """
    solver = Clarabel(tol=1e-9, time_limit=time_limit)
    return screen(sdp, run_solver(solver, partial(solver.run, sdp), None)).point
