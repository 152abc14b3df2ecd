"""The fake robot: each joint moves half of the way to its target."""

import json
from typing import Any

from lerobot.robots import Robot

from .config_fake_robot import FakeRobotConfig

JOINTS = ("shoulder.pos", "elbow.pos")


class FakeRobot(Robot):
    """Two joints without hardware."""

    config_class = FakeRobotConfig
    name = "fake_robot"

    def __init__(self, config: FakeRobotConfig) -> None:
        super().__init__(config)
        self.joints = dict.fromkeys(JOINTS, 150.0)
        self.log, self.is_on = config.log, False
        self.cameras: dict[str, Any] = {}

    @property
    def observation_features(self) -> dict[str, type]:
        return dict.fromkeys(JOINTS, float)

    @property
    def action_features(self) -> dict[str, type]:
        return dict.fromkeys(JOINTS, float)

    @property
    def is_connected(self) -> bool:
        return self.is_on

    def connect(self, calibrate: bool = True) -> None:
        self.is_on = True

    @property
    def is_calibrated(self) -> bool:
        return True

    def calibrate(self) -> None:
        """Do nothing: there is nothing to calibrate."""

    def configure(self) -> None:
        """Do nothing: there is nothing to configure."""

    def get_observation(self) -> dict[str, Any]:
        return dict(self.joints)

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        targets = {name: float(action[name]) for name in JOINTS}
        with open(self.log, "a") as file:
            file.write(json.dumps([list(self.joints.values()), list(targets.values())]) + "\n")
        self.joints = {name: (x + targets[name]) / 2 for name, x in self.joints.items()}
        return targets

    def disconnect(self) -> None:
        self.is_on = False
