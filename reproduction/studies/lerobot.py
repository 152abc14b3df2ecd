"""Push-T through lerobot-train and lerobot-eval: ACT and diffusion, with and without Counter-BC.

    python -m reproduction run lerobot --data pusht_human_206.hdf5 --out reproduction/results

LeRobot has an environment of its own, which `make test-lerobot` creates; its Python computes the
rows, by `integrations/lerobot/evidence/push_t.py`. This module names what is compared and how
settings are chosen, and needs no LeRobot.

plain     LeRobot's own policy
radius    counter_act or counter_diffusion with a radius, without lag and weights
lag       the same with a lag and without a radius
weights   the same with the frame weights of `counterbc score --radius --force`, itself without a
          radius

Data are people's recordings as they are, with uniform errors added to every action, and recorded
0.3 s late. Settings are fixed before the run, the same for both policies. Δ is what the study
`flow` chose on seeds 1090–1099 for a flow on people as they are, and the size of the errors where
they are added. The lag is one frame, and the true one where actions are recorded late. Sizes and
steps of the policies were chosen on seed 1000 with plain policies alone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from counterbc.errors import OptionError
from reproduction.options import StudyOptions, option
from reproduction.records import Record, Records, read_rows, write_rows

PLAIN, PEOPLE, LATE = "plain", "people", "0.3 s late"
UNIFORM = "uniform 0.2"
POLICIES = ("act", "diffusion")
SETTINGS: Mapping[str, Mapping[str, Record]] = {
    PEOPLE: {
        PLAIN: {}, "radius": {"radius": 0.025}, "lag": {"lag": 1.0}, "weights": {"radius": 0.2}
    },
    UNIFORM: {
        PLAIN: {}, "radius": {"radius": 0.2}, "lag": {"lag": 1.0}, "weights": {"radius": 0.2}
    },
    LATE: {PLAIN: {}, "lag": {"lag": 3.0}},
}  # fmt: skip
"""What is compared, by data and variant. The radius of weights is that of `counterbc score`; by
itself it chooses 0 for these data, and then all weights are 1."""
SEEDS = (4000, 4001, 4002, 4003, 4004)
"""Seeds of trainings."""
ERROR_SEED = 4000
STARTS, FIRST_START = 50, 4010
"""Starts of each policy, and the first one of the first seed; others have those that follow."""
STEPS = {"act": 4000, "diffusion": 5000}
"""Gradient steps of each policy, for plain ones and variants alike."""
MEASURE = "score"
KEY = ("policy", "data", "variant", "steps", "seed")
"""What tells the rows apart."""
SCRIPT = Path(__file__).parents[2] / "integrations/lerobot/evidence/push_t.py"


@dataclass(frozen=True, kw_only=True)
class LeRobotOptions(StudyOptions):
    """Train ACT and diffusion policies with lerobot-train, and test them with lerobot-eval."""

    data: Path | None = option(None, "file of demonstrations, pusht_human_206.hdf5")
    python: Path = option(Path(".venv-lerobot-0.6.1/bin/python"), "Python that has LeRobot")
    device: str = option("cpu", "cpu or cuda")
    workers: int = 1


def run(options: LeRobotOptions) -> None:
    """Compute the missing rows with LeRobot's Python, and print the tables."""
    if options.data is None:
        raise OptionError("the study needs a file of people; name it with --data")
    if not options.python.exists():
        raise OptionError(f"{options.python} does not exist; make test-lerobot creates it")
    folder = options.out / "lerobot"
    values = {"device": options.device, "workers": options.workers}
    words = [word for name, value in values.items() for word in (f"--{name}", str(value))]
    command = [str(options.python), str(SCRIPT), str(options.data), str(folder), *words]
    subprocess.run(command, check=True)
    write_rows(Records(folder / "rows.json").rows, folder)
    for tables in sections(options.out).values():
        print(*tables.values(), sep="\n\n")


@dataclass(frozen=True)
class Cell:
    """One training and its test."""

    policy: str
    data: str
    variant: str
    radius: float
    lag: float
    steps: int
    seed: int

    @property
    def name(self) -> str:
        """A name for the folder of the training."""
        settings = f"{self.variant}-{self.radius:g}-{self.lag:g}-{self.steps}-{self.seed}"
        return f"{self.policy}-{data_name(self.data)}-{settings}"

    @property
    def first_start(self) -> int:
        """The seed of the first start; the others follow."""
        return FIRST_START + SEEDS.index(self.seed) * STARTS


def data_name(data: str) -> str:
    """Return a kind of data as part of a file name."""
    return data.replace(" ", "-").replace("%", "percent")


def cells() -> Iterator[Cell]:
    """Yield all trainings, seed by seed."""
    for seed in SEEDS:
        for policy in POLICIES:
            for data, variants in SETTINGS.items():
                for variant, settings in variants.items():
                    values = {"radius": 0.0, "lag": 0.0} | settings
                    yield Cell(policy, data, variant, **values, steps=STEPS[policy], seed=seed)


def sections(results: Path) -> dict[str, dict[str, str]]:
    """Return the tables of the docs."""
    from reproduction.studies.lerobot_tables import counts_sentence, late_sentence, report_table

    rows = read_rows(results / "lerobot")
    late = {"push-t-late": late_sentence(rows)}
    page = {"push-t-report": report_table(rows), "push-t-counts": counts_sentence(rows)}
    return {"lerobot": page | late, "README": late}
