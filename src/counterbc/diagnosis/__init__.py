"""What demonstrators meant: scores, and a cleaned copy of what they showed."""

from counterbc.diagnosis.meaning import Meaning, meaning
from counterbc.diagnosis.operator_expertise import expertise
from counterbc.selection.held_out import HeldOut

__all__ = ["HeldOut", "Meaning", "expertise", "meaning"]
