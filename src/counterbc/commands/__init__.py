"""The commands, one file each: frozen dataclasses whose fields are the options."""

from counterbc.commands.clean import Clean
from counterbc.commands.command import Command
from counterbc.commands.compare import Compare
from counterbc.commands.convert import Convert
from counterbc.commands.demo import Demo
from counterbc.commands.demonstrate import Demonstrate
from counterbc.commands.evaluate import EvaluateCommand
from counterbc.commands.export import Export
from counterbc.commands.influence import InfluenceCommand
from counterbc.commands.inspect import Inspect
from counterbc.commands.intents import IntentsCommand
from counterbc.commands.radius import Radius
from counterbc.commands.report import Report
from counterbc.commands.reproduce import Reproduce
from counterbc.commands.robot import RobotCommand
from counterbc.commands.score import ScoreCommand
from counterbc.commands.studio import Studio
from counterbc.commands.study import StudyCommand
from counterbc.commands.train import Train
from counterbc.commands.tune import Tune

COMMANDS: dict[str, type[Command]] = {
    "demo": Demo,
    "demonstrate": Demonstrate,
    "inspect": Inspect,
    "convert": Convert,
    "tune": Tune,
    "radius": Radius,
    "compare": Compare,
    "train": Train,
    "evaluate": EvaluateCommand,
    "export": Export,
    "robot": RobotCommand,
    "score": ScoreCommand,
    "influence": InfluenceCommand,
    "clean": Clean,
    "intents": IntentsCommand,
    "report": Report,
    "studio": Studio,
    "study": StudyCommand,
    "reproduce": Reproduce,
}

__all__ = ["COMMANDS", "Command"]
