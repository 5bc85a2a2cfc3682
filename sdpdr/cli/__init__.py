"""The command line, ``sdpdr``: see ``sdpdr --help``."""

from sdpdr.cli.app import main

__all__ = ["main"]
