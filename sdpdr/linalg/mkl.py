"""Intel's PARDISO, found in the package ``mkl`` and called through its C interface."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.metadata
import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array

_Numbers = NDArray[Any]  # of 32 or 64 bits, as C expects

_SYMMETRIC_INDEFINITE = -2
ANALYSE, FACTORIZE, SOLVE, RELEASE = 11, 22, 33, -1
OUT_OF_MEMORY = -2


@cache
def available() -> bool:
    """Whether the library is installed here and loads."""
    return _library() is not None


class Forked:
    """Counts forks: MKL's threads do not survive them, and the child would wait forever."""

    at_risk, generation = False, 0

    @classmethod
    def begin_again(cls) -> None:
        """Compute without threads in a forked process whose parent has used MKL."""
        cls.generation += 1
        library = _library() if cls.at_risk else None
        if library is not None:
            library.MKL_Set_Num_Threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Forked.begin_again)


@cache
def _library() -> ctypes.CDLL | None:
    """The library, from a wheel or the system; None if it does not load."""
    for path in [*_wheel_libraries(), ctypes.util.find_library("mkl_rt")]:
        if path is not None:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
    return None


def _wheel_libraries() -> list[str]:
    """Paths of the library in an installed wheel of ``mkl``; empty without one."""
    try:
        files = importlib.metadata.files("mkl") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [str(f.locate()) for f in files if f.name.startswith(("libmkl_rt.", "mkl_rt."))]


def pardiso(
    handle: _Numbers,
    phase: int,
    parameters: _Numbers,
    matrix: tuple[Array, _Numbers, _Numbers],
    right: Array | None = None,
    solution: Array | None = None,
) -> int:
    """Run a phase; return PARDISO's error code, zero for success."""
    library = _library()
    assert library is not None
    Forked.at_risk = True
    one, error = ctypes.byref(ctypes.c_int32(1)), ctypes.c_int32(0)
    library.pardiso(
        _address(handle),
        one,  # number of factorizations kept
        one,  # the one to use
        ctypes.byref(ctypes.c_int32(_SYMMETRIC_INDEFINITE)),
        ctypes.byref(ctypes.c_int32(phase)),
        ctypes.byref(ctypes.c_int32(len(matrix[1]) - 1)),
        *(_address(part) for part in matrix),
        None,
        one,  # number of right sides
        _address(parameters),
        ctypes.byref(ctypes.c_int32(0)),  # prints nothing
        _address(right),
        _address(solution),
        ctypes.byref(error),
    )
    return error.value


def release(handle: _Numbers, parameters: _Numbers, indptr: _Numbers, indices: _Numbers) -> None:
    """Free the memory of the factors."""
    pardiso(handle, RELEASE, parameters, (np.zeros(1), indptr, indices))


def _address(array: _Numbers | None) -> ctypes.c_void_p | None:
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)
