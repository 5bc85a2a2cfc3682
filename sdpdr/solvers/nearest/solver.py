"""Newton's method for the nearest matrix under rows as a solver of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome, Progress, Solver
from sdpdr.solvers.nearest.newton import minimized
from sdpdr.solvers.nearest.program import nearest_program

_ITERATIONS = 100


@dataclass(frozen=True)
class Nearest(Solver):
    """Newton's method for the nearest matrix under rows (options as in `Solver`).

    It takes programs of one matrix variable whose cost is, up to linear terms, the squares of the
    distances of all its entries from given ones, those off the diagonal twice; with any linear
    rows. Correlation matrices and kernels nearest to given matrices are such programs.

    Examples
    --------
    >>> import numpy as np
    >>> import sdpdr
    >>> G = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    >>> K = sdpdr.psd("K", 3)
    >>> model = sdpdr.minimize(sdpdr.sum_squares(K - G)) + (K.diagonal() == 1)
    >>> solution = model.solve(solver="nearest")
    >>> solution.status, solution["K"][0].round(4)
    (Status.SOLVED, array([ 1. ,  0.5, -0.5]))
    """

    name: ClassVar[str] = "nearest"
    package: ClassVar[str] = "sdpdr"
    module: ClassVar[str] = "sdpdr"
    licence: ClassVar[str] = "Apache-2.0"
    forms: ClassVar[tuple[str, ...]] = ("gram",)
    by_name_only: ClassVar[bool] = True
    is_special: ClassVar[bool] = True

    def accepts(self, sdp: SDP) -> str | None:
        """None if the cost is a distance of all entries of one matrix, else why not."""
        found = sdp.remembered(nearest_program)
        return found if isinstance(found, str) else None

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve the program as it stands."""
        deadline = Deadline(self.time_limit)
        tol = self.known_options({"tol": 1e-10})["tol"]
        most = _ITERATIONS if self.max_iter is None else self.max_iter
        program = sdp.remembered(nearest_program)
        if isinstance(program, str):
            return Outcome(Point(), Verdict.FAILED, Claim("not accepted", message=program))
        compiled = deadline.spent
        verdict, at, count = minimized(program, tol, most, deadline, progress)
        seconds = {"compile": compiled, "solve": deadline.spent - compiled}
        value = sdp.constant + program.value(at.x)
        size = float(np.max(np.abs(at.eigenvalues)))
        point = program.point(at.x, at.y, size)
        return Outcome(point, verdict, Claim(verdict.value, value, count), seconds)
