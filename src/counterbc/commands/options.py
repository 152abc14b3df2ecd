"""Options of a command that come from the library's dataclasses and registries.

A command names the dataclasses (`Command.option_groups`) and the registries
(`Command.option_choices`) that it needs. `add_options` adds an option for each field, with the
docstring under the field as its help. So a new setting, method, policy or format appears on the
command line by itself.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, make_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import tyro

from counterbc.errors import OptionError, unknown

T = TypeVar("T")
conf: Any = tyro.conf
hint: Any = typing  # types that are computed here are Any to a type checker


@dataclass(frozen=True, kw_only=True)
class Group:
    """A dataclass of the library whose fields are options of a command."""

    kind: type
    only: tuple[str, ...] | None = None
    """The fields that become options; None stands for all of them."""
    without: tuple[str, ...] = ()
    """Fields that do not become options."""
    presets: Mapping[str, Any] = field(default_factory=dict)
    """Instances of `kind` by name; the help shows where their values differ."""
    text: str = ""
    """What the help says of the group; by default the first line of the docstring of `kind`."""

    @property
    def fields(self) -> list[Field[Any]]:
        names = [f.name for f in fields(self.kind)] if self.only is None else self.only
        return [f for f in fields(self.kind) if f.name in names and f.name not in self.without]


def add_options(
    command: type[T],
    choices: Mapping[str, Iterable[str]],
    groups: Mapping[str, Group],
    notes: Mapping[str, str],
) -> type[T]:
    """Return the command with help for its own fields, and one attribute per group."""
    texts, hints = field_docs(command), get_type_hints(command, include_extras=True)
    attributes: list[Any] = []
    for f in fields(command):  # type: ignore[arg-type]  # commands are dataclasses
        setting = conf.arg(
            help=f"{texts[f.name]} {notes.get(f.name, '')}".strip() or None,
            help_behavior_hint=_default_text({"default": f.default}),
            metavar=_metavar(f.name, hints[f.name], choices.get(f.name)),
        )
        default = field() if f.default is MISSING else field(default=f.default)
        attributes.append(
            (f.name, conf.DisallowNone[hint.Annotated[hints[f.name], setting]], default)
        )
    for name, group in groups.items():
        kind = _options(name, group)
        attributes.append((name, conf.OmitArgPrefixes[kind], field(default_factory=kind)))
    namespace = {"__doc__": command.__doc__, "__module__": command.__module__}
    return make_dataclass(
        command.__name__,
        attributes,
        bases=(command,),
        frozen=True,
        kw_only=True,
        namespace=namespace,
    )


def given_values(options: Any) -> dict[str, Any]:
    """Return the values of a group that were typed, by field; the others are left out."""
    values = {f: getattr(options, f.name) for f in fields(options)}
    values = {f: value for f, value in values.items() if value != f.default}
    for f, value in values.items():
        if f.metadata["literals"] and value not in f.metadata["literals"]:
            raise unknown(f.name, value, f.metadata["literals"])
    return {
        f.name: _one_or_several(f, value) if f.metadata["scalar"] else value
        for f, value in values.items()
    }


def _one_or_several(f: Field[Any], values: tuple[Any, ...]) -> Any:
    """Return one value as itself and several as a tuple of what the field takes several of."""
    names = [value for value in values if isinstance(value, str)]
    if names and len(values) > 1 and not f.metadata["several_texts"]:
        raise OptionError(
            f"{f.name} is {' and '.join(map(str, values))}; give {names[0]} alone, or numbers"
        )
    return values[0] if len(values) == 1 else values


def as_typed(values: Mapping[str, Any]) -> list[str]:
    """Return options as they are typed: {"hidden": (64, 8)} → --hidden 64 --hidden 8."""
    words: list[str] = []
    for name, value in values.items():
        option = name.replace("_", "-")
        if isinstance(value, bool) and name != "censored":  # which also takes a word
            words.append(f"--{option}" if value else f"--no-{option}")
            continue
        for item in value if isinstance(value, tuple) else (value,):
            text = str(item)
            words += [f"--{option}", text.removesuffix(".0") if isinstance(item, float) else text]
    return words


def field_docs(kind: type) -> dict[str, str]:
    """Return the docstring under each field of a dataclass, as one line of text."""
    texts: dict[str, str] = {}
    for parent in reversed(kind.__mro__):
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(parent))).body
        except (OSError, TypeError):  # a builtin, or a class that was not read from a file
            continue
        assert isinstance(tree, ast.ClassDef)
        for node, after in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                texts[node.target.id] = ""
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    texts[node.target.id] = " ".join(str(after.value.value).split())
    return texts


def _options(name: str, group: Group) -> type:
    """Return a dataclass with one option per field; None, or (), stands for not given."""
    hints, texts = get_type_hints(group.kind), field_docs(group.kind)
    names = {f"`{f.name}`": f"--{_option_name(f).replace('_', '-')}" for f in group.fields}
    attributes: list[Any] = []
    for f in group.fields:
        text = texts.get(f.name, "")
        for field_name, option in names.items():
            text = text.replace(field_name, option)
        defaults = {"default": f.default}
        defaults |= {name: getattr(preset, f.name) for name, preset in group.presets.items()}
        words = f.metadata.get("words", {})
        literals = _literals(hints[f.name])
        setting = conf.arg(
            name=_option_name(f),
            help=text,
            help_behavior_hint=_default_text({n: words.get(v, v) for n, v in defaults.items()}),
            metavar=_metavar(f.name, hints[f.name], f.metadata.get("choices", literals or None)),
        )
        kind, absent, scalar = _option_type(str if literals else hints[f.name])
        facts = {"scalar": scalar, "literals": literals, "option": _option_name(f)}
        facts["several_texts"] = _takes_several_texts(hints[f.name])
        option_field = field(default=absent, metadata=facts)
        attributes.append((f.name, hint.Annotated[kind, setting], option_field))
    text = group.text or inspect.cleandoc(group.kind.__doc__ or "").split("\n")[0]
    return make_dataclass(name, attributes, frozen=True, kw_only=True, namespace={"__doc__": text})


def _option_name(f: Field[Any]) -> str:
    """Return the name of a field's option, such as the singular for one that is repeated."""
    name: str = f.metadata.get("option", f.name)
    return name


def _members(kind: Any) -> list[Any]:
    """Return the types of a union, or the type itself, without None."""
    is_union = get_origin(kind) in (hint.Union, UnionType)
    return [m for m in (get_args(kind) if is_union else (kind,)) if m is not NoneType]


def _literals(kind: Any) -> tuple[str, ...]:
    """Return the words that a field takes, or () if it takes anything else.

    Their option is a plain word, and `given_values` refuses others as a registry does.
    """
    members = _members(kind)
    words = tuple(word for m in members if get_origin(m) is Literal for word in get_args(m))
    only_words = all(get_origin(m) is Literal for m in members)
    return words if only_words and all(isinstance(w, str) for w in words) else ()


def _takes_several_texts(kind: Any) -> bool:
    """Return whether a field takes a tuple of texts."""
    tuples = [m for m in _members(kind) if get_origin(m) is tuple]
    return any(str in _members(get_args(m)[0]) for m in tuples)


def _option_type(kind: Any) -> tuple[Any, Any, bool]:
    """Return the type of an option, its value where it is not given, and whether one value may
    stand without its tuple. The option of a tuple is repeated, once per item."""
    members = _members(kind)
    tuples = [m for m in members if get_origin(m) is tuple]
    if not tuples:
        return conf.DisallowNone[hint.Union[*members, None]], None, False
    scalars = [m for m in members if get_origin(m) is not tuple]
    item = hint.Union[*(get_args(m)[0] for m in tuples), *scalars]
    return conf.UseAppendAction[hint.Tuple[item, ...]], (), bool(scalars)


def _metavar(name: str, kind: Any, choices: Iterable[str] | None) -> str | None:
    """Return what stands for the value in the help; None leaves that to tyro."""
    if choices is not None:
        return "{" + ",".join(choices) + "}"
    text = str(kind)
    label = name.upper().replace("_", "-")
    if "Positional" in text:
        return f"{label}…" if "tuple" in text else label
    items = {item for m in _members(_plain(kind)) for item in (get_args(m) or (m,))} - {...}
    if items <= {str, Path}:
        return f"{label}…" if "tuple" in text else label
    if "tuple" in text and items in ({int}, {float}):
        return f"{items.pop().__name__.upper()}…"
    return None


def _plain(kind: Any) -> Any:
    """Return a type without its annotations."""
    while get_origin(kind) is typing.Annotated:
        kind = kind.__origin__
    return kind


def _default_text(defaults: Mapping[str, Any]) -> str:
    """Return the default as the help shows it, and the presets that have another one."""
    default = defaults["default"]
    values = {name: v for name, v in defaults.items() if name == "default" or v != default}
    texts = {name: _text(v) for name, v in values.items()}
    return (
        f"({'; '.join(f'{n}: {text}' for n, text in texts.items() if text)})"
        if any(texts.values())
        else ""
    )


def _text(value: Any) -> str:
    if value is None or value is MISSING:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else f"{value}"
