"""Conversion of a conic program to the standard form, and the way back to its columns and rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, rows_as_they_are
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import SQRT2, order_of, svec_pairs
from sdpdr.model.conic.absolute_values import absolute_values
from sdpdr.model.conic.alike import alike
from sdpdr.model.conic.blocks import with_blocks
from sdpdr.model.conic.cones import DISC, Arrows, arrow, disc, merged, merging_weights
from sdpdr.model.conic.defined import defined
from sdpdr.model.conic.labels import joint_label, stem
from sdpdr.model.conic.pieces import Piece, Pieces, halves
from sdpdr.model.conic.program import SQUARES, ConeRows, ConicProgram, Kind, taken
from sdpdr.model.conic.squared_norms import squared_norms
from sdpdr.model.conic.step import Step, steps_of
from sdpdr.model.conic.unused import unused
from sdpdr.model.labels import Labels
from sdpdr.program.point import Value, VectorVariable
from sdpdr.program.rows import Lmi, Relation, Rows
from sdpdr.program.sdp import SDP

Maps: TypeAlias = "dict[str, LinearMap | VectorMap]"
Multipliers: TypeAlias = Callable[[Mapping[str, Array]], Array]

_RELATIONS: dict[Kind, Relation] = {"zero": "==", "nonnegative": "<="}


# In this order: `defined` eliminates what `squared_norms` adds, and `alike` expects no squares.
_FINDERS = (unused, squared_norms, defined, alike, absolute_values)


@dataclass(frozen=True, eq=False)
class Reading:
    """A conic program in the standard form, and the way back.

    Attributes
    ----------
    program : ConicProgram
    sdp : SDP
    pieces : Pieces
    ways : list of (rows, function of multipliers)
        Functions that give the multipliers of rows from those of the standard form.
    linear : dict from label to rows
        The rows of equations and inequalities.
    steps : tuple of Step
        The steps from `program` to the converted program.
    merge : sparse array, optional
        The squared expressions of the standard form as combinations of those of the converted
        program.
    squares : str
        The name of these expressions, and the label of their rows.
    """

    program: ConicProgram
    sdp: SDP
    pieces: Pieces
    ways: list[tuple[Index, Multipliers]]
    linear: dict[str, Index]
    steps: tuple[Step, ...] = ()
    merge: sp.csr_array | None = None
    squares: str = SQUARES

    @property
    def n_rows(self) -> int:
        """Number of rows of the conic program."""
        return int(self.program.rhs.size)

    def has_multipliers(self, duals: Mapping[str, Array]) -> bool:
        """Whether all rows of the standard form have multipliers."""
        return self.sdp.is_dual_point(duals)

    def report(self, value: float) -> float:
        """A value of the minimisation in the sense of the user, and the other way round."""
        return self.sdp.report(value)

    def primal(self, values: Mapping[str, Value]) -> Array:
        """Columns x at a point of the standard form."""
        x = np.zeros(self.pieces.program.cost.size)
        for piece in self.pieces:
            x[piece.place] = piece.columns(values[piece.variable.name])
        for step in reversed(self.steps):
            x = step.primal(x)
        return x

    def dual(self, duals: Mapping[str, Array]) -> Array:
        """Multipliers z of all rows at multipliers of the standard form's minimisation."""
        program, squares = self.pieces.program, np.zeros(0)
        if self.merge is not None:
            squares = self.merge.T @ duals[self.squares]
        z = np.zeros(program.rhs.size)
        for rows, way in self.ways:
            z[rows] = way(duals)
        # Multipliers of rows that became signs or cones of variables follow from all other ones.
        slack = program.dual_slack(z, squares)
        rows, columns, entries = self.pieces.signs
        z[rows] = slack[columns] / -entries
        for piece in self.pieces:
            if piece.cone is not None:
                for place in piece.cone.entries():
                    z[place[piece.inside]] = slack[piece.place] * piece.units
        for step in reversed(self.steps):
            z = step.dual(z, squares)
        return z

    def multipliers(self, z: Array) -> dict[str, Array]:
        """Multipliers of linear rows and matrices from those z of all rows.

        Those of other rows, and those that are nan in z, are missing.
        """
        if self.steps:
            return {}
        found = {label: z[rows] for label, rows in self.linear.items()}
        orders = {lmi.label: lmi.order for lmi in self.sdp.lmis}
        for cone in self.program.cones:
            if cone.kind == "psd" and orders.get(cone.label) == cone.order:
                y = z[cone.rows].reshape(cone.order, cone.order, order="F")
                found[cone.label] = (y + y.T) / 2.0
        return {label: y for label, y in found.items() if not np.any(np.isnan(y))}

    def beyond(self, z: Array, tol: float) -> Index:
        """Rows of the cones whose dual does not contain the multipliers z, up to a relative tol.

        If some multipliers of a cone are nan, all of its rows are returned.

        Examples
        --------
        >>> from sdpdr.model.conic.program import Columns, ConicProgram
        >>> limits = ConeRows("nonnegative", "a", np.arange(2))
        >>> cones = [limits, ConeRows("zero", "b", np.arange(2, 3))]
        >>> columns = [Columns("x", np.arange(1))]
        >>> matrix = sp.csr_array(np.ones((3, 1)))
        >>> reading = read_conic(ConicProgram(np.ones(1), 0.0, matrix, np.ones(3), cones, columns))
        >>> reading.beyond(np.array([1.0, -1.0, -1.0]), 1e-6)
        array([1])
        """
        allowed = tol * max(1.0, float(np.max(np.abs(z[~np.isnan(z)]), initial=0.0)))
        rows = [(cone.rows, _outside(cone.kind, z[cone.rows])) for cone in self.program.cones]
        return np.concatenate([np.arange(0), *(place[far > allowed] for place, far in rows)])


def _outside(kind: Kind, z: Array) -> Array:
    """Distance of multipliers outside the dual of a cone: one each, or one for all together."""
    if kind == "zero":
        return np.zeros(z.size)
    if kind == "nonnegative":
        return -z
    if np.isnan(z).any():
        return np.full(z.size, np.inf)
    if kind == "second-order":
        return np.full(z.size, np.linalg.norm(z[1:]) - z[0])
    order = round(np.sqrt(z.size))
    return np.full(z.size, -np.linalg.eigvalsh(z.reshape(order, order))[0])


def read_conic(program: ConicProgram) -> Reading:
    """A conic program in the standard form.

    Parameters
    ----------
    program : ConicProgram

    Returns
    -------
    Reading

    Examples
    --------
    The largest eigenvalue of A, as the least t for which t I - A is positive semidefinite:

    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from sdpdr.model.conic.program import Columns, ConeRows, ConicProgram
    >>> program = ConicProgram(
    ...     cost=np.ones(1),
    ...     constant=0.0,
    ...     matrix=sp.csr_array([[-1.0], [0.0], [0.0], [-1.0]]),
    ...     rhs=np.array([0.0, -1.0, -1.0, 0.0]),
    ...     cones=[ConeRows("psd", "above", np.arange(4))],
    ...     columns=[Columns("t", np.arange(1))],
    ... )
    >>> read_conic(program).sdp
    SDP(unnamed; matrices [], 1 scalars, 0 rows, 1 matrix inequalities)
    """
    program = with_blocks(program)
    steps = steps_of(program, _FINDERS)
    reading = _Reader(program, steps[-1].program if steps else program).reading()
    return replace(reading, steps=steps)


@dataclass(frozen=True, eq=False)
class _Matrix:
    """A matrix inequality: ``weights`` times the slack of some rows, plus more terms."""

    label: str
    order: int
    weights: sp.csr_array
    rows: Index
    more: Maps


@dataclass(eq=False)
class _Reader:
    """The standard form under construction."""

    given: ConicProgram
    program: ConicProgram
    rows: list[Rows] = field(default_factory=list)
    matrices: list[_Matrix] = field(default_factory=list)
    ways: list[tuple[Index, Multipliers]] = field(default_factory=list)
    scalars: list[VectorVariable] = field(default_factory=list)
    linear: dict[str, Index] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pieces = Pieces(self.program)
        self.shift = self.pieces.shift()
        self.rhs = self.program.rhs
        if self.shift.any():
            self.rhs = self.rhs - self.program.matrix @ self.shift
        # The user may have given a name that is made of another one here.
        known = (piece.variable.name for piece in self.pieces)
        self.names = Labels([*known, *(cone.label for cone in self.program.cones)])
        self.squares = self.names.take(SQUARES)
        self.is_said = np.zeros(self.rhs.size, dtype=bool)
        self.is_said[self.pieces.signs[0]] = True

    def reading(self) -> Reading:
        """The finished conversion."""
        constant, merge = self.program.constant + float(self.program.cost @ self.shift), None
        if self.program.root is not None:
            merge, more = self._squares(self.program.root)
            constant += more
        claimed = {piece.cone for piece in self.pieces if piece.cone is not None}
        joined = self._joined()
        for cone in self.program.cones:
            if cone in joined:
                self._linear(*joined[cone])
            elif cone not in claimed and cone.kind not in _RELATIONS:
                self._read(cone)
        for piece in self.pieces:
            if piece.cone is not None and piece.prescribed[0].size:
                self._constants(piece, piece.cone)
        sdp = SDP(
            variables=(*(piece.variable for piece in self.pieces), *self.scalars),
            objective=self._objective(),
            rows=tuple(self.rows),
            lmis=tuple(self._inequalities()),
            constant=constant,
            maximize=self.program.maximize,
            name=self.program.name,
        )
        squares = self.squares
        return Reading(
            self.given, sdp, self.pieces, self.ways, self.linear, merge=merge, squares=squares
        )

    def _constants(self, piece: Piece, cone: ConeRows) -> None:
        """Add the constants in a matrix variable, as equations."""
        lhs, values = piece.constants()
        label, (places, _) = self.names.take(f"{cone.label}.constants"), piece.prescribed
        self.rows.append(Rows(label, "==", {piece.variable.name: lhs}, values))
        for place in cone.entries():
            self.ways.append((place[places], lambda duals: duals[label] * halves(places)))

    def _objective(self) -> Maps:
        """The linear objective."""
        costs = np.flatnonzero(self.program.cost)
        row = (self.program.cost[costs], costs, np.array([0, costs.size]))
        return self.pieces.maps(rows_as_they_are(*row, (1, self.program.cost.size)))

    def _squares(self, root: sp.csr_array) -> tuple[sp.csr_array, float]:
        """Add a vector of scalars that equals R x, with half the sum of its squares as cost.

        An expression that is squared twice is squared once, with twice the weight. Returns how they
        were merged, and the cost of expressions without unknowns.
        """
        known = self.program.root_shift
        shift = root @ self.shift + (0.0 if known is None else known)
        alone = np.diff(root.indptr) == 0
        merge = merging_weights(root, np.where(alone, 0.0, shift))
        size, lhs = merge.shape[0], self.pieces.maps(sp.csr_array(merge @ root))
        lhs[self.squares] = VectorMap(-sp.eye_array(size, format="csr"))
        self.scalars.append(VectorVariable(self.squares, size, curvature=np.ones(size)))
        self.rows.append(Rows(self.squares, "==", lhs, -(merge @ shift)))
        return merge, 0.5 * float(shift[alone] @ shift[alone])

    def _read(self, cone: ConeRows) -> None:
        """Add the matrix inequality of a matrix, or what describes a second-order cone."""
        if cone.kind == "psd":
            self._matrix(cone)
        else:
            self._second_order(cone)

    def _speaking(self, rows: Index, relation: Relation) -> Index:
        """The rows that neither hold anyway nor are replaced by the sign of a variable."""
        rhs = self.rhs[rows]
        holds = rhs == 0.0 if relation == "==" else rhs >= 0.0
        empty = np.diff(self.program.matrix.indptr)[rows] == 0
        return rows[~(empty & holds) & ~self.is_said[rows]]

    def _joined(self) -> dict[ConeRows, tuple[str, Relation, Index]]:
        """Label, relation and rows of each group of equations or inequalities, by its first member.

        Constraints that were written one by one, in a loop for instance, are one group if their
        rows have one pattern and their labels differ in numbers only.
        """
        families: dict[tuple[Kind, str], list[tuple[ConeRows, Index]]] = {}
        for cone in self.program.cones:
            if cone.kind in _RELATIONS:
                rows = self._speaking(cone.rows, _RELATIONS[cone.kind])
                if rows.size:
                    families.setdefault((cone.kind, stem(cone.label)), []).append((cone, rows))
        found = {}
        for (kind, _), members in families.items():
            for group in self._alike(members):
                own = [cone.label for cone, _ in group]
                label = own[0] if len(own) == 1 else self.names.take(joint_label(own))
                every = np.concatenate([rows for _, rows in group])
                found[group[0][0]] = label, _RELATIONS[kind], every
        return found

    def _alike(
        self, members: list[tuple[ConeRows, Index]]
    ) -> Iterable[list[tuple[ConeRows, Index]]]:
        """The members in groups of one pattern; those with several patterns stay alone."""
        if len(members) == 1:
            return [members]
        every = np.concatenate([rows for _, rows in members])
        patterns = self.pieces.patterns(taken(self.program.matrix, every))
        groups: dict[Hashable, list[tuple[ConeRows, Index]]] = {}
        end = 0
        for cone, rows in members:
            begin, end = end, end + rows.size
            own = set(patterns[begin:end])
            groups.setdefault(own.pop() if len(own) == 1 else cone, []).append((cone, rows))
        return groups.values()

    def _linear(self, label: str, relation: Relation, rows: Index) -> None:
        """Add equations or inequalities."""
        lhs = self.pieces.maps(taken(self.program.matrix, rows))
        self.rows.append(Rows(label, relation, lhs, self.rhs[rows]))
        self.ways.append((rows, lambda duals: duals[label]))
        self.linear[label] = rows

    def _matrix(self, cone: ConeRows) -> None:
        """Add a matrix inequality."""
        weights = _symmetric_part(cone.order)
        self.matrices.append(_Matrix(cone.label, cone.order, weights, cone.rows, {}))
        share = _as_complex if self._is_complex(cone) else np.asarray
        self.ways.append((cone.rows, lambda duals: share(duals[cone.label]).ravel(order="F")))

    def _is_complex(self, cone: ConeRows) -> bool:
        """Whether a matrix is [[A, -B], [B, A]], which is how cvxpy writes a Hermitian A + iB."""
        place = cone.rows.reshape(cone.order, cone.order).T
        if cone.order % 2:
            return False
        a, c, b, d = (half for rows in np.split(place, 2) for half in np.split(rows, 2, axis=1))
        return self._vanish(a, d, -1.0) and self._vanish(b, c, 1.0)

    def _vanish(self, one: Index, other: Index, sign: float) -> bool:
        """Whether rows plus or minus other rows are zero."""
        a, b = one.ravel(), other.ravel()
        if np.any(self.program.rhs[a] + sign * self.program.rhs[b]):
            return False
        left, right = taken(self.program.matrix, a), taken(self.program.matrix, b)
        return (
            np.array_equal(left.indptr, right.indptr)
            and np.array_equal(left.indices, right.indices)
            and not np.any(left.data + sign * right.data)
        )

    def _inequalities(self) -> list[Lmi]:
        """All matrix inequalities, by one product: one for each of many small ones takes longer."""
        given = self.matrices
        if not given:
            return []
        sizes = [one.weights.shape[0] for one in given]
        counts = np.concatenate([[0], *(np.diff(one.weights.indptr) for one in given)])
        column = np.concatenate([one.rows[one.weights.indices] for one in given])
        data = np.concatenate([one.weights.data for one in given])
        shape = (sum(sizes), self.program.rhs.size)
        weights = rows_as_they_are(data, column, np.cumsum(counts), shape)
        constant = weights @ self.rhs
        left = sp.csr_array(weights @ self.program.matrix)
        np.negative(left.data, out=left.data)
        parts = self.pieces.parts(left)
        found, start = [], 0
        for one, size in zip(given, sizes, strict=True):
            rows = np.arange(start, start + size)
            own = ((piece, taken(part, rows)) for piece, part in parts)
            lhs = {piece.variable.name: piece.map(part) for piece, part in own if part.nnz}
            found.append(Lmi(one.label, one.order, lhs | one.more, constant[rows]))
            start += size
        return found

    def _second_order(self, cone: ConeRows) -> None:
        """Add a second-order cone as rows, a matrix of order 2, or arrows."""
        merge = merged(self.program.matrix, self.program.rhs, cone.rows)
        size = cone.rows.size if merge is None else merge.shape[0]
        if size <= 2:
            way = self._interval(cone, size, merge)
        elif size == 3:
            self._matrix_of(cone, cone.label, DISC, merge)
            way = partial(_disc_of, cone.label)
        else:
            way = self._arrows(cone, Arrows(cone.label, size, self.names.take), merge)
        self.ways.append((cone.rows, way if merge is None else lambda duals: merge.T @ way(duals)))

    def _matrix_of(
        self,
        cone: ConeRows,
        label: str,
        weights: sp.csr_array,
        merge: sp.csr_array | None,
        more: Maps | None = None,
    ) -> None:
        """Add a matrix of the slack of a cone's rows, after merging them, plus more terms."""
        order = order_of(weights.shape[0])
        weights = weights if merge is None else weights @ merge
        self.matrices.append(_Matrix(label, order, weights, cone.rows, more or {}))

    def _interval(self, cone: ConeRows, size: int, merge: sp.csr_array | None) -> Multipliers:
        """``|v| <= t`` as two rows, or ``0 <= t`` if v is empty."""
        signs = sp.csr_array([[1.0, 1.0], [1.0, -1.0]] if size == 2 else [[1.0]])
        weights = signs if merge is None else signs @ merge
        lhs = self.pieces.maps(sp.csr_array(weights @ taken(self.program.matrix, cone.rows)))
        self.rows.append(Rows(cone.label, "<=", lhs, weights @ self.rhs[cone.rows]))
        return lambda duals: signs.T @ duals[cone.label]

    def _arrows(self, cone: ConeRows, arrows: Arrows, merge: sp.csr_array | None) -> Multipliers:
        """Add a second-order cone as one arrow, or as several with a scalar each."""
        count = len(arrows.parts)
        if count == 1:
            self._matrix_of(cone, arrows.label, arrow(arrows.size), merge)
            return arrows.dual
        self.scalars.append(VectorVariable(arrows.scalars, count))
        total = self.pieces.maps(taken(self.program.matrix, cone.rows[:1]))
        total[arrows.scalars] = VectorMap(np.ones((1, count)))
        self.rows.append(Rows(arrows.label, "<=", total, self.rhs[cone.rows[:1]]))
        for i, place in enumerate(arrows.parts):
            body, at = arrow(place.size + 1, headless=True), np.concatenate([[0], place])
            entries = (body.data, at[body.indices], body.indptr)
            weights = sp.csr_array(entries, shape=(body.shape[0], arrows.size))
            starts = np.minimum(np.arange(weights.shape[0] + 1), 1)
            head = sp.csr_array((np.ones(1), np.array([i]), starts), shape=(starts.size - 1, count))
            more: Maps = {arrows.scalars: VectorMap(head)}
            self._matrix_of(cone, arrows.names[i], weights, merge, more)
        return arrows.dual


def _as_complex(multiplier: Array) -> Array:
    """The projection of a multiplier M to matrices [[A, -B], [B, A]]: its mean with J M J^T.

    Inner products with matrices of this form do not change.

    Examples
    --------
    >>> _as_complex(np.array([[2.0, 1.0], [1.0, 4.0]]))
    array([[3., 0.],
           [0., 3.]])
    """
    turned = np.roll(multiplier, len(multiplier) // 2, axis=(0, 1))
    half = len(multiplier) // 2
    signs = np.repeat([1.0, -1.0], half)
    return np.asarray((multiplier + signs[:, None] * turned * signs) / 2.0)


def _disc_of(label: str, duals: Mapping[str, Array]) -> Array:
    """The multiplier of a cone of size 3."""
    return disc(duals[label])


@lru_cache(maxsize=8)
def _symmetric_part(order: int) -> sp.csr_array:
    """Sparse matrix that maps a matrix, column by column, to ``svec`` of its symmetric part."""
    place = np.arange(order * (order + 1) // 2)
    i, j = svec_pairs(place)
    weight = np.where(i == j, 0.5, SQRT2 / 2.0)
    entries = (
        np.concatenate([weight, weight]),
        (np.concatenate([place, place]), np.concatenate([j * order + i, i * order + j])),
    )
    return sp.csr_array(entries, shape=(place.size, order * order))
