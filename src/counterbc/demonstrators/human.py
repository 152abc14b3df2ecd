"""A model of a human demonstrator: all errors, in the order in which they happen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from counterbc.data import draws
from counterbc.demonstrators.demonstrator import EpisodeBatch
from counterbc.demonstrators.devices import Joystick, Keyboard, WrongButtons
from counterbc.demonstrators.fatigue import Fatigue
from counterbc.demonstrators.motor import Bias, MotorNoise, Overshoot
from counterbc.demonstrators.teacher import Chain, Distortion, Teacher
from counterbc.demonstrators.timing import Delay, Lapses


@dataclass(frozen=True)
class Human(Teacher):
    """A person with these traits; a model, not fitted to any human.

    They react late, move too far, are biased and unsteady, the more so the longer it takes; a
    device passes their movement on; they hit wrong buttons and lose attention.
    """

    name: str
    delay: float
    """Seconds from seeing to acting."""
    overshoot: float
    """Excess per change of action."""
    gain: float
    """Unsteadiness per unit of action."""
    floor: float
    """Unsteadiness at rest."""
    memory: float
    """Correlation of the unsteadiness of neighbouring steps."""
    tiring: float
    """Growth of the unsteadiness within an episode, and the same again over 50 episodes."""
    device: Keyboard | Joystick
    wrong: float
    """Probability of a wrong button in a step; half are swaps, half are flips."""
    lapses: float
    """Probability per step of a lapse of attention, for 1 to 3 steps."""
    bias: float = 0.0
    """Largest bias in each dimension."""
    seed: int = 0
    """Seed of the traits that are drawn once for the person."""
    delay_steps: float = 0.0
    """Further delay in steps, which last less long in a world with a higher rate."""

    @property
    def chain(self) -> Chain:
        """Return the same teacher as a chain of simple ones."""
        unsteady = MotorNoise(self.gain, self.floor, self.memory)
        return Chain(
            (
                Delay(self.delay, self.delay_steps),
                Overshoot(self.overshoot),
                Bias(self.bias, self.seed),
                Fatigue(unsteady, during=self.tiring, after=self.tiring),
                self.device,
                WrongButtons(swap=self.wrong / 2, flip=self.wrong / 2),
                Lapses(self.lapses),
            )
        )

    def __post_init__(self) -> None:
        _ = self.chain  # its steps check their parameters

    def begin(self, batch: EpisodeBatch) -> Distortion:
        return self.chain.begin(batch)

    def someone_like(self, seed: int, name: str) -> Human:
        """Return another person of about this skill, with traits drawn from the seed.

        The delay is 0.85 to 1.15 of this person's; overshoot, unsteadiness and a delay in steps
        are 0.6 to 1.4 of theirs; the bias is up to 0.15 in each dimension; one in three has a
        keyboard, the others a joystick.
        """
        u = draws.uniform(torch.tensor(seed), "traits", torch.tensor(0), 4).tolist()
        late, far, unsteady = (0.6 + 0.8 * v for v in u[:3])
        return replace(
            self,
            name=name,
            delay=self.delay * (0.85 + 0.3 * u[0]),
            delay_steps=self.delay_steps * late,
            overshoot=self.overshoot * far,
            gain=self.gain * unsteady,
            floor=self.floor * unsteady,
            device=Keyboard() if u[3] < 1 / 3 else Joystick(),
            bias=0.15,
            seed=seed,
        )

    def __str__(self) -> str:
        return self.name
