"""Tables of distances: squares, pairs of points, and the condensed vector of SciPy."""

import shlex
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from sdpdr.errors import DataError, FileFormatError, SdpdrError
from sdpdr.lab.cli import columns
from sdpdr.lab.cli.app import Exit
from sdpdr.lab.cli.embed import _as_square, embed_command
from sdpdr.lab.tables.files import read_table

N = 9
D = np.round(squareform(pdist(np.random.default_rng(0).normal(size=(N, 3)))), 4)
NAMES = [f"P{k}" for k in range(N)]


def read(path, options=""):
    """The distances that `sdpdr embed --metric precomputed` would embed, and its table."""
    words = [str(path), "--metric", "precomputed", *shlex.split(options)]
    args = SimpleNamespace(**embed_command.make_context("embed", words).params)
    table = columns.divide(_as_square(columns.read(args), args), args)
    return table.X, table


def square(rows=D, sep=",", names=None, head=None):
    body = [[*([names[k]] if names else []), *map(str, row)] for k, row in enumerate(rows)]
    return "".join(f"{sep.join(row)}\n" for row in [*([head] if head else []), *body])


WHOLE = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
PAIRS = [(f"P{i}", f"P{j}", D[i, j]) for i in range(N) for j in range(i + 1, N)]
FILES = {
    "square.csv": square(),
    "square.txt": square(sep=" "),
    "square_named.csv": square(names=NAMES, head=["", *NAMES]),
    "square_commas.txt": square(sep=";").replace(".", ","),
    "condensed.csv": "".join(f"{x}\n" for x in squareform(D)),
    "condensed_row.csv": ",".join(map(str, squareform(D))) + "\n",
    "triples.csv": "a,b,d\n" + "".join(f"{a},{b},{d}\n" for a, b, d in PAIRS),
}


def test_distances_are_read_in_every_form(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
        X, table = read(tmp_path / name)
        np.testing.assert_array_equal(X, D, err_msg=name)
        if "P0" in content:
            (names,) = table.kept.values()
            assert names.tolist() == NAMES


def test_a_sparse_graph_is_read_with_what_it_does_not_store_unknown(tmp_path):
    lower = np.where(np.median(D) > D, D, 0.0) * np.tri(N)
    sp.save_npz(tmp_path / "graph.npz", sp.csr_array(lower))
    X, _ = read(tmp_path / "graph.npz")
    known = (lower > 0.0) | np.eye(N, dtype=bool)
    np.testing.assert_array_equal(X, np.where(known, lower, np.nan))
    with pytest.raises(FileFormatError, match="sparse square .* add --metric precomputed"):
        read_table(tmp_path / "graph.npz")
    points = np.arange(12.0).reshape(4, 3)
    sp.save_npz(tmp_path / "points.npz", sp.csr_array(points))
    table = read_table(tmp_path / "points.npz")
    np.testing.assert_array_equal(table.numbers(table.columns), points)


def test_options_of_reading_hold_for_distances(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("title\n" + FILES["square_commas.txt"])
    options = "--drop-lines 1 --sep ; --decimal ,"
    np.testing.assert_array_equal(read(path, options)[0], D)
    path.write_text(path.read_text().replace(str(D[2, 1]).replace(".", ","), "-9"))
    assert np.isnan(read(path, f"{options} --na-values=-9")[0]).sum() == 2
    with pytest.raises(SdpdrError):
        read(path, "--drop-lines 1 --decimal , --sep |")


def test_whole_numbers_of_a_square_are_not_names(tmp_path):
    (tmp_path / "t.csv").write_text(square(WHOLE))
    np.testing.assert_array_equal(read(tmp_path / "t.csv")[0], WHOLE)
    (tmp_path / "t.csv").write_text(square(WHOLE, head=list(map(str, range(N)))))
    np.testing.assert_array_equal(read(tmp_path / "t.csv")[0], WHOLE)


ROWS = [[*map(str, D[k, : k + 1])] for k in range(N)]
TRIANGLES = {
    "lower.csv": [",".join(row) for row in ROWS],
    "upper.txt": [" ".join(row) for row in ROWS[::-1]],
    "phylip.txt": [str(N), *(" ".join([NAMES[k], *row[:-1]]) for k, row in enumerate(ROWS))],
    "dist.txt": [
        f"   {' '.join(NAMES[:-1])}",
        *(" ".join([NAMES[k], *row[:-1]]) for k, row in enumerate(ROWS) if k),
    ],
}


@pytest.mark.parametrize("name", TRIANGLES)
@pytest.mark.parametrize("options", ["", "--metric precomputed"])
def test_triangles_of_distances_are_named_for_what_they_are(sdpdr, tmp_path, name, options):
    (tmp_path / name).write_text("\n".join(TRIANGLES[name]) + "\n")
    ran = sdpdr(f"embed {name} {options}")
    assert ran.code == Exit.BAD_INPUT
    assert "as in a triangle of distances. Save the whole square" in ran.err


def test_the_advice_about_a_square_of_phylip_works(sdpdr, tmp_path):
    path = tmp_path / "p.txt"
    path.write_text(f"   {N}\n" + square(sep=" ", names=NAMES))
    assert "--drop-lines 1 leaves it out" in sdpdr("embed p.txt --metric precomputed").err
    X, table = read(path, "--drop-lines 1")
    np.testing.assert_array_equal(X, D)
    assert [names.tolist() for names in table.kept.values()] == [NAMES]


def test_a_condensed_vector_of_scipy(sdpdr, tmp_path):
    np.save(tmp_path / "d.npy", squareform(D))
    assert "add --metric precomputed" in sdpdr("embed d.npy").err
    np.testing.assert_array_equal(read(tmp_path / "d.npy")[0], D)
    np.save(tmp_path / "d.npy", squareform(D)[:-3])
    ran = sdpdr("embed d.npy --metric precomputed")
    assert (ran.code, ran.out) == (Exit.BAD_INPUT, "")
    assert "a vector of 33 numbers" in ran.err
    assert "28 of 8 points, 36 of 9 points" in ran.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,1\nb,b,2\n", "'b' is 2 away from itself"),
        ("a,b,1\nb,a,2\n", "'b' and 'a' are 2 apart, and 1 in a line before"),
        ("a,,1\nb,c,2\n", "line 1: a pair lacks a point"),
    ],
)
def test_triples_that_cannot_be(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read(tmp_path / "t.csv")


def test_triples_with_gaps_are_unknown_distances(tmp_path, capsys):
    pd.DataFrame(PAIRS[::2], columns=["a", "b", "d"]).to_csv(tmp_path / "t.csv", index=False)
    X, table = read(tmp_path / "t.csv")
    assert f"line ('a', 'b', 'd'): {N} points" in capsys.readouterr().err
    names = list(table.kept["point"])
    assert set(names) == set(NAMES)
    order = [names.index(name) for name in NAMES]
    known = np.isfinite(X[np.ix_(order, order)])
    assert known.sum() == N + 2 * len(PAIRS[::2])
    np.testing.assert_array_equal(X[np.ix_(order, order)][known], D[known])
