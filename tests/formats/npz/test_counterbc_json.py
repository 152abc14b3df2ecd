"""The JSON text that our writer adds to an .npz file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import npz
from counterbc.formats.npz.counterbc_json import read_counterbc, read_env_args
from counterbc.formats.npz.members import Members


def test_what_was_written_is_read(tmp_path: Path) -> None:
    image = np.zeros((2, 4, 4, 3), np.uint8)
    episode = Episode(np.zeros((2, 1)), np.zeros((2, 1)), images={"over/there": image})
    npz.write(Demonstrations((episode,), env_args={"env_name": "Mine-v0"}), tmp_path / "d.npz")
    with Members(tmp_path / "d.npz") as members:
        assert read_env_args(members) == {"env_name": "Mine-v0"}
        assert read_counterbc(members).cameras == ("over/there",)
        assert "camera_0" in members.names
