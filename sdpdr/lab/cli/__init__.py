"""The command line, ``sdpdr``: see ``sdpdr --help``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sdpdr.base.errors import PackageMissingError
from sdpdr.base.packages import needs_packages

__all__ = ["main"]

# `app.Exit.BAD_INPUT` and `app.Exit.INTERRUPTED`, before its module is imported.
_MISSING, _INTERRUPTED = 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; see `sdpdr.lab.cli.app.main`, whose import Ctrl-C may interrupt."""
    try:
        with needs_packages("the command line"):
            from sdpdr.lab.cli.app import main as run

        return run(argv)
    except PackageMissingError as error:
        sys.stderr.write(f"error: {error}\n")
        return _MISSING
    except KeyboardInterrupt:  # before or after the handlers of `app.main`
        sys.stderr.write("error: interrupted.\n")
        return _INTERRUPTED
