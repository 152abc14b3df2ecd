"""Options of the figures narrow the sizes and refuse what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import OptionError
from reproduction.figure_options import RECORDED_WORLDS, FigureOptions


def test_sizes_are_the_world_s_unless_others_are_asked_for() -> None:
    assert FigureOptions().sizes("air-hockey").pairs == (200, 400, 800, 1600, 3200)
    assert (FigureOptions().sizes().seeds, FigureOptions().sizes("air-hockey").seeds) == (50, 10)
    assert FigureOptions(seeds=7, steps=3).sizes("push-t").seeds == 7
    assert FigureOptions(quick=True, steps=3).sizes("push-t").steps == 3


def test_counter_bc_has_the_paper_s_radius_where_a_figure_does_not_vary_it() -> None:
    for preset, radius in (("default", 0.4), ("paper", 0.4), ("authors", 0.5)):
        options = FigureOptions(preset=preset, quick=True)
        assert options.radius == radius
        cells = options.grid(("intersection",), ("uniform",), methods=("bc", "counter-bc"))
        assert {cell.radius for cell in cells} == {None, radius}


def test_people_recorded_push_t_and_can() -> None:
    assert RECORDED_WORLDS == {"push-t": ("state",), "can": ()}
    with pytest.raises(OptionError, match="push-t is studied with what people recorded; name"):
        FigureOptions().recorded_cells("push-t")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 1}, "seeds is 1; it must be 2 or more"),
        ({"pairs": (400, 3)}, "pairs is 3; it must be 4 or more"),
        ({"quick": True, "paper_size": True}, "quick or of the paper's size"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        FigureOptions(data=Path("demos.hdf5"), **options)
