"""``sdpdr export``: a problem as a file for other solvers; ``sdpdr demo``: the main job, once."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from sdpdr.lab.cli.console import check_target, note
from sdpdr.lab.cli.options import Exit, add_argument, add_card, add_command
from sdpdr.lab.library.problem import find_card
from sdpdr.program import SDP, write_sdpa
from sdpdr.reduce import Composed, Scale
from sdpdr.solving.way import reductions_for

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
    add_argument(parser, "-o/--out DIR", "default: out/demo", default="out/demo", type=_directory)
    add_argument(parser, "--quick", "smaller data, for a first look")


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


def run_demo(args: Namespace) -> Exit:
    """Run the demonstration."""
    from sdpdr.lab.study.demo import demonstrate

    return Exit.OK if demonstrate(args.out, quick=args.quick) else Exit.UNCERTIFIED


def _directory(text: str) -> Path:
    if Path(text).is_file():
        raise ArgumentTypeError(f"{text} is a file: name a directory.")
    return Path(text)


def reduced(sdp: SDP, form: str) -> SDP:
    """The program in a form, in its own units, so that optimal values are the same."""
    if form == "plain":
        return sdp
    steps = [step for step in reductions_for(form, sdp) if not isinstance(step, Scale)]
    return Composed(steps).apply(sdp).sdp
