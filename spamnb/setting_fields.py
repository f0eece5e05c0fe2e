"""Settings as fields of dataclasses: each field says what the setting is for and which values it may have.

The check of a value, the option ``--set`` and the table in docs/commands.md are made of these fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any, NamedTuple

from spamnb.errors import SpamnbError

_KINDS = {"str": str, "float": float, "int": int, "bool": bool, "tuple[str, ...]": tuple}  # by annotation
_TAKEN: dict[type, Any] = {str: str, float: Real, int: Integral, bool: bool, tuple: tuple}
_TRUTHS = {"true": True, "false": False}


class Setting(NamedTuple):
    """A setting: its default, a line of help, and the values that it may have."""

    name: str
    default: Any
    help: str
    kind: type  # str, float, int, bool, or tuple of texts
    may_be_none: bool
    choices: Sequence[str] = ()
    above: float | None = None
    least: int | None = None
    most: float | None = None
    models: Sequence[str] = ()  # the model types in which it changes anything; () is all

    @property
    def values(self) -> str:
        """What it may be, in words.

        >>> Setting("n", None, "", int, True, least=1, most=75).values
        'a whole number, at least 1 and at most 75, or none'
        """
        if self.choices:
            words = ", ".join(self.choices[:-1]) + f" or {self.choices[-1]}"
        else:
            kinds = {str: "a text", float: "a number", int: "a whole number", bool: "true or false"}
            words = kinds.get(self.kind, "names with commas between them")
        bounds = {"above": self.above, "at least": self.least, "at most": self.most}
        bounded = " and ".join(f"{what} {bound:g}" for what, bound in bounds.items() if bound is not None)
        return words + (f", {bounded}" if bounded else "") + (", or none" if self.may_be_none else "")

    @property
    def shown_default(self) -> str:
        """The default as ``parse`` takes it."""
        return self.shown(self.choices[0] if self.default == "" else self.default)

    def shown(self, value: Any) -> str:
        """A value as ``parse`` takes it.

        >>> names = Setting("names", (), "", tuple, False)
        >>> names.shown(("path", "xref")), names.shown(None)
        ('path,xref', 'none')
        """
        if value is None or isinstance(value, bool):
            return str(value).lower()
        return ",".join(value) if self.kind is tuple else str(value)

    def check(self, value: Any) -> None:
        """SpamnbError where it may not have this value.

        >>> Setting("pooling", "mean", "", str, False, ["mean", "sum"]).check("max")
        Traceback (most recent call last):
        ...
        spamnb.errors.SpamnbError: pooling is 'max': it must be mean or sum
        """
        if not ((value is None and self.may_be_none) or self._is_value(value)):
            raise SpamnbError(f"{self.name} is {value!r:.60}: it must be {self.values}")

    def _is_value(self, value: Any) -> bool:
        if not isinstance(value, _TAKEN[self.kind]) or (isinstance(value, bool) and self.kind is not bool):
            return False
        if self.kind is tuple:
            return all(isinstance(each, str) for each in value)
        return (
            (not self.choices or value in self.choices)
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    def parse(self, text: str) -> Any:
        """The value that stands in a command line. SpamnbError where it may not have it.

        >>> n = Setting("n", None, "", int, True, least=1)
        >>> n.parse("2"), n.parse("none")
        (2, None)
        """
        value: Any = text
        if self.may_be_none and text == "none":
            return None
        if self.kind is tuple:
            value = tuple(filter(None, text.split(",")))
        elif self.kind is bool:
            value = _TRUTHS.get(text, text)
        elif self.kind in (int, float):
            try:
                value = self.kind(text)
            except ValueError:
                value = text
        self.check(value)
        return value


def setting(default: Any, help: str, **rule: Any) -> Any:
    """A field of a dataclass that is a setting; ``rule`` is what else ``Setting`` says of it."""
    return field(default=default, metadata={"help": help, **rule})


def settings_in(owner: Any) -> dict[str, Setting]:
    """The settings among a dataclass's fields, by name."""
    found = {}
    for each in fields(owner):
        if "help" in each.metadata:
            kind, none, _ = str(each.type).partition(" | None")
            found[each.name] = Setting(
                each.name, each.default, kind=_KINDS[kind], may_be_none=bool(none), **each.metadata
            )
    return found


def check_settings(owner: Any) -> None:
    """SpamnbError where a setting of a dataclass has a value that it may not have.

    Numbers of numpy, as a search over np.arange gives them, become Python's, which a model file keeps.
    """
    for name, each in settings_in(type(owner)).items():
        value = getattr(owner, name)
        if getattr(value, "shape", None) == ():
            object.__setattr__(owner, name, value.item())
        each.check(getattr(owner, name))
