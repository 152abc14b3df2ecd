"""A study is finished whole, however often it is stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from counterbc.errors import FormatError, OptionError
from counterbc.experiments import simulated_data
from counterbc.experiments.cell import PASSING, Cell
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.experiments.stacks import stacks
from counterbc.experiments.study import Study
from reproduction.catalog import FigureOptions, cells
from reproduction.grid import PaperGrid
from reproduction.timings import Pace, estimate

TINY = SimulatedCell("intersection", "uniform", 0.5, 20, "bc", None, seeds=2, episodes=2, steps=4)
GRID = PaperGrid(
    worlds=["intersection"], teachers=["uniform", "gaussian"], pairs=[20, 40],
    methods=["bc", "counter-bc", "bc-rnn"], seeds=2, episodes=2, steps=4,
)  # fmt: skip


class Elsewhere(SimulatedCell):
    """TINY as another machine computes it."""

    other: dict[str, Any]

    def __init__(self, device: str = "cpu", **config: Any) -> None:
        super().__init__(**{f.name: getattr(TINY, f.name) for f in fields(TINY)})
        object.__setattr__(self, "other", {"device": device, **config})

    def table(self, *arguments: Any) -> pa.Table:
        table = super().table(*arguments)
        contents = json.loads(table.schema.metadata[b"counterbc"])
        contents["config"] |= {k: v for k, v in self.other.items() if k != "torch"}
        contents["config"]["versions"] |= {k: v for k, v in self.other.items() if k == "torch"}
        return table.replace_schema_metadata({"counterbc": json.dumps(contents)})


def lasting(table: pa.Table) -> list[dict[str, Any]]:
    """The rows without what passes: seconds and timestamps."""
    return list(table.drop_columns([c for c in PASSING if c in table.column_names]).to_pylist())


def compute(folder: Path, populations: Sequence[SimulatedCell]) -> None:
    Study(populations, folder).run("cpu", workers=1)


def test_rows_say_what_was_done_and_what_came_of_it() -> None:
    table = TINY.rows("cpu")
    rows = table.to_pylist()
    assert [(r["act"], r["seed"]) for r in rows] == [
        ("mean", 0), ("mean", 1), ("sample", 0), ("sample", 1),
    ]  # fmt: skip
    first = rows[0]
    assert (first["world"], first["teacher"], first["sigma"]) == ("intersection", "uniform", 0.5)
    assert (first["method"], first["pairs"], first["steps"], first["length"]) == ("bc", 20, 4, 20.0)
    assert (first["device"], first["torch"]) == ("cpu", str(torch.__version__))
    assert first["fingerprint"] != rows[1]["fingerprint"]
    assert json.loads(table.schema.metadata[b"counterbc"])["population"] == TINY.about


def test_the_methods_of_a_run_see_the_same_demonstrations() -> None:
    pooled = replace(TINY, world="cartpole", pool=200)
    for population in (TINY, pooled):
        a = population.rows("cpu").to_pylist()
        b = replace(population, method="counter-bc", radius=0.4).rows("cpu").to_pylist()
        assert [r["fingerprint"] for r in a] == [r["fingerprint"] for r in b]


def test_demonstrations_are_recorded_once_while_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (replace(TINY, teacher=t) for t in ("uniform", "gaussian"))
    first = a.datasets()
    b.datasets()
    assert all(x is y for x, y in zip(first, a.datasets(), strict=True))
    monkeypatch.setattr(simulated_data, "CACHE_BYTES", 0)  # then only the last
    b.datasets()
    assert all(x is not y for x, y in zip(first, a.datasets(), strict=True))


def test_a_measure_of_the_world_becomes_a_column() -> None:
    hockey = replace(TINY, world="air-hockey", teacher="crowd", sigma=None, pool=50, episodes=1)
    rows = hockey.rows("cpu").to_pylist()
    assert all(r["hits"] >= 0 and 0 < r["time_per_hit"] < 30.01 for r in rows)
    assert all(r["sigma"] is None for r in rows)


def test_every_number_of_a_population_is_in_its_name() -> None:
    changes: list[dict[str, Any]] = [
        {"world": "cartpole"}, {"teacher": "gaussian"}, {"sigma": 0.25}, {"pairs": 40},
        {"method": "bcnd"}, {"radius": 0.1}, {"pool": 100}, {"seeds": 3}, {"episodes": 3},
        {"preset": "paper"}, {"steps": 5},
    ]  # fmt: skip
    names = {TINY.name, *(replace(TINY, **change).name for change in changes)}
    assert len(names) == 1 + len(changes)
    assert replace(TINY, steps=None).name == replace(TINY, steps=10_000).name


def test_a_grid_gives_a_radius_only_to_methods_that_use_one() -> None:
    grid = replace(GRID, radii=(0.1, 0.2), teachers=["crowd"], pairs=[20])
    found = [(p.method, p.radius, p.sigma) for p in grid.cells()]
    assert found == [
        ("bc", None, None), ("counter-bc", 0.1, None), ("counter-bc", 0.2, None),
        ("bc-rnn", None, None),
    ]  # fmt: skip


def test_exactly_k_pairs_are_recorded_only_by_noises_in_intersection() -> None:
    def pools(world: str, teacher: str, **more: Any) -> set[int]:
        grid = replace(GRID, worlds=[world], teachers=[teacher], **more)
        return {p.pool for p in grid.cells()}

    assert pools("intersection", "uniform") == {0}
    assert pools("intersection", "crowd") == pools("cartpole", "uniform") == {20_000}
    assert pools("air-hockey", "crowd") == {48_000}
    assert pools("air-hockey", "crowd", largest_pool=300) == {300}


def test_figures_share_their_common_populations() -> None:
    options = FigureOptions(worlds=("intersection",), teachers=("uniform",))
    one_by_one = [u.name for f in ("figure4", "figure5", "figure6") for u in cells(f, options)]
    assert len(one_by_one) == 25 + 25 + 13
    everything = [u.name for u in cells("all", replace(options, worlds=()))]
    assert len(set(everything)) == len(everything)
    # 400 pairs at σ 0.5 belong to all three; the fifth method at Δ 0.4.
    assert len(set(one_by_one)) == 25 + 20 + 8


def test_finished_populations_are_not_computed_again(tmp_path: Path) -> None:
    study = Study([TINY], tmp_path)
    assert study.run("cpu", workers=1) == 1
    written = study.path(TINY).stat().st_mtime_ns
    assert study.run("cpu", workers=1) == 0
    assert study.path(TINY).stat().st_mtime_ns == written


def test_a_damaged_file_is_named_and_so_is_one_of_another_population(tmp_path: Path) -> None:
    study = Study([TINY], tmp_path)
    with pytest.raises(OptionError, match="1 of 1 cells are not finished"):
        study.table()
    study.path(TINY).write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FormatError, match=f"{TINY.name}.parquet cannot be read as rows"):
        study.table()
    pq.write_table(replace(TINY, pairs=40).rows("cpu"), study.path(TINY))
    with pytest.raises(FormatError, match="rows of another cell; delete it"):
        study.table()


def test_worker_processes_give_the_rows_of_this_process(tmp_path: Path) -> None:
    populations = [TINY, replace(TINY, method="counter-bc", radius=0.4)]
    compute(tmp_path / "here", populations)
    Study(populations, tmp_path / "there").run("cpu", workers=2)
    here, there = (Study(populations, tmp_path / f).table() for f in ("here", "there"))
    assert lasting(here) == lasting(there)


def test_a_stack_differs_in_its_demonstrations_alone() -> None:
    cells = PaperGrid(
        worlds=["intersection", "cartpole"], teachers=["crowd", "uniform", "gaussian"],
        pairs=[20, 40], methods=["bc", "counter-bc"],
        sigmas=(0.25, 0.5), radii=(0.1, 0.2), seeds=2,
    ).cells()  # fmt: skip
    found = stacks(cells)
    assert sorted(u.name for s in found for u in s) == sorted(u.name for u in cells)
    for stack in found:
        assert len({(u.about["world"], u.about["pairs"], u.about["method"]) for u in stack}) == 1
        assert len({u.about["radius"] for u in stack}) == 1
    # Five teachers and σ: four at a time, then the one left; 2 worlds, 2 sizes, BC and two radii.
    assert [len(s) for s in found] == [4, 1] * (2 * 2 * 3)
    assert [len(s) for s in stacks(cells, False)] == [1] * len(cells)


def test_a_stack_has_the_rows_of_its_populations_alone(tmp_path: Path) -> None:
    grid = replace(GRID, worlds=["cartpole"], largest_pool=100, pairs=[20], methods=["bcnd", "bc"])
    populations = replace(grid, teachers=["crowd", "uniform", "gaussian"]).cells()
    alone, together = (Study(populations, tmp_path / f) for f in ("alone", "together"))
    alone.run("cpu", workers=1)
    told: list[Cell] = []
    together.run("cpu", workers=1, on_finished=told.append, stacked=True)
    assert lasting(together.table()) == lasting(alone.table())
    assert {u.name for u in told} == set(together.cells)
    said = pq.read_table(together.path(populations[0])).schema.metadata[b"counterbc"]
    config = json.loads(said)["config"]
    assert config["stack"] == [p.name for p in populations if p.method == "bcnd"]
    assert len(config["data"]) == populations[0].seeds


def test_only_what_is_missing_of_a_stack_is_written(tmp_path: Path) -> None:
    populations = replace(GRID, pairs=[20], methods=["bc"]).cells()
    study = Study(populations, tmp_path)
    study.run("cpu", workers=1, stacked=True)
    whole = lasting(study.table())
    first, second = (study.path(p) for p in populations)
    written = second.stat().st_mtime_ns
    first.unlink()
    assert study.run("cpu", workers=1, stacked=True) == 1
    assert second.stat().st_mtime_ns == written
    assert lasting(study.table()) == whole


def test_the_longest_of_a_figure_and_world_come_first() -> None:
    names = {u.name for u in cells("figure4", FigureOptions())}
    figure4 = [u for u in cells("all", FigureOptions()) if u.name in names]
    assert [u.about["world"] for u in figure4] == ["intersection"] * 100 + ["cartpole"] * 100
    assert (figure4[0].about["pairs"], figure4[0].about["method"]) == (1600, "bc-rnn")
    assert [u.work for u in figure4[:100]] == sorted((u.work for u in figure4[:100]), reverse=True)


def test_rows_of_another_device_or_version_are_added_to_only_when_asked(tmp_path: Path) -> None:
    other = replace(TINY, pairs=40)
    study = Study([TINY, other], tmp_path)
    for elsewhere in (Elsewhere("cuda"), Elsewhere(torch="1.0")):
        pq.write_table(elsewhere.rows(), study.path(TINY))
        with pytest.raises(OptionError, match=r"holds rows computed with .*; choose .* --mixed"):
            study.run("cpu", workers=1)
        assert not study.path(other).exists()
    assert study.run("cpu", workers=1, mixed=True) == 1
    assert study.run("cpu", workers=1) == 0  # with nothing to add there is nothing to refuse


def test_rows_that_come_from_a_machine_of_other_versions_are_not_written(tmp_path: Path) -> None:
    other = replace(TINY, pairs=40)
    study = Study([other, Elsewhere(torch="1.0")], tmp_path)
    message = r"was computed with cpu, .*torch 1\.0.* and this study uses cpu, .*--mixed"
    with pytest.raises(OptionError, match=f"{TINY.name} {message}"):
        study.run("cpu", workers=1)
    assert [cell.name for cell in study.missing()] == [TINY.name]  # what came before is kept
    assert study.run("cpu", workers=1, mixed=True) == 1


def test_rows_of_two_simulators_are_never_mixed(tmp_path: Path) -> None:
    other, elsewhere = replace(TINY, pairs=40), Elsewhere(backend="envpool")
    message = f"{TINY.name} was computed in intersection with envpool, and here it runs with None"
    with pytest.raises(OptionError, match=message):
        Study([elsewhere], tmp_path).run("cpu", workers=1, mixed=True)
    assert not list(tmp_path.glob("*.parquet"))
    study = Study([TINY, other], tmp_path)
    pq.write_table(elsewhere.rows(), study.path(TINY))
    with pytest.raises(OptionError, match=message):
        study.run("cpu", workers=1, mixed=True)
    assert not study.path(other).exists()


def test_the_time_that_is_left_is_of_what_is_missing(tmp_path: Path) -> None:
    # 50 networks, 10,000 steps, batch 40: 50 · 10,000 · 60 µs = 30 s of BC on one core.
    bc = replace(TINY, pairs=400, seeds=50, steps=10_000)
    assert bc.work == pytest.approx(30)
    # BCND trains 4 networks on 100 pairs each, three times over.
    assert replace(bc, method="bcnd").work == pytest.approx(50 * 12 * 10_000 * 30e-6)
    assert replace(bc, method="bc-rnn").work == pytest.approx(5 * 3 * 30)
    told = estimate([replace(bc, method="bc-rnn", pairs=p) for p in (400, 401)], "cpu", 2)
    assert told == "2 populations to compute, about 8 min (cpu, 2 at a time)"
    assert "no time is known" in estimate([bc, replace(bc, world="car-racing")], "cpu", 2)


def test_the_pace_of_a_study_is_kept_over_calls(tmp_path: Path) -> None:
    path, others = tmp_path / "seconds.json", replace(TINY, pairs=40)
    for cell in (TINY, others):
        pace = Pace({"figure4, here": [TINY.name, others.name]}, path, "cpu", 1)
        pace.tell(cell)
    calls = json.loads(path.read_text())
    assert [c["parts"]["figure4, here"]["computed"] for c in calls] == [1, 1]
    assert all(0 <= c["parts"]["figure4, here"]["seconds"] < 60 for c in calls)


def test_rows_are_computed_without_the_libraries_of_statistics_and_of_the_command_line(
    tmp_path: Path,
) -> None:
    code = (
        "import sys\n"
        "for name in ('tyro', 'pingouin', 'ray'): sys.modules[name] = None\n"
        "from reproduction.run import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    options = "figure5 --quick --env intersection --seeds 2 --steps 2 --episodes 1 --workers 1"
    done = subprocess.run(
        [sys.executable, "-c", code, *options.split(), "--device", "cpu", "--out", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "15 populations computed, 15 finished" in done.stdout
    assert "15 of 15 cells, 0 min left" in done.stderr
    assert len(list((tmp_path / "rows").glob("*.parquet"))) == 15
    (call,) = json.loads((tmp_path / "seconds.json").read_text())
    assert call["parts"]["figure5, intersection"]["computed"] == 15
    assert (call["device"], call["workers"]) == ("cpu", 1)
