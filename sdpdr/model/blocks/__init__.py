"""The vocabulary: each block is one statement about named variables."""

from sdpdr.base.gather import names as _names
from sdpdr.model.blocks.anchors import AnchoredIsometry as AnchoredIsometry
from sdpdr.model.blocks.anchors import AnchoredLengths as AnchoredLengths
from sdpdr.model.blocks.anchors import Coordinates as Coordinates
from sdpdr.model.blocks.entries import Close as Close
from sdpdr.model.blocks.entries import Dispersion as Dispersion
from sdpdr.model.blocks.entries import LeastTrace as LeastTrace
from sdpdr.model.blocks.entries import NonNegative as NonNegative
from sdpdr.model.blocks.entries import OtherSums as OtherSums
from sdpdr.model.blocks.entries import RowSums as RowSums
from sdpdr.model.blocks.entries import TraceAtMost as TraceAtMost
from sdpdr.model.blocks.entries import UnitDiagonal as UnitDiagonal
from sdpdr.model.blocks.expressions import Stated as Stated
from sdpdr.model.blocks.geomean import GeometricMean as GeometricMean
from sdpdr.model.blocks.gram import Apart as Apart
from sdpdr.model.blocks.gram import Centered as Centered
from sdpdr.model.blocks.gram import Dependence as Dependence
from sdpdr.model.blocks.gram import Gram as Gram
from sdpdr.model.blocks.gram import Spread as Spread
from sdpdr.model.blocks.gram import Variance as Variance
from sdpdr.model.blocks.isometry import Actions as Actions
from sdpdr.model.blocks.isometry import Band as Band
from sdpdr.model.blocks.isometry import Coinciding as Coinciding
from sdpdr.model.blocks.isometry import Isometry as Isometry
from sdpdr.model.blocks.isometry import Lengths as Lengths
from sdpdr.model.blocks.isometry import Relation as Relation
from sdpdr.model.blocks.isometry import Slack as Slack
from sdpdr.model.blocks.lift import FactorLift as FactorLift
from sdpdr.model.blocks.lift import Known as Known
from sdpdr.model.blocks.moments import Localized as Localized
from sdpdr.model.blocks.moments import MomentMatrix as MomentMatrix
from sdpdr.model.blocks.separation import Separation as Separation

__all__ = _names(vars())
