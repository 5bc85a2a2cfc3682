"""Small numeric digests of arrays, invariant under signs, rotations and shifts of coordinates."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp

# Significant digits that are kept.
DIGITS = 9
# Longest list that is kept whole.
LONGEST = 8


def numbers(values: Any) -> Any:
    """Return one number, or the first few of a list with the norm of all of them."""
    array = np.asarray(values, dtype=float)
    if array.ndim == 0:
        return _rounded(float(array))
    flat = array.ravel()
    kept = [_rounded(float(x)) for x in flat[:LONGEST]]
    return kept if flat.size <= LONGEST else [*kept, _rounded(float(np.linalg.norm(flat)))]


def spread(points: Any) -> Any:
    """Return the singular values of centred points: invariant under rotations and shifts."""
    dense = _dense(points)
    return numbers(np.linalg.svd(dense - dense.mean(axis=0), compute_uv=False))


def gram_spectrum(matrix: Any) -> Any:
    """Return the singular values of a matrix."""
    return numbers(np.linalg.svd(_dense(matrix), compute_uv=False))


def listed(labels: Any) -> str:
    """Return labels as a word: themselves if short, else how many, the counts and a hash."""
    flat = np.asarray(labels).ravel()
    if flat.dtype.kind == "f":
        flat = np.round(flat, 3) + 0.0
    words = [str(x) for x in flat.tolist()]
    text = " ".join(words)
    if len(text) <= 60:
        return text
    return f"{len(words)} labels, {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _dense(values: Any) -> Any:
    dense = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=float)
    return dense.reshape(len(dense), -1)


def _rounded(x: float) -> float | str:
    # JSON has no infinity.
    return float(f"{x:.{DIGITS}g}") if np.isfinite(x) else str(x)
