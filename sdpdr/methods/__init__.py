"""Recipes: each turns a graph or data into an unsolved model."""

from sdpdr.methods.mvu import mvu

__all__ = ["mvu"]
