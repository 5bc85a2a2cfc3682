"""Reference values of the problem library, enclosed anew between a point and a proven bound.

    python benchmarks/references.py                    # all cards that have a value
    python benchmarks/references.py path-graph circle
    python benchmarks/references.py --families         # the members of families, up to --largest

A line for each value: the tightest enclosure that the solvers tried reached at tol 1e-9, its
relative width, and how far outside it the reference lies. The exit status is 1 if one lies outside
by more than 1e-6. A dash says that these solvers came to no narrow enclosure in time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import sdpdr
from sdpdr.errors import SdpdrError
from sdpdr.library import Card, families, library
from sdpdr.program import Solution

TOL = 1e-9
WIDE = 1e-5
OUTSIDE = 1e-6
CONTESTANTS = (("lowrank", "factor"), ("clarabel", "lmi"), ("clarabel", "cvxpy"), ("sdpa", "lmi"))
# Rows and order up to which the general solvers are quick.
ROWS, ORDER = 900, 70


def main() -> int:
    """Enclose and compare."""
    args = parsed()
    outside = 0
    print(f"{'problem':36}{'reference':>18}{'width':>10}{'outside':>10}  by")
    for card in chosen(args):
        value = card.expect.value or 0.0
        best = enclosed(card, args.limit)
        if best is None:
            print(f"{card.name:36}{value:18.12g}{'-':>10}{'-':>10}")
            continue
        low, high = sorted((best.value, best.bound))
        off = max(low - value, value - high, 0.0) / max(abs(value), 1e-12)
        outside += off > OUTSIDE
        words = f"{abs(best.gap):10.1e}{off:10.1e}  {best.solver}/{best.form}"
        print(f"{card.name:36}{value:18.12g}{words}", flush=True)
    return int(outside > 0)


def parsed() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cards", nargs="*", help="names (default: all)")
    parser.add_argument("--families", action="store_true", help="members of families instead")
    parser.add_argument("--largest", type=int, default=1000, help="of members (default: 1000)")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds a solver (default: 20)")
    return parser.parse_args()


def chosen(args: argparse.Namespace) -> Iterator[Card]:
    """Cards with a value to compare with, in order."""
    if args.families:
        cards = [f.at(n) for f in families().values() for n in f.sizes if n <= args.largest]
    else:
        cards = list(library().values())
    for card in cards:
        if card.expect.value is not None and (not args.cards or card.name in args.cards):
            yield card


def enclosed(card: Card, limit: float) -> Solution | None:
    """The solution with the narrowest enclosure; None if all are wide."""
    model = card.build()
    size = model.size()
    small = sum(size["rows"].values()) <= ROWS and max([*size["matrices"].values(), 0]) <= ORDER
    best: Solution | None = None
    for solver, form in CONTESTANTS if small else CONTESTANTS[:1]:
        try:
            found = sdpdr.solve(model, solver, form, tol=TOL, time_limit=limit)
        except SdpdrError:
            continue  # Not every solver takes every program.
        if found.bound is None or not abs(found.gap) <= WIDE:
            continue  # A point far from feasible may lie beyond the optimum.
        if best is None or abs(found.gap) < abs(best.gap):
            best = found
        if abs(best.gap) <= TOL:
            break
    return best


if __name__ == "__main__":
    sys.exit(main())
