"""How good an embedding is: neighbourhoods, lengths, and the truth where it is known."""

from sdpdr.base.gather import names as _names
from sdpdr.families.unfold.quality.lengths import EdgeErrors as EdgeErrors
from sdpdr.families.unfold.quality.lengths import align as align
from sdpdr.families.unfold.quality.lengths import edge_changes as edge_changes
from sdpdr.families.unfold.quality.lengths import edge_errors as edge_errors
from sdpdr.families.unfold.quality.lengths import procrustes as procrustes
from sdpdr.families.unfold.quality.measure import Quality as Quality
from sdpdr.families.unfold.quality.measure import QualityTable as QualityTable
from sdpdr.families.unfold.quality.measure import quality as quality
from sdpdr.families.unfold.quality.measure import quality_table as quality_table
from sdpdr.families.unfold.quality.neighbourhoods import continuity as continuity
from sdpdr.families.unfold.quality.neighbourhoods import trustworthiness as trustworthiness

__all__ = _names(vars())
