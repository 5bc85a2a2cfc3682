"""``sdpdr sdp``: any program in SDPA's format, solved and graded."""

from __future__ import annotations

from argparse import Namespace
from math import isfinite
from pathlib import Path
from typing import Any

from sdpdr.cli.console import grid, say, say_json
from sdpdr.cli.exits import Exit, of_status
from sdpdr.cli.grade import facts, shown
from sdpdr.cli.options import add_command, add_solver_options, solver_options
from sdpdr.errors import FileFormatError
from sdpdr.program import SDP, read_sdpa
from sdpdr.solve import solve


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "sdp",
        run,
        "solve and grade any program in SDPA sparse format",
        "sdpdr sdp theta1.dat-s\nsdpdr sdp path.dat-s --solver clarabel --form lmi --json",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help=".dat-s, or .dat-s.gz")
    add_solver_options(parser)


def run(args: Namespace) -> Exit:
    """Solve a file."""
    if not args.file.is_file():
        raise FileFormatError(f"{args.file}: there is no such file. Check its name.")
    sdp = read_sdpa(args.file)
    solution = solve(sdp, **solver_options(args))
    in_sdpa = {name: _in_sdpa(sdp, getattr(solution, name)) for name in ("value", "bound")}
    if args.json:
        say_json(solution.record() | {"sdpa": in_sdpa})
        return of_status(solution.status)
    say(f"{sdp!r}\n")
    say(facts(solution))
    say("\nin SDPA's convention")
    say(grid({f"  {name}": shown(number) for name, number in in_sdpa.items()}))
    return of_status(solution.status)


def _in_sdpa(sdp: SDP, value: float | None) -> float | None:
    """A value or bound as SDPA prints it, who maximises and knows no constant."""
    if value is None or not isfinite(value):
        return None
    return sdp.constant + (value if sdp.maximize else -value)
