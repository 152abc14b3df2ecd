"""R(s, a), one file each."""

from counterbc.weightings.policy_likelihood import PolicyLikelihood
from counterbc.weightings.previous_policy import PreviousPolicy
from counterbc.weightings.state_expertise import StateExpertise
from counterbc.weightings.uniform import Uniform
from counterbc.weightings.weighting import Batch, Weighting

__all__ = ["Batch", "PolicyLikelihood", "PreviousPolicy", "StateExpertise", "Uniform", "Weighting"]
