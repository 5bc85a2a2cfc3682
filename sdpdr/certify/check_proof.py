"""Check proof files of semidefinite programs: ``python check_proof.py FILE...``.

The page "Proof files" (``docs/guide/proof_files.rst``) says what a file holds and why its parts
prove what it claims; the words and the order here are those of that page. Exit codes: 0 where
every claim of every file is proved, 1 where one is not, 2 where one is no proof file.
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
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

SECOND_ORDER, EXPONENTIAL, POWER = "second-order", "exponential", "power"
# What Python raises where a file is damaged, or not as the page says.
DAMAGED: tuple[type[Exception], ...]
DAMAGED = (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError)
DAMAGED += (ArithmeticError, MemoryError, RecursionError)
CLAIMS = ("value", "bound", "infeasible", "unbounded")
# Half a unit in the last place of one. UP and TINY pay for the rounding of a bound on rounding.
UNIT, UP, TINY = 2.0**-53, 1.0 + 1e-9, 1e-290
SMALLEST, LARGEST = 1e-50, 1e50
# Every number of a file is a whole multiple of 2^-220, and a product of three one of 2^-660.
DIGITS, ONE = 660, 2**660
# What is missed at all is taken for more than this: no product of it with units underflows.
LEAST_MISS = 1e-60
# The least radius, so that what lies in a cone with all that is as near lies inside of it.
INSIDE = 1e-45
# Ranks of blocks that are slack of equations of their own, and of those given entry by entry.
SLACK, BY_ENTRIES = -1, -2
# Options of the factorization, which keeps the rows in the order given.
SYMMETRIC: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
# What is refused, so that no file takes for ever: bytes of a file, unpacked; the sum of the orders
# of matrices; products in the squares of exact steps; and entries of matrices of which a whole dual
# program is written.
BYTES, ORDERS, PRODUCTS, MOST = 2**30, 10_000_000, 10_000_000, 200_000


class NoProofFileError(Exception):
    """What is wrong with a file that is no proof file."""


class NotProvedError(Exception):
    """Which claim is not proved, and why."""


def need(holds: Any, why: str) -> None:
    """Go on only where a proof does."""
    if not holds:
        raise NotProvedError(why)


def require(holds: Any, why: str) -> None:
    """Go on only where a file is as the page says."""
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
    is_known = (proof["format"], proof["version"]) == ("sdp-proof", 5)
    require(is_known, "it is of another format, or of another version of it")
    is_hash = proof["program"] == hashlib.sha256(line).hexdigest()
    require(is_hash, "the hash is not that of its program")
    claims = proof["claims"]
    require(claims, "it claims nothing")
    for claim, number in claims.items():
        require(claim in CLAIMS, f"the claim {claim!r} is unknown")
        is_number = isinstance(number, float) and math.isfinite(number)
        is_right = is_number if claim in ("value", "bound") else number is True
        require(is_right, f"the claim {claim!r} cannot be {number!r}")
    return program, proof


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    require(len(dict(pairs)) == len(pairs), "an object has a key twice")
    return dict(pairs)


def _is_number(given: Any) -> bool:
    """Whether it is a number: true and false count as such in Python."""
    return isinstance(given, Real) and not isinstance(given, bool)


def integers(given: Any, top: int, least: int = 0) -> Any:
    """A list of integers as an array, from the least on and below the top."""
    require(all(map(_is_number, given)), "a list is to be one of integers")
    x = np.array(given) if len(given) else np.zeros(0, int)
    require(x.ndim == 1 and x.dtype.kind == "i", "a list is to be one of integers")
    require(np.all((x >= least) & (x < top)), "an integer is out of range")
    return x.astype(np.int64)


def doubles(given: Any) -> Any:
    """A list of numbers as an array of doubles of usual sizes."""
    for number in given:
        require(_is_number(number), "a list is to be one of numbers")
        require(float(number) == number or number != number, "an integer is no double")
    x = np.array(given, dtype=np.float64)
    require(x.ndim == 1, "a list is to be one of numbers")
    usual = (x == 0.0) | ((abs(x) > SMALLEST) & (abs(x) < LARGEST))
    require(np.all(usual), "a number is beyond 1e-50 and 1e50")
    return x


def _coefficients(given: Any, *tops: int) -> list[Any]:
    """Lists of places, each below its top, and the list of the numbers there."""
    *places, numbers = given
    found = [*(integers(x, top) for x, top in zip(places, tops, strict=True)), doubles(numbers)]
    require(len({len(x) for x in found}) == 1, "lists of coefficients differ in length")
    return found


# -- the program ----------------------------------------------------------------------------------


class Program:
    """The program of a file, and what its faces add to it; or the dual program of one.

    Attributes
    ----------
    equation, inequality : arrays of bool
        Kinds of rows, also where faces have made equations of inequalities.
    fixed : array of bool
        Scalars that are proved to vanish.
    dropped : array of bool
        Equations that follow from others.
    U : list of sparse arrays
        Null vectors of blocks, as columns.
    beside : list of sparse arrays
        Null vectors on whose complement a slack block has to be semidefinite, in a dual program.
    rays : dict from cone to list of Fraction
        Second-order cones whose points are multiples of this vector.
    is_dual : bool
        Whether rows are to be in the duals of their cones.
    """

    def __init__(self, d: Mapping[str, Any]) -> None:
        self.sense, self.n = d["sense"], integers(d["n"], ORDERS)
        self.b, self.q = doubles(d["b"]), doubles(d["q"])
        self.K, rows, self.p = len(self.n), len(self.b), len(self.q)
        self.m, self.is_dual = rows - 1, False
        require(self.sense in (1, -1), "sense is 1 or -1")
        require(rows > 0 and np.sum(self.n) <= ORDERS, "b has no objective, or n adds up to much")
        tops = rows, self.K, ORDERS, ORDERS
        self.A_row, self.A_blk, self.A_i, self.A_j, self.A_v = _coefficients(d["A"], *tops)
        self.B_row, self.B_col, self.B_v = _coefficients(d["B"], rows, self.p)
        require(np.all(self.A_i <= self.A_j), "an entry of A is below the diagonal")
        require(np.all(self.A_j < self.n[self.A_blk]), "an entry of A is beyond its matrix")
        self.sign = np.zeros(self.p, bool)
        self.sign[integers(d["nonnegative"], self.p)] = True
        require(np.all(self.q >= 0) and not np.any(self.q[self.sign]), "q is 0 or more, if free")
        self.cones = [self._cone(*cone) for cone in d["cones"]]
        kind = np.zeros(rows, int)
        for at in (integers(d["inequalities"], rows, 1), *(at for _, _, at in self.cones)):
            np.add.at(kind, at, 1)
        require(np.all(kind < 2), "a row is in two lists")
        self.inequality = np.zeros(rows, bool)
        self.inequality[integers(d["inequalities"], rows)] = True
        self.equation = kind == 0
        self.equation[0] = False
        self.fixed, self.dropped = np.zeros(self.p, bool), np.zeros(rows, bool)
        self.rays: dict[int, list[Fraction]] = {}
        order = np.argsort(self.A_blk, kind="stable")
        begins = np.searchsorted(self.A_blk[order], np.arange(self.K + 1))
        self.entries = [order[a:b] for a, b in pairwise(begins)]
        self.U = [sp.csc_array((int(n), 0)) for n in self.n]
        self.beside = self.U.copy()
        for (k,), i, v in ((integers([k], self.K), i, v) for k, i, v in d["U"]):
            self.add_null_vector(k, *_coefficients([i, v], self.n[k]))

    def _cone(self, kind: str, rows: Any, exponent: Any = None) -> tuple[str, Any, Any]:
        found, is_power = integers(rows, len(self.b), 1), kind == POWER
        require(kind in (SECOND_ORDER, EXPONENTIAL, POWER), f"the cone {kind!r} is unknown")
        require(len(found) == 3 or (kind == SECOND_ORDER and len(found)), "rows of a cone")
        require(0 < exponent < 1 if is_power else exponent is None, "exponent")
        return kind, exponent, found

    def add_null_vector(self, k: int, i: Any, v: Any) -> None:
        """Let X_k u be zero for a vector with entries v at i."""
        require(len(np.unique(i)) == len(i) and np.all(v != 0), "a null vector, twice or with zero")
        u = sp.csc_array((v, (i, np.zeros(len(i), int))), shape=(int(self.n[k]), 1))
        self.U[k] = sp.csc_array(sp.hstack([self.U[k], u]))


# -- second-order, exponential and power cones, in fractions and decimals -------------------------


def in_cone(
    kind: str, exponent: Any, at: Sequence[Fraction], radius: Sequence[Fraction], *, dual: bool
) -> bool:
    """Whether all points within a radius, entry by entry, lie in a cone, or in its dual."""
    if not any(at) and not any(radius):
        return True
    if kind == SECOND_ORDER:
        low = at[0] - radius[0]
        far = (abs(x) + r for x, r in zip(at[1:], radius[1:], strict=True))
        return low >= 0 and low**2 >= sum(x**2 for x in far)
    (x, y, z), (rx, ry, rz) = at, radius
    if kind == EXPONENTIAL:
        if dual:
            x, y, rx, ry = x - y, -x, rx + ry, rx
        return _in_exponential(x + rx, y - ry, y + ry, z - rz)
    a = Fraction(exponent)
    if dual:
        x, y, rx, ry = x / a, y / (1 - a), rx / a, ry / (1 - a)
    x, y, z = x - rx, y - ry, abs(z) + rz
    if x <= 0 or y <= 0 or z == 0:
        return x >= 0 and y >= 0 and z == 0
    return _is_positive([(a, x), (1 - a, y), (Fraction(-1), z)])


def _in_exponential(x: Fraction, low: Fraction, high: Fraction, z: Fraction) -> bool:
    """Whether z >= y exp(x / y) for all y in an interval, which is convex in y."""
    if low == high == 0:
        return x <= 0 and z >= 0
    if low <= 0 or z <= 0:
        return False
    return all(_is_positive([(Fraction(1), z / y)], -x / y) for y in (low, high))


def _is_positive(terms: Sequence[tuple[Fraction, Fraction]], more: Fraction = Fraction(0)) -> bool:
    """Whether a sum of weight log(number), and one more number, is positive, for certain."""
    with localcontext(Context(prec=60)):
        parts = [_decimal(weight) * _decimal(number).ln() for weight, number in terms]
        parts.append(_decimal(more))
        # Every operation is rounded to 60 digits.
        return sum(parts) > Decimal("1e-50") * (1 + sum(map(abs, parts)))


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


# -- numbers --------------------------------------------------------------------------------------


def whole(x: Any) -> tuple[Any, int]:
    """Doubles as Python's integers, and the power of two that is their unit."""
    power = int(np.frexp(x)[1].min(initial=0)) - 53
    return np.array([int(v) for v in np.ldexp(x, -power).tolist()], dtype=object), power


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
        Norm of what else may be added to D S D, for the diagonal of D.
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
    # U U' / w is to be four times as large as S, where S is not.
    scale = float(power_of_two(abs(S).sum(axis=1).max()))
    U = sp.csr_array(U @ sp.diags_array(scale * 2.0**-19 / power_of_two(norms(U.T))))
    w = scale * 2.0**-40
    try:
        order = _order(S, U)
        # If S - t I is semidefinite up to a loss that is below t less the error, so is all near S.
        shift = 1.5 * (_loss(S, U, w, 0.0, order) + error)
        return shift < math.inf and _loss(S, U, w, -shift, order) + error <= shift
    except RuntimeError:  # SuperLU found a pivot of zero
        return False


def _order(S: Any, U: Any) -> Any:
    """In which order rows of S, and of its border U, are eliminated; only time depends on it.

    A sparse S keeps some rows for the end: without its border it may be indefinite.
    """
    n, p = U.shape
    if n < 500 or S.nnz > 0.1 * n * n:
        return np.r_[n : n + p, :n]
    last = np.zeros(n, bool)
    last[np.random.default_rng(0).permutation(n)[: 30 * (p > 0)]] = True
    first = np.flatnonzero(~last)
    lu = splu(sp.csc_array(S[first][:, first]), permc_spec="MMD_AT_PLUS_A", **SYMMETRIC)
    return np.r_[first[np.argsort(lu.perm_c)], n : n + p, np.flatnonzero(last)]


def _loss(S: Any, U: Any, w: float, t: float, order: Any) -> float:
    """Some e with S + (t + e) I semidefinite on the complement of U, by a factorization L D L'.

    If [[S + t I, U], [U', -w I]] has as many negative eigenvalues as U has columns, then
    S + t I + U U' / w is semidefinite, by the complement of Schur.
    """
    n, p = U.shape
    M = sp.hstack([sp.vstack([S + t * sp.eye_array(n), U.T]), sp.vstack([U, -w * sp.eye_array(p)])])
    M = sp.csc_array(sp.csr_array(M)[order][:, order])
    lu = splu(M, permc_spec="NATURAL", **SYMMETRIC)
    L, d, border = sp.csr_array(lu.L), lu.U.diagonal(), order >= n
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
    # Rows of the border lack no more than half of w, which leaves it negative.
    is_small = np.all(np.isfinite(E)) and np.max(E[border], initial=0.0) < 0.5 * w
    return float(E[~border].max()) if is_small else math.inf


# -- values: a solution near a point --------------------------------------------------------------


def least_singular(J: Any) -> float:
    """A lower bound on the smallest singular value of the rows of J; zero without one."""
    m = J.shape[0]
    M = sp.csr_array(J @ J.T)
    size = float((abs(J) @ (abs(J.T) @ np.ones(m))).max())
    error = rounding(int(np.diff(J.indptr).max()) + 2) * size
    eye, nothing = sp.eye_array(m, format="csr"), sp.csc_array((m, 0))
    least = 0.7 * float(M.diagonal().min())
    while least > error:
        shifted = sp.csr_array(M - least * eye)
        if is_semidefinite(shifted, lambda d: error * float(np.max(d)) ** 2, nothing):
            return math.sqrt(least) * (1.0 - 1e-12)
        least /= 4.0
    return 0.0


def distance(J: Any, error: Any, missed: Any, bend: Any) -> float:
    """How far the nearest solution of some equations is, at most, in units of the columns of J.

    Parameters
    ----------
    J, error : sparse arrays
        Slopes, and bounds on their errors.
    missed, bend : arrays
        Bounds on what equations miss, and on the Frobenius norms of their quadratic parts.
    """
    # What nothing moves, and holds exactly, is left out.
    at = (error.sum(axis=1) > 0) | (missed > 0) | (bend > 0)
    J, error, missed, bend = J[at], error[at], missed[at], bend[at]
    lengths = norms(J)
    need(np.all(lengths > 0), "an equation that does not hold does not notice how the point moves")
    h = 1.0 / power_of_two(lengths)
    D = sp.diags_array(h)
    sigma = least_singular(sp.csr_array(D @ J)) - norm((D @ error).data)
    rho, kappa = max(norm(missed * h), LEAST_MISS), norm(bend * h)
    words = f"rho {rho:.1e}, sigma {sigma:.1e}, kappa {kappa:.1e}"
    need(sigma > 0, f"the equations are too near to dependent ({words})")
    need(4.0 * UP * kappa * rho <= sigma**2, f"no solution is proved near the point ({words})")
    return UP * (2.0 if kappa else 1.0) * rho / sigma


class System:
    """The rows at a point, and their slopes in the point's own units.

    Unknown are factors R of blocks, X = R R', so that these are semidefinite, or entries of blocks,
    and scalars. Rows: 0 the objective, 1 to m those of the program, then U' R = 0 and X U = 0.

    Attributes
    ----------
    exact, miss : arrays
        Left minus right sides: in units of 2^-660, and rounded once.
    units, unit : arrays
        Units of all unknowns, and of scalars; zero for what stays.
    bend : array
        Frobenius norms of the quadratic parts of rows, in these units.
    solved : array of bool
        The rows that are to hold as equations.
    own : dict from block to array of int
        Blocks that are no unknowns, but slack of these rows.
    given : dict from block to sparse array and array
        Blocks of which each entry is unknown: their upper triangles, and units of their rows.
    """

    def __init__(self, P: Program, w: Mapping[str, Any], *, ray: bool = False) -> None:
        self.P, R, self.z, unit = P, *(doubles(w[name]) for name in ("R", "z", "unit"))
        rank, rows = integers(w["rank"], ORDERS, BY_ENTRIES), P.m + 1
        need(len(rank) == P.K and len(self.z) == P.p, "the numbers of blocks and of scalars")
        sizes = np.where(rank == BY_ENTRIES, P.n * (P.n + 1) // 2, np.maximum(rank, 0) * P.n)
        orders = np.where(rank == SLACK, 0, P.n)
        is_right = len(R) == np.sum(sizes) and len(unit) == np.sum(orders) + P.p
        need(is_right and np.all(unit >= 0), "the sizes of factors and units, or a unit's sign")
        need(np.all(self.z[P.sign] >= 0), "a non-negative scalar is negative")
        need(not np.any(self.z[P.fixed]), "a scalar that vanishes does not")
        need(not ray or not np.any(self.z[P.q > 0]), "a direction has a scalar with curvature")
        self.solved = P.equation & ~P.dropped
        self.own = {k: own_rows(P, k) for k in np.flatnonzero(rank == SLACK).tolist()}
        for k, own in self.own.items():
            need(np.all(self.solved[own]), f"block {k} is not the slack of equations of its own")
            self.solved[own] = False
        *of_blocks, unit = np.split(unit, np.cumsum(orders))
        self.unit = np.where(P.fixed | ((P.q > 0) & ray), 0.0, unit)
        self.exact, self.bend = np.zeros(rows, object), np.zeros(rows)
        if not ray:
            self._add(np.arange(rows), *whole(np.r_[P.b[0], -P.b[1:]]))
        self._add_products(P.B_row, P.B_v, self.z, P.B_col)
        self._slopes, start = [(P.B_row, len(R) + P.B_col, P.B_v)], 0
        self.given: dict[int, tuple[Any, Any]] = {}
        units = [np.zeros(0)]
        for k, (size, c) in enumerate(zip(sizes.tolist(), of_blocks, strict=True)):
            numbers = R[start : start + size]
            if rank[k] == BY_ENTRIES:
                units.append(self._entries(k, numbers, c, start))
            elif rank[k] > 0:
                units.append(self._factor(k, numbers.reshape(-1, int(rank[k])), c, start))
            start += size
        self.units = np.concatenate([*units, self.unit])
        self.bend = np.r_[np.sqrt(self.bend) * UP, np.zeros(len(self.solved) - rows)]
        # Python rounds the quotient of two integers once.
        self.miss = np.array([x / ONE for x in self.exact])

    def _add(self, row: Any, terms: Any, power: int) -> None:
        """Add integers in units of a power of two to the rows, of which there may be more now."""
        total = np.zeros(len(self.solved), object)
        np.add.at(total, row, terms)
        total <<= DIGITS + power
        total[: len(self.exact)] += self.exact
        self.exact = total

    def _add_products(self, row: Any, v: Any, x: Any, place: Any) -> None:
        """Add v times the numbers of x at some places."""
        (v, power), (x, more) = whole(v), whole(x)
        self._add(row, v * x[place], power + more)

    def _factor(self, k: int, X: Any, c: Any, start: int) -> Any:
        """The terms and slopes of a matrix X X', and those of U' X; units of the numbers of X."""
        P, at, (n, r), U = self.P, self.P.entries[k], X.shape, self.P.U[k].tocoo()
        i, j, row = P.A_i[at], P.A_j[at], P.A_row[at]
        # What is given several times adds; an entry off the diagonal stands for two.
        size = np.abs(P.A_v[at]) * c[i] * c[j] * np.where(i == j, 1.0, 1.5)
        bend = sp.csr_array((size, (row, i * n + j)), shape=(P.m + 1, n * n))
        self.bend += bend.power(2).sum(axis=1)
        v = P.A_v[at] * np.where(i == j, 1.0, 2.0)
        factors, power = whole(X.ravel())
        products = 0
        for x in range(r):
            column, null = factors[x::r], len(self.solved) + U.col
            products = products + column[i] * column[j]
            self.solved = np.r_[self.solved, np.ones(U.shape[1], bool)]
            self._add_products(null, U.data, X[:, x], U.row)
            self._slopes += [(row, start + i * r + x, v * X[j, x])]
            self._slopes += [(row, start + j * r + x, v * X[i, x])]
            self._slopes += [(null, start + U.row * r + x, U.data)]
        weights, more = whole(v)
        self._add(row, weights * products, more + 2 * power)
        return np.repeat(c, r)

    def _entries(self, k: int, x: Any, c: Any, start: int) -> Any:
        """The terms and slopes of a matrix of which the entries are unknown; units of these."""
        P, at, n, U = self.P, self.P.entries[k], int(self.P.n[k]), self.P.U[k].tocoo()
        self.given[k] = sp.csr_array((x, np.triu_indices(n)), shape=(n, n)), c
        i, j, row = P.A_i[at], P.A_j[at], P.A_row[at]
        v = P.A_v[at] * np.where(i == j, 1.0, 2.0)
        # The equations X u = 0 of all rows.
        line, e = (z.ravel() for z in np.indices((n, U.nnz)))
        i, j = np.r_[i, np.minimum(line, U.row[e])], np.r_[j, np.maximum(line, U.row[e])]
        row, v = np.r_[row, len(self.solved) + U.col[e] * n + line], np.r_[v, U.data[e]]
        self.solved = np.r_[self.solved, np.ones(n * U.shape[1], bool)]
        place = i * (2 * n - i - 1) // 2 + j
        self._add_products(row, v, x, place)
        self._slopes.append((row, start + place, v))
        return np.multiply.outer(c, c)[np.triu_indices(n)]

    @cached_property
    def slopes(self) -> tuple[Any, Any]:
        """Slopes in the point's units, and bounds on their errors."""
        row, column, value = (np.concatenate(x) for x in zip(*self._slopes, strict=True))
        error = rounding(np.bincount(row, minlength=1).max()) * abs(value)
        D, shape = sp.diags_array(self.units), (len(self.solved), len(self.units))
        sums = (sp.csr_array((x, (row, column)), shape=shape) for x in (value, error))
        J, E = (sp.csr_array(x @ D) for x in sums)
        return J, E

    def value(self, *, inside: bool = False) -> float:
        """A number that the objective does not exceed at the exact solution nearby.

        ``inside`` asks for a solution that lies inside of all matrices and other cones.
        """
        P, rows, least = self.P, self.P.m + 1, INSIDE if inside else 0.0
        at, missed, far = self.solved, UP * abs(self.miss), 0.0
        if np.any(missed[at]):
            J, error = self.slopes
            far = distance(J[at], error[at], missed[at], self.bend[at])
        # How much rows change on the way to the exact solution.
        moved = np.zeros(len(at))
        if far:
            moved = UP * far * (norms(J) + norms(error) + self.bend * far)
        need(np.all(np.isfinite(moved)), "numbers overflow")
        keeps_signs = np.all((UP * far * self.unit <= self.z)[P.sign])
        need(keeps_signs, "a scalar may change its sign")
        # What is rounded once has the sign of what it was.
        slack, change = -self.miss[:rows], UP * (moved + UNIT * abs(self.miss))
        rest = P.inequality & ~self.solved[:rows] & ~P.dropped
        lacks = np.flatnonzero(rest & (slack - change[:rows] < 0))
        most = float(np.max(-slack[lacks], initial=0.0))
        need(not lacks.size, f"the inequalities {lacks[:9]} may fail by {most:.1e}")
        for kind, exponent, at in P.cones:
            point = [Fraction(-x, ONE) for x in self.exact[at]]
            around = [Fraction(max(x, least)) for x in moved[at].tolist()]
            within = in_cone(kind, exponent, point, around, dual=P.is_dual)
            need(within, f"the rows {at.tolist()[:9]} may leave their cone")
        for k in range(P.K) if inside else (*self.own, *self.given):
            is_right = self._is_semidefinite(k, slack, moved, far, least)
            need(is_right, f"block {k} is not proved positive {'' if inside else 'semi'}definite")
        curved = np.flatnonzero(P.q)
        squares = P.q * (UP * (abs(self.z) + far * self.unit)) ** 2 * (0.5 * UP)
        total = math.fsum([self.miss[0], change[0], *squares[curved]])
        return total + 2.0 * UNIT * abs(total)

    def _is_semidefinite(self, k: int, slack: Any, moved: Any, far: float, least: float) -> bool:
        """Whether a block that is no product of factors is so, wherever it moves."""
        P, entry, n = self.P, self.P.entries[k], int(self.P.n[k])
        if k in self.own:
            at, i, j = self.own[k], P.A_i[entry], P.A_j[entry]
            T = sp.csr_array((slack[at] * np.sign(P.A_v[entry]), (i, j)), shape=(n, n))
            return is_semidefinite(
                T, lambda d: max(least, 1.5 * norm(moved[at] * d[i] * d[j])), P.beside[k]
            )
        if k not in self.given:
            return False
        T, c = self.given[k]
        far *= 1.5 * UP
        return is_semidefinite(
            T, lambda d: max(least, far * float(np.max(c * d, initial=0.0)) ** 2), P.U[k]
        )


def own_rows(P: Program, k: int) -> Any:
    """The rows that define the entries of a block; those without one are taken to be zero."""
    at = P.entries[k]
    rows, place = P.A_row[at], P.A_i[at] * P.n[k] + P.A_j[at]
    are_ones = np.all(np.abs(P.A_v[at]) == np.where(P.A_i[at] == P.A_j[at], 1.0, 0.5))
    is_alone = len(at) == len(np.unique(place)) == len(np.unique(rows)) and np.all(P.equation[rows])
    need(
        are_ones and is_alone and not P.U[k].shape[1],
        f"block {k} is not the slack of equations of its own",
    )
    return rows


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
        entries of the blocks S that nothing adds to, as S has to be semidefinite on the complement
        of null vectors only. Without a, all multipliers and all entries are unknown.
    """
    is_whole, size = a is None, sum(U.shape[0] * U.shape[1] for U in P.U)
    need(not is_whole or np.sum(P.n * (P.n + 1)) <= MOST, "the dual program has too many rows")
    a = np.ones(size) if is_whole else a
    need(len(a) == size, "the multipliers of null vectors are not one for each entry")
    curved, kept, begin = np.flatnonzero(P.q), np.flatnonzero(~P.fixed), 0
    column_of = P.m + curved.size + np.cumsum(a != 0)
    # Rows of the entries (i, j) of all S: coefficients of y, then those of vectors a.
    first = np.r_[0, np.cumsum(P.n * P.n)]
    entries = [(first[P.A_blk] + P.A_i * P.n[P.A_blk] + P.A_j, P.A_row, P.A_v)]
    for k, U in enumerate(P.U):
        n = int(P.n[k])
        for start, end in pairwise(U.indptr):
            other = np.flatnonzero(a[begin : begin + n])
            i, j = (x.ravel() for x in np.meshgrid(U.indices[start:end], other, indexing="ij"))
            v = np.repeat(U.data[start:end], other.size) * np.where(i == j, 2.0, 1.0)
            place = first[k] + np.minimum(i, j) * n + np.maximum(i, j)
            entries.append((place, column_of[begin + j], v))
            begin += n
        if is_whole:
            i, j = np.triu_indices(n)
            entries.append((first[k] + i * n + j, 0 * i, 0.0 * i))
    place, column, v = (np.concatenate(x) for x in zip(*entries, strict=True))
    place, row = np.unique(place, return_inverse=True)
    blk = np.searchsorted(first, place, side="right") - 1
    i, j = divmod(place - first[blk], P.n[blk])
    # Then rows of scalars, of cones, and the last, of the multiplier of the objective.
    of_scalars = np.full(P.p, -1)
    of_scalars[kept] = 1 + place.size + np.arange(kept.size)
    ends = 1 + place.size + kept.size + np.cumsum([0, *(len(at) for _, _, at in P.cones)])
    last = int(ends[-1])
    B = [
        # The objective, to be minimised: minus the bound.
        (np.zeros(P.m + 1, int), np.arange(P.m + 1), np.r_[-P.b[0], P.b[1:]]),
        (1 + row, column, v),
        (of_scalars[P.B_col], P.B_row, -P.B_v),
        (of_scalars[curved], P.m + 1 + np.arange(curved.size), P.q[curved]),
        *(
            (np.arange(a, b), at, -np.ones(b - a))
            for (_, _, at), (a, b) in zip(P.cones, pairwise(ends), strict=True)
        ),
        (np.full(1, last), np.zeros(1, int), np.ones(1)),
    ]
    B_row, B_col, B_v = (np.concatenate(x) for x in zip(*B, strict=True))
    at, zeros = (B_row >= 0) & (B_v != 0), np.zeros(np.sum(a != 0))
    D = Program(
        {
            "sense": 1,
            "n": P.n,
            "A": [1 + np.arange(place.size), blk, i, j, np.where(i == j, -1.0, -0.5)],
            "B": [B_row[at], B_col[at], B_v[at]],
            "b": np.r_[np.zeros(last), 1.0],
            "inequalities": of_scalars[P.sign & ~P.fixed],
            "cones": [
                (kind, np.arange(a, b), *([] if exponent is None else [exponent]))
                for (kind, exponent, _), (a, b) in zip(P.cones, pairwise(ends), strict=True)
            ],
            "nonnegative": np.flatnonzero(P.inequality & ~P.equation),
            "q": np.r_[np.zeros(P.m + 1), P.q[curved], zeros],
            "U": [],
        }
    )
    D.is_dual, D.beside = True, D.U if is_whole else P.U
    return D


def lower(P: Program, w: Mapping[str, Any], *, ray: bool = False) -> float:
    """A number that the objective does not fall below at any feasible point.

    Along a direction of multipliers a number above zero says that there is no feasible point.

    Parameters
    ----------
    P : Program
    w : dict
        ``z``, multipliers of rows, and of scalars with curvature; their ``unit``; and ``a``.
    ray : bool, default False
    """
    a = doubles(w["a"]) if "a" in w else np.zeros(sum(U.shape[0] * U.shape[1] for U in P.U))
    D, more = dual(P, a), a[a != 0]
    point = {"rank": np.full(P.K, SLACK), "R": []}
    point |= {"z": np.r_[w["z"], more], "unit": np.r_[w["unit"], 0.0 * more]}
    return -upper(D, point, ray=ray)


# -- faces and other exact steps, in fractions ----------------------------------------------------


def _fraction(text: str) -> Fraction:
    # Python reads no integer of more than 4300 digits, but powers of ten of any length.
    need(set(text) <= set("-/.0123456789"), "a fraction is more than digits")
    return Fraction(text)


def _vector(text: Mapping[str, str], n: int) -> dict[int, Fraction]:
    found = {int(i): _fraction(x) for i, x in text.items()}
    need(all(0 <= i < n for i in found), "a vector has an entry out of range")
    return found


def combine(
    P: Program, step: Mapping[str, Any], *, objective: bool = False
) -> tuple[Any, Any, Any]:
    """Multipliers of an exact step, whose combination of rows is a sum of squares on the face.

    Returns
    -------
    y : dict from row to Fraction
    s : list of Fraction
        The combination's coefficients of scalars, which are those of non-negative ones.
    squares : list of block and vector w
        The combination is equal to a weighted sum of these w w', on the face known.
    """
    y = _vector(step["y"], P.m + 1)
    need(objective or 0 not in y, "a step has a multiplier of the objective")
    need(not any(P.dropped[i] for i in y), "a step has a multiplier of a row that is left out")
    are_signed = all(v >= 0 for i, v in y.items() if P.inequality[i] and not P.equation[i])
    need(are_signed, "a step has a negative multiplier of an inequality")
    for c, (kind, exponent, rows) in enumerate(P.cones):
        at = [y.get(i, Fraction(0)) for i in rows.tolist()]
        nothing = [Fraction(0)] * len(at)
        inside = (
            _product(P.rays[c], at) >= 0
            if c in P.rays
            else in_cone(kind, exponent, at, nothing, dual=not P.is_dual)
        )
        need(inside, "a step has multipliers of a cone that are not in its dual")
    # The combination of rows by block and entry, less its squares.
    W, s = defaultdict[tuple[int, int, int], Fraction](Fraction), [Fraction(0)] * P.p
    for t in np.flatnonzero(np.isin(P.A_row, list(y))).tolist():
        place = (int(P.A_blk[t]), int(P.A_i[t]), int(P.A_j[t]))
        W[place] += y[int(P.A_row[t])] * Fraction(P.A_v[t])
    for t in np.flatnonzero(np.isin(P.B_row, list(y))).tolist():
        s[P.B_col[t]] += y[int(P.B_row[t])] * Fraction(P.B_v[t])
    for j, x in enumerate(s):
        is_right = P.fixed[j] or x == 0 or (x > 0 and P.sign[j])
        need(is_right, f"a step leaves the coefficient {x} of scalar {j}")
    squares = []
    for k, given, text in step["squares"]:
        weight = _fraction(given)
        need(0 <= k < P.K and weight > 0, "a square has no block, or no positive weight")
        w = _vector(text, int(P.n[k]))
        are_whole = any(w.values()) and all(x == int(x) and abs(x) < 2**53 for x in w.values())
        need(are_whole, "a square is not of whole numbers that doubles hold")
        squares.append((k, w))
        for i, j in combinations_with_replacement(sorted(w), 2):
            W[k, i, j] -= weight * w[i] * w[j]
    for k, column, text in step["known"]:
        need(0 <= k < P.K and 0 <= column < P.U[k].shape[1], "a step names an unknown null vector")
        u = P.U[k][:, [column]].tocoo()
        for j, v in _vector(text, int(P.n[k])).items():
            for i, x in zip(u.row.tolist(), u.data.tolist(), strict=True):
                W[k, min(i, j), max(i, j)] -= Fraction(x) * v * (2 if i == j else 1)
    need(not any(W.values()), "the squares of a step are not those of its rows")
    return y, s, squares


def take_faces(P: Program, steps: Sequence[Mapping[str, Any]]) -> bool:
    """Take steps onto faces; True if one of them leaves no feasible point."""
    products_of_all = sum(len(w) ** 2 for step in steps for _, _, w in step["squares"])
    need(products_of_all <= PRODUCTS, "the squares of the steps are too long")
    for step in steps:
        y, s, squares = combine(P, step)
        side = sum(v * Fraction(P.b[i]) for i, v in y.items())
        need(side <= 0, "the right side of a step is positive")
        if side < 0:
            return True
        for i, v in y.items():
            P.equation[i] |= P.inequality[i] and v > 0
        P.fixed |= np.array([x > 0 for x in s], bool)
        if step.get("drop") is not None:
            row = int(step["drop"])
            need(y.get(row, 0) != 0, "a row is left out that a step does not use")
            need(all(P.equation[i] for i in y), "a row is left out that follows from cones")
            P.dropped[row] = True
        for k, w in squares:
            some = {i: float(x) for i, x in w.items() if x}
            P.add_null_vector(k, np.array(list(some)), np.array(list(some.values())))
        for c, (kind, _, rows) in enumerate(P.cones):
            at = [y.get(i, Fraction(0)) for i in rows.tolist()]
            if kind == SECOND_ORDER and any(at):
                ray = P.rays.get(c, [at[0], *(-x for x in at[1:])])
                is_left = _product(ray, at) == 0
                P.rays[c] = [x * is_left for x in ray]
    return False


def _product(a: Sequence[Fraction], x: Sequence[Fraction]) -> Fraction:
    return sum((v * w for v, w in zip(a, x, strict=True)), Fraction(0))


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
        P = Program(program)
        with np.errstate(all="ignore"):
            _prove(P, proof)
    except DAMAGED as error:
        words = f"it cannot be read: {type(error).__name__} {error}"
        raise NoProofFileError(words) from None
    return {"program": proof["program"], "sense": P.sense, **proof["claims"]}


def _prove(P: Program, proof: Mapping[str, Any]) -> None:
    """Go on only where every claim of a proof is proved."""
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


def _exactly(P: Program, step: Mapping[str, Any]) -> Any:
    """The bound of an exact step, as a fraction."""
    y = combine(P, step, objective=True)[0]
    need(y.pop(0, 0) == 1, "the multiplier of the objective is not one")
    return Fraction(P.b[0]) - sum(v * Fraction(P.b[i]) for i, v in y.items())


def describe(proved: Mapping[str, Any]) -> str:
    """What `check` found, in words."""
    worse, better = ("above", "below") if proved["sense"] > 0 else ("below", "above")
    words = {
        "value": f"a feasible point exists whose objective is not {worse} {{!r}}",
        "bound": f"no feasible point has an objective {better} {{!r}}",
        "infeasible": "no point is feasible",
        "unbounded": f"feasible points have objectives {better} any number",
    }
    return "; ".join(words[claim].format(proved[claim]) for claim in CLAIMS if claim in proved)


def main(paths: Sequence[str]) -> int:
    """Check files, and print a line about each; the exit code."""
    worst = 0 if paths else 2
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
