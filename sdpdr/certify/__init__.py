"""Proofs for the answer of any solver: a kernel over cones, and sparse bounds.

`sdpdr.certify.prove.prove` is the entry point, and `attempts` its state. A value is proved by a
feasible point that exists near a given one, a bound by such multipliers; both are one statement.
In the order in which a reader meets the modules:

- The program: `standard` and `flat` write it over a product of `cones`, `units` in its own units.
- The statement: `equations` have an exact solution near a point, without `dependent` ones, and
  `statement` adds that the box around it lies in the cones. If no box does, `stretched` proves the
  same in the metric of the point or of the multipliers. `proof` derives values and bounds from
  both. `rounding` bounds all rounding errors.
- Interior points: `path`, the central path near the solver's answer.
- No interior: `margin` measures it, `exposing` proves a ray or one of the `faces`, `reduced` is the
  program on that face, and `on_faces` proves both sides there.
- Any size: `attained` proves a value next to a factor (`factor`, `shrink`, `near`, `slack`), and
  `bounds` moves multipliers until their slack is verified.
- A point that may not move: `as_it_stands`, in fractions.
"""

from sdpdr.certify.bounds import Certificate as Certificate
from sdpdr.certify.bounds import certify as certify

__all__ = ["Certificate", "certify"]
