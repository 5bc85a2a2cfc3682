"""The process in which a nursery's children are born: it imports everything, then forks.

Nothing but `serve` is called from outside, and that by the program of a process of its own.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from select import select
from typing import NoReturn

from sdpdr.base.errors import StudyError
from sdpdr.lab.study.nursery import end_orphans, end_tree, reserved
from sdpdr.solvers.processes.ends import listen
from sdpdr.solvers.processes.zygote import adopt_orphans, end_with

try:
    import resource
except ImportError as missing:
    raise StudyError("studies need a system that forks, such as Linux or macOS") from missing

# Seconds between looks at a child.
_SOON = 0.005
# A run may not fill the disk: bytes that one of its files may have.
_LARGEST_FILE = 2**30
# Address space beyond the memory limit that a process may reserve, as a share and in bytes.
_RESERVE, _RESERVED = 0.5, 2**30


def serve() -> NoReturn:
    """Fork a child for every folder whose name is read; tell its number, then its end."""
    import_module("sdpdr.lab.study.carry_out")  # and with it everything that a run may need

    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    adopt_orphans()
    here = os.getpid()
    replies.write("ready\n")
    replies.flush()
    while folder := _read_line():
        pid = os.fork()
        if pid == 0:
            os.close(replies.fileno())
            _child(Path(folder), here)
        with suppress(BrokenPipeError):
            replies.write(f"{pid}\n")
            replies.flush()
        ended = _awaited(pid, folder)
        with suppress(BrokenPipeError):
            replies.write(f"{ended}\n")
            replies.flush()
    os._exit(0)


def _read_line() -> str:
    """A line; empty at the end. Read byte by byte: nothing may wait where `select` is blind."""
    found = bytearray()
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        found += byte
    return found.decode()


def _awaited(pid: int, folder: str) -> str:
    """Exit status, seconds of the processor and largest memory of a child."""
    done, alone = 0, False
    while not done:
        # Nothing is ever sent meanwhile: what can be read is the end of who asked.
        if not alone and select([0], [], [], _SOON)[0]:
            alone = True
            end_tree(pid)
        done, status, used = os.wait4(pid, os.WNOHANG if not alone else 0)
    end_orphans()
    if alone:
        shutil.rmtree(folder, ignore_errors=True)
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = used.ru_utime + used.ru_stime
    return f"{os.waitstatus_to_exitcode(status)} {seconds} {used.ru_maxrss * unit}"


def _child(folder: Path, parent: int) -> NoReturn:
    """Do what the folder asks for, and leave the answer there."""
    try:
        _separate(folder, parent)
        listen(lambda point: None)  # a process of its own, whose end hurts nobody
        with open(folder / "question", "rb") as stream:
            path, memory_limit, cpu_limit = pickle.load(stream)
            sys.path[:] = path
            _fence(memory_limit, cpu_limit)
            task = pickle.load(stream)
        part = folder / "part"
        part.write_bytes(pickle.dumps(task()))
        part.replace(folder / "answer")
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _separate(folder: Path, parent: int) -> None:
    """Own session, own output, no inherited input, and an end when the nursery ends."""
    os.setsid()
    end_with(parent)
    said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(source, target)
    sys.stdout = sys.stderr = os.fdopen(2, "w", errors="replace", closefd=False)


def _fence(memory_limit: int, cpu_limit: int) -> None:
    """Limits by the system, beyond those that are watched."""
    space = int(reserved() + (1.0 + _RESERVE) * memory_limit) + _RESERVED
    for what, limit in (
        (resource.RLIMIT_AS, space),
        (resource.RLIMIT_CPU, cpu_limit),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
    ):
        hard = resource.getrlimit(what)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with suppress(ValueError, OSError):  # macOS knows no limit of addresses.
            resource.setrlimit(what, (limit, hard))
