"""What is proved of a program, whichever solver spoke: a kernel over cones, and bounds.

`sdpdr.certify.prove.prove` is the door, which keeps what it knows in `attempts`. A value is proved
by a point that exists near one that is given, a bound by multipliers that do; both are one
statement. In the order in which a reader meets them:

- The program: `standard` and `flat` write it over a product of `cones`, `units` in its own units.
- The statement: `equations` have an exact solution near a point, without `dependent` ones, and
  `statement` adds that the box around it lies in the cones. Where no box does, `stretched` states
  the same in the metric of the point or of the multipliers. `proof` makes values and bounds of
  both. All rests on `rounding`.
- Where points come from: `path`, the central path near the solver's answer.
- Where nothing lies inside: `margin` finds what shows it, `exposing` proves a ray or a face of
  `faces`, `reduced` is the program on that face, and `on_faces` proves the same there.
- Any size: `attained` proves a value next to a factor (`factor`, `shrink`, `near`, `slack`), and
  `bounds` moves multipliers until their slack is verified.
- A point that is not to move: `as_it_stands`, in fractions.
"""

from sdpdr.certify.bounds import Certificate as Certificate
from sdpdr.certify.bounds import certify as certify

__all__ = ["Certificate", "certify"]
