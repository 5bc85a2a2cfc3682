"""Property-based tests draw the same examples in every run, unless asked to look further.

``HYPOTHESIS_PROFILE=search pytest tests`` draws new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeat", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
