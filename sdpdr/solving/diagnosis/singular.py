"""Matrix inequalities that would be singular everywhere, were it not for rounding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import fsum

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.flat import SEMIDEFINITE
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.view import View, quoted

# What is left where numbers of size one cancel, beside the largest of them; as in `coefficients`.
_CANCELLATION = 2.0**-40
# The eigenvalues of a dense matrix of larger order take longer than all other findings.
_LARGEST = 300


def find_nearly_singular(view: View) -> Iterator[Finding]:
    r"""Find matrix inequalities whose matrices send a vector to zero up to rounding.

    The vector v has entries 0, 1 and -1, and with the coefficient matrices of
    :math:`M_0 + \sum_k x_k M_k \succeq 0` all products :math:`M_k v` are zero or look like
    rounding, but not all are zero. An example is ``eye(n) - ones((n, n)) / n`` beside Laplacian
    matrices. With exact zeros the inequality holds on the complement of v; as it stands,
    :math:`v^T M_k v` of the size of rounding may force a variable to be zero.
    """
    named = view.stated
    for label, rows in named.constraints.items():
        for part in named.program.parts:
            at = named.program.f.size + part.rows
            if part.kind != SEMIDEFINITE or part.size > _LARGEST or not np.isin(at, rows).all():
                continue
            columns = sp.hstack([named.rows[at], sp.csr_array(named.right[at][:, None])])
            matrices = _Matrices(sp.coo_array(columns), int(part.size))
            left, largest = matrices.left_by_rounding()
            names = named.variables_of(left[left < named.program.c.size])
            if left.size:
                yield _finding(label, names, largest)


def _finding(label: str, names: tuple[str, ...], largest: float) -> Finding:
    of = f"of {quoted(names)}" if names else "that are constant"
    return Finding(
        Kind.ROUNDING,
        Severity.WARNING,
        (label,),
        names,
        f"All matrices in {label!r} have one null vector, of entries 0, 1 and -1, but for those "
        f"{of}, whose products with it look like rounding: {largest:.1g} or less. Such a product "
        "may force a variable to be zero, and leaves the constraint without interior.",
        "Measure the variable in units in which they are whole numbers: with u = t / n, write "
        "`u * (n * np.eye(n) - np.ones((n, n)))` in place of "
        "`t * (np.eye(n) - np.ones((n, n)) / n)`.",
    )


class _Matrices:
    """Symmetric matrices, of whose lower triangles, row after row, the columns of one are made."""

    def __init__(self, columns: sp.coo_array, order: int) -> None:
        i, j = np.tril_indices(order)
        place, owner = columns.coords
        i, j, off = i[place], j[place], i[place] != j[place]
        self._order, self._count = order, int(columns.shape[1])
        self._data = np.concatenate([columns.data, columns.data[off]])
        self._i, self._j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        self._owner = np.concatenate([owner, owner[off]])
        self._largest = np.zeros(self._count)
        np.maximum.at(self._largest, self._owner, np.abs(self._data))

    def left_by_rounding(self) -> tuple[Index, float]:
        """Matrices whose products with a null vector of the others are rounding, and the largest.

        In the kernel of a random combination lie all vectors that are in every kernel.
        """
        weights = np.random.default_rng(0).normal(size=self._count)
        weights /= np.where(self._largest > 0.0, self._largest, 1.0)
        combination = np.zeros((self._order, self._order))
        np.add.at(combination, (self._i, self._j), self._data * weights[self._owner])
        is_left, most = np.zeros(self._count, dtype=bool), 0.0
        for v in _signs_in_kernel(combination):
            sizes = self._sizes_of_products(v)
            if np.all(sizes <= _CANCELLATION * self._largest):
                is_left |= sizes > 0.0
                most = max(most, float(np.max(sizes)))
        return np.flatnonzero(is_left), most

    def _sizes_of_products(self, v: Array) -> Array:
        """The largest entry of each product with a vector of signs, zero only if all are zero."""
        entry = self._owner * self._order + self._i
        order = np.argsort(entry, kind="stable")
        terms = (self._data * v[self._j])[order].tolist()
        starts = np.flatnonzero(np.diff(entry[order], prepend=-1, append=-1))
        sizes = np.zeros(self._count)
        # Each sum is rounded once.
        sums = [abs(fsum(terms[start:end])) for start, end in pairwise(starts.tolist())]
        np.maximum.at(sizes, self._owner[order][starts[:-1]], sums)
        return sizes


def _signs_in_kernel(matrix: Array) -> Iterator[Array]:
    """Vectors with entries 0, 1 and -1 in a reduced basis of the numerical kernel."""
    values, vectors = np.linalg.eigh(matrix)
    size = np.abs(values)
    kernel = vectors[:, size <= _CANCELLATION * np.max(size, initial=1e-300)]
    count = kernel.shape[1]
    if not count:
        return
    independent = sl.qr(kernel.T, mode="r", pivoting=True)[1][:count]
    for v in (kernel @ np.linalg.inv(kernel[independent])).T:
        whole = np.round(v)
        # Half of the digits of a double are left after the eigenvalues and the inverse.
        if np.max(np.abs(v - whole)) <= 1e-6 and np.max(np.abs(whole)) == 1.0:
            yield whole
