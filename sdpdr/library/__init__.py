"""The problem library: cards, families, what is expected of answers, and what cards may name."""

from sdpdr.library.cards import Card, find_card, library
from sdpdr.library.families import Family, families, find_family

__all__ = ["Card", "Family", "families", "find_card", "find_family", "library"]
