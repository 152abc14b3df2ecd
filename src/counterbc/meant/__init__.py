"""What demonstrators meant: scores, and a cleaned copy of what they showed."""

from counterbc.meant.crossfit import Judges
from counterbc.meant.judging import Meaning, meaning

__all__ = ["Judges", "Meaning", "meaning"]
