"""Values of dataclass fields are checked by their types, choices and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
import torch

from counterbc.data.field_checks import check_fields, field_from, limited_field
from counterbc.errors import OptionError


@dataclass(frozen=True)
class Wall:
    """A wall."""

    height: float = limited_field(2.0, "a number above 0", lambda height: height > 0)
    windows: int | None = limited_field(None, "an even number", lambda n: n % 2 == 0, unit="each")
    bricks: tuple[int, ...] = ()
    colour: str | None = field(default=None, metadata={"choices": ("red", "green", "blue")})
    finish: Literal["matt", "gloss"] = "matt"
    thick: bool | int = False
    doors: int | None = field_from(1, None)

    def __post_init__(self) -> None:
        check_fields(self)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("height", 0.0, "a number above 0"),
        ("height", "tall", "a number above 0"),
        ("height", None, "a number above 0"),
        ("windows", 3, "an even number"),
        ("windows", 2.0, "an even number"),
        ("bricks", (1, 2.5), "a list"),
        ("colour", "pink", "red, green or blue"),
        ("finish", "silk", "matt or gloss"),
        ("doors", 0, "1 or more"),
        ("doors", 1.5, "1 or more"),
        ("thick", "very", "True or False or an integer"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_the_rule(
    name: str, value: object, rule: str
) -> None:
    with pytest.raises(OptionError) as error:
        Wall(**{name: value})  # type: ignore[arg-type]  # wrong on purpose
    assert str(error.value) == f"{name} is {value!r}; it must be {rule}"


def test_values_that_fit_are_taken_and_lists_become_tuples() -> None:
    for bricks in ([1, 2], np.array([1, 2]), torch.tensor([1, 2])):
        values: dict[str, Any] = {"windows": 4, "bricks": bricks, "colour": "red"}
        wall = Wall(**values)
        assert (wall.windows, wall.bricks, wall.colour) == (4, (1, 2), "red")


def test_a_limited_field_keeps_its_default_and_further_metadata() -> None:
    assert Wall() == Wall(height=2.0, windows=None)
    assert Wall.height == 2.0
    assert Wall.__dataclass_fields__["windows"].metadata["unit"] == "each"


def test_a_number_from_its_least_on_is_taken() -> None:
    assert [Wall(doors=n).doors for n in (None, 1, 2)] == [None, 1, 2]
