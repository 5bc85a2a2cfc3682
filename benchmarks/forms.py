"""Every solver in every form on the problem library: seconds, memory, and constants that fit them.

    python benchmarks/forms.py                   # runs what is missing, then fits and reports
    python benchmarks/forms.py --fit             # fits what is there, without running anything
    python benchmarks/forms.py --fit --rows lowrank,edges lowrank,products
    python benchmarks/forms.py --limit 5 --problems circle theta1
    python benchmarks/forms.py --sdplib folder/of/sdplib --solvers csdp sdpa-file

The library is the cards in ``problems/``, unfoldings of noise, and the programs of SDPLIB that lie
in a folder that the caller names (files ``*.dat-s.gz``); a fit needs the programs of all runs that
are kept. Each run is a fork of a process that has loaded all solvers; its seconds are those of the
processor, programs that it started included, so that a machine that does other work as well matters
little, and it ends when they reach the limit. A pair of solver and form that ran out of seconds or
memory is not tried on problems of the same kind in which it would have as much work. Runs are kept
in ``forms.json`` as they end: an interrupted benchmark goes on where it stopped. The fit rewrites
``sdpdr/solving/costs/rates.csv``, which `sdpdr.plan` reads, and ``FORMS.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from forms_fit import CLOUD, TABLE, dated, fit, report
from journal import processor_seconds

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import NotAcceptedError, SdpdrError
from sdpdr.lab.library.problem import library
from sdpdr.model import Model
from sdpdr.program import SDP, read_sdpa
from sdpdr.program.run import Status
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import FORMS
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.costs.prediction import FILED
from sdpdr.solving.costs.structure import Structure
from sdpdr.solving.costs.work import RATES, work, write_rates

HERE = Path(__file__).parent
KEPT = HERE / "forms.json"
TOL = 1e-6
LARGEST_MEMORY = 6 * 2**30
# Wall seconds for every second of the processor before a run counts as stuck.
PATIENCE = 8
# Gaussian clouds that are unfolded as well, by points and columns: no card has a graph that fills.
CLOUDS = (
    (200, 4), (200, 12), (300, 20), (400, 4), (400, 8), (500, 12), (500, 25), (800, 4), (800, 15),
    (1500, 3), (1500, 8), (2500, 10), (3000, 3),
)  # fmt: skip
Run = dict[str, Any]


def problems(sdplib: Path | None = None) -> dict[str, tuple[Model | SDP, SDP]]:
    """The library by name, smallest first: what is solved, and its standard form."""
    found: dict[str, tuple[Model | SDP, SDP]] = {}
    for name, card in library().items():
        try:
            model = card.build()
        except SdpdrError:
            continue  # Some cards show what goes wrong.
        found[name] = model, model.to_sdp()
    for n, columns in CLOUDS:
        points = np.random.default_rng(1).standard_normal((n, columns))
        model = methods.mvu(graphs.knn(points, n_neighbors=7))
        found[f"{CLOUD}{n}-{columns}"] = model, model.to_sdp()
    for path in sorted(sdplib.glob("*.dat-s.gz")) if sdplib else ():
        sdp = read_sdpa(path)
        found[path.name.removesuffix(".dat-s.gz")] = sdp, sdp
    return dict(sorted(found.items(), key=lambda item: sum(size_of(item[1][1]))))


def size_of(sdp: SDP) -> tuple[int, int]:
    """Matrix entries and rows."""
    return sum(v.size for v in sdp.psd_variables), sdp.n_rows


def pairs(
    solvers: list[str] | None = None, forms: list[str] | None = None
) -> Iterator[tuple[str, str]]:
    """All usable pairs of solver and form, or some; of forms that are the same file, one."""
    for name, cls in SOLVERS.items():
        if not cls.availability().usable or cls.is_special or (solvers and name not in solvers):
            continue
        for form in cls.forms:
            is_twin = issubclass(cls, ExternalSolver) and form in FILED
            if not is_twin and (not forms or form in forms):
                yield name, form


# -- runs ---------------------------------------------------------------------------------------


def forked(model: Model | SDP, solver: str, form: str, limit: float) -> Run:
    """One run in a process of its own."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        resource.setrlimit(resource.RLIMIT_CPU, (int(np.ceil(limit)), int(np.ceil(limit)) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
        signal.alarm(int(PATIENCE * limit))
        try:
            os.write(sink, json.dumps(measured(model, solver, form, limit)).encode())
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    if answer:
        return json.loads(answer)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return {"status": "OUT_OF_TIME", "seconds": limit}
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return {"status": "OUT_OF_TIME", "seconds": limit}
    return {"status": "CRASHED"}


def measured(model: Model | SDP, solver: str, form: str, limit: float) -> Run:
    """Seconds of the processor, peak memory and accuracy of one solve in this process."""
    before, begin = peak_memory(), processor_seconds()
    try:
        solution = sdpdr.solve(model, solver, form, tol=TOL, progress=False)
    except MemoryError:
        return {"status": "OUT_OF_MEMORY"}
    except SdpdrError as refusal:
        return {"status": "REFUSED", "words": str(refusal)}
    seconds = processor_seconds() - begin
    if solution.status is Status.FAILED and seconds >= 0.9 * limit:
        return {"status": "OUT_OF_TIME", "seconds": limit}  # The program that it started was ended.
    return {
        "status": solution.status.name,
        "reached": is_settled(solution),
        "error": error_of(solution),
        "seconds": seconds,
        "memory": peak_memory() - before,
    }


def peak_memory() -> int:
    """Bytes of this process, and those of the largest that it has waited for beyond its own.

    A process that starts another counts for as much as itself until the other begins.
    """
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    own, others = (resource.getrusage(who).ru_maxrss for who in whose)
    return 1024 * (own + max(0, others - own))


def is_settled(solution: Solution) -> bool:
    """Whether a second solver would not be asked."""
    return solution.status in (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)


def error_of(solution: Solution) -> float | None:
    """The gap, or the largest DIMACS error where no bound is proved."""
    error = solution.residuals.worst() if solution.bound is None else abs(solution.gap)
    return float(error) if np.isfinite(error) else None


def is_hopeless(
    kept: dict[str, Run], structures: dict[str, Structure], name: str, solver: str, form: str
) -> bool:
    """Whether the pair ran out of seconds or memory where it had no more work."""
    if solver == "lowrank":
        return False  # Its time depends on rank and conditioning more than on size.
    try:
        to_do = work(solver, form, structures[name]).multiplications
    except NotAcceptedError:
        return False
    return any(
        run["status"] in ("OUT_OF_TIME", "OUT_OF_MEMORY")
        and (run["solver"], run["form"]) == (solver, form)
        and run["kind"] == structures[name].kind
        and work(solver, form, structures[run["problem"]]).multiplications <= to_do
        for run in kept.values()
    )


def run_missing(
    known: dict[str, tuple[Model | SDP, SDP]],
    chosen: list[str] | None,
    wanted: list[tuple[str, str]],
    limit: float,
) -> dict[str, Run]:
    """Run pairs on every problem that is not kept yet."""
    kept = read_kept()
    warm_up()
    structures = {name: Structure(sdp) for name, (_, sdp) in known.items()}
    for name, (model, sdp) in known.items():
        if chosen and name not in chosen:
            continue
        for solver, form in wanted:
            key = f"{name} {solver} {form}"
            if key in kept:
                continue
            entries, rows = size_of(sdp)
            hopeless = is_hopeless(kept, structures, name, solver, form)
            run = {"status": "HOPELESS"} if hopeless else forked(model, solver, form, limit)
            about = {"problem": name, "solver": solver, "form": form, "kind": structures[name].kind}
            if form == "factor":
                about["engine"] = structures[name].engine
            kept[key] = {**about, "entries": entries, "rows": rows, "limit": limit, **run}
            keep(kept)
            print(key, run["status"], run.get("seconds", ""), flush=True)
    return kept


def warm_up() -> None:
    """Load every solver, so that no run pays for it."""
    small = methods.mvu(graphs.cycle(6))
    for solver, form in pairs():
        if form not in ("chordal", "chordal-lmi"):
            sdpdr.solve(small, solver, form, progress=False)


def read_kept() -> dict[str, Run]:
    """Runs that have ended, by problem, solver and form."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def keep(kept: dict[str, Run]) -> None:
    """Write all runs, by way of a second file, so that a kill leaves no half of one."""
    beside = KEPT.with_suffix(".part")
    beside.write_text(json.dumps(kept, indent=0, sort_keys=True), encoding="utf-8")
    beside.replace(KEPT)


def _pair(row: str) -> tuple[str, str]:
    solver, form = row.split(",")
    return solver, form


def main() -> None:
    """Run what is missing, fit, and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="*")
    parser.add_argument("--solvers", nargs="*", choices=list(SOLVERS))
    parser.add_argument("--forms", nargs="*", choices=list(FORMS))
    parser.add_argument("--sdplib", type=Path, help="folder of files *.dat-s.gz")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of the processor a run")
    parser.add_argument("--rows", nargs="*", help="rewrite these rows alone: lowrank,edges")
    parser.add_argument("--run", action="store_true", help="fit nothing")
    parser.add_argument("--fit", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    known = problems(arguments.sdplib)
    if not arguments.fit:
        wanted = list(pairs(arguments.solvers, arguments.forms))
        run_missing(known, arguments.problems, wanted, arguments.limit)
    if arguments.run:
        return
    runs = [run for run in read_kept().values() if run["problem"] in known]
    known = {name: known[name] for name in {run["problem"]: None for run in runs}}
    structures = {name: Structure(sdp) for name, (_, sdp) in known.items()}
    if arguments.rows:
        fitted = fit(runs, structures)
        write_rates({**RATES, **{pair: fitted[pair] for pair in map(_pair, arguments.rows)}})
        TABLE.write_text(dated(TABLE.read_text("utf-8"), arguments.rows), encoding="utf-8")
        return
    write_rates(fit(runs, structures))
    TABLE.write_text(report(runs, structures, set(library())), encoding="utf-8")


if __name__ == "__main__":
    main()
