"""Optimal values of the gallery's random cuts, enclosed by a point and by multipliers.

Neither side trusts a solver: a psd matrix is scaled to a diagonal of ones, and multipliers are
moved by the least eigenvalue of their slack. What LAPACK rounds is a thousandth of the margins.
"""

from __future__ import annotations

import numpy as np

from sdpdr.solvers.registry import find
from sdpdr.testing.hard_programs import laplacian, max_cut

MARGIN = 1e-11


def enclosure(n: int, seed: int) -> tuple[float, float]:
    """Numbers below and above the optimal value."""
    cost = laplacian(n, seed)
    point = find("csdp")(tol=1e-10).run(max_cut(n, seed)).point
    values, vectors = np.linalg.eigh(np.asarray(point.values["X"]))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    root /= np.linalg.norm(root, axis=1)[:, None]
    lower = float(np.sum(root * (cost @ root)))
    y = np.abs(point.duals["diagonal"])
    least = float(np.linalg.eigvalsh(np.diag(y) - cost)[0])
    upper = float(y.sum()) - n * min(least, 0.0)
    return lower * (1.0 - MARGIN), upper * (1.0 + MARGIN)


def main() -> None:
    """Print the lines of ``problems/hard_instances/families.toml``."""
    for seed in range(12):
        n = 100 + 10 * seed
        lower, upper = enclosure(n, seed)
        assert upper - lower <= 1e-7 * upper
        between = f"between = [{lower:.9f}, {upper:.9f}]"
        print(f"    {{ given = {{ n = {n}, seed = {seed} }}, {between} }},", flush=True)


if __name__ == "__main__":
    main()
