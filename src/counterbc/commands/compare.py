"""counterbc compare"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from counterbc.commands.command import Json, TrainingCommand, plain_table, suggestion
from counterbc.commands.data_command import DATA_OPTIONS, DataCommand, Demos
from counterbc.commands.method_command import SETTINGS, refuse_nonsense, refuse_radius
from counterbc.commands.options import Group
from counterbc.printing import sentence

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.experiments.method_returns import MethodReturns
    from counterbc.selection.method_comparison import Comparison

_DEFAULT = "Until the data tell methods apart, plain BC is the default."


@dataclass(frozen=True, kw_only=True)
class Compare(DataCommand, TrainingCommand):
    """Find which method to use: compare methods that were tuned alike with plain BC.

    They predict held-out actions, and act in the environment that the data or --env name."""

    quicker: ClassVar[str] = "fewer --methods, smaller --pairs, or --step-counts 200 800"
    """What would take less time."""
    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    methods: tuple[str, ...] = ()
    """The methods, several after one another; by default bc, counter-bc, posterior and
    epsilon-insensitive. Plain BC is always among them."""
    env: str | None = None
    """The environment in which returns are measured as well: one of these, any gymnasium id, or
    none for no environment; by default that of the demonstrations."""
    seeds: int = 5
    """Policies of each method in that environment."""
    episodes: int = 20
    """Episodes of each policy in that environment."""
    preset: str = "default"
    """The settings to start from."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.envs import WORLDS
        from counterbc.methods import METHODS
        from counterbc.settings import PRESETS

        choices = {"methods": METHODS, "env": (*WORLDS, "ID", "none"), "preset": PRESETS}
        return {**super().option_choices(), **choices}

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.selection.tuning import TuneSearch
        from counterbc.settings import PRESETS, Settings

        without = ("held_out", "ensemble")
        settings = Group(kind=Settings, presets=PRESETS, without=without, text=SETTINGS)
        return {"search": Group(kind=TuneSearch, without=("ensembles",)), "settings": settings}

    @property
    def declared_env(self) -> str | None:
        return None if self.env == "none" else self.env

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.device import find_device
        from counterbc.acting.evaluation import check_environment, check_episodes
        from counterbc.experiments.method_returns import check_seeds
        from counterbc.methods import find_method
        from counterbc.selection.method_comparison import USUAL, compare_methods
        from counterbc.selection.tuning import TuneSearch
        from counterbc.settings import settings_for
        from counterbc.training.session import current_session

        find_device(self.device)
        check_seeds(self.seeds)
        check_episodes(self.episodes)
        if self.env is not None and self.env != "none":
            check_environment(self.env)
        names = self.methods or USUAL
        settings = self.given_options("settings")
        search, checked = (
            TuneSearch(**self.given_options("search")),
            settings_for(self.preset, **settings),
        )
        refuse_radius(checked, search.radii)
        for name in names:
            checked.apply(find_method(name)[1])
            refuse_nonsense(checked, find_method(name)[1])
        demos, session = self.read(self.demos), current_session()
        env, problem = self._environment(demos)
        session.begin(f"training and testing for {env}" if env else "")
        comparison = compare_methods(
            demos, names, search=search, preset=self.preset,
            device=self.device, **settings,
        )  # fmt: skip
        session.begin("")
        returns = None
        if env:
            returns, problem = self._returns(demos, comparison, env, settings)
        verdicts = [comparison.verdict]
        if returns is not None:  # only one sentence says what to use
            verdicts = [comparison.finding, returns.verdict]
        payload: Json = {**asdict(comparison), "verdicts": verdicts}
        shares = comparison.shares
        payload["shares"] = None if shares is None else shares.as_dict()
        payload["returns"] = None if returns is None else _returns_json(returns)
        payload["returns_not_measured"] = problem
        output: list[RenderableType] = [_errors_table(comparison), f"({_protocol(comparison)})"]
        if returns is not None:
            output += ["", _returns_table(returns, self.seeds, self.episodes)]
        elif problem:
            output += ["", f"Returns were not measured: {problem}."]
        output += ["", *(f"{verdict}." for verdict in verdicts)]
        options = [name for name in DATA_OPTIONS if (name, self.env) != ("env", "none")]
        if returns is None and not comparison.tells:
            look = suggestion("inspect", *self.demos, *self.as_typed(*options))
            output += ["", f"To look at what is explained: {look}", _DEFAULT]
        payload["next"] = [self._train_command(comparison, returns, options)]
        return payload, output

    def _environment(self, demos: Demonstrations) -> tuple[str, str]:
        """Return the environment in which to measure returns, or why that is not possible; both
        are empty where nobody asked.

        One that was typed and has other observations or actions than the data is refused; one that
        the data name costs the returns only; a note before the work explains it.
        """
        from counterbc.acting.fit import Spaces, reason_not_tested
        from counterbc.errors import OptionError

        env = self.env or demos.env
        if env is None or env == "none":
            return "", ""
        problem = reason_not_tested(env, Spaces.of_data(demos), is_typed=self.env is not None)
        if not problem:
            return env, ""
        if self.env is not None:
            raise OptionError(f"{problem}; --env none compares held-out actions alone")
        print(sentence(f"Returns will not be measured: {problem}."), file=sys.stderr)
        return "", problem

    def _train_command(
        self, comparison: Comparison, returns: MethodReturns | None, options: Sequence[str]
    ) -> str:
        """Return the command that trains what returns or errors recommend."""
        best = comparison.recommended if returns is None else returns.recommended
        typed = self.as_typed(*options, "preset", "settings", "device")
        return suggestion("train", *self.demos, "--method", best, *typed)

    def _returns(
        self, demos: Demonstrations, comparison: Comparison, env: str, settings: dict[str, Any]
    ) -> tuple[MethodReturns | None, str]:
        """Return what policies earn, or why that was not measured."""
        from counterbc.errors import CounterBCError
        from counterbc.experiments.method_returns import measure_returns

        try:
            returns = measure_returns(
                demos, comparison, env, seeds=self.seeds, episodes=self.episodes,
                preset=self.preset, device=self.device, **settings,
            )  # fmt: skip
        except CounterBCError as error:  # the comparison is finished, and must not be lost
            return None, str(error)
        return returns, ""

    def status(self, payload: Json) -> int:
        """Return 1 if returns were asked for and could not be measured."""
        return int(self.env not in (None, "none") and payload["returns"] is None)


def _protocol(comparison: Comparison) -> str:
    count = comparison.networks
    networks = f"averages of {count} networks" if count > 1 else "single networks"
    return f"{comparison.protocol}; {networks}; Δ and steps chosen on the other folds"


def _errors_table(comparison: Comparison) -> RenderableType:
    rows = []
    for method in comparison.methods:
        error = f"{method.error.value:.4f} ± {method.error.se:.4f}"
        is_bc = method is comparison.methods[0]
        below = ("", "") if is_bc else (comparison.percent(method), f"{method.p:.2g}")
        radius = _rounded(method.radius)
        rows.append((method.name, error, *below, f"Δ {radius}, {method.steps} steps"))
    columns = ("method", "held-out squared error", "below BC's", "p (Holm)", "chosen")
    return plain_table(columns, rows)


def _rounded(radius: float | tuple[float, ...]) -> str:
    """Return a radius to three significant digits."""
    from counterbc.acting.member import radius_text
    from counterbc.selection.tuning import as_tuple

    return radius_text(tuple(float(f"{r:.3g}") for r in as_tuple(radius)))


def _returns_table(returns: MethodReturns, seeds: int, episodes: int) -> RenderableType:
    rows = []
    for i, result in enumerate(returns.evaluations):
        above = ("", "")
        if i:
            d = returns.differences[i - 1]
            above = (str(d.interval), f"{d.p:.2g}")
        rows.append((result.method, str(result.interval), *above))
    title = f"return in {returns.evaluations[0].env} [95 %]"
    about = f"{seeds} policies × {episodes} episodes"
    return plain_table((f"method, {about}", title, "above BC's", "p (Holm)"), rows)


def _returns_json(returns: MethodReturns) -> list[Json]:
    differences = [None, *(asdict(d) for d in returns.differences)]
    return [
        {"method": e.method, "env": e.env, "interval": asdict(e.interval), "above_bc": d}
        for e, d in zip(returns.evaluations, differences, strict=True)
    ]
