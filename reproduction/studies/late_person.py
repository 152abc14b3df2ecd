"""Whether the delay of a scripted person at the studio can be read from the recordings.

The person gives the expert's answer to the state of some steps before, with uniform errors, in the
worlds of the studio at the paper's protocol. The recordings hold what the studio would store; no
server runs. The lag is chosen as `counterbc tune` does.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.envs import find_world
from counterbc.experiments.cell import reproducible
from counterbc.selection.lag import choose_lags
from counterbc.studio.protocol import PAPER
from counterbc.studio.stage import Stage
from reproduction.markdown import markdown_table
from reproduction.options import StudyOptions, option
from reproduction.plots import title
from reproduction.records import Record, Records, read_rows, write_rows
from reproduction.studies.lag import lag_training
from reproduction.studio_timing import browser_table

FIRST_SEED = 4260


@dataclass(frozen=True)
class LatePerson:
    """A person who answers `delay` steps late with errors of ± `error`, and records `pairs`."""

    world: str
    delay: int
    error: float = 0.3
    pairs: int | None = None
    """None: as many as the paper's protocol asks for."""
    waits: bool = True
    """Whether nothing is done before the first state can be answered; else it is answered at once,
    as no person could."""

    @property
    def pairs_recorded(self) -> int:
        pairs = self.pairs or PAPER[self.world].pairs
        assert pairs is not None
        return pairs


PEOPLE = (
    *(LatePerson("cartpole", delay) for delay in (3, 4, 6, 9)),
    *(LatePerson("air-hockey", delay) for delay in (2, 3, 4)),
    *(LatePerson("cartpole", delay, error=0.1) for delay in (3, 6)),
    LatePerson("air-hockey", 2, error=0.1),
    *(LatePerson("cartpole", delay, pairs=600) for delay in (3, 6)),
    LatePerson("air-hockey", 2, pairs=600),
    *(LatePerson("cartpole", delay, waits=False) for delay in (3, 6)),
)


@dataclass(frozen=True, kw_only=True)
class LatePersonOptions(StudyOptions):
    """Choose the lag of a scripted person whose delay is known."""

    seeds: int = option(5, "recordings of each kind")
    first_seed: int = option(FIRST_SEED, "seed of the first recording")


def run(options: LatePersonOptions) -> None:
    """Compute the missing rows and print the table."""
    torch.set_num_threads(1)
    folder = options.out / "late-person"
    records = Records(folder / "rows.json", indent=None, device="cpu")
    with reproducible():
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for person in PEOPLE:
                if not records.has(**kind(person), seed=seed):
                    records.add(kind(person) | {"seed": seed} | measure(record(person, seed)))
                    print(person, seed, records.rows[-1]["lag"], file=sys.stderr, flush=True)
    write_rows(records.rows, folder)
    print(markdown(records.rows))


def kind(person: LatePerson) -> Record:
    """Return the columns that tell recordings of different people apart."""
    return asdict(person) | {"pairs": person.pairs_recorded}


def record(person: LatePerson, seed: int) -> Demonstrations:
    """Record episodes from random starts until there are enough pairs, as Collect does."""
    rng, stage, left = np.random.default_rng(seed), Stage(person.world), person.pairs_recorded
    episodes = list[Episode]()
    while left > 0:
        stage.begin(int(rng.integers(2**31)))
        episodes.append(_record_episode(person, stage, rng, left))
        left -= len(episodes[-1])
    facts = stage.description()
    stage.close()
    return Demonstrations(
        tuple(episodes), actions_are="asked", rate=stage.world.rate,
        **facts | {k: np.array(facts[k], np.float32) for k in ("action_low", "action_high")},
    )  # fmt: skip


def _record_episode(
    person: LatePerson, stage: Stage, rng: np.random.Generator, most: int
) -> Episode:
    expert, rest = find_world(person.world).load_expert(), np.array(stage.neutral())
    states, actions, rewards = list[np.ndarray](), list[np.ndarray](), list[float]()
    is_over = False
    while not is_over and len(actions) < most:
        states.append(stage.obs)
        t = len(states) - 1 - person.delay
        expert_action = rest
        if t >= 0 or not person.waits:
            step = max(t, 0)  # the one whose state is answered
            expert_action = expert(states[step][None], np.zeros(1, np.int64), step)[0]
        error = rng.uniform(-person.error, person.error, len(rest))
        actions.append(stage.feasible(np.clip(expert_action + error, -1, 1)))
        outcome = stage.step(actions[-1])
        rewards.append(outcome.reward)
        is_over = outcome.over
    return Episode(
        np.array(states, np.float32), np.array(actions, np.float32),
        reward=np.array(rewards, np.float32), operator="script",
    )  # fmt: skip


def measure(demos: Demonstrations) -> Record:
    """Return what `counterbc tune` says about the lag of a recording."""
    (choice,) = choose_lags([demos], lag_training(find_device("cpu")))
    return {
        "episodes": len(demos.episodes),
        "lag": choice.lag[0],
        "verdict": choice.verdict,
        "confident": choice.confident,
    }


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of docs/studio.md."""
    delays = markdown(read_rows(results / "late-person"))
    return {"studio": {"late-person": delays, "studio-browser": browser_table()}}


def markdown(rows: list[Record]) -> str:
    """Return how often the delay of each kind of person was named exactly, and confirmed."""
    lines = []
    for person in PEOPLE:
        about = kind(person)
        answers = [row for row in rows if about.items() <= row.items()]
        if not answers:
            continue
        lags = [row["lag"] for row in answers]
        others = ", ".join(f"{lag:g}" for lag in sorted(lags) if lag != person.delay)
        lines.append([
            title(person.world), str(about["pairs"]), f"± {person.error:g}",
            "waits" if person.waits else "answers at once", str(person.delay),
            f"{sum(lag == person.delay for lag in lags)} of {len(lags)}",
            f"{sum(row['confident'] for row in answers)} of {len(lags)}", others or "–",
        ])  # fmt: skip
    columns = (
        "world", "pairs", "errors", "before the first state can be answered", "delay in steps",
        "named exactly", "confirmed by their past actions", "other lags named",
    )  # fmt: skip
    return markdown_table(columns, lines)
