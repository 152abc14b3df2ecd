"""Skips are counted by reason, and a run with gaps fails where gaps are not allowed."""

from __future__ import annotations

import pytest

from tests.skips import NO_DATA, NO_GPU

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.needs("numpy")
def test_installed():
    pass

@pytest.mark.gpu
def test_gpu():
    raise AssertionError

def test_demonstrations(data):
    raise AssertionError

@pytest.mark.needs("no_such_library")
def test_gap():
    raise AssertionError

@pytest.mark.extra("no_such_library")
def test_another_gap():
    raise AssertionError
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with the skipping rules of this one, a GPU missing, and real data missing."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("COUNTERBC_DATA", raising=False)
    monkeypatch.setattr("tests.skips.has_gpu", lambda: False)
    pytester.makeconftest('pytest_plugins = ["tests.skips"]')
    pytester.makeini("[pytest]\nmarkers =\n    gpu\n    needs\n    extra\n")
    pytester.makepyfile(TESTS)
    return pytester


def test_a_missing_library_fails_a_run_without_gaps_and_is_named(
    project: pytest.Pytester,
) -> None:
    run = project.runpytest("--no-gaps")
    run.assert_outcomes(passed=1, skipped=4)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(
        [
            f"1 skipped: {NO_DATA}",
            f"1 skipped: {NO_GPU}",
            "2 skipped: no_such_library cannot be imported: No module named 'no_such_library'",
            "  *::test_gap",
            "  *::test_another_gap",
        ]
    )


def test_a_missing_gpu_and_missing_data_are_allowed(project: pytest.Pytester) -> None:
    run = project.runpytest("--no-gaps", "-k", "not gap")
    run.assert_outcomes(passed=1, skipped=2, deselected=2)
    assert run.ret == pytest.ExitCode.OK
