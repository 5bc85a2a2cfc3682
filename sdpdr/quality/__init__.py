"""How good an embedding is: neighbourhoods, lengths, and the truth where it is known."""

from sdpdr.quality.alignment import align, procrustes
from sdpdr.quality.lengths import EdgeErrors, edge_changes, edge_errors
from sdpdr.quality.measure import quality, quality_table
from sdpdr.quality.neighbourhoods import continuity, trustworthiness
from sdpdr.quality.record import Quality, QualityTable

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
