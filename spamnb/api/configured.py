"""Estimators whose constructors take settings: names, defaults and choices are those of the settings' fields."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from spamnb.estimators.parameters import Parameters
from spamnb.setting_fields import settings_in

E = TypeVar("E", bound=type[Parameters])


def with_settings(*owners: type) -> Callable[[E], E]:
    """Makes each setting of these dataclasses a parameter, where the constructor has ``**settings``.

    >>> from spamnb.reader.options import TokenOptions
    >>> @with_settings(TokenOptions)
    ... class Estimator(Parameters):
    ...     def __init__(self, *, binary: bool = False, **settings: object) -> None:
    ...         self.binary = binary
    >>> Estimator(ngrams=1).ngrams, Estimator(ngrams=1)
    (1, Estimator(ngrams=1))
    """
    fields = {name: each for owner in owners for name, each in settings_in(owner).items()}
    defaults = {name: None if each.default == "" else each.default for name, each in fields.items()}

    def decorate(cls: E) -> E:
        own = cls.__init__
        taken = [p for p in inspect.signature(own).parameters.values() if p.kind is not p.VAR_KEYWORD]
        for parameter in taken:
            defaults.pop(parameter.name, None)

        @functools.wraps(own)
        def __init__(self: Any, *given: Any, **named: Any) -> None:
            settings = {name: named.pop(name, default) for name, default in defaults.items()}
            own(self, *given, **named)
            vars(self).update(settings)

        keyword = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=d) for name, d in defaults.items()]
        __init__.__signature__ = inspect.Signature([*taken, *keyword])  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]
        return cls

    return decorate
