"""Check proof files of semidefinite programs: ``python check_proof.py FILE...``.

The page "Proof files" (``docs/guide/proof_files.rst``) says what a file holds and why its parts
prove what it claims; the words and the order here are those of that page. Exit codes: 0 if every
claim of every file is proved, 1 if some claim is not, 2 if some file is no proof file.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

SECOND_ORDER, EXPONENTIAL, POWER = "second-order", "exponential", "power"
# Errors that Python raises for a file that is damaged, or not as the page says.
DAMAGED: tuple[type[Exception], ...]
DAMAGED = (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError)
DAMAGED += (ArithmeticError, MemoryError, RecursionError)
CLAIMS = ("value", "bound", "infeasible", "unbounded")
# The unit roundoff of doubles. Bounds on rounding errors are themselves rounded: UP and TINY are a
# relative and an absolute margin for that.
UNIT, UP, TINY = 2.0**-53, 1.0 + 1e-9, 1e-290
# Nonzero numbers of a file lie between these, so that products of several do not overflow.
SMALLEST, LARGEST = 1e-50, 1e50
# Every number of a file is a whole multiple of 2^-220, and a product of three is one of 2^-660, in
# which residuals are computed exactly.
DIGITS, ONE = 220, 2**660
# A nonzero residual counts as at least this, so that its products with units do not underflow.
LEAST_MISS = 1e-60
# The least radius of a point that is to lie inside of a cone: the ball around it is in the cone.
INSIDE = 1e-45
# "Ranks" that stand for a block that is the slack of its own equations, and for one given by its
# entries.
SLACK, BY_ENTRIES = -1, -2
# Options of the factorization, which keeps the rows in the order given.
SYMMETRIC: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
# Limits, so that no file takes minutes. BYTES: of a file, unpacked. ORDERS: the sum of the orders
# of matrices. BLOCKS: matrices, and cones with logarithms. PARTS: cones, and null vectors. SLOPES:
# entries of a Jacobian. PAIRS: products of two of these. PRODUCTS: of all exact steps, for which
# each step and each vector counts as EACH more. MOST: entries of a dual program with all unknowns.
BYTES, ORDERS, BLOCKS, PARTS = 2**30, 10_000_000, 10_000, 100_000
SLOPES, PAIRS, PRODUCTS, EACH, MOST = 30_000_000, 300_000_000, 10_000_000, 100, 200_000


class NoProofFileError(Exception):
    """What is wrong with a file that is no proof file."""


class NotProvedError(Exception):
    """Which claim is not proved, and why."""


def need(holds: Any, why: str) -> None:
    """Raise an error unless a condition of a proof holds."""
    if not holds:
        raise NotProvedError(why)


def require(holds: Any, why: str) -> None:
    """Raise an error unless a file is as the page says."""
    if not holds:
        raise NoProofFileError(why)


# -- the file -------------------------------------------------------------------------------------


def read(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The program and the proof of a file, and in the latter the hash of the program."""
    with gzip.open(path) as file:
        text = file.read(BYTES + 1)
    require(len(text) <= BYTES, "it is too large")
    line, rest = text.split(b"\n", 1)
    program, proof = (json.loads(x, object_pairs_hook=_once) for x in (line, rest))
    is_known = (proof["format"], repr(proof["version"])) == ("sdp-proof", "6")
    require(is_known, "it is of another format, or of another version of it")
    is_hash = proof["program"] == hashlib.sha256(line).hexdigest()
    require(is_hash, "the hash is not that of its program")
    require(proof["claims"], "it claims nothing")
    for claim, number in proof["claims"].items():
        require(claim in CLAIMS, f"the claim {claim!r} is unknown")
        is_number = isinstance(number, float) and math.isfinite(number)
        is_right = is_number if claim in ("value", "bound") else number is True
        require(is_right, f"the claim {claim!r} cannot be {number!r}")
    return program, proof


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    require(len(dict(pairs)) == len(pairs), "an object has a key twice")
    return dict(pairs)


def integers(given: Any, top: int, least: int = 0) -> Any:
    """A list of integers as an array, from the least on and below the top."""
    require(set(map(type, given)) <= {int, np.int64}, "a list is to be one of integers")
    require(all(least <= x < top for x in given), "an integer is out of range")
    return np.array(given, np.int64)


def doubles(given: Any) -> Any:
    """A list of numbers as an array of doubles of usual sizes."""
    require(set(map(type, given)) <= {int, float, np.float64}, "a list is to be one of numbers")
    x = np.array(given, np.float64)
    require(x.tolist() == list(given), "a number is no double")
    usual = (x == 0.0) | ((abs(x) > SMALLEST) & (abs(x) < LARGEST))
    require(np.all(usual), "a number is beyond 1e-50 and 1e50")
    return x


def _coefficients(given: Any, *tops: int) -> list[Any]:
    """Lists of indices, each below its limit, and the list of coefficients."""
    *places, numbers = given
    found = [*(integers(x, top) for x, top in zip(places, tops, strict=True)), doubles(numbers)]
    require(len({len(x) for x in found}) == 1, "lists of coefficients differ in length")
    return found


# -- the program ----------------------------------------------------------------------------------


class Program:
    """The program of a file, with the faces found so far; or the dual of one.

    Its rows are b - M v of the entries of matrices that some row uses, and of scalars.

    Attributes
    ----------
    row, column, value : arrays
        Coefficients of M, sorted by columns; those of entries off the diagonal count twice.
    k, i, j : arrays of int
        Block, row and column of the matrix entries, which are the first columns of M.
    equation, inequality, sign : arrays of bool
        Rows that are equations or inequalities, and nonnegative scalars. Faces turn inequalities
        into equations.
    fixed, dropped : arrays of bool
        Scalars that are proved to vanish, and equations that follow from others.
    U : list of lists
        Null vectors of each block, as indices and entries there.
    rays : dict from cone to array of integers
        Second-order cones whose points are multiples of this vector.
    beside : list of lists
        Vectors on whose complement slack matrices of a dual program have to be semidefinite.
    is_dual : bool
        Whether rows are to be in the duals of their cones.
    """

    def __init__(self, n: Any, b: Any, q: Any, A: Sequence[Any], B: Sequence[Any]) -> None:
        self.n, self.b, self.q, self.sense = n, b, q, 1
        self.K, self.m, self.p = len(n), len(b) - 1, len(q)
        self.U: list[list[tuple[Any, Any]]] = [[] for _ in n]
        self.beside, self.is_dual = self.U, False
        self.rays: dict[int, Any] = {}
        self.work = 0
        row, k, i, j, v = A
        self.first = np.cumsum(np.r_[0, n * n])
        place = self.place_of(k, i, j)
        self.place, at, column = np.unique(place, return_index=True, return_inverse=True)
        self.k, self.i, self.j, self.E = k[at], i[at], j[at], len(at)
        row, column = np.r_[row, B[0]], np.r_[column, self.E + B[1]]
        value = np.r_[np.where(i == j, 1.0, 2.0) * v, B[2]]
        order = np.argsort(column, kind="stable")
        self.row, self.column, self.value = row[order], column[order], value[order]
        self.whole = whole(self.value)
        self._by_row = np.argsort(self.row, kind="stable")
        self._begins = np.searchsorted(self.row[self._by_row], np.arange(self.m + 2))
        self.inequality, self.dropped = np.zeros(self.m + 1, bool), np.zeros(self.m + 1, bool)
        self.equation = np.arange(self.m + 1) > 0
        self.sign, self.fixed = np.zeros(self.p, bool), np.zeros(self.p, bool)
        self.set_cones([])

    def place_of(self, k: Any, i: Any, j: Any) -> Any:
        """A number that stands for an entry on or above the diagonal of a block."""
        return self.first[k] + np.minimum(i, j) * self.n[k] + np.maximum(i, j)

    def set_cones(self, cones: Sequence[tuple[str, Any, Any]]) -> None:
        """Let rows be in cones, each a kind, an exponent and rows."""
        self.cones = cones
        self.cone_of = {i: c for c, (_, _, at) in enumerate(cones) for i in at.tolist()}
        self.equation[list(self.cone_of)] = False

    def of_row(self, i: int) -> Any:
        """Which coefficients are those of a row."""
        return self._by_row[self._begins[i] : self._begins[i + 1]]

    def columns(self, k: int) -> tuple[int, int]:
        """The first column of the entries of a block, and the first one after them."""
        first, last = np.searchsorted(self.k, [k, k + 1])
        return int(first), int(last)

    def add_null_vector(self, k: int, i: Any, v: Any) -> None:
        """Let X_k u be zero for a vector with entries v at i."""
        require(len(np.unique(i)) == len(i) and np.all(v != 0), "a null vector, twice or with zero")
        self.U[k].append((i, v))


def as_columns(vectors: Sequence[tuple[Any, Any]], n: int) -> Any:
    """Null vectors as the columns of a sparse array."""
    i, v = map(np.concatenate, zip((np.zeros(0, int), np.zeros(0)), *vectors, strict=True))
    ends = np.cumsum([0, *(len(i) for i, _ in vectors)])
    return sp.csc_array((v, i, ends), shape=(n, len(vectors)))


def program_of(d: Mapping[str, Any]) -> Program:
    """The program of a file."""
    n, b, q = integers(d["n"], ORDERS), doubles(d["b"]), doubles(d["q"])
    rows, p = len(b), len(q)
    require(rows > 0 and np.sum(n) <= ORDERS, "b has no objective, or n adds up to much")
    # One of these takes a millisecond.
    with_logarithms = [kind for kind, *_ in d["cones"] if kind != SECOND_ORDER]
    are_few = max(len(n), len(with_logarithms)) <= BLOCKS
    are_few = are_few and max(len(d["cones"]), len(d["U"])) <= PARTS
    require(are_few, "it has too many blocks, cones or null vectors")
    A = _coefficients(d["A"], rows, len(n), ORDERS, ORDERS)
    require(np.all(A[2] <= A[3]), "an entry of A is below the diagonal")
    require(np.all(A[3] < n[A[1]]), "an entry of A is beyond its matrix")
    P = Program(n, b, q, A, _coefficients(d["B"], rows, p))
    (P.sense,) = integers([d["sense"]], 2, -1).tolist()
    require(P.sense, "sense is 1 or -1")
    P.sign[integers(d["nonnegative"], p)] = True
    require(np.all(q >= 0) and not np.any(q[P.sign]), "q is 0 or more, if free")
    P.set_cones([_cone(rows, *cone) for cone in d["cones"]])
    inequalities = integers(d["inequalities"], rows, 1)
    P.inequality[inequalities], P.equation[inequalities] = True, False
    taken = np.concatenate([inequalities, *(at for _, _, at in P.cones)])
    require(len(np.unique(taken)) == len(taken), "a row is in two lists")
    for k, *u in d["U"]:
        integers([k], P.K)
        P.add_null_vector(k, *_coefficients(u, n[k]))
    count = np.array([len(vectors) for vectors in P.U], np.int64)
    require(np.all(count <= n) and np.sum(count * n) <= PRODUCTS, "it has too many null vectors")
    return P


def _cone(top: int, kind: str, rows: Any, exponent: Any = None) -> tuple[str, Any, Any]:
    found, is_power = integers(rows, top, 1), kind == POWER
    require(kind in (SECOND_ORDER, EXPONENTIAL, POWER), f"the cone {kind!r} is unknown")
    require(len(found) == 3 or (kind == SECOND_ORDER and len(found)), "rows of a cone")
    require(0 < doubles([exponent])[0] < 1 if is_power else exponent is None, "exponent")
    return kind, exponent, found


# -- second-order, exponential and power cones, in integers and decimals ---------------------------


def in_cone(kind: str, exponent: Any, at: Any, radius: Any, *, dual: bool) -> bool:
    """Whether all points within a radius, entry by entry, lie in a cone, or in its dual.

    Points and radii are arrays of integers, in any unit.
    """
    if not np.any(at) and not np.any(radius):
        return True
    if kind == SECOND_ORDER:
        head, *tail = abs(at) + radius
        head = at[0] - radius[0]
        return bool(head >= 0 and head**2 >= sum(x**2 for x in tail))
    (x, y, z), (rx, ry, rz) = at, radius
    with localcontext(Context(prec=60)):
        if kind == EXPONENTIAL:
            if dual:
                x, y, rx, ry = x - y, -x, rx + ry, rx
            # z >= y exp(x / y) is convex in y.
            return all(_in_exponential(x + rx, end, z - rz) for end in (y - ry, y + ry))
        x, y, z = x - rx, y - ry, abs(z) + rz
        if x <= 0 or y <= 0 or z == 0:
            return bool(x >= 0 and y >= 0 and z == 0)
        a = Decimal(exponent)
        parts = [(a, Decimal(x)), (1 - a, Decimal(y)), (Decimal(-1), Decimal(z))]
        if dual:
            parts += [(-a, a), (a - 1, 1 - a)]
        return _is_positive([weight * number.ln() for weight, number in parts])


def _in_exponential(x: int, y: int, z: int) -> bool:
    if y == 0:
        return x <= 0 and z >= 0
    if y < 0 or z <= 0:
        return False
    return _is_positive([Decimal(z).ln(), -Decimal(y).ln(), -Decimal(x) / y])


def _is_positive(parts: Sequence[Decimal]) -> bool:
    """Whether a sum of numbers, of which each operation was rounded to 60 digits, is positive."""
    return sum(parts) > Decimal("1e-50") * (1 + sum(map(abs, parts)))


# -- numbers --------------------------------------------------------------------------------------


def whole(x: Any) -> Any:
    """Doubles as Python's integers, in units of 2^-220."""
    return np.array([*map(int, np.ldexp(x, DIGITS).tolist())], dtype=object).reshape(np.shape(x))


def rounding(terms: Any) -> Any:
    """Relative error of a floating-point sum of so many products, at most."""
    return UP * (terms + 2) * UNIT


def norm(x: Any) -> float:
    """An upper bound on the Euclidean norm."""
    return UP * math.hypot(*x.tolist())


def norms(J: Any) -> Any:
    """Upper bounds on the Euclidean norms of rows; zero only of rows of zeros."""
    J, largest = sp.csr_array(J), np.zeros(J.shape[0])
    row = np.repeat(np.arange(largest.size), np.diff(J.indptr))
    np.maximum.at(largest, row, np.abs(J.data))
    unit = power_of_two(largest)
    return UP * np.sqrt(np.bincount(row, np.square(J.data / unit[row]), largest.size)) * unit


def power_of_two(x: Any) -> Any:
    """The power of two below a positive number: a factor that rounds nothing."""
    return np.ldexp(1.0, np.frexp(np.maximum(x, 1e-250))[1] - 1)


# -- positive semidefinite on the complement of null vectors --------------------------------------


def is_semidefinite(S: Any, radius: Callable[[Any], float], U: Any) -> bool:
    """Whether all matrices near S are positive semidefinite on the complement of U.

    Parameters
    ----------
    S : sparse array
        The upper triangle, each entry rounded once.
    radius : callable
        The norm of the errors of D S D, for the diagonal of D.
    U : sparse array
    """
    S = sp.csr_array(sp.triu(S) + sp.triu(S, 1).T)
    S.eliminate_zeros()
    # Rows of zeros that nothing moves are left out, and null vectors that have entries there.
    kept = (np.diff(S.indptr) > 0) | (radius(np.ones(S.shape[0])) > 0)
    if not kept.any():
        return True
    U = sp.csr_array(U)
    S, U = S[kept][:, kept], U[kept][:, np.diff(U[~kept].tocsc().indptr) == 0]
    # D S D is as definite as S, and next to one on the diagonal; but it may move by more.
    size = np.where(S.diagonal() > 0, S.diagonal(), 1.0)
    for scale in (power_of_two(1.0 / np.sqrt(size)), 1.0):
        d = np.where(kept, 1.0, 0.0)
        d[kept] *= scale
        if _exceeds(S, U, d[kept], radius(d)):
            return True
    return False


def _exceeds(S: Any, U: Any, d: Any, radius: float) -> bool:
    """Whether D S D is definite on the complement of U by more than its rounding and a radius."""
    D = sp.diags_array(d)
    S, U = sp.csr_array(D @ S @ D), D @ U
    error = UP * (UNIT * float(abs(S).sum(axis=1).max()) + radius) + TINY
    if not math.isfinite(error):
        return False
    # Scale U so that U U' / w is about four times as large as S.
    scale = float(power_of_two(abs(S).sum(axis=1).max()))
    U = sp.csr_array(U @ sp.diags_array(scale * 2.0**-19 / power_of_two(norms(U.T))))
    w = scale * 2.0**-40
    try:
        # If S - t I is semidefinite up to a loss that is below t less the error, so is all near S.
        shift = 1.5 * (_loss(S, U, w, 0.0) + error)
        return shift < math.inf and _loss(S, U, w, -shift) + error <= shift
    except (RuntimeError, np.linalg.LinAlgError):  # there is a pivot of zero
        return False


def _loss(S: Any, U: Any, w: float, t: float) -> float:
    """An e with S + (t + e) I semidefinite on the complement of U, by a factorization L D L'.

    If [[S + t I, U], [U', -w I]] has as many negative eigenvalues as U has columns, then
    S + t I + U U' / w is semidefinite, by the complement of Schur.
    """
    n, p = U.shape
    S = S + t * sp.eye_array(n, format="csr")
    is_sparse = n > 500 and S.nnz <= 0.1 * n * n
    M, L, d, border = (_sparse_factors if is_sparse else _dense_factors)(S, U, w)
    is_triangle = sp.triu(L, 1).nnz == 0 and np.all(L.diagonal() != 0)
    if not is_triangle or not np.all(np.isfinite(d)) or np.any(d == 0) or np.sum(d < 0) != p:
        return math.inf
    # An entry of the product has no more terms than its row of L has entries.
    terms = np.diff(L.indptr)
    if L.nnz > 0.05 * n * n:
        M, L = M.toarray(), L.toarray()
    size = abs(L) @ (abs(d) * (abs(L.T) @ np.ones(n + p))) + abs(M).sum(axis=1) + abs(t)
    E = abs(M - (L * d) @ L.T).sum(axis=1)
    E = UP * (E + rounding(terms + 3) * size) + TINY
    # Errors in rows of the border are below w / 2, so that -w stays negative.
    is_small = np.all(np.isfinite(E)) and np.max(E[border], initial=0.0) < 0.5 * w
    return float(E[~border].max()) if is_small else math.inf


def _dense_factors(S: Any, U: Any, w: float) -> tuple[Any, ...]:
    """The matrix with its border, which is first, L, D, and which rows are the border."""
    n, p = U.shape
    M = sp.block_array([[-w * sp.eye_array(p), U.T], [U, S]], format="csr")
    U = U.toarray()
    C = np.linalg.cholesky(S.toarray() + U @ U.T / w)
    L = np.block([[np.eye(p), np.zeros((p, n))], [U / -w, C]])
    return M, sp.csr_array(L), np.r_[np.full(p, -w), np.ones(n)], np.arange(n + p) < p


def _sparse_factors(S: Any, U: Any, w: float) -> tuple[Any, ...]:
    """The same in an order with little fill-in: most rows of S, the border, and the other rows.

    Without its border, S may be indefinite.
    """
    n, p = U.shape
    last = np.zeros(n, bool)
    last[np.random.default_rng(0).permutation(n)[: 30 * (p > 0)]] = True
    first = np.flatnonzero(~last)
    lu = splu(sp.csc_array(S[first][:, first]), permc_spec="MMD_AT_PLUS_A", **SYMMETRIC)
    order = np.r_[first[np.argsort(lu.perm_c)], n : n + p, np.flatnonzero(last)]
    M = sp.block_array([[S, U], [U.T, -w * sp.eye_array(p)]], format="csr")[order][:, order]
    lu = splu(sp.csc_array(M), permc_spec="NATURAL", **SYMMETRIC)
    return M, sp.csr_array(lu.L), lu.U.diagonal(), order >= n


# -- values: a solution near a point --------------------------------------------------------------


def are_singular_values_above(sigma: float, J: Any) -> bool:
    """Whether J J' - sigma^2 I is positive semidefinite."""
    m, J = J.shape[0], sp.csr_array(J)
    pairs = np.square(np.bincount(J.indices)).sum()
    need(pairs <= PAIRS, "too many pairs of equations share an unknown")
    size = float((abs(J) @ (abs(J.T) @ np.ones(m))).max())
    error = rounding(int(np.diff(J.indptr).max()) + 2) * size + sigma**2 * 4.0 * UNIT
    M, nothing = J @ J.T - sigma**2 * sp.eye_array(m), sp.csc_array((m, 0))
    return is_semidefinite(M, lambda d: error * float(np.max(d)) ** 2, nothing)


class System:
    """The rows at a point, and their slopes in the point's own units.

    Unknown are factors R of blocks, X = R R', so that these are semidefinite, or entries of blocks,
    and scalars. Rows: 0 the objective, 1 to m those of the program, then U' R = 0 and X U = 0, and
    entries of blocks with a minus, so that their slacks are these entries.

    Attributes
    ----------
    exact, miss : arrays
        Residuals, left minus right sides: exact in units of 2^-660, and rounded once.
    J, error : sparse arrays
        Slopes in these units, and bounds on their errors.
    bend : array
        Frobenius norms of the quadratic parts of rows, in these units.
    units : array
        Units of all unknowns; zero for those that are fixed.
    solved : array of bool
        The rows that are to hold as equations.
    matrices : list of rows, factors, i, j, order and null vectors
        The slacks of these rows times the factors are the entries (i, j) of a matrix that is to be
        semidefinite on the complement of the null vectors.
    """

    def __init__(self, P: Program, w: Mapping[str, Any], *, ray: bool = False) -> None:
        self.P, R, self.z, unit = P, *(doubles(w[name]) for name in ("R", "z", "unit"))
        self.sigma = float(doubles(w.get("sigma", [0.0]))[0])
        rank = integers(w["rank"], ORDERS, BY_ENTRIES)
        need(len(rank) == P.K and len(self.z) == P.p, "the numbers of blocks and of scalars")
        sizes = np.where(rank == BY_ENTRIES, P.n * (P.n + 1) // 2, np.maximum(rank, 0) * P.n)
        orders = np.where(rank == SLACK, 0, P.n)
        is_right = len(R) == np.sum(sizes) and len(unit) == np.sum(orders) + P.p
        is_right = is_right and not np.any(rank[P.n == 0] > 0)
        need(is_right and np.all(unit >= 0), "the sizes of factors and units, or a unit's sign")
        is_still = P.fixed | ((P.q > 0) & ray)
        need(not np.any(self.z[is_still]), "a scalar that vanishes does not, or curves a direction")
        self.solved, self.matrices = P.equation & ~P.dropped, list[tuple[Any, ...]]()
        self._x, self._left = np.r_[R, self.z], SLOPES
        self._whole, of_z = whole(self._x), len(R) + np.arange(P.p)
        # Columns v of the program: their values, slopes, and factors of their quadratic parts.
        self._v, self._bend = np.zeros(P.E + P.p, object), np.zeros(P.E + P.p)
        self._v[P.E :] = self._whole[of_z] << DIGITS
        self._slopes, self._units = [(P.E + np.arange(P.p), of_z, np.ones(P.p))], list[Any]()
        # Rows that are linear in the unknown numbers: number of the row, of the unknown, and value.
        self._more = [(np.zeros(0, int), np.zeros(0, int), np.zeros(0))]
        starts = np.cumsum(sizes) - sizes
        *of_blocks, of_scalars = np.split(unit, np.cumsum(orders))
        for k, c in enumerate(of_blocks):
            number = starts[k] + np.arange(sizes[k])
            if rank[k] == SLACK:
                self._slack(k)
            elif rank[k] == BY_ENTRIES:
                self._entries(k, c, number)
            else:
                self._factor(k, c, number.reshape(P.n[k], rank[k]))
        self.units = np.concatenate([*self._units, np.where(is_still, 0.0, of_scalars)])
        self._evaluate(np.zeros(P.m + 1) if ray else np.r_[-P.b[:1], P.b[1:]])

    def _spend(self, slopes: int) -> None:
        self._left -= slopes
        need(self._left >= 0, "there are too many slopes")

    def _slack(self, k: int) -> None:
        """A block that is slack of equations of its own, which are left out."""
        P, n, (a, b) = self.P, int(self.P.n[k]), self.P.columns(k)
        rows, v = own_rows(P, k)
        need(np.all(self.solved[rows]), f"block {k} is not slack of its own equations")
        self.solved[rows] = False
        beside = as_columns(P.beside[k], n)
        self.matrices.append((rows, 1.0 / v, P.i[a:b], P.j[a:b], n, beside))

    def _factor(self, k: int, c: Any, at: Any) -> None:
        """A block R R', with the numbers of R at some places."""
        P, (a, b) = self.P, self.P.columns(k)
        self._spend((b - a) * at.shape[1])
        i, j, column = P.i[a:b], P.j[a:b], np.arange(a, b)
        for r in at.T:
            self._v[a:b] += self._whole[r[i]] * self._whole[r[j]]
            self._slopes += [(column, r[i], self._x[r[j]]), (column, r[j], self._x[r[i]])]
        # The norm of [[0, v], [v, 0]] is less than 1.5 v, and M has 2 v.
        self._bend[a:b] = np.where(i == j, 1.0, 0.75) * c[i] * c[j]
        self._units.append(np.repeat(c, at.shape[1]))
        self._vanishing(k, at)

    def _entries(self, k: int, c: Any, number: Any) -> None:
        """A block that is given by the numbers of its upper triangle."""
        P, (a, b), n, (i, j) = self.P, self.P.columns(k), len(c), np.triu_indices(len(c))
        at = np.zeros((n, n), int)
        at[i, j] = at[j, i] = number
        inside = at[P.i[a:b], P.j[a:b]]
        self._v[a:b] = self._whole[inside] << DIGITS
        self._slopes.append((np.arange(a, b), inside, np.ones(b - a)))
        self._units.append(c[i] * c[j])
        self._vanishing(k, at)
        ones, rows = np.ones(number.size), len(self.solved) + np.arange(number.size)
        self._more.append((rows, number, -ones))
        self.matrices.append((rows, ones, i, j, n, as_columns(P.U[k], n)))
        self.solved = np.r_[self.solved, np.zeros(number.size, bool)]

    def _vanishing(self, k: int, at: Any) -> None:
        """Equations of null vectors: u is orthogonal to all columns of numbers at some places."""
        U, width = as_columns(self.P.U[k], len(at)).tocoo(), at.shape[1]
        self._spend(U.nnz * width)
        rows = len(self.solved) + U.col[:, None] * width + np.arange(width)
        self._more.append((rows.ravel(), at[U.row].ravel(), np.repeat(U.data, width)))
        self.solved = np.r_[self.solved, np.ones(U.shape[1] * width, bool)]

    def _evaluate(self, right: Any) -> None:
        """Residuals of all rows, and their slopes."""
        P, (row, number, value) = self.P, map(np.concatenate, zip(*self._more, strict=True))
        rows, first = len(self.solved), P.m + 1
        self.exact = np.zeros(rows, object)
        self.exact[:first] = -whole(right) << 2 * DIGITS
        np.add.at(self.exact, P.row, P.whole * self._v[P.column])
        # Half of the squares, rounded upwards.
        self.exact[0] -= -sum(whole(P.q) * self._v[P.E :] ** 2 >> 2 * DIGITS) // 2
        np.add.at(self.exact, row, whole(value) * self._whole[number] << DIGITS)
        # Python rounds the quotient of two integers once.
        self.miss = np.array([x / ONE for x in self.exact])
        M = sp.csr_array((P.value, (P.row, P.column)), shape=(first, len(self._v)))
        size = sp.csr_array((abs(P.value), (P.row, P.column)), shape=M.shape)
        i, j, v = map(np.concatenate, zip(*self._slopes, strict=True))
        D = sp.diags_array(self.units)
        G = sp.csr_array((v, (i, j)), shape=(len(self._v), len(self.units))) @ D
        shape = rows - first, len(self.units)
        N = sp.csr_array((value, (row - first, number)), shape=shape) @ D
        self.J = sp.vstack([M @ G, N], format="csr")
        most = np.bincount(P.row, minlength=1).max()
        self.error = rounding(most) * sp.vstack([size @ abs(G), abs(N)], format="csr")
        of_columns = norms(size @ sp.diags_array(self._bend))
        self.bend = np.r_[UP * of_columns, np.zeros(rows - first)]

    def scaled(self) -> tuple[Any, Any, Any, Any]:
        """Equations that something moves, or that do not hold: J, its errors, misses and bends.

        Rows are in powers of two that make their lengths about one.
        """
        missed = UP * abs(self.miss)
        # Equations that hold exactly and depend on no unknown are left out.
        at = self.solved & ((self.error.sum(axis=1) > 0) | (missed > 0) | (self.bend > 0))
        lengths = norms(self.J[at])
        need(
            np.all(lengths > 0),
            "an equation that does not hold depends on no unknown",
        )
        h = 1.0 / power_of_two(lengths)
        D = sp.diags_array(h)
        J, error = sp.csr_array(D @ self.J[at]), sp.csr_array(D @ self.error[at])
        return J, error, h * missed[at], h * self.bend[at]

    def distance(self) -> float:
        """A bound on the distance of an exact solution of the equations, in the units."""
        if not np.any(self.miss[self.solved]):
            return 0.0
        J, error, missed, bend = self.scaled()
        sigma = self.sigma * (1.0 - 1e-12) - norm(error.data)
        rho, kappa = max(norm(missed), LEAST_MISS), norm(bend)
        words = f"rho {rho:.1e}, sigma {sigma:.1e}, kappa {kappa:.1e}"
        is_regular = sigma > 0 and are_singular_values_above(self.sigma, J)
        need(is_regular, f"the equations are too near to dependent ({words})")
        need(4.0 * UP * kappa * rho <= sigma**2, f"no solution is proved near the point ({words})")
        return UP * (2.0 if kappa else 1.0) * rho / sigma

    def value(self, *, inside: bool = False) -> float:
        """A number that the objective does not exceed at the exact solution nearby.

        ``inside`` asks for a solution that lies inside of all matrices and other cones.
        """
        P, least, far = self.P, INSIDE if inside else 0.0, self.distance()
        # How much rows change between the point and the exact solution.
        moved = UP * far * (norms(self.J) + norms(self.error) + self.bend * far)
        need(np.all(np.isfinite(moved)), "numbers overflow")
        units = self.units[len(self.units) - P.p :]
        need(np.all((UP * far * units <= self.z)[P.sign]), "a scalar may change its sign")
        # What is rounded once has the sign of what it was.
        rest = np.flatnonzero(P.inequality & ~P.equation & ~P.dropped)
        most = (self.miss + UP * (moved + UNIT * abs(self.miss)))[rest]
        words = f"the inequalities {rest[most > 0][:9]} may fail by {np.max(most, initial=0.0):.1e}"
        need(np.all(most <= 0), words)
        for kind, exponent, at in P.cones:
            around = [math.ceil(Fraction(max(x, least)) * ONE) for x in moved[at].tolist()]
            within = in_cone(
                kind, exponent, -self.exact[at], np.array(around, object), dual=P.is_dual
            )
            need(within, f"the rows {at.tolist()[:9]} may leave their cone")
        definite = "definite" if inside else "semidefinite"
        need(not inside or len(self.matrices) == P.K, "a factor is not proved positive definite")
        for rows, factors, i, j, n, U in self.matrices:
            T = sp.csr_array((-self.miss[rows] * factors, (i, j)), shape=(n, n))
            radius = partial(self._radius, far, least, rows, abs(factors), i, j)
            need(is_semidefinite(T, radius, U), f"a matrix is not proved positive {definite}")
        squares = P.q * far * units * (abs(self.z) + far * units)
        total = math.fsum([self.miss[0], moved[0], UNIT * abs(self.miss[0]), *(UP * squares)])
        return total + 2.0 * UNIT * abs(total)

    def _radius(
        self, far: float, least: float, rows: Any, sizes: Any, i: Any, j: Any, d: Any
    ) -> float:
        """The norm of the change of a slack matrix up to the exact solution, in units of d."""
        if not far:
            return least
        sizes = sizes * d[i] * d[j]
        J = sp.csr_array(sp.diags_array(sizes) @ (abs(self.J[rows]) + self.error[rows]))
        spectral = math.sqrt(float(J.sum(axis=0).max(initial=0.0) * J.sum(axis=1).max(initial=0.0)))
        linear = min(norm(norms(J)), UP * spectral)
        return max(least, 1.5 * UP * far * (linear + far * norm(self.bend[rows] * sizes)))


def own_rows(P: Program, k: int) -> tuple[Any, Any]:
    """The rows that define the entries of a block, and the coefficients of these."""
    a, b = P.columns(k)
    t = slice(*np.searchsorted(P.column, [a, b]))
    rows, v = P.row[t], P.value[t]
    are_single = len(rows) == b - a == len(np.unique(P.column[t])) == len(np.unique(rows))
    # Quotients by powers of two are exact.
    is_own = are_single and np.all(abs(np.frexp(v)[0]) == 0.5) and not P.U[k]
    need(is_own, f"block {k} is not slack of its own equations")
    return rows, v


def upper(P: Program, w: Mapping[str, Any], *, ray: bool = False) -> float:
    """A number that the objective does not exceed at some feasible point, or along a direction."""
    return System(P, w, ray=ray).value()


# -- bounds: values of the dual program -----------------------------------------------------------


def dual(P: Program, a: Any = None) -> Program:
    """The program whose points are multipliers that prove a bound of P, which is minus its value.

    Parameters
    ----------
    P : Program
    a : array, optional
        Multipliers of null vectors, one after the other. Those of zero are left out, and so are
        entries of the slacks S that nothing adds to, as S has to be semidefinite on the complement
        of null vectors only. Without a, all multipliers and all entries are unknown.
    """
    nulls = [(k, *u) for k in range(P.K) for u in P.U[k]]
    starts = np.cumsum([0, *(P.n[k] for k, _, _ in nulls)])
    is_whole, a = a is None, np.ones(starts[-1]) if a is None else a
    need(not is_whole or np.sum(P.n * (P.n + 1)) <= MOST, "the dual program has too many rows")
    need(len(a) == starts[-1], "the multipliers of null vectors are not one for each entry")
    supports = [np.flatnonzero(a[i:j]) for i, j in pairwise(starts.tolist())]
    pairs = sum(len(at) * some.size for (_, at, _), some in zip(nulls, supports, strict=True))
    need(pairs <= SLOPES, "there are too many products of null vectors")
    curved, t = np.flatnonzero(P.q), np.flatnonzero(P.column < P.E)
    number_of = P.m + curved.size + np.cumsum(a != 0)
    # Entries of all S, those off the diagonal twice: place, unknown and coefficient.
    entries = [(P.place[P.column[t]], P.row[t], P.value[t])]
    for (k, at, v), other, start in zip(nulls, supports, starts.tolist(), strict=False):
        i, j = (x.ravel() for x in np.meshgrid(at, other, indexing="ij"))
        entries.append((P.place_of(k, i, j), number_of[start + j], 2.0 * np.repeat(v, other.size)))
    for k in range(P.K) if is_whole else ():
        place = P.place_of(k, *np.triu_indices(P.n[k]))
        entries.append((place, 0 * place, 0.0 * place))
    place, column, v = map(np.concatenate, zip(*entries, strict=True))
    place, row = np.unique(place, return_inverse=True)
    # Rows of these, then of scalars, of cones, and the last, of the multiplier of the objective.
    E, t = place.size, np.flatnonzero(P.column >= P.E)
    in_cones = np.concatenate([np.zeros(0, int), *(at for _, _, at in P.cones)])
    begin = 1 + E + P.p
    last = begin + in_cones.size
    B = [
        # The objective, to be minimised: minus the bound.
        (np.zeros(P.m + 1, int), np.arange(P.m + 1), np.r_[-P.b[0], P.b[1:]]),
        (1 + row, column, -v),
        (1 + E + P.column[t] - P.E, P.row[t], -P.value[t]),
        (1 + E + curved, P.m + 1 + np.arange(curved.size), P.q[curved]),
        (np.arange(begin, last), in_cones, -np.ones(in_cones.size)),
        (np.full(1, last), np.zeros(1, int), np.ones(1)),
    ]
    blocks = np.searchsorted(P.first, place, side="right") - 1
    at = divmod(place - P.first[blocks], P.n[blocks])
    A = [1 + np.arange(E), blocks, *at, np.ones(E)]
    q = np.r_[np.zeros(P.m + 1), P.q[curved], np.zeros(np.sum(a != 0))]
    b = np.r_[np.zeros(last), 1.0]
    D = Program(P.n, b, q, A, list(map(np.concatenate, zip(*B, strict=True))))
    ends = begin + np.cumsum([0, *(len(at) for _, _, at in P.cones)])
    cones = zip(P.cones, pairwise(ends.tolist()), strict=True)
    D.set_cones([(kind, exponent, np.arange(i, j)) for (kind, exponent, _), (i, j) in cones])
    D.inequality[1 + E : begin], D.equation[1 + E : begin] = P.sign, ~P.sign
    D.dropped[1 + E : begin] = P.fixed
    D.sign[: P.m + 1] = P.inequality & ~P.equation
    D.is_dual, D.beside = True, D.U if is_whole else P.U
    return D


def multipliers(P: Program, w: Mapping[str, Any], *, ray: bool = False) -> System:
    """Multipliers as a point of the dual program.

    Parameters
    ----------
    P : Program
    w : dict
        ``z``, multipliers of rows, and of scalars with curvature; their ``unit``; ``sigma``; and
        ``a``.
    ray : bool, default False
    """
    a = doubles(w.get("a", np.zeros(sum(int(P.n[k]) * len(U) for k, U in enumerate(P.U)))))
    more = a[a != 0]
    point = {"rank": np.full(P.K, SLACK), "R": [], "sigma": w.get("sigma", [0.0])}
    point |= {"z": np.r_[doubles(w["z"]), more], "unit": np.r_[doubles(w["unit"]), 0.0 * more]}
    return System(dual(P, a), point, ray=ray)


def lower(P: Program, w: Mapping[str, Any], *, ray: bool = False) -> float:
    """A number that the objective does not fall below at any feasible point.

    Along a direction of multipliers a number above zero says that there is no feasible point.
    """
    return -multipliers(P, w, ray=ray).value()


# -- faces and other exact steps, in integers -----------------------------------------------------


def _vector(given: Any, n: int) -> dict[int, int]:
    """A vector of integers of any length, by their indices."""
    i, v = given
    found = dict(zip(integers(i, n).tolist(), v, strict=True))
    require(len(found) == len(v), "a vector has an entry twice")
    require(set(map(type, v)) <= {int}, "a step is not of integers")
    return found


def combine(P: Program, step: Mapping[str, Any], *, objective: bool = False) -> tuple[Any, ...]:
    """Multipliers of an exact step, whose combination of rows is a sum of squares on the face.

    Returns
    -------
    y : dict from row to int
    scalars : list of int
        Those that the combination has a positive coefficient of.
    squares : list of block and vector w
        The combination is equal to a weighted sum of these w w', on the face known.
    """
    y = _vector(step["y"], P.m + 1)
    _spend(P, EACH * (1 + len(step["squares"]) + len(step["known"])))
    need(objective or 0 not in y, "a step has a multiplier of the objective")
    need(not any(P.dropped[i] for i in y), "a step has a multiplier of a row that is left out")
    are_signed = all(v >= 0 for i, v in y.items() if P.inequality[i] and not P.equation[i])
    need(are_signed, "a step has a negative multiplier of an inequality")
    for c, at in _of_cones(P, y):
        kind, exponent, _ = P.cones[c]
        inside = (
            P.rays[c] @ at >= 0
            if c in P.rays
            else in_cone(kind, exponent, at, 0 * at, dual=not P.is_dual)
        )
        need(inside, "a step has multipliers of a cone that are not in its dual")
    # Coefficients of entries, those off the diagonal twice, by place, and those of scalars.
    W, s, squares = defaultdict[int, int](int), defaultdict[int, int](int), []
    for i, v in y.items():
        t = P.of_row(i)
        _spend(P, len(t))
        for column, x in zip(P.column[t].tolist(), P.whole[t], strict=True):
            key, to = (P.place[column], W) if column < P.E else (column - P.E, s)
            to[key] += v * x
    for k, weight, *entries in step["squares"]:
        integers([k], P.K)
        w = _vector(entries, P.n[k])
        is_square = type(weight) is int and weight > 0 and any(w.values())
        need(is_square, "a square has no positive weight, or nothing else")
        are_doubles = all(abs(x) < 2**53 for x in w.values())
        need(are_doubles, "a square is not of integers that doubles hold")
        squares.append((k, w))
        _spend(P, len(w) ** 2)
        for i, j in combinations_with_replacement(sorted(w), 2):
            W[P.place_of(k, i, j)] -= weight * w[i] * w[j] * (1 + (i != j)) << DIGITS
    for k, column, *entries in step["known"]:
        integers([k], P.K), integers([column], len(P.U[k]))
        at, u = P.U[k][column]
        a = _vector(entries, P.n[k])
        _spend(P, len(a) * len(at))
        for i, x in zip(at.tolist(), whole(u), strict=True):
            for j, v in a.items():
                W[P.place_of(k, i, j)] -= 2 * x * v
    need(not any(W.values()), "the squares of a step are not those of its rows")
    for j, x in s.items():
        is_right = P.fixed[j] or x == 0 or (x > 0 and P.sign[j])
        need(is_right, f"a step leaves a coefficient of scalar {j}")
    return y, [j for j, x in s.items() if x > 0], squares


def _of_cones(P: Program, y: Mapping[int, int]) -> list[tuple[int, Any]]:
    """The cones that multipliers are of, and those of all their rows."""
    cones = sorted({P.cone_of[i] for i, v in y.items() if v and i in P.cone_of})
    _spend(P, sum(len(P.cones[c][2]) for c in cones))
    return [(c, np.array([y.get(i, 0) for i in P.cones[c][2].tolist()], object)) for c in cones]


def _spend(P: Program, products: int) -> None:
    P.work += products
    need(P.work <= PRODUCTS, "the steps are too long")


def take_faces(P: Program, steps: Sequence[Mapping[str, Any]]) -> bool:
    """Take steps onto faces; True if one of them leaves no feasible point."""
    for step in steps:
        y, scalars, squares = combine(P, step)
        right = whole(P.b[np.array(list(y), int)])
        side = sum(v * x for v, x in zip(y.values(), right, strict=True))
        need(side <= 0, "the right side of a step is positive")
        if side < 0:
            return True
        for i, v in y.items():
            P.equation[i] |= P.inequality[i] and v > 0
        P.fixed[scalars] = True
        if step.get("drop") is not None:
            (row,) = integers([step["drop"]], P.m + 1).tolist()
            need(y.get(row, 0) != 0, "a row is left out that a step does not use")
            need(all(P.equation[i] for i in y), "a row is left out that follows from cones")
            P.dropped[row] = True
        for k, w in squares:
            some = {i: float(x) for i, x in w.items() if x}
            P.add_null_vector(k, np.array(list(some)), np.array(list(some.values())))
        for c, at in _of_cones(P, y):
            if P.cones[c][0] == SECOND_ORDER:
                ray = P.rays.get(c, np.r_[at[:1], -at[1:]])
                P.rays[c] = ray * (ray @ at == 0)
    return False


# -- claims ---------------------------------------------------------------------------------------


def check(path: Any) -> dict[str, Any]:
    """What a file proves.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict
        ``program``, its hash; ``sense``, 1 of a minimisation and -1 of a maximisation; and the
        claims, each with the number claimed or True.

    Raises
    ------
    NoProofFileError
        If the file is not as the page says.
    NotProvedError
        If a claim is not proved.
    """
    try:
        program, proof = read(path)
        P = program_of(program)
        with np.errstate(all="ignore"):
            _prove(P, proof)
    except DAMAGED as error:
        words = f"it cannot be read: {type(error).__name__} {error}"
        raise NoProofFileError(words) from None
    return {"program": proof["program"], "sense": P.sense, **proof["claims"]}


def _prove(P: Program, proof: Mapping[str, Any]) -> None:
    """Raise an error unless every claim of a proof is proved."""
    empty = take_faces(P, proof.get("faces", []))
    need(not empty or set(proof["claims"]) == {"infeasible"}, "the faces leave no point")
    for claim, number in proof["claims"].items():
        if claim == "value":
            value = upper(P, proof["point"])
            words = f"the value proved is {P.sense * value!r}, not {number!r}"
            need(value <= P.sense * number, words)
        elif claim == "bound":
            bound = _exactly(P, proof["exact"]) if "exact" in proof else lower(P, proof["dual"])
            # An exact one may be beyond all doubles.
            shown = P.sense * float(max(min(bound, LARGEST), -LARGEST))
            words = f"the bound proved is {shown!r}, not {number!r}"
            need(bound >= P.sense * Fraction(number), words)
        elif claim == "infeasible" and not empty:
            need(lower(P, proof["dual"], ray=True) > 0, "the multipliers contradict nothing")
        elif claim == "unbounded" and "ray" in proof:
            upper(P, proof["point"])
            gain = upper(P, proof["ray"], ray=True)
            need(gain < 0, "the direction does not improve the objective")
        elif claim == "unbounded":
            System(P, proof["point"]).value(inside=True)
            is_empty = take_faces(dual(P), proof["steps"])
            need(is_empty, "the dual program is not proved to have no point")


def _exactly(P: Program, step: Mapping[str, Any]) -> Fraction:
    """The bound of an exact step."""
    y, _, _ = combine(P, step, objective=True)
    one = y.pop(0, 0)
    need(one > 0, "the multiplier of the objective is not positive")
    paid = sum(v * Fraction(P.b[i]) for i, v in y.items())
    return Fraction(P.b[0]) - paid / one


def describe(proved: Mapping[str, Any]) -> str:
    """The result of `check`, in words."""
    worse, better = ("above", "below") if proved["sense"] > 0 else ("below", "above")
    words = {
        "value": f"a feasible point exists whose objective is not {worse} {{!r}}",
        "bound": f"no feasible point has an objective {better} {{!r}}",
        "infeasible": "no point is feasible",
        "unbounded": f"feasible points have objectives {better} any number",
    }
    return "; ".join(words[claim].format(proved[claim]) for claim in CLAIMS if claim in proved)


USAGE = """usage: python check_proof.py FILE...

Check proof files of semidefinite programs, and print a line about each.

Exit code: 0 if every claim of every file is proved, 1 if some claim is not, 2 if some file is no
proof file, or if there is none.
"""


def main(paths: Sequence[str]) -> int:
    """Check files, and print a line about each; the exit code."""
    if not paths:
        sys.stderr.write(USAGE)
        return 2
    if paths[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    worst = 0
    for path in paths:
        try:
            proved = check(path)
            said = f"PROVED: {describe(proved)} (program {proved['program']})"
        except NotProvedError as why:
            worst, said = max(worst, 1), f"NOT PROVED: {why}"
        except NoProofFileError as why:
            worst, said = 2, f"NO PROOF FILE: {why}"
        encoding = sys.stdout.encoding or "ascii"
        line = f"{path}: {said}\n".encode(encoding, "backslashreplace")
        sys.stdout.write(line.decode(encoding))
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
