"""train(): choose lag, offsets, radius, steps and ensemble; plan the members; train them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, SupportsIndex

import torch

from counterbc.acting.device import find_device
from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import lag_of
from counterbc.data.needs import check_needs
from counterbc.data.offsets import Offsets, offsets_of, remove_offsets
from counterbc.data.radii import Radius
from counterbc.errors import DataError, OptionError
from counterbc.kernels.products import check_products
from counterbc.methods import Method, find_method, trained_name
from counterbc.selection.folds import LEAST_PAIRS
from counterbc.selection.held_out import Training
from counterbc.selection.offsets import find_offsets
from counterbc.selection.radius import DoubtfulRadius, RadiusSearch, choose_radii
from counterbc.selection.tuner import find_lags, policy_defaults, tune_datasets
from counterbc.selection.tuning import TuneSearch, Tuning
from counterbc.settings import Settings, settings_for
from counterbc.supports import Demonstrated
from counterbc.training.checkpoints import check_out
from counterbc.training.checks import as_datasets, check_reads, check_start, warn_values
from counterbc.training.plan import Choice, plan_training, seed_members
from counterbc.training.progress import Displays, Progress, displays_of
from counterbc.training.run import run
from counterbc.training.session import search_folder, some_session
from counterbc.training.stored_run import StoredRun


def train(
    demos: Demonstrations | Sequence[Demonstrations],
    method: str | Method = "counter-bc",
    *,
    seeds: int | Sequence[int] | None = None,
    radii: Sequence[Radius] | None = None,
    search: RadiusSearch | None = None,
    preset: str = "default",
    start: Policies | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype = torch.float32,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool | Progress | Displays = True,
    **changes: Any,
) -> Policies:
    """Train seeds × radii members at once.

    `demos` is one dataset for all seeds (by default one seed), or one per seed. `changes` are
    fields of `Settings`, e.g. radius=0.4 or steps=2000. What they leave to the data is chosen as
    `tune` does for each dataset (all train the largest ensemble), or Δ for a given number of steps
    by `search`, as `choose_radius` does. With `start` training continues from trained policies on
    new pairs; they keep their scales, and radius, lag and offsets unless given. With `out` the run
    is written to that folder, with checkpoints on the way; `resume=True` finishes a stopped run.
    A `progress` of your own shows what is chosen and then the training; a function gets the name of
    each of these phases and returns its display.
    """
    with some_session(None if out is None else search_folder(Path(out))):
        return _train(
            as_datasets(demos), method, seeds=seeds, radii=radii, search=search, preset=preset,
            start=start, device=device, dtype=dtype, out=out, resume=resume, progress=progress,
            changes=changes,
        )  # fmt: skip


def _train(
    datasets: list[Demonstrations],
    method: str | Method,
    *,
    seeds: int | Sequence[int] | None,
    radii: Sequence[Radius] | None,
    search: RadiusSearch | None,
    preset: str,
    start: Policies | None,
    device: str | torch.device | None,
    dtype: torch.dtype,
    out: str | Path | None,
    resume: bool,
    progress: bool | Progress | Displays,
    changes: dict[str, Any],
) -> Policies:
    """Do what `train` does, in a session."""
    (name, definition), torch_device = find_method(method), find_device(device)
    settings, displays = settings_for(preset, **changes), displays_of(progress)
    first, pairs = datasets[0], min(d.pairs for d in datasets)
    if start is not None and settings.ensemble == "auto" and definition.shards == 1:
        settings = replace(settings, ensemble=start.shards)
    definition = settings.apply(definition, first.obs_shape, pairs, image=first.image)
    keep = start is not None and radii is None and "radius" not in changes
    settings, definition = policy_defaults(settings, definition, pairs, _given(radii, start, keep))
    datasets, held_out = _split(datasets, settings.held_out)
    check_needs(datasets, definition.weighting.needs)
    check_reads(first, definition)
    check_products(settings.products, torch_device.type, dtype)
    warn_values(datasets, settings)
    folder = None if out is None else Path(out)
    requested = _asked_radii(definition, settings, radii, keep)
    order = _seeds(seeds, start, len(datasets))
    if start is not None:
        check_start(start, len(order) * len(requested), definition, first, "auto" in requested)
    if folder is not None:
        check_out(folder, resume, definition.policy)
    exists = resume and folder is not None and folder.exists()
    if folder is None or not exists or (stored := StoredRun.read(folder)) is None:
        training = Training(
            name=name, method=definition, settings=settings, device=torch_device,
            progress=displays("choosing"),
            later=_work(definition, settings, len(order) * len(requested), pairs),
        )  # fmt: skip
        chosen = _choose(datasets, training, requested, start, search)
        members = _members(datasets, order, chosen, start, keep_radius=keep)
    else:
        settings, members = stored.resume(settings, datasets, order, requested)
        chosen = _Chosen(settings, evidence=stored.choices, ensemble=stored.shards)
    if settings.ensemble == "auto" and definition.shards == 1:
        ensemble = replace(settings, ensemble=chosen.ensemble)
        definition = ensemble.apply(definition, first.obs_shape, image=first.image)
    plan = plan_training(
        datasets, definition, chosen.settings, members, start=start, held_out=held_out,
        name=trained_name(name, definition), preset=preset, choices=chosen.evidence,
    )  # fmt: skip
    bar = displays(f"training {plan.name}")
    return run(plan, device=torch_device, dtype=dtype, out=folder, resume=resume, progress=bar)


def _work(method: Method, settings: Settings, members: int, pairs: int) -> float:
    """Return about how many states the members learn from in all their steps.

    Numbers that will be chosen are taken as about the middle of what they may be.
    """
    is_auto, counts = settings.steps == "auto", TuneSearch().step_counts
    steps = counts[-1] / 2 if is_auto else settings.step_count
    networks = 2 if is_auto and settings.ensemble == "auto" else method.shards
    return members * networks * method.rounds * steps * settings.batch_size(pairs)


def _split(
    datasets: list[Demonstrations], share: float
) -> tuple[list[Demonstrations], tuple[Demonstrations, ...]]:
    """Return the datasets without a share of their episodes, and those episodes."""
    if not share:
        return datasets, ()
    halves = [d.split(share, seed=0) for d in datasets]
    return [h[0] for h in halves], tuple(h[1] for h in halves)


@dataclass(frozen=True)
class _Chosen:
    """What the members are trained with: lags and offsets by dataset, radii and steps by row and
    dataset."""

    settings: Settings
    lags: list[tuple[float, ...]] = field(default_factory=list)
    offsets: list[Offsets] = field(default_factory=list)
    radii: list[list[Radius]] = field(default_factory=list)
    steps: list[list[int | None]] = field(default_factory=list)
    evidence: tuple[Choice, ...] = ()
    ensemble: int = 1


def _members(
    datasets: list[Demonstrations],
    seeds: Sequence[int],
    chosen: _Chosen,
    start: Policies | None,
    *,
    keep_radius: bool,
) -> list[Member]:
    """Return radii × seeds members with the lag, the offsets and the steps of their dataset.

    Those that continue from `start` keep its radius, lag and offsets, unless given.
    """
    members = [
        replace(
            m, lag=chosen.lags[m.dataset], offsets=chosen.offsets[m.dataset],
            steps=counts[m.dataset],
        )
        for row, counts in zip(chosen.radii, chosen.steps, strict=True)
        for m in seed_members(datasets, seeds, [row])
    ]  # fmt: skip
    if start is not None and keep_radius:
        pairs = zip(members, start.members, strict=True)
        members = [replace(m, radius=s.radius) for m, s in pairs]
    if start is not None and chosen.settings.lag == "auto":
        pairs = zip(members, start.members, strict=True)
        members = [replace(m, lag=_kept_lag(s, datasets[m.dataset])) for m, s in pairs]
    if start is not None and chosen.settings.offsets == "auto":
        pairs = zip(members, start.members, strict=True)
        members = [replace(m, offsets=s.offsets) for m, s in pairs]
    return members


def _kept_lag(member: Member, demos: Demonstrations) -> tuple[float, ...]:
    """Return the lag of a member for the data that its training continues with."""
    if len(member.lag) > 1 and member.fingerprint != demos.fingerprint():
        raise OptionError(
            "the policies to continue from have one lag per operator of other data; give the lags "
            "for the operators of these data"
        )
    return lag_of(member.lag, demos)


def _choose(
    datasets: list[Demonstrations],
    training: Training,
    requested: list[Any],
    start: Policies | None,
    search: RadiusSearch | None,
) -> _Chosen:
    """Choose whatever the settings leave to the data.

    Policies that training continues from keep their lag and offsets, and are trained for the
    paper's steps.
    """
    settings, count = training.settings, len(datasets)
    if start is not None:
        lags = [lag_of(0.0 if settings.lag == "auto" else settings.lag, d) for d in datasets]
        rows = [[r] * count for r in requested]
        given = "none" if settings.offsets == "auto" else settings.offsets
        offsets = [offsets_of(given, d) for d in datasets]
        return _Chosen(settings, lags, offsets, rows, [[None] * count] * len(rows))
    is_auto, is_long = requested == ["auto"], min(d.pairs for d in datasets) >= LEAST_PAIRS
    if (settings.steps == "auto" and is_long) or (is_auto and search is None):
        radii = None if is_auto else requested
        return _chosen(tune_datasets(datasets, training, radii=radii), training)
    lag_choices = find_lags(datasets, training)
    lags = [c.lag for c in lag_choices]
    offset_choices = find_offsets(datasets, lags, settings.offsets)
    offsets = [c.offsets for c in offset_choices]
    evidence: list[Choice] = [c for c in lag_choices if c.verdict != "given"]
    evidence += [c for c in offset_choices if c.verdict != "given" and c.sentences]
    rows = [[r] * count for r in requested]
    if is_auto:
        plain = [remove_offsets(d, b) for d, b in zip(datasets, offsets, strict=True)]
        choices = choose_radii(plain, training, search, lags)
        rows, evidence = [[c.radius for c in choices]], [*evidence, *choices]
    return _Chosen(settings, lags, offsets, rows, [[None] * count] * len(rows), tuple(evidence))


def _chosen(tunings: list[list[Tuning]], training: Training) -> _Chosen:
    """Return the choices of each dataset as rows of a population."""
    rows = list(zip(*tunings, strict=True))  # by radius, then by dataset
    settings, is_auto = training.settings, training.settings.steps == "auto"
    if is_auto:
        steps = [t.steps for row in rows for t in row]
        is_one_round = training.method.rounds == 1
        settings = replace(settings, steps=max(steps if is_one_round else TuneSearch().step_counts))
    for doubt in dict.fromkeys(d.text for row in rows for t in row for d in t.doubts):
        warnings.warn(doubt, DoubtfulRadius, stacklevel=4)
    return _Chosen(
        settings=settings,
        lags=[row[0].lag.lag for row in tunings],
        offsets=[row[0].offsets.offsets for row in tunings],
        radii=[[t.radius for t in row] for row in rows],
        steps=[[t.steps if is_auto else None for t in row] for row in rows],
        evidence=tuple(t for row in rows for t in row),
        ensemble=max(row[0].ensemble for row in tunings),
    )


def _given(
    radii: Sequence[Radius] | None, start: Policies | None, keep: bool
) -> Sequence[Radius] | None:
    """Return the radii that were asked for, or those of the policies to continue from."""
    if start is None or not keep or start.run_config.radius_from == "not used":
        return radii
    return [m.radius for m in start.members]


def _asked_radii(
    method: Method, settings: Settings, radii: Sequence[Radius] | None, keep: bool
) -> list[Any]:
    """Return the radii to train with; 0 stands for those that are not used or not changed."""
    if isinstance(method.support, Demonstrated) or keep:
        return [0.0]
    return [settings.radius] if radii is None else list(radii)


def _seeds(seeds: int | Sequence[int] | None, start: Policies | None, datasets: int) -> list[int]:
    """Return the seeds as a list: by default one, or those of the policies to continue from."""
    if seeds is None:
        seeds = 1 if start is None else [m.seed for m in start.members]
    order = [int(s) for s in (range(seeds) if isinstance(seeds, SupportsIndex) else seeds)]
    if not order:
        raise OptionError(f"seeds is {seeds}; ask for 1 or more")
    if datasets not in (1, len(order)):
        raise DataError(f"{datasets} datasets for {len(order)} seeds; give one, or one per seed")
    return order
