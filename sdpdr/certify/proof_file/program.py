"""A program in standard form as the lists of a proof file, and its points and multipliers there.

Coefficients are the numbers that were given, without square roots of two. One of more than 53 bits
is written as the sum of several doubles, since entries that are given several times add.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.certify.answer import is_small
from sdpdr.certify.check_proof import (
    BY_ENTRIES,
    SECOND_ORDER,
    SLACK,
    SMALLEST,
    NotProvedError,
    Program,
    as_columns,
    own_rows,
    power_of_two,
    program_of,
)
from sdpdr.certify.coefficients import Rounded, coefficients, coefficients_of_triangle, unscaled
from sdpdr.certify.knowledge import UNBOUNDED
from sdpdr.certify.standard import standard
from sdpdr.linalg import LinearMap
from sdpdr.linalg.exact import exact_terms
from sdpdr.linalg.maps import BilinearForms, Combined
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.svec import smat, svec_index, svec_pairs, svec_size
from sdpdr.program.arrows import arrow_labels, head_and_neck, of_arrow
from sdpdr.program.face import exposing_rows, is_face_known, stated_labels
from sdpdr.program.point import Factor, Value, as_dense
from sdpdr.program.rows import Expression, Lmi
from sdpdr.program.sdp import SDP

Witness = dict[str, Array]
# Doubles whose sum a coefficient may be; products of two numbers take two of them.
_DOUBLES = 4
# Coefficients that are written as such sums: a hundred thousand take seconds.
_EXACT = 300_000
# Products of numbers in a form f' K g from which on K f is a row of a block.
_LONG = 1000
# Units of free scalars and of rows that are next to zero, beside the largest.
_SMALL_UNIT = 1e-3
# Eigenvalues beside the largest that are left out of a factor: those of rounding.
_ROUNDED = 1e-15
# Pivots of a matrix in units of its diagonal that are far from rounding.
_REGULAR = 1e-3
# Singular values beside the largest, squared, without which the products of a factor stay; the
# file of an unfolding of 10,000 points is larger by 7 % with them.
_NARROWED = 1e-18


@dataclass
class Entries:
    """Lists of arrays of equal lengths, which become lists of a file."""

    columns: int
    parts: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *arrays: Any) -> None:
        """Entries; a number stands for an array of it."""
        self.parts.append(tuple(np.broadcast_arrays(*arrays)))

    def gathered(self) -> list[Array]:
        """All of them, one array for each column."""
        return [
            np.concatenate([np.zeros(0), *(p[c] for p in self.parts)]) for c in range(self.columns)
        ]


def as_program(
    *,
    maximize: bool,
    orders: Sequence[int],
    right: Any,
    inequalities: Any,
    cones: Sequence[Sequence[Any]],
    nonnegative: Any,
    curvature: Any,
    A: Entries,
    B: Entries,
    null_vectors: Sequence[tuple[int, Array, Array]] = (),
) -> dict[str, Any]:
    """The program as a file has it, in lists."""
    *of_matrices, a = A.gathered()
    *of_scalars, b = B.gathered()
    return {
        "sense": -1 if maximize else 1,
        "n": _whole(orders),
        "A": [*map(_whole, of_matrices), _real(a)],
        "B": [*map(_whole, of_scalars), _real(b)],
        "b": _real(right),
        "inequalities": _whole(inequalities),
        "cones": [[kind, _whole(rows), *more] for kind, rows, *more in cones],
        "nonnegative": _whole(nonnegative),
        "q": _real(curvature),
        "U": [[k, _whole(i), _real(v)] for k, i, v in null_vectors],
    }


def _whole(x: Any) -> list[int]:
    return np.asarray(x).astype(np.int64).tolist()


def _real(x: Any) -> list[float]:
    # Without negative zeros: programs that are equal have the same hash.
    return (np.asarray(x, dtype=np.float64) + 0.0).tolist()


class Matrices(NamedTuple):
    """A point or a direction: matrices or factors of them, and scalars."""

    blocks: list[Value]
    scalars: Array


class ProgramInFile(ABC):
    """A program in the lists of a file, and what the kernel has proved of it behind faces.

    Attributes
    ----------
    lists : dict
        What a file says of the program.
    notes : list of str
        What the lists do not hold exactly.
    images : mapping from block to int
        The first of the rows of a block that are K f, for a null vector (f, -1).
    """

    images: Mapping[int, int] = {}
    lists: dict[str, Any]
    notes: list[str]

    @abstractmethod
    def multipliers(self, duals: Mapping[str, Array], objective: float) -> Array:
        """Multipliers as those of the file; zero where none are known."""

    @abstractmethod
    def matrices(self, values: Mapping[str, Value], *, ray: bool = False) -> Matrices:
        """A point, or a direction, as matrices and scalars of the file."""

    @abstractmethod
    def _proved(self, claim: str, *, points: bool) -> list[Mapping[str, Any]]:
        """Points, or multipliers, of the kernel: those that expose faces, and one behind them."""

    def read(self) -> Program:
        """The program as the checker reads it."""
        return program_of(self.lists)

    @cached_property
    def line(self) -> str:
        """The line of a file that says what the program is."""
        return json.dumps(self.lists, separators=(",", ":"))

    @property
    def hash(self) -> str:
        """The hash that names the program."""
        return hashlib.sha256(self.line.encode()).hexdigest()

    def report(self, value: float) -> float:
        """A value of the minimisation in the sense of the user."""
        return float(self.lists["sense"]) * value

    def behind(self, claim: str) -> tuple[list[Array], Array] | None:
        """Multipliers that expose faces in turn, and those that prove a claim behind them."""
        found = [self.multipliers(z, 0.0) for z in self._proved(claim, points=False)]
        return (found[:-1], found[-1]) if found else None

    def directions(self) -> list[Matrices]:
        """Directions that expose faces of the dual program, and the last, that improves."""
        return [self.matrices(x, ray=True) for x in self._proved(UNBOUNDED, points=True)]


class FileProgram(ProgramInFile):
    """The lists of a program, and where its variables and constraints are among them.

    Parameters
    ----------
    sdp : SDP

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> found = FileProgram(methods.mvu(graphs.path([1.0, 2.0])).to_sdp())
    >>> found.lists["n"], found.lists["b"], found.lists["U"]
    ([3], [0.0, 1.0, 4.0], [[0, [0, 1, 2], [1.0, 1.0, 1.0]]])
    """

    def __init__(self, sdp: SDP) -> None:
        self.sdp, self.notes = sdp, list[str]()
        self._arrows = {lmi.label for lmi in sdp.lmis if lmi.label in arrow_labels(sdp)}
        self._block, self._scalar = dict[str, int](), dict[str, int]()
        self._limit, self._first = dict[str, int](), dict[str, int]()
        self._A, self._B, self._U = Entries(5), Entries(3), list[tuple[int, Array, Array]]()
        self._b, self._inequalities, self._cones = [sdp.constant], list[int](), list[Any]()
        self._orders, count = [v.n for v in sdp.psd_variables], 0
        # Vectors f of which a block holds K f too, by block.
        self._images = defaultdict[int, list[sp.csr_array]](list)
        self._block = {v.name: k for k, v in enumerate(sdp.psd_variables)}
        for v in sdp.vector_variables:
            self._scalar[v.name], count = count, count + v.size
        self._rows(0, sdp.objective, 1)
        hidden = self._faces()
        for r in sdp.rows:
            if r.label not in hidden:
                first = self._begin(r.label, r.rhs)
                self._rows(first, r.lhs, r.m)
                if r.relation != "==":
                    self._inequalities += range(first, first + r.m)
        for lmi in sdp.lmis:
            if lmi.label in self._arrows:
                self._arrow(lmi)
            else:
                self._limit[lmi.label] = len(self._orders)
                self._orders.append(lmi.order)
                self._matrix_inequality(lmi)
        self.images = {k: sdp.psd_variables[k].n for k in self._images}
        scalars = sdp.vector_variables
        signs = [np.full(v.size, v.nonnegative) for v in scalars]
        bends = [np.zeros(v.size) if v.curvature is None else v.curvature for v in scalars]
        self.lists = as_program(
            maximize=sdp.maximize,
            orders=self._orders,
            right=self._b,
            inequalities=self._inequalities,
            cones=self._cones,
            nonnegative=np.flatnonzero(np.concatenate([np.zeros(0), *signs])),
            curvature=np.concatenate([np.zeros(0), *bends]),
            A=self._A,
            B=self._B,
            null_vectors=self._U,
        )

    def _begin(self, label: str, right: Array) -> int:
        """Rows of a label, of which nothing but the right sides is known yet; the first of them."""
        self._first[label] = first = len(self._b)
        self._b += [float(x) for x in right]
        return first

    def _faces(self) -> set[str]:
        """Write the null vectors that constraints state; the labels of these constraints."""
        hidden = set[str]()
        for v in self.sdp.psd_variables:
            if not is_face_known(self.sdp, v.name):
                continue
            for r in exposing_rows(self.sdp, v.name):
                linear_map = r.lhs[v.name]
                assert isinstance(linear_map, LinearMap)
                null = sp.csc_array(linear_map.null_vectors(r.rhs))
                null.eliminate_zeros()
                self._U += [
                    (self._block[v.name], null.indices[a:b], null.data[a:b])
                    for a, b in pairwise(null.indptr)
                    if a < b
                ]
                hidden.add(r.label)
        return hidden & stated_labels(self.sdp)

    # -- coefficients ---------------------------------------------------------------------------

    def _rows(self, first: int, side: Expression, m: int) -> None:
        """The coefficients of a group of rows, or of the objective."""
        for name, linear_map in side.items():
            forms, weights = weighted_forms(linear_map)
            if forms is not None and _are_long(forms):
                self._forms(first, self._block[name], forms, sp.coo_array(weights))
                continue
            rows, radii = coefficients(linear_map)
            if radii is not None:
                odd = np.flatnonzero(np.diff(radii.indptr))
                rows = self._with_exact(rows, odd, first, name, linear_map)
            self._add(first, name, rows)

    def _forms(self, first: int, k: int, forms: BilinearForms, weights: sp.coo_array) -> None:
        """Weighted sums of products f' K g of long vectors, as entries of a block that has K f."""
        left = [self._image(k, forms.left[[e]]) for e in range(forms.m)]
        is_quadratic = forms.right is forms.left
        right = left if is_quadratic else [self._image(k, forms.right[[e]]) for e in range(forms.m)]
        for row, e, weight in zip(*weights.coords, weights.data.tolist(), strict=True):
            i, j = sorted((left[e], right[e]))
            self._A.add(first + int(row), k, [i], j, weight if i == j else 0.5 * weight)

    def _image(self, k: int, f: sp.csr_array) -> int:
        """One more row of a block, which is K f: (f, -1) is a null vector; its number."""
        f.sum_duplicates()
        f.eliminate_zeros()
        row = self._orders[k]
        self._orders[k] += 1
        self._images[k].append(f)
        self._U.append((k, np.r_[f.indices, row], np.r_[f.data, -1.0]))
        return row

    def _add(self, first: int, name: str, rows: Any, sign: float = 1.0) -> None:
        """Entries of rows on a variable, in the order of its triangle."""
        found = sp.coo_array(rows)
        keep = found.data != 0
        row, column, data = found.row[keep] + first, found.col[keep], sign * found.data[keep]
        if name in self._block:
            i, j = svec_pairs(column)
            self._A.add(row, self._block[name], i, j, np.where(i == j, 1.0, 0.5) * data)
        else:
            self._B.add(row, self._scalar[name] + column, data)

    def _with_exact(
        self, rows: sp.csr_array, odd: Index, first: int, name: str, linear_map: Any
    ) -> sp.csr_array:
        """Write some rows exactly, as sums of doubles; the other rows."""
        count = int(np.diff(rows.indptr)[odd].sum())
        if count > _EXACT:
            raise DataError(
                f"{count} coefficients of {name!r} are products or sums of numbers that you gave, "
                f"and a proof file writes up to {_EXACT} of these, each exactly. Prove a smaller "
                "program, on a sample."
            )
        total: dict[tuple[int, int], Fraction] = {}
        irrational = set[int]()
        for e, i, j, (whole, root) in exact_terms(linear_map, odd.tolist()):
            place = int(svec_index(i, j)) if isinstance(linear_map, LinearMap) else i
            total[e, place] = total.get((e, place), Fraction(0)) + whole
            if root:
                irrational.add(e)
        if irrational:
            self.notes.append(f"{len(irrational)} rows over the square root of two are rounded")
        left = 0
        for (e, place), number in total.items():
            if e in irrational:
                continue
            for _ in range(_DOUBLES):
                part = float(number)
                if not part:
                    break
                row = sp.csr_array(([part], ([0], [place])), shape=(1, rows.shape[1]))
                self._add(first + e, name, row)
                number -= Fraction(part)
            left += number != 0
        if left:
            self.notes.append(f"{left} coefficients of {name!r} are rounded to {_DOUBLES} doubles")
        kept = np.ones(rows.shape[0])
        kept[[e for e in odd.tolist() if e not in irrational]] = 0.0
        return sp.csr_array(sp.diags_array(kept) @ rows)

    def _triangle(self, lmi: Lmi) -> tuple[Array, dict[str, sp.csr_array]]:
        """The constant and the coefficients of the entries of a matrix inequality."""
        i, j = svec_pairs(np.arange(svec_size(lmi.order)))
        constant, radius = lmi.constant.copy(), np.zeros(lmi.constant.size)
        off = i != j
        constant[off], radius[off] = unscaled(constant[off])
        found: dict[str, Rounded] = {k: coefficients_of_triangle(a) for k, a in lmi.lhs.items()}
        if np.any(radius) or any(around is not None for _, around in found.values()):
            self.notes.append(f"numbers of the matrix inequality {lmi.label!r} are rounded")
        return constant, {name: rows for name, (rows, _) in found.items()}

    def _matrix_inequality(self, lmi: Lmi) -> None:
        """A block T, and an equation for each of its entries."""
        constant, sides = self._triangle(lmi)
        first = self._begin(lmi.label, -constant)
        for name, rows in sides.items():
            self._add(first, name, rows)
        i, j = svec_pairs(np.arange(constant.size))
        row = first + np.arange(constant.size)
        self._A.add(row, self._limit[lmi.label], i, j, np.where(i == j, -1.0, -0.5))

    def _arrow(self, lmi: Lmi) -> None:
        """A second-order cone (a + t, a - t, 2 v), whose coefficients are given one by one."""
        constant, sides = self._triangle(lmi)
        fold = head_and_neck(lmi.order)
        first = self._begin(lmi.label, fold @ constant)
        self._cones.append((SECOND_ORDER, np.arange(first, len(self._b))))
        by_row = sp.coo_array(fold)
        for name, rows in sides.items():
            for row, entry, factor in zip(by_row.row, by_row.col, by_row.data, strict=True):
                self._add(first + int(row), name, rows[[entry]], -float(factor))

    # -- points and multipliers -----------------------------------------------------------------

    def multipliers(self, duals: Mapping[str, Array], objective: float) -> Array:
        """Multipliers as those of the file; zero where none are known."""
        y = np.zeros(len(self._b))
        y[0] = objective
        for r in self.sdp.rows:
            if r.label in self._first and r.label in duals:
                first = self._first[r.label]
                y[first : first + r.m] = np.nan_to_num(duals[r.label])
        for lmi in self.sdp.lmis:
            if lmi.label not in duals:
                continue
            first, Z = self._first[lmi.label], np.nan_to_num(np.asarray(duals[lmi.label]))
            if lmi.label in self._arrows:
                part = of_arrow(Z)
            else:
                i, j = svec_pairs(np.arange(lmi.constant.size))
                part = -Z[i, j] * np.where(i == j, 1.0, 2.0)
            y[first : first + part.size] = part
        return cleaned(y)

    def exact_multipliers(
        self, given: Sequence[tuple[str, int, Fraction]]
    ) -> dict[int, Fraction] | None:
        """Multipliers of a step of facial reduction; None where it uses rows that are not there."""
        found: dict[int, Fraction] = {}
        for label, e, weight in given:
            if label not in self._first or label in self._arrows:
                return None
            # Those of matrix inequalities count with a minus, and off the diagonal twice.
            row = self._first[label] + e
            found[row] = found.get(row, Fraction(0)) + (-weight if label in self._limit else weight)
        return {row: weight for row, weight in found.items() if weight}

    def _proved(self, claim: str, *, points: bool) -> list[Mapping[str, Any]]:
        form = standard(self.sdp) if is_small(self.sdp) else None
        if form is None or claim not in form.flat.behind:
            return []
        exposing, at = form.flat.behind[claim]
        return [form.values(x) if points else form.duals(x) for x in (*exposing, at)]

    def matrices(self, values: Mapping[str, Value], *, ray: bool = False) -> Matrices:
        """A point, or a direction, as matrices and scalars of the file."""
        matrices, z = list[Value](), np.zeros(len(self.lists["q"]))
        for k, v in enumerate(self.sdp.psd_variables):
            matrices.append(_with_images(values[v.name], self._images[k]))
        for scalars in self.sdp.vector_variables:
            first = self._scalar[scalars.name]
            z[first : first + scalars.size] = as_dense(values[scalars.name])
        for lmi in self.sdp.lmis:
            if lmi.label not in self._arrows:
                T = self.sdp.lmi_value(lmi, values)
                matrices.append(T - smat(lmi.constant) if ray else T)
        return Matrices(matrices, z)


def _with_images(X: Value, vectors: Sequence[sp.csr_array]) -> Value:
    """A matrix with rows that are its products with some vectors."""
    if not vectors:
        return X
    if isinstance(X, Factor):
        return Factor(np.vstack([X.factor, *(f @ X.factor for f in vectors)]))
    dense = as_dense(X)
    B = sp.vstack([sp.eye_array(dense.shape[0]), *vectors], format="csr")
    return np.asarray(B @ (B @ dense).T)


def _are_long(forms: BilinearForms) -> bool:
    products = np.diff(forms.left.indptr) * np.diff(forms.right.indptr)
    return bool(np.all(products > _LONG))


def weighted_forms(linear_map: Any) -> tuple[BilinearForms | None, Any]:
    """The products f' K g that the rows of a map are sums of, and their weights; or none."""
    forms = linear_map.inner if isinstance(linear_map, Combined) else linear_map
    if not isinstance(forms, BilinearForms):
        return None, None
    weights = linear_map.weights if isinstance(linear_map, Combined) else sp.eye_array(forms.m)
    return forms, weights


def forms_of(point: Matrices, P: Program, *, ray: bool = False) -> Iterator[Witness]:
    """A point, or a direction, in the lists of a file, in forms that are to be tried in turn.

    Blocks that equations define are their slack, dense matrices are given by their entries, and
    others as factors; and where that is not proved, more of them are factors.
    """
    done = list[Witness]()
    for slack, units in ((True, "of the block"), (True, "of each row"), (True, ""), (False, "")):
        w = _form(point, P, slack=slack, units="" if ray else units)
        if not any(_is_same(w, other) for other in done):
            done.append(w)
            yield w


def _is_same(one: Witness, other: Witness) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in ("rank", "unit"))


def _form(point: Matrices, P: Program, *, slack: bool, units: str) -> Witness:
    """The point with some blocks as slack and, where they have such units, by their entries."""
    z, free = point.scalars, P.equation & ~P.dropped
    ranks, numbers, moves = list[int](), [np.zeros(0)], list[Array]()
    for k, (X, vectors) in enumerate(zip(point.blocks, P.U, strict=True)):
        U = as_columns(vectors, int(P.n[k]))
        rows = _own_rows(P, k) if slack else None
        if rows is not None and np.all(free[rows]):
            free[rows] = False
            ranks.append(SLACK)
        elif units and not isinstance(X, Factor) and U.shape[1] <= 1:
            ranks.append(BY_ENTRIES)
            numbers.append(as_dense(X)[np.triu_indices(U.shape[0])])
            lengths = np.sqrt(np.maximum(as_dense(X).diagonal(), 0.0))
            moves.append(_units_of_rows(lengths, 1.0 if units == "of the block" else 0.0))
        else:
            R = _onto_face(X.factor if isinstance(X, Factor) else factor_of(as_dense(X)), U)
            ranks.append(R.shape[1])
            numbers.append(R.ravel())
            moves.append(_units_of_rows(np.linalg.norm(R, axis=1), _SMALL_UNIT))
    z = np.where(P.fixed, 0.0, np.where(P.sign, np.maximum(z, 0.0), z))
    return {
        "rank": np.array(ranks, dtype=np.int64),
        "R": cleaned(np.concatenate(numbers)),
        "z": cleaned(z),
        "unit": np.concatenate([*moves, units_of(P, z)]),
    }


def _units_of_rows(lengths: Array, least: float) -> Array:
    """Units next to the lengths of rows, or to a share of the longest; rows of zeros stay."""
    c = power_of_two(np.maximum(lengths, least * lengths.max(initial=0.0)))
    return cleaned(np.where(lengths > 0.0, c, 0.0))


def _own_rows(P: Program, k: int) -> Index | None:
    """The equations that define a block, if it can be their slack."""
    try:
        rows: Index = own_rows(P, k)[0]
    except NotProvedError:
        return None
    return rows


def with_scalars(P: Program, w: Witness, z: Array) -> Witness:
    """The point with other scalars, and units of these."""
    return {**w, "z": z, "unit": np.r_[w["unit"][: w["unit"].size - P.p], units_of(P, z)]}


def units_of(P: Program, z: Array) -> Array:
    """Units in which scalars move: next to their sizes, or half of that where they have a sign."""
    size = np.abs(z)
    largest = float(size.max(initial=0.0)) or 1.0
    signed = np.where(z > 2.0 * SMALLEST, 0.5 * power_of_two(size), 0.0)
    free = power_of_two(np.maximum(size, _SMALL_UNIT * largest))
    return cleaned(np.where(P.fixed, 0.0, np.where(P.sign, signed, free)))


def cleaned(x: Array) -> Array:
    """Numbers with those that are too small for a file as zero."""
    return np.where(np.abs(x) > 2.0 * SMALLEST, x, 0.0)


def factor_of(X: Array) -> Array:
    """R with X = R R' up to rounding, of a symmetric matrix that is nearly semidefinite.

    Examples
    --------
    >>> R = factor_of(np.ones((2, 2)))
    >>> R.shape, bool(np.allclose(R @ R.T, 1.0))
    ((2, 1), True)
    """
    # In units of its own, a matrix may be far from singular, and in others of rank one to rounding.
    units = near_powers(np.sqrt(np.maximum(X.diagonal(), SMALLEST)))
    with suppress(np.linalg.LinAlgError):
        L = np.linalg.cholesky((X + X.T) / (2.0 * units[:, None] * units))
        if np.all(L.diagonal() > _REGULAR):
            return np.asarray(units[:, None] * L)
    values, Q = np.linalg.eigh((X + X.T) / 2.0)
    keep = values > _ROUNDED * max(float(values.max(initial=0.0)), SMALLEST)
    return np.asarray(Q[:, keep] * np.sqrt(values[keep]))


def _onto_face(R: Array, U: Any) -> Array:
    """A factor of few columns, orthogonal to null vectors."""
    if R.shape[1] > R.shape[0]:
        R = np.asarray(np.linalg.qr(R.T, mode="r")).T
    if R.shape[1] > 1:
        values, Q = np.linalg.eigh(R.T @ R)
        keep = values > _NARROWED * max(float(values.max()), SMALLEST)
        R = R if np.all(keep) else R @ Q[:, keep]
    if U.shape[1]:
        q = np.linalg.qr(U.toarray())[0]
        for _ in range(2):
            R = R - q @ (q.T @ R)
    return np.asarray(R)
