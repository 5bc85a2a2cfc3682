"""Rows of a baseline that solve programs: cards, textbook problems, prototypes, SDPLIB files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sdpdr
from sdpdr.program import read_sdpa

LIMITS = ("TIME_LIMIT", "ITERATION_LIMIT", "INTERRUPTED")
# Seconds by the clock that the package itself may take for a prototype or a file of SDPLIB.
CLOCK = 120.0
SDPLIB_ENDING = ".dat-s.gz"


def of_solution(found: Any, tol: float) -> dict[str, Any]:
    """Return the columns of a row that describe a solution."""
    by = [f"{run.solver} ({run.form})" for run in found.runs] or [f"{found.solver} ({found.form})"]
    return {
        "status": found.status.name,
        "certified": bool(found.certified(tol)),
        "sense": "max" if found.maximize else "min",
        "value": number(found.value),
        "attained": number(found.attained),
        "bound": number(found.bound),
        "gap": number(found.gap, 3),
        "tol": tol,
        "clock": found.status.name in LIMITS or any(r.status in LIMITS for r in found.runs),
        "by": ", ".join(dict.fromkeys(by)),
    }


def number(x: float | None, digits: int = 15) -> float | None:
    """Round to significant digits; None where there is no finite number."""
    if x is None or not math.isfinite(x):
        return None
    return float(f"{float(x):.{digits}g}")


# -- cards of the problem library ------------------------------------------------------------------


def card_names() -> list[str]:
    """List the cards that take seconds rather than minutes."""
    return [name for name, card in sdpdr.library.library().items() if not card.run.slow]


def card(name: str) -> dict[str, Any]:
    """Solve a card with every default, at its own tolerance."""
    chosen = sdpdr.library.find_card(name)
    found = chosen.solve("auto", "auto", progress=False)
    broken = [f.key for f in chosen.check(found) if not f.holds]
    return of_solution(found, chosen.run.tol) | ({"broken": broken} if broken else {})


# -- textbook problems and prototypes --------------------------------------------------------------


def textbook_names() -> list[str]:
    """List the textbook problems."""
    from textbook_problems import PROBLEMS

    return list(PROBLEMS)


def textbook(name: str) -> dict[str, Any]:
    """Solve a cvxpy problem with sdpdr as its solver."""
    from textbook_problems import PROBLEMS, Draw

    problem = PROBLEMS[name](Draw())
    problem.solve(solver=sdpdr.CVXPY())
    return of_solution(problem.solver_stats.extra_stats, 1e-6)


def prototype_names() -> list[str]:
    """List the models of `prototypes.py`."""
    from prototypes import PROTOTYPES

    return list(PROTOTYPES)


def prototype(name: str) -> dict[str, Any]:
    """Solve a prototype at the size of the benchmark."""
    from prototypes import PROTOTYPES, TOL

    chosen = PROTOTYPES[name]
    model = chosen.build(chosen.size)
    return of_solution(sdpdr.solve(model, tol=TOL, time_limit=CLOCK, progress=False), TOL)


# -- SDPLIB ----------------------------------------------------------------------------------------


def sdplib_folder() -> Path | None:
    """Find the files: in the folder that ``SDPLIB`` names, or in ``shared/data/sdplib`` above."""
    if given := os.environ.get("SDPLIB"):
        return Path(given)
    beside = (up / "shared" / "data" / "sdplib" for up in Path(__file__).resolve().parents)
    return next((folder for folder in beside if folder.is_dir()), None)


def _sdplib_table(folder: Path | None) -> Iterator[str]:
    """Names of files, small ones first; without the folder, those of the committed references."""
    if folder is not None:
        paths = sorted(folder.glob(f"*{SDPLIB_ENDING}"), key=lambda path: path.stat().st_size)
        yield from (path.name.removesuffix(SDPLIB_ENDING) for path in paths)
        return
    lines = Path(__file__).with_name("sdplib_references.csv").read_text(encoding="utf-8")
    yield from (line.partition(",")[0] for line in lines.splitlines()[1:])


def sdplib_names() -> list[str]:
    """List the files of SDPLIB."""
    return list(_sdplib_table(sdplib_folder()))


def sdplib(name: str) -> dict[str, Any]:
    """Solve a file of SDPLIB, as the minimization or maximization that `read_sdpa` makes of it."""
    folder = sdplib_folder()
    if folder is None or not (folder / f"{name}{SDPLIB_ENDING}").is_file():
        return {"status": "SKIPPED", "note": "no such file; SDPLIB names the folder of files"}
    program = read_sdpa(folder / f"{name}{SDPLIB_ENDING}")
    return of_solution(sdpdr.solve(program, time_limit=CLOCK, progress=False), 1e-6)
