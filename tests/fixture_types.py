"""Types of the fixtures in conftest.py that are functions."""

from __future__ import annotations

from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations

Make = Callable[..., Demonstrations]
Train = Callable[..., Policies]
Call = Callable[..., tuple[int, str, str]]
CallJson = Callable[..., dict[str, Any]]
CheckRefused = Callable[[str, tuple[object, ...], str], None]
Paste = Callable[[str], CompletedProcess[str]]
