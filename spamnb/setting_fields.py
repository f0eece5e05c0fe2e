"""Settings as fields of dataclasses. A field has a line of help and the allowed values.

The check of a value, the option ``--set`` and the table in docs/commands.md use these fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any, NamedTuple

from spamnb.errors import SpamnbError

_TYPES = {"str": str, "float": float, "int": int, "bool": bool, "tuple[str, ...]": tuple}  # by annotation
_ACCEPTED: dict[type, Any] = {str: str, float: Real, int: Integral, bool: bool, tuple: tuple}
_BOOLEANS = {"true": True, "false": False}


class Setting(NamedTuple):
    """A setting: its default, a line of help, and its allowed values."""

    name: str
    default: Any
    help: str
    kind: type  # str, float, int, bool, or tuple (of texts)
    may_be_none: bool
    choices: Sequence[str] = ()
    above: float | None = None
    least: int | None = None
    most: float | None = None
    models: Sequence[str] = ()  # the model types that use the setting; () means all

    @property
    def values(self) -> str:
        """Return the allowed values in words.

        >>> Setting("n", None, "", int, True, least=1, most=75).values
        'a whole number, at least 1 and at most 75, or none'
        """
        if self.choices:
            words = ", ".join(self.choices[:-1]) + f" or {self.choices[-1]}"
        else:
            kinds = {str: "a text", float: "a number", int: "a whole number", bool: "true or false"}
            words = kinds.get(self.kind, "names with commas between them")
        bounds = {"above": self.above, "at least": self.least, "at most": self.most}
        limits = " and ".join(f"{relation} {bound:g}" for relation, bound in bounds.items() if bound is not None)
        return words + (f", {limits}" if limits else "") + (", or none" if self.may_be_none else "")

    @property
    def shown_default(self) -> str:
        """Return the default in the form that ``parse`` reads."""
        return self.format(self.choices[0] if self.default == "" else self.default)

    def format(self, value: Any) -> str:
        """Return a value in the form that ``parse`` reads.

        >>> names = Setting("names", (), "", tuple, False)
        >>> names.format(("path", "xref")), names.format(None)
        ('path,xref', 'none')
        """
        if value is None or isinstance(value, bool):
            return str(value).lower()
        return ",".join(value) if self.kind is tuple else str(value)

    def check(self, value: Any) -> None:
        """Raise SpamnbError if the value is not allowed.

        >>> Setting("pooling", "mean", "", str, False, ["mean", "sum"]).check("max")
        Traceback (most recent call last):
        ...
        spamnb.errors.SpamnbError: pooling is 'max': it must be mean or sum
        """
        if not ((value is None and self.may_be_none) or self._is_value(value)):
            raise SpamnbError(f"{self.name} is {value!r:.60}: it must be {self.values}")

    def _is_value(self, value: Any) -> bool:
        if not isinstance(value, _ACCEPTED[self.kind]) or (isinstance(value, bool) and self.kind is not bool):
            return False
        if self.kind is tuple:
            return all(isinstance(text, str) for text in value)
        return (
            (not self.choices or value in self.choices)
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    def parse(self, text: str) -> Any:
        """Return the value that a text of the command line means. Raise SpamnbError if the value is not allowed.

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
            value = _BOOLEANS.get(text, text)
        elif self.kind in (int, float):
            try:
                value = self.kind(text)
            except ValueError:
                value = text
        self.check(value)
        return value


def setting(default: Any, help: str, **attributes: Any) -> Any:
    """Return a dataclass field for a `Setting` with these attributes."""
    return field(default=default, metadata={"help": help, **attributes})


def settings_in(owner: Any) -> dict[str, Setting]:
    """Return the settings of a dataclass by name."""
    settings = {}
    for each in fields(owner):
        if "help" in each.metadata:
            kind, none, _ = str(each.type).partition(" | None")
            attributes = {"kind": _TYPES[kind], "may_be_none": bool(none), **each.metadata}
            settings[each.name] = Setting(each.name, each.default, **attributes)
    return settings


def check_settings(owner: Any) -> None:
    """Raise SpamnbError if a setting of a dataclass has a value that is not allowed.

    A number of numpy becomes a number of Python, because a model file stores settings as JSON.
    """
    for name, setting in settings_in(type(owner)).items():
        value = getattr(owner, name)
        if getattr(value, "shape", None) == ():
            object.__setattr__(owner, name, value.item())
        setting.check(getattr(owner, name))
