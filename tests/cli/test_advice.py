"""What a command says names its options, and following it works."""

import re

import numpy as np
import pytest

from sdpdr import minimize, psd
from sdpdr.lab.cli.app import Exit
from sdpdr.program import write_sdpa

# Keywords, calls, and names of modules and attributes; not the values of --set.
PYTHON = re.compile(
    r"(?<!--set )(?<![-\w])\w+=[\w'\"]|\w\(\w+[,)]|\b(np|sdpdr|graph)\.\w|`\w+_\w+`"
)


@pytest.fixture
def files(tmp_path, roll):
    """Tables in which something is wrong."""
    few, rng = roll[:14], np.random.default_rng(0)
    D = np.linalg.norm(few[:, None] - few, axis=2)
    gaps = np.where(np.triu(rng.random(D.shape) < 0.5, 1), np.nan, D)
    oblique = D + 2.0 * np.eye(14, k=1)
    beside = np.column_stack([few, np.where(few[:, 0] > 0.0, 1.0, 2.0)])
    tables = {
        "squared": np.square(D), "oblique": oblique, "upper": np.triu(D),
        "gaps": np.fmax(gaps, gaps.T) * np.where(np.isnan(gaps + gaps.T), np.nan, 1.0),
        "apart": np.vstack([few, few + 1e3, few[:1]]), "two": few[:2], "kinds": beside,
    }  # fmt: skip
    for name, rows in tables.items():
        head = ",".join(["x", "y", "z", "kind"][: rows.shape[1]]) if rows.shape[1] < 5 else ""
        np.savetxt(tmp_path / f"{name}.csv", rows, delimiter=",", header=head, comments="")


@pytest.mark.daily(3)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("squared.csv --metric precomputed", "pass their square roots."),
        ("oblique.csv --metric precomputed", "write the mean of the two in both places"),
        ("upper.csv --metric precomputed", "fill it in"),
        ("gaps.csv --metric precomputed --method density_map", "--method distance_completion"),
        ("apart.csv --connect error", "take --n-neighbors 14, the smallest that connects"),
        ("apart.csv --connect error", "--connect mst"),
        ("apart.csv", "If parts should not be apart, take --n-neighbors 14, the smallest"),
        ("apart.csv --connect largest", "dropped 14 of 29 points"),
        ("two.csv", "rows: 2, and at least 3 are needed"),
        ("kinds.csv --columns x,y,z --n-neighbors 50", "--n-neighbors 50 but there are"),
        ("kinds.csv --columns x,y,z --form landmark --landmarks 99", "--landmarks 99 of 14"),
        ("kinds.csv --columns x,y,z --solver nearest", "--solver auto finds one"),
        ("kinds.csv --columns x,y,z --method ism --labels kind --set margin=1e9",
         "--set margin=1e+09 is more than"),
    ],
)  # fmt: skip
def test_advice_names_options(sdpdr, line, words):
    ran = sdpdr(f"embed {line}")
    assert words in ran.err
    assert not PYTHON.search(ran.err), ran.err


def test_a_gap_relative_to_zero_is_made_absolute_by_the_option_that_is_named(sdpdr, tmp_path):
    A = np.random.default_rng(0).normal(size=(5, 5))
    A = A + A.T
    K = psd("K", 5)
    model = minimize(K.inner(A - np.linalg.eigvalsh(A)[0] * np.eye(5))) + (K.trace() == 1)
    write_sdpa(model.to_sdp(), tmp_path / "zero.dat-s")
    ran = sdpdr("sdp zero.dat-s")
    assert ran.code == Exit.UNCERTIFIED
    advice = re.search(r"pass (--gap-scale \S+),", ran.out)
    assert sdpdr(f"sdp zero.dat-s {advice[1]}").code == Exit.OK
