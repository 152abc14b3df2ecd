"""How each method looks in figures and tables: one label, colour and marker per method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from counterbc.methods import METHODS


@dataclass(frozen=True)
class MethodStyle:
    """The look of a method in every figure and table."""

    label: str
    colour: str
    marker: str


# The first eight colours are the palette of Okabe and Ito, safe for colour-blind readers.
STYLES: dict[str, MethodStyle] = {
    "bc": MethodStyle("BC", "#000000", "o"),
    "weighted-bc": MethodStyle("Weighted-BC", "#E69F00", "s"),
    "bc-rnn": MethodStyle("BC-RNN", "#009E73", "^"),
    "bcnd": MethodStyle("BCND", "#56B4E9", "D"),
    "counter-bc": MethodStyle("Counter-BC", "#D55E00", "*"),
    "ileed": MethodStyle("ILEED", "#0072B2", "v"),
    "discriminator-bc": MethodStyle("Discriminator-BC", "#CC79A7", "P"),
    "advantage-bc": MethodStyle("Advantage-BC", "#F0E442", "X"),
    "posterior": MethodStyle("Posterior", "#882255", "<"),
    "epsilon-insensitive": MethodStyle("ε-insensitive", "#44AA99", ">"),
}
# Both lists repeat; their lengths share no factor, so 35 methods differ in colour or marker.
COLOURS = ("#999933", "#332288", "#777777", "#AA4499", "#661100")
MARKERS = ("p", "h", "d", "8", "H", "1", "2")
ABBREVIATIONS = ("bc", "rnn", "gru", "il", "irl", "rl")


def method_styles(methods: Iterable[str]) -> dict[str, MethodStyle]:
    """Return the style of each method.

    A method without a style of its own gets a label made from its name and the next free colour
    and marker: first the methods of `METHODS` in their order, then the others in the order given.
    """
    names = list(methods)
    unstyled = [m for m in dict.fromkeys((*METHODS, *names)) if m not in STYLES]
    free = {
        name: MethodStyle(_label(name), COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(unstyled)
    }
    return {name: (STYLES | free)[name] for name in names}


def method_style(method: str) -> MethodStyle:
    """Return the style of one method; several unknown ones need `method_styles` to differ."""
    return method_styles([method])[method]


def _label(name: str) -> str:
    """Return a title such as "Soft-BC" for the name "soft-bc"."""
    words = name.split("-")
    return "-".join(w.upper() if w in ABBREVIATIONS else w.capitalize() for w in words)
