"""What raw solvers say of the programs that lie, and what sdpdr says; two files to download.

Every program of `sdpdr.testing` goes to "auto" and to every solver here in every form it
takes. ``claimed`` is the solver's own status and value; beside it stand our status, value, attained
value and bound, and whether any of them contradicts the truth. ``--check`` only prints objections.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from journal import carry_out, read
from tables import write_csv

import sdpdr
from sdpdr.errors import NotAcceptedError
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.possible import CHORDAL
from sdpdr.testing import HardInstance, find_hard_instance, hard_instances

# Seconds for a solve: some iterate for minutes towards an optimum at infinity.
PATIENCE = 30.0
# Programs of this order and more go to "auto" and these only.
FAST = ("csdp", "clarabel", "scs", "lowrank")


def pairs(lie: HardInstance) -> Iterator[tuple[str, str]]:
    """Solvers and forms for a program."""
    yield "auto", "auto"
    for name, cls in SOLVERS.items():
        if not cls.availability().usable or cls.is_special or (lie.large and name not in FAST):
            continue
        for form in cls.forms:
            if form not in CHORDAL and not (lie.large and form == "cvxpy"):
                yield name, form


def tasks(
    names: list[str], solvers: list[str], forms: list[str], plain: bool
) -> Iterator[dict[str, Any]]:
    """Every run that is asked for, plain and rigorous; no solver or form named means all."""
    for name in names:
        for solver, form in pairs(find_hard_instance(name)):
            if (solvers and solver not in solvers) or (forms and form not in forms):
                continue
            for rigorous in (False,) if plain else (False, True):
                key = f"{name} {solver} {form}{' rigorous' if rigorous else ''}"
                run = {"lie": name, "solver": solver, "form": form, "rigorous": rigorous}
                yield {"key": key, **run}


def solve(task: Mapping[str, Any]) -> dict[str, Any]:
    """One run, judged."""
    lie = find_hard_instance(task["lie"])
    solver, form = task["solver"], task["form"]
    try:
        # The child is a process of its own already.
        answer = sdpdr.solve(
            lie.build(),
            solver,
            form,
            rigorous=task["rigorous"],
            isolate=False,
            progress=False,
            time_limit=PATIENCE,
        )
    except NotAcceptedError as error:
        return {"refused": str(error)[:200]}
    return {
        "claimed": answer.claimed.status,
        "claimed_value": _number(answer.claimed.value),
        "verdict": answer.claimed.verdict,
        "status": answer.status.name,
        "by": answer.solver,
        "value": _number(answer.value),
        "attained": _number(answer.attained),
        "bound": _number(answer.bound),
        "gap": _number(answer.gap),
        "certified": answer.certified(),
        "enclosure": answer.enclosure,
        "attained_by": answer.attained_by,
        "argument": answer.argument,
        "objections": list(lie.truth.contradictions(answer)),
    }


def _number(x: float | None) -> float | None:
    return None if x is None or x != x or abs(x) == float("inf") else float(x)


# -- tables -------------------------------------------------------------------------------------


def shown(x: float | None) -> str:
    """A number in eight digits."""
    return "–" if x is None else f"{x:.8g}"


def said(run: Mapping[str, Any]) -> list[str]:
    """What a solver claims, whether it deceives, and what we say, as cells."""
    if "error" in run:
        return ["–", "–", "no", run["error"], "–", "–"]
    # Facial reduction decides some programs alone.
    asked = run["by"] != "none"
    return [
        run["claimed"] if asked else "not asked",
        shown(run["claimed_value"]),
        "yes" if asked and is_deceived(run) else "no",
        run["status"],
        shown(run["attained"]),
        shown(run["bound"]),
    ]


def is_deceived(run: Mapping[str, Any]) -> bool:
    """Whether a solver calls solved what is off by more than a thousandth, or has no answer."""
    if run.get("verdict") not in ("solved",) or run["claimed_value"] is None:
        return False
    truth = find_hard_instance(run["lie"]).truth
    return truth.verdict != "optimal" or _far(truth, run["claimed_value"])


def _far(truth: Any, value: float) -> bool:
    nearest = min(max(value, float(truth.lower)), float(truth.upper))
    return bool(abs(value - nearest) > 1e-3 * max(abs(nearest), 1e-3))


def exact(lie: HardInstance) -> str:
    """The truth in a cell."""
    truth = lie.truth
    if truth.verdict != "optimal":
        return truth.verdict
    if truth.value is None:
        return f"{float(truth.lower):.9g} … {float(truth.upper):.9g}"
    value = truth.value
    text = str(value) if len(str(value)) < 16 else f"{float(value):.12g}"
    return text if truth.dual is None else f"{text} (dual: {truth.dual})"


COMMAND = "python benchmarks/gallery.py"


def write(results: list[dict[str, Any]]) -> None:
    """A file of all runs and, if everything ran, one that counts."""
    by_lie: dict[str, list[dict[str, Any]]] = {name: [] for name in hard_instances()}
    for run in results:
        if "refused" not in run:
            by_lie[run["lie"]].append(run)
    write_csv(
        "gallery_runs",
        [
            "program", "solver", "form", "claim", "claimed value", "deceived",
            "status", "attained", "bound",
        ],
        (
            [name, run["solver"], run["form"], *said(run)]
            for name, runs in by_lie.items()
            for run in runs
            if not run["rigorous"]
        ),
        command=COMMAND,
        notes=[
            "Every program of the gallery through every solver and form: the solver's own claim, "
            "whether it deceives (it calls solved what has no answer, or is off by more than a "
            "thousandth, of 1e-3 where the value is smaller), and what sdpdr says of the same run. "
            "The claim is about the program after facial reduction, which makes many programs "
            "harmless and decides some without a solver (not asked).",
        ],
    )  # fmt: skip
    if all(by_lie.values()):
        counted(by_lie)


def counted(by_lie: Mapping[str, list[dict[str, Any]]]) -> None:
    """How many solvers each program deceives, and us."""
    rows = []
    judged = [run for runs in by_lie.values() for run in runs]
    rigorous = sum(run["rigorous"] for run in judged)
    for lie in hard_instances().values():
        runs = by_lie[lie.name]
        plain = [run for run in runs if not run["rigorous"]]
        first = next((run for run in plain if run["solver"] == "auto"), None)
        rows.append(
            [
                lie.name,
                exact(lie),
                sum(is_deceived(run) for run in plain),
                len(plain),
                "–" if first is None else first.get("status", "error"),
                sum(bool(run.get("certified")) for run in plain),
                sum(bool(run.get("objections")) or "error" in run for run in runs),
            ]
        )
    write_csv(
        "gallery",
        ["program", "exact", "deceived", "runs", "auto", "certified", "contradicted or late"],
        rows,
        command=COMMAND,
        notes=[
            "Deceived: a solver in a form that calls solved what has no answer, or is off by more "
            "than a thousandth (of 1e-3, where the value is smaller). Certified: our grade, in "
            "plain mode. Contradicted or late: answers of ours with a certificate, bound, attained "
            "value, enclosure or status that contradicts the exact answer, and solves that did not "
            f"end in their time, of {len(judged)} solves, {rigorous} of them rigorous.",
        ],
    )


def main() -> None:
    """Run, print objections, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/gallery.jsonl"), help="the journal")
    parser.add_argument("--only", action="append", default=[], help="names of programs; no table")
    parser.add_argument("--solver", action="append", default=[], help="names of solvers")
    parser.add_argument("--form", action="append", default=[], help="names of forms")
    parser.add_argument("--plain", action="store_true", help="no rigorous runs")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one run")
    parser.add_argument("--check", action="store_true", help="print objections, write no table")
    parser.add_argument(
        "--text", action="store_true", help="write what the journal has, without any run"
    )
    args = parser.parse_args()
    if args.text:
        write(list(read(args.out).values()))
        return
    names = args.only or list(hard_instances())
    asked = tasks(names, args.solver, args.form, args.plain)
    results = carry_out(asked, solve, args.out, workers=args.workers, limit=args.limit)
    for run in results:
        for words in run.get("objections", []) or [run[k] for k in ("error",) if k in run]:
            print(f"{run['key']}: {words}")
    if not (args.check or args.only):
        write(results)


if __name__ == "__main__":
    main()
