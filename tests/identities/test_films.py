"""Films and joints of a real robot, from the file to a policy."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.formats import load
from counterbc.trainer import train

CAM = "observation.images.cam_high"


def films(data: Path, root: Path, episodes: int = 2, size: tuple[int, int] | None = None) -> Path:
    """The first episodes of the real LeRobot dataset, with films made for them.

    What the camera saw is not at hand: a bar stands where the first joint does. Films have the size
    of the camera's, or another (height, width).
    """
    av: Any = importlib.import_module("av")
    source = data / "fixtures/lerobot_v21_g1"
    (root / "meta").mkdir(parents=True)
    lines = (source / "meta/episodes.jsonl").read_text().splitlines()[:episodes]
    info = json.loads((source / "meta/info.json").read_text())
    lengths = [json.loads(line)["length"] for line in lines]
    info |= {"total_episodes": episodes, "total_frames": sum(lengths)}
    height, width, channels = info["features"][CAM]["shape"]
    height, width = size or (height, width)
    info["features"][CAM]["shape"] = [height, width, channels]
    (root / "meta/info.json").write_text(json.dumps(info))
    (root / "meta/episodes.jsonl").write_text("\n".join(lines))
    shutil.copy(source / "meta/tasks.jsonl", root / "meta")
    bar = width // 8
    for i, length in enumerate(lengths):
        numbers = {"episode_chunk": 0, "episode_index": i, "video_key": CAM}
        for template in (info["data_path"], info["video_path"]):
            (root / template.format(**numbers)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / info["data_path"].format(**numbers), root / "data/chunk-000")
        joint = load(source).episodes[i].obs[:, 0]
        place = np.interp(joint, (joint.min(), joint.max()), (0, width - bar)).astype(int)
        with av.open(str(root / info["video_path"].format(**numbers)), "w") as container:
            stream = container.add_stream("mpeg4", rate=info["fps"])
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            for t in range(length):
                pixels = np.zeros((height, width, 3), np.uint8)
                pixels[:, place[t] : place[t] + bar] = 255
                container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
            container.mux(stream.encode(None))
    return root


@pytest.mark.slow
@pytest.mark.needs("av")
def test_films_and_joints_of_a_real_robot_are_learned_together(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERBC_CACHE", str(tmp_path / "cache"))
    root = films(data, tmp_path / "robot")
    demos = load(root, obs=["state", "cam_high"], image_size=[48, 64])
    assert demos.cameras == {CAM: (48, 64, 3)}
    assert demos.obs_shape == (26,)
    assert load(root).blind_to == (CAM,)
    first, joint = demos.episodes[0], demos.episodes[0].obs[:, 0]
    middle = (first.images[CAM][:, 24, :, 0] > 127) @ np.arange(64) / 8
    assert np.corrcoef(middle, joint)[0, 1] > 0.99
    names_kept = {entry.name for entry in (tmp_path / "cache/films").iterdir()}
    reloaded = load(root, obs=["state", "cam_high"], image_size=[48, 64])
    assert reloaded.fingerprint() == demos.fingerprint()
    assert {entry.name for entry in (tmp_path / "cache/films").iterdir()} == names_kept
    policies = train(
        demos, "counter-bc", steps=3, hidden=(8,), batch=8, radius=0.4, lag=0.0, progress=False
    )
    assert not policies.diverged.any()
    obs = {"state": first.obs[0], "cam_high": np.zeros((480, 640, 3), np.uint8)}
    assert policies.actor().act(obs).shape == (26,)
