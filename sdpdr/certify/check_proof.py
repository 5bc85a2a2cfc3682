"""Check proof files of semidefinite programs: ``python check_proof.py FILE...``.

The page "Proof files" (``docs/guide/proof_files.rst``) says what a file holds and why its parts
prove what it claims; the words here are those of that page. Exit codes: 0 where every claim of
every file is proved, 1 where one is not, 2 where one is no proof file.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
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
POINT = {"rank": INTEGERS, "R": DOUBLES, "z": DOUBLES, "slack": DOUBLES}
WITNESS = {
    **dict.fromkeys(("y", "a"), DOUBLES),
    **{f"{whose}_{name}": kind for whose in ("point", "ray") for name, kind in POINT.items()},
}
CLAIMS = ("value", "bound", "infeasible", "unbounded")
# Half a unit in the last place of one. UP and TINY pay for the rounding of a bound on rounding.
UNIT, UP, TINY = 2.0**-53, 1.0 + 1e-9, 1e-290
SMALLEST, LARGEST = 1e-50, 1e50
# Rows of matrices up to which dense ones are factorized.
DENSE = 3000
# What is added to a radius, so that what lies in a cone lies inside of it.
INSIDE = 1e-45
# What is refused, so that no file takes for ever: bytes of a file, unpacked, and of its text; the
# sum of the orders of matrices; exact steps, bits of the common denominator of the numbers of one,
# products in their squares; and entries of matrices of which a dual program is written.
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


def products(place: Any, a: Any, b: Any, size: int) -> Any:
    """Sums of products of doubles at each place, each rounded once."""
    return sums(np.concatenate([place, place]), np.concatenate(two_product(a, b)), size)


def norm(x: Any) -> float:
    """An upper bound on the Euclidean norm."""
    size = float(np.max(np.abs(x), initial=0.0))
    if not size:
        return 0.0
    unit = float(power_of_two(size))
    return float(np.sqrt(np.sum(np.square(np.asarray(x) / unit)))) * unit * UP + TINY


def power_of_two(x: Any) -> Any:
    """The power of two next to a positive number: a factor that rounds nothing."""
    return np.exp2(np.round(np.log2(np.maximum(x, 1e-250))))


# -- reading --------------------------------------------------------------------------------------


def read(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The text and the arrays of a file, each of the type that the page says."""
    try:
        require(zipfile.is_zipfile(path), "it is no archive, or there is none")
        with zipfile.ZipFile(path) as archive:
            require(sum(x.file_size for x in archive.infolist()) <= BYTES, "it is too large")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise NoProofFileError(f"it cannot be read: {error}") from None
    except (NotImplementedError, RuntimeError, MemoryError) as error:
        raise NoProofFileError(f"it cannot be read: {type(error).__name__} {error}") from None
    require("json" in arrays, "it has no member 'json'")
    require(arrays["json"].nbytes <= TEXT, "its text is too long")
    try:
        head = json.loads(arrays.pop("json").tobytes())
        known = head["format"] == "sdp-proof" and head["version"] == 2
        hashes, claims = (head["program"], head["witness"]), head["claims"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoProofFileError(f"its text cannot be read: {type(error).__name__} {error}") from None
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
    for name, kind in {**PROGRAM, **WITNESS}.items():
        if name in arrays and kind == DOUBLES:
            x = np.abs(arrays[name])
            usual = (x == 0.0) | ((x > SMALLEST) & (x < LARGEST))
            require(np.all(usual), f"{name} has numbers beyond 1e-50 and 1e50")
        elif name in arrays:
            arrays[name] = arrays[name].astype(np.int64)
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


class Program:
    """The program of a file, and what its faces add to it.

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
    """

    def __init__(self, d: Mapping[str, Any]) -> None:
        self.sense, self.n = d["sense"], d["n"]
        self.A_row, self.A_blk, self.A_i, self.A_j = d["A_row"], d["A_blk"], d["A_i"], d["A_j"]
        self.B_row, self.B_col = d["B_row"], d["B_col"]
        self.A_v, self.B_v, self.b, self.q = d["A_v"], d["B_v"], d["b"], d["q"]
        self.rel, self.sign = d["rel"], d["sign"]
        self.K, self.m, self.p = len(self.n), len(self.b) - 1, len(self.sign)
        require(self.sense.tolist() in ([1], [-1]), "sense is 1 or -1")
        require(self.m >= 0 and len(self.rel) == len(d["cone"]) == self.m + 1, "b, rel, cone")
        require(len(self.q) == self.p, "sign and q have different lengths")
        for name, of, top in (
            ("A_row", "A_v", self.m + 1),
            ("A_blk", "A_v", self.K),
            ("A_i", "A_v", None),
            ("A_j", "A_v", None),
            ("B_row", "B_v", self.m + 1),
            ("B_col", "B_v", self.p),
            ("U_blk", "U_v", self.K),
            ("U_col", "U_v", None),
            ("U_i", "U_v", None),
        ):
            x = d[name]
            require(len(x) == len(d[of]), f"{name} and {of} have different lengths")
            require(np.all(x >= 0) and (top is None or np.all(x < top)), f"{name} is out of range")
        require(np.all((self.n >= 0) & (self.n <= ORDERS)), "n is out of range")
        require(np.sum(self.n) <= ORDERS, "the orders of its matrices add up to too much")
        require(np.all(self.A_i <= self.A_j), "A_i exceeds A_j")
        require(np.all(self.A_j < self.n[self.A_blk]), "A_j is out of range")
        require(np.all(d["U_i"] < self.n[d["U_blk"]]), "U_i is out of range")
        require(np.all((self.sign == 0) | (self.sign == 1)), "sign is 0 or 1")
        require(np.all(self.q >= 0) and np.all((self.q == 0) | (self.sign == 0)), "q")
        self.cones = _cones(self.rel, d["cone"], d["exponent"])
        self.rays: dict[int, list[Fraction]] = {}
        self.equation = self.rel == EQUATION
        self.equation[0] = False
        self.fixed, self.dropped = np.zeros(self.p, bool), np.zeros(self.m + 1, bool)
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

    def slack(self, k: int, y: Any, a: Any) -> Any:
        """The upper triangle of the sum of y_i A_ik and of u a' + a u', each entry rounded once.

        The array ``a`` has a row for each null vector u.
        """
        n, at = int(self.n[k]), self.entries[k]
        at = at[y[self.A_row[at]] != 0]
        parts = [(self.A_i[at], self.A_j[at], self.A_v[at], y[self.A_row[at]])]
        for c in np.flatnonzero(np.any(a, axis=1)).tolist():
            u, other = self.U[k][:, [c]].tocoo(), np.flatnonzero(a[c])
            i, j = (x.ravel() for x in np.meshgrid(u.row, other, indexing="ij"))
            v = np.repeat(u.data, other.size) * np.where(i == j, 2.0, 1.0)
            parts.append((np.minimum(i, j), np.maximum(i, j), v, a[c, j]))
        i, j, v, weight = (np.concatenate(x) for x in zip(*parts, strict=True))
        place, inverse = np.unique(i.astype(np.int64) * n + j, return_inverse=True)
        S = products(inverse, v, weight, place.size)
        return sp.csr_array((S, (place // max(n, 1), place % max(n, 1))), shape=(n, n))

    def squares(self, k: int, size: Any) -> Any:
        """Bounds on the squared Frobenius norms of all A_ik, their entries times a size."""
        at, n = self.entries[k], int(self.n[k])
        v = np.abs(self.A_v[at]) * size * np.where(self.A_i[at] == self.A_j[at], 1.0, 1.5)
        place, shape = self.A_i[at] * n + self.A_j[at], (self.m + 1, n * n)
        # What is given several times adds.
        return sp.csr_array((v, (self.A_row[at], place)), shape=shape).power(2).sum(axis=1)


def _cones(rel: Any, cone: Any, exponent: Any) -> list[tuple[int, float, Any]]:
    """The cones of rows: kind, exponent and rows of each."""
    in_cone = rel >= SECOND_ORDER
    require(np.all((rel >= EQUATION) & (rel <= POWER)) and rel[0] == EQUATION, "rel")
    require(np.all((cone >= 0) == in_cone) and np.all(cone < len(exponent)), "cone")
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


# -- small cones, in fractions and decimals -------------------------------------------------------


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


def box_in_dual(P: Program, cone: int, at: Sequence[Fraction], radius: Sequence[Fraction]) -> bool:
    """Whether multipliers within a radius lie in the dual of a cone, or of its face."""
    kind, exponent, _ = P.cones[cone]
    if cone not in P.rays:
        return box_in_cone(kind, exponent, at, radius, dual=True)
    ray = P.rays[cone]
    return sum(a * x - abs(a) * r for a, x, r in zip(ray, at, radius, strict=True)) >= 0


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


# -- solutions near a point -----------------------------------------------------------------------


def rank(U: Any) -> int:
    """The number of columns that are independent, exactly."""
    found: list[tuple[int, dict[int, Fraction]]] = []
    for start, end in pairwise(sp.csc_array(U).indptr):
        entries = zip(U.indices[start:end].tolist(), U.data[start:end].tolist(), strict=True)
        left = {i: Fraction(v) for i, v in entries if v}
        for i, other in found:
            share = left.get(i, Fraction(0)) / other[i]
            for at, v in other.items() if share else ():
                left[at] = left.get(at, Fraction(0)) - share * v
        left = {i: v for i, v in left.items() if v}
        if left:
            found.append((next(iter(left)), left))
    return len(found)


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
    if not np.any(missed):
        return 0.0
    # What nothing moves, and holds exactly, is left out.
    at = (size.sum(axis=1) > 0) | (missed > 0)
    J, size, missed, bend = J[at], size[at], missed[at], bend[at]
    lengths = _lengths(J)
    need(np.all(lengths > 0), "an equation that does not hold does not notice how the point moves")
    h = 1.0 / power_of_two(lengths)
    D = sp.diags_array(h)
    sigma = least_singular(sp.csr_array(D @ J)) - rounding(terms) * norm((D @ size).data)
    rho, kappa = norm(missed * h), norm(bend * h)
    words = f"rho {rho:.1e}, sigma {sigma:.1e}, kappa {kappa:.1e}"
    need(sigma > 0, f"the equations are too near to dependent ({words})")
    need(4.0 * UP * kappa * rho <= sigma**2, f"no solution is proved near the point ({words})")
    return UP * (2.0 if kappa else 1.0) * rho / sigma


def _lengths(J: Any) -> Any:
    return np.sqrt(J.power(2).sum(axis=1)) * UP


# -- bounds ---------------------------------------------------------------------------------------


def lower(P: Program, y: Any, a: Any = None) -> float:
    """A number that y_0 times the objective does not fall below at any feasible point.

    Parameters
    ----------
    P : Program
    y, a : arrays
        Multipliers of rows, and of null vectors, one after the other; zero by default.
    """
    need(len(y) == P.m + 1, "the multipliers are not one for each row")
    need(y[0] >= 0, "the objective has a negative multiplier")
    signed = (P.rel == INEQUALITY) & ~P.equation
    need(np.all(y[signed] >= 0), "a multiplier of an inequality is negative")
    total = products(np.zeros(P.m + 1, int), np.r_[y[0], -y[1:]], P.b, 1)[0]
    parts = [total, -UNIT * UP * abs(total)]
    s = products(P.B_col, P.B_v, y[P.B_row], P.p)
    step, unit = _step_to_zero(P, y, s)
    parts.append(-step * norm(P.b * unit))
    for c, (_, _, rows) in enumerate(P.cones):
        box = ([Fraction(x) for x in v] for v in (y[rows], UP * step * unit[rows]))
        inside = box_in_dual(P, c, *box)
        need(inside, f"multipliers of the cone of rows {rows.tolist()[:9]} are not in its dual")
    ends = np.r_[0, np.cumsum([U.shape[0] * U.shape[1] for U in P.U], dtype=int)]
    a = np.zeros(ends[-1]) if a is None else a
    need(len(a) == ends[-1], "the multipliers of null vectors are not one for each entry")
    for k, U in enumerate(P.U):
        at, row = P.entries[k], unit[P.A_row[P.entries[k]]]
        S = P.slack(k, y, a[ends[k] : ends[k + 1]].reshape(U.shape[1], U.shape[0]))

        def radius(d: Any, k: int = k, at: Any = at, row: Any = row) -> float:
            size = P.squares(k, row * d[P.A_i[at]] * d[P.A_j[at]]).sum() if step else 0.0
            return step * UP * math.sqrt(float(size))

        is_psd = is_semidefinite(S, radius, U)
        need(is_psd, f"the dual slack of block {k} is not proved positive semidefinite")
    moved = np.bincount(P.B_col, abs(P.B_v) * unit[P.B_row], P.p) * (step * UP)
    error = UP * (UNIT * abs(s) + moved)
    below = (P.sign == 1) & ~P.fixed & (s - error < 0)
    need(not np.any(below), f"the dual slack of the scalars {np.flatnonzero(below)} is negative")
    for j in np.flatnonzero(P.q):
        far = (abs(s[j]) + error[j]) * UP
        need(y[0] > 0 or far == 0, f"scalar {j} has a dual slack, and the objective no multiplier")
        parts.append(-(far**2) / (2.0 * P.q[j] * y[0]) * UP if far else 0.0)
    total = math.fsum(parts)
    return total - 2.0 * UNIT * abs(total)


def _step_to_zero(P: Program, y: Any, s: Any) -> tuple[float, Any]:
    """How far multipliers move for the slack s of free scalars to vanish: a step, times units."""
    unit = np.zeros(P.m + 1)
    free = (P.sign == 0) & (P.q == 0) & ~P.fixed
    if not np.any(s[free]):
        return 0.0, unit
    unit[P.equation] = float(power_of_two(max(1.0, float(abs(y).max()))))
    positive = (P.rel == INEQUALITY) & ~P.equation & (y > 0)
    unit[positive] = 0.5 * power_of_two(y[positive])  # which keeps their sign for steps up to one
    for _, _, rows in P.cones:
        if np.any(y[rows]):
            unit[rows] = power_of_two(float(abs(y[rows]).max()))
    at = free[P.B_col] & (unit[P.B_row] > 0)
    v, place = P.B_v[at] * unit[P.B_row[at]], (P.B_col[at], P.B_row[at])
    J, size = (sp.csr_array((x, place), shape=(P.p, P.m + 1)) for x in (v, abs(v)))
    terms = int(np.bincount(P.B_col[at], minlength=1).max())
    missed = np.where(free, abs(s) * (1.0 + 2.0 * UNIT), 0.0)
    step = distance(J, size, terms, missed, np.zeros(P.p))
    need(step <= 1.0, "the dual slack of free scalars is too large")
    return step, unit


# -- values ---------------------------------------------------------------------------------------


class System:
    """The rows at a point, and their slopes in the point's own units.

    Unknown are factors R of blocks, X = R R', so that these are semidefinite, the scalars, and the
    slack of inequalities that are solved as equations. Rows: 0 the objective, 1 to m those of
    the program, then U' R = 0.

    Attributes
    ----------
    miss, error : arrays
        Left minus right sides, and how far rounding may have moved them.
    units : array
        Units of factors, scalars and slack: powers of two, or zero for what stays.
    J, size : sparse arrays
        Slopes in these units, and the sums of the sizes of their terms.
    bend : array
        Frobenius norms of the quadratic parts of rows, in these units.
    solved : array of bool
        The rows that are to hold as equations.
    as_slack : dict from block to array of int
        Blocks that are no unknowns, but slack of these rows.
    """

    def __init__(self, P: Program, w: Mapping[str, Any], *, ray: bool) -> None:
        self.P, self.z, m = P, w["z"], P.m
        R, rank, slack = w["R"], w["rank"], w["slack"]
        need(len(rank) == P.K and np.all((rank >= -1) & (rank < 2**31)), "the ranks of the factors")
        self.as_slack = {k: slack_rows(P, k) for k in np.flatnonzero(rank == -1).tolist()}
        rank = np.maximum(rank, 0)
        need(len(R) == int(rank @ P.n) and len(self.z) == P.p, "the sizes of factors and scalars")
        need(len(slack) == m + 1 and slack[0] == -1.0, "the slack is not one for each row")
        need(np.all(self.z[P.sign == 1] >= 0), "a non-negative scalar is negative")
        need(np.all(self.z[P.fixed] == 0), "a scalar that vanishes does not")
        need(not ray or np.all(self.z[P.q > 0] == 0), "a direction has a scalar with curvature")
        as_equation = slack >= 0
        need(np.all(P.rel[as_equation] == INEQUALITY), "only inequalities have a slack")
        self.solved = (P.equation | as_equation) & ~P.dropped
        for k, rows in self.as_slack.items():
            need(np.all(self.solved[rows]), f"block {k} is not the slack of equations of its own")
            self.solved[rows] = False
        slack = np.where(self.solved & ~P.equation, slack, 0.0)
        self._terms: list[tuple[Any, Any]] = []
        self._slopes: list[tuple[Any, Any, Any]] = []
        self._low, self._total, squares = np.zeros(m + 1), m + 1, np.zeros(m + 1)
        self._linear(len(R), slack, ray=ray)
        starts = np.r_[0, np.cumsum(rank * P.n)]
        units, self.factors = [], list[tuple[Any, Any]]()
        for k in range(P.K):
            X = R[starts[k] : starts[k + 1]].reshape(int(P.n[k]), int(rank[k]))
            lengths = np.sqrt(np.sum(X * X, axis=1))
            longest = float(lengths.max(initial=0.0))
            c = np.where(lengths > 0, power_of_two(np.maximum(lengths, 1e-3 * longest)), 0.0)
            squares += P.squares(k, c[P.A_i[P.entries[k]]] * c[P.A_j[P.entries[k]]])
            units.append(np.repeat(c, X.shape[1]))
            self.factors.append((X, c))
            self._block(k, X, int(starts[k]))
        self.z_unit, slack_unit = self._units_of_scalars(ray=ray), 0.5 * power_of_two(slack)
        self.units = np.concatenate([*units, self.z_unit, np.where(slack > 0, slack_unit, 0.0)])
        more = self._total - m - 1
        self.bend = np.r_[np.sqrt(squares) * UP, np.zeros(more)]
        self.solved = np.r_[self.solved, np.ones(more, bool)]
        self._gather()

    def _units_of_scalars(self, *, ray: bool) -> Any:
        """Units of scalars: half of their size where that keeps a sign, zero where they stay."""
        P, size = self.P, abs(self.z)
        largest = float(size.max(initial=0.0)) or 1.0
        free = power_of_two(np.maximum(size, 1e-3 * largest))
        signed = np.where(self.z > 0, 0.5 * power_of_two(size), 0.0)
        stays = P.fixed | ((P.q > 0) & ray)
        return np.where(stays, 0.0, np.where(P.sign == 1, signed, free))

    def _linear(self, first: int, slack: Any, *, ray: bool) -> None:
        """Right sides, slack and scalars."""
        P, every = self.P, np.arange(self.P.m + 1)
        b = np.zeros(P.m + 1) if ray else np.r_[P.b[:1], -P.b[1:]]
        self._terms += [(every, b), (every, slack)]
        self._terms += [(P.B_row, x) for x in two_product(P.B_v, self.z[P.B_col])]
        self._slopes.append((P.B_row, first + P.B_col, P.B_v))
        at = every[slack > 0]
        self._slopes.append((at, first + P.p + at, np.ones(at.size)))

    def _block(self, k: int, X: Any, start: int) -> None:
        """The terms and slopes of a matrix X X', and those of U' X."""
        P, at, r = self.P, self.P.entries[k], X.shape[1]
        i, j, row = P.A_i[at], P.A_j[at], P.A_row[at]
        # An entry off the diagonal stands for two.
        v = P.A_v[at] * np.where(i == j, 1.0, 2.0)
        U = P.U[k].tocoo()
        for x in range(r):
            product, rest = two_product(X[i, x], X[j, x])
            self._terms += [(row, part) for part in (*two_product(v, product), v * rest)]
            self._low += np.bincount(row, 2.0 * UNIT * abs(v * rest), P.m + 1)
            self._slopes += [(row, start + i * r + x, v * X[j, x])]
            self._slopes += [(row, start + j * r + x, v * X[i, x])]
            null = self._total + U.col
            self._terms += [(null, part) for part in two_product(U.data, X[U.row, x])]
            self._slopes.append((null, start + U.row * r + x, U.data))
            self._total += U.shape[1]

    def _gather(self) -> None:
        place, terms = (np.concatenate(x) for x in zip(*self._terms, strict=True))
        self.miss = sums(place, terms, self._total)
        low = np.r_[self._low, np.zeros(self._total - len(self._low))]
        self.error = UP * (low + UNIT * abs(self.miss))
        row, column, value = (np.concatenate(x) for x in zip(*self._slopes, strict=True))
        self.terms = int(np.bincount(row, minlength=1).max())
        D, shape = sp.diags_array(self.units), (self._total, len(self.units))
        self.J, self.size = (
            sp.csr_array(sp.csr_array((x, (row, column)), shape=shape) @ D)
            for x in (value, abs(value))
        )

    def value(self, *, inside: bool = False) -> float:
        """A number that the objective does not exceed at the exact solution nearby.

        ``inside`` asks for a solution that lies inside of all matrices and other cones.
        """
        P, at = self.P, self.solved
        missed = abs(self.miss[at]) + self.error[at]
        far = distance(self.J[at], self.size[at], self.terms, missed, self.bend[at])
        keeps_signs = far <= 1.0 or not (np.any(self.units[-P.m - 1 :]) or np.any(P.sign))
        need(keeps_signs, "a scalar or a slack may change its sign")
        length = _lengths(self.J) + rounding(self.terms) * _lengths(self.size)
        moved = UP * (length * far + self.bend * far * far)
        change = UP * (self.error + moved)
        # Slack of rows that are no equations, with its radius.
        slack, radius = -self.miss[: P.m + 1], change[: P.m + 1]
        rest = (P.rel == INEQUALITY) & ~self.solved[: P.m + 1] & ~P.dropped
        lacks = np.flatnonzero(rest & (slack - radius < 0))
        need(not lacks.size, f"the inequalities {lacks[:9]} may fail by {_most(-slack[lacks])}")
        for kind, exponent, rows in P.cones:
            around = np.maximum(radius[rows], INSIDE if inside else 0.0)
            box = ([Fraction(x) for x in v] for v in (slack[rows], around))
            within = box_in_cone(kind, exponent, *box, dual=False)
            need(within, f"the rows {rows.tolist()[:9]} may leave their cone")
        for k, (X, c) in enumerate(self.factors):
            is_right = True
            if k in self.as_slack:
                is_right = self._is_semidefinite(k, slack, moved, inside=inside)
            elif inside:
                is_full = X.shape[1] == X.shape[0] - rank(P.U[k])
                # Rows in units of their own: to be of full rank does not depend on units.
                own = np.where(c > 0, 1.0 / np.where(c > 0, c, 1.0), 0.0)
                is_right = is_full and least_singular(sp.csr_array(X.T * own)) > UP * far
            need(is_right, f"block {k} is not proved positive {'' if inside else 'semi'}definite")
        # Along a direction such scalars are zero.
        squares = [
            P.q[j] / 2.0 * ((abs(self.z[j]) + far * self.z_unit[j]) * UP) ** 2 * UP
            for j in np.flatnonzero(P.q)
        ]
        total = math.fsum([self.miss[0], change[0], *squares])
        return total + 2.0 * UNIT * abs(total)

    def _is_semidefinite(self, k: int, slack: Any, moved: Any, *, inside: bool) -> bool:
        """Whether a block that is slack of its own rows is so, wherever these move."""
        P, rows, at, n = self.P, self.as_slack[k], self.P.entries[k], int(self.P.n[k])
        i, j = P.A_i[at], P.A_j[at]
        T = sp.csr_array((slack[rows] * np.sign(P.A_v[at]), (i, j)), shape=(n, n))
        change = moved[rows] + UP * self._low[rows]
        # What is proved semidefinite with its rounding is definite, but for rows of zeros.
        is_definite = bool(np.all(T.diagonal() > 0))
        is_near = is_semidefinite(T, lambda d: 1.5 * norm(change * d[i] * d[j]), P.U[k])
        return is_near and (is_definite or not inside)


def slack_rows(P: Program, k: int) -> Any:
    """The rows that define the entries of a block, one for each entry of its triangle."""
    at, n = P.entries[k], int(P.n[k])
    rows, place = P.A_row[at], P.A_i[at] * n + P.A_j[at]
    is_triangle = len(at) == n * (n + 1) // 2 == len(np.unique(place)) == len(np.unique(rows))
    are_ones = np.all(np.abs(P.A_v[at]) == np.where(P.A_i[at] == P.A_j[at], 1.0, 0.5))
    is_alone = is_triangle and are_ones and np.all(P.rel[rows] == EQUATION) and np.all(rows > 0)
    need(is_alone and not P.U[k].shape[1], f"block {k} is not the slack of equations of its own")
    return rows


def _most(x: Any) -> str:
    return f"{float(np.max(x, initial=0.0)):.1e}"


def upper(P: Program, w: Mapping[str, Any], *, ray: bool = False) -> float:
    """A number that the objective does not exceed at some feasible point, or along a direction."""
    return System(P, w, ray=ray).value()


# -- faces, in fractions --------------------------------------------------------------------------


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
    for c in range(len(P.cones)):
        at = [y.get(int(i), Fraction(0)) for i in P.cones[c][2]]
        inside = box_in_dual(P, c, at, [Fraction(0)] * len(at))
        need(inside, "a step has multipliers of a cone that are not in its dual")
    W: dict[tuple[int, int, int], Fraction] = {}
    s = [Fraction(0)] * P.p
    for t in np.flatnonzero(np.isin(P.A_row, list(y))).tolist():
        key = (int(P.A_blk[t]), int(P.A_i[t]), int(P.A_j[t]))
        W[key] = W.get(key, Fraction(0)) + y[int(P.A_row[t])] * Fraction(P.A_v[t])
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
        squares.setdefault(k, []).append(w)
        for i in w:
            for j in w:
                if i <= j:
                    change = weight * w[i] * w[j]
                    W[k, i, j] = W.get((k, i, j), Fraction(0)) - change
    for k, column, text in step["known"]:
        need(0 <= k < P.K and 0 <= column < P.U[k].shape[1], "a step names an unknown null vector")
        u = P.U[k][:, [column]].tocoo()
        for j, v in _vector(text, int(P.n[k])).items():
            for i, x in zip(u.row.tolist(), u.data.tolist(), strict=True):
                key = (k, min(i, j), max(i, j))
                W[key] = W.get(key, Fraction(0)) - Fraction(x) * v * (2 if i == j else 1)
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
            P.U[k] = sp.csc_array(sp.hstack([P.U[k], _whole(vectors, int(P.n[k]))]))
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


def _whole(vectors: Sequence[Mapping[int, Fraction]], n: int) -> Any:
    """Vectors as columns of whole numbers without a common factor, which doubles hold."""
    columns = sp.lil_array((n, len(vectors)))
    for c, w in enumerate(vectors):
        need(any(w.values()), "a square is of a vector of zeros")
        scale = math.lcm(*(x.denominator for x in w.values()))
        common = math.gcd(*(int(x * scale) for x in w.values()))
        for i, x in w.items():
            whole = int(x * scale) // common
            need(abs(whole) < 2**53, "a null vector has too many digits")
            if whole:
                columns[i, c] = float(whole)
    return sp.csc_array(columns)


# -- without limit, behind faces ----------------------------------------------------------------


def dual(P: Program) -> Program:
    """The program whose points are all multipliers that prove a bound of P.

    Blocks are the dual slacks S of those of P; scalars are the multipliers of rows 0 to m, and
    vectors a for null vectors u. Rows are the entries of all S in turn, column by column, each
    equal to what multipliers and u a' + a u' add up to; the dual slacks of scalars; the
    multipliers of cones; and, last, that of the objective, which is one.
    """
    need(np.sum(P.n * (P.n + 1)) <= MOST, "the dual program has too many rows")
    starts = 1 + np.r_[0, np.cumsum(P.n * (P.n + 1) // 2)]
    j, i = (np.concatenate([P.n[:0], *(np.tril_indices(int(n))[c] for n in P.n)]) for c in (0, 1))
    k = np.repeat(np.arange(P.K), P.n * (P.n + 1) // 2)
    rel, A = [EQUATION] * int(starts[-1]), (k, i, j, np.where(i == j, -1.0, -0.5))
    B = [(starts[P.A_blk] + P.A_j * (P.A_j + 1) // 2 + P.A_i, P.A_row, P.A_v)]
    columns, cone, exponent = P.m + 1, [-1] * len(rel), list[float]()
    for block, U in enumerate(U.tocoo() for U in P.U):
        for column, at, u in zip(U.col.tolist(), U.row.tolist(), U.data.tolist(), strict=True):
            other = np.arange(int(P.n[block]))
            low, high = np.minimum(at, other), np.maximum(at, other)
            a = columns + column * other.size + other
            u_twice = np.where(other == at, 2.0 * u, u)
            B.append((starts[block] + high * (high + 1) // 2 + low, a, u_twice))
        columns += U.shape[0] * U.shape[1]
    some, of_scalar = np.flatnonzero(~P.fixed & (P.q == 0)), np.full(P.p, -1)
    of_scalar[some] = len(rel) + np.arange(some.size)
    kept = of_scalar[P.B_col] >= 0
    B.append((of_scalar[P.B_col[kept]], P.B_row[kept], -P.B_v[kept]))
    rel += np.where(P.sign[some] == 1, INEQUALITY, EQUATION).tolist()
    cone += [-1] * some.size
    need(not P.rays, "the dual program of a second-order cone on a face is not written")
    for kind, _, rows in P.cones:
        need(kind != POWER, "the dual program of a power cone is not written")
        at = len(rel) + np.arange(rows.size)
        B.append((at, rows, np.full(rows.size, -1.0)))
        if kind == EXPONENTIAL:
            B[-1] = (at[[0, 0, 1, 2]], rows[[0, 1, 0, 2]], np.array([-1.0, 1.0, 1.0, -1.0]))
        rel, cone = rel + [kind] * rows.size, cone + [len(exponent)] * rows.size
        exponent.append(0.0)
    B.append((np.array([len(rel)]), np.array([0]), np.ones(1)))
    rows, scalars, values = (np.concatenate(part) for part in zip(*B, strict=True))
    sign, m = np.zeros(columns, int), len(rel)
    sign[: P.m + 1] = (P.rel == INEQUALITY) & ~P.equation
    none = np.zeros(0, int)
    names = {"A_blk": A[0], "A_i": A[1], "A_j": A[2], "A_v": A[3], "A_row": 1 + np.arange(k.size)}
    names |= {"B_row": rows, "B_col": scalars, "B_v": values, "b": np.r_[np.zeros(m), 1.0]}
    names |= {"rel": np.array([*rel, EQUATION]), "cone": np.array([*cone, -1]), "n": P.n}
    names |= {"exponent": np.array(exponent), "sign": sign, "q": np.zeros(columns)}
    names |= dict.fromkeys(("U_blk", "U_col", "U_i"), none) | {"U_v": np.zeros(0)}
    return Program({"sense": np.array([1]), **names})


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
        if claim == "bound" and head.get("exact"):
            y = combine(P, head["exact"], objective=True)[0]
            need(y.pop(0, 0) == 1, "the multiplier of the objective is not one")
            exact = Fraction(P.b[0]) - sum(v * Fraction(P.b[i]) for i, v in y.items())
            holds = exact >= sense * Fraction(number)
            yield None if holds else f"the bound proved is {sense * float(exact)!r}, not {number!r}"
        elif claim == "bound":
            need(_given(d, "y")[0] == 1.0, "the multiplier of the objective is not one")
            found = lower(P, d["y"], d.get("a"))
            holds = found >= sense * number
            yield None if holds else f"the bound proved is {sense * found!r}, not {number!r}"
        elif claim == "value":
            found = upper(P, _point(d, "point"))
            holds = found <= sense * number
            yield None if holds else f"the value proved is {sense * found!r}, not {number!r}"
        elif claim == "infeasible" and not empty:
            need(_given(d, "y")[0] == 0.0, "the multiplier of the objective is not zero")
            yield None if lower(P, d["y"], d.get("a")) > 0 else "the multipliers contradict nothing"
        elif claim == "unbounded" and head.get("dual"):
            System(P, _point(d, "point"), ray=False).value(inside=True)
            is_empty = take_faces(dual(P), head["dual"])
            yield None if is_empty else "the dual program is not proved to have no point"
        elif claim == "unbounded":
            upper(P, _point(d, "point"))
            gain = upper(P, _point(d, "ray"), ray=True)
            yield None if gain < 0 else "the direction does not improve the objective"


def _given(d: Mapping[str, Any], name: str) -> Any:
    need(name in d and len(d[name]), f"there is no {name}")
    return d[name]


def _point(d: Mapping[str, Any], whose: str) -> dict[str, Any]:
    missing = [f"{whose}_{name}" for name in POINT if f"{whose}_{name}" not in d]
    need(not missing, f"the arrays {missing} are missing")
    return {name: d[f"{whose}_{name}"] for name in POINT}


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
