"""The vocabulary: blocks that say one thing each about named variables."""

from sdpdr.blocks.gram import Centered, Gram, Variance
from sdpdr.blocks.isometry import Band, Isometry, Lengths, Relation, Slack

__all__ = ["Band", "Centered", "Gram", "Isometry", "Lengths", "Relation", "Slack", "Variance"]
