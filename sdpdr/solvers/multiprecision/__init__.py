"""A solver in hundreds of bits: judge of references, and last resort for ill-posed programs.

`adapter` is the solver, and gives optimal values in many digits. A program goes through `stored`
(the numbers that are meant), `dependence` (rows that follow from others), `compiled` (numbers of
the working precision), and `method` with `schur` and `rays`, driven by `engine`. Only these need
python-flint.
"""

from sdpdr.solvers.multiprecision.adapter import Multiprecision, Reference, reference

__all__ = ["Multiprecision", "Reference", "reference"]
