"""The standard form, its points and residuals, certificates, solutions, and SDPA files."""

from sdpdr.base.gather import names as _names
from sdpdr.program.point import Factor as Factor
from sdpdr.program.point import Point as Point
from sdpdr.program.point import PsdVariable as PsdVariable
from sdpdr.program.point import Value as Value
from sdpdr.program.point import Variable as Variable
from sdpdr.program.point import VectorVariable as VectorVariable
from sdpdr.program.point import as_dense as as_dense
from sdpdr.program.ray import Ray as Ray
from sdpdr.program.residuals import Residuals as Residuals
from sdpdr.program.residuals import dimacs_errors as dimacs_errors
from sdpdr.program.rows import Lmi as Lmi
from sdpdr.program.rows import Rows as Rows
from sdpdr.program.run import Claim as Claim
from sdpdr.program.run import Run as Run
from sdpdr.program.run import Status as Status
from sdpdr.program.sdp import SDP as SDP
from sdpdr.program.sdpa import read_sdpa as read_sdpa
from sdpdr.program.sdpa import write_sdpa as write_sdpa
from sdpdr.program.solution import Solution as Solution
from sdpdr.program.standard import to_equality_form as to_equality_form

__all__ = _names(vars())
