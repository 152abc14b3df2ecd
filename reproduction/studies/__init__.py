"""Studies of ours beside the paper's figures: `python -m reproduction run NAME`.

A study is a module with `run(options)`, whose one argument is a dataclass of its options. Where
its numbers stand in the docs, `sections(results)` returns the tables by page and mark.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, get_type_hints

STUDIES = (
    "can",
    "can-chunks",
    "can-record",
    "can-weights",
    "car-racing",
    "car-racing-chunks",
    "car-racing-dimensions",
    "car-racing-expert",
    "car-racing-paper",
    "car-racing-pedals",
    "censored",
    "clean",
    "clean-time",
    "compare",
    "environments",
    "explained",
    "fair",
    "family",
    "filtering",
    "fixed-radii",
    "flow",
    "flow-counter",
    "flow-horizon",
    "flow-steps",
    "idea",
    "intent-goals",
    "intents",
    "lag",
    "lag-recordings",
    "late-person",
    "lerobot",
    "methods",
    "modes",
    "no-noise",
    "offsets",
    "playground",
    "presets",
    "push-t",
    "push-t-evidence",
    "radius",
    "radius-errors",
    "robot",
    "scores",
    "speed",
    "teacher-lags",
    "teachers",
    "tuned",
    "worlds",
)
PICTURES = {name: f"{name}-pictures" for name in ("can", "car-racing", "push-t")}
PICTURES |= {"fair": "fair-figures", "playground": "playground-page"}
PICTURES["studio"] = "studio-pictures"
"""Studies with pictures of their own, and the modules that draw them."""

TABLES = {
    name: f"{name}-tables" for name in ("can", "car-racing", "car-racing-paper", "fair", "push-t")
}
"""Studies whose tables are made by a module of their own, which needs pandas."""


def load_study(name: str) -> Any:
    """Return the module of a study; nothing is imported before it is needed."""
    return import_module(f"reproduction.studies.{name.replace('-', '_')}")


def options_of(study: Any) -> type:
    """Return the dataclass of a study's options: the type of the argument of its `run`."""
    kind: type = get_type_hints(study.run)["options"]
    return kind
