"""What the contest of rivals makes of its measurements."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import pytest

from benchmarks.rivals import __main__ as rivals
from benchmarks.rivals.__main__ import HAS, WORKERS, Contest, check_losses, summarize
from benchmarks.rivals.environments import INSTALLS
from benchmarks.rivals.problem import METHODS


def test_losses_that_differ_are_named_and_not_stored() -> None:
    rows: list[dict[str, Any]] = [
        {"rival": "counterbc", "method": "bc", "losses": [1.0, 2.0]},
        {"rival": "a", "method": "bc", "losses": [1.001]},
        {"rival": "b", "method": "bc", "losses": [1.0, 2.1]},
        {"rival": "c", "method": "bc", "losses": None},
        {"rival": "d", "method": "bc", "losses": [float("nan"), 2.0]},
    ]
    assert [text.split(":")[0] for text in check_losses(rows)] == ["b", "d"]
    assert rows[1]["difference of losses"] == pytest.approx(1e-3)
    assert not any("losses" in row for row in rows)


def test_rounds_become_medians_with_quartiles() -> None:
    rows: list[dict[str, Any]] = [
        {"wall": [4.0, 1.0, 2.0, 3.0, 5.0], "cpu": [1.0] * 5},
        {"error": "broken", "wall": [], "cpu": []},
    ]
    summarize(rows)
    assert rows[0] == {"wall µs": [3.0, 2.0, 4.0], "cpu µs": [1.0, 1.0, 1.0]}
    assert rows[1] == {"error": "broken"}


def test_every_rival_has_an_environment_and_known_methods() -> None:
    assert {environment for environment, _ in WORKERS.values()} == {"ours", *INSTALLS}
    assert all(set(methods) <= set(METHODS) for methods in HAS.values())


class FakeProcess:
    """A rival whose first preparing with a cache takes 10 s, and later ones as given."""

    warm: ClassVar = iter([3.0, 1.0, 2.0, 7.0, 5.0, 6.0])
    caches: ClassVar[list[Path]] = []
    open: ClassVar = 0

    def __init__(self, python: Path, module: str, problem: Path, cache: Path) -> None:
        self.is_first = cache not in self.caches and module == "ours"
        self.caches.append(cache)
        FakeProcess.open += 1

    def ask(self, do: str, name: str, steps: int = 0) -> dict[str, Any]:
        if do == "losses":
            return {"losses": [1.0]}
        wall = 10.0 if self.is_first and do == "prepare" else next(self.warm, 1.0)
        return {"wall": wall, "cpu": 2 * wall, "models": 2}

    def close(self) -> None:
        FakeProcess.open -= 1


def test_preparing_is_the_median_of_three_processes_of_which_the_last_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals, "RivalProcess", FakeProcess)
    monkeypatch.setattr(rivals, "python_of", lambda environment: Path(environment))
    contest = Contest(tmp_path / "problem.npz", tmp_path, steps=10, repeats=3)
    contest.prepare("counterbc", "bc")
    contest.prepare("JAX, jit(vmap)", "bc")
    ours, jax = contest.rows
    assert ours["first use"] == {"wall": 10.0, "cpu": 20.0}
    assert ours["prepare"] == {"wall": 2.0, "cpu": 4.0}
    assert jax["prepare"] == {"wall": 6.0, "cpu": 12.0}
    assert "first use" not in jax
    assert (len(set(FakeProcess.caches)), len(FakeProcess.caches)) == (3 + 3, 6 + 3)
    assert FakeProcess.open == 2
    contest.close()
    assert FakeProcess.open == 0


def test_only_the_environments_of_the_chosen_rivals_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python, version = Mock(side_effect=Path), Mock(return_value={})
    monkeypatch.setattr(rivals, "RivalProcess", FakeProcess)
    monkeypatch.setattr(rivals, "python_of", python)
    monkeypatch.setattr(rivals, "versions", version)
    path = tmp_path / "rows.json"
    options = ["--only", "counterbc", "JAX", "--rounds", "1", "--members", "2"]
    monkeypatch.setattr(sys, "argv", ["rivals", *options, "--json", str(path)])
    rivals.main()
    result = json.loads(path.read_text())
    for made in (python, version):
        assert {call.args[0] for call in made.call_args_list} == {"ours", "jax"}
    assert {row["rival"] for row in result["rows"]} == {
        "counterbc", "JAX, jit(vmap)", "JAX, jit(lax.map)",
    }  # fmt: skip
