"""A gallery of programs that lie: small, exactly known, and answered wrongly by solvers."""

from sdpdr.library.lies.gallery import find_lie, gallery
from sdpdr.library.lies.lie import CHAPTERS, Lie
from sdpdr.library.lies.truth import Truth

__all__ = ["CHAPTERS", "Lie", "Truth", "find_lie", "gallery"]
