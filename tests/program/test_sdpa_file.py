"""SDPA files: what they say, what is written is what is read, and every way they can be broken."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import FileFormatError, ModelError, RelaxedWarning
from sdpdr.linalg import Diagonal, SvecMap, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable, read_sdpa, write_sdpa

TINY = """\
"A tiny program: maximise 2 Y12 + 3 y2
* with two rows
  2 = mDIM
  2 = nBLOCK
  (2, -3) = bLOCKsTRUCT
{1.0, -2.5D+00}
0 1 2 1 1.0
0 2 2 2 3.0
1 1 1 1 1.0
1 1 2 2 1.0
1 2 3 3 -0.0
2 2 1 1 5E-1
2 1 1 2 -1.0
"""


@pytest.fixture
def tiny(tmp_path):
    return written(tmp_path / "tiny.dat-s", TINY)


def written(path, text):
    path.write_text(text, encoding="ascii")
    return path


def assert_same_program(one, other):
    """Bit for bit, up to the names of the variables."""
    assert (one.constant, one.maximize) == (other.constant, other.maximize)
    assert one.n_rows == other.n_rows
    for r, s in zip(one.rows, other.rows, strict=True):
        assert r.relation == s.relation
        assert r.rhs.tobytes() == s.rhs.tobytes()
    for v, w in zip(one.variables, other.variables, strict=True):
        assert (type(v), v.size) == (type(w), w.size)
        for a, b in zip(coefficients(one, v), coefficients(other, w), strict=True):
            np.testing.assert_array_equal(a, b)


def coefficients(sdp, variable):
    """The dense matrices of objective and rows on one variable; zeros where it is absent."""
    for m, lhs in [(1, sdp.objective), *((r.m, r.lhs) for r in sdp.rows)]:
        if variable.name in lhs:
            yield lhs[variable.name].matrix().toarray()
        else:
            yield np.zeros((m, variable.size))


# -- what a file says -------------------------------------------------------------------------


def test_a_file_known_by_heart(tiny):
    sdp = read_sdpa(tiny)
    assert sdp.name == "tiny"
    assert [(v.name, type(v)) for v in sdp.variables] == [
        ("Y1", PsdVariable),
        ("Y2", VectorVariable),
    ]
    assert sdp.variable("Y2").nonnegative
    point = {"Y1": np.array([[2.0, 7.0], [7.0, 30.0]]), "Y2": np.array([10.0, 20.0, 40.0])}
    assert sdp.maximize
    assert sdp.report(sdp.primal_value(point)) == pytest.approx(2 * 7.0 + 3 * 20.0)
    (rows,) = sdp.rows
    assert (rows.label, rows.relation, rows.rhs.tolist()) == ("rows", "==", [1.0, -2.5])
    np.testing.assert_allclose(rows.rhs - sdp.slack(rows, point), [32.0, 0.5 * 10.0 - 14.0])


@pytest.mark.parametrize("entry", ["0 1 1 2 1.0", "\n\n", "0 1 1 1 0"])
def test_entries_in_both_triangles_blank_lines_and_zeros_change_nothing(tmp_path, tiny, entry):
    more = written(tmp_path / "more.dat-s", TINY + entry + "\n")
    assert_same_program(read_sdpa(tiny), read_sdpa(more))


def test_line_ends_of_windows_and_compression_change_nothing(tmp_path, tiny):
    path = tmp_path / "tiny.dat-s.gz"
    path.write_bytes(gzip.compress(TINY.replace("\n", "\r\n").encode("ascii")))
    assert_same_program(read_sdpa(tiny), read_sdpa(path))
    assert read_sdpa(path).name == "tiny"


def test_the_mark_that_editors_put_first_changes_nothing(tmp_path, tiny):
    path = tmp_path / "marked.dat-s"
    path.write_bytes(b"\xef\xbb\xbf" + TINY.encode("ascii"))
    assert_same_program(read_sdpa(tiny), read_sdpa(path))


@pytest.mark.parametrize("before", ["  2 = nBLOCK", "{1.0,", "1 1 1 1 1.0", "2 1 1 2 -1.0"])
def test_lines_of_comment_change_nothing_wherever_they_stand(tmp_path, tiny, before):
    text = TINY.replace(before, f'* 9 9 9 9 9\n"said here\n{before}') + "* the end\n"
    assert_same_program(read_sdpa(tiny), read_sdpa(written(tmp_path / "told.dat-s", text)))


REARRANGED = {
    "remarks": TINY.replace("1 1 2 2 1.0", "1 1 2 2 1.0 * trace").replace(
        "-1.0\n", "-1.0 the last\n"
    ),
    "glued remarks": TINY.replace("2 = mDIM", "2=mDIM").replace("2 = nBLOCK", "+2=nBLOCK"),
    "signs": TINY.replace("(2, -3)", "(+2, -3)").replace("0 1 2 1 1.0", "+0 +1 +2 1 +1.0"),
    "sizes and costs over lines": TINY.replace("(2, -3)", "(2,\n-3)").replace("{1.0,", "{1.0,\n\n"),
    "entries over lines": TINY.replace("1 1 1 1 1.0", "1 1\n1 1\n1.0"),
    "entries on one line": TINY.replace("1 1 1 1 1.0\n", "1 1 1 1 1.0 "),
    "entries in braces": TINY.replace("1 1 1 1 1.0\n", "{1, 1, 1, 1, 1.0},\n"),
    "end of a DOS file": TINY.replace("\n", "\r\n") + "\x1a",
}


@pytest.mark.parametrize("text", REARRANGED.values(), ids=REARRANGED)
def test_numbers_are_read_as_sdpa_reads_them(tmp_path, tiny, text):
    path = written(tmp_path / "rearranged.dat-s", text)
    assert_same_program(read_sdpa(path), read_sdpa(tiny))


@pytest.mark.parametrize(
    "section",
    ["*INTEGER\n*1\n", "*RANK1\n*1\n", "*INTEGER variables:\n* 1\n", "*INTEGER: 1 2\n",
     "* integer *1 *2\n", '"INTEGER\n"1\n'],
)  # fmt: skip
def test_a_restriction_that_is_not_read_is_warned_of(tmp_path, tiny, section):
    path = written(tmp_path / "mixed.dat-s", TINY + section)
    with pytest.warns(RelaxedWarning, match=r"mixed.dat-s has a section .*relaxation"):
        sdp = read_sdpa(path)
    assert_same_program(sdp, read_sdpa(tiny))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "text", ["*INTEGER programs, relaxed\n" + TINY, TINY + "* no INTEGER variables\n"]
)
def test_a_remark_about_integers_is_no_section(tmp_path, tiny, text):
    assert_same_program(read_sdpa(written(tmp_path / "told.dat-s", text)), read_sdpa(tiny))


OTHER_FORMATS = {
    "p.cbf": ("VER\n3\n\nOBJSENSE\nMIN\n", "with which SDPA sparse files begin.*found 'VER'"),
    "q.qps": ("* quadratic\nNAME QP\nROWS\n", "line 2: .*SDPA sparse files begin"),
    "dense.dat": ("1\n1\n2\n{1.0}\n{{1.0, 0.5}, {0.5, 2.0}}\n{{1.0, 0.0}, {0.0, 1.0}}\n", "dense"),
    "d.dat": ("4\n1\n1\n1 2 3 4\n1.5\n1\n1\n1\n1\n", "an SDPA dense file"),
    "p.dat-s.gz": (None, "complete gzip"),
    "binary.dat-s": ("\x00\x01\x02", "SDPA sparse files begin"),
}


@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_a_file_of_another_format_is_refused(tmp_path, name):
    text, words = OTHER_FORMATS[name]
    path = written(tmp_path / name, TINY if text is None else text)
    with pytest.raises(FileFormatError, match=words):
        read_sdpa(path)


# -- what is written is what is read ----------------------------------------------------------

NUMBERS = st.floats(-1e100, 1e100).map(lambda x: x if abs(x) >= 1e-100 else 0.0)
NUMBERS = NUMBERS.filter(lambda x: x == 0.0 or abs(x) > 1e-200)


@st.composite
def programs(draw):
    """Programs in equality form with any numbers, the way a file holds them."""
    m = draw(st.integers(1, 3))
    variables, objective, lhs = [], {}, {}
    for k, size in enumerate(
        draw(st.lists(st.integers(-3, 3).filter(bool), min_size=1, max_size=3))
    ):
        name = f"Y{k + 1}"
        psd = size > 0
        v = PsdVariable(name, size) if psd else VectorVariable(name, -size, nonnegative=True)
        variables.append(v)
        objective[name], lhs[name] = (draw(maps(v, rows)) for rows in (1, m))
    rhs = np.array(draw(st.lists(NUMBERS, min_size=m, max_size=m)))
    return SDP(
        tuple(variables),
        objective,
        (Rows("rows", "==", lhs, rhs),),
        constant=draw(NUMBERS),
        maximize=draw(st.booleans()),
    )


@st.composite
def maps(draw, variable, m):
    p = variable.size
    values = np.array(draw(st.lists(NUMBERS, min_size=m * p, max_size=m * p))).reshape(m, p)
    if isinstance(variable, VectorVariable):
        return VectorMap(values)
    j, i = np.tril_indices(variable.n)
    row = np.repeat(np.arange(m), p)
    return SvecMap.from_entries(variable.n, m, row, np.tile(i, m), np.tile(j, m), values.ravel())


@pytest.mark.nightly
@settings(max_examples=25, derandomize=True)
@given(sdp=programs(), compressed=st.booleans())
def test_a_program_survives_its_file(tmp_path_factory, sdp, compressed):
    path = tmp_path_factory.mktemp("files") / f"p.dat-s{'.gz' * compressed}"
    write_sdpa(sdp, path)
    assert_same_program(sdp, read_sdpa(path))


@pytest.mark.integration
def test_the_names_of_a_model_are_those_of_its_answer(tmp_path):
    path = tmp_path / "mvu.dat-s"
    write_sdpa(methods.mvu(graphs.path([1.0, 2.0])).to_sdp(), path)
    solution = sdpdr.solve(read_sdpa(path), "clarabel")
    assert solution.certified(1e-6)
    assert set(solution.values) == {"K", "isometry.slack"}
    assert {"centered", "isometry"} <= set(solution.duals)


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ('* sdpdr block 3 "K"', "line 1: expected a block from 1 to 2; found a name of block 3"),
        ('* sdpdr block 1 "Y2"', "names that differ"),
        ('* sdpdr rows 3 "lengths"', "names of 2 rows; found 3"),
        ('* sdpdr block 1 "K" of points"', "a name between quotation marks"),
    ],
)
def test_notes_of_names_that_do_not_fit_are_refused(tmp_path, tiny, note, words):
    path = tmp_path / "noted.dat-s"
    path.write_text(f"{note}\n{tiny.read_text()}")
    with pytest.raises(FileFormatError, match=words):
        read_sdpa(path)


def test_a_program_without_rows(tmp_path):
    path = tmp_path / "free.dat-s"
    sdp = SDP((PsdVariable("Y1", 2),), {}, constant=1.5)
    write_sdpa(sdp, path)
    assert_same_program(sdp, read_sdpa(path))
    written(path, path.read_text().replace("\n2\n", "\n2 = bLOCKsTRUCT\n"))
    assert_same_program(sdp, read_sdpa(path))


NOTE = "* sdpdr: minimise, constant 5.0"
EDITS = {
    "blank line first": "\n" + NOTE,
    "blanks within": "*sdpdr :  minimise ,constant   5",
    "capitals": "* SDPDR: Minimise, Constant 5.0D0",
    "quotes": '"* sdpdr: minimise, constant 5.0',
    "twice": f"{NOTE}\n{NOTE}",
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_sense_survives_edits_of_its_note(tmp_path, edit):
    path = tmp_path / "cut.dat-s"
    sdp = SDP(
        (PsdVariable("X", 2),),
        {"X": SvecMap.from_entries(2, 1, [0], [0], [1], np.array([1.0]))},
        (Rows("unit", "==", {"X": Diagonal(2)}, np.ones(2)),),
        constant=5.0,
    )
    write_sdpa(sdp, path)
    text = path.read_text()
    assert text.startswith(NOTE)
    written(path, text.replace(NOTE, EDITS[edit]))
    again = read_sdpa(path)
    assert (again.maximize, again.constant) == (False, 5.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_leave_no_file(tmp_path, bad):
    rows = Rows("rows", "==", {"Y": VectorMap([[bad]])}, np.ones(1))
    sdp = SDP((VectorVariable("Y", 1, nonnegative=True),), {}, (rows,))
    with pytest.raises(ModelError, match=r"not finite.*right sides"):
        write_sdpa(sdp, tmp_path / "bad.dat-s")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_right_side_that_is_not_finite_is_refused_at_once(bad):
    rows = Rows("limits", "<=", {"Y": VectorMap([[1.0], [1.0]])}, np.array([1.0, bad]))
    with pytest.raises(ModelError, match="'limits': the right side of row 1"):
        SDP((VectorVariable("Y", 1, nonnegative=True),), {}, (rows,))


# -- faults -----------------------------------------------------------------------------------

FAULTS = {
    "empty": ("", 1, "number of rows .* the file ends"),
    "no count": ("two\n", 1, "mDIM.*whole number.*found 'two'"),
    "ends after counts": ("1\n1\n", 3, "1 sizes of blocks .* the file ends"),
    "too few sizes": ("1\n2\n2\n1 1.0 1\n", 4, "2 sizes of blocks .*found more"),
    "too many sizes": ("1\n2\n2 3 4\n1\n", 3, "2 sizes of blocks.*found more"),
    "size zero": ("1\n2\n2 0\n1\n", 3, "other than 0"),
    "size a fraction": ("1\n1\n2.5\n1\n", 3, "whole numbers"),
    "too few in c": ("2\n1\n2\n1.0\n1 1 1 1 1\n", 5, "the 2 numbers of c.*found more"),
    "too many in c": ("2\n1\n2\n1 2 3\n1 1 1 1 1\n", 4, "the 2 numbers of c.*found more"),
    "no number in c": ("2\n1\n2\n1 x\n", 4, "each a number; found 'x'"),
    "NaN in c": ("2\n1\n2\n1 nan\n", 4, "a finite number; found 'nan'"),
    "cut off": ("1\n1\n2\n1\n1 1 1 1 1\n1 1 2\n", 6, "five numbers.*found 3"),
    "six words": ("1\n1\n2\n1\n1 1 1 1 1 1\n", 5, "five numbers.*found 6"),
    "word for value": ("1\n1\n2\n1\n1 1 1 1 1\n1 1 2 2 one\n", 6, "each a number; found 'one'"),
    "letter for zero": ("1\n1\n2\n1\n1 1 1 1 1\nO 1 1 1 7\n", 6, "each a number; found 'O'"),
    "numbers behind a remark": ("1\n1\n2\n1\n1 1 1 1 1 of 2 1 1 1 1\n", 5, "in the remark 'of'"),
    "a word on a line of its own": ("1\n1\nhello\n2\n1\n1 1 1 1 1\n", 3, "sizes.*found 'hello'"),
    "numbers behind mDIM": ("2 1\n1\n", 1, "mDIM.*found more, '1'"),
    "infinite value": ("1\n1\n2\n1\n\n1 1 1 1 -inf\n", 6, "finite number; found '-inf'"),
    "no such matrix": ("1\n1\n2\n1\n2 1 1 1 1\n", 5, "matrix from 0 to 1.*2 1 1 1 1"),
    "no such block": ("1\n1\n2\n1\n1 2 1 1 1\n", 5, "block from 1 to 1"),
    "no such row": ("1\n1\n2\n1\n1 1 0 1 1\n", 5, "row and column from 1 to the size"),
    "off the diagonal": ("1\n1\n-2\n1\n1 1 1 2 1\n", 5, "on the diagonal.*negative size"),
    "twice": ("1\n1\n2\n1\n1 1 1 2 1\n1 1 2 2 1\n1 1 1 2 1\n", 7, "each entry once"),
    "unlike mirror": ("1\n1\n2\n1\n1 1 1 2 1\n1 1 2 1 5\n", 6, "alike in both triangles"),
    "no sense": (
        "\n* sdpdr: minimum, constant 5\n",
        2,
        "'sdpdr: minimise, .* found 'sdpdr: minimum",
    ),
    "two senses": (f"{NOTE}\n{NOTE.replace('min', 'max')}\n", 2, "one sense .* maximise"),
    "underscore in note": ("* sdpdr: minimise, constant 1_0\n", 1, "a number; found '1_0'"),
    "underscore in count": ("1_0\n", 1, "whole number.*found '1_0'"),
    "underscore in size": ("1\n1\n1_0\n1\n", 3, "1 sizes of blocks.*found '1_0'"),
    "underscore in c": ("2\n1\n2\n1 1_0.0\n", 4, "each a number; found '1_0.0'"),
    "underscore in place": ("1\n1\n20\n1\n1 1 1_0 1_0 1\n", 5, "each a number; found '1_0'"),
    "underscore in value": ("1\n1\n2\n1\n\n1 1 1 1 1_0.0\n", 6, "each a number; found '1_0.0'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_name_file_line_and_what_was_expected(tmp_path, fault):
    text, line, expected = FAULTS[fault]
    path = written(tmp_path / "broken.dat-s", text)
    with pytest.raises(FileFormatError, match=rf"broken\.dat-s, line {line}: .*{expected}"):
        read_sdpa(path)


@pytest.mark.parametrize(
    # A compressed file has the time in it, and names of tests must not.
    "data",
    [gzip.compress(TINY.encode(), mtime=0)[:-20], TINY.encode()],
    ids=["cut short", "text"],
)
def test_a_gzip_file_that_is_none_or_not_complete(tmp_path, data):
    path = tmp_path / "broken.dat-s.gz"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"broken\.dat-s\.gz: expected a complete gzip file"):
        read_sdpa(path)
