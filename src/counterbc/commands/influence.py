"""counterbc influence"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from tyro.conf import UseAppendAction

from counterbc.commands.command import Json, TrainingCommand, plain_table, suggestion
from counterbc.commands.data_command import DATA_OPTIONS, DataCommand, Demos, check_numbered
from counterbc.commands.method_command import refuse_nonsense
from counterbc.commands.options import Group

if TYPE_CHECKING:
    from counterbc.diagnosis.influence_effects import Influence


@dataclass(frozen=True, kw_only=True)
class InfluenceCommand(DataCommand, TrainingCommand):
    """Find which episodes help, by training many policies on random halves of the data.

    The exit status is 0, or 1 if policies explain too little of the actions."""

    quicker: ClassVar[str] = "smaller --splits and --steps"
    """What would take less time."""
    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    env: str | None = None
    """The environment in which policies are judged by their return; by default they are judged by
    their error on episodes that they did not learn from."""
    episodes: int = 10
    """Episodes of each policy in that environment."""
    judge: UseAppendAction[tuple[str, ...]] = ()
    """An operator you trust, whose episodes alone measure the error; repeat it for several."""
    method: str = "bc"
    """The method that the policies learn by."""
    splits: int | None = None
    """Number of random splits, of two policies each; by default twice as many as episodes, and 100
    at least."""
    seed: int = 0
    """The seed of the splits, the policies and the starts."""
    show: int = 20
    """Number of episodes to print; --json has all of them."""
    episode_list: Path | None = None
    """Write the numbers of the episodes that do not clearly hurt to this JSON file, for
    lerobot-train --dataset.episodes="$(cat FILE)"."""
    force: bool = False
    """Print the episodes even if policies explain too little of the actions."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.envs import WORLDS
        from counterbc.methods import METHODS

        return {**super().option_choices(), "method": METHODS, "env": WORLDS}

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.diagnosis.influence import FIXED
        from counterbc.settings import Settings

        group = Group(
            kind=Settings,
            only=("steps", "radius", "learning_rate", "kernel"),
            presets={"default": Settings(**FIXED)},
            text="How the policies are trained.",
        )
        return {"settings": group}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.device import find_device
        from counterbc.diagnosis.influence import influence
        from counterbc.formats.lerobot.episode_list import write_episodes
        from counterbc.methods import find_method
        from counterbc.settings import Settings

        find_device(self.device)
        check_numbered("episode-list", self.episode_list, self.demos, self.choice, ".json")
        _, method = find_method(self.method)
        settings = self.given_options("settings")
        refuse_nonsense(Settings(**settings), method)
        result = influence(
            self.read(self.demos), self.method, env=self.env, episodes=self.episodes,
            judges=self.judge, splits=self.splits, seed=self.seed, device=self.device, **settings,
        )  # fmt: skip
        if not (result.can_tell or self.force):
            payload = _facts(result) | {"episodes": _names(result), "next": []}
            end = "; --force prints the episodes all the same"
            return payload, [_about(result), _too_little(result, end)]
        payload = _facts(result) | _effects(result) | {"next": [self._train_command(result)]}
        if self.episode_list is not None:
            write_episodes(self.episode_list, len(result), _harmful(result))
        warning = [] if result.can_tell else [_too_little(result), ""]
        tables = _tables(result, self.show)
        return payload, [_about(result), *warning, *tables, _advice(result, self)]

    def status(self, payload: Json) -> int:
        return 0 if payload["can_tell"] or self.force else 1

    def _train_command(self, result: Influence) -> str:
        """Return the command that trains without the episodes that clearly hurt."""
        names = tuple(result.names[i] for i, hurts in enumerate(result.harmful) if hurts)
        changes = {"exclude": (*self.exclude, *names)} if names else {}
        typed = self.as_typed(*DATA_OPTIONS, "device", changes=changes)
        return suggestion("train", *self.demos, "--method", self.method, *typed)


def _facts(result: Influence) -> Json:
    explained = result.explained
    return {
        "measure": result.measure,
        "mean": result.mean,
        "env": result.env,
        "splits": result.splits,
        "steps": result.steps,
        "can_tell": result.can_tell,
        "explained": None if explained is None else asdict(explained),
    }


def _names(result: Influence) -> list[Json]:
    """Return the episodes without effects, for data that cannot tell."""
    pairs = zip(result.names, result.operators, strict=True)
    return [{"index": i, "name": n, "operator": o} for i, (n, o) in enumerate(pairs)]


def _effects(result: Influence) -> Json:
    """Return what each episode adds, and whether episodes differ."""
    effects = [
        {"effect": float(effect), "low": float(low), "high": float(high), "harmful": bool(hurts)}
        for effect, (low, high), hurts in zip(
            result.effect, result.interval, result.harmful, strict=True
        )
    ]
    episodes = [a | b for a, b in zip(_names(result), effects, strict=True)]
    return {"differs_p": result.differs, "episodes": episodes}


def _about(result: Influence) -> str:
    policies = (
        f"{2 * result.splits} policies of {result.steps:,} steps, each trained on a random half"
    )
    if result.measure == "return":
        unit = (
            f"What learning from an episode adds to the return in {result.env} ({result.mean:.4g} "
        )
        unit += "on average)"
    else:
        unit = (
            "How much of the error on other episodes learning from an episode removes, in percent"
        )
    return f"{unit};\npositive helps. {policies}, with 95 % intervals.\n"


def _too_little(result: Influence, end: str = "") -> str:
    repeating = "\nmaybe by repeating the previous action," if result.may_only_repeat else ""
    return (
        f"Cannot tell: policies explain {result.explained} of the variance of actions they did\n"
        f"not learn,{repeating} so their errors say little about what an episode is worth. Judge\n"
        "by returns (--env), by operators you trust (--judge NAME), observe more (--obs), or\n"
        f"record more{end}."
    )


def _tables(result: Influence, show: int) -> list[RenderableType]:
    scale = 1.0 if result.measure == "return" else 100.0
    names = sorted({str(o) for o in result.operators if o is not None})
    output: list[RenderableType] = []
    if len(names) > 1:
        rows = []
        for name in names:
            effect, count = result.of_operator(name), result.operators.count(name)
            ends = (effect.value + k * result.quantile * effect.se for k in (-1, 1))
            rows.append((name, f"{count}", *_effect(scale, effect.value, *ends)))
        output += [plain_table(("operator", "episodes", "effect each", "95 %"), rows), ""]
    order = sorted(range(len(result)), key=lambda i: result.effect[i])[: max(show, 0)]
    lines = [
        (
            result.names[i], result.operators[i] or "",
            *_effect(scale, result.effect[i], *result.interval[i]),
            "hurts" if result.harmful[i] else "",
        )
        for i in order
    ]  # fmt: skip
    output.append(plain_table(("episode", "operator", "effect", "95 %", ""), lines))
    if len(order) < len(result):
        output.append(f"… {len(result) - len(order)} more episodes with --json")
    return output


def _effect(scale: float, value: float, low: float, high: float) -> tuple[str, str]:
    return f"{scale * value:+.2f}", f"[{scale * low:+.2f}, {scale * high:+.2f}]"


def _harmful(result: Influence) -> list[int]:
    """Return the numbers of the episodes that clearly hurt."""
    return [i for i, hurts in enumerate(result.harmful) if hurts]


def _advice(result: Influence, command: InfluenceCommand) -> str:
    from counterbc.formats.lerobot.episode_list import episodes_option

    harmful = _harmful(result)
    if not harmful:
        alike = "" if result.differs < 0.05 else " They do not differ clearly from each other."
        return f"\nNo episode clearly hurts: keep them all.{alike}"
    names = ", ".join(result.names[i] for i in harmful)
    lines = [f"\nClearly worse with than without (5 %, adjusted for all episodes): {names}"]
    if len(command.demos) == 1 and command.choice.is_all:  # otherwise the numbers are others
        lines.append(f"  LeRobot    {episodes_option(len(result), harmful)}")
    return "\n".join(lines)
