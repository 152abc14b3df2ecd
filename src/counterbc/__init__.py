"""Learn what demonstrators meant, not what they showed.

Names are imported when they are first used, so that a command that needs no torch does not wait
for it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterbc.data.version import __version__ as __version__
from counterbc.data.waiting import let_threads_sleep
from counterbc.data.writer import set_writer

if TYPE_CHECKING:  # the same names as in _HOMES, for type checkers and editors
    from counterbc.acting.evaluation import Evaluation as Evaluation
    from counterbc.acting.evaluation import compare as compare
    from counterbc.acting.evaluation import evaluate as evaluate
    from counterbc.acting.onnx import export as export
    from counterbc.acting.policies import Policies as Policies
    from counterbc.acting.run_config import RunConfig as RunConfig
    from counterbc.data.demonstrations import Demonstrations as Demonstrations
    from counterbc.data.episode import Episode as Episode
    from counterbc.data.inspection import Inspection as Inspection
    from counterbc.data.merge import merge as merge
    from counterbc.data.raw_episode import Header as Header
    from counterbc.data.raw_episode import RawEpisode as RawEpisode
    from counterbc.demonstrators import NOISES as NOISES
    from counterbc.demonstrators import TEACHERS as TEACHERS
    from counterbc.demonstrators import Demonstrator as Demonstrator
    from counterbc.demonstrators import GaussianNoise as GaussianNoise
    from counterbc.demonstrators import Teacher as Teacher
    from counterbc.demonstrators import UniformNoise as UniformNoise
    from counterbc.demonstrators import demonstrate as demonstrate
    from counterbc.demonstrators import find_teacher as find_teacher
    from counterbc.diagnosis.influence import influence as influence
    from counterbc.diagnosis.influence_effects import Influence as Influence
    from counterbc.diagnosis.intents import Intents as Intents
    from counterbc.diagnosis.intents import IntentSearch as IntentSearch
    from counterbc.diagnosis.intents import find_intents as find_intents
    from counterbc.diagnosis.meaning import Meaning as Meaning
    from counterbc.diagnosis.meaning import meaning as meaning
    from counterbc.envs import WORLDS as WORLDS
    from counterbc.envs import World as World
    from counterbc.errors import CounterBCError as CounterBCError
    from counterbc.formats import FORMATS as FORMATS
    from counterbc.formats import Format as Format
    from counterbc.formats import load as load
    from counterbc.formats import save as save
    from counterbc.formats.stream import Stream as Stream
    from counterbc.losses import counter_bc_loss as counter_bc_loss
    from counterbc.losses import generalized_loss as generalized_loss
    from counterbc.methods import METHODS as METHODS
    from counterbc.methods import Method as Method
    from counterbc.policies import POLICIES as POLICIES
    from counterbc.policies import Chunk as Chunk
    from counterbc.policies import Flow as Flow
    from counterbc.policies import FlowCNN as FlowCNN
    from counterbc.policies import GaussianCNN as GaussianCNN
    from counterbc.policies import GaussianCNNGRU as GaussianCNNGRU
    from counterbc.policies import GaussianGRU as GaussianGRU
    from counterbc.policies import GaussianMLP as GaussianMLP
    from counterbc.policies import Mixture as Mixture
    from counterbc.policies import Params as Params
    from counterbc.policies import Policy as Policy
    from counterbc.selection.held_out import HeldOut as HeldOut
    from counterbc.selection.lag_choice import LagChoice as LagChoice
    from counterbc.selection.lag_errors import LagSearch as LagSearch
    from counterbc.selection.method_comparison import compare_methods as compare_methods
    from counterbc.selection.offsets import OffsetChoice as OffsetChoice
    from counterbc.selection.radius import RadiusSearch as RadiusSearch
    from counterbc.selection.radius import choose_radius as choose_radius
    from counterbc.selection.radius_choice import RadiusChoice as RadiusChoice
    from counterbc.selection.shares import Explained as Explained
    from counterbc.selection.shares import Share as Share
    from counterbc.selection.tuner import tune as tune
    from counterbc.selection.tuning import TuneSearch as TuneSearch
    from counterbc.selection.tuning import Tuning as Tuning
    from counterbc.settings import PRESETS as PRESETS
    from counterbc.settings import Settings as Settings
    from counterbc.supports import SUPPORTS as SUPPORTS
    from counterbc.supports import Ball as Ball
    from counterbc.supports import Box as Box
    from counterbc.supports import Demonstrated as Demonstrated
    from counterbc.supports import Metric as Metric
    from counterbc.supports import Normal as Normal
    from counterbc.supports import StudentT as StudentT
    from counterbc.supports import Support as Support
    from counterbc.trainer import train as train
    from counterbc.weightings import Advantage as Advantage
    from counterbc.weightings import Batch as Batch
    from counterbc.weightings import Discriminator as Discriminator
    from counterbc.weightings import EpsilonInsensitive as EpsilonInsensitive
    from counterbc.weightings import OperatorExpertise as OperatorExpertise
    from counterbc.weightings import OwnSamples as OwnSamples
    from counterbc.weightings import Pairs as Pairs
    from counterbc.weightings import PolicyLikelihood as PolicyLikelihood
    from counterbc.weightings import Posterior as Posterior
    from counterbc.weightings import PreviousPolicy as PreviousPolicy
    from counterbc.weightings import StateExpertise as StateExpertise
    from counterbc.weightings import Uniform as Uniform
    from counterbc.weightings import Weighting as Weighting

_HOMES = {
    "acting.evaluation": ("Evaluation", "compare", "evaluate"),
    "acting.onnx": ("export",),
    "acting.policies": ("Policies",),
    "acting.run_config": ("RunConfig",),
    "data.demonstrations": ("Demonstrations",),
    "data.episode": ("Episode",),
    "data.inspection": ("Inspection",),
    "data.merge": ("merge",),
    "data.raw_episode": ("Header", "RawEpisode"),
    "demonstrators": (
        "NOISES", "TEACHERS", "Demonstrator", "GaussianNoise", "Teacher", "UniformNoise",
        "demonstrate", "find_teacher",
    ),
    "diagnosis.influence": ("influence",),
    "diagnosis.influence_effects": ("Influence",),
    "diagnosis.intents": ("Intents", "IntentSearch", "find_intents"),
    "diagnosis.meaning": ("Meaning", "meaning"),
    "envs": ("WORLDS", "World"),
    "errors": ("CounterBCError",),
    "formats": ("FORMATS", "Format", "load", "save"),
    "formats.stream": ("Stream",),
    "losses": ("counter_bc_loss", "generalized_loss"),
    "methods": ("METHODS", "Method"),
    "policies": (
        "POLICIES", "Chunk", "Flow", "FlowCNN", "GaussianCNN", "GaussianCNNGRU", "GaussianGRU",
        "GaussianMLP", "Mixture", "Params", "Policy",
    ),
    "selection.held_out": ("HeldOut",),
    "selection.lag_choice": ("LagChoice",),
    "selection.offsets": ("OffsetChoice",),
    "selection.lag_errors": ("LagSearch",),
    "selection.radius": ("RadiusSearch", "choose_radius"),
    "selection.radius_choice": ("RadiusChoice",),
    "selection.shares": ("Explained", "Share"),
    "selection.method_comparison": ("compare_methods",),
    "selection.tuner": ("tune",),
    "selection.tuning": ("TuneSearch", "Tuning"),
    "settings": ("PRESETS", "Settings"),
    "supports": (
        "SUPPORTS", "Ball", "Box", "Demonstrated", "Metric", "Normal", "StudentT", "Support",
    ),
    "trainer": ("train",),
    "weightings": (
        "Advantage", "Batch", "Discriminator", "EpsilonInsensitive", "OperatorExpertise",
        "OwnSamples", "Pairs", "PolicyLikelihood", "Posterior", "PreviousPolicy", "StateExpertise",
        "Uniform", "Weighting",
    ),
}  # fmt: skip
"""Every public name, by the module that defines it."""
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(["__version__", *_HOME])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'counterbc' has no attribute {name!r}")
    return getattr(import_module(f"counterbc.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)


def _write(data: Any, path: Path, *, format: str) -> object:
    return import_module("counterbc.formats").save(data, path, format=format)


let_threads_sleep()  # before torch is imported, which reads the policy once
set_writer(_write)  # data cannot import formats, which depend on it
