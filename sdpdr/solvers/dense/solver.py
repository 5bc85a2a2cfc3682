"""The interior-point method on dense matrices as a solver of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.program.run import Claim
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome, Progress, Solver, printing
from sdpdr.solvers.conic import ConicForm
from sdpdr.solvers.dense.method import minimized
from sdpdr.solvers.processes.ends import allowed_memory

_ITERATIONS = 60
# Bytes for every pair of unknowns: the matrix of a step, a product that is added to it, its factor.
PAIR = 24
_LINE = (
    "{iteration:4d}  {value: .12g}  {bound: .12g}  error {infeasibility:.1e}  "
    "gap {stationarity:.1e}"
)


@dataclass(frozen=True)
class Dense(Solver):
    """An interior-point method on dense matrices, for small programs (options as in `Solver`).

    Every step factors a dense matrix of as many rows as the program has unknowns, by LAPACK. Up to
    some hundreds of them, and orders of some tens, that takes a fraction of what methods spend that
    keep blocks of the cones in sparse factorizations.

    Its own options are ``tol``, of the gap, and ``exact``: whether steps are to leave no
    residuals of equations but of rounding.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> round(sdpdr.solve(model, "dense", "lmi").value, 5)
    4.66667
    """

    name: ClassVar[str] = "dense"
    package: ClassVar[str] = "sdpdr"
    module: ClassVar[str] = "sdpdr"
    licence: ClassVar[str] = "Apache-2.0"
    forms: ClassVar[tuple[str, ...]] = ("gram", "lmi")
    by_name_only: ClassVar[bool] = True

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve the program as it stands."""
        deadline = Deadline(self.time_limit)
        tol, exact = self.known_options({"tol": 1e-8, "exact": False}).values()
        if not isinstance(exact, bool):
            raise DataError(f"option 'exact' of solver 'dense' is {exact!r}; it is True or False.")
        _require_memory(sdp)
        form = ConicForm(sdp, fold=False)
        data = form.data()
        compiled = deadline.spent
        most = _ITERATIONS if self.max_iter is None else self.max_iter
        follow = printing(_LINE, progress) if self.verbose else progress
        ending = minimized(data, tol, most, deadline, follow, exact=exact)
        last = ending.last
        value = last.value(data) + sdp.constant
        solved = deadline.spent - compiled
        seconds = {"compile": compiled, "solve": solved}
        claim = Claim(ending.verdict.value, value, ending.iterations)
        # What grew without limit is next to a ray, of which both sides are kept for the proof.
        point = form.point(last.v, last.y, last.z)
        return Outcome(point, ending.verdict, claim, seconds)


def _require_memory(sdp: SDP) -> None:
    """Raise an error if the matrices of a step do not fit: many systems would kill the process."""
    unknowns = sum(v.size for v in sdp.variables)
    needed, here = PAIR * unknowns**2 / 2**30, allowed_memory() / 2**30
    if needed > here:
        raise MemoryError(
            f"its dense matrices of {unknowns} unknowns need {needed:.3g} GiB, and there are "
            f"{here:.3g} GiB"
        )
