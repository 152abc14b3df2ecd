"""What the paper claims in its figures 2 and 3, its sections 5 and 6 and its appendix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

from counterbc.experiments.plots import LABELS
from reproduction.anova import ALPHA
from reproduction.improvement import TEACHERS
from reproduction.numbers import Numbers
from reproduction.verdicts import (
    Finding,
    beats,
    differs,
    improves,
    larger_helps,
    ordered,
    simpler,
    too_large_hurts,
    waiting,
    zero_is_bc,
)
from reproduction.verdicts_along import alike, grows, leads, lost, more_helps, occasionally

ALONE = {"crowd": "the crowd in place of people", "uniform": "uniform", "gaussian": "Gaussian"}
"""The teachers with whom, one by one, Counter-BC is said to lead."""
CHANCE = "as σ nears 1 all methods approach chance"
LEAD = "all teachers together, Counter-BC is above each baseline (p < .01)"
PEOPLE = "with people's demonstrations, Counter-BC is above each baseline"
LARGER = "crowd: a larger Δ improves on BC"
CAN = "figure4 --env can --data low_dim_v141.hdf5"
NOT_RUN = (
    ("5.1", "car-racing", "figure4", LEAD, "figure4 --env car-racing --paper-size"),
    ("5.1", "can", "figure4", PEOPLE, CAN),
    ("5.3", "car-racing", "figure5", CHANCE, "figure5 --env car-racing --paper-size"),
    ("5.4", "car-racing", "figure6", LARGER, "figure6 --env car-racing --paper-size"),
    ("6", "air-hockey", "figure7", "Counter-BC hits more often, in less time", "figure7"),
)
"""Section, world, figure, claim and command."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, in one world."""

    section: str
    where: str
    paper: str
    judge: Callable[[Numbers, str], Finding]


def claims(numbers: Numbers) -> Iterator[Claim]:
    """In the paper's order, for the worlds of which there are numbers."""
    if "figure2" in numbers.said:
        text = "the loss is largest when confident outside C(s, a), least when confident inside"
        yield Claim("Fig. 2", "a toy", text, ordered)
    if "figure3" in numbers.said:
        tell: Callable[..., Claim] = partial(Claim, "Fig. 3", "a toy")
        judge = partial(simpler, measure="variation_of_mean", sign=-1)
        yield tell("a larger Δ gives a simpler function (total variation)", judge)
        judge = partial(simpler, measure="to_examples", sign=1)
        yield tell("… which departs from the examples (RMS distance)", judge)
    yield from _figure4(numbers)
    for world in numbers.worlds("figure5"):
        tell = partial(Claim, "5.3", world)
        yield tell("without noise all methods are roughly equal", partial(alike, world=world))
        yield tell("Counter-BC's lead grows with σ", partial(grows, world=world))
        chosen = {"world": world, "teacher": "uniform"}
        judge = partial(beats, figure="figure5", chosen=chosen, level=0.01)
        yield tell("over all σ, Counter-BC is above each baseline (p < .01)", judge)
        if world == "car-racing":
            yield tell(CHANCE, partial(lost, world=world))
    for world in numbers.worlds("figure6"):
        for teacher in numbers.cells("figure6", "sample", world=world)["teacher"].unique():
            tell = partial(Claim, "5.4", world)
            here = {"world": world, "teacher": teacher}
            yield tell(f"{teacher}: at Δ 0 Counter-BC is BC", partial(zero_is_bc, **here))
            yield tell(f"{teacher}: a larger Δ improves on BC", partial(larger_helps, **here))
            judge = partial(too_large_hurts, **here)
            yield tell(f"{teacher}: too large a Δ falls below BC", judge)
    yield from _figure7(numbers)
    yield from _table1(numbers)
    yield from _not_run(numbers)


def _not_run(numbers: Numbers) -> Iterator[Claim]:
    """What the paper claims of worlds and figures without numbers."""
    for section, where, figure, text, command in NOT_RUN:
        hockey = figure == "figure7" and figure in numbers.said  # which has no cells
        if not hockey and where not in numbers.worlds(figure):
            yield Claim(section, where, text, partial(waiting, command=command))


def _figure4(numbers: Numbers) -> Iterator[Claim]:
    for world in numbers.worlds("figure4"):
        shown = numbers.cells("figure4", "sample", world=world)["teacher"].unique()
        for teacher, (text, level) in _leads(shown).items():
            chosen = {"world": world, "teacher": teacher}
            judge = partial(beats, figure="figure4", chosen=chosen, level=level)
            yield Claim("5.1", world, text, judge)
        if "epsilon-greedy" in shown:
            text = "under ε-greedy BCND occasionally wins"
            yield Claim("5.1", world, text, partial(occasionally, world=world))
        yield Claim("5.2", world, "more pairs help every method", partial(more_helps, world=world))
        yield Claim("5.2", world, "Counter-BC leads at every size", partial(leads, world=world))


def _leads(shown: Collection[str]) -> dict[str, tuple[str, float]]:
    """Claim and level by teacher; a teacher of the paper's who is alone stands for all of them."""
    pooled = [teacher for teacher in TEACHERS if teacher in shown]
    if pooled == ["people"]:
        return {"people": (PEOPLE, ALPHA)}
    if len(pooled) == 1:
        return {pooled[0]: (LEAD, 0.01)}
    alone = {t: (f"so it is with {name}", ALPHA) for t, name in ALONE.items() if t in shown}
    return {"all": (LEAD, 0.01), **alone} if pooled else {}


def _figure7(numbers: Numbers) -> Iterator[Claim]:
    if "figure7" not in numbers.said:
        return
    paper = {
        "hits": "F(2.74, 134.24) = 39.8, p < .001",
        "distance_per_hit": "F(2.42, 118.78) = 12.6, p < .001",
        "time_per_hit": "F(1.89, 92.48) = 8.3, p < .001",
    }
    tell: Callable[..., Claim] = partial(Claim, "6", "air-hockey")
    for measure, text in paper.items():
        name = measure.replace("_", " ")
        yield tell(f"methods differ in {name}: {text}", partial(differs, measure=measure))
    for measure, better, level, text, others in (
        ("hits", 1, 0.001, "more hits than each baseline (p < .001)", ()),
        ("time_per_hit", -1, 0.05, "less time per hit than each baseline (p < .05)", ()),
        ("distance_per_hit", -1, 0.01, "less distance per hit than BC and BCND (p < .01)",
         ("bc", "bcnd")),
    ):  # fmt: skip
        judge = partial(
            beats, figure="figure7", chosen={"measure": measure}, better=better, others=others,
            level=level, by_runs=False,  # the paper states its 50 subjects
        )  # fmt: skip
        yield tell(f"Counter-BC needs {text}" if better < 0 else f"Counter-BC has {text}", judge)


def _table1(numbers: Numbers) -> Iterator[Claim]:
    every = numbers.said.get("table1", {}).get("improvements", [])
    known = [r for r in every if r["act"] == "sample" and r["paper"] is not None]
    for row in known:
        text = f"{row['paper']:.0f} % over {LABELS[row['baseline']]}"
        judge = partial(improves, world=row["world"], baseline=row["baseline"])
        yield Claim("Table 1", row["world"], text, judge)
