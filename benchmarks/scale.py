"""Certified unfolding of the swiss roll from 1000 to 1,000,000 points, and of real images.

    python benchmarks/scale.py                 # to 100,000 points: minutes
    python benchmarks/scale.py --largest       # 1,000,000 points as well
    python benchmarks/scale.py --data ../shared/data --only images

Every run is a process of its own, so that its peak memory is its own. Results are kept in
``benchmarks/scale.json`` as they come, and ``benchmarks/SCALE.md`` and ``SCALE.svg`` are written
from it; a run that is in the file is not repeated unless ``--again`` is given.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
STORE = HERE / "scale.json"
PACKAGES = ("sdpdr", "numpy", "scipy", "qdldl", "mkl", "sdpa-python")
SIZES = (1000, 3000, 10_000, 30_000, 100_000)
PEER_SIZES = (100, 200, 400)
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
}


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", action="store_true", help="1,000,000 points as well")
    parser.add_argument("--only", choices=("roll", "peers", "floor", "bands", "images"))
    parser.add_argument("--data", type=Path, help="folder with the images")
    parser.add_argument("--repeats", type=int, default=3, help="below 100,000 points")
    parser.add_argument("--again", action="store_true", help="repeat what has been measured")
    parser.add_argument("--note", help="how it was measured, for the page")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(measure(json.loads(arguments.run))))
        return
    results = json.loads(STORE.read_text()) if STORE.exists() and not arguments.again else {}
    for task in tasks(arguments):
        name = task["name"]
        if name in results:
            continue
        repeats = arguments.repeats if task.get("n", 0) < 100_000 else 1
        rows = [in_a_process(task) for _ in range(repeats)]
        seconds = statistics.median(row["seconds"] for row in rows)
        results[name] = {**rows[0], "seconds": seconds, "repeats": repeats}
        print(f"{name}: {seconds:.2f} s, gap {results[name].get('gap', float('nan')):.1e}")
        write(STORE, json.dumps(results, indent=1) + "\n")
    if arguments.note:
        results["note"] = arguments.note
    results["machine"] = machine()
    write(STORE, json.dumps(results, indent=1) + "\n")
    write(HERE / "SCALE.md", tables(results))
    draw(results)


def tasks(arguments: argparse.Namespace) -> list[dict]:
    """What to run, small first."""
    sizes = (*SIZES, 1_000_000) if arguments.largest else SIZES
    wanted = {
        "roll": [{"kind": "roll", "n": n, "name": f"roll {n}"} for n in sizes],
        "floor": [{"kind": "floor", "n": n, "name": f"floor {n}"} for n in sizes],
        "peers": [
            {"kind": "peer", "solver": solver, "n": n, "name": f"{solver} {n}"}
            for solver in ("sdpa", "clarabel")
            for n in PEER_SIZES
            if solver == "sdpa" or n <= 100
        ],
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


def in_a_process(task: dict) -> dict:
    """One run, alone in its process."""
    command = [sys.executable, __file__, "--run", json.dumps(task)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
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

    begin = time.perf_counter()
    if task["kind"] == "images":
        points, k = images(Path(task["file"]), task["n"]), task["k"]
    else:
        points, k = datasets.swiss_roll(task["n"], seed=0)[0], task.get("k", 6)
    read = time.perf_counter()
    graph = graphs.knn(points, n_neighbors=k, connect="mst")
    built = time.perf_counter()
    tol = task.get("tol", 1e-4 if task["n"] >= 1_000_000 else 1e-6)
    isometry = "equality" if task["kind"] == "equality" else "inequality"
    solution = sdpdr.solve(
        methods.mvu(graph, isometry=Band(task["band"]) if "band" in task else isometry),
        task.get("solver", "lowrank"),
        task.get("form", "auto"),
        tol=tol,
    )
    seconds = time.perf_counter() - read
    return {
        "n": task["n"],
        "edges": len(graph.edges),
        "k": k,
        "seconds": seconds,
        "reading": read - begin,
        "neighbours": built - read,
        "timings": dict(solution.timings),
        "value": solution.value,
        "bound": solution.bound,
        "gap": solution.gap,
        "status": solution.status.name,
        "primal": solution.residuals.primal(),
        "iterations": solution.claimed.iterations,
        "message": solution.claimed.message,
        "rank": rank(solution),
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


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
    """Twenty factorizations of the Newton matrix on the same graph, at rank 3."""
    from sdpdr import datasets, graphs
    from sdpdr.solvers.lowrank.newton import BlockLaplacian

    graph = graphs.knn(datasets.swiss_roll(n, seed=0)[0], n_neighbors=6, connect="mst")
    rng = np.random.default_rng(0)
    R, m = rng.standard_normal((n, 3)), len(graph.edges)
    matrix = BlockLaplacian(graph.edges, np.ones(n), 3)
    delta = R[graph.edges[:, 0]] - R[graph.edges[:, 1]]
    matrix.assemble(rng.uniform(1, 2, m), rng.uniform(1, 2, m), delta)
    matrix.factorize(-1e-3)
    times = []
    for _ in range(3 if n >= 100_000 else 10):
        begin = time.perf_counter()
        matrix.factorize(-1e-3)
        times.append(time.perf_counter() - begin)
    return {"n": n, "seconds": 20 * statistics.median(times)}


def machine() -> dict:
    """What the figures depend on."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "absent"
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
    for name, row in named.items():
        if name.startswith("roll "):
            least = named.get(f"floor {row['n']}", {}).get("seconds", float("nan"))
            lines.append(
                f"| {row['n']} | {row['edges']} | {row['seconds']:.2f} | {row['neighbours']:.2f} "
                f"| {row['iterations']} | {row['rank']} | {row['gap']:.0e} | "
                f"{row['peak GiB']:.1f} | {row['seconds'] / least:.1f} |"
            )
    lines += ["", "The floor is twenty factorizations of the Newton matrix at rank 3.", ""]
    lines += ["## Peers on the same programs", "", "| solver | n | seconds | gap | times ours |"]
    lines += ["|---|---|---|---|---|"]
    for row_name, row in named.items():
        solver = row_name.split()[0]
        if solver in ("sdpa", "clarabel"):
            ours = named.get(f"roll {row['n']}", {}).get("seconds")
            times = f"{row['seconds'] / ours:.0f}" if ours else ""
            lines.append(
                f"| {solver} | {row['n']} | {row['seconds']:.2f} | {row['gap']:.0e} | {times} |"
            )
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


def draw(results: dict) -> None:
    """Seconds against points, both logarithmic."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.4))
    for kind, label in (
        ("roll", "sdpdr, certified"),
        ("floor", "20 factorizations"),
        ("sdpa", "SDPA (multipliers)"),
        ("clarabel", "Clarabel (multipliers)"),
    ):
        rows = [row for name, row in results.items() if name.split()[0] == kind]
        if rows:
            style = ":" if kind == "floor" else "o-"
            axes.loglog([r["n"] for r in rows], [r["seconds"] for r in rows], style, label=label)
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
