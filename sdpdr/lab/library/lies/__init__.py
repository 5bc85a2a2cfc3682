"""A gallery of programs that lie: small, exactly known, and answered wrongly by solvers."""

from sdpdr.lab.library.lies.gallery import find_lie, gallery
from sdpdr.lab.library.lies.truth import CHAPTERS, Lie, Truth

__all__ = ["CHAPTERS", "Lie", "Truth", "find_lie", "gallery"]
