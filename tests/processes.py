"""Whether processes that tests started have ended."""

from __future__ import annotations

import time
from pathlib import Path


def is_gone(pid: int) -> bool:
    """Whether a process ends within a minute, perhaps without anybody to ask how."""
    for _ in range(1200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
