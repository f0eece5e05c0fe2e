"""The models of many users: a shared model, and if there is a folder of models, one per user.

A user's model is the file ``NAME.spamnb`` in the folder. The sums of the messages that were learned for that user are
added to the sums of the shared model.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from pathlib import Path
from typing import Self

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.shown_text import escape
from spamnb.store.snapshot import create_empty
from spamnb.store.store import Store

SUFFIX = ".spamnb"
# What the open models of users may keep in memory. All threads of the server share these bounds equally.
MAX_OPEN_MODELS = 192  # an open model takes 1 MB, and opening one 5 ms
MAX_CACHED_TOKENS = 600_000  # of all these models, 100 to 300 bytes each
CACHE_KB = 1024  # pages of a model's file that SQLite keeps
MAX_MODELS = 10_000  # files in the folder, because a client with the right to teach can name any user
# The name is part of a file's name: it has no separator, no dot or dash at the beginning, and no control character.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,127}\Z")


NO_FOLDER = "it is of a user's model; --models names the folder of these models"


class NoSuchUser(SpamnbError):
    """The name cannot be the name of a model's file."""


def is_name(user: str) -> bool:
    """Return whether *user* can be the name of a model's file.

    >>> is_name("ann@example.org"), is_name("../ann"), is_name("")
    (True, False, False)
    """
    return _NAME.match(user) is not None


class Models:
    """The open models of one of ``n_threads`` threads, because connections are not shared between threads.

    Raise SpamnbError if the shared model cannot be opened.
    """

    def __init__(self, shared: Path, folder: Path | None, *, writable: bool, n_threads: int = 1) -> None:
        self.path = shared
        self.folder = folder
        self._writable = writable
        self._max_open, self._max_cached = max(MAX_OPEN_MODELS // n_threads, 1), MAX_CACHED_TOKENS // n_threads
        self._shared = Classifier.open(shared, writable=writable)
        self._user_models: OrderedDict[str, Classifier] = OrderedDict()  # by user, in the order of their last use

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def owner(self, user: str) -> str:
        """Return the user whose model learns for *user*: *user*, or "" for the shared model if there is no folder."""
        return "" if self.folder is None else user

    def find_relearner(self, path: Path, of_user: bool) -> str:
        """Return the user whose model learns again what the model at *path* learned; "" for the shared model.

        *path* may be lost: the shared model takes its place. Only a user's model, which *of_user* says it was, learns
        what it learned. Raise SpamnbError without the folder of this model, and if the shared model adds to *path*.
        """
        if self.folder is not None and path.parent == Path(os.path.abspath(self.folder)):
            return path.name.removesuffix(SUFFIX)
        if path == Path(os.path.abspath(self.path)):
            return ""
        if of_user:
            raise SpamnbError(f"a lesson of {escape(str(path))}: {NO_FOLDER}")
        shared = self._shared.store.shared
        if shared is not None and path == Path(os.path.abspath(shared.file)):
            raise SpamnbError(f"a lesson of {escape(str(path))}, to which {self.path} adds: -m names the other model")
        return ""

    def has_model(self, user: str) -> bool:
        """Return whether *user* has a model."""
        return self.folder is not None and is_name(user) and (self.folder / (user + SUFFIX)).is_file()

    def for_classifying(self, user: str) -> Classifier:
        """Return the model that classifies for *user*: the user's own model, or else the shared model.

        The model may be closed when the model of another user is asked for.
        """
        return (self._open_user_model(user) if is_name(user) else None) or self._shared

    def find_for_learning(self, user: str) -> Classifier | None:
        """Return the model that learns for *user*, an `owner`; None if the user has no model yet.

        Raise SpamnbError without a folder, and NoSuchUser if *user* cannot be the name of a file.
        """
        if not user:
            return self._shared
        if self.folder is None:
            raise SpamnbError(f"a lesson of {escape(user)}: {NO_FOLDER}")
        if not is_name(user):
            raise NoSuchUser("a user's name has only letters, digits and _.@+-, and begins with a letter, digit or _")
        return self._open_user_model(user)

    def for_learning(self, user: str) -> Classifier:
        """Return the model that learns for *user*, and create it if there is none.

        Raise an error as `find_for_learning` does, and SpamnbError if the folder is full.
        """
        model = self.find_for_learning(user)
        if model is None:
            assert self.folder is not None
            if not self.folder.is_dir():
                raise SpamnbError(f"{self.folder}: no such folder")
            if sum(name.endswith(SUFFIX) for name in os.listdir(self.folder)) >= MAX_MODELS:
                raise SpamnbError(f"{self.folder}: has models of {MAX_MODELS:,} users, and no more are allowed")
            # Another process may create the file before this one.
            path = self.folder / (user + SUFFIX)
            create_empty(path, self._shared.store.addition(path))
            model = self._open_user_model(user)
            assert model is not None
        return model

    def _open_user_model(self, user: str) -> Classifier | None:
        if self.folder is None:
            return None
        path, model = self.folder / (user + SUFFIX), self._user_models.pop(user, None)
        has_file = path.is_file()
        # A model that was removed must not classify.
        if model is not None and not (has_file and model.store.n_cached_tokens <= self._max_cached):
            model.close()
            model = None
        if not has_file:
            return None
        if model is None:
            model = Classifier(Store.open(path, writable=self._writable, shared=self._shared.store))
            model.store.limit_pages(CACHE_KB)
        self._user_models[user] = model
        while len(self._user_models) > 1 and (
            len(self._user_models) > self._max_open
            or sum(other.store.n_cached_tokens for other in self._user_models.values()) > self._max_cached
        ):
            self._user_models.popitem(last=False)[1].close()
        return model

    def close(self) -> None:
        for model in (self._shared, *self._user_models.values()):
            model.close()
