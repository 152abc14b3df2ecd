"""Studios for tests: a study folder, and real servers on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterbc.studio.study_folder import StudyFolder
from tests.browser import chromium
from tests.studio.browsers import open_tab
from tests.studio.clients import LiveServer, Lockstep


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    return StudyFolder.open(tmp_path / "study")


@pytest.fixture
def server(study: StudyFolder) -> Iterator[LiveServer]:
    live = LiveServer(study)
    yield live
    live.stop()


@pytest.fixture
def step_server(study: StudyFolder) -> Iterator[LiveServer]:
    """A server whose worlds step once for each input."""
    live = LiveServer(study, Lockstep)
    yield live
    live.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def tab(browser: Any, server: LiveServer) -> Iterator[Any]:
    """A tab of a laptop on the printed address."""
    with open_tab(browser, server) as page:
        yield page
