"""What is proved of a program, whichever solver spoke: a kernel over cones, and bounds.

`sdpdr.certify.prove.prove` is the door. A value is proved by a point that exists near one that is
given, a bound by multipliers that do; both are one statement (`sdpdr.certify.proof`). Points are
taken from the central path near the solver's answer (`sdpdr.certify.path`), from the smallest face
where there is no interior (`sdpdr.certify.faces`), and moved as little as can be verified.
`sdpdr.certify.bounds` proves bounds at sizes beyond it.
"""

from sdpdr.certify.bounds import Certificate as Certificate
from sdpdr.certify.bounds import certify as certify

__all__ = ["Certificate", "certify"]
