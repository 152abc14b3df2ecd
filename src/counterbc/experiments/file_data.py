"""Demonstrations in a file, and the pairs of them that a seed learns from."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from counterbc.acting.world_keys import keys_of_world
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode_choice import EpisodeChoice
from counterbc.data.field_checks import check_fields, limited_field
from counterbc.files import sha256
from counterbc.formats import load, open_stream
from counterbc.formats.guard import check_there


@dataclass(frozen=True)
class Subset:
    """The pairs of a file that a seed learns from; random choices differ between seeds."""

    mask: str | None = None
    """A named subset of the file's episodes."""
    operators: tuple[str, ...] = ()
    """Only the episodes of these operators; by default all."""
    share: float = limited_field(1.0, "above 0 and at most 1", lambda share: 0 < share <= 1)
    """A random share of those episodes."""
    pairs: int | None = limited_field(None, "1 or more, or None for all", lambda n: n >= 1)
    """A random sample of this many of their pairs, as in the paper; None for all."""
    success: bool = False
    """Only the episodes that succeeded."""
    exclude: tuple[str, ...] = ()
    """Episodes to leave out, by name or by number from 0."""

    def __post_init__(self) -> None:
        check_fields(self)

    def __str__(self) -> str:
        words = [self.mask or "", "+".join(self.operators), "successful" if self.success else ""]
        words += [f"without{len(self.exclude)}" if self.exclude else ""]
        words += [f"{100 * self.share:g}%" if self.share < 1 else ""]
        words += ["" if self.pairs is None else f"{self.pairs}pairs"]
        return "-".join(w for w in words if w) or "all"

    @property
    def about(self) -> dict[str, Any]:
        """Return the options, without those that the first studies did not have and that are not
        used, so that the names of their cells stay the same."""
        late = [name for name in ("success", "exclude") if not getattr(self, name)]
        return {name: value for name, value in asdict(self).items() if name not in late}

    @property
    def choice(self) -> EpisodeChoice:
        """Return which episodes of the file are used, before any are drawn at random."""
        return EpisodeChoice(
            mask=self.mask, operators=self.operators, success=self.success, exclude=self.exclude
        )

    @property
    def random(self) -> bool:
        """Return whether seeds learn from different pairs."""
        return self.share < 1 or self.pairs is not None

    def of(self, demos: Demonstrations, seed: int) -> Demonstrations:
        """Return the pairs that this seed learns from."""
        return self.sample(self.episodes(demos, seed), seed)

    def episodes(self, demos: Demonstrations, seed: int) -> Demonstrations:
        """Return the episodes of this seed, before pairs are sampled from them."""
        demos = self.choice.of(demos)
        return demos.split(self.share, seed)[1] if self.share < 1 else demos

    def sample(self, demos: Demonstrations, seed: int) -> Demonstrations:
        """Return the episodes with a random sample of their pairs selected."""
        return demos if self.pairs is None else demos.sample_pairs(self.pairs, seed)


ALL = Subset()


def content_hash(path: Path) -> str:
    """Return a hash of a file's bytes, or of all files in a folder and their names."""
    check_there(path)
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    state = tuple((f.stat().st_mtime_ns, f.stat().st_size) for f in files)
    return _hash(path, tuple(files), state)


@lru_cache(maxsize=16)  # every cell's name needs it
def _hash(path: Path, files: tuple[Path, ...], state: Any) -> str:
    """Hash the files; `state` changes with them and makes the cache forget them."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(str(file.relative_to(path)).encode() + bytes.fromhex(sha256(file)))
    return whole.hexdigest()[:16]


def default_obs(file: Path, action: tuple[str, ...], env: str | None) -> tuple[str, ...]:
    """Return the observation keys that an environment has, where a file records more; else none,
    which stands for all keys that are not images.

    Without `env` it is the environment that the file names.
    """
    return _default_obs(file, action, env, content_hash(file))


@lru_cache(maxsize=64)  # every cell's name needs it
def _default_obs(
    file: Path, action: tuple[str, ...], env: str | None, content: str
) -> tuple[str, ...]:
    """Read the header of the file; `content` is its hash, so that a changed file is read again."""
    header = open_stream(file, action=action or None).checked().header
    recorded = header.env_args.get("env_name")
    return keys_of_world(header.obs_keys, env or (recorded and str(recorded)))


def load_file(file: Path, obs: tuple[str, ...], action: tuple[str, ...] = ()) -> Demonstrations:
    """Return the demonstrations of a file; the last one that was read stays in memory."""
    return _load(file, obs, action, content_hash(file))


@lru_cache(maxsize=1)  # cells of the same file often follow each other
def _load(
    file: Path, obs: tuple[str, ...], action: tuple[str, ...], content: str
) -> Demonstrations:
    """Read the file; `content` is its hash, so that a changed file is read again."""
    demos = load(file, obs or None, action=action or None)
    return replace(demos, source=file.name)  # rows must not contain folders
