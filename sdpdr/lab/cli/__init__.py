"""The command line, ``sdpdr``: see ``sdpdr --help``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

# `app.Exit.INTERRUPTED`, before its module is imported.
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; see `sdpdr.lab.cli.app.main`, whose import Ctrl-C may interrupt."""
    try:
        from sdpdr.lab.cli.app import main as run

        return run(argv)
    except KeyboardInterrupt:  # before or after the handlers of `app.main`
        sys.stderr.write("error: interrupted.\n")
        return _INTERRUPTED
