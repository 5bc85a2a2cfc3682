"""A flat format for recorded proofs: programs, points and what was proved, as JSON lines.

The format names no class of ours but the public names of structured maps, so that it survives when
the rooms behind them are written anew. ``benchmarks/baselines/README.md`` describes every field.
Reading needs public names only; `flat_program` and `flat_point` write what reading understands.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr import SDP, linalg
from sdpdr.program import Factor, Lmi, Point, PsdVariable, Rows, VectorVariable

Flat = dict[str, Any]
SQRT2 = float(np.sqrt(2.0))


# -- files -----------------------------------------------------------------------------------------


def read_lines(path: Path) -> Iterator[Flat]:
    """Yield the objects of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def write_lines(path: Path, objects: Iterable[Flat]) -> None:
    """Write objects as compressed JSON lines; the same objects always give the same bytes."""
    text = "".join(json.dumps(found, separators=(",", ":")) + "\n" for found in objects)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def key_of(found: Flat) -> str:
    """Return a name for an object: the beginning of the hash of its text."""
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]


# -- symmetric matrices ----------------------------------------------------------------------------


def _triangle(order: int) -> tuple[Any, Any, Any]:
    """Rows and columns of the upper triangle by columns, and the scale of ``svec``."""
    column, row = np.tril_indices(order)
    return row, column, np.where(row == column, 1.0, SQRT2)


def _unscaled(values: Any) -> Any:
    """Divide by the square root of two so that multiplying again gives the same double.

    Among the neighbours of the quotient that do so, the one with the fewest digits is taken: it is
    what the author wrote. The quotient itself where there is none.
    """
    return np.array([_unscaled_one(float(x)) for x in np.ravel(values)])


def _unscaled_one(scaled: float) -> float:
    near = scaled / SQRT2
    around = (near, float(np.nextafter(near, -np.inf)), float(np.nextafter(near, np.inf)))
    exact = [a for a in around if a * SQRT2 == scaled]
    return min(exact, key=lambda a: len(repr(a)), default=near)


def flat_symmetric(matrix: Any) -> Flat:
    """Write a matrix: its upper triangle by columns where it is symmetric, else all of it."""
    dense = np.asarray(matrix, dtype=float)
    row, column, _ = _triangle(len(dense))
    if np.array_equal(dense, dense.T):
        return {"triangle": dense[row, column].tolist()}
    return {"matrix": dense.tolist()}


def symmetric(flat: Flat) -> Any:
    """Read a matrix."""
    if "matrix" in flat:
        return np.array(flat["matrix"], dtype=float)
    values = np.array(flat["triangle"], dtype=float)
    order = round((np.sqrt(8.0 * values.size + 1.0) - 1.0) / 2.0)
    row, column, _ = _triangle(order)
    dense = np.zeros((order, order))
    dense[row, column] = dense[column, row] = values
    return dense


# -- sparse matrices -------------------------------------------------------------------------------


def _flat_sparse(matrix: Any) -> Flat:
    given = sp.coo_array(matrix)
    return {
        "shape": [int(k) for k in given.shape],
        "row": given.row.tolist(),
        "column": given.col.tolist(),
        "value": given.data.astype(float).tolist(),
    }


def _sparse(flat: Flat) -> Any:
    entries = (np.array(flat["value"], dtype=float), (flat["row"], flat["column"]))
    return sp.csr_array(entries, shape=tuple(flat["shape"]))


# -- maps ------------------------------------------------------------------------------------------


def flat_map(linear_map: Any, *, in_lmi: bool = False) -> Flat:
    """Write a linear map, structured where the program keeps a structure.

    Parameters
    ----------
    linear_map : LinearMap or VectorMap
    in_lmi : bool, default False
        Whether the rows are the upper triangle of a matrix inequality.
    """
    if in_lmi:
        return _flat_in_inequality(linear_map)
    kind = type(linear_map).__name__
    if kind in _STRUCTURED:
        return {"kind": kind, "n": int(linear_map.n), **_STRUCTURED[kind](linear_map)}
    if isinstance(linear_map, linalg.VectorMap):
        return {"kind": "VectorMap", **_flat_sparse(linear_map.matrix())}
    return _flat_coefficients(linear_map.n, _natural(linear_map))


_STRUCTURED: dict[str, Any] = {
    "SquaredEdgeLengths": lambda a: {"edges": np.asarray(a.edges).tolist()},
    "Entries": lambda a: {"pairs": np.asarray(a.pairs).tolist()},
    "Diagonal": lambda a: {"places": np.asarray(a.places).tolist()},
    "Trace": lambda a: {"weights": np.asarray(a.weights).tolist()},
    "Products": lambda a: {"vector": np.asarray(a.vector).tolist()},
    "InnerProduct": lambda a: {"coefficients": _flat_sparse(sp.triu(sp.coo_array(a.coefficients)))},
    "QuadraticForms": lambda a: {"vectors": _flat_sparse(a.left)},
    "BilinearForms": lambda a: {"left": _flat_sparse(a.left), "right": _flat_sparse(a.right)},
    "Combined": lambda a: {"weights": _flat_sparse(a.weights), "inner": flat_map(a.inner)},
    "Stacked": lambda a: {"maps": [flat_map(part) for part in a.maps]},
    "Summed": lambda a: {"maps": [flat_map(part) for part in a.maps]},
}


def _natural(linear_map: Any) -> Any:
    """Return rows of entries A_ij, i <= j, at the places of the upper triangle by columns."""
    if isinstance(linear_map, linalg.SvecMap) and linear_map.keeps_entries:
        return sp.coo_array(linear_map.natural())
    rows = sp.coo_array(linear_map.matrix(), copy=True)
    i, j = _places(rows.col)
    off = i != j
    rows.data[off] = _unscaled(rows.data[off])
    return rows


def _places(index: Any) -> tuple[Any, Any]:
    """Rows and columns of places of the upper triangle by columns."""
    index = np.asarray(index, dtype=np.int64)
    column = ((np.sqrt(8.0 * index + 1.0) - 1.0) // 2).astype(np.int64)
    column -= column * (column + 1) // 2 > index
    column += (column + 1) * (column + 2) // 2 <= index
    return index - column * (column + 1) // 2, column


def _flat_coefficients(n: int, rows: Any) -> Flat:
    i, j = _places(rows.col)
    return {
        "kind": "Coefficients",
        "n": int(n),
        "m": int(rows.shape[0]),
        "row": rows.row.tolist(),
        "i": i.tolist(),
        "j": j.tolist(),
        "value": rows.data.astype(float).tolist(),
    }


def _flat_in_inequality(linear_map: Any) -> Flat:
    """Write rows that are entries of a matrix, each without the scale of ``svec``."""
    rows = sp.coo_array(linear_map.matrix(), copy=True)
    vector = isinstance(linear_map, linalg.VectorMap)
    once, twice = _off_diagonals(rows, vector)
    rows.data[once] = _unscaled(rows.data[once])
    rows.data[twice] /= 2.0
    if vector:
        return {"kind": "VectorMap", **_flat_sparse(rows)}
    return _flat_coefficients(linear_map.n, rows)


def _off_diagonals(rows: Any, vector: bool) -> tuple[Any, Any]:
    """Which coefficients are off the diagonal on one of two sides, and which on both.

    The scales of ``svec`` are the square root of two once, and two exactly.
    """
    outside = np.not_equal(*_places(rows.row))
    inside = np.zeros(rows.nnz, bool) if vector else np.not_equal(*_places(rows.col))
    return outside ^ inside, outside & inside


def read_map(flat: Flat, *, in_lmi: bool = False) -> Any:
    """Read a linear map."""
    if not in_lmi:
        return _read_map(flat)
    vector = flat["kind"] == "VectorMap"
    rows = sp.coo_array(_sparse(flat) if vector else _upper_triangles(flat), copy=True)
    once, twice = _off_diagonals(rows, vector)
    rows.data[once] *= SQRT2
    rows.data[twice] *= 2.0
    matrix = sp.csr_array(rows)
    return linalg.VectorMap(matrix) if vector else linalg.SvecMap(flat["n"], matrix)


def _upper_triangles(flat: Flat) -> Any:
    """Rows of entries at the places of the upper triangle by columns."""
    i, j = np.array(flat["i"], dtype=np.int64), np.array(flat["j"], dtype=np.int64)
    entries = np.array(flat["value"], dtype=float), (flat["row"], j * (j + 1) // 2 + i)
    return sp.csr_array(entries, shape=(flat["m"], flat["n"] * (flat["n"] + 1) // 2))


def _read_map(flat: Flat) -> Any:
    kind, n = flat["kind"], flat.get("n")
    if kind == "Coefficients":
        i, j, row = (np.array(flat[k], dtype=np.int64) for k in ("i", "j", "row"))
        return linalg.SvecMap.from_entries(n, flat["m"], row, i, j, np.array(flat["value"], float))
    if kind == "VectorMap":
        return linalg.VectorMap(_sparse(flat))
    if kind == "SquaredEdgeLengths":
        return linalg.SquaredEdgeLengths(n, np.array(flat["edges"], np.int64).reshape(-1, 2))
    if kind == "Entries":
        return linalg.Entries(n, np.array(flat["pairs"], np.int64).reshape(-1, 2))
    if kind == "Diagonal":
        return linalg.Diagonal(n, np.array(flat["places"], np.int64))
    if kind == "Trace":
        weights = np.array(flat["weights"], dtype=float)
        return linalg.Trace(n, None if np.all(weights == 1.0) else weights)
    if kind == "Products":
        return linalg.Products(n, np.array(flat["vector"], dtype=float))
    if kind == "InnerProduct":
        upper = _sparse(flat["coefficients"])
        return linalg.InnerProduct(upper + sp.triu(upper, 1).T)
    if kind == "QuadraticForms":
        return linalg.QuadraticForms(_sparse(flat["vectors"]))
    if kind == "BilinearForms":
        return linalg.BilinearForms(_sparse(flat["left"]), _sparse(flat["right"]))
    if kind == "Combined":
        return linalg.Combined(_sparse(flat["weights"]), _read_map(flat["inner"]))
    if kind in ("Stacked", "Summed"):
        return getattr(linalg, kind)([_read_map(part) for part in flat["maps"]])
    raise ValueError(f"unknown kind of map {kind!r}")


# -- programs and points ---------------------------------------------------------------------------


def flat_program(program: SDP) -> Flat:
    """Write a program."""
    return {
        "maximize": bool(program.maximize),
        "constant": float(program.constant),
        "variables": [_flat_variable(v) for v in program.variables],
        "objective": {name: flat_map(a) for name, a in program.objective.items()},
        "rows": [
            {
                "label": rows.label,
                "relation": rows.relation,
                "lhs": {name: flat_map(a) for name, a in rows.lhs.items()},
                "rhs": rows.rhs.tolist(),
            }
            for rows in program.rows
        ],
        "lmis": [_flat_lmi(lmi) for lmi in program.lmis],
    }


def _flat_variable(variable: Any) -> Flat:
    if isinstance(variable, PsdVariable):
        return {"name": variable.name, "order": int(variable.n)}
    curvature = variable.curvature
    return {
        "name": variable.name,
        "size": int(variable.size),
        "nonnegative": bool(variable.nonnegative),
        "curvature": None if curvature is None else curvature.tolist(),
    }


def _flat_lmi(lmi: Any) -> Flat:
    _, _, scale = _triangle(lmi.order)
    constant = np.array(lmi.constant, dtype=float)
    constant[scale != 1.0] = _unscaled(constant[scale != 1.0])
    return {
        "label": lmi.label,
        "order": int(lmi.order),
        "lhs": {name: flat_map(a, in_lmi=True) for name, a in lmi.lhs.items()},
        "constant": constant.tolist(),
    }


def read_program(flat: Flat) -> SDP:
    """Read a program."""
    variables: list[Any] = [
        PsdVariable(v["name"], v["order"])
        if "order" in v
        else VectorVariable(
            v["name"],
            v["size"],
            v["nonnegative"],
            None if v["curvature"] is None else np.array(v["curvature"], dtype=float),
        )
        for v in flat["variables"]
    ]
    rows = [
        Rows(
            r["label"],
            r["relation"],
            {name: read_map(a) for name, a in r["lhs"].items()},
            np.array(r["rhs"], dtype=float),
        )
        for r in flat["rows"]
    ]
    return SDP(
        variables=tuple(variables),
        objective={name: read_map(a) for name, a in flat["objective"].items()},
        rows=tuple(rows),
        lmis=tuple(_read_lmi(lmi) for lmi in flat["lmis"]),
        constant=flat["constant"],
        maximize=flat["maximize"],
    )


def _read_lmi(flat: Flat) -> Lmi:
    _, _, scale = _triangle(flat["order"])
    lhs = {name: read_map(a, in_lmi=True) for name, a in flat["lhs"].items()}
    return Lmi(flat["label"], flat["order"], lhs, np.array(flat["constant"], float) * scale)


def flat_point(point: Point) -> Flat:
    """Write a point with its multipliers."""
    return {
        "values": {name: _flat_value(value) for name, value in point.values.items()},
        "multipliers": {label: _flat_value(y) for label, y in point.duals.items()},
    }


def _flat_value(value: Any) -> Flat:
    if isinstance(value, Factor):
        return {"factor": value.factor.tolist()}
    array = np.asarray(value, dtype=float)
    return {"vector": array.tolist()} if array.ndim == 1 else flat_symmetric(array)


def read_point(flat: Mapping[str, Any]) -> Point:
    """Read a point with its multipliers."""
    values = {name: _read_value(value) for name, value in flat["values"].items()}
    return Point(values, {label: _read_value(y) for label, y in flat["multipliers"].items()})


def _read_value(flat: Flat) -> Any:
    if "factor" in flat:
        return Factor(np.array(flat["factor"], dtype=float))
    if "vector" in flat:
        return np.array(flat["vector"], dtype=float)
    return symmetric(flat)


# -- grades ----------------------------------------------------------------------------------------

# From the weakest to the strongest.
GRADES = ("nothing", "one side", "both sides", "certified")


def grade(proved: Mapping[str, Any], tol: float, gap_scale: float) -> str:
    """Return how much a result proves: both sides within the tolerance, both, one or nothing."""
    value, bound = proved["value"], proved["bound"]
    if value is None or bound is None:
        return GRADES[0] if value is None and bound is None else GRADES[1]
    apart, size = abs(value - bound), max(abs(value), gap_scale)
    return GRADES[3] if apart <= tol * size else GRADES[2]
