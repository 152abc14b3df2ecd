"""Both simulators of Car Racing, as parameters of tests."""

from __future__ import annotations

import pytest

needs_envpool = pytest.mark.needs("envpool")
needs_box2d = pytest.mark.needs("Box2D")
BACKENDS = [
    pytest.param("envpool", marks=needs_envpool),
    pytest.param("gymnasium", marks=needs_box2d),
]
