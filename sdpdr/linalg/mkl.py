"""Intel's PARDISO, found in the package ``mkl`` and called through its C interface."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.metadata
import os
import weakref
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array

_Numbers = NDArray[Any]  # of 32 or 64 bits: what crosses the border to C

_SYMMETRIC_INDEFINITE = -2
_ANALYSE, _FACTORIZE, _SOLVE, _RELEASE = 11, 22, 33, -1
# PARDISO replaces pivots below 10^-this of the matrix; interior-point matrices span 20 decades.
_PERTURBATION = 20
_OUT_OF_MEMORY = -2


@cache
def available() -> bool:
    """Whether the library is installed here and loads."""
    return _library() is not None


class Pardiso:
    """Factors of symmetric matrices on one pattern."""

    def __init__(self, indptr: _Numbers, indices: _Numbers, pairs: bool = True) -> None:
        self.n = len(indptr) - 1
        self._indptr, self._indices = indptr.astype(np.int32), indices.astype(np.int32)
        self._data = np.zeros(len(indices))
        self._parameters = p = np.zeros(64, dtype=np.int32)
        p[0] = 1  # the values below, not the defaults
        p[1] = 2  # nested dissection
        p[9] = _PERTURBATION
        p[20] = int(pairs)
        p[34] = 1  # indices from zero
        self._begin()

    def _begin(self) -> None:
        """A handle without factors."""
        self._generation = _Forked.generation
        self._handle = np.zeros(64, dtype=np.int64)
        self._parameters[17] = -1  # count the entries of the factor
        self._analysed = self._factored = False
        self._finalizer = weakref.finalize(
            self, _release, self._handle, self.n, self._parameters, self._indptr, self._indices
        )

    def _take_over(self) -> bool:
        """Begin again in a forked process; whether there were factors, made for other threads."""
        if self._generation == _Forked.generation:
            return False
        had_factors = self._factored
        self._finalizer.detach()
        self._begin()
        return had_factors

    def factorize(self, data: Array) -> int:
        """Number of negative eigenvalues; -1 where the matrix is singular."""
        self._take_over()
        self._data = np.ascontiguousarray(data, dtype=float)
        if not self._analysed:
            self._call(_ANALYSE)
            self._analysed = True
        failed = self._call(_FACTORIZE)
        self._factored = not failed
        return -1 if failed or self._parameters[13] else int(self._parameters[22])

    def solve(self, right: Array) -> Array:
        """Solution with the last factors."""
        if self._take_over():
            self.factorize(self._data)
        right = np.ascontiguousarray(right, dtype=float)
        solution = np.empty_like(right)
        self._call(_SOLVE, right, solution)
        return solution

    @property
    def nnz(self) -> int:
        """Number of entries of the factor."""
        return int(self._parameters[17])

    def _call(self, phase: int, right: Array | None = None, solution: Array | None = None) -> bool:
        """Run a phase; whether it failed for numerical reasons."""
        matrix = (self._data, self._indptr, self._indices)
        error = _pardiso(self._handle, self.n, phase, self._parameters, matrix, right, solution)
        if error == _OUT_OF_MEMORY:
            raise MemoryError("the sparse factor does not fit into memory.")
        if error and phase == _ANALYSE:
            raise ValueError(f"PARDISO refuses the pattern (error {error}).")
        return error != 0


class _Forked:
    """State after a fork, which MKL's threads do not survive: the child would wait for them."""

    at_risk, generation = False, 0

    @classmethod
    def begin_again(cls) -> None:
        """In a forked process, where MKL has computed before: compute without threads."""
        cls.generation += 1
        library = _library() if cls.at_risk else None
        if library is not None:
            library.MKL_Set_Num_Threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Forked.begin_again)


@cache
def _library() -> ctypes.CDLL | None:
    for path in [*_wheel_libraries(), ctypes.util.find_library("mkl_rt")]:
        if path is not None:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
    return None


def _wheel_libraries() -> list[str]:
    """Where a wheel of ``mkl`` put its library; empty without one."""
    try:
        files = importlib.metadata.files("mkl") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [str(f.locate()) for f in files if f.name.startswith(("libmkl_rt.", "mkl_rt."))]


def _pardiso(
    handle: _Numbers,
    n: int,
    phase: int,
    parameters: _Numbers,
    matrix: tuple[Array, _Numbers, _Numbers],
    right: Array | None = None,
    solution: Array | None = None,
) -> int:
    library = _library()
    assert library is not None
    _Forked.at_risk = True
    one, error = ctypes.byref(ctypes.c_int32(1)), ctypes.c_int32(0)
    library.pardiso(
        _address(handle),
        one,  # factors kept
        one,  # of which this one is meant
        ctypes.byref(ctypes.c_int32(_SYMMETRIC_INDEFINITE)),
        ctypes.byref(ctypes.c_int32(phase)),
        ctypes.byref(ctypes.c_int32(n)),
        *(_address(part) for part in matrix),
        None,
        one,  # right sides
        _address(parameters),
        ctypes.byref(ctypes.c_int32(0)),  # prints nothing
        _address(right),
        _address(solution),
        ctypes.byref(error),
    )
    return error.value


def _release(
    handle: _Numbers, n: int, parameters: _Numbers, indptr: _Numbers, indices: _Numbers
) -> None:
    """Give the memory of the factors back."""
    _pardiso(handle, n, _RELEASE, parameters, (np.zeros(1), indptr, indices))


def _address(array: _Numbers | None) -> ctypes.c_void_p | None:
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)
