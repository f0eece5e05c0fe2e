"""Mail in object storage and on servers, by URL: read by fsspec (the extra ``remote``), some bytes at a time.

Credentials are fsspec's affair: its files in ~/.config/fsspec, its environment, the ones that a cloud's own tools use.
None stands in a URL, which others see in the list of processes and a model file keeps.
"""

from __future__ import annotations

import errno
import io
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from spamnb.errors import SpamnbError
from spamnb.naming import escape, is_loopback

_WEB = ("http://", "https://")  # where nothing is a folder
_MAX_SHOWN = 200  # characters of what a storage complains about


def safe_url(url: str) -> str:
    """The URL. SpamnbError where it holds a password, chains others, or is read in the clear.

    >>> safe_url("http://example.org/mail.tar")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: http://example.org/mail.tar: mail in the clear on its way here; use https://
    """
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.password is not None:
        where = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        raise SpamnbError(
            f"{escape(where)}: a password in a URL is seen by others; fsspec reads it from its files in"
            " ~/.config/fsspec or from the environment"
        )
    if "::" in url:
        raise SpamnbError(f"{escape(url)}: URLs of fsspec are not chained; archives are read as they are")
    if parts.scheme.lower() == "http" and not is_loopback(parts.hostname or ""):
        raise SpamnbError(f"{escape(url)}: mail in the clear on its way here; use https://")
    return url


def remote_mode(url: str) -> int:
    """S_IFDIR or S_IFREG, as ``os.stat`` says it of a path. OSError where there is neither."""
    if url.lower().startswith(_WEB):
        return stat.S_IFREG
    with _storage(url) as (storage, path):
        return stat.S_IFDIR if storage.info(path)["type"] == "directory" else stat.S_IFREG


def is_folder(url: str) -> bool:
    """Is there a folder?"""
    with _storage(url) as (storage, path):
        return bool(storage.isdir(path))


def items(folder: str) -> list[tuple[str, bool, int]]:
    """Name, whether it is a folder, and size of what stands in a folder, by name. OSError where it cannot be listed."""
    with _storage(folder) as (storage, path):
        found, own = storage.ls(path, detail=True), path.rstrip("/")
        return sorted(
            (name, item["type"] == "directory", item.get("size") or 0)
            for item in found
            # A storage of objects may hold one of the folder's own name.
            if item["name"].rstrip("/") != own and (name := item["name"].rstrip("/").rpartition("/")[2])
        )


@contextmanager
def remote_stream(url: str) -> Iterator[BinaryIO]:
    """The file as a stream that can be sought. Not by ``cat_file``, which spares a request: some servers refuse a range
    that ends behind the file, others send more than they are asked for."""
    with (
        _storage(url) as (storage, path),
        storage.open(path, "rb") as file,
        io.BufferedReader(file, 1 << 16) as stream,
    ):
        yield stream


@contextmanager
def _storage(url: str) -> Iterator[tuple[Any, str]]:
    """fsspec's file system and path of a URL; what it complains about as OSError."""
    try:
        import fsspec
    except ImportError:
        raise SpamnbError(f"{escape(url)}: reading URLs needs fsspec: pip install 'fsspec[http]'") from None
    try:
        yield fsspec.core.url_to_fs(safe_url(url))
    except SpamnbError:
        raise
    except ImportError as error:
        raise SpamnbError(f"{escape(url)}: {str(error).splitlines()[0]}") from None
    except Exception as error:  # each storage has its own kinds of errors
        if isinstance(error, OSError) and error.filename == url:  # said by us
            raise
        raise _os_error(error, url) from error


def _os_error(error: Exception, url: str) -> OSError:
    # Of a web server fsspec says FileNotFoundError of whatever went wrong: certificates, passwords, no connection.
    if url.lower().startswith(_WEB) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status in (404, 410):
        return OSError(errno.ENOENT, "No such file or folder", url)
    if isinstance(error, PermissionError) or status in (401, 403):
        return OSError(errno.EACCES, "Permission denied, or no credentials", url)
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    return OSError(errno.EIO, f"{type(error).__name__}: {lines[0]}"[:_MAX_SHOWN], url)
