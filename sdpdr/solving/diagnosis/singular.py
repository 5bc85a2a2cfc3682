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
_ROUNDING = 2.0**-40
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
            left, largest = _left_by_rounding(sp.csc_array(columns), int(part.size))
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


def _left_by_rounding(columns: sp.csc_array, order: int) -> tuple[Index, float]:
    """Columns, one triangle each, whose products with a common null vector are rounding.

    Also returns the largest entry of these products.
    """
    used = np.flatnonzero(np.diff(columns.indptr))
    matrices = [_symmetric(columns, k, order) for k in used.tolist()]
    squares = np.zeros((order, order))
    for M in matrices:
        squares += (M @ M).toarray() / np.sum(np.square(M.data))
    is_left, most = np.zeros(used.size, dtype=bool), 0.0
    for v in _signs_in_kernel(squares):
        sizes = np.array([np.max(np.abs(_rounded_product(M, v))) for M in matrices])
        largest = np.array([np.max(np.abs(M.data)) for M in matrices])
        if np.all(sizes <= _ROUNDING * largest):
            is_left |= sizes > 0.0
            most = max(most, float(np.max(sizes)))
    return used[is_left], most


def _symmetric(columns: sp.csc_array, k: int, order: int) -> sp.csr_array:
    """The matrix whose lower triangle, row after row, is a column."""
    i, j = np.tril_indices(order)
    here = slice(columns.indptr[k], columns.indptr[k + 1])
    place, data = columns.indices[here], columns.data[here]
    lower = sp.csr_array((data, (i[place], j[place])), shape=(order, order))
    return sp.csr_array(lower + sp.tril(lower, -1).T)


def _signs_in_kernel(matrix: Array) -> Iterator[Array]:
    """Vectors with entries 0, 1 and -1 in a reduced basis of the numerical kernel."""
    values, vectors = np.linalg.eigh(matrix)
    kernel = vectors[:, values <= _ROUNDING * max(values[-1], 1e-300)]
    count = kernel.shape[1]
    if not count:
        return
    independent = sl.qr(kernel.T, mode="r", pivoting=True)[1][:count]
    for v in (kernel @ np.linalg.inv(kernel[independent])).T:
        whole = np.round(v)
        # Half of the digits of a double are left after the eigenvalues and the inverse.
        if np.max(np.abs(v - whole)) <= 1e-6 and np.max(np.abs(whole)) == 1.0:
            yield whole


def _rounded_product(matrix: sp.csr_array, v: Array) -> Array:
    """The product with a vector of signs, each entry rounded once: zero only where it is zero."""
    terms = matrix.data * v[matrix.indices]
    return np.array([fsum(terms[start:end]) for start, end in pairwise(matrix.indptr)])
