"""The problem library: cards and families with expected answers, and how to find them."""

from sdpdr.lab.library.card import Card
from sdpdr.lab.library.problem import Family, families, find_card, find_family, library

__all__ = ["Card", "Family", "families", "find_card", "find_family", "library"]
