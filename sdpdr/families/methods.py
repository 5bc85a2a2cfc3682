"""Recipes: each turns a graph or data into an unsolved model.

Names are loaded when they are first used; ``methods.pyi`` says where they live.
"""

from sdpdr.base.gather import lazily as _lazily

__getattr__, __dir__, __all__ = _lazily(__name__, __file__)
