"""Checks of the fields of a dataclass against their types, choices and limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, fields
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import torch

from counterbc.errors import OptionError

_KINDS = {bool: "True or False", int: "an integer", float: "a number", str: "a text"}


def limited_field(
    default: Any, rule: str, is_within: Callable[[Any], bool] = lambda _: True, **metadata: Any
) -> Any:
    """Return a dataclass field whose value must be within limits, in words and as a check.

    None is not checked: it is allowed where the type of the field allows it.
    """
    return field(default=default, metadata={"limit": (rule, is_within), **metadata})


def field_from(least: int, default: int | None) -> Any:
    """Return a dataclass field of a number that must be `least` or more."""
    return limited_field(default, f"{least} or more", lambda value: value >= least)


def check_fields(instance: Any) -> None:
    """Refuse values that do not fit their field; turn lists, arrays and tensors into tuples."""
    hints = get_type_hints(type(instance))
    for f in fields(instance):
        value, hint = _plain(getattr(instance, f.name)), hints[f.name]
        object.__setattr__(instance, f.name, value)
        names = tuple(f.metadata.get("choices", ()))
        rule, is_within = f.metadata.get("limit", (_alternatives(hint, names), lambda _: True))
        ok = _fits(value, hint)
        if ok and value is not None:
            ok = (not names or value in names) and is_within(value)
        if not ok:
            raise OptionError(f"{f.name} is {value!r}; it must be {rule}")


def _plain(value: Any) -> Any:
    """Return lists, arrays and tensors as tuples; those without dimensions as one number."""
    value = value.tolist() if isinstance(value, (np.ndarray, torch.Tensor)) else value
    return tuple(value) if isinstance(value, list) else value


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value has the type of its field; numbers of numpy count as Python's."""
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, member) for member in members)
    if origin is Literal:
        return isinstance(value, str) and value in members
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, members[0]) for item in value)
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if hint is float:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        return is_number and math.isfinite(value)
    return isinstance(value, hint)


def _alternatives(hint: Any, names: tuple[str, ...]) -> str:
    """Return what a field without limits may be, such as "a, b or c"."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = list(names)
    for member in members if not names else ():
        words += get_args(member) if get_origin(member) is Literal else [_KINDS.get(member, "")]
    *others, last = [word for word in words if word] or ["a list"]
    return f"{', '.join(others)} or {last}" if others else last
