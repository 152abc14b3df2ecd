"""One method on a file of recorded demonstrations, all seeds at once: choose, train, evaluate."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from counterbc.acting.evaluation import Evaluation, evaluate
from counterbc.acting.policies import ACTS, Act, Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.envs import WORLDS
from counterbc.errors import Diverged, InfeasibleActions, OptionError, unknown
from counterbc.experiments.cell import digest
from counterbc.experiments.simulated_cell import described, one_thread
from counterbc.formats import load
from counterbc.formats.guard import check_there
from counterbc.methods import find_method
from counterbc.selection.radius import DoubtfulRadius
from counterbc.settings import Settings, settings_for
from counterbc.trainer import train


@dataclass(frozen=True)
class Subset:
    """Which pairs of a file a seed learns from; what is drawn is drawn anew for every seed."""

    mask: str | None = None
    """A named subset of the file's episodes."""
    operators: tuple[str, ...] = ()
    """Those of these operators; by default of all."""
    share: float = 1.0
    """Of those episodes, a random share."""
    pairs: int | None = None
    """Of their pairs, so many at random, as the paper does with what people showed."""

    def __post_init__(self) -> None:
        for name, ok, allowed in (
            ("share", 0 < self.share <= 1, "above 0 and at most 1"),
            ("pairs", self.pairs is None or self.pairs >= 1, "1 or more, or None for all"),
        ):
            if not ok:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be {allowed}")

    def __str__(self) -> str:
        words = [self.mask or "", "+".join(self.operators)]
        words += [f"{100 * self.share:g}%" if self.share < 1 else ""]
        words += ["" if self.pairs is None else f"{self.pairs}pairs"]
        return "-".join(w for w in words if w) or "all"

    @property
    def drawn(self) -> bool:
        """Whether seeds learn from different pairs."""
        return self.share < 1 or self.pairs is not None

    def of(self, demos: Demonstrations, seed: int) -> Demonstrations:
        """What this seed learns from."""
        if self.mask is not None or self.operators:
            demos = demos.subset(mask=self.mask, operator=self.operators or None)
        if self.share < 1:
            demos = demos.split(self.share, seed)[1]
        return demos if self.pairs is None else demos.sample_pairs(self.pairs, seed)


ALL = Subset()
SEARCHING = 15  # networks whose whole training takes as long as choosing Δ on one dataset


@dataclass(frozen=True)
class FileCell:
    """One method on one part of a file, all seeds at once: finished, or done again whole.

    Seed k learns from pairs and is tested from starts that depend on k and not on the method. The
    file may be of any format that is read here; what it is called does not count, its bytes do.
    """

    world: str
    file: Path
    method: str
    radius: float | tuple[float, ...] | Literal["auto"] | None = None
    """Δ; None for methods that do not use one, else the preset's."""
    subset: Subset = ALL
    obs: tuple[str, ...] = ()
    """Observation keys to read; by default all that are not images."""
    cleaned: bool = False
    """Learn from the actions as they were meant, instead of those that were shown."""
    seeds: int = 5
    episodes: int = 50
    preset: str = "default"
    steps: int | None = None
    """Gradient steps; None: the preset's."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of `Settings` that differ from the preset's."""
    acts: tuple[Act, ...] = ACTS
    """The ways of acting that are tested: one where a world is slow."""

    def __post_init__(self) -> None:
        """Refuse before any work what would be refused after some of it."""
        if self.world not in WORLDS:
            raise unknown("world", self.world, WORLDS)
        find_method(self.method)
        check_there(self.file)
        for name in ("seeds", "episodes"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        self.settings.apply(find_method(self.method)[1])

    @property
    def _given(self) -> dict[str, Any]:
        known = {"radius": self.radius, "steps": self.steps}
        return {k: v for k, v in known.items() if v is not None} | dict(self.changes)

    @property
    def settings(self) -> Settings:
        return settings_for(self.preset, **self._given)

    @property
    def about(self) -> dict[str, Any]:
        """Everything that decides the result, but for device and versions."""
        own = asdict(self) | {"steps": self.settings.steps, "data": content_hash(self.file)}
        del own["file"]
        if self.acts == ACTS:
            del own["acts"]
        return own

    @property
    def label(self) -> str:
        """What a table calls it: the method with its Δ and what else is special about it."""
        radius = "" if self.radius is None else f"-{_text(self.radius)}"
        words = [f"{k}-{_text(v)}" for k, v in self.changes.items()]
        return "-".join([f"{self.method}{radius}", *words, *(["cleaned"] if self.cleaned else [])])

    @property
    def name(self) -> str:
        """What its file is called: readable, and different for every other cell."""
        return f"{self.world}-{self.subset}-{self.label}-{digest(self.about)}".replace("%", "")

    @property
    def work(self) -> float:
        """How long it takes, roughly, relative to others: for the time left."""
        method = self.settings.apply(find_method(self.method)[1])
        networks = self.seeds * method.shards * method.rounds * method.policy.history
        if self.radius == "auto" or self.cleaned:
            networks += SEARCHING * (self.seeds if self.subset.drawn else 1)
        return networks * float(self.settings.steps)

    def datasets(self, device: str | None = None) -> list[Demonstrations]:
        """One per seed, or a single one where all learn from the same."""
        demos = _load(self.file, self.obs, content_hash(self.file))
        chosen = [self.subset.of(demos, k) for k in range(self.seeds if self.subset.drawn else 1)]
        if not self.cleaned:
            return chosen
        from counterbc.diagnosis.meaning import meaning

        given = {k: v for k, v in self._given.items() if k != "radius"}  # that is of the training
        return [meaning(d, device=device, progress=False, **given).cleaned for d in chosen]

    def rows(self, device: str | None = None) -> pa.Table:
        """A row per seed and way of acting: means over the test starts, and of how many."""
        with one_thread(), warnings.catch_warnings():
            # The rows say all three: the radius chosen, what was learned from, who diverged.
            for known in (InfeasibleActions, Diverged, DoubtfulRadius):
                warnings.simplefilter("ignore", known)
            policies = train(
                self.datasets(device), self.method, seeds=self.seeds, preset=self.preset,
                device=device, progress=False, **self._given,
            )  # fmt: skip
            began = time.perf_counter()
            evaluations = [
                evaluate(policies, self.world, episodes=self.episodes, act=act, progress=False)
                for act in self.acts
            ]
            tested = time.perf_counter() - began
        made = [self._row(policies, e, i) for e in evaluations for i in range(self.seeds)]
        finished = {"test_seconds": round(tested, 3), "finished": datetime.now(UTC).isoformat()}
        table = pa.Table.from_pylist([row | finished for row in made])
        return described(table, self.about, policies.config)

    def _row(self, policies: Policies, evaluation: Evaluation, i: int) -> dict[str, Any]:
        config, member = policies.config, policies.members[i]
        row: dict[str, Any] = {**self.about, "label": self.label, "subset": str(self.subset)}
        # As text, so that the rows of every cell have columns of the same types.
        row |= {"radius": _text(self.radius), "changes": json.dumps(dict(self.changes))}
        row |= {"obs": _text(self.obs), "seed": member.seed, "act": evaluation.act}
        row.pop("acts", None)
        row |= {"pairs": config["data"][member.dataset]["pairs"]}
        row |= {"radius_used": [float(r) for r in member.radius]}
        measured = {"return": evaluation.returns, "length": evaluation.lengths}
        for name, values in (measured | dict(evaluation.measures)).items():
            known = values[i][np.isfinite(values[i])]
            row[name] = float(known.mean()) if len(known) else np.nan
            row[f"{name}_count"] = len(known)
        row |= {"fingerprint": member.fingerprint, "device": config["device"]}
        row |= {"dtype": config["dtype"], **config["versions"]}
        return row | {"train_seconds": config["seconds"]}


def _text(value: Any) -> str:
    """0.4 for a number, 0.4,0 for several, the name itself for a name, nothing for none."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, (tuple, list)):
        return ",".join(_text(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def content_hash(path: Path) -> str:
    """Of a file's bytes, or of all files in a folder with their names in it."""
    check_there(path)
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    state = tuple((f.stat().st_mtime_ns, f.stat().st_size) for f in files)
    return _hash(path, tuple(files), state)


@lru_cache(maxsize=16)  # a study asks for it with every cell's name
def _hash(path: Path, files: tuple[Path, ...], state: Any) -> str:
    """`state` is what a changed file changes."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            own = hashlib.file_digest(opened, "sha256").digest()
        digest.update(str(file.relative_to(path)).encode() + own)
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)  # cells of the same file often follow each other
def _load(file: Path, obs: tuple[str, ...], digest: str) -> Demonstrations:
    """`digest` is there so that a changed file is read again."""
    return replace(load(file, obs or None), source=file.name)  # rows are for others to read
