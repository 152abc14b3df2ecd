"""Numbers of figures are written and read back without a change."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from counterbc.errors import FormatError
from reproduction.catalog import FIGURES
from reproduction.figure_json import from_json, to_json
from reproduction.figure_numbers import Figure4, Figure6, Gain, MethodTest
from reproduction.numbers import Numbers
from reproduction.options import RESULTS
from tests.reproduction.made_up import cells, compared, paired

HERE = Path("numbers.json")


@pytest.mark.parametrize(
    "path", sorted(RESULTS.glob("*/numbers.json")), ids=lambda p: p.parent.name
)
def test_every_figure_on_file_is_the_same_when_it_is_read_and_written_again(path: Path) -> None:
    sections = json.loads(path.read_text(encoding="utf-8"))
    figures = [name for name in FIGURES if isinstance(sections, dict) and name in sections]
    for name in figures:
        kind = type(getattr(Numbers(), name))
        again = to_json(from_json(kind, sections[name], path, name))
        assert json.dumps(again) == json.dumps(sections[name])


def test_the_figures_on_file_are_all_of_the_paper() -> None:
    paths = RESULTS.glob("*/numbers.json")
    sections = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    assert {key for s in sections if isinstance(s, dict) for key in s} >= set(FIGURES)


def test_a_field_without_a_python_name_has_its_own_key() -> None:
    gain = paired(Gain, 1.0, 0.01, start=100, at=400, method="bc")
    assert list(to_json(gain)) == ["world", "act", "from", "at", "method", "difference", "p"]
    assert from_json(Gain, to_json(gain), HERE, "figure4") == gain


def test_numbers_that_are_not_finite_are_null_and_absent_fields_have_no_key() -> None:
    test = compared({"bc": (0.5, math.nan)}, act="mean", measure="hits")
    written = to_json(test)
    assert written["post_hoc"][0]["p"] is None
    assert not {"world", "teacher", "means"} & set(written)
    again = from_json(MethodTest, written, HERE, "figure7")
    assert math.isnan(again.post_hoc[0].p)
    assert (again.world, again.measure) == (None, "hits")


def test_a_missing_key_is_named_with_its_file_and_place() -> None:
    points = cells({"bc": 1.0}, world="fork", teacher="crowd", act="mean")
    written = to_json(Figure6(cells=points))
    del written["cells"][0]["sem"]
    with pytest.raises(FormatError, match=r"numbers\.json lacks 'sem' in figure6, cells; draw it"):
        from_json(Figure6, written, HERE, "figure6")
    with pytest.raises(FormatError, match="lacks 'cells' in figure4; draw it again"):
        from_json(Figure4, [], HERE, "figure4")
