"""From a file to a trained, tested and exported policy, by what is printed alone."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import save
from tests.fixture_types import Make, Paste
from tests.identities.test_films import films

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
LINES = 5  # at most, the first one included
OWN_ENVIRONMENT = """
import gymnasium
import numpy as np


class Reach(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-2.0, 2.0, (3,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.count = self.np_random.uniform(-1, 1, 3).astype(np.float32), 0
        return self.place, {}

    def step(self, action):
        self.place[:2] += 0.1 * np.asarray(action)
        self.count += 1
        near = float(np.abs(self.place).sum())
        return self.place, -near, False, self.count == 8, {"success": near < 1.0}


class Parts(gymnasium.ObservationWrapper):
    def __init__(self):
        super().__init__(Reach())
        place, goal = (gymnasium.spaces.Box(-2.0, 2.0, (n,), np.float32) for n in (2, 1))
        self.observation_space = gymnasium.spaces.Dict(place=place, goal=goal)

    def observation(self, place):
        return {"place": place[:2], "goal": place[2:]}


gymnasium.register("Reach-v0", entry_point=Reach)
gymnasium.register("Parts-v0", entry_point=Parts)
"""


def follow(line: str, paste: Paste) -> list[str]:
    """Paste a line and then what is printed, until nothing more is; return the commands' names."""
    names: list[str] = []
    while line:
        done = paste(line)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        names.append(line.split()[1])
        assert len(names) <= LINES
        line = "".join(re.findall(r"^Next: (.*)$", done.stdout, re.M))
    return names


def check_exported(obs_size: int, action_size: int) -> None:
    """Check that a file for the robot is there, and that it gives an action."""
    session = onnxruntime.InferenceSession("run.onnx")
    (action,) = session.run(["action"], {"obs": np.zeros((1, obs_size), np.float32)})[:1]
    assert np.shape(action)[-1] == action_size
    assert np.isfinite(action).all()


def check_exported_with_cameras(action_size: int, cameras: int) -> None:
    """Check that the file for the robot reads every camera beside a vector, and acts."""
    session = onnxruntime.InferenceSession("run.onnx")
    inputs = {i.name: i for i in session.get_inputs()}
    assert "obs" in inputs
    assert len(inputs) == cameras + 1
    feeds = {
        name: np.zeros((1, *i.shape[1:]), np.float32 if name == "obs" else np.uint8)
        for name, i in inputs.items()
    }
    (actions,) = session.run(None, feeds)
    assert np.shape(actions)[-1] == action_size
    assert np.isfinite(actions).all()


def follow_with_cameras(file: Path | str, paste: Paste) -> list[str]:
    """Inspect a file, and follow what is printed for those who want its cameras read."""
    done = paste(f"counterbc inspect {file}")
    (line,) = re.findall(r"^To read the cameras as well: (.*)$", done.stdout, re.M)
    return ["inspect", *follow(line, paste)]


def with_camera(height: int, width: int) -> Demonstrations:
    """Return demonstrations with a vector and a camera that shows a white square."""
    rng, episodes = np.random.default_rng(0), []
    for i in range(6):
        obs = rng.uniform(-1, 1, (12, 2)).astype(np.float32)
        frames = np.zeros((12, height, width, 3), np.uint8)
        for frame, (x, y) in zip(frames, obs, strict=True):
            row, column = int((y + 1) * (height - 4) / 2), int((x + 1) * (width - 4) / 2)
            frame[row : row + 4, column : column + 4] = 255
        episodes.append(Episode(obs, 0.5 * obs, images={"top": frames}, name=f"demo_{i}"))
    return Demonstrations(tuple(episodes), np.full(2, -1.0), np.ones(2), rate=10.0)


def save_csv(
    demos: Demonstrations, path: str, obs: Sequence[str] = ("obs_x", "obs_y", "obs_z")
) -> None:
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["episode", *obs, "action_x", "action_y"])
        for i, episode in enumerate(demos.episodes):
            writer.writerows([i, *o, *a] for o, a in zip(episode.obs, episode.action, strict=True))


@pytest.mark.slow
def test_a_robomimic_file_leads_to_a_policy_for_the_robot(paste: Paste) -> None:
    demonstrate("intersection", UniformNoise(0.5), 100, seed=0).save("my demos.hdf5")
    names = follow("counterbc inspect 'my demos.hdf5' --steps 30", paste)
    assert names == ["inspect", "compare", "train", "evaluate", "export"]
    check_exported(4, 2)


@pytest.mark.slow
def test_a_robomimic_file_of_people_leads_to_a_policy_by_what_is_printed_alone(
    data: Path, paste_often: Paste
) -> None:
    file = data / "fixtures/robomimic_ph_lift_low_dim_excerpt.hdf5"
    names = follow(f"counterbc inspect {file}", paste_often)
    assert names == ["inspect", "compare", "train", "export"]
    check_exported(55, 7)


@pytest.mark.slow
def test_a_robomimic_file_with_cameras_leads_to_a_policy_that_reads_them(
    data: Path, paste_often: Paste
) -> None:
    file = data / "fixtures/robomimic_mh_lift_image_excerpt.hdf5"
    names = follow_with_cameras(file, paste_often)
    assert names == ["inspect", "inspect", "train", "export"]
    check_exported_with_cameras(7, cameras=2)


@pytest.mark.slow
@pytest.mark.needs("av")
def test_films_and_joints_of_a_robot_lead_to_a_policy_that_reads_both(
    data: Path, paste_often: Paste
) -> None:
    films(data, Path("robot"), size=(96, 128))  # the camera's 480×640 take eleven minutes on a CPU
    names = follow_with_cameras("robot", paste_often)
    assert names == ["inspect", "inspect", "train", "export"]
    check_exported_with_cameras(26, cameras=1)


@pytest.mark.slow
def test_a_lerobot_folder_leads_to_a_policy_for_the_robot(data: Path, paste_often: Paste) -> None:
    folder = data / "fixtures/lerobot_v21_g1"
    names = follow(f"counterbc inspect {folder} --steps 30", paste_often)
    assert names == ["inspect", "compare", "train", "export"]
    check_exported(26, 26)


@pytest.mark.slow
def test_a_lerobot_folder_with_a_camera_leads_to_a_policy_that_reads_it(paste_often: Paste) -> None:
    demos = with_camera(40, 48)
    save(demos, "robot", format="lerobot")
    names = follow("counterbc inspect robot --steps 5", paste_often)
    assert names == ["inspect", "compare", "train", "export"]
    inputs = [i.name for i in onnxruntime.InferenceSession("run.onnx").get_inputs()]
    assert len(inputs) == 2
    (line,) = re.findall(r"^Next: (.*)$", paste_often("counterbc inspect robot").stdout, re.M)
    assert line == "counterbc train robot --method bc --steps 2000 --held-out 0.2"


@pytest.mark.slow
def test_a_table_leads_to_a_policy_for_the_robot(make_demos: Make, paste_often: Paste) -> None:
    save_csv(make_demos(episodes=6, length=20), "demos.csv")
    names = follow("counterbc inspect demos.csv --steps 30", paste_often)
    assert names == ["inspect", "compare", "train", "export"]
    check_exported(3, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "env"), [("demos.npz", "Reach-v0"), ("demos.csv", "Parts-v0")])
def test_an_own_environment_leads_to_a_policy_that_was_tested_in_it(
    file: str,
    env: str,
    make_demos: Make,
    paste: Paste,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "my_envs.py").write_text(OWN_ENVIRONMENT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"), prepend=":")
    demos = make_demos(episodes=6, length=20)
    if file.endswith(".csv"):
        save_csv(demos, file, ("place_0", "place_1", "goal_0"))
    else:
        demos.save(file)
    names = follow(f"counterbc inspect {file} --env my_envs:{env} --steps 30", paste)
    assert names == ["inspect", "compare", "train", "evaluate", "export"]
    check_exported(3, 2)
