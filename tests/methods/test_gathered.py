"""All recipes under one name: each is loaded when it is used, and none solves anything."""

import subprocess
import sys

import pytest

from sdpdr import methods


def run(code):
    subprocess.run([sys.executable, "-c", f"import sys\n{code}"], check=True)


def test_a_recipe_loads_no_other_and_a_small_solve_little():
    run("""
import sdpdr
from sdpdr.methods import mvu
assert "sdpdr.families.unfold.mvu" in sys.modules
assert "sdpdr.families.factor.nmf.recipes" not in sys.modules
sdpdr.solve(mvu(sdpdr.graphs.path([1.0, 2.0])))
heavy = ("sklearn", "pandas", "scipy.stats", "cvxpy")
assert not [name for name in heavy if name in sys.modules]
""")


def test_recipes_never_import_what_solves():
    run("""
from sdpdr.methods import *
assert callable(mvu) and callable(nmf_lift)
assert not [name for name in sys.modules if name.startswith("sdpdr.solving")]
""")


def test_every_name_is_there_and_others_are_not():
    assert all(callable(getattr(methods, name)) for name in methods.__all__)
    assert dir(methods) == methods.__all__ == sorted(methods.__all__)
    with pytest.raises(
        AttributeError, match=r"'sdpdr\.families\.methods' has no attribute 'mvvu'; did"
    ):
        methods.mvvu  # noqa: B018
