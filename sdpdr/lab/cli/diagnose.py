"""``sdpdr diagnose``: why a program fails, or may fail."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import click

from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import SDPA_ENDINGS, has_ending
from sdpdr.lab.cli.app import AS_JSON, POSITIVE, Exit, command, option
from sdpdr.lab.cli.terminal import echo, echo_json
from sdpdr.lab.library import find_card
from sdpdr.solving.diagnosis import diagnose


@command(
    "diagnose",
    "sdpdr diagnose theta1.dat-s\nsdpdr diagnose swiss-roll-100 --seconds 30",
    click.argument("program", metavar="FILE"),
    option("--seconds S", "Time for proofs (default: 5).", type=POSITIVE, default=5.0),
    AS_JSON,
)
def diagnose_command(args: SimpleNamespace) -> int:
    """Find out why a program fails: conflicts, unbounded directions, scales and more.

    FILE is a program in SDPA sparse format, or the name of a card from `sdpdr list`. The exit code
    is 0 whatever is found.
    """
    is_file = has_ending(args.program, *SDPA_ENDINGS)
    if is_file and not Path(args.program).is_file():
        raise FileFormatError(f"{args.program}: there is no such file. Check its name.")
    if not is_file and Path(args.program).is_file() and not has_ending(args.program, ".toml"):
        raise FileFormatError(
            f"{args.program} is neither a card (.toml) nor an SDPA file (.dat-s). For a table, use "
            "`sdpdr embed`."
        )
    program = args.program if is_file else find_card(args.program).build()
    found = diagnose(program, seconds=args.seconds)
    if args.json:
        echo_json(found.record())
    else:
        echo(found)
    return Exit.OK
