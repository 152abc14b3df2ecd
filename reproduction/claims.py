"""The claims of the paper: figures 2 and 3, sections 5 and 6, and the appendix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from counterbc.experiments.styles import method_style
from reproduction.anova import ALPHA
from reproduction.conventions import conventions_of
from reproduction.figure_numbers import FigureCell
from reproduction.numbers import Numbers, where, worlds
from reproduction.paper import PAPER_TEACHERS, STAND_IN
from reproduction.verdicts import (
    Finding,
    beats,
    differs,
    improves,
    larger_helps,
    loss_is_ordered,
    not_run,
    simpler,
    too_large_hurts,
    zero_is_bc,
)
from reproduction.verdicts_along import alike, grows, leads, more_helps, near_chance, occasionally

SINGLE_CLAIMS = {
    STAND_IN: "the same holds for the quick crowd in place of people",
    "uniform": "the same holds under uniform noise",
    "gaussian": "the same holds under Gaussian noise",
}
"""Teachers for each of whom the paper claims a lead of Counter-BC, and the claim."""
RADIUS_CLAIMS = {
    "at Δ 0 Counter-BC is BC": zero_is_bc,
    "a larger Δ improves on BC": larger_helps,
    "too large a Δ falls below BC": too_large_hurts,
}
"""What the paper claims for each teacher of figure 6, and the rule of each claim."""
TABLE1 = "Table 1"
CHANCE = "as σ nears 1 all methods approach chance"
LEAD = "all teachers together, Counter-BC is above each baseline (p < .01)"
PEOPLE = "with people's demonstrations, Counter-BC is above each baseline"
LARGER = f"{STAND_IN}: a larger Δ improves on BC"
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
    place: str
    paper: str
    rule: Callable[[Numbers, str], Finding]
    """Numbers and way of acting → what we find."""
    rows: str = ""
    """Which rows the claim is tested on, where they are not those of the figures."""
    differs: tuple[str, ...] = ()
    """Names of what differs from the paper's way of making these rows."""

    @property
    def is_as_in_paper(self) -> bool:
        """Return whether the rows were made as the paper's, so that they can refute the claim."""
        return not self.differs


def claims(numbers: Numbers) -> Iterator[Claim]:
    """Yield the claims in the paper's order, for the worlds that have numbers."""
    if numbers.figure2.loss:
        text = "the loss is largest when confident outside C(s, a), least when confident inside"
        yield Claim("Fig. 2", "a toy", text, loss_is_ordered)
    if numbers.figure3.by_radius:
        claim: Callable[..., Claim] = partial(Claim, "Fig. 3", "a toy")
        rule = partial(simpler, measure="variation_of_mean", sign=-1)
        yield claim("a larger Δ gives a simpler function (total variation)", rule)
        rule = partial(simpler, measure="to_examples", sign=1)
        yield claim("… which departs from the examples (RMS distance)", rule)
    yield from _figure4(numbers)
    for world in worlds(numbers.figure5.cells):
        claim = partial(Claim, "5.3", world, differs=conventions_of(world, ["uniform"]))
        yield claim("without noise all methods are roughly equal", partial(alike, world=world))
        yield claim("Counter-BC's lead grows with σ", partial(grows, world=world))
        selection = {"world": world, "teacher": "uniform"}
        rule = partial(beats, figure="figure5", chosen=selection, level=0.01)
        yield claim("over all σ, Counter-BC is above each baseline (p < .01)", rule)
        if world == "car-racing":
            yield claim(CHANCE, partial(near_chance, world=world))
    for world in worlds(numbers.figure6.cells):
        for teacher in _teachers(numbers.figure6.cells, world):
            claim = partial(Claim, "5.4", world, differs=conventions_of(world, [teacher]))
            for text, verdict in RADIUS_CLAIMS.items():
                yield claim(f"{teacher}: {text}", partial(verdict, world=world, teacher=teacher))
    yield from _figure7(numbers)
    yield from _table1(numbers)
    yield from _not_run(numbers)


def _not_run(numbers: Numbers) -> Iterator[Claim]:
    """Yield the claims on worlds and figures without numbers."""
    drawn = {
        "figure4": worlds(numbers.figure4.cells),
        "figure5": worlds(numbers.figure5.cells),
        "figure6": worlds(numbers.figure6.cells),
        "figure7": ["air-hockey"] if numbers.figure7.statistics else [],
    }
    for section, place, figure, text, command in NOT_RUN:
        if place not in drawn[figure]:
            rule = partial(not_run, command=command)
            yield Claim(section, place, text, rule, differs=conventions_of(place, ()))


def _teachers(cells: Iterable[FigureCell], world: str) -> list[str]:
    """Return the teachers of one world by act=sample, in their order."""
    return list(dict.fromkeys(c.teacher for c in where(cells, world=world, act="sample")))


def pooled_teachers(numbers: Numbers, world: str) -> list[str]:
    """Return the teachers of the paper that figure 4 and table 1 pool in a world."""
    return [t for t in _teachers(numbers.figure4.cells, world) if t in PAPER_TEACHERS]


def _figure4(numbers: Numbers) -> Iterator[Claim]:
    for world in worlds(numbers.figure4.cells):
        teachers = _teachers(numbers.figure4.cells, world)
        pooled_list = pooled_teachers(numbers, world)
        for teacher, (text, level) in _leads(teachers).items():
            selection = {"world": world, "teacher": teacher}
            rule = partial(beats, figure="figure4", chosen=selection, level=level)
            conventions = conventions_of(world, pooled_list if teacher == "all" else [teacher])
            yield Claim("5.1", world, text, rule, differs=conventions)
        if "epsilon-greedy" in teachers:
            text, rule = "under ε-greedy BCND occasionally wins", partial(occasionally, world=world)
            conventions = conventions_of(world, ["epsilon-greedy"])
            yield Claim("5.1", world, text, rule, differs=conventions)
        claim = partial(Claim, "5.2", world, differs=conventions_of(world, pooled_list))
        yield claim("more pairs help every method", partial(more_helps, world=world))
        yield claim("Counter-BC leads at every size", partial(leads, world=world))


def _leads(teachers: Collection[str]) -> dict[str, tuple[str, float]]:
    """Return claim and level by teacher; a single teacher of the paper stands for all."""
    paper_teachers = [teacher for teacher in PAPER_TEACHERS if teacher in teachers]
    if paper_teachers == ["people"]:
        return {"people": (PEOPLE, ALPHA)}
    if len(paper_teachers) == 1:
        return {paper_teachers[0]: (LEAD, 0.01)}
    single_claims = {t: (text, ALPHA) for t, text in SINGLE_CLAIMS.items() if t in teachers}
    return {"all": (LEAD, 0.01), **single_claims} if paper_teachers else {}


def _figure7(numbers: Numbers) -> Iterator[Claim]:
    if not numbers.figure7.statistics:
        return
    paper = {
        "hits": "F(2.74, 134.24) = 39.8, p < .001",
        "distance_per_hit": "F(2.42, 118.78) = 12.6, p < .001",
        "time_per_hit": "F(1.89, 92.48) = 8.3, p < .001",
    }
    conventions = conventions_of("air-hockey", ())
    claim: Callable[..., Claim] = partial(Claim, "6", "air-hockey", differs=conventions)
    for measure, text in paper.items():
        name = measure.replace("_", " ")
        yield claim(f"methods differ in {name}: {text}", partial(differs, measure=measure))
    for measure, better, level, text, baselines in (
        ("hits", 1, 0.001, "more hits than each baseline (p < .001)", ()),
        ("time_per_hit", -1, 0.05, "less time per hit than each baseline (p < .05)", ()),
        ("distance_per_hit", -1, 0.01, "less distance per hit than BC and BCND (p < .01)",
         ("bc", "bcnd")),
    ):  # fmt: skip
        rule = partial(
            beats, figure="figure7", chosen={"measure": measure}, better=better, others=baselines,
            level=level, by_runs=False,  # the paper states its 50 subjects
        )  # fmt: skip
        yield claim(f"Counter-BC needs {text}" if better < 0 else f"Counter-BC has {text}", rule)


def _table1(numbers: Numbers) -> Iterator[Claim]:
    rows = where(numbers.table1.improvements, act="sample")
    for row in (row for row in rows if row.paper is not None):
        text = f"{row.paper:.0f} % over {method_style(row.baseline).label}"
        rule = partial(improves, world=row.world, baseline=row.baseline)
        conventions = conventions_of(row.world, pooled_teachers(numbers, row.world))
        yield Claim(TABLE1, row.world, text, rule, differs=conventions)
