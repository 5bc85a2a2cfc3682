"""The problem library: cards, what is expected of their answers, and what they may name."""

from sdpdr.library.cards import Card, find_card, library

__all__ = ["Card", "find_card", "library"]
