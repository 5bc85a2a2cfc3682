"""Files of distances: triangles, PHYLIP, R's print, triples, condensed vectors, half a square."""

import shlex
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from sdpdr.errors import DataError, FileFormatError, SdpdrError
from sdpdr.lab.cli import columns
from sdpdr.lab.cli.app import Exit
from sdpdr.lab.cli.embed import _as_square, embed_command

N = 9
D = np.round(squareform(pdist(np.random.default_rng(0).normal(size=(N, 3)))), 4)
NAMES = [f"P{k}" for k in range(N)]
CITIES = ["New York", *(f"Town {k}" for k in range(1, N))]


def read(path, options=""):
    """The distances that `sdpdr embed --metric precomputed` would embed, and its table."""
    words = [str(path), "--metric", "precomputed", *shlex.split(options)]
    args = SimpleNamespace(**embed_command.make_context("embed", words).params)
    table = columns.divide(_as_square(columns.read(args), args), args)
    return table.X, table


def square(rows=D, sep=",", names=None, head=None):
    body = [[*([names[k]] if names else []), *map(str, row)] for k, row in enumerate(rows)]
    return "".join(f"{sep.join(row)}\n" for row in [*([head] if head else []), *body])


def triangle(sep=",", diagonal=True, names=None):
    rows = [D[k, : k + (1 if diagonal else 0)] for k in range(N)]
    return "".join(
        sep.join([*([names[k]] if names else []), *map(str, row)]) + "\n"
        for k, row in enumerate(rows)
        if len(row) or names
    )


def upper(sep=" ", diagonal=True):
    rows = [D[k, k + (0 if diagonal else 1) :] for k in range(N)]
    return "".join(sep.join(map(str, row)) + "\n" for row in rows if len(row))


def printed_by_r(names, per_block=N, diagonal=False):
    """As R prints a dist; wide ones in blocks of columns."""
    shift = 0 if diagonal else 1
    width = max(map(len, names))
    lines = []
    for start in range(0, N - shift, per_block):
        end = min(start + per_block, N - shift)
        lines.append(" " * width + "".join(f" {name:>9}" for name in names[start:end]))
        for row in range(start + shift, N):
            cells = [
                f"{D[row, k]:9.4f}" if k + shift <= row else " " * 9 for k in range(start, end)
            ]
            lines.append(f"{names[row]:<{width}} " + " ".join(cells))
    return "\n".join(lines) + "\n"


def printed_square(names, per_block=N, diagonal=True):
    """As R prints a matrix, or a dist with upper=TRUE; pandas does not break lines."""
    frame = pd.DataFrame(D, names, names).astype(str)
    if not diagonal:
        frame = frame.where(~np.eye(N, dtype=bool), "")
    blocks = [frame.iloc[:, k : k + per_block].to_string() for k in range(0, N, per_block)]
    return "\n".join(blocks) + "\n"


def with_diagonal(value, names=None):
    """A lower triangle with something on its diagonal."""
    rows = [[*map(str, D[k, :k]), value] for k in range(N)]
    return "".join(
        ",".join([*([names[k]] if names else []), *r]) + "\n" for k, r in enumerate(rows)
    )


WHOLE = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
PHYLIP = f"   {N}\n"
FILES = {
    "square.csv": square(),
    "square_named.csv": square(names=NAMES, head=["", *NAMES]),
    "upper_zero.csv": square(np.tril(D)),
    "upper_zero_named.csv": square(np.tril(D), names=NAMES, head=["", *NAMES]),
    "lower.csv": triangle(),
    "lower_without_diagonal.csv": triangle(diagonal=False),
    "lower_named.csv": triangle(names=NAMES),
    "lower_strict_named.csv": triangle(diagonal=False, names=NAMES),
    "lower.txt": triangle(" "),
    "lower.dat": triangle("\t", diagonal=False),
    "lower_commas.txt": triangle(";").replace(".", ","),
    "lower_padded.csv": "".join(
        line + "," * (N - line.count(",") - 1) + "\n" for line in triangle().splitlines()
    ),
    "upper.txt": upper(),
    "upper_without_diagonal.txt": upper(diagonal=False),
    "phylip.txt": PHYLIP + square(sep=" ", names=NAMES),
    "phylip_lower.txt": PHYLIP + triangle(" ", diagonal=False, names=NAMES),
    "phylip_names.txt": PHYLIP + square(sep=" ", names=[f"{name:<10}" for name in CITIES]),
    "phylip_wrapped.txt": PHYLIP
    + "".join(f"{NAMES[k]} {' '.join(map(str, row[:7]))}\n  {' '.join(map(str, row[7:]))}\n"
              for k, row in enumerate(D)),
    "phylip_upper.phy": PHYLIP
    + "".join(f"{NAMES[k]} {' '.join(map(str, D[k, k + 1 :]))}\n" for k in range(N)),
    "phylip_comment.dist": PHYLIP + triangle(" ", names=NAMES) + "# made by hand\n",
    "lower_na.csv": with_diagonal("NA", NAMES),
    "lower_rounded.csv": with_diagonal("1e-17"),
    "lower_header.csv": f"point,{','.join(NAMES)}\n" + triangle(names=NAMES),
    "upper_named.csv": "".join(
        f"{NAMES[k]},{','.join(map(str, row[k:]))}\n" for k, row in enumerate(D)
    ),
    "printed.txt": printed_square(NAMES),
    "printed_cities.txt": printed_square(CITIES),
    "printed_numbers.txt": printed_square([str(k + 1) for k in range(N)]),
    "printed_without_diagonal.txt": printed_square(NAMES, diagonal=False),
    "printed_wrapped_without_diagonal.txt": printed_square(NAMES, per_block=5, diagonal=False),
    "dist.txt": printed_by_r(NAMES),
    "dist_numbers.txt": printed_by_r([str(k + 1) for k in range(N)]),
    "dist_wrapped.txt": printed_by_r(NAMES, per_block=5),
    "dist_diagonal.txt": printed_by_r(NAMES, diagonal=True),
    "dist_cities.txt": printed_by_r(CITIES),
    "condensed.csv": "".join(f"{x}\n" for x in squareform(D)),
    "condensed_row.csv": ",".join(map(str, squareform(D))) + "\n",
    "triples.csv": "a,b,d\n" + "".join(
        f"P{i},P{j},{D[i, j]}\n" for i in range(N) for j in range(i + 1, N)
    ),
}  # fmt: skip


def test_distances_are_read_in_every_form(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
        X, table = read(tmp_path / name)
        X = np.where(np.isnan(X), X.T, X)
        np.testing.assert_array_equal(X, D, err_msg=name)
        if "P0" in content:
            (names,) = table.kept.values()
            assert names.tolist() == NAMES
        if "cities" in name or "names" in name:
            assert table.kept["point"].tolist() == CITIES


def test_a_triangle_without_the_line_of_its_first_point(tmp_path):
    (tmp_path / "t.csv").write_text("3\n4,5\n7,5,6\n")
    expected = [[0, 3, 4, 7], [3, 0, 5, 5], [4, 5, 0, 6], [7, 5, 6, 0]]
    np.testing.assert_array_equal(read(tmp_path / "t.csv")[0], expected)


@pytest.mark.parametrize("names", [None, NAMES])
def test_a_diagonal_of_ones_is_refused_and_the_advice_works(tmp_path, names):
    path = tmp_path / "t.csv"
    path.write_text(with_diagonal("1", names))
    with pytest.raises(DataError, match=r"diagonal is 1\. Write a line for each point"):
        read(path)
    path.write_text(with_diagonal("0", names))
    np.testing.assert_array_equal(read(path)[0], D)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("title\n" + triangle() + "total\n", "--skip 1 --skip-footer 1"),
        (triangle(names=NAMES).replace("P3,", "unit\nP3,"), "--drop-lines 4"),
        (triangle(";").replace(".", ","), "--sep ; --decimal ,"),
        ("title\n" + printed_by_r(NAMES), "--skip 1"),
        (
            "title\n" + PHYLIP + square(sep=" ", names=NAMES).replace(".", ","),
            "--skip 1 --decimal ,",
        ),
    ],
)
def test_options_of_reading_hold_for_distances(tmp_path, content, options):
    path = tmp_path / "t.txt"
    path.write_text(content)
    np.testing.assert_array_equal(read(path, options)[0], D)
    gone = str(D[2, 1])
    path.write_text(content.replace(gone, "-9.0").replace(gone.replace(".", ","), "-9"))
    unknown = read(path, f"{options} --na-values=-9")[0]
    assert np.isnan(unknown[2, 1])
    assert np.isnan(unknown).sum() == 2
    with pytest.raises(SdpdrError):
        read(path, f"{options.replace('--sep ; ', '')} --sep |")


@pytest.mark.parametrize("name", ["lower_named.csv", "phylip.txt", "printed.txt"])
def test_two_points_of_one_name_are_refused(tmp_path, name):
    (tmp_path / name).write_text(FILES[name].replace("P4", "P3"))
    with pytest.raises(DataError, match="two points are called 'P3'. Rename one"):
        read(tmp_path / name)


def test_whole_numbers_of_a_square_are_not_names(tmp_path):
    (tmp_path / "t.csv").write_text(square(WHOLE))
    np.testing.assert_array_equal(read(tmp_path / "t.csv")[0], WHOLE)
    (tmp_path / "t.csv").write_text(square(WHOLE, head=list(map(str, range(N)))))
    np.testing.assert_array_equal(read(tmp_path / "t.csv")[0], WHOLE)


@pytest.mark.parametrize("name", ["lower.csv", "phylip_lower.txt", "lower_commas.txt", "dist.txt"])
def test_distances_taken_for_points_are_named_for_what_they_are(sdpdr, tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    ran = sdpdr(f"embed {name}")
    assert ran.code == Exit.BAD_INPUT
    assert "--metric precomputed reads it" in ran.err


def test_a_condensed_vector_of_scipy(sdpdr, tmp_path):
    np.save(tmp_path / "d.npy", squareform(D))
    assert "add --metric precomputed" in sdpdr("embed d.npy").err
    np.testing.assert_array_equal(read(tmp_path / "d.npy")[0], D)
    np.save(tmp_path / "d.npy", squareform(D)[1:])
    assert "square matrix" in sdpdr("embed d.npy --metric precomputed").err


def test_half_a_square_is_read_in_full_and_told(tmp_path, capsys):
    np.save(tmp_path / "d.npy", np.triu(D))
    np.testing.assert_array_equal(read(tmp_path / "d.npy")[0], D)
    said = capsys.readouterr().err
    assert "its lower triangle is zero, so the other one is used for both" in said


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
    with pytest.raises((DataError, FileFormatError), match=words):
        read(tmp_path / "t.csv")


def test_triples_with_gaps_are_unknown_distances(tmp_path, capsys):
    rows = [(f"P{i}", f"P{j}", D[i, j]) for i in range(N) for j in range(i + 1, N)]
    pd.DataFrame(rows[::2], columns=["a", "b", "d"]).to_csv(tmp_path / "t.csv", index=False)
    X, table = read(tmp_path / "t.csv")
    assert f"line ('a', 'b', 'd'): {N} points" in capsys.readouterr().err
    names = list(table.kept["point"])
    assert set(names) == set(NAMES)
    order = [names.index(name) for name in NAMES]
    known = np.isfinite(X[np.ix_(order, order)])
    assert known.sum() == N + 2 * len(rows[::2])
    np.testing.assert_array_equal(X[np.ix_(order, order)][known], D[known])
