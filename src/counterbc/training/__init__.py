"""The only trainer: a population of members, trained at once."""

from counterbc.training.trainer import train

__all__ = ["train"]
