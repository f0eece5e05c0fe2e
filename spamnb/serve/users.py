"""Whose model answers, and whose learns: a shared model, and where there is a place for them one per user.

A user's model is the file ``NAME.spamnb`` in a folder. It holds what that user taught, and adds to the shared model.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from pathlib import Path

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.store.snapshot import create_empty
from spamnb.store.store import Store

SUFFIX = ".spamnb"
MAX_OPEN_MODELS = 64
MAX_MODELS = 10_000  # that a folder holds: a client that may teach names any user
# A name becomes a file's name: no separator, no leading dot or dash, no control character.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,127}\Z")


class NoSuchUser(SpamnbError):
    """Nobody can have a model under this name."""


def is_name(user: str) -> bool:
    """Whether *user* may name a model's file.

    >>> is_name("ann@example.org"), is_name("../ann"), is_name("")
    (True, False, False)
    """
    return _NAME.match(user) is not None


class Models:
    """The open models of one thread (connections are not shared between threads). SpamnbError where the shared model
    cannot be opened.
    """

    def __init__(self, shared: Path, folder: Path | None, *, writable: bool) -> None:
        self._folder = folder
        self._writable = writable
        self._shared = Classifier.open(shared, writable=writable)
        self._own: OrderedDict[str, Classifier] = OrderedDict()

    def for_classifying(self, user: str) -> Classifier:
        """The model that classifies for *user*: theirs where there is one, or else the shared one."""
        return (self._owned(user) if is_name(user) else None) or self._shared

    def taught(self, user: str) -> Classifier | None:
        """The model that learns from *user*: the shared one where users have none of their own or *user* is empty, else
        theirs; None until there is one. NoSuchUser for what can be no file's name."""
        if self._folder is None or not user:
            return self._shared
        if not is_name(user):
            raise NoSuchUser("a user's name is letters, digits, _ and, but for its start, . @ + -")
        return self._owned(user)

    def for_learning(self, user: str) -> Classifier:
        """The model that learns from *user*, made where there is none yet: ask for it when the lesson can be read.

        NoSuchUser as for `taught`; SpamnbError where the folder is full.
        """
        own = self.taught(user)
        if own is None:
            assert self._folder is not None
            if sum(name.endswith(SUFFIX) for name in os.listdir(self._folder)) >= MAX_MODELS:
                raise SpamnbError(f"{self._folder}: holds models of {MAX_MODELS:,} users, the most there may be")
            create_empty(self._folder / (user + SUFFIX), self._shared.store.addition())  # another process may, too
            own = self._owned(user)
            assert own is not None
        return own

    def _owned(self, user: str) -> Classifier | None:
        if self._folder is None:
            return None
        path, own = self._folder / (user + SUFFIX), self._own.pop(user, None)
        if not path.is_file():  # nor may it be judged by one that was removed
            if own is not None:
                own.close()
            return None
        if own is None:
            own = Classifier(Store.open(path, writable=self._writable, base=self._shared.store))
        self._own[user] = own  # the last of them
        if len(self._own) > MAX_OPEN_MODELS:
            self._own.popitem(last=False)[1].close()
        return self._own[user]

    def close(self) -> None:
        for each in (self._shared, *self._own.values()):
            each.close()
