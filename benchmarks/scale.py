"""Certified unfolding of the swiss roll from 1000 to 1,000,000 points, and of real images.

    python benchmarks/scale.py                 # to 100,000 points: minutes
    python benchmarks/scale.py --largest       # 1,000,000 points as well
    python benchmarks/scale.py --data ../shared/data --only images
    python benchmarks/scale.py --only peers    # CSDP and SDPA, from 100 to 800 points

Every run is a process of its own, so that its peak memory is its own. Results are kept in
``benchmarks/scale.json`` as they come, and ``benchmarks/SCALE.md`` and ``SCALE.svg`` are written
from it; a run that is in the file is not repeated unless ``--again`` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from journal import processor_seconds

HERE = Path(__file__).parent
STORE = HERE / "scale.json"
PACKAGES = ("sdpdr", "numpy", "scipy", "qdldl", "mkl", "sdpa-python")
SIZES = (1000, 3000, 10_000, 30_000, 100_000)
PEER_SIZES = (100, 200, 400, 800)
# Solvers that are programs of their own, and the forms of the program that they are offered. The
# first suits both best, as the table of forms at 100 points shows.
PEERS = {"csdp": "CSDP", "sdpa-file": "SDPA"}
PEER_FORMS = ("one row", "gram", "lmi", "chordal", "chordal-lmi")
# Seconds of the processor; twelve times as many of the clock, for machines that do other work.
PEER_LIMIT, PATIENCE = 300, 12
# Relative gap from which on an answer counts as none.
USEFUL = 0.1
# Solvers that are asked for exact lengths, and the form that suits them.
EQUALITY = {
    "lowrank": {"solver": "lowrank", "form": "factor"},
    "sdpa": {"solver": "sdpa", "form": "chordal-lmi"},
    "clarabel": {"solver": "clarabel", "form": "chordal-lmi"},
}
# File of images, how many of them, neighbours.
IMAGES = {
    "Frey faces": ("frey_faces_28x20.npz", 1965, 4),
    "USPS digits": ("usps_9298_16x16.npz", 2000, 5),
    "Isomap faces": ("isomap_faces_32x32.npz", 698, 6),
    "teapots": ("teapots_100_38x50.npz", 100, 4),
    "all USPS digits": ("usps_9298_16x16.npz", 9298, 4),
    "all USPS digits, k = 6": ("usps_9298_16x16.npz", 9298, 6),
}


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", action="store_true", help="1,000,000 points as well")
    parser.add_argument("--only", choices=("roll", "threads", "peers", "floor", "bands", "images"))
    parser.add_argument("--data", type=Path, help="folder with the images")
    parser.add_argument("--repeats", type=int, default=3, help="below 100,000 points")
    parser.add_argument("--again", action="store_true", help="repeat what has been measured")
    parser.add_argument("--note", help="how it was measured, for the page")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(measure(json.loads(arguments.run))))
        return
    for task in tasks(arguments):
        name = task["name"]
        if name in kept() and not arguments.again:
            continue
        keep({name: repeated(task, arguments.repeats)})
    if arguments.note:
        keep({"note": arguments.note})
    keep({"machine": machine()})
    results = kept()
    write(HERE / "SCALE.md", tables(results))
    draw(results)


def repeated(task: dict, repeats: int) -> dict:
    """A run with the medians of its seconds; what takes long is run once."""
    slow = task["n"] >= 100_000 or (task["kind"] == "peer" and task["n"] >= 400)
    rows = [in_a_process(task) for _ in range(1 if slow else repeats)]
    medians = {
        key: statistics.median(row[key] for row in rows)
        for key in ("seconds", "processor")
        if key in rows[0]
    }
    row = {**rows[0], **medians, "repeats": len(rows)}
    print(f"{task['name']}: {row['seconds']:.2f} s, gap {row.get('gap', np.nan):.1e}", flush=True)
    return row


def kept() -> dict:
    """What has been measured so far."""
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def keep(new: dict) -> None:
    """Add to what has been measured, by others meanwhile as well."""
    write(STORE, json.dumps(kept() | new, indent=1) + "\n")


def tasks(arguments: argparse.Namespace) -> list[dict]:
    """What to run, small first."""
    sizes = (*SIZES, 1_000_000) if arguments.largest else SIZES
    wanted = {
        "roll": [{"kind": "roll", "n": n, "name": f"roll {n}"} for n in sizes],
        "threads": [{"kind": "threads", "n": 100_000, "threads": 2, "name": "threads 100000"}],
        "floor": [{"kind": "floor", "n": n, "name": f"floor {n}"} for n in sizes],
        "peers": peers(),
        "bands": [
            {"kind": "band", "n": 2000, "k": 4, "name": "band 1e-3", "band": 1e-3, "tol": 1e-5},
            *(
                {"kind": "equality", "n": 200, "k": 4, "name": f"equality {solver}", **chosen}
                for solver, chosen in EQUALITY.items()
            ),
        ],
        "images": [
            {"kind": "images", "file": str(arguments.data / file), "n": n, "k": k, "name": name}
            for name, (file, n, k) in IMAGES.items()
        ]
        if arguments.data
        else [],
    }
    chosen = [arguments.only] if arguments.only else list(wanted)
    return [task for kind in chosen for task in wanted[kind]]


def peers() -> list[dict]:
    """CSDP and SDPA in all forms at the smallest size, in the best at all; and we at the same."""
    small = PEER_SIZES[0]
    found = [
        *({"kind": "roll", "n": n, "name": f"roll {n}"} for n in PEER_SIZES),
        *({"kind": "floor", "n": n, "name": f"floor {n}"} for n in PEER_SIZES),
    ]
    for solver in PEERS:
        task = {"kind": "peer", "solver": solver}
        for form in PEER_FORMS[1:]:
            found.append(task | {"form": form, "n": small, "name": f"form {solver} {form}"})
        for n in PEER_SIZES:
            found.append(task | {"form": PEER_FORMS[0], "n": n, "name": f"{solver} {n}"})
    return found


def in_a_process(task: dict) -> dict:
    """One run, alone in its process, in one thread unless more are asked for."""
    command = [sys.executable, __file__, "--run", json.dumps(task)]
    threads = os.environ | {"OMP_NUM_THREADS": str(task.get("threads", 1))}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=threads)
    if done.returncode:
        raise SystemExit(f"{task['name']} ended with code {done.returncode}; see above.")
    return json.loads(done.stdout.splitlines()[-1])


def measure(task: dict) -> dict:
    """Everything from the data to the certificate, and what it took."""
    if task["kind"] == "floor":
        return floor(task["n"])
    import sdpdr
    from sdpdr import datasets, graphs, methods
    from sdpdr.blocks import Band

    if task["kind"] == "peer":
        resource.setrlimit(resource.RLIMIT_CPU, (PEER_LIMIT, PEER_LIMIT))
    begin = time.perf_counter()
    if task["kind"] == "images":
        points, k = images(Path(task["file"]), task["n"]), task["k"]
    else:
        points, k = datasets.swiss_roll(task["n"], seed=0)[0], task.get("k", 6)
    read, started = time.perf_counter(), processor_seconds()
    graph = graphs.knn(points, n_neighbors=k, connect="mst")
    built = time.perf_counter()
    tol = task.get("tol", 1e-6)
    isometry = "equality" if task["kind"] == "equality" else "inequality"
    model = methods.mvu(graph, isometry=Band(task["band"]) if "band" in task else isometry)
    if task.get("form") == "one row":
        solution = solve_with_one_row(model.to_sdp(), task["solver"], tol)
    else:
        solution = sdpdr.solve(
            model,
            task.get("solver", "lowrank"),
            task.get("form", "auto"),
            tol=tol,
            time_limit=PATIENCE * PEER_LIMIT if task["kind"] == "peer" else None,
        )
    seconds, processor = time.perf_counter() - read, processor_seconds() - started
    late = task["kind"] == "peer" and processor >= PEER_LIMIT
    return {
        "n": task["n"],
        "edges": len(graph.edges),
        "k": k,
        "seconds": seconds,
        "processor": processor,
        "reading": read - begin,
        "neighbours": built - read,
        "timings": dict(solution.timings),
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        # A program beyond its limit is ended by the system.
        "status": "TIME_LIMIT" if late else solution.status.name,
        "primal": solution.residuals.primal(),
        "iterations": solution.claimed.iterations,
        "message": solution.claimed.message,
        "rank": rank(solution),
        "peak GiB": max(
            resource.getrusage(who).ru_maxrss / 2**20
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        ),
    }


def solve_with_one_row(sdp, solver: str, tol: float):
    """Solve an unfolding whose centring is one row rather than a face, and grade it as usual.

    Lengths do not change when all points move, so K 1 = 0 may as well be 1^T K 1 = c, with the
    variance counted about the mean. Rows keep their four entries, the matrix its interior, and
    its coordinates their condition, all three of which solvers that read sparse files live on.
    """
    from sdpdr.linalg import InnerProduct
    from sdpdr.program import Point, Rows, as_dense
    from sdpdr.program.face import complete_multipliers
    from sdpdr.reduce import Scale
    from sdpdr.solvers import find
    from sdpdr.solvers.screen import screen
    from sdpdr.solving.candidate import Candidate
    from sdpdr.solving.grade import grade
    from sdpdr.solving.options import Request

    (lengths,) = (r for r in sdp.rows if r.relation == "<=")
    n = sdp.variable("K").n
    mean = np.full((n, n), 1.0 / n)
    total = np.array([n * float(np.median(lengths.rhs))])
    centred = replace(
        sdp,
        rows=(lengths, Rows("mean", "==", {"K": InnerProduct(mean)}, total)),
        objective={"K": InnerProduct(mean - np.eye(n))},
    )
    reduced = Scale().apply(centred)
    configured = find(solver)(tol=tol, time_limit=PATIENCE * PEER_LIMIT)
    candidate = Candidate((), configured, "gram", "benchmark")
    outcome = screen(reduced.sdp, configured.run(reduced.sdp))
    point = Point()
    if outcome.point.values:
        found, off = reduced.lift(outcome.point), np.eye(n) - mean
        duals = complete_multipliers(sdp, {lengths.label: found.duals[lengths.label]})
        point = Point({"K": off @ as_dense(found.values["K"]) @ off}, duals)
    return grade(sdp, replace(outcome, point=point, history=()), candidate, Request(sdp))


def rank(solution) -> int:
    """Number of columns of the factor; zero without one."""
    if not solution.values:
        return 0
    return int(getattr(solution.gram(), "factor", np.empty((0, 0))).shape[1])


def images(file: Path, n: int) -> np.ndarray:
    """The first n images of a file, a row each."""
    with np.load(file) as stored:
        return stored["X"].reshape(len(stored["X"]), -1)[:n].astype(float)


def floor(n: int) -> dict:
    """Twenty factorizations of the Newton matrix on the same graph, at rank 3, in one thread."""
    from sdpdr import datasets, graphs
    from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian

    graph = graphs.knn(datasets.swiss_roll(n, seed=0)[0], n_neighbors=6, connect="mst")
    rng = np.random.default_rng(0)
    R, m = rng.standard_normal((n, 3)), len(graph.edges)
    matrix = BlockLaplacian(graph.edges, np.ones(n), 3)
    delta = R[graph.edges[:, 0]] - R[graph.edges[:, 1]]
    matrix.assemble(rng.uniform(1, 2, m), rng.uniform(1, 2, m), delta)
    matrix.factorize(-1e-3)
    times = []
    for _ in range(3 if n >= 100_000 else 10):
        begin = time.process_time()
        matrix.factorize(-1e-3)
        times.append(time.process_time() - begin)
    return {"n": n, "seconds": 20 * statistics.median(times)}


def machine() -> dict:
    """What the figures depend on."""
    from sdpdr.solvers import find

    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "absent"
    for solver, label in PEERS.items():
        versions[label] = find(solver).availability().version or "absent"
    return {"python": platform.python_version(), "versions": versions}


def tables(results: dict) -> str:
    """All results as Markdown."""
    named = {name: row for name, row in results.items() if name not in ("machine", "note")}
    lines = [
        "# What is measured",
        "",
        "Written by `python benchmarks/scale.py` from `benchmarks/scale.json`. Inequality MVU;",
        "seconds include neighbours, compilation, solution and certificate. One thread. Gaps are",
        "relative and proved: between a feasible point and a bound from the multipliers.",
        results.get("note", ""),
        "",
        "## Swiss roll, 6 neighbours",
        "",
        "| n | edges | seconds | of which neighbours | iterations | rank | gap | peak GiB | "
        "times the floor |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in curve(named, "roll"):
        least = named.get(f"floor {row['n']}", {}).get("seconds")
        times = f"{effort(row) / least:.1f}" if least else ""
        lines.append(
            f"| {row['n']} | {row['edges']} | {effort(row):.2f} | {row['neighbours']:.2f} "
            f"| {row['iterations']} | {row['rank']} | {row['gap']:.0e} | "
            f"{row['peak GiB']:.1f} | {times} |"
        )
    lines += ["", "The floor is twenty factorizations of the Newton matrix at rank 3.", ""]
    for row in curve(named, "threads"):
        alone = named[f"roll {row['n']}"]["seconds"]
        lines += [
            f"In two threads, {row['n']} points take {row['seconds']:.1f} s of the clock: the "
            f"second one gains a factor of {alone / row['seconds']:.2f}.",
            "",
        ]
    lines += peer_tables(named)
    lines += ["", "## Narrow bands and equalities, swiss roll, 4 neighbours", ""]
    lines += ["| program | n | seconds | value | bound | gap | primal error | status |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for row_name, row in named.items():
        if row_name.split()[0] in ("band", "equality"):
            lines.append(
                f"| {row_name} | {row['n']} | {row['seconds']:.1f} | {row['value']:.2f} | "
                f"{row['bound']:.2f} | {row['gap']:.0e} | {row['primal']:.0e} | {row['status']} |"
            )
    lines += ["", "## Images", "", "| data | n | k | seconds | rank | gap | status |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for name in IMAGES:
        if name in named:
            row = named[name]
            lines.append(
                f"| {name} | {row['n']} | {row['k']} | {row['seconds']:.1f} | {row['rank']} | "
                f"{row['gap']:.0e} | {row['status']} |"
            )
    known = results["machine"]
    versions = ", ".join(f"{package} {number}" for package, number in known["versions"].items())
    return "\n".join([*lines, "", f"Python {known['python']}; {versions}.", ""])


def curve(named: dict, kind: str) -> list[dict]:
    """Rows of one kind of run by number of points."""
    rows = [row for name, row in named.items() if name.rpartition(" ")[0] == kind]
    return sorted(rows, key=lambda row: row["n"])


def effort(row: dict) -> float:
    """Seconds of the processor; of the clock where nothing else was noted, one thread each."""
    return float(row.get("processor", row["seconds"]))


def exponent(rows: list[dict]) -> float:
    """The exponent of the power of n that fits the seconds best, without runs that gave nothing."""
    ended = [(row["n"], effort(row)) for row in rows if row.get("gap", 0.0) < USEFUL]
    if len(ended) < 2:
        return float("nan")
    return float(np.polyfit(*np.log(np.array(ended)).T, 1)[0])


def peer_tables(named: dict) -> list[str]:
    """CSDP and SDPA on the same programs: every form at one size, the best one at all sizes."""
    small = PEER_SIZES[0]
    lines = [
        "## Peers on the same programs",
        "",
        "CSDP and SDPA as programs, from and to files, one thread, optimised BLAS, asked for 1e-6",
        f"and given {PEER_LIMIT} s. Seconds are those of the processor, of the whole call with",
        'files; gaps are from the same certificate as ours. In the form "one row" centring is',
        "1ᵀK1 = c in place of K1 = 0: data stay sparse, and the matrix has an interior as it is.",
        "",
        f"| form at {small} points | "
        + " | ".join(f"{label} s | gap" for label in PEERS.values())
        + " |",
        "|---|" + "---|---|" * len(PEERS),
    ]
    for form in PEER_FORMS:
        cells = []
        for solver in PEERS:
            name = f"{solver} {small}" if form == PEER_FORMS[0] else f"form {solver} {form}"
            row = named.get(name)
            cells.append(f"{effort(row):.2f} | {row['gap']:.0e}" if row else " | ")
        lines.append(f"| {form} | " + " | ".join(cells) + " |")
    lines += ["", "| solver | n | seconds | gap | peak GiB | verdict | times ours |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for solver, label in PEERS.items():
        for row in curve(named, solver):
            ours = named.get(f"roll {row['n']}")
            times = f"{effort(row) / effort(ours):.0f}" if ours else ""
            verdict = row["status"].lower().replace("_", " ")
            lines.append(
                f"| {label} | {row['n']} | {effort(row):.2f} | {row['gap']:.0e} | "
                f"{row['peak GiB']:.1f} | {verdict} | {times} |"
            )
    lines += ["", "| curve | points | seconds grow as |", "|---|---|---|"]
    for kind, label in (("roll", "sdpdr"), ("floor", "floor"), *PEERS.items()):
        rows = curve(named, kind)
        # Below a thousand points our seconds are mostly overhead.
        rows = [r for r in rows if kind in PEERS or r["n"] >= 1000]
        rows = [r for r in rows if r.get("gap", 0.0) < USEFUL]
        if len(rows) > 1:
            lines.append(
                f"| {label} | {rows[0]['n']} to {rows[-1]['n']} | n^{exponent(rows):.1f} |"
            )
    return lines


def draw(results: dict) -> None:
    """Seconds against points, both logarithmic."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.4))
    for kind, label in (
        ("roll", "sdpdr, certified"),
        ("floor", "20 factorizations"),
        *PEERS.items(),
    ):
        rows = [row for row in curve(results, kind) if row.get("gap", 0.0) < USEFUL]
        if rows:
            style = ":" if kind == "floor" else "o-"
            axes.loglog([r["n"] for r in rows], [effort(r) for r in rows], style, label=label)
    axes.set(xlabel="points", ylabel="seconds", title="Inequality MVU, swiss roll, 6 neighbours")
    axes.legend()
    figure.tight_layout()
    temporary = HERE / "SCALE.svg.tmp"
    figure.savefig(temporary, format="svg", metadata={"Date": None})
    temporary.replace(HERE / "SCALE.svg")


def write(path: Path, text: str) -> None:
    """Replace a file at once, so that it is never half written."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)


if __name__ == "__main__":
    main()
