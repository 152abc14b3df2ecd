"""HTML and SVG from nested calls; text is escaped, except what these functions return."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = {"meta", "link", "br", "line", "circle", "rect", "polyline", "polygon", "path"}


class Markup(str):
    """Text that is escaped already."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; `class_` becomes class, `aria_label` aria-label, None is left out."""
    pairs = [
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = join(children)
    if name in _VOID and not inside:
        return Markup(f"<{name}{''.join(pairs)}>" if name in ("meta", "link", "br") else
                      f"<{name}{''.join(pairs)}/>")  # fmt: skip
    return Markup(f"<{name}{''.join(pairs)}>{inside}</{name}>")


def join(parts: Iterable[object], separator: str = "") -> Markup:
    """Return the parts one after the other; None is left out."""
    return Markup(html.escape(separator).join(_escaped(p) for p in parts if p is not None))


def table(columns: Iterable[object], rows: Iterable[Iterable[object]], label: str) -> Markup:
    """Return a table that scrolls by itself; the first column is text, the others numbers."""
    head = tag("tr", *(tag("th", c, scope="col") for c in columns))
    body = []
    for first, *numbers in rows:
        cells = [tag("th", first, scope="row"), *(tag("td", n) for n in numbers)]
        body.append(tag("tr", *cells))
    inside = tag("table", tag("thead", head), tag("tbody", *body))
    return tag("div", inside, class_="scroll", role="region", tabindex=0, aria_label=label)


def _escaped(part: object) -> str:
    return part if isinstance(part, Markup) else html.escape(str(part))
