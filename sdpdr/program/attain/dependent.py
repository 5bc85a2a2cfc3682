r"""Rows that follow from others exactly.

A row that depends on others holds wherever they hold if its right side depends on theirs in the
same way, exactly; if it misses by rounding, the program as stored has no feasible point. Gaussian
elimination tells: modulo a prime p of 31 bits, twice, where a dependence that is none has a chance
of about :math:`m / p` each time; or over the rationals, which is a proof and takes longer.

The doubles stored are dyadic numbers, so that they have residues. Coefficients off the diagonal
were multiplied by the root of two; they count as the shortest double whose product that is
(`sdpdr.linalg.svec.unscaled`), as in files. Sums and products are those of the numbers that the
maps store (`sdpdr.linalg.exact`), and those of the flattened program only where it has them
without rounding.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, SvecMap, VectorMap, lengths_of
from sdpdr.linalg.exact import Vector, matrix_row, vector_row
from sdpdr.linalg.magnitudes import is_written_exactly
from sdpdr.linalg.svec import near_unscaled, svec_index, svec_pairs
from sdpdr.program.attain.basis import ConeBlock, Grounded
from sdpdr.program.attain.cone import ConeProgram
from sdpdr.program.echelon import Span

_PRIMES = (2147483647, 2147483629)
# Numbers in an elimination with fractions beyond which it takes too long.
_LARGEST = 40_000
# The same where a proof was not asked for, and primes will do.
_SMALL = 4_000
# Numbers that are read as fractions one by one, for primes.
_LARGEST_READ = 400_000
# Numbers in an elimination modulo a prime.
_LARGEST_MODULAR = 20_000_000
Residues = NDArray[np.int64]


def follows(program: ConeProgram, rows: Index, others: Index, exact: bool) -> bool:
    """Whether it is shown that some rows follow from others, right sides included.

    Parameters
    ----------
    program : ConeProgram
    rows : array of int
        Independent rows.
    others : array of int
        Rows that are to follow from them.
    exact : bool
        Over the rationals or not at all; else modulo primes where fractions would take long.
    """
    order = np.concatenate([rows, others])
    right, size = program.b[order], program.A.nnz + order.size
    if size <= (_LARGEST if exact else _SMALL):
        known = exact_rows(program)
        if known is not None:
            return _follow_in_fractions([known[e] for e in order], right.tolist(), rows.size)
    if exact:
        return False
    if _is_flat_exactly(program):
        matrix = natural(program)[order]
        used = np.unique(matrix.indices)
        if float(order.size) * used.size > _LARGEST_MODULAR:
            return False
        dense = np.column_stack([matrix[:, used].toarray(), right])
        return all(_follow_modulo(_residues(dense, p), rows.size, p) for p in _PRIMES)
    known = exact_rows(program) if size <= _LARGEST_READ else None
    if known is None:
        return False
    chosen = [known[e] for e in order]
    if float(order.size) * len(set().union(*chosen)) > _LARGEST_MODULAR:
        return False
    return all(_follow_modulo(_exact_residues(chosen, right, p), rows.size, p) for p in _PRIMES)


def _is_flat_exactly(program: ConeProgram) -> bool:
    """Whether the flattened program has the numbers that its maps store."""
    blocks = {block.name: block for block in program.blocks}
    return all(
        _is_flat(linear_map, blocks.get(name))
        for rows in program.rows
        for name, linear_map in rows.lhs.items()
    )


def _is_flat(linear_map: LinearMap | VectorMap, block: ConeBlock | None) -> bool:
    if isinstance(linear_map, VectorMap) or block is None:
        return True
    if isinstance(block.basis, Grounded) and lengths_of(linear_map) is not None:
        return True
    return block.basis.order == linear_map.n and is_written_exactly(linear_map)


def natural(program: ConeProgram) -> sp.csr_array:
    """The matrix A with entries off the diagonal as they were before the root of two."""
    matrix = sp.csr_array(program.A, copy=True)
    off = np.zeros(matrix.shape[1], dtype=bool)
    for block in program.blocks:
        i, j = svec_pairs(np.arange(block.part.stop - block.part.start))
        off[block.part] = i != j
    chosen = off[matrix.indices]
    matrix.data[chosen] = near_unscaled(matrix.data[chosen])
    return matrix


def _follow_modulo(table: Residues, n_rows: int, p: int) -> bool:
    """Whether all rows after the first ones vanish modulo p once those are eliminated."""
    for e in range(n_rows):
        pivots = np.flatnonzero(table[e, :-1])
        if not pivots.size:
            # Dependent modulo p though independent in floating point: an unlucky prime.
            return False
        j = pivots[0]
        table[e] = table[e] * pow(int(table[e, j]), -1, p) % p
        below = np.flatnonzero(table[e + 1 :, j]) + e + 1
        if below.size:
            table[below] = (table[below] - table[below, j][:, None] * table[e] % p) % p
    return not table[n_rows:].any()


def _residues(dense: Array, p: int) -> Residues:
    """Doubles modulo a prime, mantissa times a power of two."""
    mantissa, exponent = np.frexp(dense)
    whole = np.round(mantissa * 2.0**53).astype(np.int64)
    powers = {int(e): pow(2, int(e) - 53, p) for e in np.unique(exponent)}
    factor = np.vectorize(powers.__getitem__, otypes=[np.int64])(exponent)
    return np.asarray((whole % p) * factor % p)


def _exact_residues(rows: list[Vector], right: Array, p: int) -> Residues:
    """Fractions modulo a prime, with the right side as the last column."""
    place = {j: k for k, j in enumerate(sorted(set().union(*rows)))}
    table = np.zeros((len(rows), len(place) + 1), dtype=np.int64)
    for e, row in enumerate(rows):
        for j, a in row.items():
            table[e, place[j]] = a.numerator * pow(a.denominator, -1, p) % p
    table[:, -1] = _residues(right, p)
    return table


def exact_rows(program: ConeProgram) -> list[Vector] | None:
    """The rows of A as the program stores them; None where they are known to rounding only.

    A change of basis rounds, but for the one of lengths of edges, and so do products and sums.
    """
    found: list[Vector] = []
    blocks = {block.name: block for block in program.blocks}
    starts = {v.name: program.part(v.name).start for v in program.sdp.variables}
    for rows in program.rows:
        group: list[Vector] = [{} for _ in range(rows.m)]
        for name, linear_map in rows.lhs.items():
            if isinstance(linear_map, LinearMap) and name not in blocks:
                continue
            alone = sum(name in r.lhs for r in program.rows) == 1
            is_slack = alone and isinstance(linear_map, SvecMap) and _is_apart(linear_map)
            for e in range(rows.m):
                row = _exact_row(linear_map, e, blocks.get(name), is_slack)
                if row is None:
                    return None
                group[e] |= {starts[name] + j: a for j, a in row.items()}
        found += group
    return found


def _is_apart(linear_map: SvecMap) -> bool:
    """Whether no coordinate is seen by two rows."""
    columns = linear_map.matrix().tocsc()
    return bool(np.all(np.diff(columns.indptr) <= 1))


def _exact_row(
    linear_map: LinearMap | VectorMap, e: int, block: ConeBlock | None, is_slack: bool
) -> Vector | None:
    if isinstance(linear_map, VectorMap):
        return vector_row(linear_map, e)
    assert block is not None
    lengths = lengths_of(linear_map)
    if isinstance(block.basis, Grounded) and lengths is not None:
        (i, j), scale = lengths[0][e].tolist(), Fraction(float(lengths[1][e]))
        ends = [(i, i, scale), (j, j, scale), (min(i, j), max(i, j), -scale)] if i != j else []
        # The first point is the origin.
        return {int(svec_index(p - 1, q - 1)): a for p, q, a in ends if p}
    if block.basis.order != linear_map.n:
        return None
    if is_slack:
        # Coordinates that one row alone sees may be in any units, those of `svec` for instance.
        stored = linear_map.matrix()[[e]]
        return {int(j): Fraction(a) for j, a in zip(stored.indices, stored.data, strict=True) if a}
    row = matrix_row(linear_map, e, np.ones(linear_map.n, dtype=bool))
    return None if row is None else {int(svec_index(i, j)): a for (i, j), a in row.items()}


def _follow_in_fractions(rows: list[Vector], right: list[float], n_rows: int) -> bool:
    """Whether rows with their right sides are combinations of the first ones."""
    last = max((j for row in rows for j in row), default=-1) + 1
    whole = [row | ({last: Fraction(b)} if b else {}) for row, b in zip(rows, right, strict=True)]
    known = Span()
    for row in whole[:n_rows]:
        known.insert(row)
    contradict = last in known.pivots
    return not contradict and not any(known.reduced(row) for row in whole[n_rows:])
