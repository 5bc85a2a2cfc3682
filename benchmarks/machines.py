"""The whole suite on other processors and with other versions, as far as one machine can show it.

OpenBLAS chooses its kernels by the processor and takes another choice from ``OPENBLAS_CORETYPE``;
MKL is held back by ``MKL_ENABLE_INSTRUCTIONS`` (on processors by Intel; on others it has one path).
Two kernels add in another order, so whatever depends on last digits or ties shows here::

    python benchmarks/machines.py kernels --keep             the suite under each setting
    python benchmarks/machines.py kernels Prescott --rooms   the numerical rooms under one
    python benchmarks/machines.py versions --keep            with the lowest and newest versions

``--keep`` keeps the runs in ``machines.json`` and writes the tables of the documentation from it.
The exit code is 1 where a test failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from tables import write_table

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_suffix(".json")
# Where digits are made: what fails elsewhere under another kernel mostly fails here too.
ROOMS = (
    "tests/laws", "tests/program", "tests/reduce", "tests/baselines", "sdpdr/linalg",
    "sdpdr/program",
)  # fmt: skip
PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel", "scs", "scikit-learn", "qdldl")
# Some solvers of `constraints/lowest.txt` have no wheels for a later Python.
LAST_PYTHON = {"lowest": (3, 11)}


@dataclass(frozen=True)
class Setting:
    """Variables of the environment, and what the processor must be able to do for them."""

    variables: dict[str, str]
    needs: tuple[str, ...] = ()


def openblas(kernel: str, *needs: str) -> Setting:
    """The kernels of one processor; without ``needs`` they end in an illegal instruction."""
    return Setting({"OPENBLAS_CORETYPE": kernel}, needs)


SETTINGS = {
    "Prescott": openblas("Prescott", "pni"),
    "Haswell": openblas("Haswell", "avx2", "fma"),
    "SkylakeX": openblas("SkylakeX", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"),
    "Zen": openblas("Zen", "avx2", "fma"),
    "SSE4.2": Setting(
        {"OPENBLAS_CORETYPE": "Prescott", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}, ("sse4_2",)
    ),
}


# Names under which builds of OpenBLAS report kernels that they share with other processors.
ALIKE = {"Prescott": "Katmai", "Zen": "Haswell"}


@dataclass(frozen=True)
class Run:
    """One run of the suite."""

    name: str
    what: str
    python: str
    versions: dict[str, str]
    kernels: str
    passed: int
    failed: int
    skipped: int
    seconds: float

    def __str__(self) -> str:
        counts = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        return f"{self.name}: {counts}, {self.seconds:.0f} s of processor ({self.kernels})"


def abilities() -> set[str]:
    """Flags of this processor; none where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return {flag for line in lines if line.startswith("flags") for flag in line.split()[2:]}


def environment(variables: dict[str, str]) -> dict[str, str]:
    """One thread for each process, and no choice of kernels but the one asked for."""
    kept = {k: v for k, v in os.environ.items() if k not in SETTINGS["SSE4.2"].variables}
    return kept | {"OMP_NUM_THREADS": "1"} | variables


def facts(python: str, variables: dict[str, str]) -> tuple[dict[str, str], str]:
    """Versions of the packages, and the kernels that OpenBLAS says it uses."""
    program = f"""
import json, scipy.linalg, threadpoolctl
from importlib.metadata import version
kernels = {{i["architecture"] for i in threadpoolctl.threadpool_info() if "architecture" in i}}
print(json.dumps([{{name: version(name) for name in {PACKAGES}}}, ", ".join(sorted(kernels))]))
"""
    command, told = [python, "-c", program], environment(variables)
    done = subprocess.run(command, env=told, cwd=ROOT, capture_output=True, text=True, check=True)
    versions, kernels = json.loads(done.stdout)
    return versions, kernels


def run_suite(name: str, python: str, variables: dict[str, str], rooms: bool, jobs: str) -> Run:
    """Run tests in a process of their own; CPU seconds include all its children."""
    versions, kernels = facts(python, variables)
    wanted = variables.get("OPENBLAS_CORETYPE", kernels)
    if kernels not in (wanted, ALIKE.get(wanted)):
        raise SystemExit(f"{name}: OpenBLAS was asked for {wanted} and uses {kernels}.")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-m", "not nightly", "--numprocesses", jobs]
        command += ["-p", "no:cacheprovider", f"--junitxml={report}"]
        command += ROOMS if rooms else ()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment(variables), cwd=ROOT, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        passed, failed, skipped = counts(report)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    what = "numerical rooms" if rooms else "whole suite"
    version = platform.python_version()
    return Run(name, what, version, versions, kernels, passed, failed, skipped, round(seconds))


def counts(report: Path) -> tuple[int, int, int]:
    """Tests that passed, that failed (or broke off), and that were skipped."""
    if not report.exists():
        raise SystemExit("pytest ended without a report; see above.")
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    parts = [[int(s.get(k, 0)) for k in ("tests", "failures", "errors", "skipped")] for s in suites]
    tests, failures, errors, skipped = (sum(column) for column in zip(*parts, strict=True))
    return tests - failures - errors - skipped, failures + errors, skipped


def keep(kind: str, run: Run) -> None:
    """Add a run to those kept, in place of the one before, and write the table."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept.setdefault(kind, {})[run.name] = asdict(run)
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    rows = [Run(**row) for row in kept[kind].values()]
    (write_kernels if kind == "kernels" else write_versions)(rows)


def write_kernels(runs: list[Run]) -> None:
    """The table of processors."""
    order = list(SETTINGS)
    head = ("Setting", "Kernels of OpenBLAS", "Tests", "Passed", "Failed", "CPU seconds")
    rows = [
        (f"``{r.name}``", r.kernels, r.what, f"{r.passed:,}", r.failed, f"{r.seconds:,.0f}")
        for r in sorted(runs, key=lambda r: order.index(r.name))
    ]
    notes = (
        "OpenBLAS reports the first processor that has the same kernels. ``SSE4.2`` is Prescott "
        "with MKL held back to SSE4.2 as well.",
    )
    write_table("processors", head, rows, command="make kernels", notes=notes)


def write_versions(runs: list[Run]) -> None:
    """The table of versions."""
    runs = sorted(runs, key=lambda r: r.name)
    head = ("Constraints", *(f"``{r.name}.txt``" for r in runs))
    rows = [
        ("Python", *(r.python for r in runs)),
        *((name, *(r.versions[name] for r in runs)) for name in PACKAGES),
        ("tests", *(r.what for r in runs)),
        ("passed", *(f"{r.passed:,}" for r in runs)),
        ("failed", *(r.failed for r in runs)),
        ("CPU seconds", *(f"{r.seconds:,.0f}" for r in runs)),
    ]
    write_table("versions", head, rows, command="make versions")


def all_kernels(names: list[str], rooms: bool, kept: bool, jobs: str) -> bool:
    """Whether everything passed under every setting that this processor can run."""
    able, good = abilities(), True
    for name in names or SETTINGS:
        missing = [flag for flag in SETTINGS[name].needs if flag not in able]
        if missing:
            print(f"{name}: not run, since this processor lacks {', '.join(missing)}.", flush=True)
            continue
        run = run_suite(name, sys.executable, SETTINGS[name].variables, rooms, jobs)
        print(run, flush=True)
        good = good and run.failed == 0
        if kept:
            keep("kernels", run)
    return good


def all_versions(names: list[str], rooms: bool, kept: bool, jobs: str) -> bool:
    """Whether everything passed with every file of constraints, each in its own environment."""
    good = True
    for name in names or ("lowest", "newest"):
        last = LAST_PYTHON.get(name, sys.version_info[:2])
        if sys.version_info[:2] > last:
            print(f"{name}: not run, since it needs Python {last[0]}.{last[1]} or older.")
            continue
        python = installed(name)
        run = run_suite(name, python, {}, rooms, jobs)
        print(run, flush=True)
        good = good and run.failed == 0
        if kept:
            keep("versions", run)
    return good


def installed(name: str) -> str:
    """Python of an environment with the versions of one file of constraints."""
    folder = ROOT / f".venv-{name}"
    python = str(folder / "bin" / "python")
    file = ROOT / "constraints" / f"{name}.txt"
    marker = folder / ".ready"
    if not marker.exists() or marker.read_text() != file.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        command = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        command += ["--constraint", str(file), "--editable", ".[all]"]
        subprocess.run(command, cwd=ROOT, check=True)
        marker.write_text(file.read_text())
    return python


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["kernels", "versions"])
    parser.add_argument("names", nargs="*", metavar="NAME", help="settings or files; default: all")
    parser.add_argument("--rooms", action="store_true", help="only the numerical rooms")
    parser.add_argument("--keep", action="store_true", help="keep the runs and write the table")
    parser.add_argument("--jobs", default="auto", help="processes of pytest at a time")
    given = parser.parse_args()
    known = list(SETTINGS) if given.kind == "kernels" else ["lowest", "newest"]
    if strange := [name for name in given.names if name not in known]:
        parser.error(f"unknown: {', '.join(strange)}; choose from {', '.join(known)}")
    every = all_kernels if given.kind == "kernels" else all_versions
    return 0 if every(given.names, given.rooms, given.keep, given.jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
