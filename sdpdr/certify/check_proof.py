"""Check proof files of semidefinite programs: ``python check_proof.py FILE...``.

The page "Proof files" (``docs/guide/proof_files.rst``) says what a file holds and why its parts
prove what it claims; the words and the order here are those of that page. Exit codes: 0 where
every claim of every file is proved, 1 where one is not, 2 where one is no proof file.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

EQUATION, INEQUALITY, SECOND_ORDER, EXPONENTIAL, POWER = range(5)
INTEGERS, DOUBLES = "iu", "f"
# The arrays of a program, in the order of its hash, and those of witnesses.
PROGRAM = {
    **dict.fromkeys(("sense", "n", "A_row", "A_blk", "A_i", "A_j"), INTEGERS),
    "A_v": DOUBLES,
    **dict.fromkeys(("B_row", "B_col"), INTEGERS),
    **dict.fromkeys(("B_v", "b"), DOUBLES),
    **dict.fromkeys(("rel", "cone"), INTEGERS),
    "exponent": DOUBLES,
    "sign": INTEGERS,
    "q": DOUBLES,
    **dict.fromkeys(("U_blk", "U_col", "U_i"), INTEGERS),
    "U_v": DOUBLES,
}
POINT = {"rank": INTEGERS, **dict.fromkeys(("R", "z", "unit"), DOUBLES)}
WITNESS = {
    **{f"{whose}_{name}": kind for whose in ("point", "ray") for name, kind in POINT.items()},
    **dict.fromkeys(("dual_z", "dual_unit", "dual_a"), DOUBLES),
}
CLAIMS = ("value", "bound", "infeasible", "unbounded")
# Half a unit in the last place of one. UP and TINY pay for the rounding of a bound on rounding.
UNIT, UP, TINY = 2.0**-53, 1.0 + 1e-9, 1e-290
SMALLEST, LARGEST = 1e-50, 1e50
# What is missed at all is taken for more than this: no product of it with units underflows.
LEAST_MISS = 1e-60
# Rows of matrices up to which dense ones are factorized.
DENSE = 3000
# Ranks of blocks that are slack of equations of their own, and of those given entry by entry.
SLACK, BY_ENTRIES = -1, -2
# The least radius, so that what lies in a cone with all that is as near lies inside of it.
INSIDE = 1e-45
# What is refused, so that no file takes for ever: bytes of a file, unpacked, and of its text; the
# sum of the orders of matrices; exact steps, bits of the common denominator of the numbers of one,
# products in their squares; and entries of matrices of which a whole dual program is written.
BYTES, TEXT, ORDERS = 2**30, 2**24, 10_000_000
STEPS, BITS, PRODUCTS, MOST = 10_000, 10_000, 10_000_000, 200_000


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


# -- the archive ----------------------------------------------------------------------------------


def read(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The text and the arrays of a file, each of the type that the page says."""
    try:
        with zipfile.ZipFile(path) as archive:
            require(sum(x.file_size for x in archive.infolist()) <= BYTES, "it is too large")
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            require(len(names) == len(set(names)), "two of its members have one name")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
        require(arrays["json"].nbytes <= TEXT, "its text is too long")
        head = json.loads(arrays.pop("json").tobytes())
        known = head["format"] == "sdp-proof" and head["version"] == 4
        hashes, claims = (head["program"], head["witness"]), head["claims"]
    except NoProofFileError:
        raise
    except zipfile.BadZipFile as error:
        raise NoProofFileError(f"it is no archive: {error}") from None
    except Exception as error:  # readers of archives raise anything where bytes are damaged
        raise NoProofFileError(f"it cannot be read: {type(error).__name__} {error}") from None
    require(known, "it is of another format, or of another version of it")
    missing = [name for name in PROGRAM if name not in arrays]
    require(not missing, f"the arrays {missing} are missing")
    for name, x in arrays.items():
        kind = PROGRAM.get(name) or WITNESS.get(name)
        require(kind is not None, f"the array {name!r} is unknown")
        require(x.ndim == 1 and x.dtype.kind in str(kind), f"{name} is no vector of type {kind!r}")
        require(kind == INTEGERS or x.dtype == "<f8", f"{name} is not of doubles")
    require(hashes[0] == program_hash(arrays), "the hash is not that of its program")
    require(hashes[1] == witness_hash(head, arrays), "the hash is not that of its witnesses")
    require(isinstance(claims, dict) and claims, "it claims nothing")
    for claim, number in claims.items():
        require(claim in CLAIMS, f"the claim {claim!r} is unknown")
        is_number = isinstance(number, float) and math.isfinite(number)
        is_right = is_number if claim in ("value", "bound") else number is True
        require(is_right, f"the claim {claim!r} cannot be {number!r}")
    for name, x in arrays.items():
        if x.dtype.kind == DOUBLES:
            usual = (x == 0.0) | ((abs(x) > SMALLEST) & (abs(x) < LARGEST))
            require(np.all(usual), f"{name} has numbers beyond 1e-50 and 1e50")
        else:
            require(np.all(x <= np.iinfo(np.int64).max), f"{name} has numbers beyond 64 bits")
            arrays[name] = x.astype(np.int64)
    return head, arrays


def digest(arrays: Mapping[str, Any], names: Iterable[str], text: str = "") -> str:
    """SHA-256 over some arrays, with their names, types and shapes, and over a text."""
    found = hashlib.sha256()
    for name in names:
        x = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {x.dtype.str} {x.shape};".encode() + x.tobytes())
    found.update(text.encode())
    return found.hexdigest()


def program_hash(arrays: Mapping[str, Any]) -> str:
    """The hash that names a program."""
    return digest(arrays, PROGRAM)


def witness_hash(head: Mapping[str, Any], arrays: Mapping[str, Any]) -> str:
    """The hash of all that is no program."""
    known = {name: head.get(name) for name in ("claims", "dual", "exact", "faces")}
    text = json.dumps(known, sort_keys=True, separators=(",", ":"))
    return digest(arrays, sorted(set(arrays) - set(PROGRAM)), text)


# -- the program ----------------------------------------------------------------------------------


class Program:
    """The program of a file, and what its faces add to it; or the dual program of one.

    Attributes
    ----------
    equation : array of bool
        Rows that are equations, also where faces have made them so.
    fixed : array of bool
        Scalars that are proved to vanish.
    dropped : array of bool
        Equations that follow from others.
    U : list of sparse arrays
        Null vectors of blocks, as columns.
    rays : dict from cone to list of Fraction
        Second-order cones whose points are multiples of this vector.
    own : dict from block to array of int
        Blocks whose entries are those of these rows and zero elsewhere, in a dual program.
    of : Program, optional
        The program that a dual program is of; its cones are the duals of those of the other.
    """

    def __init__(self, d: Mapping[str, Any], of: Program | None = None) -> None:
        self.sense, self.n = d["sense"], d["n"]
        self.A_row, self.A_blk, self.A_i, self.A_j = d["A_row"], d["A_blk"], d["A_i"], d["A_j"]
        self.B_row, self.B_col = d["B_row"], d["B_col"]
        self.A_v, self.B_v, self.b, self.q = d["A_v"], d["B_v"], d["b"], d["q"]
        self.rel, self.cone, self.exponent = d["rel"], d["cone"], d["exponent"]
        self.sign = d["sign"]
        self.K, self.m, self.p = len(self.n), len(self.b) - 1, len(self.sign)
        rows, sizes = self.m + 1, {"A": len(self.A_v), "B": len(self.B_v), "U": len(d["U_v"])}
        require(self.sense.tolist() in ([1], [-1]), "sense is 1 or -1")
        require(rows > 0 and len(self.rel) == len(self.cone) == rows, "b, rel, cone")
        require(len(self.q) == self.p, "sign and q have different lengths")
        tops = {"A_row": rows, "A_blk": self.K, "A_i": None, "A_j": None, "B_row": rows}
        tops |= {"B_col": self.p, "U_blk": self.K, "U_col": None, "U_i": None}
        for name, top in tops.items():
            x = d[name]
            require(len(x) == sizes[name[0]], f"{name} and {name[0]}_v have different lengths")
            require(np.all(x >= 0) and (top is None or np.all(x < top)), f"{name} is out of range")
        require(np.all((self.n >= 0) & (self.n <= ORDERS)), "n is out of range")
        require(np.sum(self.n) <= ORDERS, "the orders of its matrices add up to too much")
        require(np.all(self.A_i <= self.A_j), "A_i exceeds A_j")
        require(np.all(self.A_j < self.n[self.A_blk]), "A_j is out of range")
        require(np.all(d["U_i"] < self.n[d["U_blk"]]), "U_i is out of range")
        require(np.all((self.sign == 0) | (self.sign == 1)), "sign is 0 or 1")
        require(np.all(self.q >= 0) and np.all((self.q == 0) | (self.sign == 0)), "q")
        self.cones = _cones(self.rel, self.cone, self.exponent)
        self.rays: dict[int, list[Fraction]] = {}
        self.own: dict[int, Any] = {}
        self.of = of
        self.equation = self.rel == EQUATION
        self.equation[0] = False
        self.fixed, self.dropped = np.zeros(self.p, bool), np.zeros(rows, bool)
        order = np.argsort(self.A_blk, kind="stable")
        begins = np.searchsorted(self.A_blk[order], np.arange(self.K + 1))
        self.entries = [order[a:b] for a, b in pairwise(begins)]
        self.U = []
        for k in range(self.K):
            at = d["U_blk"] == k
            shape = (int(self.n[k]), int(d["U_col"][at].max(initial=-1)) + 1)
            require(shape[1] <= shape[0], f"block {k} has more null vectors than rows")
            U = sp.csc_array((d["U_v"][at], (d["U_i"][at], d["U_col"][at])), shape=shape)
            require(U.nnz == np.sum(at), "a null vector has an entry twice")
            require(np.all(U.data != 0), "a null vector has an entry of zero")
            self.U.append(U)


def _cones(rel: Any, cone: Any, exponent: Any) -> list[tuple[int, float, Any]]:
    """The cones of rows: kind, exponent and rows of each."""
    in_cone = rel >= SECOND_ORDER
    require(np.all((rel >= EQUATION) & (rel <= POWER)) and rel[0] == EQUATION, "rel")
    number_is_right = np.where(in_cone, (cone >= 0) & (cone < len(exponent)), cone == -1)
    require(np.all(number_is_right), "cone is the number of a cone, or -1")
    order = np.argsort(cone, kind="stable")
    ends = np.searchsorted(cone[order], np.arange(len(exponent) + 1))
    found = []
    for a, (begin, end) in zip(exponent.tolist(), pairwise(ends), strict=True):
        rows = order[begin:end]
        kinds = set(rel[rows].tolist())
        require(len(kinds) == 1, "the rows of a cone are of one kind")
        (kind,) = kinds
        require(kind == SECOND_ORDER or len(rows) == 3, "such a cone has three rows")
        require(0.0 < a < 1.0 if kind == POWER else a == 0.0, "exponent")
        found.append((kind, a, rows))
    return found


# -- second-order, exponential and power cones, in fractions and decimals -------------------------


def in_cone(P: Program, c: int, at: Any, radius: Any, *, dual: bool) -> bool:
    """Whether all numbers of the rows of a cone within a radius lie in it; or multipliers, dual.

    Where a face has left the multiples of a vector, multipliers lie in a half-space.
    """
    kind, exponent, _ = P.cones[c]
    at, radius = ([Fraction(x) for x in v] for v in (at, radius))
    of_face = {} if P.of is None else P.of.rays
    need(not (dual and c in of_face), "the dual of a face of a second-order cone is not written")
    ray = (P.rays if dual else of_face).get(c)
    if ray is not None:
        return sum(a * x - abs(a) * r for a, x, r in zip(ray, at, radius, strict=True)) >= 0
    return box_in_cone(kind, exponent, at, radius, dual=dual != (P.of is not None))


def box_in_cone(
    kind: int, exponent: float, at: Sequence[Fraction], radius: Sequence[Fraction], *, dual: bool
) -> bool:
    """Whether all points within a radius, entry by entry, lie in a cone, or in its dual."""
    if not any(at) and not any(radius):
        return True
    if kind == SECOND_ORDER:
        low = at[0] - radius[0]
        far = (abs(x) + r for x, r in zip(at[1:], radius[1:], strict=True))
        return low >= 0 and low**2 >= sum(x**2 for x in far)
    a = Fraction(exponent)
    (x, y, z), (rx, ry, rz) = at, radius
    if kind == EXPONENTIAL:
        if dual:
            x, y, rx, ry = x - y, -x, rx + ry, rx
        return _in_exponential(x + rx, y - ry, y + ry, z - rz)
    if dual:
        x, y, rx, ry = x / a, y / (1 - a), rx / a, ry / (1 - a)
    x, y, z = x - rx, y - ry, abs(z) + rz
    if x < 0 or y < 0 or z == 0 or x == 0 or y == 0:
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


def rounding(terms: Any) -> Any:
    """Relative error of a floating-point sum of so many products, at most."""
    return UP * (terms + 2) * UNIT


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded product of doubles, and the rest, exactly (Dekker, Veltkamp)."""
    p, s, t = a * b, a * 134217729.0, b * 134217729.0
    a_high, b_high = s - (s - a), t - (t - b)
    a_low, b_low = a - a_high, b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


def sums(place: Any, terms: Any, size: int) -> Any:
    """Sums of the terms at each place, each rounded once."""
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(size + 1)).tolist()
    listed = terms[order].tolist()
    return np.array([math.fsum(listed[a:b]) for a, b in pairwise(ends)], dtype=float)


def norm(x: Any) -> float:
    """An upper bound on the Euclidean norm."""
    size = float(np.max(np.abs(x), initial=0.0))
    if not math.isfinite(size):
        return math.inf
    if not size:
        return 0.0
    unit = float(power_of_two(size))
    return float(np.sqrt(np.sum(np.square(np.asarray(x) / unit)))) * unit * UP + TINY


def power_of_two(x: Any) -> Any:
    """The power of two next to a positive number: a factor that rounds nothing."""
    return np.exp2(np.round(np.log2(np.maximum(x, 1e-250))))


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
    kept = np.ones(S.shape[0], bool)
    # A null vector with one entry is a row and a column of zeros.
    alone = np.flatnonzero(np.diff(U.indptr) == 1)
    kept[U.indices[U.indptr[alone]]] = False
    if not radius(1.0 * kept):
        kept &= np.diff(S.indptr) > 0  # all matrices near S are zero elsewhere
    if not kept.any():
        return True
    rows = U.tocsr()
    U = rows[kept][:, np.diff(rows[~kept].tocsc().indptr) == 0].tocsc()
    S, d = sp.csr_array(S[kept][:, kept]), 1.0 * kept
    # D S D is as definite as S, and next to one on the diagonal; but it may move by more.
    scaled = d.copy()
    scaled[kept] = power_of_two(1.0 / np.sqrt(np.maximum(S.diagonal(), 1e-200)))
    choices = [d] if np.any(S.diagonal() <= 0) else [scaled, d] if radius(d) else [scaled]
    return any(_exceeds(S, U, d[kept], radius(d)) for d in choices)


def _exceeds(S: Any, U: Any, d: Any, radius: float) -> bool:
    """Whether D S D is definite on the complement of U by more than its rounding and a radius."""
    D = sp.diags_array(d)
    S, U = sp.csr_array(D @ S @ D), sp.csc_array(D @ U)
    lengths = np.sqrt(np.asarray(U.power(2).sum(axis=0)).ravel())
    U = sp.csc_array(U @ sp.diags_array(1.0 / power_of_two(lengths)))
    error = UP * (UNIT * float(abs(S).sum(axis=1).max()) + radius) + TINY
    if not math.isfinite(error):
        return False
    # If S - t I is semidefinite up to a loss that is below t less the error, so is all near S.
    loss = _loss(S, U, 0.0)
    if loss is None:
        return False
    shift = 1.5 * (loss + error)
    loss = _loss(S, U, -shift)
    return loss is not None and loss + error <= shift


def _loss(S: Any, U: Any, t: float) -> float | None:
    """Some e with S + (t + e) I semidefinite on the complement of U, by a factorization L D L'.

    If [[S + t I, U], [U', -w I]] has as many negative eigenvalues as U has columns, then
    S + t I + U U' / w is semidefinite, by the complement of Schur.
    """
    n, p = U.shape
    scale = float(power_of_two(abs(S).sum(axis=1).max()))
    # U U' / w is four times as large as S, where S is not.
    U, w = U * (scale * 2.0**-19), scale * 2.0**-40
    N = sp.csr_array(S + t * sp.eye_array(n))
    is_sparse = n > 500 and S.nnz <= 0.1 * n * n
    if n > DENSE and not is_sparse:
        return None
    try:
        M, L, d, border = (_sparse_factors if is_sparse else _dense_factors)(N, U, w)
    except (RuntimeError, np.linalg.LinAlgError):
        return None
    is_triangle = sp.triu(L, 1).nnz == 0 and np.all(L.diagonal() != 0)
    if not is_triangle or not np.all(np.isfinite(d)) or np.any(d == 0) or np.sum(d < 0) != p:
        return None
    # An entry of the product has no more terms than its row of L has entries.
    terms = np.diff(L.indptr) if is_sparse else n + p
    size = abs(L) @ (abs(d) * (abs(L.T) @ np.ones(n + p))) + abs(M).sum(axis=1) + abs(t)
    E = abs(M - L @ sp.diags_array(d) @ L.T).sum(axis=1)
    E = UP * (E + rounding(terms + 3) * size) + TINY
    # Rows of the border lack no more than half of w, which leaves it negative.
    is_small = np.all(np.isfinite(E)) and np.max(E[border], initial=0.0) < 0.5 * w
    return float(E[~border].max()) if is_small else None


def _dense_factors(N: Any, U: Any, w: float) -> tuple[Any, Any, Any, Any]:
    """The matrix with the border first, its factors, and where the border is."""
    N, U, (n, p) = N.toarray(), U.toarray(), U.shape
    M = np.block([[-w * np.eye(p), U.T], [U, N]])
    C = np.linalg.cholesky(N + U @ U.T / w)
    L = np.block([[np.eye(p), np.zeros((p, n))], [U / -w, C]])
    return M, L, np.r_[np.full(p, -w), np.ones(n)], np.arange(n + p) < p


def _sparse_factors(N: Any, U: Any, w: float) -> tuple[Any, Any, Any, Any]:
    """The same with rows of N, those of U, then some of N: without U, N may be indefinite.

    Nothing depends on the order but the time that it takes.
    """
    n, p = U.shape
    mode: Any = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    last = np.zeros(n, bool)
    last[np.random.default_rng(0).permutation(n)[: 30 * (p > 0)]] = True
    first = np.flatnonzero(~last)
    inner = splu(sp.csc_array(N[first][:, first]), permc_spec="MMD_AT_PLUS_A", **mode)
    order = np.r_[first[np.argsort(inner.perm_c)], n + np.arange(p), np.flatnonzero(last)]
    M = sp.block_array([[N, U], [U.T, -w * sp.eye_array(p)]]) if p else N
    M = sp.csr_array(sp.csr_array(M)[order][:, order])
    lu = splu(sp.csc_array(M), permc_spec="NATURAL", **mode)
    if np.any(lu.perm_r != np.arange(n + p)):
        raise RuntimeError("rows were exchanged")
    return M, sp.csr_array(lu.L), lu.U.diagonal(), order >= n


# -- values: a solution near a point --------------------------------------------------------------


def least_singular(J: Any) -> float:
    """A lower bound on the smallest singular value of the rows of J; zero without one."""
    m = J.shape[0]
    if m == 0:
        return math.inf
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


def distance(J: Any, size: Any, terms: Any, missed: Any, bend: Any) -> float:
    """How far the nearest solution of some equations is, at most, in units of the columns of J.

    Parameters
    ----------
    J, size : sparse arrays
        Slopes, and the sums of the sizes of their terms.
    terms : int
        As many products are in a slope, at most.
    missed, bend : arrays
        Bounds on what equations miss, and on the Frobenius norms of their quadratic parts.
    """
    # What nothing moves, and holds exactly, is left out.
    at = (size.sum(axis=1) > 0) | (missed > 0) | (bend > 0)
    J, size, missed, bend = J[at], size[at], missed[at], bend[at]
    lengths = _lengths(J)
    need(np.all(lengths > 0), "an equation that does not hold does not notice how the point moves")
    h = 1.0 / power_of_two(lengths)
    D = sp.diags_array(h)
    sigma = least_singular(sp.csr_array(D @ J)) - rounding(terms) * norm((D @ size).data)
    rho, kappa = max(norm(missed * h), LEAST_MISS), norm(bend * h)
    words = f"rho {rho:.1e}, sigma {sigma:.1e}, kappa {kappa:.1e}"
    need(sigma > 0, f"the equations are too near to dependent ({words})")
    need(4.0 * UP * kappa * rho <= sigma**2, f"no solution is proved near the point ({words})")
    return UP * (2.0 if kappa else 1.0) * rho / sigma


def _lengths(J: Any) -> Any:
    """Upper bounds on the Euclidean norms of rows; zero only of rows of zeros."""
    J, largest = sp.csr_array(J), np.zeros(J.shape[0])
    row = np.repeat(np.arange(largest.size), np.diff(J.indptr))
    np.maximum.at(largest, row, np.abs(J.data))
    unit = power_of_two(largest)
    squares = np.bincount(row, np.square(J.data / unit[row]), largest.size)
    return np.sqrt(squares) * unit * UP


class System:
    """The rows at a point, and their slopes in the point's own units.

    Unknown are factors R of blocks, X = R R', so that these are semidefinite, or entries of blocks,
    and scalars. Rows: 0 the objective, 1 to m those of the program, then U' R = 0.

    Attributes
    ----------
    miss, error : arrays
        Left minus right sides, and how far rounding may have moved them.
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
        self.P, self.z, rows = P, w["z"], P.m + 1
        R, rank = w["R"], w["rank"]
        are_ranks = len(rank) == P.K and np.all((rank >= BY_ENTRIES) & (rank <= P.n))
        need(are_ranks, "the ranks of the factors")
        sizes = np.where(rank == BY_ENTRIES, P.n * (P.n + 1) // 2, np.maximum(rank, 0) * P.n)
        orders = np.where(rank == SLACK, 0, P.n)
        is_right = len(R) == np.sum(sizes) and len(w["unit"]) == np.sum(orders) + P.p
        need(is_right and len(self.z) == P.p, "the sizes of factors and scalars")
        need(np.all(self.z[P.sign == 1] >= 0), "a non-negative scalar is negative")
        need(np.all(self.z[P.fixed] == 0), "a scalar that vanishes does not")
        need(not ray or np.all(self.z[P.q > 0] == 0), "a direction has a scalar with curvature")
        need(np.all(w["unit"] >= 0), "a unit is negative")
        self.solved = P.equation & ~P.dropped
        self.own = {k: own_rows(P, k) for k in np.flatnonzero(rank == SLACK).tolist()}
        for k, own in self.own.items():
            need(np.all(self.solved[own]), f"block {k} is not the slack of equations of its own")
            self.solved[own] = False
        *of_blocks, unit = np.split(w["unit"], np.cumsum(orders))
        self.unit = np.where(P.fixed | ((P.q > 0) & ray), 0.0, unit)
        self._low, self.bend = np.zeros(rows), np.zeros(rows)
        b = np.zeros(rows) if ray else np.r_[P.b[:1], -P.b[1:]]
        self._terms = [(np.arange(rows), b)]
        self._terms += [(P.B_row, x) for x in two_product(P.B_v, self.z[P.B_col])]
        self._slopes = [(P.B_row, len(R) + P.B_col, P.B_v)]
        units, self.given, start = [np.zeros(0)], dict[int, tuple[Any, Any]](), 0
        for k, (size, c) in enumerate(zip(sizes.tolist(), of_blocks, strict=True)):
            numbers = R[start : start + size]
            if rank[k] == BY_ENTRIES:
                units.append(self._entries(k, numbers, c, start))
            elif rank[k] > 0:
                units.append(self._factor(k, numbers.reshape(-1, int(rank[k])), c, start))
            start += size
        self.units = np.concatenate([*units, self.unit])
        more = len(self.solved) - rows
        self.bend = np.r_[np.sqrt(self.bend) * UP, np.zeros(more)]
        place, terms = (np.concatenate(x) for x in zip(*self._terms, strict=True))
        self.miss = sums(place, terms, len(self.solved))
        self.error = UP * (np.r_[self._low, np.zeros(more)] + UNIT * abs(self.miss))

    def _factor(self, k: int, X: Any, c: Any, start: int) -> Any:
        """The terms and slopes of a matrix X X', and those of U' X; units of the numbers of X."""
        P, at, (n, r) = self.P, self.P.entries[k], X.shape
        i, j, row = P.A_i[at], P.A_j[at], P.A_row[at]
        # What is given several times adds; an entry off the diagonal stands for two.
        size = np.abs(P.A_v[at]) * c[i] * c[j] * np.where(i == j, 1.0, 1.5)
        bend = sp.csr_array((size, (row, i * n + j)), shape=(P.m + 1, n * n))
        self.bend += bend.power(2).sum(axis=1)
        v = P.A_v[at] * np.where(i == j, 1.0, 2.0)
        U = P.U[k].tocoo()
        for x in range(r):
            product, rest = two_product(X[i, x], X[j, x])
            self._terms += [(row, part) for part in (*two_product(v, product), v * rest)]
            self._low += np.bincount(row, 2.0 * UNIT * abs(v * rest), P.m + 1)
            self._slopes += [(row, start + i * r + x, v * X[j, x])]
            self._slopes += [(row, start + j * r + x, v * X[i, x])]
            null = len(self.solved) + U.col
            self._terms += [(null, part) for part in two_product(U.data, X[U.row, x])]
            self._slopes.append((null, start + U.row * r + x, U.data))
            self.solved = np.r_[self.solved, np.ones(U.shape[1], bool)]
        return np.repeat(c, r)

    def _entries(self, k: int, x: Any, c: Any, start: int) -> Any:
        """The terms and slopes of a matrix of which the entries are unknown; units of these."""
        P, at, n, U = self.P, self.P.entries[k], int(self.P.n[k]), self.P.U[k]
        # With two of them some equations X u = 0 would follow from others.
        need(U.shape[1] <= 1, f"block {k}, whose entries are given, has several null vectors")
        self.given[k] = sp.csr_array((x, np.triu_indices(n)), shape=(n, n)), c
        i, j, row = P.A_i[at], P.A_j[at], P.A_row[at]
        v = P.A_v[at] * np.where(i == j, 1.0, 2.0)
        # The equations X u = 0 of all rows.
        line, other = (z.ravel() for z in np.meshgrid(np.arange(n), U.indices, indexing="ij"))
        i, j = np.r_[i, np.minimum(line, other)], np.r_[j, np.maximum(line, other)]
        row, v = np.r_[row, len(self.solved) + line], np.r_[v, np.tile(U.data, n)]
        self.solved = np.r_[self.solved, np.ones(n * U.shape[1], bool)]
        place = i * (2 * n - i - 1) // 2 + j
        self._terms += [(row, part) for part in two_product(v, x[place])]
        self._slopes.append((row, start + place, v))
        return np.multiply.outer(c, c)[np.triu_indices(n)]

    @cached_property
    def slopes(self) -> tuple[Any, Any, int]:
        """Slopes in the point's units, the sums of the sizes of their terms, and their count."""
        row, column, value = (np.concatenate(x) for x in zip(*self._slopes, strict=True))
        D, shape = sp.diags_array(self.units), (len(self.solved), len(self.units))
        J, size = (
            sp.csr_array(sp.csr_array((x, (row, column)), shape=shape) @ D)
            for x in (value, abs(value))
        )
        return J, size, int(np.bincount(row, minlength=1).max())

    def _move(self) -> tuple[float, Any]:
        """How far the exact solution is, and how much rows change on the way there."""
        at, missed = self.solved, abs(self.miss) + self.error
        if not np.any(missed[at]):
            return 0.0, np.zeros(len(at))
        J, size, terms = self.slopes
        far = distance(J[at], size[at], terms, missed[at], self.bend[at])
        length = _lengths(J) + rounding(terms) * _lengths(size)
        return far, UP * (length * far + self.bend * far * far)

    def value(self, *, inside: bool = False) -> float:
        """A number that the objective does not exceed at the exact solution nearby.

        ``inside`` asks for a solution that lies inside of all matrices and other cones.
        """
        P, rows = self.P, self.P.m + 1
        far, moved = self._move()
        keeps_signs = np.all((UP * far * self.unit <= self.z)[P.sign == 1])
        need(keeps_signs, "a scalar may change its sign")
        change = UP * (self.error + moved)
        need(np.all(np.isfinite(change)), "numbers overflow")
        # Slack of rows that are no equations, with its radius.
        slack, radius = -self.miss[:rows], change[:rows]
        rest = (P.rel == INEQUALITY) & ~self.solved[:rows] & ~P.dropped
        lacks = np.flatnonzero(rest & (slack - radius < 0))
        most = float(np.max(-slack[lacks], initial=0.0))
        need(not lacks.size, f"the inequalities {lacks[:9]} may fail by {most:.1e}")
        for c, (_, _, at) in enumerate(P.cones):
            around = np.maximum(radius[at], INSIDE if inside else 0.0)
            within = in_cone(P, c, slack[at], around, dual=False)
            need(within, f"the rows {at.tolist()[:9]} may leave their cone")
        for k in range(P.K) if inside else (*self.own, *self.given):
            is_right = self._is_semidefinite(k, slack, moved, far, inside=inside)
            need(is_right, f"block {k} is not proved positive {'' if inside else 'semi'}definite")
        squares = [
            P.q[j] / 2.0 * ((abs(self.z[j]) + far * self.unit[j]) * UP) ** 2 * UP
            for j in np.flatnonzero(P.q)
        ]
        total = math.fsum([self.miss[0], change[0], *squares])
        return total + 2.0 * UNIT * abs(total)

    def _is_semidefinite(self, k: int, slack: Any, moved: Any, far: float, *, inside: bool) -> bool:
        """Whether a block that is no product of factors is so, wherever it moves."""
        P, entry, n, least = self.P, self.P.entries[k], int(self.P.n[k]), INSIDE if inside else 0.0
        if k in self.own:
            at, i, j = self.own[k], P.A_i[entry], P.A_j[entry]
            T = sp.csr_array((slack[at] * np.sign(P.A_v[entry]), (i, j)), shape=(n, n))
            change = moved[at] + UP * self._low[at]

            def radius(d: Any) -> float:
                return float(np.maximum(least, 1.5 * norm(change * d[i] * d[j])))

        elif k in self.given:
            T, c = self.given[k]

            def radius(d: Any) -> float:
                return float(np.maximum(least, 1.5 * UP * far * np.max(c * d, initial=0.0) ** 2))

        else:
            return False
        return is_semidefinite(T, radius, P.U[k])


def own_rows(P: Program, k: int) -> Any:
    """The rows that define the entries of a block, one for each entry of its triangle."""
    if k in P.own:
        return P.own[k]
    at, n = P.entries[k], int(P.n[k])
    rows, place = P.A_row[at], P.A_i[at] * n + P.A_j[at]
    is_triangle = len(at) == n * (n + 1) // 2 == len(np.unique(place)) == len(np.unique(rows))
    are_ones = np.all(np.abs(P.A_v[at]) == np.where(P.A_i[at] == P.A_j[at], 1.0, 0.5))
    is_alone = is_triangle and are_ones and np.all(P.rel[rows] == EQUATION) and np.all(rows > 0)
    need(is_alone and not P.U[k].shape[1], f"block {k} is not the slack of equations of its own")
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
    whole, size = a is None, sum(U.shape[0] * U.shape[1] for U in P.U)
    need(not whole or np.sum(P.n * (P.n + 1)) <= MOST, "the dual program has too many rows")
    a = np.ones(size) if whole else a
    need(len(a) == size, "the multipliers of null vectors are not one for each entry")
    curved, begin = np.flatnonzero(P.q), 0
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
        if whole:
            i, j = np.triu_indices(n)
            entries.append((first[k] + i * n + j, 0 * i, 0.0 * i))
    place, column, v = (np.concatenate(x) for x in zip(*entries, strict=True))
    place, row = np.unique(place, return_inverse=True)
    blk = np.searchsorted(first, place, side="right") - 1
    i, j = divmod(place - first[blk], P.n[blk])
    B, rows, none = [(1 + row, column, v)], 1 + place.size, np.zeros(0, int)
    # Rows of scalars, of cones, and the last, of the multiplier of the objective.
    kept, row_of = np.flatnonzero(~P.fixed), np.full(P.p, -1)
    row_of[kept] = rows + np.arange(kept.size)
    of_cones = np.concatenate([none, *(at for _, _, at in P.cones)])
    last = rows + kept.size + of_cones.size
    B.append((row_of[P.B_col], P.B_row, -P.B_v))
    B.append((row_of[curved], P.m + 1 + np.arange(curved.size), P.q[curved]))
    B.append((np.arange(rows + kept.size, last), of_cones, np.full(of_cones.size, -1.0)))
    B.append((np.full(1, last), np.zeros(1, int), np.ones(1)))
    # The objective, to be minimised: minus the bound.
    B.append((np.zeros(P.m + 1, int), np.arange(P.m + 1), np.r_[-P.b[0], P.b[1:]]))
    B_row, B_col, B_v = (np.concatenate(x) for x in zip(*B, strict=True))
    at, zeros = (B_row >= 0) & (B_v != 0), np.zeros(np.sum(a != 0))
    of_scalars = np.where(P.sign[kept] == 1, INEQUALITY, EQUATION)
    signed = (P.rel == INEQUALITY) & ~P.equation
    names = {"A_row": 1 + np.arange(place.size), "A_blk": blk, "A_i": i, "A_j": j, "n": P.n}
    names |= {"A_v": np.where(i == j, -1.0, -0.5), "exponent": P.exponent}
    names |= {"B_row": B_row[at], "B_col": B_col[at], "B_v": B_v[at]}
    names |= {"b": np.r_[np.zeros(last), 1.0], "sense": np.ones(1, int)}
    names |= {"rel": np.r_[np.zeros(rows, int), of_scalars, P.rel[of_cones], EQUATION]}
    names |= {"cone": np.r_[np.full(rows + kept.size, -1), P.cone[of_cones], -1]}
    names |= {"sign": np.r_[signed, 0 * curved, zeros].astype(int)}
    names |= {"q": np.r_[np.zeros(P.m + 1), P.q[curved], zeros]}
    names |= {"U_blk": none, "U_col": none, "U_i": none, "U_v": np.zeros(0)}
    D = Program(names, of=P)
    D.own = {k: D.A_row[at] for k, at in enumerate(D.entries)}
    D.U = D.U if whole else P.U
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
    a = w["a"]
    D, more = dual(P, a), a[a != 0]
    point = {"rank": np.full(P.K, SLACK), "R": np.zeros(0)}
    point |= {"z": np.r_[w["z"], more], "unit": np.r_[w["unit"], 0.0 * more]}
    return -upper(D, point, ray=ray)


# -- faces and other exact steps, in fractions ----------------------------------------------------


def _fraction(text: str) -> Fraction:
    # A power of ten in few characters may have no end.
    need("e" not in str(text).lower(), "a fraction has an exponent")
    found = Fraction(text)
    long = max(abs(found.numerator), found.denominator)
    need(long.bit_length() <= BITS, "a fraction is too long")
    return found


def _vector(text: Mapping[str, str], n: int) -> dict[int, Fraction]:
    found = {int(i): _fraction(x) for i, x in text.items()}
    need(all(0 <= i < n for i in found), "a vector has an entry out of range")
    common = math.lcm(*(x.denominator for x in found.values()))
    need(common.bit_length() <= BITS, "the fractions of a step are too long")
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
    squares : dict from block to list of vectors
        W with the combination equal to a weighted sum of w w', for w in W, on the face known.
    """
    y = _vector(step["y"], P.m + 1)
    need(objective or 0 not in y, "a step has a multiplier of the objective")
    need(not any(P.dropped[i] for i in y), "a step has a multiplier of a row that is left out")
    inequalities = [i for i in y if P.rel[i] == INEQUALITY and not P.equation[i]]
    need(all(y[i] >= 0 for i in inequalities), "a step has a negative multiplier of an inequality")
    for c, (_, _, rows) in enumerate(P.cones):
        at = [y.get(int(i), Fraction(0)) for i in rows]
        inside = not any(at) or in_cone(P, c, at, [0] * len(at), dual=True)
        need(inside, "a step has multipliers of a cone that are not in its dual")
    # The combination of rows by block and entry, less its squares.
    W, s = defaultdict[tuple[int, int, int], Fraction](Fraction), [Fraction(0)] * P.p
    for t in np.flatnonzero(np.isin(P.A_row, list(y))).tolist():
        place = (int(P.A_blk[t]), int(P.A_i[t]), int(P.A_j[t]))
        W[place] += y[int(P.A_row[t])] * Fraction(P.A_v[t])
    for t in np.flatnonzero(np.isin(P.B_row, list(y))).tolist():
        s[P.B_col[t]] += y[int(P.B_row[t])] * Fraction(P.B_v[t])
    for j, x in enumerate(s):
        is_right = P.fixed[j] or x == 0 or (x > 0 and P.sign[j] == 1)
        need(is_right, f"a step leaves the coefficient {x} of scalar {j}")
    squares: dict[int, list[dict[int, Fraction]]] = {}
    for k, given, text in step["squares"]:
        weight = _fraction(given)
        need(0 <= k < P.K and weight > 0, "a square has no block, or no positive weight")
        w = _vector(text, int(P.n[k]))
        are_whole = any(w.values()) and all(x == int(x) and abs(x) < 2**53 for x in w.values())
        need(are_whole, "a square is not of whole numbers that doubles hold")
        squares.setdefault(k, []).append(w)
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
    need(len(steps) <= STEPS and products_of_all <= PRODUCTS, "there are too many steps")
    for step in steps:
        y, s, squares = combine(P, step)
        side = sum((v * Fraction(P.b[i]) for i, v in y.items()), Fraction(0))
        need(side <= 0, "the right side of a step is positive")
        if side < 0:
            return True
        for i, v in y.items():
            P.equation[i] |= P.rel[i] == INEQUALITY and v > 0
        P.fixed |= np.array([x > 0 for x in s], bool)
        if step.get("drop") is not None:
            row = int(step["drop"])
            need(y.get(row, 0) != 0, "a row is left out that a step does not use")
            need(all(P.equation[i] for i in y), "a row is left out that follows from cones")
            P.dropped[row] = True
        for k, vectors in squares.items():
            columns = sp.lil_array((int(P.n[k]), len(vectors)))
            for c, w in enumerate(vectors):
                columns[list(w), c] = [float(x) for x in w.values()]
            P.U[k] = sp.csc_array(sp.hstack([P.U[k], columns]))
            P.U[k].eliminate_zeros()
        for c, (kind, _, rows) in enumerate(P.cones):
            at = [y.get(int(i), Fraction(0)) for i in rows]
            if kind == SECOND_ORDER and any(at):
                P.rays[c] = _opposite(at, P.rays.get(c))
    return False


def _opposite(at: Sequence[Fraction], ray: Sequence[Fraction] | None) -> list[Fraction]:
    """What is orthogonal to a vector of the dual, of a second-order cone or of a ray of it."""
    if ray is not None:
        is_left = sum(a * x for a, x in zip(ray, at, strict=True)) == 0
        return [a * is_left for a in ray]
    is_left = at[0] ** 2 == sum(x**2 for x in at[1:])
    return [at[0] * is_left, *(-x * is_left for x in at[1:])]


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
    head, d = read(path)
    try:
        P = Program(d)
        with np.errstate(all="ignore"):
            for claim in _claims(P, head, d):
                need(claim is None, str(claim))
    except MemoryError:
        raise NoProofFileError("the sizes that it states need more memory than there is") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise NoProofFileError(
            f"a witness cannot be read: {type(error).__name__} {error}"
        ) from None
    return {"program": head["program"], "sense": int(P.sense[0]), **head["claims"]}


def _claims(P: Program, head: Mapping[str, Any], d: Mapping[str, Any]) -> Iterator[str | None]:
    """For every claim None where it is proved, and else what is proved instead."""
    sense, claims = int(P.sense[0]), head["claims"]
    empty = take_faces(P, head.get("faces") or [])
    need(not empty or set(claims) == {"infeasible"}, "the faces leave no point")
    for claim, number in claims.items():
        if claim == "value":
            found = upper(P, _given(d, "point", POINT))
            holds = found <= sense * number
            yield None if holds else f"the value proved is {sense * found!r}, not {number!r}"
        elif claim == "bound":
            exact = head.get("exact")
            found = _exactly(P, exact) if exact else lower(P, _multipliers(P, d))
            holds = found >= sense * Fraction(number)
            yield None if holds else f"the bound proved is {sense * float(found)!r}, not {number!r}"
        elif claim == "infeasible" and not empty:
            holds = lower(P, _multipliers(P, d), ray=True) > 0
            yield None if holds else "the multipliers contradict nothing"
        elif claim == "unbounded" and head.get("dual"):
            System(P, _given(d, "point", POINT)).value(inside=True)
            is_empty = take_faces(dual(P), head["dual"])
            yield None if is_empty else "the dual program is not proved to have no point"
        elif claim == "unbounded":
            upper(P, _given(d, "point", POINT))
            gain = upper(P, _given(d, "ray", POINT), ray=True)
            yield None if gain < 0 else "the direction does not improve the objective"


def _exactly(P: Program, step: Mapping[str, Any]) -> Any:
    """The bound of an exact step, as a fraction."""
    y = combine(P, step, objective=True)[0]
    need(y.pop(0, 0) == 1, "the multiplier of the objective is not one")
    return Fraction(P.b[0]) - sum(v * Fraction(P.b[i]) for i, v in y.items())


def _given(d: Mapping[str, Any], whose: str, names: Iterable[str]) -> dict[str, Any]:
    missing = [f"{whose}_{name}" for name in names if f"{whose}_{name}" not in d]
    need(not missing, f"the arrays {missing} are missing")
    return {name: d[f"{whose}_{name}"] for name in names}


def _multipliers(P: Program, d: Mapping[str, Any]) -> dict[str, Any]:
    nothing = np.zeros(sum(U.shape[0] * U.shape[1] for U in P.U))
    return {**_given(d, "dual", ("z", "unit")), "a": d.get("dual_a", nothing)}


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
        sys.stdout.write(f"{path}: {said}\n")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
