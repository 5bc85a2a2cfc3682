"""How late every solver is under a time limit, and whether it had a point then.

    python benchmarks/time_limits.py
    python benchmarks/time_limits.py --points 100 250 --limits 1 --solvers clarabel scs

Maximum variance unfolding of a swiss roll, every solver that can run here, every form that it
takes. What a limit covers is compared with the clock of the wall: the solver, with its compilation
and set-up. Building the model, reductions and grading are not covered, and given beside.
"""

from __future__ import annotations

import argparse
import time

from tables import write_table

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.errors import SdpdrError
from sdpdr.model import Model
from sdpdr.solvers.base import FORMS
from sdpdr.solvers.processes import workers
from sdpdr.solvers.registry import SOLVERS

OUTSIDE = ("build", "reduce", "render", "lift", "certify", "grade")
# Bytes of a dense form of n points are of the order n^4 where no clock helps: it is not begun.
LARGEST_DENSE = 400
Row = tuple[str, str, int, float, str, float, float, str]


def main() -> None:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[100, 250, 1500])
    parser.add_argument("--limits", type=float, nargs="+", default=[1.0, 5.0])
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS))
    parser.add_argument("--forms", nargs="+", default=[form for form in FORMS if form != "cvxpy"])
    parser.add_argument("--dry", action="store_true", help="print only")
    args = parser.parse_args()
    workers.hire().close()
    found: list[Row] = []
    for n in args.points:
        points = datasets.swiss_roll(n, seed=0)[0]
        model = methods.mvu(graphs.knn(points, n_neighbors=5, connect="mst"))
        for name in args.solvers:
            for form in SOLVERS[name].forms if SOLVERS[name].availability().usable else ():
                if form in args.forms and not (n > LARGEST_DENSE and form in ("gram", "lmi")):
                    found += runs(model, n, name, form, args.limits)
    worst = max(row[5] for row in found)
    print(f"largest overrun: {worst:.2f} s")
    if not args.dry:
        write(found, worst)


def runs(model: Model, n: int, name: str, form: str, limits: list[float]) -> list[Row]:
    """A row for every limit; none where the solver does not take the program."""
    found: list[Row] = []
    for limit in limits:
        begin = time.perf_counter()
        try:
            solution = sdpdr.solve(model, name, form, time_limit=limit, progress=False)
        except SdpdrError as refusal:
            print(f"{name:10}{form:12}{n:6}  {refusal}", flush=True)
            break
        wall = time.perf_counter() - begin
        outside = sum(solution.timings.get(part, 0.0) for part in OUTSIDE)
        over = wall - outside - limit
        point = "yes" if solution.values else "no"
        row = (name, form, n, limit, solution.status.name, over, outside, point)
        print(f"{name:10}{form:12}{n:6}{limit:6.1f} {row[4]:12}{over:8.2f}{outside:8.2f} {point}")
        found.append(row)
    return found


def write(rows: list[Row], worst: float) -> None:
    """The table for the documentation."""
    write_table(
        "time_limits",
        ("solver", "form", "points", "limit, s", "status", "late by, s", "grading, s", "point"),
        [
            (name, form, n, f"{limit:g}", status, f"{max(over, 0.0):.2f}", f"{rest:.2f}", point)
            for name, form, n, limit, status, over, rest, point in rows
        ],
        command="python benchmarks/time_limits.py",
        notes=(
            f"The largest overrun is {worst:.2f} s. Dense forms of more than {LARGEST_DENSE} "
            "points are left out. Where there is no point, the solver had none when it was ended: "
            "interior-point methods do not let theirs be seen from outside.",
        ),
    )


if __name__ == "__main__":
    main()
