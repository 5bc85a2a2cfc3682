"""The problem library: cards, families, what is expected of answers, and what cards may name."""

from sdpdr.lab.library.card import Card
from sdpdr.lab.library.families import Family, families, find_family
from sdpdr.lab.library.problem import find_card, library

__all__ = ["Card", "Family", "families", "find_card", "find_family", "library"]
