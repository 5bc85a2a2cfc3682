"""The standard form, its points and residuals, certificates, solutions, and SDPA files."""

from sdpdr.program.certificate import Certificate, certify
from sdpdr.program.point import (
    Factor,
    Point,
    PsdVariable,
    Value,
    Variable,
    VectorVariable,
    as_dense,
)
from sdpdr.program.rays import Ray, prove_infeasible, prove_unbounded
from sdpdr.program.residuals import Residuals, dimacs_errors
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.run import Claim, Run, Status
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa import read_sdpa, write_sdpa
from sdpdr.program.solution import Solution
from sdpdr.program.standard import to_equality_form

__all__ = [
    "SDP",
    "Certificate",
    "Claim",
    "Factor",
    "Lmi",
    "Point",
    "PsdVariable",
    "Ray",
    "Residuals",
    "Rows",
    "Run",
    "Solution",
    "Status",
    "Value",
    "Variable",
    "VectorVariable",
    "as_dense",
    "certify",
    "dimacs_errors",
    "prove_infeasible",
    "prove_unbounded",
    "read_sdpa",
    "to_equality_form",
    "write_sdpa",
]
