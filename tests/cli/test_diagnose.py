"""``sdpdr diagnose``."""

from __future__ import annotations

import json

from sdpdr.lab.cli.app import Exit

INFEASIBLE = """2
1
2
1.0 -1.0
0 1 1 1 1.0
1 1 1 1 1.0
1 1 2 2 1.0
2 1 2 2 1.0
"""


def test_findings_about_a_file_are_no_failure(sdpdr, tmp_path):
    (tmp_path / "broken.dat-s").write_text(INFEASIBLE)
    ran = sdpdr(f"diagnose {tmp_path}/broken.dat-s --seconds 60")
    assert ran.code == Exit.OK
    assert "conflict" in ran.out
    assert "row 1 of 'rows'" in " ".join(ran.out.split())
    found = json.loads(sdpdr(f"diagnose {tmp_path}/broken.dat-s --json").out)
    assert found["findings"][0]["constraints"] == ["rows"]


def test_a_card_without_faults(sdpdr):
    ran = sdpdr("diagnose path-graph --seconds 60")
    assert (ran.code, ran.out) == (Exit.OK, "Nothing was found.\n")


def test_a_file_that_is_missing_is_bad_input(sdpdr):
    assert sdpdr("diagnose missing.dat-s").code == Exit.BAD_INPUT


def test_a_table_is_bad_input(sdpdr, tmp_path):
    (tmp_path / "table.csv").write_text("x,y\n1,2\n")
    ran = sdpdr("diagnose table.csv")
    assert (ran.code, "For a table, use `sdpdr embed`" in ran.err) == (Exit.BAD_INPUT, True)
