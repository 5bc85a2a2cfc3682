"""General programs of low rank: ``lowrank`` beside SDPLR and LoRADS, at equal errors.

    python benchmarks/general.py                                the table of the documentation
    python benchmarks/general.py --programs mc800 theta500      some programs; the others stay
    python benchmarks/general.py --solvers sdplr --errors 1e-5  some solvers, one error
    python benchmarks/general.py --table                        the table again, nothing solved

Every program is solved in a process of its own, whose memory and time are limited. A solver is
asked for 1e-3 first, and then for a digit more at a time. For each error wanted, the
first answer whose six DIMACS errors, as sdpdr measures them, are below it is kept in
``benchmarks/general.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from tables import write_csv

import sdpdr
from sdpdr.linalg import SvecMap
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.solvers import Solver, find
from sdpdr.solvers.external import ExternalSolver

KEPT = Path(__file__).with_suffix(".json")
SOLVERS = {"lowrank": "lowrank", "sdplr": "SDPLR", "lorads": "LoRADS"}
ERRORS = (1e-5, 1e-7)
# What a solver is asked for in turn.
ASKED = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
# Seconds of a solve, seconds beyond them for a proof, and gigabytes.
LIMIT, PATIENCE, MEMORY = 300.0, 120.0, 12.0


# -- programs -------------------------------------------------------------------------------------


@dataclass
class Matrices:
    """Entries of symmetric matrices: number, row, column, value; number 0 is the cost."""

    order: int
    parts: list[tuple[Any, Any, Any, Any]]

    def add(self, number: Any, i: Any, j: Any, value: Any) -> None:
        """Entries (i, j) of the matrices of some numbers, and with them (j, i)."""
        number, i, j, value = np.broadcast_arrays(number, i, j, value)
        self.parts.append((number.ravel(), i.ravel(), j.ravel(), value.ravel()))

    def program(self, name: str, rhs: Any) -> SDP:
        """Maximise <F_0, Y> where <F_k, Y> = rhs_k and Y is positive semidefinite."""
        number, i, j, value = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        number, i, j = (part.astype(np.int64) for part in (number, i, j))
        cost = number == 0

        def rows(chosen: Any, m: int, sign: float) -> SvecMap:
            k = np.maximum(number[chosen] - 1, 0)
            return SvecMap.from_entries(
                self.order, m, k, i[chosen], j[chosen], sign * value[chosen]
            )

        rhs = np.asarray(rhs, dtype=float)
        lhs = {"Y": rows(~cost, rhs.size, 1.0)}
        objective = {"Y": rows(cost, 1, -1.0)}
        variables = (PsdVariable("Y", self.order),)
        return SDP(variables, objective, (Rows("rows", "==", lhs, rhs),), maximize=True, name=name)


def pairs(n: int, m: int, rng: np.random.Generator) -> Any:
    """Distinct pairs i < j of n nodes, in order."""
    found: set[tuple[int, int]] = set()
    while len(found) < m:
        i, j = rng.integers(n, size=2).tolist()
        if i != j:
            found.add((min(i, j), max(i, j)))
    return np.array(sorted(found))


def cut(name: str, n: int, edges: Any, weights: Any) -> SDP:
    """The relaxation of a largest cut: <L, Y> / 4 with ones on the diagonal."""
    i, j = edges.T
    half = sp.coo_array((weights, (i, j)), shape=(n, n)).tocsr()
    graph = half + half.T
    laplacian = sp.triu(sp.diags_array(graph.sum(axis=1)) - graph).tocoo()
    matrices = Matrices(n, [])
    matrices.add(0, *laplacian.coords, laplacian.data / 4.0)
    matrices.add(np.arange(1, n + 1), np.arange(n), np.arange(n), 1.0)
    return matrices.program(name, np.ones(n))


def random_cut(name: str, n: int, m: int, rng: np.random.Generator) -> SDP:
    """A random graph with unit weights."""
    return cut(name, n, pairs(n, m, rng), np.ones(m))


def torus(name: str, a: int, b: int, rng: np.random.Generator) -> SDP:
    """A grid on a torus, its edges of either sign."""
    at = np.arange(a * b).reshape(a, b)
    steps = [np.column_stack([at.ravel(), np.roll(at, -1, axis).ravel()]) for axis in (0, 1)]
    edges = np.concatenate(steps)
    return cut(name, a * b, edges, rng.choice([-1.0, 1.0], len(edges)))


def completion(name: str, n: int, rank: int, m: int, rng: np.random.Generator) -> SDP:
    """An n x n matrix of low rank, known at m places, with least nuclear norm."""
    left, right = rng.standard_normal((n, rank)), rng.standard_normal((n, rank))
    i, j = np.divmod(rng.choice(n * n, m, replace=False), n)
    known = (left[i] * right[j]).sum(axis=1)
    matrices, diagonal = Matrices(2 * n, []), np.arange(2 * n)
    matrices.add(0, diagonal, diagonal, -1.0)
    matrices.add(np.arange(1, m + 1), i, n + j, 1.0)
    return matrices.program(name, 2.0 * known)


def theta(name: str, n: int, m: int, rng: np.random.Generator) -> SDP:
    """Lovasz's theta of a random graph."""
    matrices = Matrices(n, [])
    matrices.add(0, *np.triu_indices(n), 1.0)
    matrices.add(1, np.arange(n), np.arange(n), 1.0)
    matrices.add(np.arange(2, m + 2), *pairs(n, m, rng).T, 1.0)
    return matrices.program(name, np.r_[1.0, np.zeros(m)])


def sensors(name: str, n: int, n_anchors: int, radius: float, rng: np.random.Generator) -> SDP:
    """Sensors in the plane between known ones: least trace at exact distances to neighbours."""
    places, anchors = rng.random((n, 2)) - 0.5, rng.random((n_anchors, 2)) - 0.5
    tree, degree, edges = cKDTree(places), np.zeros(n, dtype=int), []
    for i, j in sorted(tree.query_pairs(radius)):
        if min(degree[i], degree[j]) < 7:
            edges.append((i, j))
            degree[[i, j]] += 1
    near = cKDTree(anchors).query_ball_point(places, radius)
    links = np.array([(a, i) for i, seen in enumerate(near) for a in seen[:3]])
    # The matrix is [[I, X^T], [X, Y]], X the places.
    matrices = Matrices(n + 2, [])
    matrices.add(0, 2 + np.arange(n), 2 + np.arange(n), -1.0)
    matrices.add([1, 2, 3], [0, 1, 0], [0, 1, 1], 1.0)
    i, j = np.array(edges).T
    k = 4 + np.arange(i.size)
    matrices.add(k, 2 + i, 2 + i, 1.0)
    matrices.add(k, 2 + j, 2 + j, 1.0)
    matrices.add(k, 2 + i, 2 + j, -1.0)
    (x, y), s = anchors[links[:, 0]].T, 2 + links[:, 1]
    k = 4 + i.size + np.arange(s.size)
    for row, column, value in ((0, 0, x * x), (1, 1, y * y), (0, 1, x * y)):
        matrices.add(k, row, column, value)
    for row, column, value in ((0, s, -x), (1, s, -y), (s, s, 1.0)):
        matrices.add(k, row, column, value)
    square = np.square(places[i] - places[j]).sum(axis=1)
    to_anchors = np.square(anchors[links[:, 0]] - places[links[:, 1]]).sum(axis=1)
    return matrices.program(name, np.r_[1.0, 1.0, 0.0, square, to_anchors])


Make = Callable[..., SDP]
# All of them draw from one stream of random numbers, in this order.
PROGRAMS: dict[str, tuple[str, Make, tuple[Any, ...]]] = {
    "mc800": ("cut of a random graph", random_cut, (800, 19176)),
    "mc2000": ("cut of a random graph", random_cut, (2000, 19990)),
    "torus2000": ("cut of a torus with signs", torus, (40, 50)),
    "torus10000": ("cut of a torus with signs", torus, (100, 100)),
    "mc7000": ("cut of a random graph", random_cut, (7000, 17148)),
    "comp500": ("completion, 250 x 250, rank 3", completion, (250, 3, 10000)),
    "comp2000": ("completion, 1000 x 1000, rank 5", completion, (1000, 5, 60000)),
    "theta500": ("theta of a random graph", theta, (500, 6000)),
    "snl500": ("500 sensors", sensors, (500, 25, 0.12)),
    "snl2000": ("2000 sensors", sensors, (2000, 60, 0.06)),
}


def program(wanted: str) -> SDP:
    """A program, once all before it have drawn their numbers."""
    rng = np.random.default_rng(1)
    for name, (_, make, sizes) in PROGRAMS.items():
        sdp = make(name, *sizes, rng)
        if name == wanted:
            return sdp
    raise KeyError(wanted)


# -- one run, in a process of its own -------------------------------------------------------------


def processor_seconds(who: int) -> float:
    """CPU seconds of this process, or of the programs that it has waited for."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(cls: type[Solver], seconds: list[float]) -> type[Solver]:
    """A solver that notes what it takes of the processor: the program alone, if it is one."""
    who = resource.RUSAGE_CHILDREN if issubclass(cls, ExternalSolver) else resource.RUSAGE_SELF

    def run(self: Any, *arguments: Any, **options: Any) -> Any:
        before = processor_seconds(who)
        try:
            return cls.run(self, *arguments, **options)
        finally:
            seconds.append(processor_seconds(who) - before)

    return type(cls.__name__, (cls,), {"run": run})


def solve(name: str, solver: str, tol: float, limit: float) -> dict[str, Any]:
    """Solve a program at a tolerance, and tell what came of it."""
    most = int(MEMORY * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    sdp, seconds = program(name), list[float]()
    configured = timed(find(solver), seconds)(tol=tol, time_limit=limit)
    before = processor_seconds(resource.RUSAGE_SELF)
    found = sdpdr.solve(sdp, configured, isolate=False, progress=False)
    own = processor_seconds(resource.RUSAGE_SELF) - before
    within = sum(seconds) if not issubclass(find(solver), ExternalSolver) else 0.0
    return {
        "status": found.status.name,
        "said": found.claimed.message or found.claimed.status,
        "seconds": round(sum(seconds), 3),
        "proof": round(own - within, 3),
        "value": number(found.value),
        "bound": number(found.bound),
        "error": number(found.residuals.worst()),
        "gap": number(found.gap),
        "apparent": number(found.apparent_gap),
    }


def number(value: float | None) -> float | None:
    """A finite number, or None: others are none in JSON."""
    return None if value is None or not np.isfinite(value) else float(value)


def apart(name: str, solver: str, tol: float, limit: float) -> dict[str, Any]:
    """The same in another process, whatever becomes of it."""
    command = [sys.executable, __file__, "--one", name, solver, repr(tol), repr(limit)]
    environment = os.environ | {f"{x}_NUM_THREADS": "1" for x in ("OMP", "OPENBLAS", "MKL")}
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        out, _ = child.communicate(timeout=limit + PATIENCE)
        return dict(json.loads(out.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return {"status": "TIME_LIMIT", "said": f"ended after {limit + PATIENCE:.0f} s"}
    except (IndexError, ValueError):
        return {"status": "FAILED", "said": f"its process ended with status {child.returncode}"}
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def ladder(
    name: str, solver: str, errors: Sequence[float], limit: float
) -> dict[float, dict[str, Any]]:
    """For each error wanted the first answer below it, or else the best of all."""
    tried: list[dict[str, Any]] = []
    for asked in ASKED:
        found = apart(name, solver, asked, limit) | {"asked": asked, "limit": limit}
        print(name, solver, *found.items(), flush=True)
        tried.append(found)
        if found["status"] in ("TIME_LIMIT", "FAILED") or measured(found) <= min(errors):
            break
    best = min(tried, key=measured)
    return {e: next((one for one in tried if measured(one) <= e), best) for e in errors}


def measured(found: dict[str, Any]) -> float:
    """The error of an answer; infinite where there is none."""
    error = found.get("error")
    return np.inf if error is None else float(error)


# -- the table ------------------------------------------------------------------------------------


def kept() -> dict[str, Any]:
    """What was measured before."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def keep(key: str, found: dict[str, Any]) -> None:
    """Put a measurement in the place of the one before."""
    records = kept() | {key: found}
    KEPT.write_text(json.dumps(dict(sorted(records.items())), indent=1) + "\n", encoding="utf-8")


def cell(found: dict[str, Any] | None, error: float) -> str:
    """Seconds, error and gap, or why there are none."""
    if found is None:
        return ""
    if found.get("error") is None:
        return f"> {found['limit']:.0f} s" if found["status"] == "TIME_LIMIT" else "no answer"
    gap = "—" if found["apparent"] is None else f"~{found['apparent']:.0e}"
    gap = gap if found["gap"] is None else f"{found['gap']:.0e}"
    words = f"{found['seconds']:.2g} + {found['proof']:.2g} s, {found['error']:.0e}, {gap}"
    return words if found["error"] <= error else f"({words})"


def rows() -> Iterator[tuple[str, ...]]:
    """Rows of the table: what was measured of each program."""
    records = kept()
    for name, (words, _, _) in PROGRAMS.items():
        for error in ERRORS:
            cells = [records.get(f"{name} {solver} {error:g}") for solver in SOLVERS]
            if any(cells):
                told = (cell(found, error) for found in cells)
                yield (f"``{name}``: {words}", f"{error:.0e}", *told)


def write() -> None:
    """Write the table of the documentation."""
    notes = (
        "Seconds of the processor that the solver took, plus those of files, checks and proof; "
        "the worst of the six DIMACS errors; the relative distance of what is proved attainable "
        "from what is proved to bound it. After a ~ it is the distance of the value from the "
        "bound, where the point is near and not proved to be on exact rows. In brackets where the "
        "error is above the one wanted, whatever was asked for; empty where nothing was measured. "
        f"One thread, {MEMORY:.0f} GB; a solver is stopped after {LIMIT:.0f} seconds, or as many "
        "as the table says.",
    )
    head = ("Program", "Error", *SOLVERS.values())
    write_csv("general", head, rows(), command="python benchmarks/general.py", notes=notes)


def main() -> None:
    """Solve what is asked for, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--errors", nargs="+", type=float, choices=ERRORS, default=ERRORS)
    parser.add_argument("--table", action="store_true", help="solve nothing")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a solve")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        name, solver, tol, limit = given.one
        print(json.dumps(solve(name, solver, float(tol), float(limit))))
        return
    for name in () if given.table else given.programs:
        for solver in given.solvers:
            if not find(solver).availability().usable:
                print(solver, "is left out:", find(solver).availability().reason)
                continue
            for error, found in ladder(name, solver, given.errors, given.limit).items():
                keep(f"{name} {solver} {error:g}", found)
            write()
    write()


if __name__ == "__main__":
    main()
