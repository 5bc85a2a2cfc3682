"""Clarabel and CVXOPT as cvxpy calls them, with the last point of a run that gave up.

cvxpy drops it, since it may be far from optimal. Here it is kept, as it is often all but optimal:
both give up where rounding keeps them from the last digits.
"""

from __future__ import annotations

from typing import ClassVar

import cvxpy as cp
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL
from cvxpy.reductions.solvers.conic_solvers.cvxopt_conif import CVXOPT


class ClarabelKeeping(CLARABEL):  # type: ignore[misc]  # cvxpy's classes have no types
    """Clarabel's, with points for all but the programs that it never began to solve."""

    STATUS_MAP: ClassVar[dict[str, str]] = CLARABEL.STATUS_MAP | {
        # Clarabel's own words; cvxpy 1.7 has no names for them.
        "NumericalError": cp.OPTIMAL_INACCURATE,
        "InsufficientProgress": cp.OPTIMAL_INACCURATE,
    }

    def name(self) -> str:
        """A name that no solver of cvxpy has, as cvxpy demands."""
        return "CLARABEL_KEEPING"


class CvxoptKeeping(CVXOPT):  # type: ignore[misc]  # likewise
    """CVXOPT's, with points for what it calls unknown."""

    STATUS_MAP: ClassVar[dict[str, str]] = CVXOPT.STATUS_MAP | {"unknown": cp.OPTIMAL_INACCURATE}

    def name(self) -> str:
        """A name that no solver of cvxpy has, as cvxpy demands."""
        return "CVXOPT_KEEPING"
