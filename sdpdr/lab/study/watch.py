"""Looking after processes: the memory of one and of all that it has started, and their end."""

from __future__ import annotations

import time
from contextlib import suppress

from sdpdr.base.errors import PackageMissingError

try:
    import psutil
except ImportError as missing:
    raise PackageMissingError('studies need psutil: pip install "sdpdr[study]"') from missing

# Seconds between looks: often at first, since a short run may need memory fast.
_SOON, _LATER, _TREE = 0.01, 0.05, 0.2


class Watch:
    """The memory of a process and of all that it has started."""

    def __init__(self, pid: int) -> None:
        self._children: list[psutil.Process] = []
        self.peak = 0
        self._begin = self._looked = time.monotonic()
        try:
            self._process: psutil.Process | None = psutil.Process(pid)
            self.start = self._process.memory_info().rss
        except psutil.Error:  # It has ended already.
            self._process, self.start = None, 0

    def pause(self) -> float:
        """Seconds until the next look."""
        return _SOON if time.monotonic() - self._begin < 1.0 else _LATER

    def memory(self) -> int:
        """Bytes now, beyond those at the start."""
        if self._process is None:
            return 0
        try:
            used = self._process.memory_info().rss - self.start
            if time.monotonic() - self._looked > _TREE:
                # To look for children costs a millisecond of everybody's time.
                self._looked = time.monotonic()
                self._children = self._process.children(recursive=True)
            for child in self._children:
                with suppress(psutil.Error):
                    used += child.memory_info().rss
        except psutil.Error:
            return 0
        self.peak = max(self.peak, used)
        return int(used)


def end_tree(pid: int) -> None:
    """End a process and all that it has started."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (*process.children(recursive=True), process):
            with suppress(psutil.Error):
                one.kill()


def end_orphans() -> None:
    """End whatever this process has adopted."""
    for orphan in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            orphan.kill()
            orphan.wait()


def reserved() -> int:
    """Bytes of address space that this process has."""
    return int(psutil.Process().memory_info().vms)
