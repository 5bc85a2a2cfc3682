"""Problems that Python makes: models, cvxpy problems and SDPs from a file of the user.

A study file names them as ``python = ["mine.py:problems"]``. What ``problems`` names is a list, a
dict, a function or a generator function without arguments; see `Study` and the guide. Each run
makes its problem anew in its own process, by file, name and index, and compares a digest of the
program, so that a file that has changed meanwhile is noticed.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from sdpdr.base.errors import CardError, SdpdrError, StudyError
from sdpdr.lab.study.problem import Problem
from sdpdr.model import Model, from_cvxpy
from sdpdr.model.conic.flat import flat_problem
from sdpdr.program import SDP
from sdpdr.program.rows import Expression

_EXPECTED = (
    "expected a sdpdr.Model, a cvxpy.Problem or a sdpdr.SDP, alone or as a pair (name, problem)"
)


@dataclass(frozen=True, eq=False)
class PythonProblem(Problem):
    """A problem that a name in a Python file makes."""

    function: str = ""
    index: int = 0
    program: str = ""

    @property
    def method(self) -> str:
        """Always ``"python"``."""
        return "python"

    @property
    def digest(self) -> str:
        """Digest of the program."""
        return self.program

    def build(self) -> Model | SDP | cp.Problem:
        """Make the program anew; a cvxpy problem if it has cones beyond the standard form."""
        assert self.path is not None
        entries = _entries(self.path, self.function)
        entry = next(islice(entries, self.index, None), None)
        program = None if entry is None else _program(entry[1], self._place)
        if program is None or digest_of(program) != self.program:
            raise StudyError(
                f"{self._place} makes another program than when the study was read. If the file "
                "was changed, run the study again; if it draws random numbers, fix their seed."
            )
        return program

    @property
    def _place(self) -> str:
        assert self.path is not None
        return f"{self.path.name}:{self.function}[{self.index}]"

    def varied(self, variant: str, changes: Mapping[str, Any]) -> Problem:
        """Not possible."""
        raise CardError(
            f"{self.name} is made by Python, so [[variants]] cannot vary it: let "
            f"{self.function} make one problem for each variant."
        )


def python_problems(path: Path, function: str) -> Iterator[PythonProblem]:
    """Yield the problems that a name in a file makes."""
    for index, (name, made) in enumerate(_entries(path, function)):
        program = _program(made, f"{path.name}:{function}[{index}]")
        yield PythonProblem(
            name or f"{function}[{index}]",
            "python",
            path=path,
            tags=("python",),
            function=function,
            index=index,
            program=digest_of(program),
        )


def _entries(path: Path, function: str) -> Iterator[tuple[str, Any]]:
    """Yield the problems of a file with their names, which may be empty."""
    with _errors_in(path):
        module = _module(path)
        if not hasattr(module, function):
            raise StudyError(
                f"{path.name} has no {function!r}: define a function or list of that name."
            )
        made = getattr(module, function)
        made = made() if callable(made) and not _is_problem(made) else made
        if _is_problem(made):
            made = {function: made}
        if isinstance(made, Mapping):
            made = made.items()
        if not isinstance(made, Iterable):
            raise StudyError(f"{path.name}:{function} makes {made!r}; {_EXPECTED}, or several.")
        iterator = iter(made)
    while True:
        with _errors_in(path):
            entry = next(iterator, None)
        if entry is None:
            return
        is_named = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
        yield entry if is_named else ("", entry)


def _module(path: Path) -> ModuleType:
    """Execute the file as it is now; a cache of its bytecode could be out of date."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module = ModuleType(f"sdpdr_study_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module


@contextmanager
def _errors_in(path: Path) -> Iterator[None]:
    """Turn errors of the user's file, of any type, into a `StudyError` with file and line."""
    try:
        yield
    except StudyError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.filename == str(path):
            raise StudyError(f"{path} cannot be read: {error.strerror}. Check its name.") from error
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        words = str(error)
        if isinstance(error, SyntaxError) and error.filename == str(path):
            lines, words = [error.lineno], error.msg
        where = f", line {lines[-1]}" if lines else ""
        message = f"{path.name}{where}: {type(error).__name__}: {words}".rstrip(".: ")
        raise StudyError(f"{message}.") from error


def _is_problem(made: object) -> bool:
    return isinstance(made, (Model, SDP, cp.Problem))


def _program(made: object, place: str) -> Model | SDP | cp.Problem:
    """Return a program for `sdpdr.solve`, or a cvxpy problem with exponential or power cones."""
    if not _is_problem(made):
        raise StudyError(f"{place} is {made!r}; {_EXPECTED}.")
    if isinstance(made, Model) and not made.has_standard_form:
        made = made.to_cvxpy()
    if isinstance(made, (Model, SDP)):
        return made
    try:
        return from_cvxpy(made)
    except SdpdrError as error:
        with suppress(SdpdrError):  # the same error, unless only the cones are unsupported
            flat_problem(made)
            return made
        raise StudyError(f"{place}: {error}") from error


def digest_of(program: Model | SDP | cp.Problem) -> str:
    """Digest of the numbers of a program; names do not count, since cvxpy numbers its variables."""
    if isinstance(program, cp.Problem):
        return _digest(_parts_of_problem(program))
    return _digest(_parts_of_sdp(program if isinstance(program, SDP) else program.to_sdp()))


def _digest(parts: Iterable[object]) -> str:
    """Digest of arrays by their bytes and of all else by its representation."""
    found = hashlib.sha256()
    for part in parts:
        is_array = isinstance(part, np.ndarray)
        content = np.ascontiguousarray(part).tobytes() if is_array else repr(part).encode()
        found.update(f"{len(content)}:".encode())
        found.update(content)
    return found.hexdigest()


def _parts_of_sdp(sdp: SDP) -> Iterator[object]:
    yield from (sdp.maximize, float(sdp.constant))
    for variable in sdp.variables:
        yield from (type(variable).__name__, variable.size, variable.is_signed, variable.curvature)
    yield from _parts_of_expression(sdp.objective, sdp)
    for rows in sdp.rows:
        yield from (rows.relation, np.asarray(rows.rhs, dtype=float))
        yield from _parts_of_expression(rows.lhs, sdp)
    for lmi in sdp.lmis:
        yield from (lmi.order, np.asarray(lmi.constant, dtype=float))
        yield from _parts_of_expression(lmi.lhs, sdp)


def _parts_of_expression(expression: Expression, sdp: SDP) -> Iterator[object]:
    for place, variable in enumerate(sdp.variables):
        if variable.name in expression:
            yield place
            yield from _parts_of_matrix(expression[variable.name].matrix())


def _parts_of_problem(problem: cp.Problem) -> Iterator[object]:
    flat = flat_problem(problem)
    program = flat.program
    yield from (flat.maximize, program.offset, program.c, program.f, program.b)
    for matrix in (program.E, program.A):
        yield from _parts_of_matrix(matrix)
    yield from ((part.kind, float(part.size), part.rows.size) for part in program.parts)


def _parts_of_matrix(matrix: Any) -> Iterator[object]:
    rows = sp.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    yield from (rows.shape, rows.indices.astype(np.int64), rows.indptr.astype(np.int64), rows.data)
