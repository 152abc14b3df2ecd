"""Are cleaned demonstrations nearer to what was meant if `clean` also uses time?

400 pairs of human-like teachers, one dataset per teacher and seed, everything chosen from the data
as `counterbc clean` does. All variants have the same lag and offsets undone:

shown          the demonstrated actions
clean          between these and the predictions of held-out policies
smooth         the same with time (`clean --smooth`)
filter         Savitzky–Golay of order 2, with the window of least leave-one-out error
tuned filter   the same with the window that is best against the truth

Distances are RMS to the expert's mean action, where actions span [−1, 1]. BC learns from each
variant but the last. `no noise` has the expert's own actions: nothing should be moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import counterbc as cb
from counterbc.acting.intervals import Interval, paired_difference
from counterbc.data.action_scale import scaled_actions
from counterbc.data.lags import answer_states, undo_lag, with_actions
from counterbc.data.offsets import remove_offsets
from counterbc.demonstrators import HUMAN_TEACHERS, Chain, record
from counterbc.diagnosis.components import by_episode
from counterbc.experiments.cell import evaluate_acts
from reproduction.datasets import DatasetOptions, compute_rows
from reproduction.markdown import markdown_table
from reproduction.options import option
from reproduction.records import Record, read_rows
from reproduction.studies.clean import expert_mean

Array = NDArray[Any]
FIRST_SEED, PAIRS, STEPS, POLICIES, STARTS = 2670, 400, 2000, 4, 50
KEY = ("world", "teacher", "seed")
CLEAN_WORLDS = ("intersection", "cartpole", "air-hockey")
NO_NOISE = "no noise"
CLEAN_TEACHERS = ("novice", "typical", "skilled", "crowd", NO_NOISE)
LEARNED = ("shown", "clean", "filter", "smooth")
VARIANTS = ("shown", "clean", "filter", "tuned filter", "smooth")
RIVALS = ("clean", "filter")
WINDOWS, ORDER = (5, 7, 9, 11, 15, 21, 31, 41), 2
MOST_MOVED = 0.02
"""How far `smooth` may move actions that have no errors, to become the default."""


@dataclass(frozen=True, kw_only=True)
class CleanTimeOptions(DatasetOptions):
    """Compare what `clean` writes with and without time to what was meant."""

    first: int = option(FIRST_SEED, "number of the first seed")
    worlds: tuple[str, ...] = CLEAN_WORLDS
    teachers: tuple[str, ...] = CLEAN_TEACHERS


def run(options: CleanTimeOptions) -> None:
    """Compute the missing rows and print the tables."""
    kinds = product(options.seed_range, options.worlds, options.teachers)
    rows = ({"world": world, "teacher": t, "seed": seed} for seed, world, t in kinds)
    print(markdown(compute_rows("clean-time", rows, measure, options)))


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the table of docs/clean.md."""
    rows = read_rows(results / "clean-time")
    return {"clean": {"time": markdown(rows)} if rows else {}}


def dataset(world: str, teacher: str, seed: int) -> tuple[cb.Demonstrations, Array]:
    """Return the demonstrations, and the expert's mean action at each state: (N, A)."""
    person = Chain(()) if teacher == NO_NOISE else HUMAN_TEACHERS[teacher]
    demos = cb.demonstrate(world, person, PAIRS, seed)
    if world != "intersection":
        takes = zip(record(world, person, len(demos), seed), demos.episodes, strict=True)
        return demos, np.concatenate([take.intended[: len(e)] for take, e in takes])
    mean = expert_mean(world, demos)  # its expert is random, which is no error
    return (with_actions(demos, mean) if teacher == NO_NOISE else demos), mean


def measure(about: Record, device: str | None) -> Record:
    """Return the distance of each variant to what was meant, and the returns of BC on it."""
    world, seed = about["world"], about["seed"]
    demos, intended = dataset(world, about["teacher"], seed)
    plain = cb.meaning(
        demos, radius="auto", held_out=cb.HeldOut(seed=seed), device=device, progress=False
    )
    rows = plain.has_answer
    answer = undo_lag(remove_offsets(demos, plain.offsets), plain.lag)[0].astype(np.float64)
    episodes = zip(by_episode(demos, answer), by_episode(demos, rows), strict=True)
    parts = [action[known] for action, known in episodes]
    truth = intended[rows]
    filters = {window: np.concatenate([_filter(p, window)[0] for p in parts]) for window in WINDOWS}
    best_left_out = min(WINDOWS, key=lambda window: _left_out_error(parts, window))
    best = min(WINDOWS, key=lambda window: float(((filters[window] - truth) ** 2).sum()))
    actions = {"shown": answer, "clean": plain.meant, "smooth": plain.smooth().meant}
    for name, window in (("filter", best_left_out), ("tuned filter", best)):
        actions[name] = answer.copy()
        actions[name][rows] = filters[window]
    row: Record = {"lag": float(np.mean(plain.lag)), "window": best_left_out, "best_window": best}
    for name in VARIANTS:
        row[f"distance_{name}"] = _rms(demos, actions[name], intended, rows)
        row[f"moved_{name}"] = _rms(demos, actions[name], answer, rows)
    if about["teacher"] != NO_NOISE:
        row |= _returns(world, plain, actions, seed, device)
    return row


def _rms(demos: cb.Demonstrations, a: Array, b: Array, rows: Array) -> float:
    off = scaled_actions(demos, a) - scaled_actions(demos, b)
    return float(np.sqrt((off[rows] ** 2).mean()))


def _returns(
    world: str, meaning: cb.Meaning, actions: dict[str, Array], seed: int, device: str | None
) -> Record:
    """Return the mean return of BC on each variant; all policies train together."""
    states = answer_states(meaning.demos, meaning.lag)
    sets = [with_actions(states, actions[name]) for name in LEARNED for _ in range(POLICIES)]
    policies = cb.train(
        sets, "bc", seeds=[seed + 10_000 * i for _ in LEARNED for i in range(POLICIES)],
        steps=STEPS, lag=0.0, offsets="none", ensemble=1, device=device, progress=False,
    )  # fmt: skip
    (evaluation,) = evaluate_acts(policies, world, episodes=STARTS, acts=("mean",))
    means = evaluation.returns.reshape(len(LEARNED), -1).mean(1)
    return {f"return_{name}": float(r) for name, r in zip(LEARNED, means, strict=True)}


@lru_cache
def _filter_matrix(length: int, window: int) -> Array:
    """Return the filter of an episode as a matrix: (T, T); at its ends, the window's polynomial."""
    window = min(window, length - (length + 1) % 2)
    if window <= ORDER:
        return np.eye(length)
    matrix = np.zeros((length, length))
    for t in range(length):
        first = min(max(t - window // 2, 0), length - window)
        powers = np.vander(np.arange(window) + first - t, ORDER + 1, increasing=True)
        matrix[t, first : first + window] = np.linalg.pinv(powers)[0]
    return matrix


def _filter(action: Array, window: int) -> tuple[Array, Array]:
    """Return the filtered actions of an episode, and the weight of each action in its own."""
    matrix = _filter_matrix(len(action), window)
    return matrix @ action, np.diag(matrix)


def _left_out_error(parts: list[Array], window: int) -> float:
    """Return the mean squared error with which a filter predicts actions that it does not see."""
    errors = []
    for part in parts:
        filtered, weight = _filter(part, window)
        is_used = weight < 1 - 1e-9
        errors.append(((part - filtered)[is_used] / (1 - weight[is_used, None])).ravel())
    return float((np.concatenate(errors) ** 2).mean())


def markdown(rows: list[Record]) -> str:
    """Return distances, moves without noise and returns by world, and what follows from them."""
    worlds = [w for w in CLEAN_WORLDS if any(r["world"] == w for r in rows)]
    tables = [_distance_table(rows, worlds)]
    if any("return_smooth" in r and r["return_smooth"] is not None for r in rows):
        tables.append(_return_table(rows, worlds))
        verdict = "is" if is_default(rows) else "is not"
        tables.append(f"By the rule, smoothing {verdict} the default.")
    return "\n\n".join(tables)


def _distance_table(rows: list[Record], worlds: list[str]) -> str:
    head = ["world", *VARIANTS, *(f"smooth nearer than {r}" for r in (*RIVALS, "tuned filter")),
            "most moved without noise"]  # fmt: skip
    lines = []
    for world in worlds:
        by_variant = {name: _by_seed(rows, world, f"distance_{name}") for name in VARIANTS}
        gains = (_gain(rows, world, rival) for rival in (*RIVALS, "tuned filter"))
        lines.append([
            world, *(f"{values.mean():.3f}" for values in by_variant.values()),
            *(_signed(g, ".3f") for g in gains), f"{_moved(rows, world):.3f}",
        ])  # fmt: skip
    return markdown_table(head, lines)


def _return_table(rows: list[Record], worlds: list[str]) -> str:
    head = ["world", *(f"BC on {name}" for name in LEARNED), "smooth above clean"]
    lines = []
    for world in worlds:
        means = [_by_seed(rows, world, f"return_{name}").mean() for name in LEARNED]
        difference = _return_difference(rows, world)
        lines.append([world, *(f"{m:.2f}" for m in means), _signed(difference, ".2f")])
    return markdown_table(head, lines)


def _by_seed(rows: list[Record], world: str, column: str) -> Array:
    """Return the mean over teachers of each seed that has all of them: (seeds,)."""
    world_rows = [r for r in rows if r["world"] == world and r["teacher"] != NO_NOISE]
    seeds, teachers = ({r[key] for r in world_rows} for key in ("seed", "teacher"))
    groups = ([r[column] for r in world_rows if r["seed"] == seed] for seed in sorted(seeds))
    return np.array([np.mean(g) for g in groups if len(g) == len(teachers)])


def _gain(rows: list[Record], world: str, rival: str) -> Interval:
    """Return how much nearer to what was meant `smooth` is than a rival, paired by seed."""
    near, far = (_by_seed(rows, world, f"distance_{name}") for name in ("smooth", rival))
    return paired_difference(far, near).interval


def _return_difference(rows: list[Record], world: str) -> Interval:
    smooth, clean = (_by_seed(rows, world, f"return_{name}") for name in ("smooth", "clean"))
    return paired_difference(smooth, clean).interval


def _moved(rows: list[Record], world: str) -> float:
    """Return how far `smooth` moves actions without errors: the largest of all datasets."""
    world_rows = [r for r in rows if r["world"] == world and r["teacher"] == NO_NOISE]
    return float(np.max([r["moved_smooth"] for r in world_rows])) if world_rows else float("nan")


def is_default(rows: list[Record]) -> bool:
    """Return whether `clean` should smooth: nearer than its rivals everywhere, and no harm.

    In every world the interval of the gain over both rivals is above 0, actions without errors stay
    within `MOST_MOVED`, and the return is not clearly below that of `clean`.
    """
    checks: list[Callable[[str], bool]] = [
        lambda world: all(_gain(rows, world, rival).low > 0 for rival in RIVALS),
        lambda world: _moved(rows, world) <= MOST_MOVED,
        lambda world: _return_difference(rows, world).high >= 0,
    ]
    return all(check(world) for world in CLEAN_WORLDS for check in checks)


def _signed(interval: Interval, form: str) -> str:
    ends = (f"{x:+{form}}" for x in (interval.mean, interval.low, interval.high))
    return "{} [{}, {}]".format(*ends).replace("-", "−")
