from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from counterbc.errors import DataError, FormatError
from counterbc.formats import load, open_stream
from tests.formats.tables import write_csv

FULL = """\
episode,x,action_0,y,reward,action_1,operator
0,1,0.1,2,1,-0.1,ann
0,3,0.2,4,0,-0.2,ann
5,5,0.3,6,1,-0.3,
"""


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_are_distinguished_by_name(delimiter: str, tmp_path: Path) -> None:
    demos = load(write_csv(tmp_path / "demos.csv", FULL.replace(",", delimiter)))
    assert demos.obs_names == ("x", "y")
    assert demos.action_names == ("action_0", "action_1")
    assert [(e.name, e.operator, len(e)) for e in demos.episodes] == [
        ("demo_0", "ann", 2),
        ("demo_5", None, 1),
    ]
    assert demos.obs.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert np.allclose(demos.action, [[0.1, -0.1], [0.2, -0.2], [0.3, -0.3]])
    assert demos.mean_return == 1


def test_observations_can_be_chosen_column_by_column(tmp_path: Path) -> None:
    demos = load(write_csv(tmp_path / "demos.csv", FULL), obs=["y"])
    assert demos.obs[:, 0].tolist() == [2, 4, 6]
    with pytest.raises(FormatError, match="no observation column 'z'; allowed: x, y"):
        load(tmp_path / "demos.csv", obs=["z"])


@pytest.mark.parametrize(
    ("name", "is_action"),
    [
        ("action", True),
        ("actions", True),
        ("action.x", True),
        ("action[0]", True),
        ("action1", True),
        ("action_left", True),
        ("actionable", False),
        ("reaction", False),
        ("Action", False),
    ],
)
def test_the_rule_of_action_columns(name: str, is_action: bool, tmp_path: Path) -> None:
    demos = load(write_csv(tmp_path / "demos.csv", f"x,action_z,{name}\n1,2,3\n"))
    assert (name in demos.action_names) is is_action
    assert (name in demos.obs_names) is not is_action


def test_a_byte_order_mark_quotes_and_unicode_are_read(tmp_path: Path) -> None:
    text = '\ufeff"größe, cm",action,episode\n1,2,"früh"\n'
    demos = load(write_csv(tmp_path / "demos.csv", text))
    assert demos.obs_names == ("größe, cm",)
    assert demos.episodes[0].name == "früh"


def test_an_episode_continues_across_the_blocks_of_reading(tmp_path: Path) -> None:
    rows = "\n".join(f"{i // 70_000},{i},{i % 7}" for i in range(150_000))  # over a megabyte
    demos = load(write_csv(tmp_path / "long.csv", f"episode,x,action\n{rows}\n"))
    assert [len(e) for e in demos.episodes] == [70_000, 70_000, 10_000]
    assert np.array_equal(demos.obs[:, 0], np.arange(150_000))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "x,y\n1,2\n",
            "no column for the action; it has x, y; choose its columns with",
        ),
        ("action\n1\n", "no column for the observation"),
        ("x,x,action\n1,2,3\n", "two columns named 'x'"),
        ("x,action\n1,two\n", "line 2, column 'action' holds 'two', which is not a number; corr"),
        ("x,action\n1,2\n1,2,3\n", "line 3 has 3 cells, but the row of column names has 2; corr"),
        ("x,action\n1,\n", "action of episode 'demo_0' has 1 values that are NaN"),
        ("x,action\n1,inf\n", "action of episode 'demo_0' has 1 values that are NaN or infinite"),
        ("x,action\n", "at least one episode"),
        ("episode,x,action\n0,1,2\n1,1,2\n0,1,2\n", "episode 'demo_0' occurs in two"),
        ("episode,x,action\n,1,2\n", "a row has no episode"),
        ("operator,x,action\na,1,2\nb,1,2\n", "operator changes within episode 'demo_0'"),
        ("", "does not begin with a row of column names"),
    ],
)
def test_a_bad_table_is_refused_in_words(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises((FormatError, DataError), match=sentence):
        load(write_csv(tmp_path / "bad.csv", text), format="csv")


def test_a_table_with_the_index_column_of_pandas_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pandas.csv"
    path.write_text(
        ",episode_index,timestamp,x,done,action_x\n"
        "0,0,0.0,1.5,False,0.1\n1,0,0.1,2.5,True,0.2\n2,7,0.0,3.5,True,0.3\n"
    )
    demos = load(path)
    assert [len(e) for e in demos.episodes] == [2, 1]
    assert demos.obs_names == ("x",)
    assert demos.obs[:, 0].tolist() == [1.5, 2.5, 3.5]
    left_out = open_stream(path).header.left_out
    assert left_out == ("column ''", "column 'timestamp'", "column 'done'")
    assert load(path, ["timestamp"]).obs_names == ("timestamp",)  # unless it is asked for


def test_a_column_of_words_does_not_keep_others_from_being_read(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("x,note,y,action\n1,start,,0.5\n2,end,oops,0.25\n,next,3,0.5\n")
    assert open_stream(path).header.left_out == ("column 'note'",)
    with pytest.raises(FormatError, match="line 2, column 'note' holds 'start'"):
        load(path, ["x", "note"])
    with pytest.raises(FormatError, match=r"line 3, column 'y' holds 'oops'.*with --obs x"):
        load(path)


def test_carriage_returns_and_thousands_of_digits_are_no_tracebacks(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"not in a supported format|carriage returns"):
        load(write_csv(tmp_path / "old.csv", FULL.replace("\n", "\r")))
    with pytest.raises(FormatError, match="ends its lines with carriage returns"):
        load(tmp_path / "old.csv", format="csv")
    digits = "1" * 5000
    demos = load(write_csv(tmp_path / "long.csv", f"episode,x,action\n{digits},1,2\n007,1,2\n"))
    assert [e.name for e in demos.episodes] == [f"demo_{digits}", "demo_7"]
    with pytest.raises(FormatError, match="larger than field limit"):
        load(write_csv(tmp_path / "wide.csv", f"x,action,{'y' * 200_000}\n1,2,3\n"), format="csv")


def test_the_time_to_read_many_columns_does_not_explode(tmp_path: Path) -> None:
    names = ",".join(f"s{i}" for i in range(5000))
    path = write_csv(tmp_path / "wide.csv", f"{names},action\n{'1,' * 5000}2\n")
    begin = time.process_time()
    assert load(path).obs_shape == (5000,)
    assert time.process_time() - begin < 10  # minutes if it were quadratic per column


def test_bad_episodes_of_a_table_do_not_hide_the_others(tmp_path: Path) -> None:
    path = tmp_path / "demos.csv"
    rows = ["episode,operator,x,action", "0,ann,1,1", "1,ann,2,2", "0,ann,3,3", "2,bob,4,4"]
    path.write_text("\n".join([*rows, "2,ann,5,5", "3,ann,6,6"]))
    episodes = list(open_stream(path).raw_episodes)
    assert [e.name for e in episodes] == ["demo_0", "demo_1", "demo_0", "demo_2", "demo_3"]
    reasons = [str(e.error) for e in episodes if e.error is not None]
    assert "two separate blocks" in reasons[0]
    assert "the operator changes" in reasons[1]
    assert len(reasons) == 2
