"""What a dataset prints: one line for each thing a person asks of it first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations


def summary(demos: Demonstrations) -> str:
    """Several lines of text; those about things that were not recorded are left out."""
    lengths = [len(e) for e in demos.episodes]
    outside = int(demos.infeasible.sum())
    of_all = f" selected of {sum(lengths)}" if demos.selected is not None else ""
    lines = [
        f"Demonstrations from {demos.source or 'memory'}",
        f"  episodes   {len(demos)}, {min(lengths)} to {max(lengths)} pairs long",
        f"  pairs      {demos.pairs}{of_all}",
        f"  obs        {'×'.join(map(str, demos.obs_shape))}  {shorten(demos.obs_names)}".rstrip(),
        f"  action     {demos.action_size}  {shorten(demos.action_names)}",
        f"  bounds     {bounds(demos)}" + (f"; {outside} actions outside" if outside else ""),
        f"  operators  {shorten(demos.operators) or 'not recorded'}",
    ]
    known = [e.success for e in demos.episodes if e.success is not None]
    if known:
        lines.append(f"  success    {sum(known)} of {len(known)}")
    if demos.mean_return is not None:
        lines.append(f"  return     {demos.mean_return:.2f} on average")
    if demos.env:
        lines.append(f"  env        {demos.env}" + (f" at {demos.rate:g} Hz" if demos.rate else ""))
    return "\n".join(lines)


def bounds(demos: Demonstrations) -> str:
    """The action bounds in words."""
    if demos.action_low is None or demos.action_high is None:
        return "unknown (the 1–99 % range of the data will be used)"
    low, high = np.unique(demos.action_low), np.unique(demos.action_high)
    if len(low) == len(high) == 1:
        text = f"[{low[0]:g}, {high[0]:g}] in every dimension"
    else:
        pairs = zip(demos.action_low, demos.action_high, strict=True)
        text = " ".join(f"[{a:g}, {b:g}]" for a, b in pairs)
    return text + (", within the ball" if demos.action_set == "ball" else "")


def shorten(names: Sequence[str], most: int = 6) -> str:
    """The first few names, and how many there are in all."""
    return ", ".join(names[:most]) + (f", … {len(names)} in all" if len(names) > most else "")
