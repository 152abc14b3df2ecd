"""Every number a training depends on, with its one default; presets are values of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from counterbc.data.field_checks import check_fields, limited_field
from counterbc.data.lags import lag_items, lag_number
from counterbc.data.offsets import ALLOWED_OFFSETS, is_offsets, offsets_json
from counterbc.errors import OptionError, unknown
from counterbc.kernels.products import PRODUCTS
from counterbc.kernels.registry import KERNEL_NAMES
from counterbc.methods import METHODS, Method, find_method
from counterbc.policies import FOR_IMAGES, POLICIES, GaussianCNN, GaussianCNNGRU, Policy
from counterbc.policies.for_images import policy_for_images
from counterbc.supports import SUPPORTS, Demonstrated

PAPER_STEPS = 10_000
NO_LIMIT = 1 << 30
"""A batch size that no dataset reaches."""

_SHARE = "a number of at least 0 and below 1", lambda share: 0 <= share < 1
_COUNT = ("an integer of 1 or more", lambda count: count >= 1)
_COUNT_OR_AUTO = (f"{_COUNT[0]}, or auto", lambda count: count == "auto" or count >= 1)


def _not_negative(values: Any) -> bool:
    return bool(np.all(np.asarray(values) >= 0))


def _is_lag(lag: Any) -> bool:
    if isinstance(lag, str) and lag == "auto":
        return True
    return _not_negative([lag_number(x)[0] if isinstance(x, str) else x for x in lag_items(lag)])


@dataclass(frozen=True)
class Settings:
    """How to train; None means that the method or the policy decides."""

    radius: float | tuple[float, ...] | Literal["auto"] = limited_field(
        "auto",
        "a number of 0 or more, one for each action dimension, or auto",
        lambda radius: radius == "auto" or _not_negative(radius),
    )
    """Δ of eq. M2, in units in which each action dimension spans [-1, 1]: a number, or one per
    action dimension (0.4 0.4 0, or repeat the option), or auto, which chooses it by
    cross-validation on each dataset. For the policies flow and chunk, auto has no counterfactuals,
    so counter-bc is trained and named as bc."""
    shape: str | None = field(default=None, metadata={"choices": SUPPORTS})
    """The shape of C(s, a): actions uniform in a ball or box of radius Δ, or drawn from student-t
    or gaussian noise of scale Δ; by default the method's."""
    counterfactuals: int | None = limited_field(None, "an integer of 0 or more", _not_negative)
    """Number of actions drawn from C(s, a), in addition to the demonstrated one; by default the
    method's."""
    limited: bool = False
    """Limit counterfactuals to the feasible actions A, as the paper's text asks. Where the intended
    action lies at the edge of A, this pulls the policy inwards (measured in docs/benchmarks.md);
    without it, actions are still projected to A when acting."""
    resample: bool = False
    """Draw new counterfactuals in each epoch instead of once before training."""
    feasible: Literal["project", "keep"] = "keep"
    """Whether recorded actions outside A are kept or projected to A, for every method."""
    censored: bool | Literal["auto"] = "auto"
    """Whether an action on a bound stands for itself and all actions beyond it, for every method.
    auto: exactly where the data declare that their actions are those taken, cut at the bounds."""
    scale_actions: bool = True
    """Map each action dimension to [-1, 1] by its bounds."""
    scale_obs: bool = True
    """Standardize each observation dimension."""
    hidden: tuple[int, ...] | None = limited_field(None, "one integer for each layer")
    """Number of units of each hidden layer (64 64, or repeat the option); by default the
    policy's."""
    policy: str | None = field(default=None, metadata={"choices": POLICIES})
    """The policy to train, instead of the method's. A policy with a CNN is chosen automatically if
    observations are images."""
    modes: int | None = limited_field(None, *_COUNT)
    """Number of Gaussians of the policies mixture and chunk; by default the policy's."""
    history: int | None = limited_field(None, *_COUNT)
    """Number of observations that the policy reads; by default the policy's."""
    horizon: int | None = limited_field(None, *_COUNT)
    """Number of actions that the policy predicts at once: a chunk. By default the policy's."""
    execute: int | None = limited_field(None, *_COUNT)
    """Number of actions of a chunk that are executed before the policy predicts again; by default
    the policy's, or half of a given horizon."""
    average_chunks: bool = False
    """Predict a chunk at every step, and average what the last chunks say about that step."""
    temperature: float | None = limited_field(None, "a number of 0 or more", _not_negative)
    """Scale of the initial noise when a flow acts; 0 is deterministic. By default the policy's."""
    ema_share: float | None = limited_field(None, *_SHARE)
    """Share of each step in a moving average of the weights, which acts in their place; 0 averages
    nothing. By default the policy's: 0.002 of flow and chunk. Native kernels train without it."""
    relative: str = "auto"
    """The part of the observation that actions are relative to: the name of an observation key, or
    names separated by commas, one for each action dimension, - for an absolute one. auto: what the
    data declare; none: nothing."""
    angles: str = "auto"
    """The observed angles that are read as cosine and sine: names separated by commas. auto: what
    the data declare, and those that wrap, which only flow and chunk detect; none: nothing."""
    steps: int | Literal["auto"] = limited_field("auto", *_COUNT_OR_AUTO)
    """Number of gradient steps, or auto, which chooses it by cross-validation on each dataset. The
    paper's is 10,000: 1000 epochs of 10. The policies flow and chunk fix it."""
    lag: float | tuple[float | str, ...] | str = limited_field(
        "auto",
        "a number of steps of 0 or more, one per operator, seconds such as 0.2s, or auto",
        _is_lag,
    )
    """How late the demonstrators react, in steps, or in seconds as in 0.2s: one for all, or one per
    operator, as in ann=0.2s bob=0.1s (or repeat the option). Each state is learned with the action
    shown that much later. auto chooses it by cross-validation on each dataset."""
    offsets: str = limited_field("auto", ALLOWED_OFFSETS, is_offsets)
    """What is removed from the actions of operators who always err to one side. auto finds it on
    each dataset, relative to the other operators; none removes nothing. Or the offset of each
    operator as JSON, such as {"operator_3": [0.12, 0]}, in units of the action."""
    ensemble: int | Literal["auto"] = limited_field("auto", *_COUNT_OR_AUTO)
    """Networks that learn from the same pairs and act by their average. auto chooses 1 or 4 with
    the number of steps, and 1 where that is given."""
    batch: int | None = limited_field(None, *_COUNT)
    """Pairs per gradient step; by default a tenth of the pairs, but at most `largest_batch`."""
    largest_batch: int = limited_field(256, *_COUNT, words={NO_LIMIT: "no limit"})
    """The most pairs per gradient step where `batch` is not given."""
    learning_rate: float | None = limited_field(None, "a number above 0", lambda rate: rate > 0)
    """The learning rate of Adam; by default the policy's."""
    held_out: float = limited_field(0.0, *_SHARE)
    """Share of the episodes held out of training, for a curve of their action error."""
    memory: float = limited_field(1.0, "a number of 0 or more", _not_negative)
    """GiB of counterfactuals that are kept in memory; more than that are computed in each step."""
    kernel: str = field(default="auto", metadata={"choices": KERNEL_NAMES})
    """What computes the training steps. torch is the definition; auto takes the fastest kernel that
    fits, and the run's configuration names it."""
    products: str = field(default="float32", metadata={"choices": PRODUCTS})
    """How the kernel torch multiplies matrices on a GPU. tf32 rounds their numbers to 10 bits and
    adds up in float32: 1.3 to 2.1 times as fast for layers of 512 units and more, but a member may
    differ from the same member trained alone. Native kernels always compute in float32."""

    def __post_init__(self) -> None:
        lag: Any = self.lag
        if isinstance(lag, Mapping):
            object.__setattr__(self, "lag", tuple(f"{name}={value}" for name, value in lag.items()))
        offsets: Any = self.offsets
        if isinstance(offsets, Mapping):
            object.__setattr__(self, "offsets", offsets_json(offsets))
        check_fields(self)

    def apply(
        self,
        method: Method,
        obs_shape: tuple[int, ...] = (),
        pairs: int | None = None,
        *,
        image: tuple[int, ...] = (),
    ) -> Method:
        """Return the method with the shape, counterfactuals and layers of these settings.

        Networks read images if observations are images of `obs_shape`, or if cameras with images
        of the sizes `image` are read beside vectors. The layers of some policies depend on the
        number of pairs, where it is given.
        """
        if len(obs_shape) == 3:
            image = image or obs_shape
        vector = len(obs_shape) == 1
        support = method.support
        if not isinstance(support, Demonstrated):
            if self.shape is not None and type(support) in SUPPORTS.values():
                support = SUPPORTS[self.shape](count=support.count)  # a metric stays what it is
            if self.counterfactuals is not None:
                support = replace(support, count=self.counterfactuals)
        if isinstance(self.ensemble, int) and self.ensemble > 1:
            method = _ensemble(method, self.ensemble)
        policy, weighting = self._family(method.policy), method.weighting
        if image:
            policy = policy_for_images(policy, image, vector, self.policy)
        policy = self._chunks(policy)
        if self.hidden is not None:
            policy = replace(policy, hidden=self.hidden)
            weighting = weighting.with_hidden(self.hidden)
        else:
            policy = policy.sized(pairs)
        if image:
            if not weighting.reads_images:
                raise _reads_vectors(method)
            weighting = weighting.for_images(image, policy.history, policy.hidden, vector)
        if not (policy.has_density or weighting.takes_errors()):
            raise _needs_density(method, policy)
        return replace(method, support=support, policy=policy, weighting=weighting)

    def _chunks(self, policy: Policy) -> Policy:
        """Return the policy with the history, chunks, average and temperature of these settings."""
        changes: dict[str, Any] = {}
        if self.horizon is not None:
            changes |= {"horizon": self.horizon, "execute": (self.horizon + 1) // 2}
        for name in ("history", "ema_share"):
            if getattr(self, name) is not None:
                changes[name] = getattr(self, name)
        if self.average_chunks:
            changes["average_chunks"] = True
        policy = replace(policy, **changes)
        return policy.acting_with(execute=self.execute, temperature=self.temperature)

    def _family(self, policy: Policy) -> Policy:
        """Return the policy of these settings, with the history of the method's.

        It has its own layers, unless the method's policy has other layers than its class. The
        Gaussian CNNs always take those of the method, as in earlier versions.
        """
        if self.policy is not None and type(policy) is not POLICIES[self.policy]:
            kind = POLICIES[self.policy]
            plain, is_gaussian_cnn = kind(), kind in (GaussianCNN, GaussianCNNGRU)
            is_custom = policy.hidden != type(policy).hidden
            hidden = policy.hidden if is_custom or is_gaussian_cnn else ()
            policy = kind(hidden=hidden or plain.hidden, history=max(policy.history, plain.history))
        return policy if self.modes is None else policy.with_modes(self.modes)

    @property
    def step_count(self) -> int:
        """Return the number of gradient steps; the paper's where none was chosen."""
        return PAPER_STEPS if isinstance(self.steps, str) else self.steps

    def batch_size(self, pairs: int) -> int:
        """Return the pairs per step of a network that learns from `pairs` pairs."""
        return min(self.batch or min(max(pairs // 10, 1), self.largest_batch), pairs)

    def rate(self, policy: Policy) -> float:
        """Return the learning rate of Adam."""
        return policy.learning_rate if self.learning_rate is None else self.learning_rate

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _ensemble(method: Method, count: int) -> Method:
    """Return the method with several networks that learn from the same pairs."""
    if method.shards > 1:
        raise OptionError(
            f"ensemble is {count}, but this method averages {method.shards} networks already; "
            "leave ensemble out"
        )
    return replace(method, shards=count, disjoint=False)


def _needs_density(method: Method, policy: Policy) -> OptionError:
    """Return the error of a method that needs a likelihood, which the policy does not have."""
    return OptionError(
        f"{_method_name(method)} needs the likelihood of an action, which a "
        f"{type(policy).__name__} does not have; choose the policy chunk, or the method counter-bc"
    )


def _reads_vectors(method: Method) -> OptionError:
    """Return the error of a method whose weighting cannot read images."""
    images = {key: m for key, m in METHODS.items() if type(m.policy) in FOR_IMAGES}
    choices = [key for key, m in images.items() if m.weighting.reads_images]
    return OptionError(
        f"{_method_name(method)} reads states that are vectors, but the observations are or have "
        f"images; choose {' or '.join(choices)}"
    )


def _method_name(method: Method) -> str:
    name, _ = find_method(method)
    return name if name in METHODS else type(method.weighting).__name__


_FIXED: dict[str, Any] = {
    "steps": PAPER_STEPS, "lag": 0.0, "offsets": "none", "ensemble": 1, "censored": False
}  # fmt: skip
PRESETS: dict[str, Settings] = {
    "default": Settings(),
    # The paper's text: actions normalized, Δ 0.4, C(s, a) ⊆ A; it does not speak of observations.
    "paper": Settings(radius=0.4, limited=True, scale_obs=False, largest_batch=NO_LIMIT, **_FIXED),
    # Their released code: everything raw, a box of Δ 0.5, counterfactuals anywhere.
    "authors": Settings(
        radius=0.5,
        shape="box",
        scale_actions=False,
        scale_obs=False,
        largest_batch=NO_LIMIT,
        **_FIXED,
    ),
}


def settings_for(preset: str, **changes: Any) -> Settings:
    """Return a preset with some of its numbers changed."""
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    names = [f.name for f in fields(Settings)]
    for name in changes:
        if name not in names:
            raise unknown("setting", name, names)
    return replace(PRESETS[preset], **changes)
