"""What isolation costs: seconds of the processor and of the wall for a program with 13 rows.

    python benchmarks/workers.py

The same solve in this process, in a worker, and in a process started for it alone, as
on systems that cannot fork and as it was for all before there were workers.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import psutil

import sdpdr
from sdpdr import graphs, methods
from sdpdr.program.solution import Solution
from sdpdr.solvers.processes import workers

ROWS, TIMES = 13, 5


def main() -> None:
    """Measure and print."""
    model = methods.mvu(graphs.path([1.0] * ROWS))

    def solve(isolate: bool) -> Solution:
        return sdpdr.solve(model, "clarabel", "lmi", isolate=isolate, progress=False)

    begin = time.perf_counter()
    workers.hire().close()
    print(f"until the first worker: {time.perf_counter() - begin:.1f} s, once in a process")
    here = measured(lambda: solve(False))
    apart = measured(lambda: solve(True))
    workers.POSSIBLE = False
    alone = measured(lambda: solve(True))
    print(f"{'':24}{'processor':>10}{'wall':>8}  seconds, median of {TIMES}")
    for name, seconds in (("here", here), ("in a worker", apart), ("in a new process", alone)):
        print(f"{name:24}{seconds[0]:10.3f}{seconds[1]:8.3f}")
    costs = [(a - h, n - h) for h, a, n in zip(here, apart, alone, strict=True)]
    for name, (worker, new) in zip(("processor", "wall"), costs, strict=True):
        print(
            f"isolation costs {worker:.3f} s of {name}; {new / worker:.0f} times less than before"
        )


def measured(run: Callable[[], Solution]) -> tuple[float, float]:
    """Median seconds of the processor, all children included, and of the wall."""
    spent, walls = [], []
    run()
    for _ in range(TIMES):
        before, begin = processor(), time.perf_counter()
        run()
        walls.append(time.perf_counter() - begin)
        time.sleep(0.05)  # until a worker that has answered is reaped, and counted
        spent.append(processor() - before)
    return statistics.median(spent), statistics.median(walls)


def processor() -> float:
    """Seconds of this process, its children that live, and those that were waited for."""
    this = psutil.Process()
    total = 0.0
    for process in (this, *this.children(recursive=True)):
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total


if __name__ == "__main__":
    main()
