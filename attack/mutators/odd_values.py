"""Texts, numbers and shapes that readers tend to forget."""

from __future__ import annotations

import random

TEXTS = (
    "", "a" * 3000, "\x1b[31mred\x1b[0m", "<script>alert(1)</script>", "../../../etc/passwd",
    "/etc/passwd", "nul\x00byte", "é漢字🤖", "\ud800", "line\nbreak", "1" * 5000, "-1", "nan",
    "demo_0", "data", ".", "..", "a/b", "%s%n", "{0.__class__}", "{episode_index:0999999999d}",
    "٣", "²", "[red]name[/red]", "[/s]",
)  # fmt: skip
NUMBERS: tuple[float, ...] = (
    0, 1, -1, 2, 7, 2**31, 2**32 + 1, 2**63 - 1, 2**63, 2**64, 10**30, -(2**63), 0.5, -0.0,
    1e-320, 1e30, 1e39, 1e308, float("nan"), float("inf"), float("-inf"), 255, 65536,
)  # fmt: skip


def plain_text(rng: random.Random) -> str:
    """Return an odd text that HDF5 and numpy can store."""
    return rng.choice([text for text in TEXTS if "\0" not in text and "\ud800" not in text])


def shape(rng: random.Random, old_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape near another one."""
    sizes = list(old_shape) or [3]
    kind = rng.choice(
        ["more", "less", "zero", "wide", "scalar", "flat", "extra", "swap", "one", "width0"]
    )
    if kind == "more":
        sizes[0] += rng.randint(1, 3)
    elif kind == "less":
        sizes[0] = max(0, sizes[0] - 1)
    elif kind == "zero":
        sizes[0] = 0
    elif kind == "wide":
        sizes[-1] = rng.choice([1, 2, 9, 1000])
    elif kind == "scalar":
        return ()
    elif kind == "flat":
        return (sizes[0],)
    elif kind == "extra":
        sizes.insert(rng.randint(0, len(sizes)), rng.choice([1, 2]))
    elif kind == "swap":
        sizes.reverse()
    elif kind == "one":
        return (1,) * len(sizes)
    else:
        sizes[-1] = 0
    return tuple(sizes)
