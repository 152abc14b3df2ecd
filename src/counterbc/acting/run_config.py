"""The configuration of a training, which its run folder and its rows hold as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

_TEXTS = ("env", "backend", "radius_from")
_NAME_LISTS = ("action_names", "blind_to", "cameras", "keys", "obs_names", "two_valued")
_WHEN_KNOWN = (
    "seconds", "stopped_after", "stack", "keys", "cameras", "blind_to", "image_size", "rate",
)  # fmt: skip


def key_of(name: str) -> str:
    """Return the key of an observed dimension: state of state[3]."""
    return name.partition("[")[0]


def keys_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of observed dimensions, in order."""
    return tuple(dict.fromkeys(map(key_of, names)))


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that decides the result of a training.

    What a file of another version does not hold has its default here.
    """

    method: str = "custom"
    definition: str = ""
    """The method in Python."""
    preset: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    learning_rate: float | None = None
    members: Sequence[str] = ()
    """The name of each member."""
    radius_from: str = "given"
    """given, cross-validation or not used."""
    data: Sequence[Mapping[str, Any]] = ()
    """Source, fingerprint and number of pairs of each dataset."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """Further facts about the data that the method needs, such as the operators' names."""
    env: str | None = None
    backend: str | None = None
    """The simulator of the world, where there are several."""
    rate: float | None = None
    """Pairs per second of the demonstrations, if all of them have the same known rate."""
    obs_names: Sequence[str] = ()
    keys: Sequence[str] = ()
    """The observation keys that were read, in order, unless the names of dimensions show them."""
    cameras: Sequence[str] = ()
    """The cameras that are read, in order."""
    image_size: Sequence[int] = ()
    """Height and width to which images are resized, also when acting; empty if they are not."""
    blind_to: Sequence[str] = ()
    """The cameras of the data that are not read."""
    action_names: Sequence[str] = ()
    two_valued: Sequence[str] = ()
    """The action dimensions that take two values only."""
    device: str = "cpu"
    dtype: str = "float32"
    censored: bool = False
    """Whether actions on a bound stood for all actions beyond it."""
    kernel: str = ""
    """Empty in files of version 0.1."""
    versions: Mapping[str, str | None] = field(default_factory=dict)
    choices: Sequence[Mapping[str, Any]] = ()
    """The evidence for what was chosen from the data."""
    started_from: str | None = None
    """The hash of the parameters that the training started from."""
    seconds: float | None = None
    """The duration of a finished training."""
    stopped_after: int | None = None
    """The steps taken by a training that was stopped."""
    stack: Sequence[str] | None = None
    """The cells of a study that were trained together."""

    @property
    def obs_keys(self) -> tuple[str, ...]:
        """The observation keys that were read, in order."""
        return tuple(self.keys) or keys_of(self.obs_names)

    @staticmethod
    def from_dict(contents: Any) -> RunConfig:
        """Read JSON values; a `ValueError` names one that is not of the type that is written."""
        if not isinstance(contents, dict):
            raise ValueError(f"config is {contents!r:.60}; expected a record")
        for key in _NAME_LISTS:
            names = contents.get(key, [])
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise ValueError(f"{key} is {names!r:.60}; expected a list of names")
        for key in _TEXTS:
            if not isinstance(contents.get(key, ""), str | None):
                raise ValueError(f"{key} is {contents[key]!r:.60}; expected a text")
        if not all(type(n) is int for n in contents.get("image_size", [])):
            raise ValueError(f"image_size is {contents['image_size']!r:.60}; expected two numbers")
        if not isinstance(contents.get("rate"), int | float | None):
            raise ValueError(f"rate is {contents['rate']!r:.60}; expected a number")
        names = {f.name for f in fields(RunConfig)} - {"labels"}
        labels = {key: value for key, value in contents.items() if key not in names}
        return RunConfig(**{k: v for k, v in contents.items() if k in names}, labels=labels)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values, with the labels among the fields."""
        contents: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "labels":
                contents |= value
            elif value not in (None, (), []) or f.name not in _WHEN_KNOWN:
                contents[f.name] = value
        return contents
