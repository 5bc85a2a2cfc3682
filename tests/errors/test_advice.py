"""What messages advise, followed.

Each line of ``advice.txt`` is what people type, what the message says, and code that follows it. In
the code, ``{}`` stands for the words of the message; without any code, the words are it.
"""

import re
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy
import sklearn
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import sdpdr
from sdpdr import blocks, datasets, graphs, methods
from sdpdr.errors import EntrywiseWarning
from sdpdr.model import language

X = np.random.default_rng(0).standard_normal((12, 3))
D = np.linalg.norm(X[:, None] - X, axis=2)
SCOPE = vars(language) | {
    **{"sdpdr": sdpdr, "graphs": graphs, "methods": methods, "blocks": blocks, "np": np},
    **{"numpy": np, "sklearn": sklearn, "scipy": scipy, "datasets": datasets, "cp": cp, "pd": pd},
    **{"make_pipeline": make_pipeline, "KNeighborsClassifier": KNeighborsClassifier},
    **{"SimpleImputer": SimpleImputer},
    **{"X": X, "D": D, "y": np.arange(12) % 2, "A": X[:3], "C": np.diag([1.0, 2.0, 3.0])},
    **{name: getattr(sdpdr, name) for name in ("MVU", "ISM", "NMF", "solve", "minimize")},
    **{"K": sdpdr.psd("K", 3), "t": sdpdr.scalar("t"), "v": sdpdr.scalar("v", 3)},
}
SCOPE["S"] = SCOPE["K"]
SCOPE["expression"], SCOPE["constraint"] = SCOPE["K"].trace(), SCOPE["K"][0, 0] >= 1.0
SCOPE["model"] = sdpdr.minimize(SCOPE["expression"]) + SCOPE["constraint"]
SCOPE["solution"] = sdpdr.solve(SCOPE["model"])

ADVICE = Path(__file__).with_name("advice.txt").read_text(encoding="utf-8").splitlines()
LINES = [[part.strip() for part in line.split(" | ")] for line in ADVICE]


@pytest.mark.parametrize(("typed", "words", "code"), [(*line, "{}")[:3] for line in LINES])
def test_advice_works(typed, words, code):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", EntrywiseWarning)
        with pytest.raises((Exception, EntrywiseWarning)) as caught:
            eval(typed, SCOPE)
        assert type(caught.value).__module__ == "sdpdr.errors" or caught.type is AttributeError
        assert re.search(rf"(?<!\w){re.escape(words)}", str(caught.value)), str(caught.value)
        eval(code.format(words), SCOPE)
