"""counterbc-to-lerobot: write a run of `counterbc train` as a checkpoint of LeRobot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from counterbc.errors import CounterBCError


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    parser = argparse.ArgumentParser("counterbc-to-lerobot", description=__doc__)
    parser.add_argument("run", type=Path, help="the folder that counterbc train wrote")
    parser.add_argument("out", type=Path, help="the checkpoint to write; it must not exist yet")
    parser.add_argument("--member", type=int, default=0, help="the policy, counted from 0")
    parser.add_argument("--act", choices=("mean", "sample"), default="mean")
    parser.add_argument(
        "--features", nargs="+", type=_feature, metavar="NAME:WIDTH",
        help="the LeRobot features that form the observation vector, in order",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    from .from_run import write_checkpoint

    features = dict(options.features) if options.features else None
    try:
        write_checkpoint(options.run, options.out, features, options.member, options.act)
    except (CounterBCError, IndexError) as error:
        print(f"counterbc-to-lerobot: {error}", file=sys.stderr)
        return 1
    print(f"Written to {options.out}. Evaluate it with: lerobot-eval --policy.path={options.out}")
    return 0


def _feature(text: str) -> tuple[str, int]:
    name, _, width = text.rpartition(":")
    if not name or not width.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME:WIDTH")
    return name, int(width)


if __name__ == "__main__":
    sys.exit(run())
