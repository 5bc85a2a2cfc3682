r"""Programs over a product of cones with their cones as unknowns.

.. math::  \min_u\ c^T u \quad\text{s.t.}\quad B u = g,\quad u \in K

u holds the unknowns of a flat program (`sdpdr.certify.flat`) and the slack of its cones. Where a
cone consists of unknowns alone, :math:`s = -a x`, these are its slack, and need no equations.
Matrices are written as `sdpdr.linalg.svec`; where rows state K u = 0, in an orthonormal basis that
ends with such vectors u. There the cone is the rest of the matrix, and rows determine the numbers
beside it, so that the face may move with the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.cones import Cone
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.proof import bound_proof, value_proof
from sdpdr.certify.symmetric_cones import Nonnegative, Semidefinite
from sdpdr.linalg.svec import smat, svec, svec_size

# Singular values, relative to the largest, of equations that depend on others, and the share of a
# right side that they may leave.
_DEPENDENT, _LOST = 1e-10, 1e-6


@dataclass(frozen=True, eq=False)
class Equations:
    """A program with its cones as unknowns; `of` makes it.

    Attributes
    ----------
    flat : FlatProgram
    B : sparse array of shape (m, k)
    g : array of shape (m,)
    c : array of shape (k,)
    cones : tuple of (Cone, array of shape (count, dim))
        Each cone with the indices of its entries in u.
    bases : tuple of (array of int, array of shape (n, n))
        For each matrix on a face its indices in u, and its basis.
    scale : array of shape (k,)
        Unknowns of the flat program, and then slack, are these multiples of u.
    slack : array of int
        Rows of the flat program's cones whose slack is part of u.
    """

    flat: FlatProgram
    B: sp.csr_array
    g: Array
    c: Array
    cones: tuple[tuple[Cone, Index], ...]
    bases: tuple[tuple[Index, Array], ...]
    scale: Array
    slack: Index

    @classmethod
    def of(
        cls, flat: FlatProgram, null: Mapping[int, Array], fixed: NDArray[np.bool_] | None = None
    ) -> Equations:
        """The flat program.

        Parameters
        ----------
        flat : FlatProgram
        null : mapping from int to array of shape (n, k)
            By the first unknown of a matrix, vectors u with K u = 0 that rows state.
        fixed : array of bool, optional
            Which rows of the cones no parameter changes; by default all. The slack of others is
            not an unknown of the program at all values, even where it is one at this value.

        Examples
        --------
        >>> from sdpdr import graphs, methods
        >>> from sdpdr.certify.standard import as_written
        >>> flat = as_written(methods.mvu(graphs.path([1.0, 2.0])).to_sdp()).flat
        >>> Equations.of(flat, {0: np.ones((3, 1))}).B.shape
        (5, 8)
        """
        fixed = np.ones(flat.b.size, dtype=bool) if fixed is None else fixed
        n, (places, scale) = flat.c.size, _own(flat, fixed)
        slack = np.flatnonzero(places < 0)
        places[slack] = n + np.arange(slack.size)
        scale = np.append(scale, np.ones(slack.size))
        cones, bases = list[tuple[Cone, Index]](), list[tuple[Index, Array]]()
        for cone, rows in flat.cones:
            at = places[rows].reshape(cone.count, cone.dim)
            if isinstance(cone, Semidefinite):
                scale[at] /= np.sqrt(cone.weight)
                for one in [one for one in at if int(one[0]) in null]:
                    k = np.arange(cone.order)
                    units = np.sqrt(scale[one[k * (k + 3) // 2]])
                    bases.append((one, _completed(null[int(one[0])] * units[:, None])))
                    order = cone.order - null[int(one[0])].shape[1]
                    if order:
                        cones.append((Semidefinite(1, order), one[None, : svec_size(order)]))
                at = np.array([one for one in at if int(one[0]) not in null]).reshape(-1, cone.dim)
                cone = Semidefinite(len(at), cone.order)
            if len(at):
                cones.append((cone, at))
        B = sp.block_array([[flat.E, None], [flat.A[slack], sp.eye_array(slack.size)]])
        B, c = sp.csr_array(B @ sp.diags_array(scale)), np.append(flat.c, np.zeros(slack.size))
        g, turns = np.concatenate([flat.f, flat.b[slack]]), tuple(bases)
        made = cls(flat, B, g, c * scale, tuple(cones), turns, scale, slack)
        if not bases:
            return made
        rotated = sp.csr_array(made.rotated(B.toarray()))
        return replace(made, B=rotated, c=made.rotated(made.c))

    def rotated(self, v: Array, *, back: bool = False) -> Array:
        """A vector u, or an array of such rows, in the bases of faces; with ``back`` from these."""
        found = v.copy()
        for at, Q in self.bases:
            Q = Q.T if back else Q
            found[..., at] = svec(Q.T @ smat(v[..., at]) @ Q)
        return found

    def from_answer(self, answer: Answer) -> tuple[Array, Array]:
        """A point of the flat program as u, and its multipliers."""
        m = self.flat.f.size
        u = np.append(answer.x, answer.s[self.slack]) / self.scale
        return self.rotated(u), -np.concatenate([answer.z[:m], answer.z[m:][self.slack]])

    def unknowns(self, u: Array) -> Array:
        """Unknowns of the flat program."""
        return (self.rotated(u, back=True) * self.scale)[: self.flat.c.size]

    def start(self, answer: Answer, mu: float) -> tuple[Array, Array]:
        """`from_answer`, moved to the central path at mu cone by cone (`sdpdr.certify.cones`)."""
        u, y = self.from_answer(answer)
        v = self.c - self.B.T @ y
        for cone, at in self.cones:
            root = _roots(cone)
            u[at] = cone.pair(u[at] / root, v[at] * root, mu)[0] * root
        return u, y

    def are_inside(self, u: Array) -> bool:
        """Whether a point is inside of all cones, as far as floating point tells."""
        return self.program.all_inside(-self.program.A @ u)

    @cached_property
    def program(self) -> FlatProgram:
        """The program as the kernel has it, whose rows of cones are unknowns themselves."""
        places = np.concatenate([np.zeros(0, dtype=np.intp), *(at.ravel() for _, at in self.cones)])
        roots = [np.tile(_roots(cone), cone.count) for cone, _ in self.cones]
        entries = -1.0 / np.concatenate([np.zeros(0), *roots])
        own = (entries, (np.arange(places.size), places))
        A = sp.csr_array(own, shape=(places.size, self.c.size))
        ends = np.cumsum([0, *(at.size for _, at in self.cones)])
        cones = tuple(
            (cone, np.arange(begin, end))
            for (cone, _), begin, end in zip(self.cones, ends[:-1], ends[1:], strict=True)
        )
        return FlatProgram(self.c, self.B, self.g, A, np.zeros(places.size), cones, ())

    def is_inside(self, u: Array, y: Array) -> bool:
        """Whether the kernel proves points and multipliers inside of all cones next to these."""
        program = self.program
        s = -program.A @ u
        z = (self.c - self.B.T @ y)[program.A.indices] / -program.A.data
        try:
            value_proof(program, s).near(u, strictly=True)
            bound_proof(program, z := np.append(-y, z)).near(z, strictly=True)
        except (UnprovedError, np.linalg.LinAlgError):
            return False
        return True

    def allow(self, slack: Array, missed: Array) -> bool:
        """Whether equations, and those of multipliers, still have solutions after a change."""
        B = self.B.toarray()
        free = np.delete(np.arange(self.c.size), self.program.A.indices)
        return _has_solution(B, missed) and _has_solution(B[:, free].T, slack[free])

    def is_like(self, other: Equations) -> bool:
        """Whether another program has the same unknowns, cones and equations."""
        cones = zip(self.cones, other.cones, strict=False)
        return (
            self.B.shape == other.B.shape
            and len(self.cones) == len(other.cones)
            and all(np.array_equal(here, there) for (_, here), (_, there) in cones)
            and bool(np.allclose(self.scale, other.scale, rtol=1e-12))
        )


def _own(flat: FlatProgram, fixed: NDArray[np.bool_]) -> tuple[Index, Array]:
    """For each row the unknown that is its slack, or -1; the ratio of each unknown to it."""
    A, places, scale = flat.A, np.full(flat.b.size, -1), np.ones(flat.c.size)
    alone = fixed & (np.diff(A.indptr) == 1) & (flat.b == 0.0)
    taken = np.zeros(flat.c.size, dtype=bool)
    # Larger cones first: entries of a matrix may have bounds of their own as well.
    for cone, rows in sorted(flat.cones, key=lambda one: -one[0].dim * one[0].count):
        shape = (-1, 1) if isinstance(cone, Nonnegative) else (cone.count, cone.dim)
        for one in rows.reshape(shape):
            first = A.indptr[one]
            if not np.all(alone[one]) or np.any(A.data[first] >= 0.0):
                continue
            columns = A.indices[first]
            if np.any(taken[columns]) or np.unique(columns).size < columns.size:
                continue
            places[one], taken[columns] = columns, True
            scale[columns] = -1.0 / A.data[first]
    return places, scale


def _has_solution(B: Array, right: Array) -> bool:
    """Whether B v = right has a solution, but for rounding."""
    if not np.any(right):
        return True
    rest = right - B @ np.linalg.lstsq(B, right, rcond=_DEPENDENT)[0]
    return bool(np.linalg.norm(rest) <= _LOST * np.linalg.norm(right))


def _roots(cone: Cone) -> Array:
    """What the unknowns of one cone are of its numbers."""
    return np.sqrt(cone.weight) if isinstance(cone, Semidefinite) else np.ones(cone.dim)


def _completed(vectors: Array) -> Array:
    """An orthonormal basis that ends with one of the span of independent vectors."""
    k = vectors.shape[1]
    Q = np.linalg.qr(vectors, mode="complete")[0]
    return np.hstack([Q[:, k:], Q[:, :k]])
