"""What comments of a CSV file declare about its columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.errors import DataError, FormatError, OptionError
from counterbc.formats import load, open_stream
from tests.formats.tables import write_csv


def test_comments_declare_what_columns_cannot(tmp_path: Path) -> None:
    comments = "# rate: 50\n# from the lab\n# obs: heading, x\n# action: vy, vx\n"
    comments += "# low: -1\n# high: 1, 2\n# angles: heading\n"
    comments += "# actions_are: taken\n# relative: x,-\n"
    path = write_csv(tmp_path / "a.csv", f"{comments}x,vx,heading,vy\n1,0.5,3,0\n")
    demos = load(path)
    assert (demos.obs_names, demos.action_names) == (("heading", "x"), ("vy", "vx"))
    assert (demos.obs.tolist(), demos.action.tolist()) == ([[3, 1]], [[0, 0.5]])
    assert demos.bounds == "[-1, 1] [-1, 2]"
    facts = (demos.rate, demos.angles, demos.actions_are, demos.relative)
    assert facts == (50.0, ("heading",), "taken", "x,-")
    assert "comment '# from the lab'" in open_stream(path).header.left_out
    narrow_demos = load(path, ["x"], action=["vx"])
    assert (narrow_demos.rate, narrow_demos.angles) == (50.0, ())
    assert narrow_demos.bounds.startswith("unknown")
    assert narrow_demos.actions_are is None
    assert narrow_demos.relative is None


def test_bounds_hold_for_a_chosen_action_if_the_file_names_none(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", "# low: -1\n# high: 1\nx,v\n1,0.5\n")
    assert load(path, action=["v"]).bounds == "[-1, 1] in every dimension"


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        ("rate: fast", "its comment 'rate' is 'fast'; expected a number; correct it"),
        ("rate: -1", "rate is -1.0; expected pairs per second above 0"),
        (
            "low: 1, 2, 3",
            "its comment 'low' is '1, 2, 3'; expected one number, or one for each",
        ),
        ("low: 1", "action_low and action_high must both be given"),
        (
            "angles: yaw",
            "its comment 'angles' names a column 'yaw' that does not exist; all",
        ),
        ("action: v", "its comment 'action' names a column 'v' that does not exist; all"),
        ("actions_are: cut", "cut"),
    ],
)
def test_a_comment_that_declares_nonsense_is_refused(
    comment: str, sentence: str, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", f"# {comment}\nx,action_0,action_1\n1,2,3\n")
    with pytest.raises((FormatError, DataError, OptionError), match=sentence):
        load(path)


def test_a_table_of_numpy_has_its_names_in_a_comment(tmp_path: Path) -> None:
    path, table = tmp_path / "a.csv", np.arange(12.0).reshape(4, 3)
    np.savetxt(path, table, delimiter=",", header="x,y,action")
    demos = load(path)
    assert demos.obs_names == ("x", "y")
    assert np.array_equal(demos.obs, table[:, :2])
