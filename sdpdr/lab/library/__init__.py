"""The problem library: cards, families, what is expected of answers, and what cards may name."""

from sdpdr.lab.library.card import Card
from sdpdr.lab.library.problem import Family, families, find_card, find_family, library

__all__ = ["Card", "Family", "families", "find_card", "find_family", "library"]
