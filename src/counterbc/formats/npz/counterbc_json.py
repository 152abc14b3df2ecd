"""The JSON text `counterbc` of an .npz file, which our writer adds."""

from __future__ import annotations

from typing import Any

from counterbc.formats import json_files
from counterbc.formats.extras import Extras, read_extras
from counterbc.formats.npz.members import Members


def read_counterbc(members: Members) -> Extras:
    """Return what our writer stored beside the arrays."""
    return read_extras(_values(members), _label(members))


def read_env_args(members: Members) -> dict[str, Any]:
    """Return the environment that our writer stored."""
    return json_files.entry(_values(members), "env_args", dict, _label(members))


def _values(members: Members) -> dict[str, Any]:
    return json_files.loads(str(members.array("counterbc")[()]), dict, _label(members))


def _label(members: Members) -> str:
    return f"{members.path}: counterbc"
