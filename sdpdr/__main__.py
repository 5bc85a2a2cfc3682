"""``python -m sdpdr`` is the ``sdpdr`` command."""

import sys

from sdpdr.lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
