"""HTML and SVG from nested calls; text is escaped unless it came from here."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = {"meta", "link", "br", "line", "circle", "rect", "polyline", "polygon", "path"}


class Markup(str):
    """What needs no escaping any more."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element; `class_` becomes class, `aria_label` aria-label, and None leaves one out."""
    own = [
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = join(children)
    if name in _VOID and not inside:
        return Markup(f"<{name}{''.join(own)}>" if name in ("meta", "link", "br") else
                      f"<{name}{''.join(own)}/>")  # fmt: skip
    return Markup(f"<{name}{''.join(own)}>{inside}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Markup:
    """The parts one after the other; None counts as nothing."""
    return Markup(html.escape(between).join(_escaped(p) for p in parts if p is not None))


def table(columns: Iterable[object], rows: Iterable[Iterable[object]], label: str) -> Markup:
    """A table that scrolls within itself; the first column is text, the others numbers."""
    head = tag("tr", *(tag("th", c, scope="col") for c in columns))
    body = []
    for first, *others in rows:
        cells = [tag("th", first, scope="row"), *(tag("td", o) for o in others)]
        body.append(tag("tr", *cells))
    inside = tag("table", tag("thead", head), tag("tbody", *body))
    return tag("div", inside, class_="scroll", role="region", tabindex=0, aria_label=label)


def _escaped(part: object) -> str:
    return part if isinstance(part, Markup) else html.escape(str(part))
