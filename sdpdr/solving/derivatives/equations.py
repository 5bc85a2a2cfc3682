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

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.cones import Cone
from sdpdr.certify.flat import Answer, FlatProgram
from sdpdr.certify.symmetric_cones import Nonnegative, Semidefinite
from sdpdr.linalg.svec import smat, svec, svec_size


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
        Where the numbers of a cone are in u.
    bases : tuple of (array of int, array of shape (n, n))
        Where a matrix on a face is in u, and its basis.
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
    def of(cls, flat: FlatProgram, null: Mapping[int, Array]) -> Equations:
        """The flat program.

        Parameters
        ----------
        flat : FlatProgram
        null : mapping from int to array of shape (n, k)
            By the first unknown of a matrix, vectors u with K u = 0 that rows state.

        Examples
        --------
        >>> from sdpdr import graphs, methods
        >>> from sdpdr.certify.standard import as_written
        >>> flat = as_written(methods.mvu(graphs.path([1.0, 2.0])).to_sdp()).flat
        >>> Equations.of(flat, {0: np.ones((3, 1))}).B.shape
        (5, 8)
        """
        n, (places, scale) = flat.c.size, _own(flat)
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
        """Numbers of u, or rows of them, in the bases of faces, or from there."""
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
        """The same with the pairs on the central path that belong to mu (`sdpdr.certify.cones`)."""
        u, y = self.from_answer(answer)
        v = self.c - self.B.T @ y
        for cone, at in self.cones:
            root = np.sqrt(cone.weight) if isinstance(cone, Semidefinite) else 1.0
            u[at] = cone.pair(u[at] / root, v[at] * root, mu)[0] * root
        return u, y

    def are_inside(self, u: Array) -> bool:
        """Whether a point is inside of all cones, as far as floating point tells."""
        return all(
            cone.is_inside(u[at] / (np.sqrt(cone.weight) if isinstance(cone, Semidefinite) else 1))
            for cone, at in self.cones
        )

    def is_like(self, other: Equations) -> bool:
        """Whether another program has the same unknowns, cones and equations."""
        cones = zip(self.cones, other.cones, strict=False)
        return (
            self.B.shape == other.B.shape
            and len(self.cones) == len(other.cones)
            and all(np.array_equal(here, there) for (_, here), (_, there) in cones)
            and bool(np.allclose(self.scale, other.scale, rtol=1e-12))
        )


def _own(flat: FlatProgram) -> tuple[Index, Array]:
    """Unknowns that are the slack of each row, or -1, and what an unknown is of that slack."""
    A, places, scale = flat.A, np.full(flat.b.size, -1), np.ones(flat.c.size)
    alone = (np.diff(A.indptr) == 1) & (flat.b == 0.0)
    taken = np.zeros(flat.c.size, dtype=bool)
    # A matrix first, whose entries may be limited one by one as well.
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


def _completed(vectors: Array) -> Array:
    """An orthonormal basis that ends with one of the span of independent vectors."""
    k = vectors.shape[1]
    Q = np.linalg.qr(vectors, mode="complete")[0]
    return np.hstack([Q[:, k:], Q[:, :k]])
