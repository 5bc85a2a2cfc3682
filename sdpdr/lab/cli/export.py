"""``sdpdr export``: a problem as a file for other solvers; ``sdpdr demo``: the main job, once."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from sdpdr.lab.cli.console import check_target, note
from sdpdr.lab.cli.options import Exit, add_command
from sdpdr.lab.library.problem import find_card
from sdpdr.program import SDP, write_sdpa
from sdpdr.reduce import Composed, Scale
from sdpdr.solving.choice import reductions_for

FORMS = ("gram", "lmi", "plain")


def add(commands: Any) -> None:
    """Add both commands."""
    _add_export(commands)
    parser = add_command(
        commands,
        "demo",
        run_demo,
        "sdpdr demo --out out/demo",
        with_json=False,
    )
    parser.add_argument("--out", default="out/demo", metavar="DIR", help="default: out/demo")
    parser.add_argument("--quick", action="store_true", help="smaller data, for a first look")


def _add_export(commands: Any) -> None:
    parser = add_command(
        commands,
        "export",
        run_export,
        "sdpdr export path-graph --to path.dat-s\n"
        "sdpdr export swiss-roll-100 --form plain --to swiss-roll.dat-s.gz",
        with_json=False,
    )
    parser.add_argument(
        "card", metavar="CARD", help="a name from `sdpdr list`, FAMILY@SIZE, or a TOML file"
    )
    parser.add_argument(
        "--to", type=Path, required=True, metavar="PATH", help=".dat-s, or .dat-s.gz (compressed)"
    )
    parser.add_argument(
        "--form",
        choices=FORMS,
        default=FORMS[0],
        help="gram: on the face that centring leaves, where interior-point\n"
        "methods are at home; lmi: its dual; plain: as written\n(default: gram)",
    )


def run_export(args: Namespace) -> Exit:
    """Write a card's program."""
    check_target(args.to, (".dat-s", ".gz"))
    program = reduced(find_card(args.card).build().to_sdp(), args.form)
    write_sdpa(program, args.to)
    note(f"wrote {args.to}: {program!r}")
    return Exit.OK


def run_demo(args: Namespace) -> Exit:
    """Run the demonstration."""
    from sdpdr.lab.study.demo import main

    code = main(["--out", args.out, *(["--quick"] if args.quick else [])])
    return Exit.UNCERTIFIED if code else Exit.OK


def reduced(sdp: SDP, form: str) -> SDP:
    """The program in a form, in its own units, so that optimal values are the same."""
    if form == "plain":
        return sdp
    steps = [step for step in reductions_for(form, sdp) if not isinstance(step, Scale)]
    return Composed(steps).apply(sdp).sdp
