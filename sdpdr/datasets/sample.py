"""What every data set is."""

from __future__ import annotations

import numpy as np

from sdpdr.graphs.arrays import Array

Sample = tuple[Array, np.ndarray]
"""Points of shape (n, D), and a value, label or place for each."""
