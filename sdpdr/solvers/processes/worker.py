"""A worker as seen from the process that hired it: its lines, and what came through them."""

from __future__ import annotations

import os
import select
import socket
import sys
from contextlib import ExitStack, suppress

from sdpdr.base.files import occupy_standard
from sdpdr.solvers.processes.zygote import (
    ANSWER,
    DEAF,
    END,
    HEADER,
    HEARING,
    INTERRUPT,
    POSTED,
    QUESTION,
)

# Seconds of a single wait: a poll takes no more than 32 bits of milliseconds.
_LONGEST = 1e6
# Bytes of what a worker prints that are kept; the end is what tells.
_ENOUGH = 100_000
CHUNK = 1 << 20
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR if hasattr(select, "poll") else 0


class WorkerLost(Exception):
    """No worker can be had; the words say why."""


class Worker:
    """A process that does one task.

    Leaving its context ends it, and all that it has started. One at a time may be asked for.

    Parameters
    ----------
    control : socket
        Where the zygote hears of it.
    needs : str, optional
        A module to import beforehand.

    Attributes
    ----------
    pid : int
    code : int or None
        Its exit status, as `subprocess` gives them, once it has ended.
    seconds : float
        Of the processor, and
    memory : int
        the most bytes that it had, once it has ended.
    is_lost : bool
        Whether nobody is left to tell how it ended, and so it has.
    answer, posted : bytes or None
        What the task returned, and the last point it posted meanwhile, pickled.
    said : bytearray
        The end of what it printed.
    is_deaf : bool
        Whether it said that asking it to end is in vain.
    """

    def __init__(self, control: socket.socket, needs: str = "") -> None:
        self.pid, self.said = 0, bytearray()
        self.seconds, self.memory = 0.0, 0
        self.code: int | None = None
        self.answer: bytes | None = None
        self.posted: bytes | None = None
        self.show = self.is_deaf = self.is_lost = False
        self._unsent, self._received, self._line_said = memoryview(b""), bytearray(), b""
        self._poll = select.poll()
        self._talk, self._line, self._said, theirs = _ends()
        try:
            socket.send_fds(control, [f"{needs}\n".encode()], theirs)
        except OSError:
            self.close()
            raise
        finally:
            for end in theirs:
                os.close(end)
        self._talk.setblocking(False)
        os.set_blocking(self._said, False)
        for end in (self._talk.fileno(), self._line.fileno(), self._said):
            self._poll.register(end, select.POLLIN)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def born(self) -> bool:
        """Wait for it; False where it was not to be."""
        word = self._line.recv(256)
        while word and b"\n" not in word:
            more = self._line.recv(256)
            word = word + more if more else b""
        first, _, self._line_said = word.partition(b"\n")
        if not first.isdigit():
            if first:
                raise WorkerLost(first.decode(errors="replace"))
            return False
        self.pid = int(first)
        return True

    def ask(self, question: bytes) -> None:
        """Have a question sent while `step` waits for the answer."""
        self._unsent = memoryview(HEADER.pack(QUESTION, len(question)) + question)
        self._poll.modify(self._talk.fileno(), select.POLLIN | select.POLLOUT)

    @property
    def is_done(self) -> bool:
        """Whether it has answered or ended."""
        return self.answer is not None or self.code is not None or self.is_lost

    def step(self, patience: float | None) -> None:
        """Wait until something happens, at most so many seconds, and take note of it."""
        milliseconds = None if patience is None else 1000.0 * min(max(0.0, patience), _LONGEST)
        for number, event in self._poll.poll(milliseconds):
            if number == self._said:
                self._listen()
            elif number == self._talk.fileno():
                if event & select.POLLOUT:
                    self._send()
                if event & _READABLE:
                    self._receive()
            elif number == self._line.fileno():
                self._hear_the_end()

    def interrupt(self) -> None:
        """Ask it to come to an end."""
        with suppress(OSError):
            self._line.send(INTERRUPT)

    def end(self) -> None:
        """End it and all that it has started; `step` waits until it has ended."""
        with suppress(OSError):
            self._line.send(END)

    def close(self) -> None:
        """End it; what is said on a line that has ended is to end the worker."""
        self._talk.close()
        self._line.close()
        if self._said >= 0:
            os.close(self._said)
            self._said = -1

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            while words := os.read(self._said, CHUNK):
                self.said += words
                if self.show:
                    sys.stdout.write(words.decode(errors="replace"))
                del self.said[:-_ENOUGH]
            self._mute(self._said)

    def _send(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[self._talk.send(self._unsent[:CHUNK]) :]
        except BlockingIOError:
            return
        except ConnectionError:  # it has ended, and the line will say how
            self._unsent = memoryview(b"")
        with suppress(OSError):  # it is not looked at any more
            self._poll.modify(self._talk.fileno(), select.POLLIN)

    def _mute(self, number: int) -> None:
        """Do not look any more at what has ended."""
        with suppress(KeyError):
            self._poll.unregister(number)

    def _receive(self) -> None:
        with suppress(BlockingIOError):
            try:
                while data := self._talk.recv(CHUNK):
                    self._received += data
                    self._sort()
            except ConnectionError:
                pass
            self._mute(self._talk.fileno())

    def _sort(self) -> None:
        """Take whole messages out of what was received."""
        while len(self._received) >= HEADER.size:
            kind, length = HEADER.unpack_from(self._received)
            end = HEADER.size + length
            if len(self._received) < end:
                return
            content = bytes(memoryview(self._received)[HEADER.size : end])
            del self._received[:end]
            if kind == ANSWER:
                self.answer = content
            elif kind == POSTED:
                self.posted = content
            elif kind in (DEAF, HEARING):
                self.is_deaf = kind == DEAF

    def _hear_the_end(self) -> None:
        data = b""
        with suppress(ConnectionError):
            data = self._line.recv(256)
        self._line_said += data
        if b"\n" not in self._line_said and data:
            return
        # Whatever it had to say is in the pipes by now.
        self._receive()
        self._listen()
        words = self._line_said.partition(b"\n")[0].split()
        self.is_lost = not words
        if words:
            self.code, self.seconds, self.memory = int(words[0]), float(words[1]), int(words[2])


def _ends() -> tuple[socket.socket, socket.socket, int, list[int]]:
    """Our ends of what a worker talks through, of its line, and of what it prints; its own.

    Raises
    ------
    WorkerLost
        This process may not open any more, which is no fault of the zygote's.
    """
    with ExitStack() as undo:
        try:
            occupy_standard()
            talk, theirs = map(undo.enter_context, socket.socketpair())
            line, its = map(undo.enter_context, socket.socketpair())
            said, saying = os.pipe()
        except OSError as error:
            raise WorkerLost(f"this process cannot open what leads to one: {error}") from error
        undo.pop_all()
    return talk, line, said, [theirs.detach(), its.detach(), saying]
