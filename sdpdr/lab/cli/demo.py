"""``sdpdr demo``: the main job, once, with a report."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from sdpdr.lab.cli.options import Exit, add_command


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "demo",
        run,
        "sdpdr demo --out out/demo",
        with_json=False,
    )
    parser.add_argument("--out", default="out/demo", metavar="DIR", help="default: out/demo")
    parser.add_argument("--quick", action="store_true", help="smaller data, for a first look")


def run(args: Namespace) -> Exit:
    """Run the demonstration."""
    from sdpdr.lab.study.demo import main

    code = main(["--out", args.out, *(["--quick"] if args.quick else [])])
    return Exit.UNCERTIFIED if code else Exit.OK
