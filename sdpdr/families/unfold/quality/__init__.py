"""How good an embedding is: neighbourhoods, lengths, and the truth where it is known."""

from sdpdr.families.unfold.quality.lengths import (
    EdgeErrors,
    align,
    edge_changes,
    edge_errors,
    procrustes,
)
from sdpdr.families.unfold.quality.measure import Quality, QualityTable, quality, quality_table
from sdpdr.families.unfold.quality.neighbourhoods import continuity, trustworthiness

__all__ = [
    "EdgeErrors",
    "Quality",
    "QualityTable",
    "align",
    "continuity",
    "edge_changes",
    "edge_errors",
    "procrustes",
    "quality",
    "quality_table",
    "trustworthiness",
]
