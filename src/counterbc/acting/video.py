"""Videos of a policy."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.act import Act
from counterbc.acting.actor import Acting, Actor
from counterbc.acting.fit import Spaces, simulator_options
from counterbc.acting.policies import Policies
from counterbc.acting.rollout import start_seeds
from counterbc.envs import make
from counterbc.errors import CounterBCError, MissingExtra
from counterbc.files import aside, check_free, check_suffix, reason


def check_video(path: Path) -> None:
    """Refuse a video that could not be written, before any work is done."""
    check_free(path)
    check_suffix(path, (".gif", ".mp4"), "video")
    if path.suffix == ".mp4" and find_spec("imageio") is None:
        raise MissingExtra("imageio", "video", "writing .mp4")


def film(
    policies: Policies,
    env: str,
    path: Path,
    act: Act = "mean",
    seed: int = 0,
    episodes: int | None = None,
) -> None:
    """Write a video of the first member from the first starts of `evaluate`.

    The file is a .gif, or an .mp4 with the extra `video`. By default it has three episodes, or one
    if the policy reads images, since those are long.
    """
    check_video(path)
    options = simulator_options(Spaces.of_policies(policies), env, {})
    try:
        world = make(env, render_mode="rgb_array", **options)
    except TypeError as error:  # of the environment's own __init__
        raise CounterBCError(
            f"{env} cannot be filmed ({error}); its __init__ must take render_mode"
        ) from error
    policy = policies[0]
    episodes = episodes or (1 if policy.policy.images else 3)
    frames: list[Any] = []
    for number, start in enumerate(start_seeds(policy, list(range(episodes)), seed)):
        actor = Actor(Acting(policy, [number], act, seed))
        obs, _ = world.reset(seed=start)
        over = False
        while not over:
            frames.append(_frame(world, env))
            obs, _, terminated, truncated, _ = world.step(actor.act(obs))
            over = terminated or truncated
        frames.append(_frame(world, env))
    rate = int(world.metadata.get("render_fps", 20))
    world.close()
    with aside(path) as temporary:
        _write(frames, temporary, rate)


def _frame(world: Any, env: str) -> Any:
    """Return a picture of an environment, or say why there is none."""
    try:
        frame = world.render()
    except Exception as error:  # of somebody else's environment
        frame, why = None, f" ({type(error).__name__} {reason(error)})"
    else:
        why = ""
    if not isinstance(frame, np.ndarray):
        raise CounterBCError(
            f"{env} cannot be filmed{why}; its __init__ must take render_mode, and with "
            "'rgb_array' its render() must return an image; leave --video out otherwise"
        )
    return frame


def _write(frames: list[Any], path: Path, rate: int) -> None:
    if path.suffix == ".gif":
        from PIL import Image

        first, *rest = [Image.fromarray(f) for f in frames]
        first.save(path, save_all=True, append_images=rest, duration=1000 // rate, loop=0)
        return
    import imageio.v3 as imageio

    try:
        imageio.imwrite(path, np.stack(frames), fps=rate, codec="libx264")
        count = sum(1 for _ in imageio.imiter(path))
    except Exception as error:  # of the video library, such as on a full disk
        raise OSError(reason(error)) from error
    if count != len(frames):
        raise OSError(f"{count} of {len(frames)} frames were written")
