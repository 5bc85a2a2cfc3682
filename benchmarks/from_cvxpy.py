"""cvxpy's standard problems for its solvers, solved by sdpdr.

python benchmarks/from_cvxpy.py    # rewrites docs/tables/from_cvxpy.rst
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
from cvxpy.tests import solver_test_helpers as helpers
from tables import write_table

import sdpdr

KINDS = ("LPs", "QPs", "SOCPs", "SDPs", "ECPs", "MixedCPs", "PCPs", "InfeasibleProblems")
# Integers, and what is about one solver's digits.
_LEFT_OUT = ("mi_", "lp_7")
# Compared to more digits of the variables than a gap of 1e-6 leaves.
_OPTIONS: dict[str, dict[str, float]] = {"socp_1": {"tol": 1e-7}, "pcp_2": {"tol": 1e-7}}
_REASONS = {
    "lp_bound_attr": "tests that bounds arrive apart from the rows, which sdpdr does not ask for",
    "qp_bound_attr": "tests that bounds arrive apart from the rows, which sdpdr does not ask for",
}


def _tests() -> list[tuple[str, str, Callable[..., Any]]]:
    found = []
    for kind in KINDS:
        cases = getattr(helpers, f"StandardTest{kind}")
        names = [n.removeprefix("test_") for n in dir(cases) if n.startswith("test_")]
        found += [
            (kind, name, getattr(cases, f"test_{name}"))
            for name in names
            if not name.startswith(_LEFT_OUT)
        ]
    return found


def row(kind: str, name: str, test: Callable[..., Any]) -> list[str]:
    """One line of the table: whether the test passes, in what time, and why not."""
    solved: list[cp.Problem] = []

    class Recording(sdpdr.CVXPY):
        def solve_via_data(self, *arguments: Any, **options: Any) -> Any:
            answer = super().solve_via_data(*arguments, **options)
            solved.append(answer.solution)
            return answer

    begin = time.process_time()
    try:
        test(solver=Recording(), **_OPTIONS.get(name, {}))
        verdict = f"passes, with {_OPTIONS[name]}" if name in _OPTIONS else "passes"
    except (AssertionError, KeyError):
        verdict = f"fails: {_REASONS[name]}"
    seconds = time.process_time() - begin
    graded = f"{solved[-1].status.name}, {solved[-1].solver}" if solved else "not solved"
    return [kind, name, verdict, graded, f"{seconds:.2f}"]


def main() -> None:
    """Run all tests and write the table."""
    warnings.simplefilter("ignore")
    rows = [row(*test) for test in _tests()]
    for cells in rows:
        print(" | ".join(cells))
    passed = sum(cells[2].startswith("passes") for cells in rows)
    write_table(
        "from_cvxpy",
        ["kind", "test", "result", "status, by", "CPU seconds"],
        rows,
        command="python benchmarks/from_cvxpy.py",
        notes=[f"{passed} of {len(rows)} pass, with cvxpy {cp.__version__}."],
    )


if __name__ == "__main__":
    main()
