"""SDPA's format: ``sdpdr export`` writes a problem in it, ``sdpdr sdp`` solves any program."""

from __future__ import annotations

from math import isfinite
from types import SimpleNamespace
from typing import Any

import click

from sdpdr.base.arrays import Array
from sdpdr.base.errors import FileFormatError
from sdpdr.lab.cli.command import command
from sdpdr.lab.cli.options import (
    AS_JSON,
    CARD,
    PATH,
    Exit,
    exit_of_status,
    given_solver_options,
    option,
    solver_options,
)
from sdpdr.lab.cli.outputs import check_target, record_writer, write_all
from sdpdr.lab.cli.terminal import echo, echo_json, grid, info
from sdpdr.lab.library.problem import find_card
from sdpdr.program import SDP, Factor, Solution, read_sdpa, write_sdpa
from sdpdr.program.report import facts, listed
from sdpdr.program.run import shown
from sdpdr.reduce import Composed, Scale
from sdpdr.solving.solve import solve
from sdpdr.solving.way import reductions_for

FORMS = ("gram", "lmi", "plain")
_FORM = (
    "gram: on the face that centring leaves, with an interior; lmi: its dual; plain: as written."
)


@command(
    "export",
    "sdpdr export path-graph --to path.dat-s\n"
    "sdpdr export swiss-roll-100 --form plain --to swiss-roll.dat-s.gz",
    CARD,
    option("--to PATH", ".dat-s, or .dat-s.gz (compressed).", type=PATH, required=True),
    option("--form", _FORM, type=click.Choice(FORMS), default=FORMS[0], show_default=True),
)
def export_command(args: SimpleNamespace) -> int:
    """Write a problem in SDPA sparse format, which most solvers read.

    CARD is a name from `sdpdr list`, FAMILY@SIZE, or a TOML file.
    """
    check_target(args.to, (".dat-s", ".gz"))
    program = reduced(find_card(args.card).build().to_sdp(), args.form)
    write_sdpa(program, args.to)
    info(f"wrote {args.to}: {program!r}")
    return Exit.OK


def reduced(sdp: SDP, form: str) -> SDP:
    """The program in a form, in its own units, so that optimal values are the same."""
    if form == "plain":
        return sdp
    steps = [step for step in reductions_for(form, sdp) if not isinstance(step, Scale)]
    return Composed(steps).apply(sdp).sdp


@command(
    "sdp",
    "sdpdr sdp theta1.dat-s\nsdpdr sdp path.dat-s --solver clarabel --form lmi --json\n"
    "sdpdr sdp theta1.dat-s --out theta1.json",
    click.argument("file", metavar="FILE", type=PATH),
    option("-o/--out PATH", "The grade, the point and its multipliers: .json.", type=PATH),
    AS_JSON,
    solver_options(),
)
def sdp_command(args: SimpleNamespace) -> int:
    """Solve and grade any program in SDPA sparse format.

    FILE is called .dat-s, or .dat-s.gz if it is compressed.
    """
    if args.out is not None:
        check_target(args.out, (".json",))
    if args.file.is_dir():
        raise FileFormatError(f"{args.file} is a directory. Name a file in it.")
    if not args.file.is_file():
        raise FileFormatError(f"{args.file}: there is no such file. Check its name.")
    sdp = read_sdpa(args.file)
    solution = solve(sdp, **given_solver_options(args))
    in_sdpa = {name: _in_sdpa(sdp, getattr(solution, name)) for name in ("value", "bound")}
    record = solution.record() | {"sdpa": in_sdpa}
    if args.out is not None:
        write_all({args.out: record_writer(record | _arrays(solution))})
    if args.json:
        echo_json(record)
        return exit_of_status(solution.status)
    echo(f"{sdp!r}\n")
    echo(grid(facts(solution)))
    echo("\nin SDPA's convention")
    echo(grid({f"  {name}": shown(number) for name, number in in_sdpa.items()}))
    return exit_of_status(solution.status)


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
    """A value or bound as SDPA prints it, which maximizes and has no constant."""
    if value is None or not isfinite(value):
        return None
    return sdp.constant + (value if sdp.maximize else -value)
