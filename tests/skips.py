"""Skip tests for stated reasons, count the skips, and fail a run that has gaps.

Two reasons are allowed everywhere: there is no GPU, or `COUNTERBC_DATA` does not name the folder of
real demonstrations. With `--no-gaps` a run fails if a test was skipped for any other reason.

    @pytest.mark.gpu                   skipped except by `make test-gpu`
    @pytest.mark.needs("gym_pusht")    skipped where the library cannot be imported
    @pytest.mark.extra("robosuite")    the same; only `make test-all` installs and runs it
    def test_…(data: Path)             skipped where COUNTERBC_DATA is not set
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

NO_GPU = "needs a CUDA device, which only `make test-gpu` uses"
NO_DATA = "COUNTERBC_DATA does not name the folder of real demonstrations"
ALLOWED = (NO_GPU, NO_DATA)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-gaps",
        action="store_true",
        help="fail if a test is skipped for another reason than a missing GPU or missing data",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Hide a GPU unless GPU tests are selected: the others compare results of the CPU."""
    selected = config.getoption("markexpr", "")
    if "gpu" not in selected or "not gpu" in selected:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in ("needs", "extra"):
        for mark in item.iter_markers(name):
            for library in mark.args:
                reason = import_problem(library)
                if reason:
                    pytest.skip(reason)
    if item.get_closest_marker("gpu") and not has_gpu():
        pytest.skip(NO_GPU)


@cache
def import_problem(library: str) -> str | None:
    """Return why a library cannot be used here, such as a missing system library, or None."""
    try:
        import_module(library)
    except (ImportError, OSError, AttributeError) as problem:
        return f"{library} cannot be imported: {problem}"
    return None


@cache
def has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the number of tests that were skipped for each reason."""
    skips = skips_by_reason(terminalreporter.stats.get("skipped", []))
    for reason, tests in sorted(skips.items()):
        terminalreporter.write_line(f"{len(tests)} skipped: {reason}")
    gaps = {reason: tests for reason, tests in skips.items() if not reason.endswith(ALLOWED)}
    if gaps and config.getoption("--no-gaps"):
        terminalreporter.write_line("This run has gaps, which --no-gaps does not allow:", red=True)
        for tests in gaps.values():
            terminalreporter.write_line("\n".join(f"  {test}" for test in tests))


def skips_by_reason(
    reports: Iterable[pytest.TestReport | pytest.CollectReport],
) -> dict[str, list[str]]:
    """Return the names of skipped tests and modules by their reason."""
    skips: dict[str, list[str]] = defaultdict(list)
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        skips[reason.removeprefix("Skipped: ")].append(report.nodeid)
    return skips


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("--no-gaps"):
        return
    skips = skips_by_reason(reporter.stats.get("skipped", []))
    if any(not reason.endswith(ALLOWED) for reason in skips) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def data() -> Path:
    """The folder of real demonstrations; tests that use it are skipped where there is none."""
    folder = os.environ.get("COUNTERBC_DATA")
    if not folder:
        pytest.skip(NO_DATA)
    return Path(folder)
