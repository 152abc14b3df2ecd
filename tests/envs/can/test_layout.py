"""Names and sizes of Can's observations and actions."""

from counterbc.envs.can.expert import CAN, HAND, TURN
from counterbc.envs.can.layout import ACTION_NAMES, OBS_KEYS, OBS_NAMES


def test_every_number_of_an_observation_has_a_name() -> None:
    assert len(OBS_NAMES) == len(set(OBS_NAMES)) == sum(size for _, size in OBS_KEYS) == 23
    assert len(ACTION_NAMES) == 7


def test_keys_are_sorted_as_files_are_read() -> None:
    assert [key for key, _ in OBS_KEYS] == sorted(key for key, _ in OBS_KEYS)


def test_the_expert_reads_the_numbers_of_these_names() -> None:
    assert OBS_NAMES[CAN] == ("can_x", "can_y", "can_z")
    assert OBS_NAMES[HAND] == ("hand_x", "hand_y", "hand_z")
    assert OBS_NAMES[TURN] == ("hand_qx", "hand_qy", "hand_qz", "hand_qw")
    assert OBS_NAMES[21:] == ("left_finger", "right_finger")
