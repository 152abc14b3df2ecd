"""Arguments of environments that are refused, and seeds of slots."""

from __future__ import annotations

import numpy as np
import pytest

from counterbc.envs.checks import check_actions, check_render_mode, slot_seeds
from counterbc.errors import OptionError


def test_a_number_seeds_the_slots_one_after_the_other() -> None:
    assert slot_seeds(7, 3) == slot_seeds(np.int64(7), 3) == [7, 8, 9]  # type: ignore[arg-type]


def test_listed_seeds_are_kept_and_none_leaves_all_slots_without() -> None:
    assert slot_seeds([4, None], 2) == [4, None]
    assert slot_seeds(None, 2) == [None, None]
    with pytest.raises(OptionError, match="3 seeds for 2 slots; give one per slot"):
        slot_seeds([1, 2, 3], 2)


def test_actions_become_float64_and_must_have_the_shape_of_the_slots() -> None:
    actions = check_actions([[1, 2]], (1, 2))
    assert actions.dtype == np.float64
    with pytest.raises(OptionError, match=r"actions have shape \(2,\); expected \(1, 2\)"):
        check_actions([1, 2], (1, 2))


def test_only_arrays_are_rendered() -> None:
    check_render_mode(None)
    check_render_mode("rgb_array")
    with pytest.raises(OptionError, match="render_mode is 'human'; allowed: 'rgb_array', or None"):
        check_render_mode("human")
