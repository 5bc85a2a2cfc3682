"""Polynomial factorization: what the programs add to least squares from random factors.

    python benchmarks/polynomial_factorization.py             # rewrites docs/tables/polynomial.rst
    python benchmarks/polynomial_factorization.py --seeds 5

The matrices are made from random factors, uniform in [0, 1], so the entries can be met exactly; the
example is that of the method's page. The thesis prints no figures for this method.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from tables import write_table

from sdpdr import factorize
from sdpdr.families.factor.polynomial.fit import Misfit, evaluate

MET = 1e-9
SMALL = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])


def instance(shape, k, c, missing, seed):
    """Entries made from random factors, some of them unknown; the small example without shape."""
    if shape is None:
        return evaluate(np.array(c), SMALL)
    rng = np.random.default_rng(seed)
    V = evaluate(np.array(c), rng.random((shape[0], k)) @ rng.random((k, shape[1])))
    return np.where(rng.random(shape) < missing, np.nan, V)


def least_squares(V, c, k, seed, unknown):
    """From random factors: whether the entries are met, the error, and no program."""
    rng = np.random.default_rng(seed)
    squares = Misfit(V, True, unknown)
    start = np.concatenate([[1.0], rng.random(len(c) - 1)]) if unknown else np.array(c)
    fit = squares.descend(rng.random((len(V), k)), rng.random((V.shape[1], k)), start)
    return fit.misfit / np.sqrt(np.nansum(V**2)), 0


def programs(V, c, k, seed, unknown):
    """The iteration, with least squares after each program."""
    found = factorize.polynomial(
        V, None if unknown else c, k, degree=len(c), seed=seed,
        max_iter=10 if unknown else 30, tol=MET,
    )  # fmt: skip
    return found.error, found.programs


WAYS: dict[str, Callable[..., tuple[float, int]]] = {
    "least squares from random factors": least_squares,
    "programs, least squares after each": programs,
}
CASES = {
    r":math:`t + t^2/2`, the example": (None, 1, (1.0, 0.5), 0.0, False),
    r"the same, :math:`c_2` unknown": (None, 1, (1.0, 0.5), 0.0, True),
    r":math:`t + t^2/2`, 6 x 5, k = 2, 30% unknown": ((6, 5), 2, (1.0, 0.5), 0.3, False),
    r":math:`t - t^2`, 5 x 4, k = 1": ((5, 4), 1, (1.0, -1.0), 0.0, False),
    r":math:`t`, 6 x 5, k = 3": ((6, 5), 3, (1.0,), 0.0, False),
}


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    rows = []
    for case, (shape, k, c, missing, unknown) in CASES.items():
        for way, run in WAYS.items():
            begin, found = time.process_time(), []
            count = seeds * (5 if run is least_squares else 1)
            for seed in range(count):
                V = instance(shape, k, c, missing, seed)
                found.append(run(V, c, k, seed, unknown=unknown))
            errors, counts = map(np.array, zip(*found, strict=True))
            seconds = (time.process_time() - begin) / count
            met = int(np.sum(errors <= MET))
            rows.append(
                (case, way, f"{met} of {count}", f"{np.median(counts):g}", f"{seconds:.1g} s")
            )
            print(rows[-1], flush=True)
    write_table(
        "polynomial",
        ["g, V", "way", "entries met", "programs, median", "time each"],
        rows,
        command=f"python benchmarks/polynomial_factorization.py --seeds {seeds}",
        notes=[
            "Entries count as met at a relative misfit of 1e-9. One start "
            "for each of the matrices, or seeds of the example; five times as many of least "
            "squares alone. At most 30 programs, 10 where the coefficient is unknown. Processor "
            "time on one core."
        ],
    )


if __name__ == "__main__":
    main()
