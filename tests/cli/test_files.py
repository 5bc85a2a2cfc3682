"""Where tables come from and results go to: links, pipes, devices, names of any bytes."""

import json
import os

import pandas as pd
import pytest

from sdpdr.lab.cli.app import Exit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")

BASE = "embed roll.csv --columns x,y,z --n-neighbors 5"


def left(folder):
    """Files of ours that were left beside those asked for."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".sdpdr-")]


# -- links, pipes and devices -----------------------------------------------------------------


def test_the_name_asked_for_tells_the_format_and_its_link_the_place(sdpdr, tmp_path, roll_csv):
    (tmp_path / "real.npy").write_bytes(b"old")
    targets = {"out.csv": "real.npy", "out.npy": "none yet", "out.npz": "map.pdf"}
    for name, target in targets.items():
        (tmp_path / name).symlink_to(target)
    assert sdpdr(f"{BASE} --out out.csv --save out.npz").code == Exit.OK
    assert sdpdr(f"{BASE} --out out.npy").code == Exit.OK
    assert (tmp_path / "out.csv").is_symlink()
    assert list(pd.read_csv(tmp_path / "real.npy", compression=None).columns)[-2:] == ["y1", "y2"]
    assert (tmp_path / "none yet").read_bytes().startswith(b"\x93NUMPY")
    assert (tmp_path / "map.pdf").read_bytes().startswith(b"PK")
    assert not left(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("name", ["--out full.csv", "--record full.json"])
def test_a_full_device_is_told_and_gets_no_neighbour(sdpdr, tmp_path, roll_csv, name):
    _, name_alone = name.split()
    (tmp_path / name_alone).symlink_to("/dev/full")
    before = set(os.listdir("/dev"))
    ran = sdpdr(f"{BASE} {name}")
    assert (ran.code, "wrote" in ran.err) == (Exit.BAD_INPUT, False)
    assert "No space left on device" in ran.err.splitlines()[-1]
    assert set(os.listdir("/dev")) == before


def test_devices_and_links_that_lead_to_themselves_are_no_tables(sdpdr, tmp_path):
    for name, target in {"t.csv": "/dev/null", "a.csv": "b.csv", "b.csv": "a.csv"}.items():
        (tmp_path / name).symlink_to(target)
    assert "t.csv is a device" in sdpdr("embed t.csv").err
    ran = sdpdr("embed a.csv --out y.csv")
    assert (ran.code, ran.err.startswith("error: a.csv")) == (Exit.BAD_INPUT, True)
    assert "y.csv" not in os.listdir(tmp_path)


# -- names and classes of any letters ---------------------------------------------------------


@pytest.mark.nightly
def test_figures_and_records_have_titles_whatever_a_table_is_called(sdpdr, tmp_path, roll_csv):
    name, suffix = b"$\\frac$^\xff$.csv", "svg"
    table = os.fsdecode(name)
    roll_csv.rename(tmp_path / table)
    base = BASE.replace("roll.csv", table)
    assert sdpdr(f"{base} --figure y.{suffix} --out y.csv --record y.json").code == Exit.OK
    called = name.replace(b"\xff", b"?").decode()
    assert json.loads((tmp_path / "y.json").read_text())["data"]["file"] == called
