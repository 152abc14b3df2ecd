"""Malicious inputs by name; each is made in an empty folder, beside a folder with secrets."""

from __future__ import annotations

from attack.malice import arrays, folders, hdf5, runs, tables
from attack.malice.canary import Maker

__all__ = ["INPUTS"]

INPUTS: dict[str, Maker] = {
    **arrays.INPUTS,
    **hdf5.INPUTS,
    **tables.INPUTS,
    **folders.INPUTS,
    **runs.INPUTS,
}
"""Every malicious input; a name that begins with "run" is a run folder, others are data."""
