"""The weightings R(s, a), one file each."""

from counterbc.weightings.advantage import Advantage
from counterbc.weightings.discriminator import Discriminator
from counterbc.weightings.epsilon_insensitive import EpsilonInsensitive
from counterbc.weightings.operator_expertise import OperatorExpertise
from counterbc.weightings.own_samples import OwnSamples
from counterbc.weightings.pairs import Pairs
from counterbc.weightings.policy_likelihood import PolicyLikelihood
from counterbc.weightings.posterior import Posterior
from counterbc.weightings.previous_policy import PreviousPolicy
from counterbc.weightings.state_expertise import StateExpertise
from counterbc.weightings.uniform import Uniform
from counterbc.weightings.weighting import Batch, Weighting

__all__ = [
    "Advantage",
    "Batch",
    "Discriminator",
    "EpsilonInsensitive",
    "OperatorExpertise",
    "OwnSamples",
    "Pairs",
    "PolicyLikelihood",
    "Posterior",
    "PreviousPolicy",
    "StateExpertise",
    "Uniform",
    "Weighting",
]
