"""SDPA's format: ``sdpdr export`` writes a problem in it, ``sdpdr sdp`` solves any program."""

from __future__ import annotations

from argparse import Namespace
from math import isfinite
from pathlib import Path
from typing import Any

from sdpdr.base.arrays import Array
from sdpdr.base.errors import FileFormatError
from sdpdr.lab.cli.console import (
    check_target,
    grid,
    note,
    record_writer,
    say,
    say_json,
    write_all,
)
from sdpdr.lab.cli.options import (
    Exit,
    add_argument,
    add_card,
    add_command,
    add_solver_options,
    of_status,
    solver_options,
)
from sdpdr.lab.library.problem import find_card
from sdpdr.program import SDP, Factor, Solution, read_sdpa, write_sdpa
from sdpdr.program.report import facts, listed
from sdpdr.program.run import shown
from sdpdr.reduce import Composed, Scale
from sdpdr.solving.solve import solve
from sdpdr.solving.way import reductions_for

FORMS = ("gram", "lmi", "plain")


def add(commands: Any) -> None:
    """Add both commands."""
    _add_export(commands)
    parser = add_command(
        commands,
        "sdp",
        run,
        "sdpdr sdp theta1.dat-s\nsdpdr sdp path.dat-s --solver clarabel --form lmi --json\n"
        "sdpdr sdp theta1.dat-s --out theta1.json",
    )
    add_argument(parser, "FILE", ".dat-s, or .dat-s.gz", type=Path)
    words = "write the grade, the point and its multipliers: .json"
    add_argument(parser, "-o/--out PATH", words, type=Path)
    add_solver_options(parser)


def _add_export(commands: Any) -> None:
    parser = add_command(
        commands,
        "export",
        run_export,
        "sdpdr export path-graph --to path.dat-s\n"
        "sdpdr export swiss-roll-100 --form plain --to swiss-roll.dat-s.gz",
        with_json=False,
    )
    add_card(parser)
    add_argument(parser, "--to PATH", ".dat-s, or .dat-s.gz (compressed)", type=Path, required=True)
    words = (
        "gram: on the face that centring leaves, where interior-point\n"
        "methods are at home; lmi: its dual; plain: as written\n(default: gram)"
    )
    add_argument(parser, "--form", words, choices=FORMS, default=FORMS[0])


def run_export(args: Namespace) -> Exit:
    """Write a card's program."""
    check_target(args.to, (".dat-s", ".gz"))
    program = reduced(find_card(args.card).build().to_sdp(), args.form)
    write_sdpa(program, args.to)
    note(f"wrote {args.to}: {program!r}")
    return Exit.OK


def reduced(sdp: SDP, form: str) -> SDP:
    """The program in a form, in its own units, so that optimal values are the same."""
    if form == "plain":
        return sdp
    steps = [step for step in reductions_for(form, sdp) if not isinstance(step, Scale)]
    return Composed(steps).apply(sdp).sdp


def run(args: Namespace) -> Exit:
    """Solve a file, and keep the answer, be it the best point before an interruption."""
    if args.out is not None:
        check_target(args.out, (".json",))
    if args.file.is_dir():
        raise FileFormatError(f"{args.file} is a directory. Name a file in it.")
    if not args.file.is_file():
        raise FileFormatError(f"{args.file}: there is no such file. Check its name.")
    sdp = read_sdpa(args.file)
    solution = solve(sdp, **solver_options(args))
    in_sdpa = {name: _in_sdpa(sdp, getattr(solution, name)) for name in ("value", "bound")}
    record = solution.record() | {"sdpa": in_sdpa}
    if args.out is not None:
        write_all({args.out: record_writer(record | _arrays(solution))})
    if args.json:
        say_json(record)
        return of_status(solution.status)
    say(f"{sdp!r}\n")
    say(grid(facts(solution)))
    say("\nin SDPA's convention")
    say(grid({f"  {name}": shown(number) for name, number in in_sdpa.items()}))
    return of_status(solution.status)


def _arrays(solution: Solution) -> dict[str, Any]:
    """The point by variable and its multipliers by row label; matrices may be factors of them."""
    return {
        "point": {name: _listed(value) for name, value in solution.values.items()},
        "multipliers": {label: _listed(dual) for label, dual in solution.duals.items()},
    }


def _listed(value: Array | Factor) -> Any:
    """Nested lists, row by row; R of a matrix R R^T that is kept so."""
    if isinstance(value, Factor):
        return {"factor": value.factor.tolist()}
    return listed(value)


def _in_sdpa(sdp: SDP, value: float | None) -> float | None:
    """A value or bound as SDPA prints it, who maximises and knows no constant."""
    if value is None or not isfinite(value):
        return None
    return sdp.constant + (value if sdp.maximize else -value)
