"""The command line, ``sdpdr``: see ``sdpdr --help``."""

from sdpdr.lab.cli.app import main

__all__ = ["main"]
